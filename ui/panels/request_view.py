"""A read-only view of a complete request, for reading, searching and copying."""

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextOption
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QTextEdit, QWidget

from chains.models import EXTRACTIVE
from ui.theme import Theme, dress
from ui.widgets.buttons import DONE, ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.dialogs import fit_dialog
from ui.widgets.find_bar import FindBar
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.menus import MenuButton
from ui.widgets.texts import find_units

if TYPE_CHECKING:
    from app.sessions.request_history import ShownRequest

__all__ = ["RequestView", "as_lines", "find_places"]

_FORMS = (("body", "Stored form", ""), ("wire", "As sent to the service", ""))
_BODY = (
    "Every message, tool and option. Line breaks in texts are shown as such; Copy gives the JSON."
)
_WIRE = "The JSON that was handed to the service, without the key."
_NO_WIRE = "It was not sent to a service, or is not kept any more, so there is no such JSON."
_NOT_SENT = {
    "next": "No model is set: this request would not be sent",
    "last": "No model was used: this request was not sent",
}
_LINE_BREAK = re.compile(r"(?<!\\)((?:\\\\)*)\\n")
_LONGEST_LINE = 2_000
_MARKS_AROUND = 100


class RequestView(QDialog):
    """A dialog that shows a request in Strata's own format, or as it was sent to the provider."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Request")
        self._request: ShownRequest | None = None
        self._places: Sequence[tuple[int, int]] = ()
        self._at = 0
        self.forms = MenuButton("Form")
        self.forms.set_choices(_FORMS)
        self.forms.set_value("body")
        self.forms.chosen.connect(self._show)
        self._title = label("", "h2")
        self._about = make_wrapped_label("", "caption", "secondary")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("The request")
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setUndoRedoEnabled(False)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setProperty("field", True)
        dress(self.text, "code", "")
        self.finder = FindBar("Find in the request")
        self.finder.text_changed.connect(self._seek)
        self.finder.stepped.connect(self._step)
        self.finder.closed.connect(self.reject)
        self.finder.close_button.hide()
        self.copy = make_button(ButtonText("Copy", "Copy what is shown here"), "", self._copy)
        self._lay_out()

    def show_request(self, request: "ShownRequest") -> None:
        """Open the dialog with a request."""
        self._request = request
        self._title.setText(_write_title(request))
        self._show()
        if not self.isVisible():
            fit_dialog(self)
        self.show()
        self.raise_()
        self.activateWindow()

    def json(self) -> str:
        """Return the request as valid JSON, in the format that is selected in the dialog.

        Return an empty string if the report does not contain the request in this format.
        """
        if self._request is None:
            return ""
        is_body = self.forms.value == "body"
        found = self._request.body if is_body else self._request.wire
        return "" if found is None else json.dumps(found, ensure_ascii=False, indent=2)

    def _lay_out(self) -> None:
        head = make_row(grow(self._title), self.forms)
        tools = make_row(grow(self.finder), self.copy, spacing=12)
        done = make_button(DONE, "primary", self.accept)
        foot = make_row(stretch(), done)
        make_column(
            head,
            self._about,
            tools,
            grow(self.text),
            foot,
            margins=(24, 20, 24, 16),
            spacing=Theme.current().space(2),
            parent=self,
        )

    def _show(self, _form: str = "") -> None:
        exact, is_body = self.json(), self.forms.value == "body"
        self._about.setText(_BODY if is_body else _WIRE if exact else _NO_WIRE)
        self.text.setPlainText(as_lines(exact))
        self.copy.setEnabled(bool(exact))
        self._seek(self.finder.words)

    def _seek(self, words: str) -> None:
        """Find all occurrences of the search text, and select the first one."""
        self._places, self._at = find_places(self.text.toPlainText(), words), 0
        self._step(0)

    def _step(self, by: int) -> None:
        total = len(self._places)
        if total:
            self._at = (self._at + by) % total
            self.text.setTextCursor(self._cursor(self._places[self._at]))
            self.text.centerCursor()
        near = self._places[max(0, self._at - _MARKS_AROUND) : self._at + _MARKS_AROUND]
        self.text.setExtraSelections([self._mark(place) for place in near])
        self.finder.show_found(self._at + 1, total)

    def _cursor(self, place: tuple[int, int]) -> QTextCursor:
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(place[0])
        cursor.setPosition(place[1], QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _mark(self, place: tuple[int, int]) -> QTextEdit.ExtraSelection:
        theme, mark = Theme.current(), QTextEdit.ExtraSelection()
        mark.cursor = self._cursor(place)
        mark.format.setBackground(theme.color("diff.mark_bg"))
        mark.format.setForeground(theme.color("diff.mark_text"))
        return mark

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.json())


def as_lines(exact: str) -> str:
    """Make JSON readable: replace escaped line breaks with real ones, and split very long lines.

    Args:
        exact: the JSON text.
    """
    lines = _LINE_BREAK.sub("\\1\n", exact).split("\n")
    pieces = (
        line[start : start + _LONGEST_LINE]
        for line in lines
        for start in range(0, max(1, len(line)), _LONGEST_LINE)
    )
    return "\n".join(pieces)


def find_places(text: str, words: str) -> list[tuple[int, int]]:
    """Return all occurrences of a search text in a text, ignoring case.

    Args:
        text: the text to search.
        words: the search text.

    Returns:
        The start and end of each occurrence as offsets in UTF-16 code units, which Qt uses.
    """
    if not words.strip():
        return []
    found = (match.span() for match in re.finditer(re.escape(words), text, re.IGNORECASE))
    return list(find_units(text, found))


def _write_title(request: "ShownRequest") -> str:
    """Return the title for a request. Without a model, a request is built but not sent."""
    is_next = request.report.when == "next"
    if request.report.model == EXTRACTIVE:
        return _NOT_SENT["next" if is_next else "last"]
    sent = "would be sent next" if is_next else "was sent"
    kept = ", made anew from the chat" if request.is_rebuilt else ""
    return f"The request that {sent}{kept}"
