"""Single calls to a model outside of an answer: the test of a model, the title of a chat.

A title is a convenience: where no model is set, or the call fails, there is none, and the chat is
listed by its first question.
"""

import html
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from chains.errors import ModelError, ModelUnavailable
from chains.llm.port import ModelEnded, ModelSent, ModelText, ModelWaiting
from chains.models import EXTRACTIVE
from chains.prompts import TITLE_PROMPT
from chains.request.request import TurnContext
from chains.request.usage import CallUsage
from context.assemble.request import make_preamble
from context.envelope import System
from context.errors import ContextOverflow
from context.fit.guard import PreparedRequest
from context.pipeline import prepare_call
from context.prompt import make_system_parts

__all__ = ["ChatTitle", "ModelCheck", "check_model", "write_title"]

TEST_QUESTION: Final = "Answer with the word OK."
TEST_TOKENS: Final = 16
TITLE_TOKENS: Final = 64
MOST_TITLE_CHARS: Final = 80
MOST_QUOTED_CHARS: Final = 1_000


@dataclass(frozen=True)
class ModelCheck:
    """The result of a test call: which model answered, and after how many seconds."""

    model: str
    seconds: float


@dataclass(frozen=True)
class ChatTitle:
    """A title, and the usage of the call that made it."""

    text: str
    calls: tuple[CallUsage, ...] = ()


def check_model(context: TurnContext) -> ModelCheck:
    """Call the model of a turn with a few words, and wait for its answer.

    Raises:
        ModelError: the model does not answer, or the service refuses the key.
        Cancelled: the token was cancelled.
    """
    start = monotonic()
    request = _prepare(context, "", TEST_QUESTION, TEST_TOKENS)
    for event in context.open_model().stream(request, context.cancel):
        if isinstance(event, ModelSent):
            start = monotonic()  # without the time to load the client
        elif isinstance(event, ModelWaiting):  # who tests a model does not wait for later tries
            raise ModelUnavailable(context.model.host or context.model.name, reason=event.reason)
    return ModelCheck(context.request.model, monotonic() - start)


def write_title(context: TurnContext, question: str, answer: str) -> ChatTitle | None:
    """Return a title for a chat by its first question and answer, or None if there is none.

    Raises:
        Cancelled: the token was cancelled.
    """
    if context.request.model == EXTRACTIVE:
        return None
    parts = (f"User: {question[:MOST_QUOTED_CHARS]}", f"Assistant: {answer[:MOST_QUOTED_CHARS]}")
    quoted = html.escape("\n\n".join(parts), quote=False)
    pieces: list[str] = []
    calls: list[CallUsage] = []
    try:
        request = _prepare(
            context, TITLE_PROMPT, f"<conversation>\n{quoted}\n</conversation>", TITLE_TOKENS
        )
        for event in context.open_model().stream(request, context.cancel):
            if isinstance(event, ModelText):
                pieces.append(event.text)
            elif isinstance(event, ModelEnded) and event.usage is not None:
                calls.append(CallUsage(request.report, event.usage))
    except (ModelError, ContextOverflow):
        return None
    title = _clean_title("".join(pieces))
    return ChatTitle(title, tuple(calls)) if title else None


def _prepare(context: TurnContext, prompt: str, question: str, most: int) -> PreparedRequest:
    request_budget, counter = context.compute_request_budget(), context.counter
    sections = context.customization.prompts(prompt).sections if prompt else ()
    return prepare_call(
        make_preamble(System(make_system_parts(prompt, sections)), (), counter),
        (),
        question,
        replace(request_budget, reserve=min(request_budget.reserve, most)),
        model=context.request.model,
        temperature=0.0,
    )


def _clean_title(text: str) -> str:
    """Return the first line of an answer without the marks around it, or empty."""
    lines = (" ".join(line.strip(" \t#*\"“”'`.").split()) for line in text.splitlines())
    return next((line for line in lines if line), "")[:MOST_TITLE_CHARS]
