"""The child processes of an index as objects of this process: embedder, Chroma and parser.

A vector is made of the words of its text. Chroma keeps its collections by the folder of the store.
The parser is the real one.
"""

import hashlib
import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

import numpy as np

from vault import vector_worker
from vault.embedding.models import DIMENSION
from vault.errors import ChildDied, ChildRefused
from vault.notes import parser_worker
from vault.workers.frames import Answer, Frame

__all__ = ["Workers"]

_PLACES: Final = ("vault.embedder.Child", "vault.vectors.Child", "vault.notes.parser_client.Child")


class Workers:
    """Starts the doubles of child processes.

    Attributes:
        chance: decides which request kills a child, if one is to die.
        dying: whether a child dies at one of its next requests.
        died: how many children have died.
    """

    def __init__(self) -> None:
        self.chance = random.Random(0)
        self.dying = False
        self.died = 0
        self.asked: Counter[str] = Counter()
        self._stores: dict[str, dict[str, _Collection]] = {}

    @contextmanager
    def install(self) -> Iterator[None]:
        """Start these doubles in the place of child processes, within a `with` block."""
        with ExitStack() as stack:
            for place in _PLACES:
                stack.enter_context(mock.patch(place, self._start))
            stack.enter_context(mock.patch("vault.vector_worker._open_local", self._open_store))
            yield

    def _start(self, module: str, *arguments: str, is_online: bool = False) -> "_Child":
        assert not is_online
        handle: Callable[[Frame], Answer]
        if module == "vault.embed_worker":
            handle = _embed
        elif module == "vault.vector_worker":
            handle = vector_worker._Store(Path(arguments[0])).handle
        else:
            handle = parser_worker._read
        return _Child(self, module.rpartition(".")[2], handle)

    def _open_store(self, folder: Path) -> SimpleNamespace:
        kept = self._stores.setdefault(str(folder), {})
        return SimpleNamespace(
            get_max_batch_size=lambda: 1_000,
            list_collections=lambda: list(kept.values()),
            delete_collection=kept.pop,
            get_or_create_collection=lambda name, **_options: kept.setdefault(
                name, _Collection(name)
            ),
        )

    def take_death(self) -> bool:
        """Return whether a child dies now. Only one of an event does."""
        if self.dying and self.chance.random() < 0.5:
            self.dying = False
            self.died += 1
            return True
        return False


class _Child:
    """Takes the place of `vault.workers.process.Child`. It answers when it is asked."""

    pid: Final = 1
    signal: Final = None
    has_left: Final = False

    def __init__(self, workers: Workers, name: str, handle: Callable[[Frame], Answer]) -> None:
        self._workers, self._name, self._handle = workers, name, handle
        self._end = ""
        self._answers: list[Answer] = []

    @property
    def is_alive(self) -> bool:
        return not self._end

    def submit(self, header: Mapping[str, Any], payload: bytes = b"", _timeout_s: float = 0) -> int:
        if self._workers.take_death():
            self._end = "it was killed"
        if self._end:
            raise ChildDied(self._end)
        self._workers.asked[self._name] += 1
        try:
            answer = self._handle(Frame(dict(header), payload))
        except Exception as error:  # noqa: BLE001 - a child answers with it, too
            answer = {"error": str(error) or type(error).__name__}, b""
        self._answers.append(answer)
        return len(self._answers) - 1

    def answer(
        self, number: int, _timeout_s: float, on_wait: Callable[[], None] = lambda: None
    ) -> Frame:
        on_wait()
        if self._end:
            raise ChildDied(self._end)
        header, payload = self._answers[number]
        if "error" in header:
            raise ChildRefused(str(header["error"]))
        return Frame(dict(header), payload)

    def request(
        self, header: Mapping[str, Any], payload: bytes = b"", timeout_s: float = 60
    ) -> Frame:
        return self.answer(self.submit(header, payload, timeout_s), timeout_s)

    def abandon(self, _number: int) -> None:
        """Do nothing: the answer is there already."""

    def kill(self, reason: str) -> None:
        self._end = self._end or reason

    def close(self) -> None:
        self.kill("it was closed")


class _Collection:
    """A collection of Chroma, searched exactly."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._vectors: dict[str, Any] = {}

    def get(self, **_options: Any) -> dict[str, list[str]]:
        return {"ids": list(self._vectors)}

    def upsert(self, ids: Sequence[str], embeddings: Any) -> None:
        self._vectors |= dict(zip(ids, embeddings, strict=True))

    def delete(self, ids: Sequence[str]) -> None:
        for one in ids:
            self._vectors.pop(one, None)

    def query(self, query_embeddings: Any, n_results: int, **_options: Any) -> dict[str, Any]:
        distances = {one: 1.0 - float(v @ query_embeddings[0]) for one, v in self._vectors.items()}
        nearest = sorted(distances, key=lambda one: distances[one])[:n_results]
        return {"ids": [nearest], "distances": [[distances[one] for one in nearest]]}


def _embed(frame: Frame) -> Answer:
    vectors = [_make_vector(text) for text in frame.header["texts"]]
    shape = (len(vectors), DIMENSION)
    return {"precision": "float32", "shape": shape}, b"".join(vectors)


@lru_cache(maxsize=10_000)
def _make_vector(text: str) -> bytes:
    vector = np.zeros(DIMENSION, "<f4")
    for word in text.lower().split():
        vector[zlib.crc32(word.encode()) % DIMENSION] += 1.0
    vector[hashlib.sha256(text.encode()).digest()[0]] += 0.1
    made: bytes = (vector / np.linalg.norm(vector)).astype("<f4").tobytes()
    return made
