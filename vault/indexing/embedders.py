"""The embedding children of one index: one a model, started when it is first needed."""

import threading
from pathlib import Path

from vault.embedder import Embedder
from vault.embedding.models import PACKAGED, EmbeddingModel, find_model
from vault.errors import EmbedderFailed

__all__ = ["Embedders"]


class Embedders:
    """An embedder for each model in use; safe to use from several threads.

    There are two for as long as the vectors of one model are kept for searches while those of
    another are made.
    """

    def __init__(self, shared: Embedder | None = None, cache_dir: Path | None = None):
        """Start nothing yet.

        Args:
            shared: one of the model that comes with Strata, which outlives these.
            cache_dir: keeps the precision that each model is the fastest in.
        """
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._shared = shared
        self._by_stamp = {} if shared is None else {PACKAGED.stamp: shared}
        self._found: dict[str, EmbeddingModel] = {PACKAGED.name: PACKAGED}

    def of(self, model: EmbeddingModel) -> Embedder:
        """Give the embedder of a model."""
        with self._lock:
            self._found[model.name] = model
            if model.stamp not in self._by_stamp:
                self._by_stamp[model.stamp] = Embedder(model, cache_dir=self._cache_dir)
            return self._by_stamp[model.stamp]

    def chosen(self, name: str) -> Embedder:
        """Give the embedder that the setting `embedding.model` names, as it is on the disk now.

        Raises:
            EmbedderFailed: it is not on this computer.
        """
        return self.of(find_model(name))

    def named(self, name: str, stamp: str) -> Embedder:
        """Give the embedder of the model that vectors were made with.

        Raises:
            EmbedderFailed: it is not on this computer any more, or is another by now.
        """
        model = self._found.get(name)
        if model is None or model.stamp != stamp:
            model = find_model(name)
        if model.stamp != stamp:
            raise EmbedderFailed(
                f"The embedding model {name} is another than the one that was indexed with; "
                "notes are found by meaning again once the index is up to date."
            )
        return self.of(model)

    @property
    def pids(self) -> tuple[int | None, ...]:
        """Tell the process ids of those that run."""
        with self._lock:
            return tuple(embedder.pid for embedder in self._by_stamp.values())

    def close(self) -> None:
        """End all but the shared one."""
        with self._lock:
            ours = [one for one in self._by_stamp.values() if one is not self._shared]
        for embedder in ours:
            embedder.close()
