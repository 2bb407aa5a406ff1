"""An answer: its text as it arrives, the present step, then what can be done with it."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from ui.chat.measure import OUTDENT
from ui.chat.message.parts import ActionsRow, Doubts, StepLine
from ui.chat.message.roles import Part
from ui.chat.page.card import Source
from ui.chat.page.view import MarkdownView
from ui.kit.controls import button, wrapped
from ui.kit.figures import minutes_clock, plural
from ui.theme import Theme

__all__ = ["Answer"]

_STOPPED = "Stopped. What had arrived is kept."
_BROKEN = "The connection broke off. What had arrived is kept."


class Answer(Part):
    """One answer.

    `citation_activated` carries path and lines, `saw_requested` the answer's entry.

    Attributes:
        doubts: what the sources do not bear out, if anything.
        ending: why the answer is not whole, if it is not.
        model: who gave it, once it is finished.
        seconds: how long it took, or has taken so far.
    """

    citation_activated = Signal(str, int, int)
    link_activated = Signal(str)
    saw_requested = Signal(str)
    retry_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Document, parent)
        self._text = ""
        self._entry = ""
        self.model = ""
        self.seconds: float | None = None
        self._sources: Mapping[int, Source] = {}
        self.view = MarkdownView()
        self.view.citation_clicked.connect(self._on_citation)
        self.view.link_clicked.connect(self.link_activated)
        self.step = StepLine()
        self.tools = ActionsRow()
        self.tools.copy_clicked.connect(self.copy)
        self.tools.saw_clicked.connect(lambda: self.saw_requested.emit(self._entry))
        self.doubts: Doubts | None = None
        self.ending = ""
        self._lay_out()
        self._name("", 0)

    @property
    def text(self) -> str:
        """The answer in Markdown, as far as it has arrived."""
        return self._text

    @property
    def entry(self) -> str:
        """The answer's place in the log, once it has one."""
        return self._entry

    def show_step(self, text: str, seconds: float) -> None:
        """Show what is being done, and since when."""
        self.seconds = seconds
        self.step.show_step(text, seconds)

    def append(self, text: str) -> None:
        """Add what has arrived."""
        self._text += text
        if text:
            self.view.show()
        self.view.append(text)

    def set_text(self, text: str) -> None:
        """Show a whole answer."""
        self._text = text
        self.view.set_markdown(text)
        self.view.setVisible(bool(text))

    def set_sources(self, sources: Mapping[int, Source]) -> None:
        """Tell what the numbers stand for."""
        self._sources = sources
        self.view.set_sources(sources)

    def finish(self, entry: str | None, time: str = "", text: str | None = None) -> None:
        """End the stream: the actions take the place of the step.

        Args:
            entry: the answer's place in the log; None where it has none.
            time: ISO 8601.
            text: the whole answer, where it may differ from what arrived.
        """
        if text is not None and text != self._text:
            self.set_text(text)
        else:
            self.view.finish()
        self._entry = entry or ""
        self.tools.saw.setVisible(bool(entry))
        self._slot.setCurrentWidget(self.tools)
        self._name(time, sum(1 for source in self._sources.values() if source.path))

    def show_doubts(self, sentences: Sequence[str]) -> None:
        """Say below the text what the sources do not bear out."""
        if sentences:
            self.doubts = Doubts(sentences)
            self._extras.addLayout(_outdented(self.doubts))

    def show_end(self, *, is_stopped: bool, can_retry: bool) -> None:
        """Say that the answer is not whole."""
        self.ending = _STOPPED if is_stopped else _BROKEN
        line = QHBoxLayout()
        line.setContentsMargins(OUTDENT, 8, OUTDENT, 0)
        line.setSpacing(12)
        line.addWidget(wrapped(self.ending, "ui", "secondary"), 1)
        if can_retry:
            line.addWidget(button("Try again", "link", self.retry_requested.emit))
        self._extras.addLayout(line)

    def copy(self) -> None:
        """Put the answer on the clipboard, in Markdown."""
        QGuiApplication.clipboard().setText(self._text)

    def _lay_out(self) -> None:
        slot = QWidget()
        self._slot = QStackedLayout(slot)
        self._slot.addWidget(self.step)
        self._slot.addWidget(self.tools)
        self._extras = QVBoxLayout()
        self._extras.setSpacing(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.view)
        column.addLayout(self._extras)
        column.addSpacing(4)
        column.addWidget(slot)
        slot.setFixedHeight(Theme.current().px(28))
        self._slot_widget = slot
        Theme.current().changed.connect(self._fit)
        self.view.hide()

    def _fit(self) -> None:
        self._slot_widget.setFixedHeight(Theme.current().px(28))

    def _name(self, time: str, sources: int) -> None:
        said = ["Answer", minutes_clock(time) if time else "", plural(sources, "source")]
        name = ", ".join(part for part in said if part)
        self.setAccessibleName(name)
        self.view.setAccessibleName(name)

    def _on_citation(self, number: int) -> None:
        source = self._sources.get(number)
        if source is not None and source.path:
            first, last = source.lines or (1, 1)
            self.citation_activated.emit(source.path, first, last)


def _outdented(widget: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(OUTDENT, 12, OUTDENT, 4)
    row.addWidget(widget)
    return row
