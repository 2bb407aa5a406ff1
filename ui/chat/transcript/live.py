"""The running turn: its user message, its steps, and its answer while it streams."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import QObject

from app.errors import ErrorInfo
from app.sessions.transcript import AnswerItem
from chains.citations.answer_sources import list_sources
from chains.events import AskResult
from chains.turn.continuation import join_answer
from chains.turn_answer import ToolStep
from context.layers import Segment
from ui.chat.composer.attachment import Attachment
from ui.chat.message.answer import Answer
from ui.chat.message.user import UserMessage
from ui.chat.transcript.feed import Feed, Slot
from ui.chat.transcript.widgets import MessageMaker, build_key

__all__ = ["LiveTurn"]


class LiveTurn(QObject):
    """Shows the running turn at the end of the chat.

    While no turn is running, all methods except `begin` do nothing.
    """

    def __init__(self, feed: Feed, maker: MessageMaker) -> None:
        super().__init__(maker)
        self._feed, self._maker = feed, maker
        self._asked: Slot | None = None
        self._slot: Slot | None = None
        self._unsent: Slot | None = None  # the error of a message that was not sent
        self._broken = ""  # what the answer begins with until text arrives, if it is continued
        self._before = ""

    def forget(self) -> None:
        """Stop showing the turn, because another chat is opened. The turn continues."""
        self._asked = self._slot = self._unsent = None
        self._broken = ""

    def begin(
        self,
        question: str,
        attached: Sequence[Attachment] = (),
        *,
        instead: str = "",
        is_again: bool = False,
        continues: str = "",
    ) -> None:
        """Show a new turn: a user message with an empty answer below it.

        Args:
            question: the text of the user message.
            attached: the attachments of the user message.
            instead: the entry ID of the message that this turn replaces in the view, with all
                messages after it. The replaced messages stay in the log as another version. If it
                is empty, the turn is added at the end.
            is_again: whether only the answer is regenerated, below the existing user message.
            continues: the entry ID of the interrupted answer to continue, or an empty string.
        """
        broken = self._find_answer(continues)
        if self._unsent is not None and self._unsent in self._feed.slots():
            self._feed.remove(self._unsent)
        self._unsent = None
        self._cut(instead or continues, keeps_question=is_again)
        if not is_again:
            now = datetime.now(UTC).isoformat()
            self._asked = self._maker.make_loose_slot(
                "user", lambda: self._maker.build_user_message(question, now, attached)
            )
            self._asked.is_kept = True
            self._feed.append(self._asked)
        self._broken = self._before = "" if broken is None else broken.answer.text
        self._slot = self._maker.make_loose_slot(
            "answer", partial(self._maker.build_answer, broken)
        )
        self._slot.is_kept = True
        self._feed.append(self._slot)

    def place_question(self, entry: str) -> None:
        """Set the entry ID of the user message once the message is stored."""
        slot = self._asked
        if slot is not None and isinstance(slot.widget, UserMessage):
            slot.key = ("user", entry)
            slot.widget.set_entry(entry)
            if slot.row:
                slot.row.quiet()

    def show_step(self, text: str, seconds: float, *, is_paused: bool = False) -> None:
        """Show the current step of the turn and its duration so far.

        Args:
            text: describes the step.
            seconds: the duration, without the time in which the turn waited for the user.
            is_paused: whether the turn waits for the user now, so that the duration stays.
        """
        if answer := self._get_running_answer():
            answer.show_step(text, seconds, is_paused=is_paused)

    def begin_tool(self, step: ToolStep) -> None:
        """Show a tool call that has started."""
        if answer := self._get_running_answer():
            answer.begin_step(step)

    def end_tool(self, step: ToolStep) -> None:
        """Show the outcome of a tool call that has ended."""
        if answer := self._get_running_answer():
            answer.steps.end_step(step)

    def show_sources(self, sources: Sequence[Segment]) -> None:
        """Set the segments that the answer can cite."""
        if answer := self._get_running_answer():
            answer.set_sources(list_sources(sources))

    def append(self, text: str) -> None:
        """Append newly arrived text to the answer."""
        if answer := self._get_running_answer():
            before, self._broken = self._broken, ""
            answer.append(join_answer(before, text)[len(before) :])

    def append_thought(self, text: str, seconds: float) -> None:
        """Append newly arrived thinking of the model, which is no part of the answer.

        Args:
            text: the piece of thinking.
            seconds: how long the model has been thinking.
        """
        if answer := self._get_running_answer():
            answer.append_thought(text, seconds)

    def take_back(self) -> None:
        """Remove the text that has arrived, because it was the model's thinking."""
        if answer := self._get_running_answer():
            self._broken = self._before
            answer.set_text(self._before)

    def finish(self, result: AskResult, sources: Sequence[Segment]) -> None:
        """End the turn, and show the finished answer with its sources.

        Args:
            result: the result of the turn. An interrupted answer gets a line with the reason.
            sources: the segments of the request that the answer can cite.
        """
        slot, answer = self._slot, self._get_running_answer()
        if slot is None or answer is None:
            return
        item = _build_item(result, sources)
        self._maker.fill_answer(answer, item)
        self._maker.note_thinking(answer)
        answer.show_end(item)
        if result.entry:
            slot.key, slot.item = build_key(item), item
        slot.make = self._maker.make_slot(item).make
        self._let_go()

    def fail(self, info: ErrorInfo, *, is_stored: bool = True) -> None:
        """End the turn and show an error in place of the answer, or below its partial text.

        Args:
            info: the error to show.
            is_stored: whether the user message is in the log. Otherwise its widget is removed.
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
        failure = self._maker.make_loose_slot("failure", lambda: self._maker.build_failure(info))
        self._feed.append(failure)
        self._unsent = None if is_stored else failure

    def _find_answer(self, entry: str) -> AnswerItem | None:
        """Return the answer in the chat with the given entry ID, or None."""
        found = (slot.item for slot in self._feed.slots() if slot.key == ("answer", entry))
        return next((item for item in found if isinstance(item, AnswerItem)), None)

    def _get_running_answer(self) -> Answer | None:
        widget = self._slot.widget if self._slot else None
        return widget if isinstance(widget, Answer) else None

    def _let_go(self) -> None:
        """Let the feed remove the widgets of the turn, because the turn has ended."""
        for slot in (self._slot, self._asked):
            if slot is not None:
                slot.is_kept = False
                if slot.row:
                    slot.row.quiet()
        self.forget()

    def _cut(self, entry: str, *, keeps_question: bool) -> None:
        """Remove a message and all messages after it from the feed. They stay in the log.

        Args:
            entry: the entry ID of the message. If it is empty or unknown, nothing is removed.
            keeps_question: whether the message itself stays if it is a user message.
        """
        slots = self._feed.slots()
        places = [at for at, slot in enumerate(slots) if slot.key[1:2] == (entry,)]
        if not entry or not places:
            return
        first = places[0]
        if keeps_question and slots[first].kind == "user":
            first += 1
        for slot in slots[first:]:
            self._feed.remove(slot)


def _build_item(result: AskResult, sources: Sequence[Segment]) -> AnswerItem:
    answer = replace(result.answer, sources=tuple(sources))
    return AnswerItem(result.entry or "", datetime.now(UTC).isoformat(), answer)
