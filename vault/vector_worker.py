"""The child that holds the Chroma store: the only module that loads chromadb.

Run as `python -P -m vault.vector_worker FOLDER`. It keeps our own vectors under the hash of their
text, and nothing else of them. A lock beside the folder keeps a second one out until the first is
gone, since two processes on one store break it. The request at hand is finished before it ends.
"""

import fcntl
import os
import sys
from pathlib import Path
from typing import Any

from vault.frames import Answer, Frame, Requests
from vault.model_card import DIMENSION

_COLLECTION = "chunks"
_HNSW = {"space": "cosine", "ef_construction": 128, "ef_search": 256, "max_neighbors": 24}


def main() -> None:
    """Serve until the parent is gone."""
    requests = Requests(ends_at_once=False)
    os.umask(0o077)
    folder = Path(sys.argv[1])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        store = _Store(folder)
        requests.serve(store.handle)


class _Store:
    """One collection, opened at the first request so that a failure to open is an answer."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._opened: Any = None
        self._largest_batch = 1

    def handle(self, frame: Frame) -> Answer:
        """Do what a request asks for: `ids`, `upsert`, `delete` or `query`."""
        collection = self._collection()
        match frame.header["do"]:
            case "ids":
                return {"ids": collection.get(include=[])["ids"]}, b""
            case "upsert":
                self._upsert(collection, frame)
                return {}, b""
            case "delete":
                collection.delete(ids=frame.header["ids"])
                return {}, b""
            case _:
                return self._query(collection, frame)

    def _collection(self) -> Any:
        if self._opened is None:
            import chromadb
            from chromadb.config import Settings

            client = chromadb.PersistentClient(
                str(self._folder), settings=Settings(anonymized_telemetry=False)
            )
            self._largest_batch = client.get_max_batch_size()
            self._opened = client.get_or_create_collection(
                _COLLECTION, embedding_function=None, configuration={"hnsw": _HNSW}
            )
        return self._opened

    def _upsert(self, collection: Any, frame: Frame) -> None:
        ids, vectors = frame.header["ids"], _vectors(frame)
        for start in range(0, len(ids), self._largest_batch):
            part = slice(start, start + self._largest_batch)
            collection.upsert(ids=ids[part], embeddings=vectors[part])

    def _query(self, collection: Any, frame: Frame) -> Answer:
        found = collection.query(
            query_embeddings=_vectors(frame),
            n_results=frame.header["k"],
            include=["distances"],
        )
        return {"ids": found["ids"][0], "distances": found["distances"][0]}, b""


def _vectors(frame: Frame) -> Any:
    import numpy as np

    return np.frombuffer(frame.payload, "<f4").reshape(-1, DIMENSION)


if __name__ == "__main__":
    main()
