"""How answers end, and how long a server may keep its client waiting."""

from tests.support.behaviours.behaviour import (
    DONE,
    Behaviour,
    chunk,
    finish,
    played,
    stream,
    text,
    usage,
)
from tests.support.models.stage import pass_time

SAID = "Behind the shed."
_COUNTS = usage(prompt_tokens=10, completion_tokens=5, total_tokens=15)

ENDS = (
    Behaviour("[DONE] without a finish reason", (played(text(SAID), DONE),), SAID),
    Behaviour("a finish reason without [DONE]", (played(text(SAID), finish()),), SAID),
    Behaviour("a finish reason that nobody knows", (played(text(SAID), finish("eos")),), SAID),
    Behaviour(
        "text behind the finish reason",
        (played(text("Behind "), finish(), text("the shed."), DONE),),
        SAID,
    ),
    Behaviour(
        "[DONE] and more behind it", (played(text(SAID), DONE, text(" Or not."), DONE),), SAID
    ),
    Behaviour(
        "a cut behind the finish reason", (played(text(SAID), finish(), ending="cut"),), SAID
    ),
    Behaviour(
        "a bad line behind the finish reason",
        (played(text(SAID), finish(), b"data: {\n\n", DONE),),
        SAID,
    ),
    Behaviour(
        "the length limit", (played(text(SAID), finish("length"), DONE),), SAID, says="limit"
    ),
    Behaviour(
        "a content filter at the end",
        (played(text(SAID), finish("content_filter"), DONE),),
        SAID,
        says="held a part",
    ),
    Behaviour("an empty answer", (stream(text("")),), says="empty answer"),
    Behaviour("a blank answer", (stream(text(" \n\t ")),), says="empty answer"),
    Behaviour(
        "an empty answer in an agent's turn", (stream(text("")),), says="empty answer", mode="agent"
    ),
    Behaviour("only [DONE]", (played(DONE),), says="empty answer"),
    Behaviour("no end", (played(text(SAID)),), SAID, "interrupted", "ended too early"),
    Behaviour(
        "a cut in the text",
        (played(text(SAID), ending="cut"),),
        SAID,
        "interrupted",
        "the connection was lost",
    ),
    Behaviour(
        "a cut within an event",
        (played(text(SAID), chunk({"content": "x"})[:-9], ending="cut"),),
        SAID,
        "interrupted",
        "the connection was lost",
    ),
    Behaviour(
        "a cut before the text", (played(ending="cut"),), status="model_unavailable", requests=3
    ),
)
WAITS = (
    Behaviour(
        "a connection left open behind the finish reason",
        (played(text(SAID), finish(), pass_time(2), ending="open"),),
        SAID,
        limit_s=2,
    ),
    Behaviour(
        "a connection left open behind [DONE]",
        (played(text(SAID), finish(), DONE, ending="open"),),
        SAID,
    ),
)
ENDINGS = (*ENDS,)
