"""A question in words that can be searched without its chat, by a model, where that is wanted."""

import html
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from chains.cancel import CancelToken
from chains.errors import ModelError
from chains.events import Usage
from chains.llm.port import ModelEnded, ModelPort, ModelText
from chains.request.request import Means, TurnRequest
from chains.retrieval.follow_up import LastTurn
from context.assemble.request import preamble
from context.budget import room_for
from context.envelope import System
from context.errors import ContextOverflow
from context.fit.guard import PreparedRequest
from context.prompt import system_parts
from context.report.report import ContextReport
from context.side_calls import prepare_call

__all__ = ["Rewritten", "rewritten"]

PROMPT: Final = "rewrite"
MOST_TOKENS: Final = 200
MOST_CHARS: Final = 400
MOST_ANSWER_CHARS: Final = 2_000


@dataclass(frozen=True)
class Rewritten:
    """What a model made of a question.

    Attributes:
        query: what is searched; empty where it made nothing of it.
        spent: the call as it was prepared, and what the service counted of it.
        warning: why there is no query.
    """

    query: str = ""
    spent: tuple[ContextReport, Usage] | None = None
    warning: str = ""


def rewritten(
    request: TurnRequest,
    means: Means,
    last: LastTurn,
    model: Callable[[], ModelPort],
    cancel: CancelToken,
) -> Rewritten:
    """Return the question of a turn in words of its own; without them, why there are none.

    Raises:
        Cancelled: the token was cancelled.
    """
    try:
        prepared = _prepared(request, means, last)
        pieces, ended = [], ModelEnded("interrupted")
        for event in model().stream(prepared, cancel):
            if isinstance(event, ModelText):
                pieces.append(event.text)
            elif isinstance(event, ModelEnded):
                ended = event
    except (ModelError, ContextOverflow) as failure:
        return Rewritten(warning=f"The question was searched in its own words: {failure}")
    spent = None if ended.usage is None else (prepared.report, ended.usage)
    query = _line("".join(pieces)) if ended.status == "complete" else ""
    if not query:
        said = "The question was searched in its own words: the model gave no others."
        return Rewritten(spent=spent, warning=said)
    return Rewritten(query, spent)


def _prepared(request: TurnRequest, means: Means, last: LastTurn) -> PreparedRequest:
    limits = request.threshold, means.model.input_limit, request.max_output_tokens
    room = room_for(means.counter, *limits)
    system = System(system_parts(PROMPT, means.additions.prompts(PROMPT).sections))
    return prepare_call(
        preamble(system, (), means.counter),
        (),
        _framed(request.question, last),
        replace(room, reserve=min(room.reserve, MOST_TOKENS)),
        model=request.model,
        temperature=0.0,
    )


def _framed(question: str, last: LastTurn) -> str:
    answer = last.answer[:MOST_ANSWER_CHARS]
    said = html.escape(f"User: {last.asked}\n\nAssistant: {answer}", quote=False)
    asked = html.escape(question, quote=False)
    return f"<conversation>\n{said}\n</conversation>\n\n<question>\n{asked}\n</question>"


def _line(text: str) -> str:
    """Return the first line that says something, without marks around it."""
    lines = (line.strip().strip("\"“”'`*") for line in text.splitlines())
    return next((line for line in lines if line), "")[:MOST_CHARS]
