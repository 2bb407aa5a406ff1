"""The small window for a quick question: a field, the answer, and a button to open the chat."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from ui.actions import Keymap
from ui.chat.composer.text import ComposerText
from ui.chat.message.answer import Answer
from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.dialogs import give_keys_back
from ui.widgets.geometry import OUTDENT, make_scroll_area
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.surfaces import Hairline, Pane

__all__ = ["QuickAskWindow"]

_ASK = ButtonText("Ask", "Send the question (Enter)")
_STOP = ButtonText("Stop", "Stop the answer")
_WIDTH, _LOW, _HIGH = 560, 128, 480


class QuickAskWindow(Pane):
    """A window that stays on top of others and shows one question with its answer.

    Esc hides the window, but an answer in progress continues. The keys go back to the window of
    Strata that had them before, if one had.

    Signals:
        asked: a question.
        stop_requested: the user wants to stop the answer.
        open_requested: the user wants to open the chat in the main window.

    Attributes:
        answer: the widget of the answer, or None before the first question.
        field: the field for the question.
        state: the line below the field. It shows why there is no answer, or is empty.
        question: the question above its answer.
    """

    asked = Signal(str)
    stop_requested = Signal()
    open_requested = Signal()

    def __init__(self) -> None:
        super().__init__("content")  # as below answers, whose code is set off from it
        self.answer: Answer | None = None
        self._is_running = False
        self._before: QWidget | None = None
        self.setWindowTitle("Quick ask")
        self.setWindowFlags(Qt.WindowType.Window | Qt.WindowType.WindowStaysOnTopHint)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.field = ComposerText()
        self.field.setAccessibleName("Question")
        self.field.sent.connect(self._on_sent)
        self.field.textChanged.connect(self._update_send)
        self.state = make_wrapped_label("", "caption", "secondary")
        self.question = make_wrapped_label("", "ui_strong")
        self._line = Hairline()
        self.send = make_button(
            ButtonText("Ask", "Send the question (Enter)"), "primary", self._on_pressed
        )
        self.open = make_button(
            ButtonText("Open in Strata", "Continue this chat in the main window"),
            "text",
            self.open_requested.emit,
        )
        self._page = Pane("content")
        self._area = make_scroll_area(self._page)
        self._lay_out()
        Theme.current().changed.connect(self._fit)
        Keymap.current().changed.connect(self._update_send)

    def begin(self, hint: str) -> None:
        """Show the window with the cursor in the field.

        If no answer is being generated, the previous question and answer are removed.

        Args:
            hint: the hint in the empty field, which names what is searched.
        """
        self.field.set_hint(hint)
        if not self._is_running:
            self.clear()
        self._fit()
        if not self.isVisible():
            self._before = QApplication.activeWindow()
        self.show()
        self.raise_()
        self.activateWindow()
        self.field.setFocus(Qt.FocusReason.ActiveWindowFocusReason)

    def clear(self) -> None:
        """Remove the question and its answer from the window."""
        self.field.set_text("")
        self.show_answer(None)
        self.tell("")
        self.open.setEnabled(False)

    def show_answer(self, answer: Answer | None, question: str = "") -> None:
        """Show an answer below its question, in place of the previous answer.

        If `answer` is None, remove the previous question and answer.
        """
        self.question.setText(one_line(question))
        if self.answer is not None:
            self.answer.hide()
            self.answer.deleteLater()
        self.answer = answer
        if answer is not None:
            self._column.insertWidget(1, answer)
            answer.show()
        self._area.setVisible(answer is not None)
        self._line.setVisible(answer is not None)
        self._fit()

    def set_running(self, is_running: bool) -> None:
        """Show Stop in place of Ask while an answer is being generated."""
        self._is_running = is_running
        self.send.set_text(_STOP if is_running else _ASK)
        self.send.setProperty("role", "" if is_running else "primary")
        self.send.style().unpolish(self.send)
        self.send.style().polish(self.send)
        dress(self.send, "ui_strong", "")
        self.open.setEnabled(not is_running and self.answer is not None)
        self._update_send()

    def tell(self, text: str) -> None:
        """Show a message below the field for the question. An empty string removes the message."""
        self.state.setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hide the window on Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Give the keys back to the window that had them before."""
        super().hideEvent(event)
        if self._before is not None and isValid(self._before):
            give_keys_back(self._before)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a line around the window, because many desktops draw no shadow below it."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(Theme.current().color("line.strong"))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _lay_out(self) -> None:
        above = make_row(self.question, margins=(OUTDENT, 0, OUTDENT, 4))
        self._column = make_column(above, stretch(), margins=(0, 8, 0, 8), parent=self._page)
        self._area.hide()
        self._line.hide()
        title = label("Quick ask", "label", "secondary")
        foot = make_row(grow(self.state), self.open, self.send, spacing=8)
        top = make_column(
            title, self.field, stretch(), foot, margins=(OUTDENT, 12, OUTDENT, 12), spacing=8
        )
        make_column(top, self._line, grow(self._area), margins=1, spacing=0, parent=self)

    def _fit(self) -> None:
        theme = Theme.current()
        room = self.screen().availableSize() - QSize(64, 64)
        high = _LOW if self.answer is None else _HIGH
        wanted = QSize(theme.px(_WIDTH), max(theme.px(high), self.minimumSizeHint().height()))
        self.resize(wanted.boundedTo(room))
        below = self.frameGeometry().bottom() - self.screen().availableGeometry().bottom()
        if self.isVisible() and below > 0:  # the answer would be below the edge of the screen
            self.move(self.x(), max(self.screen().availableGeometry().top(), self.y() - below))

    def _update_send(self) -> None:
        has_words = bool(self.field.toPlainText().strip())
        self.send.setEnabled(self._is_running or has_words)
        key = "" if self._is_running else f" ({Keymap.current().send_key})"
        self.send.setToolTip(f"{self.send.text()}{key}")

    def _on_pressed(self) -> None:
        if self._is_running:
            self.stop_requested.emit()
        else:
            self._on_sent()

    def _on_sent(self) -> None:
        text = self.field.toPlainText().strip()
        if text and not self._is_running:
            self.asked.emit(text)
