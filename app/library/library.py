"""The open vault, and the updates of its index with their events."""

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import AppError
from app.library.indexing import AnswerUpdates, IndexListener
from app.paths import Paths
from app.relocation.files import carry_stored
from chains.cancel import CancelToken
from chains.concurrency import Emit, iterate
from chains.events import Event, IndexProgressed, Warned
from resources.system.files import make_private_folder
from vault.embedder import Embedder
from vault.errors import EmbedderFailed, IndexBusy, VaultError, VectorStoreFailed
from vault.indexing.progress import IndexProgress, IndexReport
from vault.indexing.relocate import (
    forget_former_folders,
    read_former_folders,
    take_over_index,
)
from vault.options import IndexOptions
from vault.paths import check_folder
from vault.vault import Vault

if TYPE_CHECKING:
    pass

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IndexFinished:
    """The last event of an index update, even if the update was cancelled."""

    report: IndexReport


class Library:
    """A vault, and the updates of its index with their events. Thread-safe.

    Attributes:
        vault: the notes and their index.
        after_change: called when an update has found changes, in the thread of the update.
    """

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.after_change: Callable[[], object] = lambda: None
        self._lock = threading.Lock()
        self._updates = 0
        self._is_stopped = False

    @classmethod
    def open(
        cls,
        folder: Path,
        paths: Paths,
        exclude: Sequence[str] | Callable[[], Sequence[str]] = (),
        options: Callable[[], IndexOptions] = IndexOptions,
        embedder: Embedder | None = None,
    ) -> "Library":
        """Open a vault. Nothing is written to its folder.

        If the folder was moved, its existing index is reused, and what is stored for it too.

        Args:
            folder: the folder that holds the notes.
            paths: the folders for Strata's own files.
            exclude: exclude patterns in `.gitignore` syntax, or a function that returns the current
                ones.
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
        _carry_over(paths, index_dir, root)
        make_private_folder(index_dir)
        cache = paths.embedding_cache
        return cls(Vault(root, index_dir, exclude, embedder, options, cache))

    @cached_property
    def _answers(self) -> AnswerUpdates:
        """The index updates that turns have started. A search starts none."""
        return AnswerUpdates(self.vault, self._tell_change)

    @property
    def is_updating(self) -> bool:
        """Whether an index update started by this process is running."""
        return self._updates > 0 or self._answers.is_running

    @property
    def is_in_use(self) -> bool:
        """Whether this process is updating the index, or the user has just searched it."""
        return self.is_updating or self.vault.is_searched

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called, and no index update has been started since."""
        return self._is_stopped

    def stop(self) -> None:
        """Stop all running index updates, and keep the notes that were already indexed.

        `freshen` then does nothing until `update` is called.
        """
        self._is_stopped = True
        self.vault.updates.stop()

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
            def report_progress(progress: IndexProgress) -> None:
                emit(IndexProgressed(progress))

            report = self.vault.update(
                report_progress,
                lambda: cancel.is_cancelled or abandoned.is_cancelled,
                is_background=is_background,
            )
            self._tell_change(report)
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
        check_folder(self.vault.root)
        if self.vault.throttle.is_paused or self.is_stopped:
            return
        self.vault.updates.priority.prefer(attached, question)
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

        def take(report: IndexReport) -> None:
            self._tell_change(report)
            on_report(report)

        self._answers.listener = IndexListener(on_report, progress, failed)
        self.vault.watch(take, progress, failed)

    def close(self) -> None:
        """Stop index updates and child processes, and close the index."""
        if "_answers" in vars(self):
            self._answers.close()
        self.vault.close()

    def _tell_change(self, report: IndexReport) -> None:
        if report.has_changes:
            self.after_change()

    @contextmanager
    def _count_update(self) -> Iterator[None]:
        with self._lock:
            self._updates += 1
        try:
            yield
        finally:
            with self._lock:
                self._updates -= 1


def _carry_over(paths: Paths, index_dir: Path, root: Path) -> None:
    """Carry over what is stored for former paths of a vault. What fails is tried again next time.

    The vault is opened in any case.
    """
    former_folders = read_former_folders(index_dir)
    try:
        for former in former_folders:
            is_gone = not os.path.lexists(former.path)
            carry_stored(paths, former.path, root, moves=former.is_moved and is_gone)
        if former_folders:
            forget_former_folders(index_dir)
    except (AppError, OSError) as error:
        _log.warning("What is stored for %s was not all carried over: %s", root, error)
