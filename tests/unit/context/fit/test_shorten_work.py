import pytest

from context.fit.shorten import (
    clean_results,
    drop_oldest_batch,
    shorten_results,
    shrink_older_results,
    shrink_work,
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


def test_older_results_shrink_by_half_until_their_number_of_lines_is_left():
    versions = list(shrink_older_results(WORK))
    older, latest = zip(
        *([m.content[0].content for m in v if m.role == "tool"] for v in versions), strict=True
    )
    assert [len(text) for text in older[:3]] == pytest.approx([4_250, 2_125, 2_000], abs=10)
    assert older[3:] == ("[Content truncated: 1 lines]",)
    assert set(latest) == {LONG}
    assert all([m.id for m in version] == [m.id for m in WORK] for version in versions)


def test_a_result_that_would_grow_is_left():
    work = (call("1"), result("1", "no"), call("2"), result("2", "yes"))
    assert clean_results(work) == work


def test_a_stub_is_left_as_it_is():
    stub = offload_stub("search", LONG, "ref")
    work = (call("1"), result("1", stub))
    assert clean_results(work) == shorten_results(work, 10) == work


def test_results_can_keep_their_beginning():
    shortened = shorten_results(WORK, 2_000)[1].content[0].content
    assert LONG.startswith(shortened.removesuffix(" ..."))
    assert len(shortened) < 2_100


def test_the_oldest_calls_leave_with_all_that_belongs_to_them():
    assert drop_oldest_batch(WORK) == WORK[3:]
    assert drop_oldest_batch(WORK[3:]) == ()
    assert drop_oldest_batch((Message("user", "x"),)) == ()


def test_the_work_shrinks_by_half_until_nothing_of_it_is_left():
    sizes = [sum(len(str(message.content)) for message in work) for work in shrink_work(WORK)]
    assert sizes == sorted(sizes, reverse=True)
    lengths = [len(work[1].content[0].content) for work in shrink_work(WORK) if len(work) > 1]
    assert lengths[:3] == pytest.approx([4_250, 2_125, 2_000], abs=10)
    assert list(shrink_work(WORK))[-1] == ()
