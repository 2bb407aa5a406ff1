"""The vector store: Chroma in a child process, synchronized with the catalog.

A store that is missing, outdated or broken is refilled from the catalog. Until then, searches use
`vault.search.exact` instead. The store is a folder or a server. On a server, the collection is
named after the index and the embedding model.
"""

import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from resources.system.files import remove_tree
from vault.catalog import Catalog
from vault.embedding_versions import read_used_model
from vault.errors import ChildDied, ChildRefused, VectorStoreFailed
from vault.options import VectorServer
from vault.workers.frames import Frame
from vault.workers.process import Child

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 512
_ANSWER_S = 180.0
_SEARCH_S = 10.0  # for a server, because the exact scan would have answered by then
_ATTEMPTS = 3
_INDEX_ID = "index_id"

Progress = Callable[[int], None]


class VectorStore:
    """A Chroma store with a copy of the catalog's vectors. Thread-safe.

    Attributes:
        server: the server, or None for a store in a folder.
        failure: why the last synchronization failed, or an empty string.
    """

    def __init__(self, catalog: Catalog, folder: Path, server: VectorServer | None = None):
        """Create the object. No process is started yet.

        Args:
            catalog: the catalog whose vectors are stored.
            folder: the folder of the store, unless a server is used.
            server: the server to use instead of the folder.
        """
        self.server = server
        self.failure = ""
        self._catalog = catalog
        self._folder = folder
        self._collection = ""
        self._lock = threading.RLock()
        self._child: Child | None = None
        self._held: set[bytes] | None = None
        self._is_synchronized = False
        self._is_broken = False
        self._is_unwanted = False
        self._closed = threading.Event()

    @property
    def pid(self) -> int | None:
        """The process id of the store's child process, or None if it is not running."""
        child = self._child
        return child.pid if child is not None and child.is_alive else None

    @property
    def is_ready(self) -> bool:
        """Whether the store is running and up to date with the catalog."""
        return self._is_synchronized and self.pid is not None

    @property
    def size(self) -> int:
        """The number of vectors in the store when it was last checked."""
        return len(self._held or ())

    def start(self) -> None:
        """Start the child process without waiting until it is ready.

        If a server must not be used because Strata is offline, no process is started.

        Raises:
            VectorStoreFailed: the store was closed.
        """
        if self.server is None or not self.server.is_refused:
            self._ensure_child()

    def synchronize(
        self,
        progress: Progress = lambda _done: None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        """Bring the store up to date with the catalog.

        A dead child process is restarted. If that does not help, the files of a local store are
        deleted and rebuilt.

        Args:
            progress: called with the number of vectors added so far.
            on_wait: called about every 50 ms. It can raise an exception to stop.

        Raises:
            VectorStoreFailed: the store cannot be used, even after it was rebuilt.
        """
        try:
            with self._lock:
                self._synchronize(progress, on_wait)
        except VectorStoreFailed as error:
            self.failure = str(error)
            raise
        self.failure = ""

    def _synchronize(self, progress: Progress, on_wait: Callable[[], None]) -> None:
        self._refuse_if_offline()
        attempts = _ATTEMPTS if self.server is None else 1
        for attempt in range(attempts):
            if self._is_broken:
                self._repair()
            try:
                self._fill(progress, on_wait)
            except (ChildDied, ChildRefused) as error:
                failure = error
                self._stop()
                self._is_broken = attempt > 0 or isinstance(error, ChildRefused)
            else:
                return
        where = f"in {self._folder}" if self.server is None else f"at {self.server.host}"
        raise VectorStoreFailed(
            f"The vector store {where} cannot be used: {failure}. "
            "Search goes on without it; `strata doctor` tells more."
        ) from failure

    def _refuse_if_offline(self) -> None:
        if self.server is not None and self.server.is_refused:
            raise VectorStoreFailed(
                f"The vector store at {self.server.host} is not asked, since privacy.offline is "
                "on. Search goes on without it."
            )

    def add(self, hashes: Sequence[bytes], on_wait: Callable[[], None] = lambda: None) -> None:
        """Add the vectors of new texts to the store, if it is up to date.

        If the store is not up to date, the vectors are added when it is next synchronized.

        Args:
            hashes: the hashes of the texts, whose vectors are read from the catalog.
            on_wait: called about every 50 ms. It can raise an exception to stop.

        Raises:
            VectorStoreFailed: the store failed during this call.
        """
        with self._lock:
            if not self.is_ready or self._held is None:
                return
            try:
                for part in _split([h for h in hashes if h not in self._held]):
                    self._put(self._ensure_child(), part, on_wait)
            except (ChildDied, ChildRefused) as error:
                self._is_synchronized = False
                raise VectorStoreFailed(f"The vector store broke: {error}.") from error

    def query(self, vector: "NDArray[np.float32]", k: int) -> list[tuple[bytes, float]]:
        """Find the texts whose vectors are nearest to a query's vector.

        Args:
            vector: the query's vector.
            k: the maximum number of results.

        Returns:
            The hash and the cosine similarity of each text, nearest first.

        Raises:
            VectorStoreFailed: the store is not ready, or failed during this call.
        """
        child, stored_hashes = self._child, self._held
        if child is None or stored_hashes is None or not self.is_ready:
            raise VectorStoreFailed("The vector store is not ready yet.")
        if not stored_hashes:
            return []
        try:
            request = {"do": "query", "k": min(k, len(stored_hashes)), "urgent": True}
            patience_s = _ANSWER_S if self.server is None else _SEARCH_S
            payload = vector.astype("<f4").tobytes()
            finish = self._record(request, payload)
            frame = child.request(request, payload, patience_s)
            finish(frame)
        except (ChildDied, ChildRefused) as error:
            self._is_synchronized = False
            self._is_broken = self._is_broken or isinstance(error, ChildRefused)
            raise VectorStoreFailed(f"The vector store broke: {error}.") from error
        found = zip(frame.header["ids"], frame.header["distances"], strict=True)
        return [(bytes.fromhex(text_hash), 1.0 - distance) for text_hash, distance in found]

    def use(self, server: VectorServer | None) -> None:
        """Switch to another vector server, or to the local folder if `server` is None."""
        if server == self.server:
            return  # without waiting for the thread that fills the store, which may take minutes
        with self._lock:
            self._stop()
            self.server, self.failure, self._is_broken = server, "", False

    def set_aside(self) -> None:
        """Stop using the store for queries until it is synchronized again."""
        self._is_synchronized = False

    def discard(self) -> None:
        """Stop the child process and delete the stored vectors.

        On a server, the vectors are deleted when the store is next opened.
        """
        with self._lock:
            self._discard()

    def close(self) -> None:
        """Stop the child process after its current request."""
        self._closed.set()
        child = self._child
        if child is not None:
            child.close()

    def _ensure_child(self) -> Child:
        with self._lock:
            if self._closed.is_set():
                raise VectorStoreFailed("The index was closed while it was in use.")
            if self._child is not None and not self._child.is_alive:
                self._stop()
            if self._child is None:
                is_online = self.server is not None
                folder = () if is_online else (str(self._folder),)
                self._child = Child("vault.vector_worker", *folder, is_online=is_online)
                self._held = None
                if self._closed.is_set():  # meanwhile, by another thread that saw no child
                    self._child.close()
            return self._child

    def _fill(self, progress: Progress, on_wait: Callable[[], None]) -> None:
        child = self._ensure_child()
        prefix, name = _name_collection(self._catalog)
        is_fresh = self._held is None or self._collection != name
        if self._held is None or self._collection != name:
            self._held = self._open(child, prefix, name, on_wait)
            self._collection = name
        self._catch_up(child, progress, on_wait)
        if is_fresh and self._held:
            self._probe(child, next(iter(self._held)), on_wait)
        self._is_synchronized = True
        self._catch_up(child, lambda _done: None, on_wait)  # others may have added vectors

    def _catch_up(self, child: Child, progress: Progress, on_wait: Callable[[], None]) -> None:
        assert self._held is not None
        wanted = self._catalog.read_vector_hashes()
        missing, extra = sorted(wanted - self._held), sorted(self._held - wanted)
        for part in _split(extra):
            self._ask(child, {"do": "delete", "ids": _format_ids(part)}, b"", on_wait)
            self._held.difference_update(part)
        for done, part in enumerate(_split(missing)):
            progress(done * BATCH)
            self._put(child, part, on_wait)

    def _open(
        self, child: Child, prefix: str, name: str, on_wait: Callable[[], None]
    ) -> set[bytes]:
        server = None if self.server is None else self.server.to_dict()
        wanted = {"collection": name, "prefix": prefix, "anew": self._is_unwanted, "server": server}
        frame = self._ask(child, {"do": "open", **wanted}, b"", on_wait)
        self._is_unwanted = False
        return {bytes.fromhex(text_hash) for text_hash in frame.header["ids"]}

    def _put(self, child: Child, part: Sequence[bytes], on_wait: Callable[[], None]) -> None:
        assert self._held is not None
        vectors = [(h, vector) for h in part if (vector := self._catalog.vector(h))]
        hashes = [text_hash for text_hash, _ in vectors]
        payload = b"".join(vector for _, vector in vectors)
        self._ask(child, {"do": "upsert", "ids": _format_ids(hashes)}, payload, on_wait)
        self._held.update(hashes)

    def _probe(self, child: Child, text_hash: bytes, on_wait: Callable[[], None]) -> None:
        """Run a test query with the vector of a stored text.

        Only a query detects that the store's search graph is damaged.
        """
        vector = self._catalog.vector(text_hash)
        if vector is not None:
            self._ask(child, {"do": "query", "k": 1}, vector, on_wait)

    def _ask(
        self,
        child: Child,
        request: dict[str, object],
        payload: bytes,
        on_wait: Callable[[], None],
    ) -> Frame:
        finish = self._record(request, payload)
        frame = child.answer(child.submit(request, payload, _ANSWER_S), _ANSWER_S, on_wait)
        finish(frame)
        return frame

    def _record(self, request: dict[str, object], payload: bytes) -> Callable[[Frame], None]:
        if self.server is None or self.server.record is None:
            return lambda _frame: None
        finish = self.server.record(_measure(request, payload))
        return lambda frame: finish(_measure(frame.header, frame.payload))

    def _stop(self) -> None:
        child, self._child, self._held = self._child, None, None
        self._is_synchronized = False
        if child is not None:
            child.kill("it is started anew")

    def _repair(self) -> None:
        """Repair a broken store before it is filled again.

        The files of a local store are deleted. For a server, the list of stored vectors is read
        again.
        """
        if self.server is None:
            self._discard()
        else:
            self._held, self._is_broken = None, False

    def _discard(self) -> None:
        self._stop()
        self._is_broken = False
        self._is_unwanted = self.server is not None
        if self.server is None:
            # If files cannot be deleted, Chroma refuses them again, and that error is reported.
            with suppress(OSError):
                remove_tree(self._folder)


def _split(hashes: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(hashes), BATCH):
        yield hashes[start : start + BATCH]


def _name_collection(catalog: Catalog) -> tuple[str, str]:
    index = catalog.meta(_INDEX_ID)
    if index is None:
        index = uuid.uuid4().hex
        with catalog.transaction():
            catalog.set_meta(_INDEX_ID, index)
    stamp = hashlib.sha256(read_used_model(catalog)[1].encode("utf-8")).hexdigest()
    return f"strata-{index}-", f"strata-{index}-{stamp[:16]}"


def _measure(header: Mapping[str, object], payload: bytes) -> int:
    return len(json.dumps(header, default=str)) + len(payload)


def _format_ids(hashes: Sequence[bytes]) -> list[str]:
    return [text_hash.hex() for text_hash in hashes]
