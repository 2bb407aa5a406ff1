"""The open vault and its index: update, watch, search and read notes."""

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.library.files import FolderFiles
from app.library.indexing import AnswerUpdates, IndexListener
from app.paths import Paths
from chains.cancel import CancelToken
from chains.concurrency import Emit, iterate
from chains.events import Event, IndexProgressed, Warned
from context.layers import Segment
from resources.system.files import make_private_folder
from vault.embedder import Embedder
from vault.errors import EmbedderFailed, IndexBusy, VaultError, VectorStoreFailed
from vault.index import NoteState, VaultIndex
from vault.indexing.progress import IndexProgress, IndexReport
from vault.indexing.relocate import take_over_index
from vault.indexing.status import IndexStatus
from vault.notes.links import LinkResolver
from vault.options import IndexOptions
from vault.paths import check_folder
from vault.search.adhoc import AdhocText
from vault.search.hits import Hit
from vault.search.related import RelatedNote
from vault.search.scope import Covers
from vault.search.search import SearchResult

if TYPE_CHECKING:
    from vault.questions.reader import Reading
    from vault.search.selftest import SelfTest

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IndexFinished:
    """The last event of an index update, even if the update was cancelled."""

    report: IndexReport


class Library(FolderFiles):
    """A vault with its index. Thread-safe."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        exclude: Sequence[str],
        options: Callable[[], IndexOptions] = IndexOptions,
        embedder: Embedder | None = None,
        cache_dir: Path | None = None,
    ) -> None:
        super().__init__(root, exclude)
        self.index_dir = index_dir
        self._index = VaultIndex(root, index_dir, exclude, embedder, options, cache_dir)
        self._lock = threading.Lock()
        self._updates = 0
        self._is_stopped = False
        self._answers = AnswerUpdates(self._index)

    @classmethod
    def open(
        cls,
        folder: Path,
        paths: Paths,
        exclude: Sequence[str] = (),
        options: Callable[[], IndexOptions] = IndexOptions,
        embedder: Embedder | None = None,
    ) -> "Library":
        """Open a vault. Nothing is written to its folder.

        If the folder was moved, its existing index is reused.

        Args:
            folder: the folder that holds the notes.
            paths: the folders for Strata's own files.
            exclude: exclude patterns in `.gitignore` syntax.
            options: returns the embedding model, vector server and reranker to use.
            embedder: an embedder shared with other vaults, or None to create one.

        Raises:
            VaultMissing: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            OSError: the folder of the index cannot be created.
        """
        root = check_folder(folder)
        index_dir = paths.index_folder(root)
        if take_over_index(index_dir, root):
            _log.info("%s has moved here and keeps its index", root)
        make_private_folder(index_dir)
        return cls(root, index_dir, exclude, options, embedder, paths.embedding_cache)

    @property
    def note_count(self) -> int:
        """The number of indexed notes."""
        return self._index.note_count

    @property
    def indexed_at(self) -> str | None:
        """The time of the last complete index update, in ISO 8601 and UTC, or None."""
        return self._index.indexed_at

    @property
    def is_updating(self) -> bool:
        """Whether an index update started by this process is running."""
        return self._updates > 0 or self._answers.is_running

    @property
    def is_in_use(self) -> bool:
        """Whether this process is updating the index, or the user has just searched it."""
        return self.is_updating or self._index.is_searched

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called, and no index update has been started since."""
        return self._is_stopped

    def stop(self) -> None:
        """Stop all running index updates, and keep the notes that were already indexed.

        `freshen` then does nothing until `update` is called.
        """
        self._is_stopped = True
        self._index.updates.stop()

    def update(
        self, cancel: CancelToken, *, is_background: bool = False
    ) -> Iterator[IndexProgressed | IndexFinished]:
        """Update the index, and yield progress events, ending with `IndexFinished`.

        Args:
            cancel: cancels the update.
            is_background: whether to slow down under high load or on battery.

        Raises:
            VaultError: the update failed. Notes that were already indexed are kept.
        """
        abandoned = CancelToken()
        self._is_stopped = False

        def work(emit: Emit[IndexProgressed | IndexFinished]) -> None:
            def told(progress: IndexProgress) -> None:
                emit(IndexProgressed(progress))

            report = self._index.update(
                told,
                lambda: cancel.is_cancelled or abandoned.is_cancelled,
                is_background=is_background,
            )
            emit(IndexFinished(report))

        with self._count_update():
            try:
                # The iterator is not cancelled, so that a cancelled update still yields its report.
                yield from iterate(work, CancelToken())
            finally:
                abandoned.cancel()

    def freshen(
        self,
        cancel: CancelToken,
        warnings: list[str],
        question: str = "",
        attached: Collection[str] = (),
    ) -> Iterator[Event]:
        """Update the index before a message is answered.

        A long update continues in the background while the message is answered. If another update
        is running, this method only waits for it briefly. If updates are paused or stopped, it only
        checks that the folder exists, because nothing is found in a folder that is gone.

        Args:
            cancel: cancels the update and the turn.
            warnings: receives a sentence if the index could not be updated.
            question: the user message. Notes mentioned in it are indexed first.
            attached: the paths of attached notes, which are indexed first too.
        """
        check_folder(self.root)
        if self.is_paused or self.is_stopped:
            return
        self._index.updates.priority.prefer(attached, question)
        try:
            yield from self._answers.update(cancel)
        except (IndexBusy, EmbedderFailed, VectorStoreFailed) as error:
            _log.warning("The index was not brought up to date: %s", error)
            warnings.append(f"{error} The answer rests on what was indexed before.")
            yield Warned(warnings[-1])
        cancel.raise_if_cancelled()

    def watch(
        self,
        on_report: Callable[[IndexReport], None],
        progress: Callable[[IndexProgress], None] = lambda _progress: None,
        failed: Callable[[VaultError], None] = lambda _error: None,
    ) -> None:
        """Watch the folder, and update the index when files change.

        The callbacks run in the thread of the update.

        Args:
            on_report: receives the report of each update.
            progress: receives progress several times a second.
            failed: receives the error of a failed update. The next change starts a new update.
        """
        self._answers.listener = IndexListener(on_report, progress, failed)
        self._index.watch(on_report, progress, failed)

    @property
    def is_paused(self) -> bool:
        """Whether index updates are paused until `resume` is called."""
        return self._index.throttle.is_paused

    def pause(self) -> None:
        """Pause index updates. A running update waits before its next note or batch."""
        self._index.throttle.pause()

    def resume(self) -> None:
        """Resume paused index updates."""
        self._index.throttle.resume()

    @property
    def is_mending(self) -> bool:
        """Whether the index is damaged and its rebuild has not finished yet."""
        return self._index.is_mending

    @property
    def is_watched(self) -> bool:
        """Whether the folder is being watched. The watcher also rebuilds a damaged index."""
        return self._index.is_watched

    def take_warning(self) -> str:
        """Return a warning if the index was found damaged since the last call, otherwise ""."""
        return self._index.take_warning()

    def status(self) -> IndexStatus:
        """Return the index status: notes, excluded files with reasons, disk usage."""
        return self._index.status()

    def retry(self, paths: Sequence[str] | None = None) -> None:
        """Make the next index update retry the given failed notes, or all failed notes.

        Raises:
            VaultError: another process is using the index, or it cannot be written.
        """
        self._index.retry(paths)

    def rebuild(self) -> None:
        """Clear the index. The next update indexes all notes again.

        Raises:
            VaultError: another process is using the index, or it cannot be written.
        """
        self._index.rebuild()

    def search(
        self,
        query: str,
        k: int,
        *,
        in_play: Collection[str] = (),
        reranks: bool = True,
        is_quoted: bool = False,
        covers: Covers = None,
    ) -> SearchResult:
        """Return the `k` passages that best match a query. See `Searcher.search`."""
        search = partial(self._index.search, in_play=in_play, reranks=reranks, covers=covers)
        return self._search_whole(lambda: search(query, k, is_quoted=is_quoted))

    def excerpts(self, query: str, k: int, covers: Covers = None) -> SearchResult:
        """Return the best `k` excerpts, which are passages shortened to the matching sentences.

        `covers` is the part of the vault to search, or None for all of it.
        """
        return self._index.excerpts(query, k, covers)

    def list_notes(
        self,
        query: str,
        limit: int,
        offset: int = 0,
        *,
        rebuilds: bool = True,
        covers: Covers = None,
    ) -> SearchResult:
        """Return one page of the notes that match a query.

        Args:
            query: the words and filters to search for.
            limit: the maximum number of notes per page.
            offset: the index of the first note on the page.
            rebuilds: whether to rebuild a damaged index first. In a watched folder, the watcher
                rebuilds it instead.
            covers: the part of the vault to search, or None for all of it.
        """
        if not rebuilds:
            return self._index.list_notes(query, limit, offset, covers)
        return self._search_whole(lambda: self._index.list_notes(query, limit, offset, covers))

    def read_question(self, text: str, covers: Covers = None) -> "Reading | None":
        """Read a question against the notes, or return None if it names no filter.

        Args:
            text: the question.
            covers: the part of the vault to search, or None for all of it.
        """
        return self._index.read_question(text, covers)

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Return the `k` passages of attachments that best match a query.

        The attachments may be outside of the vault.
        """
        return self._index.search_texts(read_texts(segments), query, k)

    def measure_cosines(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the cosine similarity between a query and each of several short texts.

        The result is empty if the index has no vectors or the embedding model cannot be used.
        """
        return self._index.measure_cosines(query, texts)

    def find_days(self, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Map the paths of the given notes to the dates in their properties, in ISO 8601."""
        return self._index.find_days(paths)

    def find_related(self, path: str, k: int = 8) -> list[RelatedNote]:
        """Return the `k` notes that are most closely related to a note."""
        return self._index.find_related(path, k)

    def why_not_sent(self, path: str, query: str, k: int, in_play: Collection[str] = ()) -> str:
        """Explain why a note is or is not among the passages sent to a model.

        Args:
            path: the path of the note.
            query: the query of the search.
            k: the maximum number of passages.
            in_play: the notes that the chat is about, which are ranked higher.
        """
        shown = self._index.search(query, k, in_play=in_play).hits
        return self._index.why_not(query, path, shown, in_play)

    def why_not(self, path: str, query: str, k: int = 8) -> str:
        """Explain why a note is or is not among the `k` hits of a query."""
        return self._index.why_not(query, path, self._index.excerpts(query, k).hits)

    def self_test(self, cancel: CancelToken) -> "SelfTest":
        """Measure how reliably and how fast a search finds the notes of this vault."""
        return self._index.self_test(lambda: cancel.is_cancelled)

    def notes(self) -> tuple[NoteState, ...]:
        """Return the state of every file in the folder."""
        return self._index.notes()

    def tags(self) -> dict[str, tuple[str, ...]]:
        """Map each tag, without its leading `#`, to the paths of the indexed notes that have it."""
        found: dict[str, list[str]] = {}
        for tag, path in self._index.tags():
            found.setdefault(tag, []).append(path)
        return {tag: tuple(paths) for tag, paths in found.items()}

    def build_link_resolver(self) -> LinkResolver:
        """Build a link resolver for the indexed files."""
        return self._index.build_link_resolver()

    def still_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the given paths, except those that models may not read now."""
        return self._index.filter_allowed(paths)

    def health(self) -> list[tuple[str, bool, str]]:
        """Check each component of the index, and return its name, whether it works, and details."""
        return self._index.health()

    def close(self) -> None:
        """Stop index updates and child processes, and close the index."""
        self._answers.close()
        self._index.close()

    def _search_whole(self, search: Callable[[], SearchResult]) -> SearchResult:
        """Run a search. If the index is damaged, rebuild it and search again.

        In a watched folder, the index is not rebuilt here, because the watcher rebuilds it.
        """
        found = search()
        if not self.is_mending or self.is_watched:
            return found
        for _ in self.update(CancelToken()):
            pass
        return replace(search(), warnings=found.warnings)

    @contextmanager
    def _count_update(self) -> Iterator[None]:
        with self._lock:
            self._updates += 1
        try:
            yield
        finally:
            with self._lock:
                self._updates -= 1


def read_texts(segments: Sequence[Segment]) -> list[AdhocText]:
    """Convert attachments to searchable texts."""
    return [AdhocText(s.source, s.title, s.version or "", s.raw_content) for s in segments]
