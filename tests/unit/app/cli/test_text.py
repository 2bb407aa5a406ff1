"""What is printed on a terminal."""

import pytest

from app.cli.text import call, list_edits, sources
from chains.events import CITES_NOTHING, AskResult, EditedNote, RunEdits
from chains.turn_answer import AnswerEnd, ToolStep, TurnAnswer
from context.messages import ToolCallPart


def test_the_notes_that_an_answer_changed_are_listed_with_the_way_to_undo_it() -> None:
    notes = (
        EditedNote("a.md", old_path=None, is_new=False, diff=""),
        EditedNote("b\x1b.md", old_path=None, is_new=True, diff=""),
        EditedNote("d.md", old_path="c.md", is_new=False, diff=""),
    )
    assert list(list_edits(RunEdits("12ab34cd", notes))) == [
        "",
        "Changed notes:",
        "  a.md",
        "  b\\x1b.md (new)",
        "  d.md (was c.md)",
        "Undo with: strata undo --run 12ab34cd",
    ]


def test_the_arguments_of_a_call_are_shown_as_json_whatever_they_hold() -> None:
    given = {"path": "n.md", "x": {"y": [1, None]}, "z": [{}, "ö"]}
    part = ToolCallPart("c1", "leaves__add", given)
    shown = call(ToolStep(part.id, part.name, part.arguments))
    assert shown == 'leaves__add: n.md, {"y":[1,null]}, [{},"ö"]'


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        ("One two", [CITES_NOTHING, "Interrupted. What had arrived is kept."]),
        (" \n", ["Stopped before anything arrived."]),
    ],
)
def test_a_stopped_answer_is_not_said_to_be_kept_if_nothing_arrived(
    answer: str, lines: list[str]
) -> None:
    stopped = TurnAnswer(answer, "m", AnswerEnd("interrupted"))
    place = ("12ab34cd", "1f", "2f", "vault", stopped)
    result = AskResult(*place, None, (), {"used": 1, "budget": 9})
    end = ["", "Chat 12ab34cd · m · 1 of 9 tokens"]
    assert list(sources(result)) == ["", *lines, *end]


@pytest.mark.parametrize(("model", "lines"), [("m", ["", CITES_NOTHING]), ("extractive", [])])
def test_a_message_that_quotes_nothing_is_not_said_to_cite_nothing(
    model: str, lines: list[str]
) -> None:
    answer = TurnAnswer("Nothing to look up.", model)
    place = ("12ab34cd", "1f", "2f", "vault", answer)
    result = AskResult(*place, None, (), {"used": 1, "budget": 9})
    end = ["", f"Chat 12ab34cd · {model} · 1 of 9 tokens"]
    assert list(sources(result)) == [*lines, *end]
