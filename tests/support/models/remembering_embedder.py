"""The real embedder, which can remember the vectors of the passages that it has embedded.

Many tests of the window index the same few notes. Their vectors are computed by the real model once
for all of these tests.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from vault.embedder import Embedder


class RememberingEmbedder(Embedder):
    """Embeds like its base class. It remembers passages only where a test lets it.

    Attributes:
        remembers: whether batches of known passages are answered from memory.
    """

    def __init__(self) -> None:
        super().__init__()
        self.remembers = False
        self._known: dict[str, Any] = {}

    def embed(
        self,
        batches: Iterable[Sequence[str]],
        on_wait: Callable[[], None] = lambda: None,
        can_work_ahead: Callable[[], bool] = lambda: True,
    ) -> Iterator[Any]:
        """Yield the vectors of each batch; from the first unknown passage on, compute them."""
        if not self.remembers:
            yield from super().embed(batches, on_wait, can_work_ahead)
            return
        rest = iter(batches)
        for batch in rest:
            if not self._known.keys() >= set(batch):
                yield from self._compute(chain([batch], rest), on_wait, can_work_ahead)
                return
            on_wait()
            yield np.stack([self._known[text] for text in batch])

    def _compute(
        self,
        batches: Iterable[Sequence[str]],
        on_wait: Callable[[], None],
        can_work_ahead: Callable[[], bool],
    ) -> Iterator[Any]:
        sent: list[Sequence[str]] = []
        seen = (sent.append(batch) or batch for batch in batches)
        for vectors in super().embed(seen, on_wait, can_work_ahead):
            self._known.update(zip(sent.pop(0), vectors, strict=True))
            yield vectors
