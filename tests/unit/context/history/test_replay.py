from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from context.history.replay import replay_path
from context.history.turns import list_turns
from context.log.entries import DropEntry, MessageEntry, SegmentsEntry, parse_entry
from context.messages import Message
from context.tokens import ByteEstimator
from tests.support.sessions.chats import TIME, Chat, passage


class Counting:
    """Remembers what it was asked to count."""

    name, is_exact, message_overhead, part_overhead = "test", True, 4, 0

    def __init__(self):
        self.asked = []

    def count(self, text):
        self.asked.append(text)
        return len(text)


def question(name, text="?", turn="t"):
    return MessageEntry(name, None, TIME, Message("user", text), turn)


def answer(name, text="!", turn="t"):
    return MessageEntry(name, None, TIME, Message("assistant", text), turn)


def assert_turns_are_read(path, counter):
    reading = replay_path(path, counter)
    expected = list_turns(path)
    assert tuple(turn.turn for turn in reading.earlier) == expected[:-1]
    assert reading.current == (expected[-1] if expected else None)


def test_the_turns_are_those_of_the_path():
    chat = Chat()
    chat.ask("One", "1", [passage(1, "a")])
    chat.ask("Two", None)
    chat.ask("Three", "3")
    assert_turns_are_read(tuple(chat.path), ByteEstimator())
    assert_turns_are_read((), ByteEstimator())


def test_reading_on_counts_only_what_is_new():
    counter = Counting()
    path = (question("a", "one"), answer("b", "two"), question("c", "three"))
    replay_path(path, counter)
    reopened = tuple(parse_entry(entry.to_dict()) for entry in path)
    counter.asked.clear()
    replay_path((*reopened, answer("d", "four"), question("e", "five")), counter)
    assert counter.asked == ["three", "four"]


def test_another_counter_begins_anew():
    path = (question("a", "one"), answer("b", "two"), question("c", "three"))
    first, second = Counting(), Counting()
    replay_path(path, first)
    assert replay_path(path, second).earlier[0].tokens == 4 + 3 + 4 + 3
    assert second.asked == ["one", "two"]


def test_an_edited_beginning_is_read_anew():
    path = (question("a"), answer("b"), question("c"))
    replay_path(path, ByteEstimator())
    assert_turns_are_read((question("a", "edited"), *path[1:]), ByteEstimator())


def test_a_further_answer_belongs_to_the_turn_that_seemed_to_have_ended():
    path = (question("a"), answer("b"), question("c"))
    replay_path(path, ByteEstimator())
    assert_turns_are_read((*path[:2], answer("d"), question("e")), ByteEstimator())
    assert_turns_are_read(path[:2], ByteEstimator())


def test_segments_before_a_question_are_taken_over_only_by_their_own():
    stray = SegmentsEntry("s", None, TIME, "later", (passage(1, "a"),))
    path = (question("a"), answer("b"), stray, question("c", turn="other"))
    replay_path(path, ByteEstimator())
    assert_turns_are_read((*path[:3], question("d", turn="later")), ByteEstimator())


ENTRIES = st.sampled_from(
    [
        question("a"),
        question("b", turn="u"),
        answer("c"),
        answer("d", "other"),
        SegmentsEntry("s", None, TIME, "t", (passage(1, "a"),)),
        SegmentsEntry("r", None, TIME, "u", (passage(2, "b"),)),
        DropEntry("x", None, TIME, "a", 2, 1, "room", 10),
    ]
)


@given(st.lists(st.lists(ENTRIES, max_size=8), max_size=8))
def test_what_was_read_before_changes_no_reading(tails):
    path = ()
    for tail in tails:
        named = [replace(entry, id=f"{entry.id}{at}") for at, entry in enumerate(tail)]
        assert_turns_are_read((*path, *named), ByteEstimator())
        path = (*path, *named[: len(named) // 2])
        assert_turns_are_read(path, ByteEstimator())
