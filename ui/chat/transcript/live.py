"""The running turn: its user message, its steps, and its answer while it streams."""

from collections.abc import Sequence
from datetime import UTC, datetime

from PySide6.QtCore import QObject

from app.errors import ErrorInfo
from app.sessions.transcript import AnswerItem
from chains.events import AskResult, ToolEnded, ToolStarted
from context.layers import Segment
from ui.chat.composer.attachment import Attachment
from ui.chat.message.answer import Answer
from ui.chat.message.sources import sources_of
from ui.chat.message.step_words import StepView
from ui.chat.message.user import UserMessage
from ui.chat.transcript.feed import Feed, Slot
from ui.chat.transcript.widgets import MessageMaker, key_of

__all__ = ["LiveTurn"]


class LiveTurn(QObject):
    """Shows one turn at the end of a feed; without one it does nothing."""

    def __init__(self, feed: Feed, maker: MessageMaker) -> None:
        super().__init__(maker)
        self._feed, self._maker = feed, maker
        self._asked: Slot | None = None
        self._slot: Slot | None = None

    def forget(self) -> None:
        """Let the turn go on unseen: another chat is shown."""
        self._asked = self._slot = None

    def begin(
        self,
        question: str,
        attached: Sequence[Attachment] = (),
        *,
        instead: str = "",
        is_again: bool = False,
    ) -> None:
        """Show a question, and the place where its answer will stand.

        Args:
            question: what is asked.
            attached: what goes along with it.
            instead: the entry of the message in whose place this turn is put; what stood there is
                kept beside it.
            is_again: whether only the answer is made anew, below the question that is there.
        """
        self._cut(instead, keeps_question=is_again)
        if not is_again:
            now = datetime.now(UTC).isoformat()
            self._asked = self._maker.loose(
                "user", lambda: self._maker.user(question, now, attached)
            )
            self._asked.is_kept = True
            self._feed.append(self._asked)
        self._slot = self._maker.loose("answer", self._maker.answer)
        self._slot.is_kept = True
        self._feed.append(self._slot)

    def place_question(self, entry: str) -> None:
        """Tell where the question that was just asked stands in the log."""
        slot = self._asked
        if slot is not None and slot.row and isinstance(slot.row.widget, UserMessage):
            slot.key = ("user", entry)
            slot.row.widget.show_place(entry)
            slot.row.quiet()

    def show_step(self, text: str, seconds: float) -> None:
        """Show what is being done."""
        if answer := self._get_running_answer():
            answer.show_step(text, seconds)

    def begin_tool(self, event: ToolStarted) -> None:
        """Show a step that has begun."""
        if answer := self._get_running_answer():
            answer.begin_step(StepView(event.id, event.name, event.arguments))

    def end_tool(self, event: ToolEnded) -> None:
        """Show how a step went."""
        if answer := self._get_running_answer():
            answer.steps.end_step(event.id, event.status, event.seconds)

    def show_sources(self, sources: Sequence[Segment]) -> None:
        """Tell what the numbers of the answer stand for."""
        if answer := self._get_running_answer():
            answer.set_sources(sources_of(sources))

    def append(self, text: str) -> None:
        """Add what has arrived of the answer."""
        if answer := self._get_running_answer():
            answer.append(text)

    def finish(self, result: AskResult, sources: Sequence[Segment]) -> None:
        """End the turn with its answer."""
        slot, answer = self._slot, self._get_running_answer()
        if slot is None or answer is None:
            return
        item = _item_of(result, sources, answer.seconds)
        self._maker.fill(answer, item)
        if result.status == "interrupted":
            answer.show_end(is_stopped=not result.warnings, can_retry=True)
        if result.entry:
            slot.key, slot.item = key_of(item), item
        slot.make = self._maker.slot(item).make
        self._let_go()

    def fail(self, info: ErrorInfo, *, is_stored: bool = True) -> None:
        """End the turn with an error where the answer would have stood.

        Args:
            info: what went wrong.
            is_stored: whether the question is in the chat; one that is not does not stay.
        """
        slot, answer = self._slot, self._get_running_answer()
        if slot is None or answer is None:
            return
        if answer.text or answer.steps.steps:
            answer.finish(None)
        else:
            self._feed.remove(slot)
        if self._asked is not None and not is_stored:
            self._feed.remove(self._asked)
        self._let_go()
        self._feed.append(self._maker.loose("failure", lambda: self._maker.failure(info)))

    def _get_running_answer(self) -> Answer | None:
        row = self._slot.row if self._slot else None
        return row.widget if row and isinstance(row.widget, Answer) else None

    def _let_go(self) -> None:
        """Treat its messages like any others from now on."""
        for slot in (self._slot, self._asked):
            if slot is not None:
                slot.is_kept = False
                if slot.row:
                    slot.row.quiet()
        self.forget()

    def _cut(self, entry: str, *, keeps_question: bool) -> None:
        """Take away a message and all that follows; it stays in the log."""
        slots = self._feed.slots()
        places = [at for at, slot in enumerate(slots) if slot.key[1:2] == (entry,)]
        if not entry or not places:
            return
        first = places[0]
        if keeps_question and slots[first].kind == "user":
            first += 1
        for slot in slots[first:]:
            self._feed.remove(slot)


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
