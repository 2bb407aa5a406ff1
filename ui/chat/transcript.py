"""The chat as it is read: messages in one column, followed while an answer arrives."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.errors import ErrorInfo
from app.transcript import AnswerItem, DroppedItem, TranscriptItem, UserItem
from app.transcript import Transcript as Chat
from chains.events import AskResult
from context.layers import Segment
from ui.chat.empty_state import EmptyState
from ui.chat.feed import Feed, Slot
from ui.chat.message.answer import Answer
from ui.chat.message.divider import Divider
from ui.chat.message.failure import Failure
from ui.chat.message.sources import doubts_of, sources_of
from ui.chat.message.user import UserMessage
from ui.chat.scroller import Scroller
from ui.chat.walker import Walker
from ui.theme import Theme

__all__ = ["Transcript"]

_ABOVE = {"user": 28, "divider": 24}
_ABOVE_ANSWER = 16
_HERE = "this computer"


class Place(Protocol):
    """A model with where it runs, as the assistant lists them."""

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def where(self) -> str: ...


class Transcript(QWidget):
    """One chat.

    `citation_activated` carries path and lines, `link_activated` an allowed address,
    `saw_requested` an answer's entry, `error_action` the name of a way out of an error.
    """

    citation_activated = Signal(str, int, int)
    link_activated = Signal(str)
    question_chosen = Signal(str)
    retry_requested = Signal()
    saw_requested = Signal(str)
    error_action = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live: Slot | None = None
        self._places: dict[str, tuple[str, str]] = {}
        self.empty = EmptyState()
        self.empty.question_chosen.connect(self.question_chosen)
        self.feed = Feed()
        self.scroller = Scroller(self.feed)
        self._walker = Walker(self, self.scroller)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.scroller)
        self.setAccessibleName("Chat")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        Theme.current().changed.connect(self._on_theme_changed)

    def show_empty(self, note_count: int, indexed: str | None, questions: Sequence[str]) -> None:
        """Show a chat that has not begun.

        Args:
            note_count: how many notes there are.
            indexed: when they were indexed, ISO 8601; None where they were not.
            questions: what is worth asking; three at most are shown.
        """
        self._live = None
        self.feed.reset([])
        self.empty.show_state(note_count, indexed, questions)
        self._stack.setCurrentWidget(self.empty)

    def set_models(self, choices: Sequence[Place]) -> None:
        """Tell what the models are called and where they run, for the line below an answer."""
        self._places = {choice.name: (choice.label, choice.where) for choice in choices}
        for row in self.feed.rows:
            if isinstance(row.widget, Answer):
                self._tell_about(row.widget)

    def load(self, chat: Chat) -> None:
        """Show a chat from its end."""
        self._live = None
        self.feed.reset([self._slot_of(item) for item in chat.items])
        self._stack.setCurrentWidget(self.scroller)
        self.scroller.to_end()

    def begin_turn(self, question: str) -> None:
        """Show a question, and the place where its answer will stand."""
        self._stack.setCurrentWidget(self.scroller)
        now = datetime.now(UTC).isoformat()
        self.feed.append(self._slot("user", lambda: UserMessage(question, now)))
        answer = self._make_answer()
        self._live = self._slot("answer", lambda: answer)
        self._live.is_kept = True
        self.feed.append(self._live)
        self.scroller.to_end()

    def set_step(self, text: str, seconds: float) -> None:
        """Show what is being done for the running turn."""
        if answer := self._running():
            answer.show_step(text, seconds)

    def set_sources(self, sources: Sequence[Segment]) -> None:
        """Tell what the numbers of the running answer stand for."""
        if answer := self._running():
            answer.set_sources(sources_of(sources))

    def append_delta(self, text: str) -> None:
        """Add to the running answer."""
        if answer := self._running():
            answer.append(text)

    def finish_turn(self, result: AskResult, sources: Sequence[Segment]) -> None:
        """End the running turn with its answer."""
        slot, answer = self._live, self._running()
        if slot is None or answer is None:
            return
        item = _item_of(result, sources, answer.seconds)
        self._fill(answer, item)
        if result.status == "interrupted":
            answer.show_end(is_stopped=not result.warnings, can_retry=True)
        self._let_go(slot, lambda: self._answer_of(item))

    def fail_turn(self, info: ErrorInfo) -> None:
        """End the running turn with an error where the answer would have stood."""
        slot, answer = self._live, self._running()
        if slot is None or answer is None:
            return
        if answer.text:
            answer.finish(None)
            self._let_go(slot, slot.make)
        else:
            self.feed.remove(slot)
            self._live = None
        self.feed.append(self._slot("failure", lambda: self._make_failure(info)))

    def add_divider(self, turns: int, tokens: int, reason: str) -> None:
        """Draw the line below the oldest turns, which are not sent any more.

        Args:
            turns: how many of them, in all; a line that was drawn before goes.
            tokens: what they would take.
            reason: as the report names it.
        """
        for slot in self.feed.slots():
            if slot.kind == "divider":
                self.feed.remove(slot)
        asked = [i for i, slot in enumerate(self.feed.slots()) if slot.kind == "user"]
        if 0 < turns < len(asked):
            line = self._slot("divider", lambda: Divider(turns, tokens, reason))
            self.feed.insert(asked[turns], line)

    def copy_last_answer(self) -> None:
        """Put the last answer on the clipboard."""
        if answer := self._last_answer():
            answer.copy()

    def copy_last_code(self) -> None:
        """Put the last block of code of the last answer on the clipboard."""
        if answer := self._last_answer():
            answer.view.copy_last_code()

    def step_message(self, by: int) -> None:
        """Walk to another message, as the arrows do."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._walker.step(by)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the empty state the column."""
        super().resizeEvent(event)
        self.empty.fit(self.width())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk with the arrows; scroll with the other keys."""
        bar = self.scroller.bar
        match event.key():
            case Qt.Key.Key_Up:
                self._walker.step(-1)
            case Qt.Key.Key_Down:
                self._walker.step(1)
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown:
                down = event.key() == Qt.Key.Key_PageDown
                bar.setValue(bar.value() + (bar.pageStep() if down else -bar.pageStep()))
            case Qt.Key.Key_Home:
                bar.setValue(bar.minimum())
            case Qt.Key.Key_End:
                self.scroller.to_end()
            case _:
                super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which message was walked to."""
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self._walker.show()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Keep the ring while the focus is inside the message."""
        super().focusOutEvent(event)
        if event.reason() not in {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason}:
            self._walker.forget()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Treat the chat as one stop, and what is inside a message as reached from it."""
        if self._stack.currentWidget() is self.empty:
            return super().focusNextPrevChild(forward)
        return self._walker.tab(forward) or self._walker.leave(forward)

    def _slot_of(self, item: TranscriptItem) -> Slot:
        match item:
            case UserItem():
                return self._slot("user", lambda: UserMessage(item.text, item.time))
            case AnswerItem():
                return self._slot("answer", lambda: self._answer_of(item))
            case DroppedItem():
                return self._slot("divider", lambda: Divider(item.turns, item.tokens, item.reason))

    def _slot(self, kind: str, make: Callable[[], QWidget]) -> Slot:
        return Slot(make, _ABOVE.get(kind, _ABOVE_ANSWER), kind)

    def _running(self) -> Answer | None:
        row = self._live.row if self._live else None
        return row.widget if row and isinstance(row.widget, Answer) else None

    def _let_go(self, slot: Slot, make: Callable[[], QWidget]) -> None:
        """Treat the running turn's answer like any other from now on."""
        slot.make = make
        slot.is_kept = False
        self._live = None
        if slot.row:
            slot.row.quiet()

    def _make_answer(self) -> Answer:
        answer = Answer()
        answer.citation_activated.connect(self.citation_activated)
        answer.link_activated.connect(self.link_activated)
        answer.saw_requested.connect(self.saw_requested)
        answer.retry_requested.connect(self.retry_requested)
        return answer

    def _answer_of(self, item: AnswerItem) -> QWidget:
        if item.status == "error" and not item.text:
            return self._make_failure(ErrorInfo("", "This question found no answer."))
        answer = self._make_answer()
        answer.set_text(item.text)
        self._fill(answer, item)
        if item.status == "interrupted":
            answer.show_end(is_stopped=True, can_retry=False)
        return answer

    def _fill(self, answer: Answer, item: AnswerItem) -> None:
        """Say what an answer rests on, and who gave it."""
        sources = sources_of(item.sources, item.citations, item.unverified)
        answer.set_sources(sources)
        answer.finish(item.entry, item.time, item.text)
        answer.show_doubts(doubts_of(item.unverified, sources))
        answer.model, answer.seconds = item.model, item.seconds
        self._tell_about(answer)

    def _tell_about(self, answer: Answer) -> None:
        name, where = self._places.get(answer.model, (answer.model, ""))
        place = f"on {where}" if where == _HERE else f"at {where}" if where else ""
        answer.tools.show_about(name, place, answer.seconds)

    def _make_failure(self, info: ErrorInfo) -> Failure:
        failure = Failure(info)
        failure.chosen.connect(self._on_way_out)
        return failure

    def _on_way_out(self, way: str) -> None:
        if way == "retry":
            self.retry_requested.emit()
        else:
            self.error_action.emit(way)

    def _last_answer(self) -> Answer | None:
        answers = [row.widget for row in self.feed.rows if isinstance(row.widget, Answer)]
        return answers[-1] if answers else None

    def _on_theme_changed(self) -> None:
        self.empty.fit(self.width())


def _item_of(result: AskResult, sources: Sequence[Segment], seconds: float | None) -> AnswerItem:
    return AnswerItem(
        entry=result.entry or "",
        text=result.answer,
        time=datetime.now(UTC).isoformat(),
        model=result.model,
        status=result.status,
        citations=result.citations,
        unverified=result.unverified,
        sources=tuple(sources),
        seconds=seconds,
    )
