"""Restore an archive. What exists is kept: what can be merged is merged, and the rest put aside."""

import logging
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from app.backup.archive import Archive, FileProgress, open_archive
from app.backup.contents import SETTINGS, STATE_DB, find_place, is_chat
from app.backup.merge import add_settings, find_merge, put_file_aside
from app.backup.missing_folders import (
    MissingFolder,
    find_missing_folders,
    place_folder,
    require_absent,
)
from app.backup.text_copies import NOT_TAKEN
from app.config.settings_file import SettingsStore, remove_file_secrets, remove_setting
from app.errors import (
    AppError,
    InvalidRequest,
    NotFound,
    SessionBusy,
    describe,
    storage_errors,
)
from app.paths import Paths
from app.sessions.store import SessionStore
from app.state_db import StateDB
from chains.cancel import CancelToken
from context.fixes import Fix, Option
from resources.system.files import create_file, flush_file, make_private_folder, read_file
from vault.paths import check_folder

__all__ = ["HomeInUse", "RestoreReport", "Restorer"]

_log = logging.getLogger(__name__)
# Every run writes these, so they do not show that a home is in use.
_ALWAYS_THERE: Final = frozenset({STATE_DB, "ledger.log"})


class HomeInUse(InvalidRequest):
    """Strata has stored something else here, and the user did not ask to merge."""


@dataclass
class RestoreReport:
    """What became of the files of an archive.

    Attributes:
        counts: how many files were restored, merged with what was there, or the same already.
        aside: where the files lie that differ from what was there and cannot be merged.
        failed: the files that were not restored, each with the reason.
        hooks_off: whether hooks were switched off, because the archive brought some.
        missing: the folders that chats, settings and projects name and that are not here.
    """

    counts: Counter[str] = field(default_factory=Counter)
    aside: list[Path] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    hooks_off: bool = False
    missing: tuple[MissingFolder, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "restored": self.counts["restored"],
            "merged": self.counts["merged"],
            "unchanged": self.counts["unchanged"],
            "aside": [str(path) for path in self.aside],
            "failed": [{"path": name, "reason": reason} for name, reason in self.failed],
            "hooks_off": self.hooks_off,
            "missing": [folder.to_dict() for folder in self.missing],
        }


class Restorer:
    """Restores archives into the folders of Strata."""

    def __init__(
        self, paths: Paths, settings: SettingsStore, sessions: SessionStore, state: StateDB
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._sessions = sessions
        self._state = state

    def restore(
        self,
        source: Path,
        *,
        merges: bool,
        cancel: CancelToken,
        moved: Mapping[str, Path] = MappingProxyType({}),
    ) -> Iterator[FileProgress | RestoreReport]:
        """Restore an archive, and yield the progress after each file, and the report at the end.

        A restore that was stopped or killed can be run again: files that are there already are
        skipped.

        Args:
            source: the archive.
            merges: whether to restore also where Strata has stored something else.
            cancel: stops between two files.
            moved: where folders of notes and projects are now, by their paths in the archive.

        Raises:
            NotFound: there is no such file.
            VaultError: a folder does not exist, or cannot be read. Nothing was changed.
            InvalidRequest: the file is no archive that can be restored, or a path of `moved` is a
                folder of this computer. Nothing was changed.
            HomeInUse: something else is stored here and `merges` is false. Nothing was changed.
            StorageFailed: the archive cannot be read.
            Cancelled: the restore was stopped.
        """
        report = RestoreReport()
        for old, new in moved.items():
            require_absent(old, check_folder(new))
        with open_archive(source, cancel) as archive:
            names = sorted(archive.names, key=_rank)
            if not merges:
                self._require_empty(archive, names)
            for done, name in enumerate(names, 1):
                cancel.raise_if_cancelled()
                self._restore_file(archive, name, report)
                yield FileProgress(done, len(names))
        self._settings.reload()
        for old, new in moved.items():
            try:
                self.place_folder(old, new)
            except NotFound as error:
                report.failed.append((old, str(error)))
        report.missing = self._find_missing()
        yield report

    def place_folder(self, old: str, new: Path) -> tuple[MissingFolder, ...]:
        """Find what is stored for a folder at its present path, and return what is still missing.

        Args:
            old: the path of the folder of notes or of the project in what was restored.
            new: its present path.

        Raises:
            InvalidRequest: there is a folder at the path in what was restored.
            NotFound: nothing that is stored names the folder.
            VaultError: there is no folder at the present path, or it cannot be read.
            StorageFailed: the move cannot be recorded.
        """
        place_folder(self._paths, self._settings, self._sessions.list(), old, check_folder(new))
        return self._find_missing()

    def _find_missing(self) -> tuple[MissingFolder, ...]:
        return find_missing_folders(self._paths, self._settings, self._sessions.list())

    def _require_empty(self, archive: Archive, names: list[str]) -> None:
        for name in names:
            place = self._find_place(name)
            if place is None or name in _ALWAYS_THERE or not os.path.lexists(place):
                continue
            if not _is_equal(place, _prepare(name, archive.read(name))):
                raise HomeInUse(
                    f"Strata has stored something here already: {place} differs. "
                    "Nothing was changed.",
                    hint=Fix(
                        "With {}, chats and settings are merged, and nothing is overwritten.",
                        Option("--merge"),
                    ),
                )

    def _restore_file(self, archive: Archive, name: str, report: RestoreReport) -> None:
        place = self._find_place(name)
        if place is None:
            report.failed.append((name, "This version of Strata has no place for it."))
            return
        try:
            with storage_errors(place):
                content = _prepare(name, archive.read(name))
                report.counts[self._put(place, name, content, report)] += 1
        except AppError as error:
            _log.warning("%s of a backup was not restored: %s", name, error)
            report.failed.append((name, describe(error).message))

    def _find_place(self, name: str) -> Path | None:
        """Return where a file of an archive belongs, or None if there is no place for it.

        A chat in the bin belongs to the one with the same id that is on the list.
        """
        place = find_place(self._paths, name)
        binned = None if place is None else self._sessions.bin.folder.find_id(place)
        if binned is None or not self._sessions.is_stored(binned):
            return place
        return self._sessions.file(binned)

    def _put(self, place: Path, name: str, content: bytes, report: RestoreReport) -> str:
        """Put a file in its place or merge it, and return what was done, as it is counted."""
        if name == STATE_DB:
            return self._merge_database(content)
        if (same := self._find_same(place, content)) is not None:
            flush_file(same)  # a restore that was killed may have put it there
            return "unchanged"
        if not os.path.lexists(place):
            if name.startswith("hooks/"):
                report.hooks_off |= self._switch_hooks_off()
            make_private_folder(place.parent)
            create_file(place, content)
            self._reunite(place)
            return "restored"
        merge = self._find_merge(name, place)
        if merge is None:
            return self._put_aside(name, content, report)
        try:
            is_changed = merge(place, content)
        except SessionBusy:
            raise
        except AppError as error:
            _log.warning("%s of a backup could not be merged: %s", name, error)
            return self._put_aside(name, content, report)
        if is_changed:
            return "merged"
        flush_file(place)
        return "unchanged"

    def _switch_hooks_off(self) -> bool:
        """Switch hooks off before one is restored, and return whether they were on.

        The user has not seen what was restored, and switches them on again.
        """
        written = SettingsStore(
            self._settings.path
        )  # the settings may have other values in this run
        is_on = bool(self._settings.get(NOT_TAKEN) or written.get(NOT_TAKEN))
        if is_on:
            self._settings.set(NOT_TAKEN, False)
        return is_on

    def _find_same(self, place: Path, content: bytes) -> Path | None:
        """Return the file that has the content already, or None if there is none.

        It is at its place, or in the bin under another time.
        """
        if _is_equal(place, content):
            return place
        binned = self._sessions.bin.folder.find_id(place)
        files = () if binned is None else self._sessions.bin.find_files(binned)
        return next((file for file in files if _is_equal(file, content)), None)

    def _reunite(self, place: Path) -> None:
        """Add what the bin has of a chat that is on the list again, so that it is only there."""
        if self._is_listed_chat(place) and self._sessions.bin.holds(place.stem):
            self._sessions.bin.restore(place.stem)

    def _is_listed_chat(self, place: Path) -> bool:
        return place == self._sessions.file(place.stem)

    def _find_merge(self, name: str, place: Path) -> Callable[[Path, bytes], bool] | None:
        if name == SETTINGS:
            return self._merge_settings
        return self._merge_chat if self._is_listed_chat(place) else find_merge(name)

    def _merge_chat(self, place: Path, content: bytes) -> bool:
        return self._sessions.merge(place.stem, content) > 0

    def _merge_settings(self, _place: Path, content: bytes) -> bool:
        """Set the settings of the archive that are not set here, or protect the user more.

        Raises:
            InvalidRequest: the archive has other settings too, which are not taken.
        """
        with tempfile.TemporaryDirectory(prefix="strata-") as folder:
            file = Path(folder) / SETTINGS
            create_file(file, content)
            other = SettingsStore(file)
        before = SettingsStore(self._settings.path).list_values()
        if not add_settings(self._settings, other):
            raise InvalidRequest("The settings in the backup differ from those here.")
        return SettingsStore(self._settings.path).list_values() != before

    def _merge_database(self, content: bytes) -> str:
        with tempfile.TemporaryDirectory(prefix="strata-") as folder:
            file = Path(folder) / STATE_DB
            create_file(file, content)
            return self._state.merge_from(file, self._has_chat)

    def _has_chat(self, session: str) -> bool:
        return self._sessions.is_stored(session) or self._sessions.bin.holds(session)

    def _put_aside(self, name: str, content: bytes, report: RestoreReport) -> str:
        report.aside.append(put_file_aside(self._paths, name, content))
        return "aside"


def _prepare(name: str, content: bytes) -> bytes:
    """Return the content of a file as it is restored: settings without secrets and hooks."""
    if name != SETTINGS:
        return content
    try:
        text = remove_file_secrets(content.decode())
        return remove_setting(text, NOT_TAKEN).encode()
    except ValueError:  # no settings file; it is put aside, or shown as damaged
        return content


def _rank(name: str) -> tuple[bool, str]:
    """Sort chats last, because they refer to the other files."""
    return is_chat(name), name


def _is_equal(place: Path, content: bytes) -> bool:
    return place.is_file() and read_file(place) == content
