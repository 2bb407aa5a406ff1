"""An empty chat: the number of notes, and suggested questions."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from ui.icons import begin_painting, paint_icon
from ui.theme import Theme, dress
from ui.widgets.buttons import PressedByEnter
from ui.widgets.controls import escape_tooltip, make_wrapped_label, one_line, paint_focus
from ui.widgets.formatting import ago, plural
from ui.widgets.geometry import OUTDENT, set_in
from ui.widgets.layouts import make_column, stretch
from ui.widgets.lists import paint_text

__all__ = ["EmptyState", "QuestionButton"]

_MOST_QUESTIONS = 3
_ROW = 36
_TIP = "Ask this now"


class EmptyState(QWidget):
    """The page of an empty chat.

    Emits `question_chosen` with the suggested question that the user clicked.
    """

    question_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._about = make_wrapped_label("", "body", "secondary")
        self.questions: list[QuestionButton] = []
        self._rows = make_column(spacing=8)
        self._heading = make_wrapped_label("Ask your notes", "display")
        self._texts = (self._heading, self._about)
        self._column = make_column(
            stretch(2),
            self._heading,
            self._about,
            8,
            self._rows,
            stretch(3),
            spacing=8,
            parent=self,
        )

    @property
    def heading(self) -> str:
        """The heading, which names the project that the chat belongs to."""
        return self._heading.text()

    @property
    def sentence(self) -> str:
        """The sentence below the heading, about the project or about the vault's notes."""
        return self._about.text()

    def show_state(
        self, notes: int, indexed: str | None, questions: Sequence[str], is_bare: bool = False
    ) -> None:
        """Show the number of notes, when they were indexed, and up to three suggested questions.

        Args:
            notes: the number of notes in the vault.
            indexed: when the notes were indexed, in ISO 8601, or None if they never were.
            questions: suggested questions.
            is_bare: whether the folder is known to contain no notes.
        """
        if is_bare:
            self._heading.setText("No notes in this folder yet.")
            self._about.setText("Add Markdown files, or choose another folder.")
            self._replace_questions([])
            return
        self._heading.setText("Ask your notes")
        when = f", indexed {ago(indexed)}" if indexed else ""
        known = f"{plural(notes, 'note')}{when}. " if notes or indexed else ""  # else no notes yet
        self._about.setText(f"{known}Answers cite the lines they rest on.")
        asked = list(questions[:_MOST_QUESTIONS])
        if asked != [row.question for row in self.questions]:  # a kept row keeps its focus
            self._replace_questions(asked)

    def show_project(self, name: str) -> None:
        """Show the name of the project that the chat belongs to.

        A sentence explains that the answers use only the notes in the project's folder.
        """
        self._heading.setText(f"Ask about {one_line(name)}")
        self._about.setText("Answers stay inside this folder, and cite the lines they rest on.")
        self._replace_questions([])

    def _replace_questions(self, questions: Sequence[str]) -> None:
        for row in self.questions:
            self._rows.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.questions = [QuestionButton(text) for text in questions]
        for row in self.questions:
            row.clicked.connect(self._on_clicked)
            self._rows.addWidget(row)
        self._fit_height()

    def fit(self, width: int) -> None:
        """Set the page's margins so that the page is aligned with the chat's text.

        Args:
            width: the width of the transcript in pixels.
        """
        left, right = set_in(width)
        self._column.setContentsMargins(left + OUTDENT, 24, right + OUTDENT, 24)
        self._fit_height()

    def minimumSizeHint(self) -> QSize:
        """Return a minimum height of 0, because `resizeEvent` hides the widgets that do not fit."""
        return QSize(super().minimumSizeHint().width(), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show only the widgets that fit into the new height."""
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        inner = self.rect().marginsRemoved(self._column.contentsMargins())
        row_height = Theme.current().px(_ROW) + 8
        parts: list[tuple[QWidget, int]] = [
            *((text, text.heightForWidth(inner.width()) + 8) for text in self._texts),
            *((row, row_height) for row in self.questions),
        ]
        left = inner.height() - 8
        for part, height in parts:
            left -= height
            part.setVisible(left >= -8)

    def _on_clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, QuestionButton):
            self.question_chosen.emit(sender.question)


class QuestionButton(PressedByEnter, QPushButton):
    """A suggested question on its own line. The whole line can be clicked."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self.question = question
        self.setAccessibleName(one_line(question))
        self.setToolTip(_TIP)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        dress(self, "ui", "")

    def sizeHint(self) -> QSize:
        """Return the default size of the button: one row."""
        return QSize(240, Theme.current().px(_ROW))

    def minimumSizeHint(self) -> QSize:
        """Return the width of a few words, because a long question is elided."""
        return QSize(120, Theme.current().px(_ROW))

    def changeEvent(self, event: QEvent) -> None:
        """Update the size when the font changes."""
        super().changeEvent(event)
        self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the suggested question, with an icon of the Enter key at the right edge."""
        theme, painter = Theme.current(), begin_painting(self)
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(theme.color("line.hairline"))
        painter.setBrush(theme.color(self._ground()))
        painter.drawRoundedRect(edge, theme.radius("lg"), theme.radius("lg"))
        side, middle = theme.px(16), self.height() // 2
        paint_icon(painter, QRect(12, middle - side // 2, side, side), "quotes", "text.tertiary")
        enter = QRect(self.width() - 12 - side, middle - side // 2, side, side)
        paint_icon(painter, enter, "arrow-elbow-down-left", "text.tertiary")
        text = self.rect().adjusted(side + 22, 0, -side - 24, 0)
        painter.setPen(theme.color("text.primary"))
        painter.setFont(self.font())
        words = one_line(self.question)
        shown = paint_text(painter, text, words)
        self.setToolTip(escape_tooltip(f"{words}\n{_TIP}") if shown != words else _TIP)
        if self.hasFocus():
            paint_focus(painter, self.rect(), "lg")

    def _ground(self) -> str:
        if self.isDown():
            return "bg.pressed"
        return "bg.hover" if self.underMouse() else "bg.content"
