"""A vault with its index: update, watch, search and read it."""

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import VaultNotChosen
from app.paths import Paths, make_private_folder
from chains.cancel import CancelToken
from chains.concurrency import Emit, iterate
from chains.events import Event, IndexProgressed, Step, Warned
from context.layers import Segment
from vault.access import list_allowed_notes, read_allowed, read_as_tool
from vault.embedder import Embedder
from vault.errors import EmbedderFailed, IndexBusy, VaultError, VectorStoreFailed
from vault.index import NoteState, VaultIndex
from vault.indexing.indexer import IndexProgress, IndexReport
from vault.indexing.relocate import take_over_index
from vault.indexing.status import IndexStatus
from vault.notes.links import LinkResolver
from vault.notes.note import Note, read_note
from vault.options import IndexOptions
from vault.paths import check_folder
from vault.search.adhoc import AdhocText, search_texts
from vault.search.hits import Hit
from vault.search.related import RelatedNote
from vault.search.search import SearchResult
from vault.search.selftest import SelfTest

_STEP_S, _STEPS = 0.1, 10
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IndexFinished:
    """The last event of an index update, complete or stopped."""

    report: IndexReport


class Library:
    """A folder of notes with its index; safe to use from several threads."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        exclude: Sequence[str],
        options: Callable[[], IndexOptions] = IndexOptions,
        embedder: Embedder | None = None,
        cache_dir: Path | None = None,
    ) -> None:
        self.root = root
        self.index_dir = index_dir
        self._index = VaultIndex(root, index_dir, exclude, embedder, options, cache_dir)
        self._lock = threading.Lock()
        self._updates = 0
        self._is_stopped = False

    @classmethod
    def open(
        cls,
        folder: Path,
        paths: Paths,
        exclude: Sequence[str] = (),
        options: Callable[[], IndexOptions] = IndexOptions,
        embedder: Embedder | None = None,
    ) -> "Library":
        """Open a folder of notes; nothing in it is written.

        One that has moved since it was indexed keeps its index.

        Args:
            folder: where they lie.
            paths: where Strata's own files lie.
            exclude: patterns as in a `.gitignore`.
            options: tells which model embeds, and where its vectors are searched.
            embedder: one to share with other folders, which outlives this one.

        Raises:
            VaultMissing: there is no folder there.
            VaultUnreadable: it may not be read.
            OSError: the place of the index cannot be made.
        """
        root = check_folder(folder)
        index_dir = paths.index_folder(root)
        if take_over_index(index_dir, root):
            _log.info("%s has moved here and keeps its index", root)
        make_private_folder(index_dir)
        return cls(root, index_dir, exclude, options, embedder, paths.embedding_cache)

    @property
    def note_count(self) -> int:
        """How many notes are indexed."""
        return self._index.note_count

    @property
    def indexed_at(self) -> str | None:
        """When the last whole update ended, ISO 8601, UTC; None before the first."""
        return self._index.indexed_at

    @property
    def is_updating(self) -> bool:
        """Whether an update that this process asked for is running."""
        return self._updates > 0

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` ended the updates, and none was asked for since."""
        return self._is_stopped

    def stop(self) -> None:
        """Stop all running updates; what they have done is kept.

        A question begins none by itself until one was asked for.
        """
        self._is_stopped = True
        self._index.updates.stop()

    def settles(self, cancel: CancelToken) -> bool:
        """Wait a moment for a running update; return whether none runs then, also after a cancel.

        What was just saved is taken up that fast. What takes longer is not worth waiting for.
        """
        return any(
            cancel.is_cancelled or self._index.updates.wait_until_idle(_STEP_S)
            for _ in range(_STEPS)
        )

    def update(
        self, cancel: CancelToken, *, is_background: bool = False
    ) -> Iterator[IndexProgressed | IndexFinished]:
        """Bring the index up to date; the last item is `IndexFinished`, also after a cancel.

        Args:
            cancel: stops the run.
            is_background: nobody waits for this run, so that load and battery may slow it down.

        Raises:
            VaultError: it could not be done; what was indexed before is still there.
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
                # Not cancelled from here: a run that is stopped still says how far it came.
                yield from iterate(work, CancelToken())
            finally:
                abandoned.cancel()

    def freshen(self, cancel: CancelToken, warnings: list[str]) -> Iterator[Event]:
        """Update the index before a question is answered, as far as that is possible now.

        Nothing is updated while updates are paused or stopped, or while one goes on.

        Args:
            cancel: stops the update and the question.
            warnings: gets a sentence where the index could not be updated.
        """
        if self.is_paused or self.is_stopped or self.is_updating or not self.settles(cancel):
            return
        yield Step("index", "Reading your notes")
        try:
            yield from self._update_for_answer(cancel)
        except (IndexBusy, EmbedderFailed, VectorStoreFailed) as error:
            _log.warning("The index was not brought up to date: %s", error)
            warnings.append(f"{error} The answer rests on what was indexed before.")
            yield Warned(warnings[-1])
        cancel.raise_if_cancelled()

    def watch(
        self,
        told: Callable[[IndexReport], None],
        progress: Callable[[IndexProgress], None] = lambda _progress: None,
        failed: Callable[[VaultError], None] = lambda _error: None,
    ) -> None:
        """Take up what changes in the folder as it changes, from now on.

        Args:
            told: what was done, after each time; as the others in a thread of its own.
            progress: told how far that is, several times a second.
            failed: told why something could not be taken up; the next change tries again.
        """
        self._index.watch(told, progress, failed)

    @property
    def is_paused(self) -> bool:
        """Whether updates are paused until `resume`."""
        return self._index.throttle.is_paused

    def pause(self) -> None:
        """Pause updates from the next note or batch on."""
        self._index.throttle.pause()

    def resume(self) -> None:
        """Resume paused updates."""
        self._index.throttle.resume()

    @property
    def is_mending(self) -> bool:
        """Whether the index was damaged and is not rebuilt yet."""
        return self._index.is_mending

    @property
    def is_watched(self) -> bool:
        """Whether the folder is watched, so that a damaged index is rebuilt."""
        return self._index.is_watched

    def take_warning(self) -> str:
        """Return, once, a warning that the index was damaged; empty where it was not."""
        return self._index.take_warning()

    def status(self) -> IndexStatus:
        """Return the status of the index: its notes, what is excluded and why, its size on disk."""
        return self._index.status()

    def retry(self, paths: Sequence[str] | None = None) -> None:
        """Let the next update look at failed notes again; at all of them where none is named.

        Raises:
            VaultError: another process keeps the index, or it cannot be written.
        """
        self._index.retry(paths)

    def rebuild(self) -> None:
        """Throw the index away, ending an update; the next one makes everything again.

        Raises:
            VaultError: another process keeps the index, or it cannot be written.
        """
        self._index.rebuild()

    def search(
        self, query: str, k: int, *, in_play: Collection[str] = (), reranks: bool = True
    ) -> SearchResult:
        """Find the best `k` passages by words and by meaning, as a model is given them."""
        return self._search_whole(
            lambda: self._index.search(query, k, in_play=in_play, reranks=reranks)
        )

    def excerpts(self, query: str, k: int) -> SearchResult:
        """Find the best `k` places: passages, and of long notes the sentences that fit."""
        return self._index.excerpts(query, k)

    def list_notes(
        self, query: str, limit: int, offset: int = 0, *, rebuilds: bool = True
    ) -> SearchResult:
        """List every note that fits the filters of a query and holds its words, in pages.

        Args:
            query: words and filters.
            limit: the most notes of a page.
            offset: the first note of the page, counted from 0.
            rebuilds: build a damaged index again first, unless the watcher does.
        """
        if not rebuilds:
            return self._index.list_notes(query, limit, offset)
        return self._search_whole(lambda: self._index.list_notes(query, limit, offset))

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Find the best `k` passages within attachments, from the vault or from elsewhere."""
        return self._index.search_texts(_read_texts(segments), query, k)

    def find_related(self, path: str, k: int = 8) -> list[RelatedNote]:
        """Return the `k` notes nearest to one, in meaning or by a link; no model is needed."""
        return self._index.find_related(path, k)

    def why_not_sent(self, path: str, query: str, k: int, in_play: Collection[str] = ()) -> str:
        """Explain in a sentence why a note is, or is not, among the passages a model is given."""
        shown = self._index.search(query, k, in_play=in_play).hits
        return self._index.why_not(query, path, shown, in_play)

    def why_not(self, path: str, query: str, k: int = 8) -> str:
        """Explain in a sentence why a note is not among the `k` hits of a query."""
        return self._index.why_not(query, path, self._index.excerpts(query, k).hits)

    def self_test(self, cancel: CancelToken) -> SelfTest:
        """Measure how often and how fast search finds the notes of this vault."""
        return self._index.self_test(lambda: cancel.is_cancelled)

    def notes(self) -> tuple[NoteState, ...]:
        """Return the state of every file in the folder."""
        return self._index.notes()

    def tags(self) -> dict[str, tuple[str, ...]]:
        """Return each tag, without its `#`, with the notes that carried it when it was indexed."""
        found: dict[str, list[str]] = {}
        for tag, path in self._index.tags():
            found.setdefault(tag, []).append(path)
        return {tag: tuple(paths) for tag, paths in found.items()}

    def build_link_resolver(self) -> LinkResolver:
        """Build the resolver of links to the files of the folder, as they were indexed."""
        return self._index.build_link_resolver()

    def read_note(self, path: str) -> Note:
        """Return a note as it is on the disk now."""
        return read_note(self.root, path)

    def read_allowed(self, path: str) -> Note:
        """Return a note that a model may read when it names it, as it is on the disk now."""
        return read_as_tool(self.root, path, self._index.exclude)

    def read_attached(self, path: str) -> Note:
        """Return a file of any kind that the user attached, as it is on the disk now."""
        return read_allowed(self.root, path, self._index.exclude)

    def still_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Return those notes that may be named to a model now, whatever the index knew."""
        return self._index.filter_allowed(paths)

    def list_allowed_notes(self, folder: str) -> tuple[str, ...]:
        """Return the notes below a folder that no pattern keeps out; empty means all."""
        return list_allowed_notes(self.root, folder, self._index.exclude)

    def health(self) -> list[tuple[str, bool, str]]:
        """Check the parts of the index: name, whether it is well, details."""
        return self._index.health()

    def close(self) -> None:
        """End the child processes and close the index."""
        self._index.close()

    def _search_whole(self, search: Callable[[], SearchResult]) -> SearchResult:
        """Search; where the index turned out to be damaged, build it again and search again."""
        found = search()
        if not self.is_mending or self.is_watched:
            return found
        for _ in self.update(CancelToken()):
            pass
        return replace(search(), warnings=found.warnings)

    def _update_for_answer(self, cancel: CancelToken) -> Iterator[IndexProgressed]:
        """Update the index until it is done or paused, since somebody waits for the answer."""
        run = CancelToken()
        forget = cancel.on_cancel(run.cancel)
        try:
            for event in self.update(run):
                if isinstance(event, IndexFinished):
                    return
                if event.progress.throttle == "paused":
                    run.cancel()
                yield event
        finally:
            forget()

    @contextmanager
    def _count_update(self) -> Iterator[None]:
        with self._lock:
            self._updates += 1
        try:
            yield
        finally:
            with self._lock:
                self._updates -= 1


class NoLibrary:
    """Stands in for a library while no folder is open: attachments are searched, notes are not."""

    def search(
        self,
        query: str,  # noqa: ARG002 (the port's arguments)
        k: int,  # noqa: ARG002
        *,
        in_play: Collection[str] = (),  # noqa: ARG002
        reranks: bool = True,  # noqa: ARG002
    ) -> SearchResult:
        """Raise `VaultNotChosen`."""
        raise VaultNotChosen

    def list_notes(self, query: str, limit: int, offset: int = 0) -> SearchResult:  # noqa: ARG002
        """Raise `VaultNotChosen`."""
        raise VaultNotChosen

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        """Find the best `k` passages within attachments."""
        return search_texts(_read_texts(segments), query, k)


def _read_texts(segments: Sequence[Segment]) -> list[AdhocText]:
    return [AdhocText(s.source, s.title, s.version or "", s.raw_content) for s in segments]
