"""The section on the page "Backup": back up everything that Strata has stored, and restore it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.assistant import Assistant
from app.backup.archive import ArchiveWriter, BackupReport, FileProgress
from app.backup.missing_folders import MissingFolder
from app.backup.restore import HomeInUse, Restorer, RestoreReport
from app.errors import describe
from chains.cancel import CancelToken
from ui.tasks import Task, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import CANCEL, ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.dialogs import choose_file, choose_folder, choose_new_file
from ui.widgets.formatting import count, plural, size
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.surfaces import Notice
from ui.widgets.texts import word_error

__all__ = ["BackupSection"]

_KINDS: Final = "Backups (*.zip)"
_HELP: Final = (
    "One file with your chats, settings, prompts, hooks, projects, memories and edits. API keys "
    "stay in the system's keyring. Your notes are not in it, and the index is built anew."
)
_BACK_UP = ButtonText("Back up…", "Choose a file, and write everything of Strata into it")
_RESTORE = ButtonText("Restore…", "Choose a backup, and put back what is in it")
_STOP = ButtonText("Stop", "Stop after the current file; nothing is lost")
_MERGE = ButtonText(
    "Merge them", "Add what is in the backup to what is here; nothing is overwritten"
)
_HAS_DATA: Final = (
    "Strata has stored something here already. Merge the backup with it? Chats and memories get "
    "the entries of both, and what is here stays."
)
_STOPPED_BACKUP: Final = "Stopped. No file was written."
_STOPPED_RESTORE: Final = (
    "Stopped. What was restored so far stays, and restoring again goes on from there."
)
_PLACE = ButtonText("Choose the folder…", "Choose the folder in which these notes are now")
_LATER = ButtonText("Not now", "Leave it as it is; restoring again asks again")
_WHERE: Final = (
    "Its chats, pinned answers, dismissed findings and projects are found once Strata knows."
)
_MOST_NAMED: Final = 4


@dataclass(frozen=True)
class PlacedFolder:
    """A folder of notes or of a project that was found at its present path."""

    former: str
    path: str


class BackupSection(QWidget):
    """Writes backups and restores them, with progress and a button to stop.

    The signal `restored` is emitted when a restore has ended, also if it was stopped.

    Args:
        assistant: provides what is backed up.
        runner: runs the tasks.
    """

    restored = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner) -> None:
        super().__init__()
        self._assistant, self._runner = assistant, runner
        self._task: Task | None = None
        self._has_ended = False
        self._missing: list[MissingFolder] = []
        self.back_up = make_button(_BACK_UP, "", self._on_back_up)
        self.restore = make_button(_RESTORE, "", self._on_restore)
        self.stop = make_button(_STOP, "", self._on_stop)
        self.state = make_wrapped_label("", "caption", "secondary")
        self.question = Notice("info")
        self.question.hide()
        self._show_buttons()
        make_column(
            label("Everything of Strata in one file", "ui_strong"),
            make_wrapped_label(_HELP, "caption", "secondary"),
            make_row(self.back_up, self.restore, self.stop, stretch(), spacing=8),
            make_row(grow(self.state)),
            self.question,
            margins=(0, 10, 0, 10),
            spacing=8,
            parent=self,
        )
        self.state.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    def _on_back_up(self) -> None:
        name = f"strata-backup-{date.today().isoformat()}.zip"
        chosen = choose_new_file(self, "Back up to", str(Path.home() / name), _KINDS)
        if chosen and self._task is None:
            self._start("Backing up…", partial(self._write, Path(chosen)))

    def _write(self, target: Path, token: CancelToken) -> Iterator[object]:
        assistant = self._assistant
        writer = ArchiveWriter(assistant.paths, assistant.settings, assistant.sessions.state)
        return writer.write(target, token)

    def _on_restore(self) -> None:
        chosen = choose_file(self, "Choose a backup", str(Path.home()), _KINDS)
        if chosen and self._task is None:
            self._begin_restore(Path(chosen), merges=False)

    def _begin_restore(self, source: Path, *, merges: bool) -> None:
        failed = partial(self._ask_to_merge, source)
        self._start("Checking the backup…", partial(self._read, source, merges), failed)

    def _read(self, source: Path, merges: bool, token: CancelToken) -> Iterator[object]:
        assistant, chats = self._assistant, self._assistant.sessions
        restorer = Restorer(assistant.paths, assistant.settings, chats, chats.state)
        return restorer.restore(source, merges=merges, cancel=token)

    def _ask_to_merge(self, source: Path) -> None:
        """Ask whether to merge a backup, because something is stored here already."""

        def merge() -> None:
            self.question.hide()
            self._begin_restore(source, merges=True)

        ways = ((CANCEL, self._end_question), (_MERGE, merge))
        self.question.show_notice("info", f"Merge {source.name}?", _HAS_DATA, ways)
        self.question.focus_first()

    def _end_question(self) -> None:
        self.question.hide()
        self._say("Nothing was changed.", "secondary")
        self.restore.setFocus()

    def _ask_where(self) -> None:
        """Ask where the next folder is that was restored and that is not on this computer."""
        if not self._missing:
            return
        folder = self._missing.pop(0)
        ways = ((_PLACE, partial(self._place, folder)), (_LATER, self._skip_folder))
        self.question.show_notice("info", f"Where is {folder.path} now?", _WHERE, ways)
        self.question.focus_first()

    def _place(self, folder: MissingFolder) -> None:
        chosen = choose_folder(self, f"Where is {folder.path} now?", str(Path.home()))
        if not chosen or self._task is not None:
            return
        assistant, chats = self._assistant, self._assistant.sessions
        restorer = Restorer(assistant.paths, assistant.settings, chats, chats.state)

        def place(_token: CancelToken) -> Iterator[object]:
            restorer.place_folder(folder.path, Path(chosen))
            yield PlacedFolder(folder.path, chosen)

        self._start("Looking at the folder…", place, self._skip_folder)

    def _skip_folder(self) -> None:
        self.question.hide()
        self._ask_where()
        if self.question.isHidden():
            self.restore.setFocus()

    def _on_stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _start(
        self,
        busy: str,
        work: Callable[[CancelToken], Iterator[object]],
        ask: Callable[[], None] | None = None,
    ) -> None:
        """Run a backup or a restore.

        Args:
            busy: what is said until the first file is done.
            work: yields the progress and the report.
            ask: called if something is stored here already, or None.
        """
        self.question.hide()
        self._has_ended = False
        self._say(busy, "secondary")
        self._task = self._runner.stream(work)
        self._task.yielded.connect(self._on_event)
        self._task.failed.connect(partial(self._on_failed, ask))
        self._task.finished.connect(partial(self._on_finished, is_restore=ask is not None))
        self._show_buttons()
        self.stop.setFocus()
        self._task.start()

    def _on_event(self, event: object) -> None:
        self._has_ended = not isinstance(event, FileProgress)
        match event:
            case FileProgress():
                self._say(f"{count(event.done)} of {plural(event.total, 'file')}", "secondary")
            case PlacedFolder():
                message = f"What is stored for {event.former} belongs to {event.path} now."
                self._say(message, "secondary")
            case BackupReport():
                self._say(*_word_backup(event))
            case RestoreReport():
                self._say(*_word_restore(event))
                self._missing = [folder for folder in event.missing if folder.can_be_placed]

    def _on_failed(self, ask: Callable[[], None] | None, error: Exception) -> None:
        self._has_ended = True
        if isinstance(error, HomeInUse) and ask is not None:
            self._say("", "secondary")
            ask()
        else:
            self._say(word_error(describe(error)), "danger")

    def _on_finished(self, *, is_restore: bool) -> None:
        if not self._has_ended:  # it was stopped
            self._say(_STOPPED_RESTORE if is_restore else _STOPPED_BACKUP, "secondary")
        self._task = None
        self._show_buttons()
        if is_restore:
            self._ask_where()
        if self.question.isHidden():
            (self.restore if is_restore else self.back_up).setFocus()
        if is_restore:
            self.restored.emit()

    def _say(self, text: str, tone: str) -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)

    def _show_buttons(self) -> None:
        is_busy = self._task is not None
        self.back_up.setEnabled(not is_busy)
        self.restore.setEnabled(not is_busy)
        self.stop.setVisible(is_busy)


def _word_backup(report: BackupReport) -> tuple[str, str]:
    """Return what is said of a backup, and its tone."""
    summary = f"{report.path}: {plural(report.files, 'file')}, {plural(report.chats, 'chat')}, "
    lines = [f"{summary}{size(report.size)}."]
    lines += [f"Left out: {name}. {reason}" for name, reason in report.left_out]
    return "\n".join(lines), "amber" if report.left_out else "secondary"


def _word_restore(report: RestoreReport) -> tuple[str, str]:
    """Return what is said of a restore, and its tone."""
    counts = report.counts
    lines = [
        f"{plural(counts['restored'], 'file')} restored, {count(counts['merged'])} merged with "
        f"what was here, {count(counts['unchanged'])} the same already."
    ]
    lines += [f"Not restored: {name}. {reason}" for name, reason in report.failed]
    lines += [folder.describe() for folder in report.missing]
    shown = [str(path) for path in report.aside[:_MOST_NAMED]]
    more = len(report.aside) - len(shown)
    if shown:
        others = f" and {count(more)} more" if more > 0 else ""
        lines.append(f"Put aside, because what is here differs: {', '.join(shown)}{others}.")
    if report.hooks_off:
        lines.append(
            "It brought hooks, so hooks were switched off. Look at them before you switch them on."
        )
    lines.append("API keys are not in a backup: enter them again on the page Models.")
    return "\n".join(lines), "amber" if report.failed else "secondary"
