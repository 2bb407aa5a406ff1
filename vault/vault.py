"""The one face of the vault package: open, index, search, list and read a folder of notes.

A `Vault` can be used from several threads, even during an update. Any call may find that the
catalog is damaged. It is then replaced with an empty one, and the call is repeated.
"""

import copy
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar, cast

from vault.access import (
    VaultFile,
    filter_allowed,
    filter_unchanged,
    list_allowed_notes,
    list_names,
    read_allowed,
    read_allowed_image,
    read_as_tool,
)
from vault.catalog import Catalog
from vault.coverage import find_gap
from vault.embedder import Embedder
from vault.embedding_versions import Embedders
from vault.errors import EmbedderFailed, IndexUnusable, NoteUnreadable, VaultError
from vault.exclude.obsidian import read_settings
from vault.index_search import IndexSearch, SharedParts
from vault.indexing.progress import CancelCheck, IndexReport, ProgressCallback, call_when_read
from vault.indexing.relocate import require_folder
from vault.indexing.status import HealthCheck, IndexStatus, is_mending, read_status
from vault.indexing.throttle import SearchActivity, Throttle, UpdateQueue
from vault.notes.links import LinkResolver
from vault.notes.note import READ_WHOLE, Note, ReadOptions, SourceText, read_note
from vault.open_index import IndexHandle
from vault.options import USUAL_SEARCH, IndexOptions, SearchOptions
from vault.records import NoteState, Records
from vault.scope import Scope
from vault.search.adhoc import KeptSearch, OpenTexts, add_kept_texts, search_texts
from vault.search.excerpts import FEWEST_PASSAGES, shorten_hits
from vault.search.hits import Hit, SearchResult
from vault.search.passages import Passages
from vault.search.related import RelatedNote, find_related_notes

if TYPE_CHECKING:
    from vault.questions.reader import Reading
    from vault.questions.vocabulary import VaultNames
    from vault.search.selftest import SelfTest

__all__ = ["Vault"]

_MANY_HITS = 200


_Result = TypeVar("_Result")
_Read = TypeVar("_Read")
_Params = ParamSpec("_Params")


def _retry_when_damaged(
    act: Callable[Concatenate["Vault", _Params], _Result],
) -> Callable[Concatenate["Vault", _Params], _Result]:
    """Decorate a method so that it is retried on a new catalog if the catalog was damaged."""

    @wraps(act)
    def run(self: "Vault", /, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        handle = self._handle
        before = handle.generation
        try:
            return act(self, *args, **kwargs)
        except Exception as error:
            if not handle.has_damage(before, error):
                raise
            handle.replace_damaged(before)
        found = act(self, *args, **kwargs)
        if isinstance(found, SearchResult) and (warning := handle.take_warning()):
            return cast(_Result, replace(found, warnings=(warning, *found.warnings)))
        return found

    return run


class Vault:
    """A folder of notes with a search index, or a part of it.

    From its first `update` until `close`, one process owns the index through a file lock. Other
    processes can only read it. For them, `update`, `retry` and `rebuild` raise `IndexBusy`. Every
    method raises `IndexUnusable` if the index cannot be read or written.

    Attributes:
        root: the folder of notes. Paths are relative to it.
        index_dir: the folder of the index.
    """

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        exclude: Sequence[str] | Callable[[], Sequence[str]] = (),
        embedder: Embedder | None = None,
        options: Callable[[], IndexOptions] = IndexOptions,
        cache_dir: Path | None = None,
    ):
        """Create the object. Nothing is opened yet.

        Args:
            root: the folder of notes.
            index_dir: the folder for `catalog.db`, `chroma/` and the lock file, created on demand.
            exclude: patterns as in a `.gitignore`, or a function that returns the current ones,
                which hold for whatever is read next.
            embedder: an embedder shared with other indexes, which `close` does not close.
            options: returns the current options. Changes take effect on the next update.
            cache_dir: the folder for caching each embedding model's fastest precision and ONNX
                form.
        """
        self.root = root
        self._exclude = exclude
        self.index_dir = index_dir
        self._open_texts: OpenTexts | None = None
        self._handle = IndexHandle(index_dir, lambda: options().server, self._rebuild_replaced)
        self._embedders = Embedders(embedder, cache_dir)
        self._options = options
        self._lock = threading.RLock()
        self._activity = SearchActivity()
        self._parts = SharedParts(self._fit_ranking, self._activity)
        shared = self._handle, self._embedders, self._parts, options
        self._searches = IndexSearch(root, lambda: self.exclude, *shared)

    @property
    def scope(self) -> Scope:
        """The part of the vault that is searched, listed and read."""
        return self._searches.scope

    @property
    def exclude(self) -> tuple[str, ...]:
        """The current patterns of excluded notes, as in a `.gitignore`."""
        return tuple(self._exclude() if callable(self._exclude) else self._exclude)

    @property
    def throttle(self) -> Throttle:
        """Pauses and resumes index updates."""
        return self._parts.throttle

    @property
    def updates(self) -> UpdateQueue:
        """The queue of index updates."""
        return self._parts.updates

    def update(
        self,
        progress: ProgressCallback = lambda _progress: None,
        is_cancelled: CancelCheck = lambda: False,
        only: Collection[str] | None = None,
        *,
        is_background: bool = False,
        fills_store: bool = True,
    ) -> IndexReport:
        """Bring the index up to date. Concurrent calls wait for each other.

        Args:
            progress: called several times a second.
            is_cancelled: checked between notes and batches.
            only: the changed paths, or None to check the whole folder.
            is_background: whether the update may be slowed down, because no user is waiting.
            fills_store: whether to wait for the vector store. If not, the next search starts to
                fill it, and until then an exact scan is used.

        Raises:
            IndexBusy: another process owns the index.
            VaultMissing: the folder does not exist, or its drive is not mounted.
            VaultUnreadable: the folder cannot be read because of its permissions.
            EmbedderFailed: texts cannot be embedded. Keyword search can still find them.
        """
        with self.updates.wait_for_turn(is_cancelled, is_background=is_background) as is_over:
            if is_over is None:
                return IndexReport(str(self.root), self.note_count, is_complete=False)
            report = self._update(progress, is_over, only, fills_store)
        if self.is_watched:
            self._parts.idle.start()
        return report

    @_retry_when_damaged
    def _update(
        self,
        progress: ProgressCallback,
        is_over: CancelCheck,
        only: Collection[str] | None,
        fills_store: bool,
    ) -> IndexReport:
        from vault.indexing.indexer import Indexer  # a search does without it

        catalog, store = self._handle.own()
        store.use(self._options().server)
        embedder, failure = self._embedders.find_chosen_or_used(self._options().model, catalog)
        limits = (self.exclude, self.throttle, self.updates.priority)
        indexer = Indexer(self.root, catalog, embedder, store, *limits)
        watcher = self._parts.watcher
        is_seen = watcher is not None and watcher.is_ready
        progress = call_when_read(self.updates.mark_words, progress)
        report = indexer.run(progress, is_over, only, fills_store=fills_store)
        self._parts.has_seen_all |= is_seen and only is None and report.is_complete
        if failure is not None:
            raise failure
        return report

    @_retry_when_damaged
    def retry(self, paths: Collection[str] | None = None) -> None:
        """Make the next update retry files that could not be indexed.

        Args:
            paths: the files, or None for all files that could not be indexed.
        """
        catalog, _ = self._handle.own()
        with catalog.transaction():
            Records(catalog).forget_failures(paths)

    def rebuild(self) -> None:
        """Cancel the running update and clear the index. The next update indexes everything."""
        with self.updates.end_updates():
            catalog, store = self._handle.own()
            with catalog.transaction():
                catalog.clear()
            store.discard()

    def watch(
        self,
        on_report: Callable[[IndexReport], None] = lambda _report: None,
        progress: ProgressCallback = lambda _progress: None,
        on_failure: Callable[[VaultError], None] = lambda _error: None,
    ) -> None:
        """Watch the folder, and index the notes that change.

        From now on, background updates run at half speed while the machine is busy or on battery.
        The callbacks run in the watcher's thread.

        Args:
            on_report: called after each update.
            progress: called several times a second, as by `update`.
            on_failure: called when a change could not be indexed. It is retried with the next
                change.
        """
        from vault.indexing.machine_load import MachineLoad
        from vault.indexing.watcher import Watcher

        update = partial(self.update, is_background=True, fills_store=False)

        def index_changes(paths: Collection[str] | None) -> None:
            on_progress = call_when_read(watcher.release, progress)
            on_report(update(on_progress, lambda: self._handle.is_closed, paths))

        with self._lock:
            if self._handle.is_closed or self.is_watched:
                return
            self.throttle.watch_load(MachineLoad(self._list_children).read_reason)
            marks_dir = self.index_dir / "watch"
            self._parts.watcher = watcher = Watcher(self.root, index_changes, on_failure, marks_dir)
            watcher.start()
        self._parts.idle.start()  # the notes may not change for long

    def look_again(self) -> None:
        """Let the watcher, if there is one, update the index, because the rules have changed."""
        if self._parts.watcher is not None:
            self._parts.watcher.look_again()

    def take_warning(self) -> str:
        """Return a warning if damage of the index was found since the last call, otherwise ""."""
        return self._handle.take_warning()

    def close(self) -> None:
        """Stop the child processes of the index and release its file lock."""
        with self._lock:
            self._handle.stop_opening()
        self._parts.close()
        self._embedders.close()
        self._handle.close()

    def limit(self, scope: Scope, open_texts: OpenTexts | None = None) -> Self:
        """Return a copy that searches, lists and reads only a part of the vault.

        Both share the index. Models and tools that get the copy cannot reach other notes. It also
        searches the texts that `open_texts` returns, which are no notes.
        """
        limited = copy.copy(self)
        limited._searches = replace(self._searches, scope=scope)
        limited._open_texts = open_texts
        return limited

    @_retry_when_damaged
    def search(self, query: str, k: int = 8, options: SearchOptions = USUAL_SEARCH) -> SearchResult:
        """Find the `k` best passages by keyword search and semantic search.

        Args:
            query: the words to search for, and filters such as tags.
            k: the maximum number of hits.
            options: how to search.
        """
        near = tuple(map(self._find_path, options.session_notes))
        reranks = options.reranks and options.by_meaning
        options = replace(options, session_notes=near, reranks=reranks)
        found = self._searches.search(query, k, options)
        if options.rebuilds and self._rebuild_damaged():
            new_result = self._searches.search(query, k, options)
            found = replace(new_result, warnings=found.warnings)
        wanted = KeptSearch(query, k, on_wait=options.on_wait)
        return add_kept_texts(self._show(found), self._open_texts, wanted)

    @_retry_when_damaged
    def draw_passages(self, k: int, *, is_quoted: bool) -> tuple[Sequence[Hit], ...]:
        """Return a few samples of `k` usual passages each, as a search could find them.

        The result is empty if nothing is indexed.
        """
        if (catalog := self._handle.open()) is None:
            return ()
        return tuple(self._searches.build_searcher(catalog).draw(k, is_quoted=is_quoted))

    @_retry_when_damaged
    def excerpts(
        self, query: str, k: int = 8, on_wait: Callable[[], None] = lambda: None
    ) -> SearchResult:
        """Find the `k` best passages, each shortened to the sentences that match the query.

        `on_wait` is called between the steps of a long search, and can raise an exception to stop.
        """
        catalog = self._handle.open()
        if k < 1:
            return SearchResult(query, (), 0.0)
        found = self._searches.search(query, max(k, FEWEST_PASSAGES))
        if catalog is not None:
            found = self._show(shorten_hits(found, Passages(catalog), query, k))
        wanted = KeptSearch(query, k, is_shortened=True, on_wait=on_wait)
        return add_kept_texts(found, self._open_texts, wanted)

    @_retry_when_damaged
    def list_notes(
        self, query: str, limit: int, offset: int = 0, *, rebuilds: bool = False
    ) -> SearchResult:
        """List all notes that match a query, with one hit per note.

        Args:
            query: the words to search for, and filters such as tags.
            limit: the maximum number of hits.
            offset: the number of notes to skip at the start of the list.
            rebuilds: whether to rebuild a damaged index and list again, as in `search`.
        """
        found = self._searches.list_notes(query, limit, offset)
        if rebuilds and self._rebuild_damaged():
            new_result = self._searches.list_notes(query, limit, offset)
            found = replace(new_result, warnings=found.warnings)
        return self._show(found)

    @_retry_when_damaged
    def read_index(self, read: Callable[[Catalog], _Read]) -> _Read | None:
        """Return what a function reads in the index, which is up to date, or None without one."""
        if (catalog := self._handle.open()) is None:
            return None
        with self._activity.record():
            self._searches.catch_up()
            return read(catalog)

    @_retry_when_damaged
    def read_question(self, text: str, today: date | None = None) -> "Reading | None":
        """Read a question against the notes, or return None if it names no filter.

        Words such as "overdue" refer to `today`, or to the current date if it is None.
        """
        from vault.questions.reader import read_question  # only for questions of a person

        if (catalog := self._handle.open()) is None:
            return None

        def read_names() -> "VaultNames":
            return self._parts.names.read(catalog, self.scope)

        return read_question(text, read_names, today or date.today())

    @_retry_when_damaged
    def search_texts(self, texts: Sequence[SourceText], query: str, k: int) -> tuple[Hit, ...]:
        """Find the `k` best passages in texts that are not part of the index.

        The texts are not embedded, but existing vectors of equal passages are used.
        """
        if (catalog := self._handle.open()) is None:
            return search_texts(texts, query, k)
        encode = partial(self._embedders.begin_query, catalog)
        return search_texts(texts, query, k, encode, catalog.vectors)

    @_retry_when_damaged
    def load_model(self) -> None:
        """Load the embedding model for the next search, unless nothing has been embedded yet."""
        if (catalog := self._handle.open()) is not None:
            with suppress(EmbedderFailed):
                self._embedders.begin_query(catalog, "")()

    @_retry_when_damaged
    def measure_cosines(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the cosine similarity of a query and each of a few short texts.

        The result is empty if the index has no vectors, or if the model cannot be used.
        """
        if (catalog := self._handle.open()) is None:
            return ()
        with self._activity.record(), suppress(EmbedderFailed):
            return self._embedders.measure_cosines(catalog, query, texts)
        return ()

    @_retry_when_damaged
    def why_not(
        self, query: str, path: str, shown: Sequence[Hit], session_notes: Collection[str] = ()
    ) -> str:
        """Explain why a note is or is not among the hits of a query.

        Args:
            path: the note.
            shown: the hits that were shown to the user or sent to a model.
            session_notes: the paths of the notes that the session used when the query was run.
        """
        from vault.search.explain import why_not

        many = self.search(query, _MANY_HITS, SearchOptions(session_notes)).hits
        return why_not(self._open_records(), path, many, shown)

    @_retry_when_damaged
    def self_test(self, is_cancelled: Callable[[], bool] = lambda: False) -> "SelfTest":
        """Measure how reliably and how fast searches find the vault's own notes.

        Raises:
            IndexUnusable: there is no index yet.
        """
        if (catalog := self._handle.open()) is None:
            raise IndexUnusable("There is no index of these notes yet; `strata index` makes it.")
        from vault.search.selftest import run_self_test

        return run_self_test(catalog, self.search, is_cancelled)

    @property
    def is_mending(self) -> bool:
        """Whether the index was damaged and has not been completely rebuilt yet."""
        catalog = self._handle.catalog
        return catalog is not None and is_mending(catalog)

    @property
    @_retry_when_damaged
    def note_count(self) -> int:
        """The number of indexed notes."""
        records = self._open_records()
        return 0 if records is None else records.counts()[0]

    @property
    @_retry_when_damaged
    def indexed_at(self) -> str | None:
        """The end time of the last complete update in ISO 8601 UTC, or None if there is none."""
        catalog = self._handle.open()
        return None if catalog is None else catalog.meta("indexed_at")

    @property
    @_retry_when_damaged
    def index_state(self) -> tuple[tuple[int, int, int], ...]:
        """A value that is another one after each change of the index, or () without an index."""
        catalog = self._handle.open()
        return () if catalog is None else catalog.read_state()

    @_retry_when_damaged
    def notes(self) -> tuple[NoteState, ...]:
        """List every file with its state in the index, sorted by path."""
        records = self._open_records()
        if records is None:
            return ()
        covers = self.scope.covers
        return tuple(note for note in records.list_states() if covers(note.path))

    @_retry_when_damaged
    def count_tokens(self) -> dict[str, int]:
        """Return the tokens of each indexed note, as counted for the index, by path."""
        records = self._open_records()
        found = {} if records is None else records.count_tokens()
        covers = self.scope.covers
        return {self.name_path(path): size for path, size in found.items() if covers(path)}

    @_retry_when_damaged
    def build_link_resolver(self) -> LinkResolver:
        """Build a resolver for links between the indexed notes."""
        records = self._open_records()
        folder = read_settings(self.root).attachment_folder
        return LinkResolver(()) if records is None else records.resolve_links(folder)

    @_retry_when_damaged
    def tags(self) -> dict[str, tuple[str, ...]]:
        """Map each tag, without its leading `#`, to the paths of the notes that have it."""
        records = self._open_records()
        found: dict[str, list[str]] = {}
        for tag, path in () if records is None else records.tags():
            if self.scope.covers(path):
                found.setdefault(tag, []).append(path)
        return {tag: tuple(paths) for tag, paths in found.items()}

    @_retry_when_damaged
    def find_days(self, paths: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return the ISO 8601 dates in the properties of the given notes, keyed by path."""
        records = self._open_records()
        if records is None:
            return {}
        found = records.find_days([self._find_path(path) for path in paths])
        return {self.name_path(path): days for path, days in found.items()}

    @_retry_when_damaged
    def find_values(self, paths: Collection[str], names: Collection[str]) -> Mapping[str, str]:
        """Return what the given notes have as properties of these names, as "rating: 4" by path."""
        records = self._open_records()
        found = {} if records is None else records.find_values(map(self._find_path, paths), names)
        return {self.name_path(path): values for path, values in found.items()}

    @_retry_when_damaged
    def find_content(self, version: str) -> str | None:
        """Return the path of an indexed note with a content, given its hash, or None."""
        records = self._open_records()
        path = None if records is None or not version else records.find_content(version)
        return path if path is None else self.name_path(path)

    @_retry_when_damaged
    def require_folder(self) -> None:
        """Raise `VaultMissing` if the folder is missing, or its drive is not mounted."""
        require_folder(self.root, self._handle.open())

    @_retry_when_damaged
    def filter_allowed(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the given notes, except those that a model may not read now.

        Only notes that have changed since indexing are read again.
        """
        records = self._open_records()
        if records is None:
            return frozenset()
        known = records.find_files([path for path in paths if self.scope.covers(path)])
        return filter_allowed(self.root, known, self.exclude)

    @_retry_when_damaged
    def filter_unchanged(self, versions: Mapping[str, str]) -> frozenset[str]:
        """Return the notes whose files are those versions, and that models may read.

        No note is read.

        Args:
            versions: the hashes of the notes' contents by path. A note may be indexed anew after
                they were looked up, so that its file is as indexed and of another version.
        """
        records = self._open_records()
        if records is None:
            return frozenset()
        rows = records.find_files([path for path in versions if self.scope.covers(path)])
        known = {path: row for path, row in rows.items() if row.version == versions[path]}
        return filter_unchanged(self.root, known, self.exclude)

    @_retry_when_damaged
    def find_related(self, path: str, k: int = 8) -> list[RelatedNote]:
        """Return the `k` notes of the scope that are most similar to a note or linked to it.

        Only stored vectors are compared, so no model is loaded.
        """
        if (catalog := self._handle.open()) is None:
            return []
        folder, nearest = read_settings(self.root).attachment_folder, self._handle.find_nearest
        place = self._find_path(path)
        found = find_related_notes(catalog, nearest, place, k, folder, self.scope)
        return [replace(note, path=self.name_path(note.path)) for note in found]

    def name_path(self, path: str) -> str:
        """Convert a path in the vault to the path that chats use for the note.

        For a project outside of the vault, this is the absolute path. Models and tools use the path
        in the project.
        """
        return self.scope.name_path(self.root, path)

    @property
    def folder(self) -> Path:
        """The folder that holds the notes of the scope."""
        return self.root / self.scope.prefix

    def list_newest(self) -> Sequence[VaultFile]:
        """List the notes that models may read, most recently changed first."""
        known = [note.path for note in self.notes() if note.state == "indexed"]
        found: list[tuple[int, VaultFile]] = []
        for path in self.filter_allowed(known):
            relative = path[len(self.scope.prefix) :]
            try:
                stat = (self.root / path).stat()
            except OSError:  # deleted meanwhile
                continue
            file = VaultFile(self.name_path(path), relative, stat.st_size)
            found.append((stat.st_mtime_ns, file))
        return [file for _, file in sorted(found, key=lambda one: (-one[0], one[1].relative))]

    def list_names(self) -> tuple[NoteState, ...]:
        """List the files in the folder on disk, without reading them, sorted by path.

        This is fast enough to show the names before the index exists.
        """
        return list_names(self.root, self.exclude)

    def list_allowed_notes(self, folder: str) -> tuple[str, ...]:
        """List the notes in a folder and its subfolders, except excluded ones.

        An empty string for `folder` lists all notes.
        """
        return list_allowed_notes(self.root, folder, self.exclude)

    def read_note(self, path: str, options: ReadOptions = READ_WHOLE) -> Note:
        """Return the current version of a note on disk.

        Args:
            path: the path of the note.
            options: how the note is read.

        Raises:
            NoteUnreadable: the file cannot be read.
        """
        return read_note(self.root, path, options)

    def read_allowed(self, path: str) -> Note:
        """Return a note's current version on disk, or raise an error if models may not read it.

        Raises:
            NoteExcluded: a pattern excludes the note, or the note marks itself as private.
            UnsafePath: the path leads out of the folder.
            NoteUnreadable: the file cannot be read, or is not in the scope.
        """
        own = self._find_path(path)
        if not self.scope.covers_file(self.root, own):
            raise NoteUnreadable(path, "it is not in this project")
        note = read_as_tool(self.root, own, self.exclude)
        return replace(note, path=self.name_path(own)) if self.scope.has_full_paths else note

    def read_attached(self, path: str) -> Note:
        """Return the current version of an attached file of any kind that contains text.

        Raises:
            NoteExcluded: a pattern excludes the file, or the note marks itself as private.
            UnsafePath: the path leads out of the folder.
            NoteUnreadable: the file cannot be read.
        """
        return read_allowed(self.root, path, self.exclude)

    def read_image(self, path: str) -> bytes:
        """Return the bytes of an attached image in the folder.

        Raises:
            NoteExcluded: a pattern excludes the image.
            UnsafePath: the path leads out of the folder.
            NoteUnreadable: the file cannot be read.
        """
        return read_allowed_image(self.root, path, self.exclude)

    @property
    def is_searched(self) -> bool:
        """Whether a search is running or has ended within the last few seconds."""
        return self._activity.is_recent

    @property
    def is_watched(self) -> bool:
        """Whether the folder is being watched. This is False once the folder has been removed."""
        return self._parts.watcher is not None and self._parts.watcher.is_alive

    @_retry_when_damaged
    def status(self) -> IndexStatus:
        """Return the index status: counts, excluded and failed files, size on disk."""
        if (catalog := self._handle.open()) is None:
            return IndexStatus(embedder=self._options().model)
        return read_status(catalog, self.index_dir, is_owner=self._handle.store is not None)

    @_retry_when_damaged
    def health(self) -> list[tuple[str, bool, str]]:
        """Check each component of the index. Return its name, whether it works, and details."""
        return HealthCheck(self.root, self._handle, self._embedders, self._options().model).run()

    def _rebuild_damaged(self) -> bool:
        """Rebuild a damaged index unless the folder is watched. Return whether it was rebuilt."""
        if not self.is_mending or self.is_watched:
            return False
        self.update()
        return True

    def _fit_ranking(self, has_to_stop: Callable[[], bool]) -> None:
        """Fit the ranking weights to this vault if the index is complete and writable."""
        catalog = self._handle.catalog
        if catalog is None or self._handle.store is None or find_gap(catalog) is not None:
            return
        from vault.search.selftest import fit_ranking

        folder = read_settings(self.root).attachment_folder
        encode = partial(self._embedders.begin_query, catalog)
        fit_ranking(catalog, encode, self._handle.find_nearest, folder, has_to_stop)

    def _open_records(self) -> Records | None:
        catalog = self._handle.open()
        return None if catalog is None else Records(catalog)

    def _find_path(self, named: str) -> str:
        return self.scope.find_path(self.root, named)

    def _show(self, found: SearchResult) -> SearchResult:
        """Return a result with the paths that chats use for the notes."""
        if not self.scope.has_full_paths:
            return found
        base = str(self.root)
        hits = (replace(hit, path=self.name_path(hit.path), base=base) for hit in found.hits)
        return replace(found, hits=tuple(hits))

    def _list_children(self) -> tuple[int | None, ...]:
        store = self._handle.store
        others = self._parts.reranker.pid, None if store is None else store.pid
        return *self._embedders.pids, *others

    def _rebuild_replaced(self) -> None:
        """Start rebuilding the index after its damaged catalog was replaced with an empty one.

        The rebuild starts only if the folder is being watched and no update is running.
        """
        if self._parts.watcher is not None and not self.updates.is_busy:
            rebuild = partial(self._parts.watcher.call_changed, None)
            self._parts.rebuild = threading.Thread(target=rebuild, name="rebuild", daemon=True)
            self._parts.rebuild.start()
