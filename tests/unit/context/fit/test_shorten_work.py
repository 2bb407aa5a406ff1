from context.fit.shorten import (
    clean_older_results,
    clean_results,
    drop_oldest_batch,
    shorten_results,
)
from context.messages import Message, ToolCallPart, ToolResultPart
from context.offload import offload_stub


def call(name):
    return Message("assistant", (ToolCallPart(name, "search", {}),), f"m{name}")


def result(name, text):
    return Message("tool", (ToolResultPart(name, text),), f"r{name}")


LONG = "a line of words. " * 500
WORK = (
    call("1"),
    result("1", LONG),
    Message("user", "By the way", "c"),
    call("2"),
    result("2", LONG),
)


def test_results_of_the_latest_calls_stay():
    older, latest = (
        message.content[0].content
        for message in clean_older_results(WORK)
        if message.role == "tool"
    )
    assert older == "[Content truncated: 1 lines]"
    assert latest == LONG
    assert [m.id for m in clean_older_results(WORK)] == [m.id for m in WORK]


def test_a_result_that_would_grow_is_left():
    work = (call("1"), result("1", "no"), call("2"), result("2", "yes"))
    assert clean_results(work) == work


def test_a_stub_is_left_as_it_is():
    stub = offload_stub("search", LONG, "ref")
    work = (call("1"), result("1", stub))
    assert clean_results(work) == shorten_results(work) == work


def test_results_can_keep_their_beginning():
    shortened = shorten_results(WORK)[1].content[0].content
    assert LONG.startswith(shortened.removesuffix(" ..."))
    assert len(shortened) < 2_100


def test_the_oldest_calls_leave_with_all_that_belongs_to_them():
    assert drop_oldest_batch(WORK) == WORK[3:]
    assert drop_oldest_batch(WORK[3:]) == ()
    assert drop_oldest_batch((Message("user", "x"),)) == ()
