"""Write the summary of turns with a model.

If the chat's own model writes the summary, the call repeats the start of the session's last
request, which the provider has cached, followed by the text that was trimmed. Any other model
receives the turns as text. If they are too long, it summarises them in pieces, and then summarises
those summaries.

Reasons: ARCHITECTURE.md, "Compaction".
"""

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chains.cancel import CancelToken
from chains.errors import ModelError
from chains.llm.incoming.answer_reader import collect_answer
from chains.llm.port import ModelPort
from chains.prompts import CallSetup
from chains.request.usage import CallUsage, LogUsage
from context.assemble.inputs import SummaryTask
from context.assemble.request import Request
from context.draft import Preamble
from context.errors import ContextOverflow, SummaryFailed, SummaryRefused
from context.history.outline import render_turn
from context.history.turns import MeasuredTurn

__all__ = ["Summariser"]

WORDS_PER_TOKEN: Final = 0.6
MOST_ROUNDS: Final = 6
PIECE_SHARE: Final = 0.98  # joined parts may have slightly more tokens than their sum
_AGAIN: Final = (
    "Your last attempt could not be used: {refusal} Call no tool and announce nothing. Write the "
    "summary itself, with the names, numbers and paths of the conversation."
)


@dataclass
class Summariser:
    """Summarises turns with a model.

    Attributes:
        setup: what the calls share.
        model: the port that calls the model.
        log_usage: records the usage of each call.
    """

    setup: CallSetup
    model: ModelPort
    cancel: CancelToken
    log_usage: LogUsage

    def __call__(self, task: SummaryTask) -> str:
        """Summarise the turns of a task.

        Raises:
            SummaryFailed: the model returned no summary.
            Cancelled: the token was cancelled.
        """
        try:
            if task.continues and task.model == self.setup.model:
                return self._continue_session(task)
            return self._sum_up(task)
        except (ModelError, ContextOverflow) as failure:
            raise SummaryFailed(f"No summary could be made: {failure}") from failure

    def _continue_session(self, task: SummaryTask) -> str:
        """Ask for the summary in a message that follows the session's last request."""
        prompt = [section.render() for section in self.setup.sections]
        wanted = _write_task(task, "the conversation up to here")
        question = "\n\n".join([*prompt, *_list_shortened(task), wanted])
        try:
            return self._ask(task, task.preamble, task.sent, question)
        except ContextOverflow:
            return self._sum_up(task)

    def _sum_up(self, task: SummaryTask) -> str:
        texts = [text for turn in task.full_turns for text in render_turn(turn)]
        bare = self.setup.preamble
        for _ in range(MOST_ROUNDS):
            pieces = self._join_texts(texts, task, bare)
            texts = [
                self._ask(task, bare, (), _frame_conversation(piece, task)) for piece in pieces
            ]
            if len(texts) == 1:
                return texts[0]
        raise SummaryFailed("The conversation is too long to be summed up.")

    def _join_texts(self, texts: Iterable[str], task: SummaryTask, bare: Preamble) -> list[str]:
        """Join texts into as few pieces as possible, each small enough for one call."""
        counter = self.setup.counter
        frame = counter.count(_frame_conversation("", task)) + counter.message_overhead
        most = int((self.setup.request_budget.budget - bare.system_tokens - frame) * PIECE_SHARE)
        pieces: list[str] = []
        tokens = 0
        for text in (part for whole in texts for part in self._halve(whole, most)):
            size = counter.count(html.escape(text, quote=False)) + 2
            if pieces and tokens + size <= most:
                pieces[-1] += f"\n\n{text}"
                tokens += size
            else:
                pieces.append(text)
                tokens = size
        return pieces

    def _halve(self, text: str, most: int) -> Iterator[str]:
        """Halve a text repeatedly until each piece has at most `most` tokens."""
        if most < 1:
            raise SummaryFailed("The budget has no room for making a summary.")
        if len(text) < 2 or self.setup.counter.count(html.escape(text, quote=False)) + 2 <= most:
            yield text
            return
        middle = len(text) // 2
        at = text.rfind("\n", 0, middle) + 1 or middle
        yield from self._halve(text[:at], most)
        yield from self._halve(text[at:], most)

    def _ask(
        self, task: SummaryTask, start: Preamble, turns: Sequence[MeasuredTurn], question: str
    ) -> str:
        request = self.setup.prepare(question, start=start, history=turns, session=task.session)
        text = self._answer(request)
        if not text.strip():
            raise SummaryRefused("The model gave no summary.")
        return text

    def _answer(self, request: Request) -> str:
        """Return the model's text.

        Raises:
            SummaryRefused: the text is incomplete, or the model called a tool in its place.
        """
        answer = collect_answer(self.model.stream(request, self.cancel))
        if answer.ended.usage is not None:
            self.log_usage(CallUsage(request.report, answer.ended.usage))
        if answer.ended.status == "interrupted":
            raise SummaryFailed(f"The summary broke off: {answer.ended.reason}.")
        if answer.ended.finish == "length":
            raise SummaryRefused("The summary was cut at its length limit.")
        if answer.has_calls:
            raise SummaryRefused("The model called a tool in place of a summary.")
        return answer.text


def _frame_conversation(conversation: str, task: SummaryTask) -> str:
    text = html.escape(conversation, quote=False)
    return f"<conversation>\n{text}\n</conversation>\n\n{_write_task(task, 'this conversation')}"


def _list_shortened(task: SummaryTask) -> Iterator[str]:
    """Yield the full text of the messages that the request contains only in shortened form."""
    if texts := [text for turn in task.shortened for text in render_turn(turn)]:
        text = html.escape("\n\n".join(texts), quote=False)
        yield f"What is shortened above was, in full:\n\n<shortened>\n{text}\n</shortened>"


def _write_task(task: SummaryTask, what: str) -> str:
    words = max(20, int(task.most_tokens * WORDS_PER_TOKEN))
    more = f" {task.instructions.strip()}" if task.instructions.strip() else ""
    retry = f" {_AGAIN.format(refusal=task.refusal)}" if task.refusal else ""
    return f"Write down what has to be remembered of {what}, in at most {words} words.{more}{retry}"
