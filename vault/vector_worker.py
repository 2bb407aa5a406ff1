"""The child process that runs Chroma. Only this module loads chromadb.

Run as `python -P -m vault.vector_worker [FOLDER]`. With FOLDER, the process opens the store in that
folder. Without FOLDER, it is a client of the server that the `open` request names. Of what a server
sends, only plain values are read, and nothing is built that it names. The store contains only
vectors, each under the hash of its text. A lock file next to the folder makes a second process wait
until the first has ended, because two processes would damage the store. When the parent process
ends, the current request is finished first.
"""

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from resources.system.calls import lock_file
from resources.system.files import make_private_folder, open_file
from vault.workers.frames import Answer, Frame, Requests

_HNSW = {"space": "cosine", "ef_construction": 128, "ef_search": 256, "max_neighbors": 24}
_CONNECT_S = 5.0
_MOST_ON_A_SERVER = 300  # the limit of Chroma's own service for one request
_PLAIN_FIELDS = ("id", "name", "tenant", "database", "dimension", "version", "log_position")
_HASH = re.compile(r"(?:[0-9a-f]{2}){1,64}")


def main() -> None:
    """Answer requests until the parent process exits."""
    requests = Requests(ends_at_once=False)
    os.umask(0o077)
    if len(sys.argv) < 2:
        requests.serve(_Store(None).handle)
        return
    folder = Path(sys.argv[1])
    make_private_folder(folder)
    name = folder.with_name(f"{folder.name}.lock")
    with os.fdopen(open_file(name, os.O_RDWR | os.O_CREAT), "r+b") as lock:
        lock_file(lock.fileno(), waits=True)
        requests.serve(_Store(folder).handle)


class _Store:
    """One Chroma collection, in a folder or on a server."""

    def __init__(self, folder: Path | None):
        self._folder = folder
        self._collection: Any = None
        self._most = 1

    def handle(self, frame: Frame) -> Answer:
        """Handle a request to open the store, to add or delete vectors, or to search them.

        The first request must be `open`. The others are `upsert`, `delete` and `query`.
        """
        match frame.header["do"]:
            case "open":
                return {"ids": self._open(frame.header)}, b""
            case "upsert":
                ids, vectors = frame.header["ids"], _read_vectors(frame)
                for part in self._split(len(ids)):
                    self._collection.upsert(ids=ids[part], embeddings=vectors[part])
            case "delete":
                ids = frame.header["ids"]
                for part in self._split(len(ids)):
                    self._collection.delete(ids=ids[part])
            case _:
                return self._query(frame)
        return {}, b""

    def _open(self, wanted: Mapping[str, Any]) -> Sequence[str]:
        client = _open_local(self._folder) if self._folder else _connect(wanted["server"])
        self._most = client.get_max_batch_size()
        if self._folder is None:
            self._most = min(self._most, _MOST_ON_A_SERVER)
        if self._most < 1:
            raise ValueError("it takes no vectors")
        for name in [collection.name for collection in client.list_collections()]:
            is_ours = self._folder is not None or name.startswith(wanted["prefix"])
            if is_ours and (name != wanted["collection"] or wanted["anew"]):
                client.delete_collection(name)
        self._collection = client.get_or_create_collection(
            wanted["collection"], embedding_function=None, configuration={"hnsw": _HNSW}
        )
        return self._list_ids()

    def _list_ids(self) -> Sequence[str]:
        if self._folder is not None:
            found: list[str] = self._collection.get(include=[])["ids"]
            return found
        ids: dict[str, None] = {}
        while page := self._collection.get(include=[], limit=self._most, offset=len(ids))["ids"]:
            before = len(ids)
            ids |= dict.fromkeys(map(_check_hash, page))
            if len(ids) == before:  # the server repeats a page
                break
        return list(ids)

    def _split(self, count: int) -> Iterator[slice]:
        for start in range(0, count, self._most):
            yield slice(start, start + self._most)

    def _query(self, frame: Frame) -> Answer:
        wanted = int(frame.header["k"])
        found = self._collection.query(
            query_embeddings=_read_vectors(frame),
            n_results=wanted if self._folder else min(wanted, _MOST_ON_A_SERVER),
            include=["distances"],
        )
        ids, distances = found["ids"][0], found["distances"][0]
        if len(ids) != len(distances):
            raise ValueError("it sent another number of distances than of ids")
        return {"ids": [*map(_check_hash, ids)], "distances": [*map(float, distances)]}, b""


def _open_local(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))


def _connect(server: Mapping[str, Any]) -> Any:
    # The library itself waits for an unresponsive server until the system's timeout.
    socket.create_connection((server["host"], server["port"]), _CONNECT_S).close()
    import chromadb
    from chromadb.config import Settings

    _build_nothing_of_answers()
    return chromadb.HttpClient(
        host=server["host"],
        port=server["port"],
        ssl=server["ssl"],
        tenant=server["tenant"],
        database=server["database"],
        headers=_build_key_headers(server["token"]),
        settings=Settings(anonymized_telemetry=False),
    )


def _build_key_headers(token: str) -> dict[str, str] | None:
    """Build the headers for a token, or for the complete `Basic …` value of a password."""
    if token.startswith("Basic "):
        return {"Authorization": token}
    return {"X-Chroma-Token": token, "Authorization": f"Bearer {token}"} if token else None


def _build_nothing_of_answers() -> None:
    """Make Chroma's client read only plain values of the collections that a server describes.

    It would otherwise build the embedding functions that their schema and configuration name, and
    these may load code from any folder. Without its tables of such functions, it can build none.
    """
    from chromadb.types import Collection
    from chromadb.utils import embedding_functions

    embedding_functions.known_embedding_functions.clear()
    embedding_functions.sparse_known_embedding_functions.clear()
    read = Collection.from_json

    def read_plain(answer: Mapping[str, Any]) -> Any:
        plain = {name: answer[name] for name in _PLAIN_FIELDS if name in answer}
        return read({**plain, "configuration_json": {}})

    Collection.from_json = read_plain


def _check_hash(value: object) -> str:
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise ValueError("it sent ids that are no hashes")
    return value


def _read_vectors(frame: Frame) -> Any:
    import numpy as np

    count = len(frame.header.get("ids", ("the question",)))
    return np.frombuffer(frame.payload, "<f4").reshape(count, -1)


if __name__ == "__main__":
    main()
