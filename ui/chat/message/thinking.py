"""What a model thought before its answer, folded: "Thought for 12 s"."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from chains.turn_answer import Thinking
from ui.chat.message.fold_head import FoldHead
from ui.markdown.page.view import MarkdownView
from ui.theme import Theme
from ui.widgets.formatting import duration
from ui.widgets.geometry import OUTDENT, keep_place
from ui.widgets.layouts import make_column
from ui.widgets.surfaces import AccessibleFrame

__all__ = ["ThinkingPanel"]

_RUNNING = "Thoughts so far"


class ThinkingPanel(AccessibleFrame):
    """The thinking of one answer, hidden while there is none. It is no part of the answer's text.

    A click on the line above, or Enter, shows and hides it. The signal `toggled` is then emitted
    with whether it is visible.

    Attributes:
        head: the line above.
        view: the text, or None until it is shown for the first time.
    """

    toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Grouping, parent)
        self._text, self._is_open, self._is_running = "", False, False
        self.view: MarkdownView | None = None
        self.head = FoldHead("thinking")
        self.head.clicked.connect(self._on_head)
        self._body = _Body()
        self._column = make_column(margins=(OUTDENT + 4, 0, 0, 8), spacing=0, parent=self._body)
        self._body.hide()
        make_column(self.head, self._body, margins=0, spacing=0, parent=self)
        self.setAccessibleName("Thinking")
        self.hide()

    @property
    def text(self) -> str:
        """The thoughts that have arrived, as Markdown."""
        return self._text

    @property
    def is_open(self) -> bool:
        """Whether the thoughts are visible."""
        return self._is_open

    def append(self, text: str) -> None:
        """Append thoughts that have just arrived."""
        self._text, self._is_running = self._text + text, True
        self.head.show_words(_RUNNING, "")
        self.setVisible(bool(self._text.strip()))
        if self.view is not None:
            self.view.append(text)

    def end(self, seconds: float | None) -> None:
        """Show how long the model thought, because the answer begins.

        Args:
            seconds: the duration, or None if it is unknown.
        """
        took = "" if seconds is None else f" for {duration(seconds)}"
        self.head.show_words(f"Thought{took}", "")
        self._is_running = False
        if self.view is not None:
            self.view.finish()

    def show_thinking(self, thinking: Thinking) -> None:
        """Show the stored thinking of a finished answer, in place of what was streamed."""
        if thinking.text != self._text:
            self._text = thinking.text
            if self.view is not None:
                self.view.set_markdown(self._text)
        self.end(thinking.seconds)
        self.setVisible(bool(self._text.strip()))

    def set_open(self, is_open: bool) -> None:
        """Show or hide the thoughts."""
        self._is_open = is_open
        if is_open and self.view is None:
            self.view = MarkdownView()
            self.view.setAccessibleName("Thinking of the model")
            self.view.append(self._text)
            if not self._is_running:
                self.view.finish()
            self._column.addWidget(self.view)
        self._body.setVisible(is_open)
        self.head.set_open(is_open)

    def _on_head(self) -> None:
        keep_place(self)
        self.set_open(not self._is_open)
        self.toggled.emit(self._is_open)


class _Body(QWidget):
    """The thoughts, with a line beside them that sets them apart from the answer."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, side = QPainter(self), OUTDENT + Theme.current().px(5)
        painter.fillRect(side, 4, 2, self.height() - 12, Theme.current().color("line.hairline"))
