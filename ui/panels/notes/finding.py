"""The card of a review finding, with its reason and buttons that open its notes."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from context.layers import name_place
from ui.icons import begin_painting, paint_icon
from ui.theme import Theme
from ui.widgets.buttons import ButtonText, IconButton, PressedByEnter, make_button, paint_row
from ui.widgets.controls import draw_text, escape_tooltip, make_wrapped_label, one_line
from ui.widgets.geometry import reveal_whole
from ui.widgets.layouts import make_column, make_row, stretch
from ui.widgets.lists import paint_text
from ui.widgets.surfaces import AccessibleFrame, Hairline

if TYPE_CHECKING:
    from vault.review.findings import Finding, FindingNote

__all__ = ["FindingCard", "NoteButton"]

_INDENT = 24
_COMPARE = ButtonText("Compare", "Show both notes side by side")
_FIX = ButtonText("Fix…", "Show how this could be fixed. Nothing is changed before you approve it")


class FindingCard(AccessibleFrame):
    """A card with a finding of the review: its reason, and a row for each of its notes.

    A click on a row opens the note.

    Signals:
        note_chosen: emitted when the user opens a note, with its path and the first and last line
            to show.
        dismissed: emitted when the user dismisses the finding.
        compare_requested: emitted when the user wants to see both notes side by side.
        fix_requested: emitted when the user wants to fix what was found.

    Args:
        can_fix: whether the finding is of a kind that can be fixed here.

    Attributes:
        compare: the button that shows both notes side by side.
        fix: the button that shows how the finding can be fixed.
    """

    note_chosen = Signal(str, int, int)
    dismissed = Signal()
    compare_requested = Signal()
    fix_requested = Signal()

    def __init__(
        self, finding: "Finding", *, can_fix: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent=parent)
        self.finding = finding
        names = " and ".join(one_line(note.name) for note in finding.notes)
        self.setAccessibleName(f"{names}. {finding.reason}")
        self._dismiss = IconButton("x", "Dismiss", size=24, icon_px=14)
        self._dismiss.clicked.connect(self.dismissed)
        self._notes = [self._make_note(note) for note in finding.notes]
        self.compare = make_button(_COMPARE, "link", self.compare_requested.emit)
        self.fix = make_button(_FIX, "link", self.fix_requested.emit)
        paths = {note.path for note in finding.notes}
        # A button without a parent must not be shown, not even for a moment: it would be a window.
        for button, is_shown in (
            (self.compare, len(paths) == len(finding.notes) == 2),
            (self.fix, can_fix),
        ):
            if not is_shown:
                button.hide()
        self._below: QWidget | None = None
        self._lay_out()

    @property
    def is_asking(self) -> bool:
        """Whether a proposed change is shown below the finding."""
        return self._below is not None

    def take_focus(self) -> None:
        """Focus the proposed change, or else the row of the first note, and scroll to it."""
        (self._below or self._notes[0]).setFocus(Qt.FocusReason.OtherFocusReason)
        reveal_whole(self, self._below or self._notes[0])

    def show_below(self, widget: QWidget | None) -> None:
        """Show a widget below the finding, such as a proposed change, in place of an earlier one.

        None removes the earlier one.
        """
        if self._below is not None:
            self._acts.removeWidget(self._below)
            self._below.hide()
            self._below.deleteLater()
        self._below = widget
        if widget is not None:
            self._acts.addWidget(widget)
            widget.show()  # a layout shows it later, and until then it has no height
            reveal_whole(self, widget)

    def list_rows(self) -> "tuple[NoteButton, ...]":
        """Return the rows of the finding's notes."""
        return tuple(self._notes)

    def _make_note(self, note: "FindingNote") -> "NoteButton":
        notes = self.finding.notes
        has_same_name = len(notes) > 1 and len({other.name for other in notes}) == 1
        made = NoteButton(note, note.path if has_same_name else note.name)
        made.clicked.connect(lambda: self.note_chosen.emit(note.path, note.first, note.last))
        return made

    def _lay_out(self) -> None:
        reason = make_wrapped_label(self.finding.reason, "ui")
        reason.setContentsMargins(8, 2, 0, 4)
        head = QHBoxLayout()
        head.setContentsMargins(8, 0, 4, 0)
        head.addWidget(reason, 1)
        head.addWidget(self._dismiss, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setSpacing(0)
        column.setContentsMargins(0, 6, 8, 0)
        column.addLayout(head)
        for note, row in zip(self.finding.notes, self._notes, strict=True):
            rows = QVBoxLayout()
            rows.setSpacing(0)
            rows.setContentsMargins(8, 0, 0, 0)
            rows.addWidget(row)
            if note.quote:
                quote = make_wrapped_label(one_line(note.quote), "caption", "secondary")
                quote.setContentsMargins(8 + _INDENT, 0, 8, 6)
                rows.addWidget(quote)
            column.addLayout(rows)
        buttons = make_row(
            self.compare, self.fix, stretch(), margins=(_INDENT, 0, 0, 0), spacing=16
        )
        self._acts = make_column(buttons, margins=(16, 2, 8, 4), spacing=8)
        column.addLayout(self._acts)
        line = QVBoxLayout()
        line.setContentsMargins(16, 6, 8, 0)
        line.addWidget(Hairline())
        column.addLayout(line)


class NoteButton(PressedByEnter, QAbstractButton):
    """A button that opens a note at a line. It shows the note's name and the line number."""

    def __init__(self, note: "FindingNote", name: str) -> None:
        super().__init__()
        lines = (note.first, note.last) if note.first else None
        self._line = f"line {note.first}" if note.first else ""
        where = name_place(note.path, lines)
        self.setText(one_line(name))
        self.setAccessibleName(f"Open {self.text()}, {where}")
        self.setToolTip(escape_tooltip(where))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the preferred size of the row at the current font scale."""
        return QSize(120, Theme.current().px(26))

    def enterEvent(self, event: QEnterEvent) -> None:
        """Repaint the row with its hover highlight."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Repaint the row without its hover highlight."""
        super().leaveEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw an icon, the note's name, and the line number."""
        theme, painter = Theme.current(), begin_painting(self)
        paint_row(self, painter)
        side = theme.px(16)
        spot = QRect(8, (self.height() - side) // 2, side, side)
        paint_icon(painter, spot, "file-text", "text.secondary")
        inner = self.rect().adjusted(16 + side, 0, -8, 0)
        painter.setFont(theme.font("caption", numbers=True))
        painter.setPen(theme.color("text.tertiary"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        draw_text(painter, inner, right, self._line)
        taken = painter.fontMetrics().horizontalAdvance(self._line)
        painter.setFont(theme.font("ui"))
        painter.setPen(theme.color("text.link"))
        paint_text(painter, inner.adjusted(0, 0, -taken - 8, 0), self.text())
