"""An answer: its text while it streams, the current step, and the actions below it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from ui.chat.message.answer_tools import AnswerTools
from ui.chat.message.parts import Doubts, StepLine
from ui.chat.message.step_words import StepView
from ui.chat.message.steps import Steps
from ui.markdown.page.card import Source
from ui.markdown.page.view import MarkdownView
from ui.theme import Theme
from ui.widgets.controls import button, make_wrapped_label
from ui.widgets.figures import minutes_clock, plural
from ui.widgets.geometry import OUTDENT
from ui.widgets.surfaces import AccessibleFrame

__all__ = ["Answer"]

_STOPPED = "Stopped. What had arrived is kept."
_BROKEN = "The connection broke off. What had arrived is kept."


class Answer(AccessibleFrame):
    """One answer.

    `citation_activated` carries path and lines, `citation_pointed` its entry and the number that is
    pointed at, 0 for none; `action_requested` carries a `MessageAction`.

    Attributes:
        doubts: what the sources do not bear out, if anything.
        ending: why the answer is not whole, if it is not.
        model: who gave it, once it is finished.
        seconds: how long it took, or has taken so far.
        steps: what an agent did for it.
    """

    citation_activated = Signal(str, int, int)
    citation_pointed = Signal(str, int)
    link_activated = Signal(str)
    action_requested = Signal(object)
    retry_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Document, parent)
        self._text = ""
        self._entry = self._clock = ""
        self.model = ""
        self.seconds: float | None = None
        self._sources: Mapping[int, Source] = {}
        self.view = MarkdownView()
        self.view.citation_clicked.connect(self._on_citation)
        self.view.citation_pointed.connect(self._on_pointed)
        self.view.link_clicked.connect(self.link_activated)
        self.steps = Steps()
        self.step = StepLine()
        self.tools = AnswerTools()
        self.tools.copied.connect(self.copy)
        self.tools.action_requested.connect(self.action_requested)
        self.doubts: Doubts | None = None
        self.ending = ""
        self._lay_out()
        self._say()

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

    def begin_step(self, step: StepView) -> None:
        """Show a step that has begun; what has arrived of the text was said before it."""
        self.steps.begin_step(replace(step, said=self._text.strip()))
        if self._text:
            self.set_text("")

    def set_text(self, text: str) -> None:
        """Show a whole answer."""
        self._text = text
        self.view.set_markdown(text)
        self.view.setVisible(bool(text))

    def set_sources(self, sources: Mapping[int, Source]) -> None:
        """Tell what the numbers stand for."""
        self._sources = sources
        self.view.set_sources(sources)
        self._say()

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
        self.show_place(entry or "")
        self._slot.setCurrentWidget(self.tools)
        self._clock = minutes_clock(time) if time else ""
        self._say()

    def show_place(self, entry: str, siblings: Sequence[str] = (), label: str = "") -> None:
        """Tell where it stands in the chat, which other answers there are, and its name."""
        self._entry = entry
        self.tools.show_place(entry, siblings, label)

    def show_pin(self, is_pinned: bool) -> None:
        """Tell whether it is pinned."""
        self.tools.show_pin(is_pinned)

    def show_steps(self, steps: Sequence[StepView]) -> None:
        """Show what an agent did for it."""
        self.steps.set_steps(steps)

    def show_doubts(self, sentences: Sequence[str]) -> None:
        """Say below the text what the sources do not bear out."""
        if tuple(sentences) == (self.doubts.sentences if self.doubts else ()):
            return
        if self.doubts is not None:
            self.doubts.hide()
            self.doubts.deleteLater()
        self.doubts = Doubts(sentences)
        self._extras.insertLayout(0, _outdent(self.doubts))

    def show_end(self, *, is_stopped: bool, can_retry: bool) -> None:
        """Say that the answer is not whole."""
        self.ending = _STOPPED if is_stopped else _BROKEN
        line = QHBoxLayout()
        line.setContentsMargins(OUTDENT, 8, OUTDENT, 0)
        line.setSpacing(12)
        line.addWidget(make_wrapped_label(self.ending, "ui", "secondary"), 1)
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
        column.addWidget(self.steps)
        column.addWidget(self.view)
        column.addLayout(self._extras)
        column.addSpacing(4)
        column.addWidget(slot)
        slot.setFixedHeight(Theme.current().px(28))
        self._slot_widget = slot
        Theme.current().changed.connect(self._fit)
        self.tools.lines_changed.connect(self._fit)
        self.view.hide()

    def _fit(self) -> None:
        self._slot_widget.setFixedHeight(Theme.current().px(28) * self.tools.lines)

    def _say(self) -> None:
        sources = sum(1 for source in self._sources.values() if source.path)
        said = ["Answer", self._clock, plural(sources, "source")]
        name = ", ".join(part for part in said if part)
        self.setAccessibleName(name)
        self.view.setAccessibleName(name)

    def _on_pointed(self, number: int) -> None:
        self.citation_pointed.emit(self._entry, number)

    def _on_citation(self, number: int) -> None:
        source = self._sources.get(number)
        if source is not None and source.path:
            first, last = source.lines or (1, 1)
            self.citation_activated.emit(source.path, first, last)


def _outdent(widget: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(OUTDENT, 12, OUTDENT, 4)
    row.addWidget(widget)
    return row
