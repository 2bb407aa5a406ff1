"""The folder of notes that is open: one at a time, with its index."""

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from app.config.models import index_options
from app.config.settings_file import SettingsStore
from app.errors import InvalidRequest, VaultNotChosen, storage_errors
from app.library.library import IndexFinished, Library
from app.paths import Paths
from chains.cancel import CancelToken
from chains.events import Event, IndexProgressed, Step, Warned
from context.layers import Segment
from vault.embedder import Embedder
from vault.errors import EmbedderFailed, IndexBusy, VectorStoreFailed
from vault.paths import check_folder
from vault.search.adhoc import AdhocText, search_texts
from vault.search.hits import Hit
from vault.search.search import SearchResult

__all__ = ["OpenVault"]

_log = logging.getLogger(__name__)


class OpenVault:
    """What is open of notes; every method may be called from any thread."""

    def __init__(
        self, paths: Paths, settings: SettingsStore, embedder: Embedder | None = None
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._embedder = embedder
        self._library: Library | None = None
        self._lock = threading.RLock()

    @property
    def library(self) -> Library | None:
        """The open notes with their index."""
        return self._library

    @property
    def folder(self) -> Path | None:
        """Where they lie."""
        library = self._library
        return None if library is None else library.root

    def open(self, folder: Path, remember: bool) -> None:
        """Open a folder in place of the one that is open.

        Raises:
            VaultMissing: there is no folder there.
            VaultUnreadable: it may not be read.
            StorageFailed: the index or the settings cannot be written.
        """
        with self._lock:
            check_folder(folder)
            if self._library is not None and not os.path.isdir(self._library.root):
                self.close()  # it may be what has moved to the folder, which takes over its index
            with storage_errors(self._paths.data):
                library = Library.open(
                    folder,
                    self._paths,
                    self._settings.values.vault_exclude,
                    lambda: index_options(self._settings.values),
                    self._embedder,
                )
            self.close()
            self._library = library
            if remember:
                self._settings.set("vault.path", str(library.root))

    def close(self) -> None:
        """Let go of the notes and their child processes."""
        with self._lock:
            if self._library is not None:
                self._library.close()
                self._library = None

    def require(self) -> Library:
        """Return the open notes.

        Raises:
            VaultNotChosen: no folder is open.
        """
        if self._library is None:
            raise VaultNotChosen
        return self._library

    def search(
        self, query: str, k: int, *, in_play: Collection[str] = (), reranks: bool = True
    ) -> SearchResult:
        """Find passages by words and by meaning, as a model is given them.

        Raises:
            VaultNotChosen: no folder is open.
            VaultError: the index cannot be searched.
        """
        library = self.require()
        return _from_whole(
            library, lambda: library.search(query, k, in_play=in_play, reranks=reranks)
        )

    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:
        """List every note that fits the filters of a query and holds its words, in pages.

        Raises:
            VaultNotChosen: no folder is open.
            VaultError: the index cannot be searched.
        """
        library = self.require()
        return _from_whole(library, lambda: library.list_notes(query, limit, offset))

    def excerpts(self, query: str, k: int | None = None) -> SearchResult:
        """Find the places that fit a query best, as a person reads them.

        Raises:
            VaultNotChosen: no folder is open.
            InvalidRequest: there is nothing to search for.
            VaultError: the index cannot be searched.
        """
        library = self.require()
        if not query.strip():
            raise InvalidRequest("There is nothing to search for.")
        return library.excerpts(query, k or self._settings.values.retrieval_top_k)

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Find the best `k` passages of what is attached, of the notes or from elsewhere."""
        texts = [AdhocText(s.source, s.title, s.version or "", s.raw_content) for s in segments]
        if self._library is None:
            return search_texts(texts, query, k)
        return self._library.search_within(texts, query, k)

    def freshen(self, cancel: CancelToken, warnings: list[str]) -> Iterator[Event]:
        """Bring the index up to date before it is searched, as far as that is possible now."""
        library = self.require()
        if library.is_paused or library.is_stopped:
            return  # the user has said so
        if library.is_updating or not library.settles(cancel):
            return
        yield Step("index", "Reading your notes")
        try:
            yield from _updated(library, cancel)
        except (IndexBusy, EmbedderFailed, VectorStoreFailed) as error:
            _log.warning("The index was not brought up to date: %s", error)
            warnings.append(f"{error} The answer rests on what was indexed before.")
            yield Warned(warnings[-1])
        cancel.raise_if_cancelled()


def _from_whole(library: Library, search: Callable[[], SearchResult]) -> SearchResult:
    """Search, and again once the index is made anew, where that turned out to be damaged."""
    found = search()
    if not library.is_mending or library.is_watched:
        return found
    for _ in library.update(CancelToken()):
        pass
    return replace(search(), warnings=found.warnings)


def _updated(library: Library, cancel: CancelToken) -> Iterator[IndexProgressed]:
    """Bring the index up to date; a pause ends that, since somebody waits for the answer."""
    run = CancelToken()
    forget = cancel.on_cancel(run.cancel)
    try:
        for event in library.update(run):
            if isinstance(event, IndexFinished):
                return
            if event.progress.throttle == "paused":
                run.cancel()
            yield event
    finally:
        forget()
