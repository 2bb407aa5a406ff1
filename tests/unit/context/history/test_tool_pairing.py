from hypothesis import given
from hypothesis import strategies as st

from context.history.tool_pairing import NO_RESULT, complete_tool_calls
from context.messages import Message, ToolCallPart, ToolResultPart, list_tool_calls


def call(name, *ids, text=""):
    return Message("assistant", tuple(ToolCallPart(i, "search", {}) for i in ids), name)


def result(name, *ids):
    return Message("tool", tuple(ToolResultPart(i, f"found {name}") for i in ids), name)


def user(name):
    return Message("user", name, name)


def test_what_has_no_tools_is_left_as_it_is():
    messages = (user("q"), Message("assistant", "a", "a"))
    assert complete_tool_calls(messages) == messages


def test_answered_calls_are_left_as_they_are():
    messages = (user("q"), call("m", "1", "2"), result("r", "1"), result("s", "2"))
    assert complete_tool_calls(messages) == messages


def test_an_open_call_gets_an_error_for_a_result():
    *same, sealed = complete_tool_calls((user("q"), call("m", "1", "2"), result("r", "1")))
    assert [message.id for message in same] == ["q", "m", "r"]
    assert sealed == Message("tool", (ToolResultPart("2", NO_RESULT, True),), "m:sealed")


def test_a_result_without_its_call_is_left_out():
    stray = (result("r", "1"), user("q"), Message("assistant", "a", "a"), result("s", "2"))
    assert [message.id for message in complete_tool_calls(stray)] == ["q", "a"]


def test_of_two_results_the_first_counts():
    messages = (call("m", "1"), result("r", "1"), result("s", "1"))
    assert [message.id for message in complete_tool_calls(messages)] == ["m", "r"]


def test_a_result_that_came_late_takes_the_place_of_the_error():
    sealed = complete_tool_calls((call("m", "1"),))
    assert [m.id for m in complete_tool_calls((*sealed, result("r", "1")))] == ["m", "r"]


def test_what_stands_between_a_call_and_its_result_moves_behind_it():
    messages = (call("m", "1"), user("note"), result("r", "1"))
    assert [message.id for message in complete_tool_calls(messages)] == ["m", "r", "note"]


def test_results_come_in_the_order_of_their_calls():
    messages = (call("m", "1", "2", "3"), result("r", "3"), result("s", "2"))
    assert [message.id for message in complete_tool_calls(messages)] == ["m", "m:sealed", "s", "r"]


def test_missing_results_stand_at_the_places_of_their_calls():
    sealed = complete_tool_calls((call("m", "1", "2", "3", "4"), result("r", "2")))
    assert [message.id for message in sealed] == ["m", "m:sealed", "r", "m:1:sealed"]
    answered = [part.tool_call_id for message in sealed[1:] for part in message.content]
    assert answered == ["1", "2", "3", "4"]
    assert complete_tool_calls(sealed) == sealed


def test_an_id_may_be_used_again_by_a_later_call():
    messages = (call("m", "1"), result("r", "1"), call("n", "1"), result("s", "1"))
    assert complete_tool_calls(messages) == messages


IDS = st.lists(st.sampled_from("123"), min_size=1, max_size=3, unique=True)
MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda ids: call("m", *ids), IDS),
        st.builds(lambda ids: result("r", *ids), IDS),
        st.just(user("q")),
        st.just(Message("assistant", "a", "a")),
    ),
    max_size=12,
)


def check_pairs(messages):
    """Every call has exactly one result right behind it, and there is no other result."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            for part in message.content:
                waiting.remove(part.tool_call_id)
        else:
            assert waiting == []
            waiting = [part.id for part in list_tool_calls(message)]
    assert waiting == []


@given(MESSAGES)
def test_every_call_has_exactly_one_result_behind_it(messages):
    sealed = complete_tool_calls(messages)
    check_pairs(sealed)
    assert complete_tool_calls(sealed) == sealed
    kept = [message for message in sealed if message.role != "tool"]
    assert kept == [message for message in messages if message.role != "tool"]
