"""Replies about a block of notes: what is missing or wrong has no verdict."""

import json
from typing import Any

import pytest

from chains.judge.blocks import JudgeNote, JudgePiece
from chains.judge.verdicts import Verdict, read_reply

TEXTS = (
    "# Choir\n\nI promised **Ana** a song.\n",
    "# Rain\n\nIt rained & rained.\n",
    "妹に約束した。\n",
)


def piece(text: str, first_line: int = 1, whole: str | None = None) -> JudgePiece:
    note = JudgeNote("a/N.md", "N", "v", whole or text)
    return JudgePiece(note, f"key-{text[:3]}", text, first_line, 10)


PIECES = [piece(text) for text in TEXTS]
GOOD: list[dict[str, Any]] = [
    {"n": 1, "verdict": "yes", "quote": "I promised Ana a song"},
    {"n": 2, "verdict": "no"},
    {"n": 3, "verdict": "cannot tell"},
]


def outcomes(reply: str) -> list[str]:
    return [verdict.outcome for verdict in read_reply(reply, PIECES)]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"verdicts": GOOD}),
        json.dumps(GOOD),
        f"```json\n{json.dumps({'verdicts': GOOD}, indent=1)}\n```\nDone [1].",
        "Here {it} is: " + json.dumps({"verdicts": [*GOOD, GOOD[1]]}),
        json.dumps(
            [{**one, "n": str(one["n"]), "verdict": one["verdict"].upper()} for one in GOOD]
        ),
    ],
)
def test_a_reply_is_read_in_any_wrapping(reply: str) -> None:
    assert outcomes(reply) == ["yes", "no", "cannot_tell"]


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        (GOOD[1:], ["failed", "no", "cannot_tell"]),
        ([*GOOD, {"n": 4, "verdict": "no"}], ["failed"] * 3),
        ([{**one, "n": one["n"] - 1} for one in GOOD], ["failed"] * 3),
        ([{**one, "n": "first"} for one in GOOD], ["failed"] * 3),
        ([*GOOD, {"n": 2, "verdict": "yes", "quote": "rained"}], ["yes", "failed", "cannot_tell"]),
        ([{"n": n, "verdict": "yes"} for n in (1, 2, 3)], ["failed"] * 3),
        ([{"n": n, "verdict": "yes", "quote": " … "} for n in (1, 2, 3)], ["failed"] * 3),
        (
            [{"n": n, "verdict": "yes", "quote": "It rained"} for n in (1, 2, 3)],
            ["failed", "yes", "failed"],
        ),
        ([{"n": n, "verdict": "maybe"} for n in (1, 2, 3)], ["failed"] * 3),
        ([{"n": 1}, {"n": 2, "verdict": None}, {"n": 3, "verdict": ["no"]}], ["failed"] * 3),
        ([{"n": 3, "verdict": "yes", "quote": "妹に約束した"}], ["failed", "failed", "yes"]),
        ([{"n": True, "verdict": "no"}, *GOOD], ["failed"] * 3),
    ],
)
def test_what_is_missing_or_wrong_has_no_verdict(
    entries: list[dict[str, Any]], found: list[str]
) -> None:
    assert outcomes(json.dumps({"verdicts": entries})) == found


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Yes, all of them.",
        "{",
        "[[[[[[[[",
        '{"verdicts": []}',
        '{"verdicts": 3}',
        "[1, 2, 3]",
        '{"verdicts": [{"n": 1, "verdict": "no"}',
        "[" * 100_000,
    ],
)
def test_no_verdict_is_guessed_from_a_reply_that_is_no_json(reply: str) -> None:
    assert outcomes(reply) == ["failed"] * 3


@pytest.mark.parametrize("end", ["", "]", "]}]", "]} Done."])
@pytest.mark.parametrize(
    "start", ['{"verdicts": ', '{"question": "x", "verdicts":\n', "```json\n{"]
)
def test_a_whole_list_counts_without_the_brace_around_it(start: str, end: str) -> None:
    entries = [{"n": n, "verdict": "no"} for n in (1, 2, 3)]
    assert outcomes(start + json.dumps(entries) + end) == ["no"] * 3
    assert outcomes(start + json.dumps(entries)[:-1] + end.lstrip("]")) == ["failed"] * 3


def test_a_quotation_is_placed_in_the_whole_note() -> None:
    whole = "One.\nTwo words here.\nThree.\nTwo words here.\n"
    part = piece("Three.\nTwo words here.\n", 3, whole)
    reply = json.dumps([{"n": 1, "verdict": "yes", "quote": "words here"}])
    (verdict,) = read_reply(reply, [part])
    assert verdict.place is not None
    assert (verdict.place.lines, verdict.place.cut(whole)) == ((4, 4), "words here")


def test_escapes_of_the_request_are_found_in_the_note() -> None:
    reply = json.dumps([{"n": 2, "verdict": "yes", "quote": "rained &amp; rained"}])
    assert read_reply(reply, PIECES)[1].outcome == "yes"
    assert isinstance(read_reply(reply, PIECES)[0], Verdict)


HIDDEN = """---
status: done today
---
# A heading

The first paragraph, with 24.6 % of it.

- milk
- bread and a

| one | two |
|---|---|
| Anna Berg | Ben |

Kept ~~struck out words~~ here. %%hidden comment text%% <!-- not shown either -->
"""


@pytest.mark.parametrize(
    ("quote", "is_proof"),
    [
        ("A heading The first", False),
        ("milk bread", False),
        ("one two", False),
        ("Anna Berg Ben", False),
        ("| Anna Berg | Ben |", True),
        ("Anna Berg", True),
        ("a", False),
        ("6", False),
        ("6 % of it", False),
        ("24.6 %", True),
        ("struck out words", False),
        ("hidden comment text", False),
        ("not shown either", False),
        ("status", False),
        ("done today", True),
        ("milk", True),
        ("paragraph", False),
        ("The first paragraph", True),
    ],
)
def test_a_quotation_proves_a_yes_only_if_the_note_says_it(quote: str, is_proof: bool) -> None:
    reply = json.dumps([{"n": 1, "verdict": "yes", "quote": quote}])
    (verdict,) = read_reply(reply, [piece(HIDDEN)])
    assert verdict.outcome == ("yes" if is_proof else "failed")
    assert verdict.place is None or quote.strip("| ") in verdict.place.cut(HIDDEN)
