from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.errors import UnknownEntry
from context.history.replay import replay_path
from context.history.tool_pairing import INTERRUPTED
from context.history.turns import list_turns
from context.log.entries import LeafEntry, MessageEntry, SegmentsEntry, UsageEntry
from context.log.tree import EntryTree
from context.messages import Message, TextPart
from context.tokens import ByteEstimator
from tests.support.sessions.chats import TIME, Chat, passage


def entry(name, parent, role="user", text="x", turn="t", **fields):
    return MessageEntry(name, parent, TIME, Message(role, text), turn, **fields)


def leaf(target):
    return LeafEntry("leaf", None, TIME, target)


def usage(name):
    return UsageEntry(name, None, TIME, "t", 1, "m", 1, 1, 1, 0, 1.0)


def names(path):
    return [item.id for item in path]


def test_the_path_runs_from_the_root_to_the_last_path_entry():
    log = [entry("a", None), entry("b", "a"), usage("u"), entry("c", "b"), usage("v")]
    assert names(EntryTree(log).path()) == ["a", "b", "c"]


def test_the_path_follows_parents_and_leaves_siblings_out():
    log = [entry("a", None), entry("b", "a"), entry("c", "a"), entry("d", "c")]
    assert names(EntryTree(log).path()) == ["a", "c", "d"]


def test_a_leaf_entry_names_the_end_until_something_is_added():
    log = [entry("a", None), entry("b", "a"), entry("c", "a"), leaf("b")]
    assert names(EntryTree(log).path()) == ["a", "b"]
    assert names(EntryTree([*log, entry("d", "b")]).path()) == ["a", "b", "d"]


def test_a_leaf_before_the_root_is_an_empty_path():
    assert EntryTree([entry("a", None), leaf(None)]).path() == ()


def test_a_leaf_entry_that_names_nothing_is_passed_over():
    assert names(EntryTree([entry("a", None), leaf("gone")]).path()) == ["a"]


def test_a_leaf_can_be_asked_for():
    log = [entry("a", None), entry("b", "a"), entry("c", "b")]
    assert names(EntryTree(log).path("b")) == ["a", "b"]
    with pytest.raises(UnknownEntry, match="gone"):
        EntryTree(log).path("gone")


def test_a_missing_parent_is_the_entry_above():
    assert names(EntryTree([entry("a", None), entry("b", "gone")]).path()) == ["a", "b"]


def test_a_parent_that_stands_twice_is_the_nearest_above():
    log = [entry("a", None), entry("b", "a", text="1"), entry("b", "a", text="2"), entry("c", "b")]
    assert [item.message.text for item in EntryTree(log).path()] == ["x", "2", "x"]


def test_an_empty_log_has_an_empty_path():
    assert EntryTree([]).path() == ()
    assert list_turns(()) == ()


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["gone", None, *"abcdef"]))))
def test_a_path_ends_whatever_the_parents_say(pairs):
    log = [entry(name, parent) for name, parent in pairs]
    path = EntryTree(log).path()
    assert len(path) <= len(log)
    assert bool(path) == bool(log)


def test_a_turn_is_a_question_with_its_segments_and_answers():
    chat = Chat()
    chat.ask("Why?", "Because.", [passage(1, "a note")])
    chat.ask("And?", "So.")
    first, second = list_turns(chat.path)
    assert first.user.message.text == "Why?"
    assert [answer.message.text for answer in first.answers] == ["Because."]
    assert [segment.id for segment in first.segments] == ["p1"]
    assert first.entry_ids == tuple(names(chat.path[:3]))
    assert second.segments == ()
    assert second.entry_ids == tuple(names(chat.path[3:]))


def test_history_is_bare_user_text_and_answers():
    chat = Chat()
    chat.ask("Why?", "Because.", [passage(1, "a note")])
    (turn,) = list_turns(chat.path)
    assert [message.content for message in turn.messages] == ["Why?", "Because."]


def test_segments_of_another_turn_are_not_taken_over():
    stray = SegmentsEntry("s", None, TIME, "t0", (passage(1, "a"),))
    (turn,) = list_turns([stray, entry("a", "s", turn="t1")])
    assert turn.segments == ()
    assert turn.entry_ids == ("a",)


def test_segments_stand_right_before_their_question():
    segments = SegmentsEntry("s", "a", TIME, "t1", (passage(1, "a"),))
    path = [entry("a", None), segments, entry("b", "s", "assistant"), entry("c", "b", turn="t1")]
    assert list_turns(path)[1].segments == ()


def test_a_turn_that_was_not_answered_ends_as_interrupted():
    (turn,) = list_turns([entry("a", None)])
    question, marker = turn.messages
    assert question.text == "x"
    assert marker == Message("assistant", INTERRUPTED, "a:interrupted")
    assert not turn.is_complete


@pytest.mark.parametrize("status", ["interrupted", "error"])
def test_a_partial_answer_is_kept_and_marked(status):
    (turn,) = list_turns([entry("a", None), entry("b", "a", "assistant", "Half a", status=status)])
    assert turn.messages[1] == Message("assistant", "Half a\n\n[interrupted]", "b")
    assert turn.is_complete


def test_an_answer_without_text_is_only_the_mark():
    (turn,) = list_turns([entry("a", None), entry("b", "a", "assistant", "", status="error")])
    assert turn.messages[1].content == INTERRUPTED
    assert not turn.is_complete


def test_an_interrupted_answer_in_parts_gets_the_mark_as_a_part():
    half = MessageEntry(
        "b", "a", TIME, Message("assistant", (TextPart("Half"),)), "t", status="interrupted"
    )
    (turn,) = list_turns([entry("a", None), half])
    assert turn.messages[1].content == (TextPart("Half"), TextPart(INTERRUPTED))


@pytest.mark.parametrize("status", ["complete", "limit", None])
def test_a_finished_answer_is_left_as_it_is(status):
    (turn,) = list_turns([entry("a", None), entry("b", "a", "assistant", "Whole", status=status)])
    assert turn.messages[1].content == "Whole"


def test_the_view_changes_no_entry():
    half = entry("b", "a", "assistant", "Half a", status="interrupted")
    before = replace(half)
    (turn,) = list_turns([entry("a", None), half])
    assert turn.messages[1].text != half.message.text
    assert half == before


def test_answers_before_any_question_are_kept():
    first, second = list_turns([entry("a", None, "assistant", "Hello"), entry("b", "a")])
    assert first.user is None
    assert [message.text for message in first.messages] == ["Hello"]
    assert second.user.id == "b"


def test_a_turn_that_is_answered_anew_may_be_sent_with_other_segments():
    path = (
        SegmentsEntry("1", None, TIME, "t", (passage(1, "before"),)),
        entry("2", "1"),
        SegmentsEntry("3", "2", TIME, "t", (passage(1, "now"),)),
        entry("4", "3", "assistant"),
    )
    (turn,) = list_turns(path)
    assert turn.segments == (passage(1, "now"),)
    assert turn.entry_ids == ("1", "2", "3", "4")
    assert replay_path(path, ByteEstimator()).current == turn


def test_segments_of_another_turn_wait_for_their_own():
    path = (
        entry("1", None),
        SegmentsEntry("2", "1", TIME, "u", (passage(1, "later"),)),
        entry("3", "2", turn="u"),
    )
    assert [turn.segments for turn in list_turns(path)] == [(), (passage(1, "later"),)]
