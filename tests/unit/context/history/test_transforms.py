"""Transforms of a path, replayed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.envelope import ContextEnvelope, Messages, System, SystemPart
from context.history.replay import replay, replay_path
from context.history.turns import list_turns
from context.log.entries import (
    CustomMessageEntry,
    MemoryUpdateEntry,
    MessageEntry,
    TransformEntry,
    parse_entry,
)
from context.messages import Message, ToolCallPart, ToolDefinition, ToolResultPart
from context.patches import apply_patch
from context.tokens import ByteEstimator
from tests.support.sessions.chats import TIME
from tests.unit.context.history.test_tool_pairing import check_pairs

COUNTER = ByteEstimator()
WHY = {"scope": "cached", "invalidateCacheReason": "because"}


def said(name, role="user", content=None, **fields):
    content = name if content is None else content
    return MessageEntry(name, None, TIME, Message(role, content), "t", **fields)


def transform(name, *ops):
    return TransformEntry(name, None, TIME, "test", tuple(WHY | op for op in ops))


def hide(target):
    return {"op": "message_hide", "entryId": target}


def replaced(target, text):
    parts = [{"type": "text", "text": text}]
    return {"op": "message_replace", "entryId": target, "parts": parts}


def compaction(first_kept):
    fields = {"summary": "Early.", "timestamp": TIME, "tokensBefore": 9}
    return {"op": "compaction_apply", "firstKeptEntryId": first_kept, **fields}


def messages_replaced(*messages):
    dicts = [message.to_dict() for message in messages]
    return {"op": "messages_cached_replace", "messages": dicts}


def ids(messages):
    return [message.id for message in messages]


Q1, A1, Q2, A2, Q3 = (
    said("q1"),
    said("a1", "assistant"),
    said("q2"),
    said("a2", "assistant"),
    said("q3"),
)
PATH = (Q1, A1, Q2, A2, Q3)


def read(*path):
    return replay_path(path, COUNTER)


def test_a_hidden_message_leaves_its_turn():
    reading = read(Q1, A1, Q2, A2, transform("t", hide("a1")), Q3)
    assert [ids(turn.messages) for turn in reading.earlier] == [["q1"], ["q2", "a2"]]
    assert [turn.turn.entry_ids for turn in reading.earlier] == [("q1", "a1"), ("q2", "a2")]


def test_a_replaced_message_keeps_its_place():
    reading = read(Q1, A1, transform("t", replaced("a1", "redacted")), Q2)
    assert [m.text for m in reading.messages] == ["q1", "redacted", "q2"]
    assert reading.earlier[0].turn.answers[0].message.text == "a1"


def test_a_compaction_stands_before_the_turns_that_were_kept():
    reading = read(Q1, A1, Q2, A2, transform("t", compaction("q2")), Q3)
    assert [ids(turn.messages) for turn in reading.earlier] == [["t"], ["q2", "a2"]]
    assert reading.messages[0].text == "Early."


def test_what_is_said_after_a_transform_is_as_it_was_said():
    reading = read(Q1, transform("t", replaced("q1", "other")), A1, Q2)
    assert [m.text for m in reading.messages] == ["other", "a1", "q2"]


def test_a_message_brought_in_behind_the_question_belongs_to_its_turn():
    marker = Message("user", "[marker]")
    reading = read(Q1, transform("t", messages_replaced(Q1.message, marker)), A1, Q2)
    assert [ids(turn.messages) for turn in reading.earlier] == [["q1", "t:1", "a1"]]


def test_a_patch_that_takes_the_ids_away_still_leaves_turns():
    bare = [Message(e.message.role, e.message.content) for e in PATH]
    reading = read(*PATH, transform("t", messages_replaced(*bare)))
    assert [ids(t.messages) for t in reading.earlier] == [["t:0", "t:1"], ["t:2", "t:3"]]
    assert reading.current.user.id == "q3"
    assert ids(reading.open.messages) == ["t:4"]


def test_an_unanswered_question_is_marked_behind_what_a_patch_left():
    reading = read(Q1, transform("t", hide("q1")), Q2)
    assert [m.id for m in reading.messages] == ["q1:interrupted", "q2"]


def test_a_transform_that_cannot_be_applied_is_passed_over_and_told():
    system = {"op": "system_part_remove", "partName": "base"}
    reading = read(Q1, A1, transform("t", system, hide("gone")), Q2)
    assert ids(reading.messages) == ["q1", "a1", "q2"]
    assert reading.transforms == ()
    assert 'unknown entry "gone"' in reading.problems[0]


def test_a_transform_changes_instructions_tools_and_options():
    base = ContextEnvelope(
        System((SystemPart("base", "Be kind."),)),
        (ToolDefinition("a", "", {}), ToolDefinition("b", "", {})),
    )
    ops = (
        {"op": "system_part_set", "partName": "policy", "text": " No secrets."},
        {"op": "tools_remove", "toolNames": ["a"]},
        {"op": "options_set", "temperature": 0.9},
    )
    envelope = replay((Q1, transform("t", *ops), A1, Q2), base, COUNTER)
    assert envelope.system.compiled == "Be kind. No secrets."
    assert [tool.name for tool in envelope.tools] == ["b"]
    assert envelope.options == {"temperature": 0.9}
    assert ids(envelope.messages.cached) == ["q1", "a1", "q2"]


def test_a_custom_message_is_read_as_the_users():
    note = CustomMessageEntry("n", None, TIME, "note", Message("user", "By the way."))
    reading = read(Q1, note, A1, Q2)
    assert [ids(turn.messages) for turn in reading.earlier] == [["q1", "n", "a1"]]
    first = read(note, Q1)
    assert ids(first.messages) == ["n", "q1"]


def test_memory_is_what_the_path_says_and_what_it_was_at_the_question():
    update = MemoryUpdateEntry("m", None, TIME, scratchpad="old", facts=("f",))
    later = MemoryUpdateEntry("n", None, TIME, scratchpad="new")
    reading = read(Q1, A1, update, Q2, later)
    assert (reading.open.memory.scratchpad, reading.memory.scratchpad) == ("old", "new")
    assert reading.memory.facts == ("f",)


def test_an_open_call_is_sealed_and_its_turn_ends_as_interrupted():
    call = said("m", "assistant", (ToolCallPart("1", "search", {}),))
    reading = read(Q1, call, Q2)
    assert ids(reading.messages) == ["q1", "m", "m:sealed", "m:sealed:interrupted", "q2"]
    assert ids(read(Q1, call).messages) == ["q1", "m", "m:sealed"]


def test_an_interrupted_answer_with_calls_is_marked_behind_their_results():
    call = said("m", "assistant", (ToolCallPart("1", "search", {}),), status="interrupted")
    result = said("r", "tool", (ToolResultPart("1", "found"),))
    marked = "r:interrupted"
    assert ids(read(Q1, call, result, Q2).messages) == ["q1", "m", "r", marked, "q2"]


@pytest.mark.parametrize("cut", range(1, 9))
def test_reading_on_comes_to_the_same_as_reading_anew(cut):
    call = said("m", "assistant", (ToolCallPart("1", "search", {}),))
    result = said("r", "tool", (ToolResultPart("1", "found"),))
    path = (
        Q1,
        A1,
        transform("t", compaction("a1")),
        Q2,
        call,
        transform("u", replaced("q2", "x")),
        result,
        A2,
        Q3,
    )
    read(*path[:cut])
    on = read(*path)
    fresh = tuple(parse_entry(entry.to_dict()) for entry in path)
    anew = replay_path(fresh, Other())
    assert on.messages == anew.messages
    assert [turn.turn for turn in on.earlier] == [turn.turn for turn in anew.earlier]


class Other(ByteEstimator):
    """A counter of its own, so that nothing is remembered for it."""

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)


NAMES = ["q1", "a1", "q2", "a2", "q3", "m", "r"]
OPS = st.one_of(
    st.builds(hide, st.sampled_from(NAMES)),
    st.builds(replaced, st.sampled_from(NAMES), st.text(max_size=3)),
    st.builds(compaction, st.sampled_from(NAMES)),
    st.builds(
        messages_replaced,
        *[st.builds(Message, st.sampled_from(["user", "assistant"]), st.text(max_size=3))] * 2,
    ),
    st.just({"op": "system_part_set", "partName": "p", "text": "x"}),
)
WORDS = st.sampled_from(["user", "assistant", "call", "result", "custom"])
ENTRIES = st.one_of(
    WORDS,
    st.lists(OPS, min_size=1, max_size=2),
)


def path_of(steps):
    path = []
    for at, step in enumerate(steps):
        name = NAMES[at] if at < len(NAMES) else f"x{at}"
        if isinstance(step, list):
            path.append(transform(name, *step))
        elif step == "call":
            path.append(said(name, "assistant", (ToolCallPart("1", "search", {}),)))
        elif step == "result":
            path.append(said(name, "tool", (ToolResultPart("1", "found"),)))
        elif step == "custom":
            path.append(CustomMessageEntry(name, None, TIME, "c", Message("user", name)))
        else:
            path.append(said(name, step))
    return tuple(path)


@given(st.lists(ENTRIES, max_size=12), st.data())
@settings(max_examples=100, deadline=None)
def test_replay_is_deterministic_whatever_was_read_before(steps, data):
    path = path_of(steps)
    cut = data.draw(st.integers(0, len(path)))
    replay_path(path[:cut], COUNTER)
    on, anew = replay_path(path, COUNTER), replay_path(path, Other())
    assert on.messages == anew.messages
    assert on.transforms == anew.transforms
    assert [turn.messages for turn in on.earlier] == [turn.messages for turn in anew.earlier]
    check_pairs(on.messages)


@given(st.lists(ENTRIES, max_size=10), st.lists(OPS, min_size=1, max_size=2))
@settings(max_examples=100, deadline=None)
def test_a_transform_replays_over_exactly_the_list_that_its_maker_saw(steps, ops):
    path = path_of(steps)
    seen = ContextEnvelope(messages=Messages(replay_path(path, COUNTER).messages))
    entry = transform("new", *ops)
    try:
        expected = apply_patch(seen, entry.patch, entry_id="new").envelope.messages.cached
    except ValueError:
        expected = seen.messages.cached
    replayed = replay_path((*path, entry), COUNTER).messages
    assert [m for m in replayed if m.role != "tool"] == [m for m in expected if m.role != "tool"]
    results = [m for m in replayed if m.role == "tool" and not str(m.id).endswith(":sealed")]
    assert all(message in expected for message in results)
    check_pairs(replayed)


@given(st.lists(WORDS, max_size=12))
def test_without_transforms_the_turns_are_those_of_the_path(steps):
    path = path_of(steps)
    reading = replay_path(path, COUNTER)
    assert (*(t.turn for t in reading.earlier), *filter(None, [reading.current])) == list_turns(
        path
    )
