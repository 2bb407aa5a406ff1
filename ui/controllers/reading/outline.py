"""List the headings of the open note in the panel "Outline", and mark the present one."""

from PySide6.QtCore import QObject, Qt, QTimer

from app.assistant import Assistant
from app.errors import ErrorInfo, describe
from chains.cancel import CancelToken
from chains.errors import Cancelled
from ui.frame import WindowFrame
from ui.tasks import LatestOnly, TaskRunner
from vault.notes.note import Note, ReadOptions

__all__ = ["OutlineController"]

_MARK_MS = 16


class OutlineController(QObject):
    """Lists the headings of the open note. Those of a large note are read when they are looked at.

    Args:
        assistant: reads the headings of a large note.
        runner: runs the reading in the background.
        frame: the window with the note and the panel.
    """

    def __init__(self, assistant: Assistant, runner: TaskRunner, frame: WindowFrame) -> None:
        super().__init__(frame.window)
        self._assistant, self._frame = assistant, frame
        self._panel, self._note = frame.column.outline, frame.note
        self._shown: Note | None = None
        self._path = ""
        self._reading = CancelToken()
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._marking = QTimer(self, singleShot=True, interval=_MARK_MS)
        self._marking.timeout.connect(self._mark)
        self._note.scrolled.connect(self._marking.start)
        self._note.head.outline.clicked.connect(lambda _checked=False: self.open())
        self._panel.looked_at.connect(self._look)
        self._panel.line_chosen.connect(self._go_to)
        self._panel.left.connect(self._leave)

    def open(self) -> None:
        """Show the panel, and focus the field that filters the headings."""
        self._frame.docking.show_outline()

    def set_note(self, note: Note | None) -> None:
        """Set the note that is read, or None if no note is open."""
        self._reading.cancel()
        self._reads.forget()
        self._shown = note
        path = note.path if note is not None else ""
        is_other, self._path = path != self._path, path
        if is_other:
            self._panel.clear_filter()
        if note is None:
            self._panel.show_nothing()
        elif note.has_structure:
            self._panel.show_headings(note.headings)
        else:
            if is_other:
                self._panel.show_reading()
            self._look()
        self._marking.start()

    def _look(self) -> None:
        """Read the headings of the open note if they are looked at and were not read with it."""
        note = self._shown
        if note is not None and not note.has_structure and self._panel.isVisible():
            path, self._reading = note.path, CancelToken()
            token = self._reading
            self._reads.ask(lambda: self._read(path, token), now=True)
        self._mark()

    def _read(self, path: str, token: CancelToken) -> Note | ErrorInfo:
        try:
            return self._assistant.read_note(path, ReadOptions(token.raise_if_cancelled))
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - shown to the user
            return describe(error)

    def _on_read(self, found: Note | ErrorInfo) -> None:
        if isinstance(found, ErrorInfo):
            self._panel.show_error(found.message)
            return
        self._shown = found
        self._note.show_changed(found)
        self._panel.show_headings(found.headings)
        self._mark()

    def _mark(self) -> None:
        if self._shown is not None and self._panel.isVisible():
            self._panel.mark_line(self._note.find_top_line())

    def _go_to(self, line: int) -> None:
        self._note.show_line(line)
        self._leave()

    def _leave(self) -> None:
        """Focus the note, or the message box if no note is open."""
        self._frame.columns.close_drawer()
        is_reading = self._frame.middle.is_reading
        place = self._note if is_reading else self._frame.composer
        place.setFocus(Qt.FocusReason.OtherFocusReason)
