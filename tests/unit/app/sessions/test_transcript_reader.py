from dataclasses import replace
from typing import Any

import pytest

from app.cli import text
from app.sessions.transcript import AnswerItem, DroppedItem, HookChangeItem, SummaryItem, UserItem
from app.sessions.transcript_reader import build_transcript
from chains.request.ask import Selection
from chains.tools.registry import ToolRun
from context.compaction import HEAD
from context.history.turns import CONTINUATION
from context.layers import Layer, Segment
from context.log.entries import (
    CustomMessageEntry,
    DropEntry,
    Entry,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    SegmentsEntry,
    TransformEntry,
    parse_entry,
)
from context.messages import Message, TextPart, ToolCallPart, ToolResultPart, list_tool_calls
from context.report.report import Compaction

TIME = "2026-01-01T10:00:{:02d}.000Z"


def turn(number: int, answer: str = "Yes.", note: str = "") -> list[Entry]:
    """Make the entries of one turn."""
    name, parent = f"t{number}", f"{number - 1}a" if number > 1 else None
    segment = Segment.build(
        id=f"p{number}",
        layer=Layer.L3,
        kind="passage",
        source="Watering.md",
        text=note or "Water the beds before eight in the morning.",
        lines=(5, 5),
        number=1,
    )
    return [
        SegmentsEntry(f"{number}s", parent, TIME.format(0), name, (segment,)),
        MessageEntry(
            f"{number}q", f"{number}s", TIME.format(0), Message("user", f"Question {number}?"), name
        ),
        MessageEntry(
            f"{number}a",
            f"{number}q",
            TIME.format(7),
            Message("assistant", answer),
            name,
            model="m",
            status="complete",
        ),
    ]


def kinds(path: list[Entry], report: dict[str, Any] | None = None) -> list[str]:
    return [type(item).__name__ for item in build_transcript("t", path, report).items]


def test_an_answer_with_a_status_of_another_program_shows_its_text_and_the_status() -> None:
    segments, question, answer = turn(1)
    stored = {**answer.to_dict(), "status": "paused  " + "\u202e" * 90, "reason": "Low power."}
    _, shown = build_transcript("t", [segments, question, parse_entry(stored)], None).items
    assert isinstance(shown, AnswerItem)
    assert shown.text == "Yes."
    assert "unknown status “paused" in shown.answer.ending
    assert shown.answer.ending.endswith(": Low power.")
    assert len(shown.answer.ending) < 140


def test_questions_and_answers_come_in_order() -> None:
    chat = build_transcript("Title", [*turn(1), *turn(2)], None)
    assert chat.title == "Title"
    assert [item.text for item in chat.items if not isinstance(item, DroppedItem)] == [
        "Question 1?",
        "Yes.",
        "Question 2?",
        "Yes.",
    ]


def test_an_answer_brings_its_sources_its_model_and_its_time() -> None:
    path = turn(1)
    assert isinstance(path[-1], MessageEntry)
    answer = build_transcript("t", [*path[:-1], replace(path[-1], seconds=7.0)], None).items[1]
    assert isinstance(answer, AnswerItem)
    assert [segment.source for segment in answer.answer.sources] == ["Watering.md"]
    found = answer.answer
    assert (found.model, found.end.status, found.seconds) == ("m", "complete", 7.0)


def test_citations_are_checked_against_what_was_sent_then() -> None:
    text = 'Early [1]: "Water the beds before eight" [1]. "Never water" [1]. Late [7].'
    answer = build_transcript("t", turn(1, text), None).items[1]
    assert isinstance(answer, AnswerItem)
    checked = answer.answer.checked
    assert "Water the beds before eight" in [c.quote for c in checked.citations if c.verified]
    assert {claim.quote or claim.n for claim in checked.unverified} == {"Never water", 7}


def test_a_question_without_an_answer_stands_alone() -> None:
    path = turn(1)[:2]
    assert kinds(path) == ["UserItem"]
    assert isinstance(build_transcript("t", path, None).items[0], UserItem)


def test_a_duration_that_was_not_stored_is_not_derived_from_the_times() -> None:
    answer = build_transcript("t", turn(1), None).items[1]
    assert isinstance(answer, AnswerItem)
    assert answer.answer.seconds is None


def left_out(entries: list[str], turns: int, tokens: int, reason: str = "room") -> dict[str, Any]:
    return {"layer": "L4", "entries": entries, "turns": turns, "tokens": tokens, "reason": reason}


def test_what_the_last_request_left_out_is_said_above_the_oldest_turn_it_held() -> None:
    path = [*turn(1), *turn(2), *turn(3)]
    report = {"dropped": [left_out(["1s", "1q", "1a", "2s", "2q", "2a"], 2, 90)]}
    chat = build_transcript("t", path, report)
    assert kinds(path, report) == [
        "UserItem",
        "AnswerItem",
        "UserItem",
        "AnswerItem",
        "DroppedItem",
        "UserItem",
        "AnswerItem",
    ]
    assert chat.items[4] == DroppedItem(turns=2, tokens=90, reason="room")


def test_two_reasons_make_one_line() -> None:
    path = [*turn(1), *turn(2), *turn(3)]
    report = {"dropped": [left_out(["1q", "1a"], 1, 40), left_out(["2q", "2a"], 1, 50, "tail")]}
    assert DroppedItem(2, 90, "tail") in build_transcript("t", path, report).items


def test_what_else_was_left_out_draws_no_line() -> None:
    shortened = {**left_out(["1a"], 0, 9, "shortened")}
    passage = {**left_out(["p1"], 0, 9, "share"), "layer": "L3"}
    assert "DroppedItem" not in kinds([*turn(1), *turn(2)], {"dropped": [shortened, passage]})


def test_where_the_report_is_gone_the_log_says_what_was_cut() -> None:
    drop = DropEntry("d", "2a", TIME.format(9), "2s", 100, 60, "room")
    chat = build_transcript("t", [*turn(1), *turn(2), drop], None)
    assert chat.items[2] == DroppedItem(turns=1, tokens=40, reason="room")


def item_of(log: list[Entry], entry: str) -> Any:
    """Return what is shown of an entry."""
    return next(i for i in build_transcript("t", log, None).items if i.entry == entry)


def agent_turn() -> list[Entry]:
    """A question, two calls side by side, their results with what is kept of them, an answer."""
    calls = (
        ToolCallPart("c1", "search_notes", {"query": "water"}),
        ToolCallPart("c2", "read_note", {"path": "Gone.md"}),
    )
    found = Segment.build(
        id="p1",
        layer=Layer.L3,
        kind="passage",
        source="Watering.md",
        text="Water the beds before eight in the morning.",
        lines=(5, 5),
        number=1,
    )

    def said(id: str, parent: str | None, role: Any, content: Any, **fields: Any) -> MessageEntry:
        return MessageEntry(id, parent, TIME.format(0), Message(role, content), "t1", **fields)

    error = ToolResultPart("c2", "Error: gone", is_error=True)
    return [
        said("q", None, "user", "When?"),
        said("c", "q", "assistant", calls, model="m"),
        said("r2", "c", "tool", (error,)),
        ToolRun("c2", "error", 0.25).to_entry("x2", "r2", TIME.format(1)),
        said("r1", "r2", "tool", (ToolResultPart("c1", "Water " * 1_000),)),
        ToolRun("c1", "ok", 1.5, "r77", (found,)).to_entry("x1", "r1", TIME.format(1)),
        said("a", "r1", "assistant", "Early [1].", model="m", status="complete"),
    ]


def test_an_answer_with_tools_shows_its_steps_and_opens_what_they_read() -> None:
    answer = item_of(agent_turn(), "a")
    search, read = answer.answer.steps
    assert (search.name, search.arguments["query"], search.status) == (
        "search_notes",
        "water",
        "ok",
    )
    assert (search.seconds, search.ref_id, len(search.text)) == (1.5, "r77", 2_000)
    assert (read.id, read.status, read.seconds, read.text) == ("c2", "error", 0.25, "Error: gone")
    assert [citation.path for citation in answer.answer.checked.citations] == ["Watering.md"]
    assert answer.answer.checked.unverified == ()
    assert [source.number for source in answer.answer.sources] == [1]


def test_an_answer_at_the_limit_of_steps_says_so() -> None:
    *before, last = agent_turn()
    assert isinstance(last, MessageEntry)
    limited = replace(last, status="limit")
    answer = item_of([*before, limited], "a")
    assert answer.answer.ending == "Stopped after 2 steps. This is the answer from what was found."
    empty = replace(limited, message=Message("assistant", ""), reason="The model gave nothing.")
    answer = item_of([*before, empty], "a")
    assert answer.answer.ending == "Stopped after 2 steps. The model gave nothing."


def move_content_up(entry: Entry) -> Entry:
    """Return a custom entry as older versions wrote it, with its fields beside the type."""
    data: dict[str, Any] = entry.to_dict()
    return parse_entry({**data.pop("content"), **data}) if entry.type == "custom" else entry


def test_the_run_of_a_tool_is_kept_as_the_content_of_a_custom_entry() -> None:
    run: dict[str, Any] = agent_turn()[-2].to_dict()
    assert (run["type"], run["customType"], run["parentId"]) == ("custom", "tool_run", "r1")
    content = run["content"]
    assert (content["callId"], content["result"], content["status"]) == ("c1", "r1", "ok")
    assert content["refId"] == "r77"


def test_runs_of_tools_in_older_logs_are_read() -> None:
    log = agent_turn()
    assert item_of([move_content_up(entry) for entry in log], "a") == item_of(log, "a")


def test_what_was_said_before_a_tool_stands_with_the_first_step_after_it() -> None:
    log = agent_turn()
    called = log[1]
    assert isinstance(called, MessageEntry)
    words = TextPart(" I look it up. ")
    log[1] = replace(
        called, message=replace(called.message, content=(words, *list_tool_calls(called.message)))
    )
    answer = item_of(log, "a")
    assert [step.text_before for step in answer.answer.steps] == ["I look it up.", ""]
    assert answer.text == "Early [1]."


def test_steps_of_a_turn_that_broke_off_are_shown() -> None:
    *begun, _ = agent_turn()
    answer = item_of(begun, "r1")
    assert (answer.text, answer.answer.end.status, answer.answer.model) == ("", "interrupted", "m")
    assert [step.status for step in answer.answer.steps] == ["ok", "error"]
    called = item_of(begun[:2], "c")
    assert [(step.status, step.seconds, step.text) for step in called.answer.steps] == [
        ("error", None, ""),
        ("error", None, ""),
    ]


def test_alternatives_are_named_by_what_is_shown_of_them() -> None:
    one, again = (
        agent_turn(),
        MessageEntry(
            "b", "q", TIME.format(3), Message("assistant", "Late."), "t1", status="complete"
        ),
    )
    reworded = MessageEntry("p", None, TIME.format(4), Message("user", "At what time?"), "t2")
    assert item_of([*one, again], "b").siblings == ("a", "b")
    assert item_of([*one, again, LeafEntry("l", "a", "", "a")], "a").siblings == ("a", "b")
    assert item_of([*one, again, reworded], "p").siblings == ("q", "p")
    assert item_of(one, "q").siblings == ("q",)


def test_the_last_name_of_an_entry_counts() -> None:
    labels = [LabelEntry(f"l{n}", "q", "", "q", name) for n, name in enumerate(("old", "new"))]
    assert item_of([*agent_turn(), *labels], "q").label == "new"
    off = LabelEntry("l3", "q", "", "q", None)
    assert item_of([*agent_turn(), *labels, off], "q").label == ""


def test_a_summary_stands_above_the_first_turn_that_is_sent_as_it_was() -> None:
    operation = {
        "op": "compaction_apply",
        "scope": "cached",
        "summary": "They watered.",
        "firstKeptEntryId": "2q",
        "tokensBefore": 900,
        "tokensAfter": 90,
        "by": "outline",
        "invalidateCacheReason": "compaction",
    }
    display = {"title": "Compacted", "summary": "900 → 90 tokens", "markdown": "They watered."}
    compaction = TransformEntry("k", "2a", TIME.format(9), "compaction", (operation,), display)
    log = [*turn(1), *turn(2), compaction]
    items = build_transcript("t", log, None).items
    assert items[2] == SummaryItem(Compaction("k", "2q", 900, 90, "outline"), "They watered.")
    assert not any(isinstance(item, HookChangeItem) for item in items)  # which would tell it twice
    lost = replace(compaction, patch=({**operation, "firstKeptEntryId": "gone"},))
    assert isinstance(build_transcript("t", [*turn(1), lost], None).items[-1], SummaryItem)


@pytest.mark.parametrize(
    ("reasons", "by", "sentence"),
    [
        ((), "model", "Earlier messages summarised"),
        (("room",), "model", "Earlier messages summarised"),
        (("summary",), "model", "Summary left out of the last request"),
        (("summary",), "outline", "Outline left out of the last request"),
        (("summary_shortened",), "model", "Summary shortened in the last request"),
        (
            ("summary", "summary_shortened"),
            "model",
            "Summary left out of the last request",
        ),
    ],
)
def test_a_summary_says_whether_the_last_request_held_it(
    reasons: tuple[str, ...], by: str, sentence: str
) -> None:
    made = {
        "op": "compaction_apply",
        "summary": "They watered.",
        "firstKeptEntryId": "2q",
        "tokensBefore": 900,
        "tokensAfter": 90,
        "by": by,
    }
    log = [*turn(1), *turn(2), TransformEntry("k", "2a", TIME.format(9), "compaction", (made,))]
    report = {"dropped": [left_out(["k"], 0, 90, reason) for reason in reasons]}
    (found,) = (i for i in build_transcript("t", log, report).items if isinstance(i, SummaryItem))
    assert found.sentence == sentence
    (said,) = (
        line for line in text.transcript(build_transcript("t", log, report)) if "(k)" in line
    )
    assert (sentence in said) == bool(found.change)
    another = {"dropped": [left_out(["j"], 0, 90, "summary")]}
    (found,) = (i for i in build_transcript("t", log, another).items if isinstance(i, SummaryItem))
    assert found.change == ""


def test_an_edited_summary_is_shown_with_its_new_figures() -> None:
    made = {
        "op": "compaction_apply",
        "summary": "They watered.",
        "firstKeptEntryId": "2q",
        "tokensBefore": 900,
        "tokensAfter": 90,
    }
    change = {
        "op": "message_replace",
        "entryId": "k",
        "parts": f"{HEAD}\nThey dug.",
        "tokensAfter": 88,
    }
    compaction = TransformEntry("k", "2a", TIME.format(9), "compaction", (made,))
    edit = TransformEntry("l", "k", TIME.format(9), "summary_edit", (change,), {"title": "Edited"})
    later = replace(compaction, id="m", patch=({**made, "summary": "Both.", "tokensAfter": 20},))
    items = build_transcript("t", [*turn(1), *turn(2), compaction, edit], None).items
    edited = Compaction("k", "2q", 900, 88, "model", edited=True)
    assert SummaryItem(edited, "They dug.") in items
    assert not any(isinstance(item, HookChangeItem) for item in items)
    items = build_transcript("t", [*turn(1), *turn(2), compaction, edit, later], None).items
    found = [item for item in items if isinstance(item, SummaryItem)]
    assert [(item.entry, item.is_in_use) for item in found] == [("m", True)]


def test_a_change_by_a_hook_stands_below_its_turn_where_it_wants_to_be_seen() -> None:
    display = {"title": "Redaction", "summary": "Removed secrets", "markdown": 7}
    seen = TransformEntry("k", "1q", TIME.format(1), "redact", (), display)
    unseen = TransformEntry("l", "k", TIME.format(1), "silent", ())
    *asked, answered = turn(1)
    assert isinstance(answered, MessageEntry)
    log = [*asked, seen, unseen, replace(answered, parent_id="l"), *turn(2)]
    items = build_transcript("t", log, None).items
    assert items[2] == HookChangeItem("k", "redact", "Redaction", "Removed secrets")
    assert kinds(log) == ["UserItem", "AnswerItem", "HookChangeItem", "UserItem", "AnswerItem"]


def test_a_question_tells_its_mode_and_what_was_named() -> None:
    asked = MessageEntry(
        "q",
        None,
        TIME.format(0),
        Message("user", "?"),
        "t1",
        extra={
            "mode": "agent",
            "attach": ["Beans.md"],
            "selections": [{"path": "a.md", "first": 1, "last": 2}, {"path": 7}, "x"],
        },
    )
    item = item_of([asked], "q")
    assert (item.mode, item.attach) == ("agent", ("Beans.md",))
    assert item.selections == (Selection("a.md", 1, 2),)
    odd = replace(asked, extra={"mode": "later", "attach": "x", "selections": 3})
    item = item_of([odd], "q")
    assert (item.mode, item.attach, item.selections) == (None, (), ())


def test_an_answer_that_was_continued_is_one_answer() -> None:
    *before, broken = turn(1, "Water [1] them")
    assert isinstance(broken, MessageEntry)
    broken = replace(broken, status="interrupted", seconds=3.0)
    asked = CustomMessageEntry(
        "1c", "1a", TIME.format(8), CONTINUATION, Message("user", "Go on."), display=False
    )
    rest = replace(broken, id="1r", parent_id="1c", message=Message("assistant", "early [1]."))
    rest = replace(rest, status="complete", seconds=2.0)
    (answer,) = answers([*before, broken])
    assert (answer.answer.end.status, answer.can_continue) == ("interrupted", True)
    (answer,) = answers([*before, broken, asked, rest])
    assert (answer.entry, answer.text) == ("1r", "Water [1] them early [1].")
    assert (answer.answer.end.status, answer.can_continue) == ("complete", False)
    assert answer.answer.seconds == 5.0
    failed = replace(rest, message=Message("assistant", ""), status="error", reason="No key")
    (answer,) = answers([*before, broken, asked, failed])
    assert (answer.text, answer.answer.end.status) == ("Water [1] them", "interrupted")
    assert answer.answer.ending == "The answer broke off: No key. What had arrived is kept."
    assert answer.can_continue


def test_only_the_last_answer_that_a_model_wrote_can_be_continued() -> None:
    *before, broken = turn(1, "Half")
    assert isinstance(broken, MessageEntry)
    broken = replace(broken, status="interrupted")
    assert not any(one.can_continue for one in answers([*before, broken, *turn(2)]))
    quoted = replace(broken, model="extractive")
    assert not any(one.can_continue for one in answers([*before, quoted]))
    empty = replace(broken, message=Message("assistant", " "))
    assert not any(one.can_continue for one in answers([*before, empty]))


def answers(path: list[Entry]) -> list[AnswerItem]:
    items = build_transcript("t", path, None).items
    return [item for item in items if isinstance(item, AnswerItem)]
