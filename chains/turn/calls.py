"""Model calls outside of an answer: testing a model, and writing a chat title.

Titles are optional. If no model is configured or the call fails, the chat is listed by its first
question.
"""

import html
import re
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from chains.errors import LedgerFailed, ModelError, ModelUnavailable
from chains.llm.incoming.answer_reader import collect_answer
from chains.llm.port import ModelSent, ModelWaiting
from chains.models import EXTRACTIVE
from chains.prompts import TITLE_PROMPT
from chains.request.open_turn import open_model, open_turn
from chains.request.turn import Turn
from chains.request.usage import CallUsage
from context.assemble.request import Request
from context.draft import make_preamble
from context.envelope import System
from context.errors import ContextOverflow
from context.pipeline import prepare_call
from context.prompt import make_system_parts

__all__ = ["ChatTitle", "ModelCheck", "check_model", "clean_title", "write_title"]

TEST_QUESTION: Final = "Answer with the word OK."
TEST_TOKENS: Final = 16
TITLE_TOKENS: Final = 64
MOST_TITLE_CHARS: Final = 60
MOST_QUOTED_CHARS: Final = 1_000
_MARKS: Final = " \t#*_\"“”„'`.<>"
_LABEL: Final = re.compile(r"^title\s*:\s*", re.IGNORECASE)
_MARKUP: Final = re.compile(r"(\*\*|`)(?P<text>[^*`]+)\1")
_CITED: Final = re.compile(r"\s+\[\d+(?:\s*,\s*\d+)*\]")


@dataclass(frozen=True)
class ModelCheck:
    """The result of a test call: the name of the model that answered, and how long it took."""

    model: str
    seconds: float


@dataclass(frozen=True)
class ChatTitle:
    """A chat title, and the usage of the model call that produced the title."""

    text: str
    calls: tuple[CallUsage, ...] = ()


def check_model(turn: Turn) -> ModelCheck:
    """Call a model with a short test message.

    Raises:
        ModelError: the model does not answer, or the service rejects the key.
        Cancelled: the token was cancelled.
    """
    turn, start = open_turn(turn), monotonic()
    prepared = _prepare(turn, System(), TEST_QUESTION, TEST_TOKENS)
    for event in open_model(turn).stream(prepared, turn.cancel):
        if isinstance(event, ModelSent):
            start = monotonic()  # without the time to load the client
        elif isinstance(event, ModelWaiting):  # who tests a model does not wait for later tries
            raise ModelUnavailable(turn.model.host or turn.model.name, reason=event.reason)
    return ModelCheck(turn.model_name, monotonic() - start)


def write_title(turn: Turn, question: str, answer: str) -> ChatTitle | None:
    """Let the model write a title for a chat, based on its first question and answer.

    Only the start of each text is sent. The title has one line of up to 60 printable characters.
    Return None if no model is configured or the call fails.

    Raises:
        Cancelled: the token was cancelled.
    """
    if turn.model_name == EXTRACTIVE:
        return None
    turn = open_turn(turn)
    sections = turn.customization.prompts(TITLE_PROMPT).sections
    system = System(make_system_parts(TITLE_PROMPT, sections))
    parts = (f"User: {question[:MOST_QUOTED_CHARS]}", f"Assistant: {answer[:MOST_QUOTED_CHARS]}")
    quoted = html.escape("\n\n".join(parts), quote=False)
    try:
        conversation = f"<conversation>\n{quoted}\n</conversation>"
        request = _prepare(turn, system, conversation, TITLE_TOKENS)
        written = collect_answer(open_model(turn).stream(request, turn.cancel))
    except (ModelError, LedgerFailed, ContextOverflow):
        return None
    usage = written.ended.usage
    calls = () if usage is None else (CallUsage(request.report, usage),)
    title = clean_title(written.text)
    return ChatTitle(title, calls) if title else None


def _prepare(turn: Turn, system: System, question: str, most_tokens: int) -> Request:
    request_budget = turn.compute_request_budget()
    return prepare_call(
        make_preamble(system, (), turn.counter),
        (),
        question,
        replace(request_budget, reserve=min(request_budget.reserve, most_tokens)),
        model=turn.model_name,
        temperature=turn.lowest_temperature,
    )


def clean_title(text: str) -> str:
    """Clean up a title: use the first line, without markup and citation numbers.

    Return an empty string if nothing is left.
    """
    for line in text.splitlines():
        plain = "".join(char if char.isprintable() else " " for char in line)
        plain = _CITED.sub("", _MARKUP.sub(r"\g<text>", plain))
        title = _LABEL.sub("", " ".join(plain.strip(_MARKS).split())).strip(_MARKS)
        if title:
            return shorten_line(title)
    return ""


def shorten_line(line: str) -> str:
    """Shorten a line to 60 characters including an ellipsis, if possible at a word's end."""
    if len(line) <= MOST_TITLE_CHARS:
        return line
    cut = line[: MOST_TITLE_CHARS - 1]
    at_word = cut[: cut.rfind(" ")] if " " in cut[MOST_TITLE_CHARS // 2 :] else cut
    return f"{at_word.rstrip()}…"
