"""Summaries of old turns by a model, from what was said and not from what was trimmed of it.

Where the chat's own model makes it, the call begins as the chat's last request did, so that the
provider has that at hand, and tells in full what was shortened of it. Elsewhere the turns are sent
as text; what exceeds the budget is summed up in pieces, and then the pieces' summaries.

Source: "Context Engineering Optimization", 3.2; "Token Budget Enforcement", "Guiding Principles".
"""

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chains.cancel import CancelToken
from chains.errors import ModelError
from chains.llm.port import ModelEnded, ModelPort, ModelText
from chains.request.usage import Spend
from context.assemble.inputs import SummaryTask
from context.assemble.request import Preamble, preamble
from context.budget import Room
from context.envelope import System
from context.errors import ContextOverflow, SummaryFailed
from context.fit.guard import PreparedRequest
from context.history.measured_turn import MeasuredTurn
from context.messages import Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from context.prompt import PromptSection, system_parts
from context.side_calls import prepare_call
from context.tokens import TokenCounter

__all__ = ["Summarizer"]

PROMPT: Final = "summary"
WORDS_PER_TOKEN: Final = 0.6
MOST_ROUNDS: Final = 6
PIECE_SHARE: Final = 0.98  # parts may count a little more together than one by one
_SPEAKERS: Final = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System"}


@dataclass
class Summarizer:
    """Makes summaries with one model; `context.fit.summaries.Summarise`.

    Attributes:
        name: the model, as the chat would name it.
        model: returns who is asked.
        room: the budget of the model's requests.
        sections: the prompt.
        spend: takes note of what the service counted of each call.
    """

    name: str
    model: Callable[[], ModelPort]
    counter: TokenCounter
    room: Room
    sections: Sequence[PromptSection]
    cancel: CancelToken
    spend: Spend
    temperature: float = 0.0
    takes_marks: bool = False

    def __call__(self, task: SummaryTask) -> str:
        """Return a summary.

        Raises:
            SummaryFailed: the model made none.
            Cancelled: the token was cancelled.
        """
        try:
            if task.continues and task.model == self.name:
                return self._continue(task)
            return self._sum_up(task)
        except (ModelError, ContextOverflow) as failure:
            raise SummaryFailed(f"No summary could be made: {failure}") from failure

    def _continue(self, task: SummaryTask) -> str:
        """Ask behind the turns as the chat has them already."""
        asked = [section.render() for section in self.sections]
        wanted = _wanted(task, "the conversation up to here")
        question = "\n\n".join([*asked, *_told_in_full(task), wanted])
        try:
            return self._ask(task, task.preamble, task.sent, question)
        except ContextOverflow:
            return self._sum_up(task)

    def _sum_up(self, task: SummaryTask) -> str:
        texts = [text for turn in task.said for text in _lines(turn)]
        bare = preamble(System(system_parts(PROMPT, self.sections)), (), self.counter)
        for _ in range(MOST_ROUNDS):
            pieces = self._pieces(texts, task, bare)
            texts = [self._ask(task, bare, (), _asked(piece, task)) for piece in pieces]
            if len(texts) == 1:
                return texts[0]
        raise SummaryFailed("The conversation is too long to be summed up.")

    def _pieces(self, texts: Iterable[str], task: SummaryTask, bare: Preamble) -> list[str]:
        """Pack texts into as few pieces as fit a call each; nothing is left out."""
        frame = self.counter.count(_asked("", task)) + self.counter.message_overhead
        most = int((self.room.budget - bare.system_tokens - frame) * PIECE_SHARE)
        pieces: list[str] = []
        tokens = 0
        for text in (part for whole in texts for part in self._cut(whole, most)):
            size = self.counter.count(html.escape(text, quote=False)) + 2
            if pieces and tokens + size <= most:
                pieces[-1] += f"\n\n{text}"
                tokens += size
            else:
                pieces.append(text)
                tokens = size
        return pieces

    def _cut(self, text: str, most: int) -> Iterator[str]:
        """Halve a text until each part fits."""
        if most < 1:
            raise SummaryFailed("The budget has no room for making a summary.")
        if len(text) < 2 or self.counter.count(html.escape(text, quote=False)) + 2 <= most:
            yield text
            return
        middle = len(text) // 2
        at = text.rfind("\n", 0, middle) + 1 or middle
        yield from self._cut(text[:at], most)
        yield from self._cut(text[at:], most)

    def _ask(
        self, task: SummaryTask, start: Preamble, turns: Sequence[MeasuredTurn], question: str
    ) -> str:
        request = prepare_call(
            start,
            turns,
            question,
            self.room,
            model=self.name,
            session=task.session,
            temperature=self.temperature,
            takes_marks=self.takes_marks,
        )
        text = self._answer(request)
        if not text.strip():
            raise SummaryFailed("The model gave no summary.")
        return text

    def _answer(self, request: PreparedRequest) -> str:
        pieces = []
        for event in self.model().stream(request, self.cancel):
            if isinstance(event, ModelText):
                pieces.append(event.text)
            elif isinstance(event, ModelEnded):
                if event.usage is not None:
                    self.spend(request.report, event.usage)
                if event.status == "interrupted":
                    raise SummaryFailed(f"The summary broke off: {event.reason}.")
        return "".join(pieces)


def _asked(conversation: str, task: SummaryTask) -> str:
    text = html.escape(conversation, quote=False)
    return f"<conversation>\n{text}\n</conversation>\n\n{_wanted(task, 'this conversation')}"


def _told_in_full(task: SummaryTask) -> Iterator[str]:
    """What stands as `[trimmed]` or as a number of lines in the conversation."""
    if texts := [text for turn in task.shortened for text in _lines(turn)]:
        text = html.escape("\n\n".join(texts), quote=False)
        yield f"What is shortened above was, in full:\n\n<shortened>\n{text}\n</shortened>"


def _wanted(task: SummaryTask, what: str) -> str:
    words = max(20, int(task.most_tokens * WORDS_PER_TOKEN))
    more = f" {task.instructions.strip()}" if task.instructions.strip() else ""
    return f"Write down what has to be remembered of {what}, in at most {words} words.{more}"


def _lines(turn: MeasuredTurn) -> Iterator[str]:
    for message in turn.messages:
        yield f"{_SPEAKERS[message.role]}: {_text(message)}"
    if names := dict.fromkeys(segment.source for segment in turn.turn.segments):
        yield f"Notes that were sent along: {', '.join(names)}"


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = []
    for part in message.content:
        if isinstance(part, TextPart | ReasoningPart):
            texts.append(part.text)
        elif isinstance(part, ToolCallPart):
            texts.append(f"[calls {part.name} with {part.arguments_json}]")
        elif isinstance(part, ToolResultPart):
            texts.append(part.content)
        else:
            texts.append("[a picture]")
    return "\n".join(texts)
