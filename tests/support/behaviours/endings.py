"""How answers end, and how long a server may keep its client waiting."""

import json
from itertools import pairwise

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
from tests.support.models.stage import Step, let_pass, pass_time, show, until_it_waits

SAID = "Behind the shed."
_COUNTS = usage(prompt_tokens=10, completion_tokens=5, total_tokens=15)


def _say(piece: str, shown: str) -> tuple[Step, ...]:
    """Build the steps of a piece that arrives after ten seconds."""
    return let_pass(10), text(piece), show(shown)


def _stop_after(seconds: float, shown: str, piece: str) -> tuple[Step, ...]:
    """Build the steps of a piece that arrives late, with a finish reason like each before it."""
    return show(shown), let_pass(seconds), chunk({"content": piece}, "stop")


ENDS = (
    Behaviour("[DONE] without a finish reason", (played(text(SAID), DONE),), SAID),
    Behaviour("a finish reason without [DONE]", (played(text(SAID), finish()),), SAID),
    Behaviour("a finish reason that nobody knows", (played(text(SAID), finish("eos")),), SAID),
    *(
        Behaviour(
            f"the finish reason {reason!r} in every delta",
            (
                played(
                    chunk({"content": "Behind "}, reason),
                    show("Behind "),
                    let_pass(10),
                    chunk({"content": "the shed."}, reason),
                    finish(),
                    DONE,
                ),
            ),
            SAID,
            limit_s=10,
        )
        for reason in ("null", "None", "unfinished", "")
    ),
    Behaviour(
        "the finish reason 'stop' in every delta",
        (
            played(
                chunk({"content": "Behind "}, "stop"),
                show("Behind "),
                let_pass(1),
                chunk({"content": "the "}, "stop"),
                show("Behind the "),
                let_pass(1),
                chunk({"content": "shed"}, "stop"),
                show("Behind the shed"),
                let_pass(1),
                chunk({"content": "."}, "stop"),
                DONE,
            ),
        ),
        SAID,
        limit_s=3,
    ),
    Behaviour(
        "the finish reason 'stop' in every delta, each after ten seconds",
        (
            played(
                chunk({"content": "Behind "}, "stop"),
                *(
                    step
                    for before, piece in pairwise(("Behind ", "Behind the ", "Behind the shed"))
                    for step in _stop_after(10, before, piece.removeprefix(before))
                ),
                *_stop_after(90, "Behind the shed", "."),
                DONE,
            ),
        ),
        SAID,
        limit_s=110,
    ),
    Behaviour(
        "text behind the finish reason, and more of it after half a minute",
        (
            played(
                text("Behind "),
                finish(),
                text("the "),
                show("Behind the "),
                let_pass(30),
                text("shed."),
                finish(),
                DONE,
            ),
        ),
        SAID,
        limit_s=30,
    ),
    Behaviour(
        "a cut in the text behind a finish reason",
        (played(text("Behind "), finish(), text("the shed."), ending="cut"),),
        SAID,
        "interrupted",
        "the connection was lost",
    ),
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
        "a cut before the text",
        (played(ending="cut"),),
        status="model_unavailable",
        says="the connection was lost",
        requests=3,
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
        "a connection left open behind a single delta with the finish reason",
        (played(chunk({"content": SAID}, "stop"), pass_time(20), ending="open"),),
        SAID,
        limit_s=20,
    ),
    Behaviour(
        "comments for ever behind the finish reason",
        (
            played(
                text(SAID), finish(), *(b": wait\n\n",) * 9, pass_time(2), b": x\n", ending="open"
            ),
        ),
        SAID,
        limit_s=2,
    ),
    Behaviour(
        "token counts in the second behind the finish reason",
        (
            played(
                text(SAID),
                finish(),
                until_it_waits(2),
                let_pass(1),
                _COUNTS,
                let_pass(1),
                ending="open",
            ),
        ),
        SAID,
        limit_s=2,
    ),
    Behaviour(
        "a connection left open behind [DONE]",
        (played(text(SAID), finish(), DONE, ending="open"),),
        SAID,
    ),
    Behaviour(
        "a connection left open behind a JSON document",
        (
            played(
                json.dumps(
                    {"choices": [{"message": {"content": SAID}, "finish_reason": "stop"}]}
                ).encode()
                + b"\n",
                pass_time(2),
                content_type="application/json",
                ending="open",
            ),
        ),
        SAID,
        limit_s=2,
    ),
    Behaviour(
        "silence behind the first words",
        (played(text(SAID), show(SAID), pass_time(120), ending="open"),),
        SAID,
        "interrupted",
        "it said nothing for 120 s",
        limit_s=120,
    ),
    Behaviour(
        "comments, blank lines and empty deltas behind the first words",
        (
            played(
                text(SAID),
                show(SAID),
                let_pass(119),
                b": wait\n\n\n\n",
                text("", None, []),
                chunk({}),
                chunk({"role": "assistant"}),
                let_pass(1),
                ending="open",
            ),
        ),
        SAID,
        "interrupted",
        "it said nothing for 120 s",
        limit_s=120,
    ),
    Behaviour(
        "no word at all for ten minutes",
        (played(b": reading\n\n", pass_time(600), ending="open"),),
        status="model_unavailable",
        says="it said nothing for 600 s",
        limit_s=600,
    ),
    Behaviour(
        "no headers for ten minutes",
        (played(before=(pass_time(600),), ending="open"),),
        status="model_unavailable",
        says="it said nothing for 600 s",
        limit_s=600,
    ),
    Behaviour(
        "a first word after nine minutes",
        (stream(b": reading\n\n", until_it_waits(600), let_pass(540), text(SAID)),),
        SAID,
        limit_s=540,
    ),
    Behaviour(
        "a trickle of one character in ten seconds",
        (
            played(
                text("A"),
                show("A"),
                *(step for at in range(1, 12) for step in _say("b", "A" + "b" * at)),
                let_pass(10),
                ending="open",
            ),
        ),
        "A" + "b" * 11,
        "interrupted",
        "less than 40 characters in 120 s",
        limit_s=120,
    ),
    Behaviour(
        "a slow model that says a word in ten seconds",
        (
            stream(
                text("Go "),
                show("Go "),
                *(step for at in range(1, 40) for step in _say(f"slowly{at} ", f"slowly{at} ")),
            ),
        ),
        "Go " + "".join(f"slowly{at} " for at in range(1, 40)),
        limit_s=390,
    ),
)
ENDINGS = (*ENDS, *WAITS)
