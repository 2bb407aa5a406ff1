from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.assemble.turn_context import (
    START_TOKENS,
    count_lasting_start,
    count_lasting_tail,
    fit_passages,
)
from context.draft import Tail
from context.history.turns import MeasuredTurn, list_turns
from context.layers import Layer
from context.messages import Message
from context.tokens import ByteEstimator, count_segment
from tests.support.sessions.chats import Chat, passage

COUNTER = ByteEstimator()


def tail(*segments, question="Why?"):
    return Tail(segments, Message("user", question), COUNTER)


def earlier(chat):
    return [MeasuredTurn.measure(turn, turn.messages, COUNTER) for turn in list_turns(chat.path)]


def chars(tokens):
    """Text of about so many tokens."""
    return "x" * int(tokens * 3.5 / 1.05)


def test_passages_within_their_share_stay():
    found = tail(passage(1, "a"), passage(2, "b"))
    assert fit_passages(found, 1_000).tail is found or fit_passages(found, 1_000).tail == found


def test_the_lowest_ranked_passages_leave_first():
    passages = [passage(number, chars(100)) for number in range(1, 6)]
    fitted = fit_passages(tail(*passages), 2_000)
    kept = len(fitted.tail.segments)
    assert 0 < kept < 5
    assert list(fitted.tail.segments) == passages[:kept]
    assert list(fitted.dropped) == passages[kept:]


@given(
    st.lists(st.integers(1, 400), max_size=12),
    st.integers(0, 2_000),
    st.integers(500, 20_000),
)
def test_passages_never_exceed_their_share(lengths, question, budget):
    passages = [passage(number, chars(length)) for number, length in enumerate(lengths)]
    found = tail(*passages, question=chars(question))
    fitted = fit_passages(found, budget)
    taken = sum(count_segment(segment, COUNTER) for segment in fitted.tail.segments)
    share = max(int(budget * 0.25) - found.tokens[Layer.L5], int(budget * 0.10))
    assert taken <= share
    assert (*fitted.tail.segments, *fitted.dropped) == tuple(passages)
    if fitted.dropped:
        assert taken + count_segment(fitted.dropped[0], COUNTER) > share


def test_a_long_question_leaves_passages_a_tenth():
    passages = [passage(number, chars(50)) for number in range(1, 9)]
    fitted = fit_passages(tail(*passages, question=chars(3_000)), 4_000)
    taken = sum(count_segment(segment, COUNTER) for segment in fitted.tail.segments)
    assert 300 < taken <= 400


def test_the_sentence_above_a_list_stays_where_its_lines_have_no_room():
    note, head = (
        replace(passage(9, chars(1_990)), kind="note"),
        replace(passage(1, "Two."), number=None),
    )
    fitted = fit_passages(tail(note, head, passage(2, chars(80))), 4_000)
    assert fitted.tail.segments == (note, head)


def test_attachments_and_passages_share_a_half():
    note = replace(passage(9, chars(1_900)), kind="note")
    fitted = fit_passages(tail(note, passage(1, chars(80))), 4_000)
    assert fitted.tail.segments == (note,)
    assert [segment.id for segment in fitted.dropped] == ["p1"]


def test_a_small_tail_stands_for_itself():
    found = tail()
    assert count_lasting_tail(found, (), 1_000) == found.total


def test_a_large_tail_stands_for_a_quarter_of_the_budget():
    assert count_lasting_tail(tail(question=chars(500)), (), 1_000) == 250


def test_a_tail_that_was_large_for_four_turns_running_stands_in_full():
    chat = Chat(threshold=100_000)
    for _ in range(3):
        chat.ask(chars(500))
    found = tail(question=chars(600))
    assert count_lasting_tail(found, earlier(chat)[-2:], 1_000) == 250
    assert count_lasting_tail(found, earlier(chat), 1_000) == found.total


def test_one_small_turn_between_begins_the_count_anew():
    chat = Chat(threshold=100_000)
    for question in (chars(500), "short", chars(500)):
        chat.ask(question)
    assert count_lasting_tail(tail(question=chars(500)), earlier(chat), 1_000) == 250


def test_what_was_sent_along_counts_to_the_tails_of_earlier_turns():
    chat = Chat(threshold=100_000)
    for _ in range(3):
        chat.ask("short", segments=[passage(1, chars(500))])
    found = tail(question=chars(600))
    assert count_lasting_tail(found, earlier(chat), 1_000) == found.total


def test_a_note_that_was_cited_earlier_takes_nothing_from_the_passages():
    cited = replace(passage(9, chars(60)), layer=Layer.L2)
    passages = [passage(number, chars(60)) for number in range(1, 4)]
    fitted = fit_passages(tail(cited, *passages), 1_000)
    assert fitted.tail.segments[0] == cited
    assert fitted.dropped == fit_passages(tail(*passages), 1_000).dropped


def with_starts(*sizes):
    """A chat whose answers say how large their tools and instructions were; None says nothing."""
    chat = Chat(threshold=100_000)
    for size in sizes:
        chat.ask("Why?")
        extra = {} if size is None else {START_TOKENS: size}
        chat.path[-1] = replace(chat.path[-1], extra=extra)
    return tuple(chat.path)


@pytest.mark.parametrize(
    ("sizes", "lasting"),
    [
        ((), 3_000),
        ((200,), 200),
        ((200, 3_000, 3_000, 3_000), 200),
        ((200, 3_000, 3_000, 3_000, 3_000), 3_000),
        ((9_000, 8_000), 3_000),
        ((None, None), 3_000),
        ((None, 200, None), 200),
        ((0, -4, True, "200"), 3_000),
    ],
)
def test_tools_and_instructions_count_as_the_smallest_of_the_last_four_turns(sizes, lasting):
    path = with_starts(*sizes)
    assert count_lasting_start(3_000, path, "now") == lasting


def test_a_turn_that_has_ended_is_no_turn_before_itself():
    path = with_starts(200, 3_000, 3_000, 3_000, 3_000)
    assert count_lasting_start(3_000, path, "") == 200
    assert count_lasting_start(3_000, path[2:], "") == 3_000


def test_a_last_request_without_tools_does_not_stand_for_its_turn():
    path = with_starts(3_000)
    last = replace(path[-1], id="end", extra={START_TOKENS: 200})
    assert count_lasting_start(3_000, (*path, last), "now") == 3_000
