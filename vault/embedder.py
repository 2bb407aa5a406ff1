"""Embed texts in a child process that is started on demand.

If the process dies, it is restarted, and unanswered requests are sent again. Embedding fails only
if the process dies several times in a row.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vault.embedding.models import PACKAGED, EmbeddingModel
from vault.errors import ChildDied, ChildRefused, EmbedderFailed
from vault.workers.process import Child

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_ANSWER_S = 300.0
_IDLE_S = 300.0
_MAX_DEATHS = 3
_IN_FLIGHT = 2
# Short texts are padded to the longest of their batch, so a batch has texts of similar length.
_SHORT_BATCH = 6
_KEPT_VECTORS = 4_096


@dataclass(frozen=True, slots=True)
class _Request:
    texts: Sequence[str]
    is_urgent: bool
    is_query: bool
    exports: bool
    child: Child
    number: int


class Embedder:
    """Embeds texts in a child process. Thread-safe.

    Indexing and searching share one embedder.
    """

    def __init__(
        self,
        model: EmbeddingModel = PACKAGED,
        *,
        idle_s: float = _IDLE_S,
        cache_dir: Path | None = None,
    ) -> None:
        """Create the embedder. The child process is not started yet.

        Args:
            model: the embedding model.
            idle_s: the idle seconds after which the process exits, because it uses much memory.
            cache_dir: the folder for caching the fastest precision and the ONNX model, or None.
        """
        self.model = model
        self._cache_dir = cache_dir
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._precision = ""
        self._can_export = False
        self._deaths = 0
        self._is_closed = False
        self._kept: OrderedDict[tuple[bool, str], Vectors] = OrderedDict()

    @property
    def pid(self) -> int | None:
        """The process id of the child process, or None if it is not running."""
        child = self._child
        return child.pid if child is not None and child.is_alive else None

    @property
    def precision(self) -> str:
        """The numeric precision in use, such as `float32`.

        This is an empty string until the first texts have been embedded.
        """
        return self._precision

    def store_onnx_form(self, on_wait: Callable[[], None] = lambda: None) -> None:
        """Export the model to ONNX, a format that loads faster, unless this was already done.

        Args:
            on_wait: called about every 50 ms. It can raise an exception to stop waiting.

        Raises:
            EmbedderFailed: the model is damaged, or its process dies repeatedly.
        """
        if self._can_export:
            self._can_export = False
            self._answer(self._ask([], exports=True), on_wait)

    def start(self, passages: int = 0) -> None:
        """Start the embedding process, which loads the model in the background.

        Args:
            passages: how many passages will probably be embedded. For many, the process also loads
                the library that embeds them fastest.
        """
        child = self._ensure_child()
        if passages:
            with suppress(ChildDied):  # the next request starts another process
                child.abandon(child.submit({"ahead": passages}))

    def embed_query(self, text: str) -> "Vectors":
        """Embed a query before any waiting batches of passages, and return its vector.

        Raises:
            EmbedderFailed: the model is damaged, or its process dies repeatedly.
        """
        return self.begin_query(text)()

    def begin_query(self, text: str) -> "Callable[[], Vectors]":
        """Start embedding a query, before any waiting batches of passages.

        Returns:
            A function that waits for the vector and returns it.

        Raises:
            EmbedderFailed: the process dies repeatedly. The returned function may raise it too.
        """
        asked = self._ask([text], is_urgent=True, is_query=True)

        def wait() -> "Vectors":
            vector: Vectors = self._answer(asked, lambda: None)[0]
            self._keep({(True, text): vector})
            return vector

        return wait

    def measure_cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine similarity of a query and each of a few short texts.

        The texts are embedded before any waiting batches. The vectors of the most recent queries
        and texts are cached, because the same sentences and headings are often compared with later
        queries.

        Raises:
            EmbedderFailed: the model is damaged, or its process dies repeatedly.
        """
        asked, wanted = (True, query), [(False, text) for text in texts]
        with self._lock:
            known = {key: self._kept[key] for key in (asked, *wanted) if key in self._kept}
        absent = {text for key, text in wanted if (key, text) not in known}
        known |= self._embed_short([] if asked in known else [query], is_query=True)
        known |= self._embed_short(sorted(absent, key=len), is_query=False)
        self._keep(known)
        return [float(known[key] @ known[asked]) for key in wanted]

    def embed(
        self,
        batches: Iterable[Sequence[str]],
        on_wait: Callable[[], None] = lambda: None,
        can_work_ahead: Callable[[], bool] = lambda: True,
    ) -> "Iterator[Vectors]":
        """Embed batches of texts, and yield the vectors of each batch in order.

        The next batches are computed while the caller uses the results.

        Args:
            batches: lists of texts, ideally of similar length.
            on_wait: called about every 50 ms. It can raise an exception to stop.
            can_work_ahead: returns whether to request the next batches before the current one is
                finished.

        Raises:
            EmbedderFailed: the model is damaged, or its process dies repeatedly.
        """
        under_way: deque[_Request] = deque()
        try:
            for batch in batches:
                under_way.append(self._ask(batch))
                while len(under_way) > (_IN_FLIGHT if can_work_ahead() else 0):
                    yield self._answer(under_way.popleft(), on_wait)
            while under_way:
                yield self._answer(under_way.popleft(), on_wait)
        finally:
            for asked in under_way:
                asked.child.abandon(asked.number)

    def close(self) -> None:
        """Stop the embedding process."""
        with self._lock:
            self._is_closed = True
            child, self._child = self._child, None
        if child is not None:
            child.close()

    def _ensure_child(self) -> Child:
        with self._lock:
            if self._is_closed:
                raise EmbedderFailed("The index was closed while it was in use.")
            if self._child is not None and self._child.has_left:
                self._child.close()
                self._child = None
            if self._child is None:
                self._child = Child(
                    "vault.embed_worker", str(self._idle_s), *self._list_arguments()
                )
            return self._child

    def _list_arguments(self) -> tuple[str, ...]:
        folder = "" if self.model.folder is None else str(self.model.folder)
        cache = () if self._cache_dir is None else (str(self._cache_dir), self.model.stamp)
        return folder, *cache

    def _embed_short(
        self, texts: Sequence[str], *, is_query: bool
    ) -> "dict[tuple[bool, str], Vectors]":
        """Embed short texts in small batches. The texts should be sorted by length.

        Return the vectors, keyed by `(is_query, text)`.
        """
        batches = [texts[at : at + _SHORT_BATCH] for at in range(0, len(texts), _SHORT_BATCH)]
        asked = [self._ask(batch, is_urgent=True, is_query=is_query) for batch in batches]
        vectors = (vector for each in asked for vector in self._answer(each, lambda: None))
        return {(is_query, text): vector for text, vector in zip(texts, vectors, strict=True)}

    def _keep(self, vectors: "Mapping[tuple[bool, str], Vectors]") -> None:
        """Cache the vectors of short texts, and remove the least recently used vectors."""
        with self._lock:
            for key, vector in vectors.items():
                self._kept[key] = vector
                self._kept.move_to_end(key)
            while len(self._kept) > _KEPT_VECTORS:
                self._kept.popitem(last=False)

    def _ask(
        self,
        texts: Sequence[str],
        *,
        is_urgent: bool = False,
        is_query: bool = False,
        exports: bool = False,
    ) -> _Request:
        flags = {"urgent": is_urgent, "query": is_query, "export": exports}
        header = {"texts": list(texts), **flags}
        while True:
            child = self._ensure_child()
            try:
                number = child.submit(header)
            except ChildDied as error:
                self._discard_child(child, error)
            else:
                return _Request(texts, is_urgent, is_query, exports, child, number)

    def _answer(self, asked: _Request, on_wait: Callable[[], None]) -> "Vectors":
        import numpy as np

        while True:
            try:
                frame = asked.child.answer(asked.number, _ANSWER_S, on_wait)
            except ChildDied as error:
                self._discard_child(asked.child, error)
                asked = self._ask(
                    asked.texts,
                    is_urgent=asked.is_urgent,
                    is_query=asked.is_query,
                    exports=asked.exports,
                )
            except ChildRefused as error:
                raise EmbedderFailed(f"The embedding model cannot be used: {error}.") from error
            else:
                self._deaths = 0
                self._precision = str(frame.header["precision"])
                self._can_export = bool(frame.header.get("can_export"))
                return np.frombuffer(frame.payload, "<f4").reshape(frame.header["shape"])

    def _discard_child(self, child: Child, error: ChildDied) -> None:
        """Discard a dead child process, so that the next request starts another one.

        Each dead process is counted only once, even if several threads notice it.

        Raises:
            EmbedderFailed: the process died several times in a row.
        """
        child.kill(str(error))
        with self._lock:
            if self._child is not child:
                return
            self._child = None
            self._deaths += 1
            if self._deaths >= _MAX_DEATHS:
                self._deaths = 0
                raise EmbedderFailed(
                    f"The embedding process ended {_MAX_DEATHS} times in a row: {error}. "
                    "Close other programs if memory is short, then index again."
                ) from error
