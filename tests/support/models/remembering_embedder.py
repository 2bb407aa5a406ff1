"""The real embedder, which can remember the vectors of the passages that it has embedded.

Many tests index the same few notes. Their vectors are computed by the real model once for all of
these tests, in whichever test process they run.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from vault.embedder import Embedder

_TICK_S = 0.02


class RememberingEmbedder(Embedder):
    """Embeds like its base class. It remembers passages, and holds them back where a test says so.

    Attributes:
        remembers: whether batches of known passages are answered from memory.
        goes_on: while it is not set, the batches after the first of a run are held back.
    """

    def __init__(self, memory: Path) -> None:
        """Share vectors with other processes in a folder."""
        super().__init__()
        self.remembers = True
        self.goes_on = threading.Event()
        self.goes_on.set()
        self._memory = memory
        self._known: dict[str, Any] = {}

    def embed(
        self,
        batches: Iterable[Sequence[str]],
        on_wait: Callable[[], None] = lambda: None,
        can_work_ahead: Callable[[], bool] = lambda: True,
    ) -> Iterator[Any]:
        """Yield the vectors of each batch; from the first unknown passage on, compute them."""
        embed = self._embed_unknown if self.remembers else super().embed
        for vectors in embed(batches, on_wait, can_work_ahead):
            yield vectors
            while not self.goes_on.wait(_TICK_S):
                on_wait()

    def _embed_unknown(
        self,
        batches: Iterable[Sequence[str]],
        on_wait: Callable[[], None],
        can_work_ahead: Callable[[], bool],
    ) -> Iterator[Any]:
        rest = iter(batches)
        for batch in rest:
            if not all(map(self._remember, batch)):
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
            for text, vector in zip(sent.pop(0), vectors, strict=True):
                self._keep_for_all(text, vector)
            yield vectors

    def _remember(self, text: str) -> bool:
        """Return whether the vector of a passage is known, maybe from another process."""
        if text not in self._known:
            file = self._locate(text)
            if not file.exists():
                return False
            self._known[text] = np.frombuffer(file.read_bytes(), "<f4")
        return True

    def _keep_for_all(self, text: str, vector: Any) -> None:
        self._known[text] = vector
        file = self._locate(text)
        new = file.with_name(f"{file.name}-{os.getpid()}")
        new.write_bytes(vector.astype("<f4").tobytes())
        new.replace(file)

    def _locate(self, text: str) -> Path:
        return self._memory / hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
