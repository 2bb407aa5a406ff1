import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.compaction import CompactResult, ConversationSignals, find_safe_split
from context.messages import Message, TextPart, ToolCallPart, ToolResultPart


def call(*ids):
    return Message("assistant", tuple(ToolCallPart(name, "t", {}) for name in ids))


def result(*ids, failed=False):
    return Message("tool", tuple(ToolResultPart(name, "r", failed) for name in ids))


SAY = Message("user", "hi")


def test_a_result_tells_before_after_and_how():
    done = CompactResult(100, 60, 10, 4, ("clear_tool_results", "summarise"))
    assert (done.before_tokens, done.after_tokens) == (100, 60)
    assert (done.before_messages, done.after_messages) == (10, 4)
    assert done.strategies_run == ("clear_tool_results", "summarise")


def test_signals_are_shares_of_all_messages():
    messages = [SAY, call("a", "b"), result("a", "b", failed=True), result("c"), SAY]
    signals = ConversationSignals.measure(messages)
    assert signals == (0.2, 0.6, 5)
    assert signals.error_density == 0.2
    assert signals.tool_call_density == 0.6
    assert signals.message_count == 5


def test_a_message_counts_once_however_many_calls_it_has():
    mixed = Message("assistant", (TextPart("x"), *call("a", "b", "c").content))
    assert ConversationSignals.measure([mixed]) == (0.0, 1.0, 1)


def test_no_messages_have_no_signals():
    assert ConversationSignals.measure([]) == (0, 0, 0)


@pytest.mark.parametrize(("target", "split"), [(4, 4), (5, 5), (6, 5), (7, 5), (8, 8), (99, 9)])
def test_a_split_separates_no_call_from_its_result(target, split):
    messages = [SAY, SAY, SAY, SAY, SAY, call("a"), SAY, result("a"), SAY]
    assert find_safe_split(messages, target) == split


def test_parallel_calls_stay_with_the_last_of_their_results():
    messages = [SAY, SAY, call("a", "b"), result("a"), result("b"), SAY]
    assert [find_safe_split(messages, target) for target in (3, 4, 5, 6)] == [2, 2, 5, 6]


def test_an_id_that_is_used_again_belongs_to_its_nearest_call():
    messages = [SAY, call("a"), result("a"), SAY, call("a"), result("a"), SAY]
    assert find_safe_split(messages, 4) == 4
    assert find_safe_split(messages, 5) == 4


@pytest.mark.parametrize("target", [-1, 0, 1, 2, 3, 4])
def test_two_where_there_is_none_from_two_up(target):
    assert find_safe_split([SAY, call("a"), SAY, SAY, result("a")], target) == 2


def test_two_also_for_fewer_messages():
    assert find_safe_split([], 5) == find_safe_split([SAY], 5) == 2


def test_open_calls_and_orphan_results_separate_nothing():
    messages = [SAY, result("gone"), SAY, call("open"), SAY]
    assert find_safe_split(messages, 4) == 4


MESSAGES = st.lists(
    st.sampled_from([SAY, call("a"), call("b"), call("a", "b"), result("a"), result("b")]),
    max_size=14,
)


@given(MESSAGES, st.integers(-2, 16))
def test_the_split_is_the_nearest_safe_one(messages, target):
    def is_safe(at):
        for position, message in enumerate(messages[at:], start=at):
            for part in message.content if message.role == "tool" else ():
                callers = [
                    before
                    for before, other in enumerate(messages[:position])
                    if other.role == "assistant"
                    and any(one.id == part.tool_call_id for one in other.content)
                ]
                if callers and callers[-1] < at:
                    return False
        return True

    safe = [at for at in range(2, min(target, len(messages)) + 1) if is_safe(at)]
    assert find_safe_split(messages, target) == max(safe, default=2)
