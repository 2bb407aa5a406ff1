"""One turn in a mode with many tools shortens its own request, and not the history for ever."""

from hypothesis import given, settings
from hypothesis import strategies as st

from context.assemble.inputs import HistoryPolicy
from context.errors import ContextOverflow
from context.messages import ToolDefinition
from tests.support.sessions.chats import Chat
from tests.support.sessions.loops import Loop


def make_tools(tokens):
    """A tool that fills as many tokens."""
    return (ToolDefinition("wide", "x" * int(tokens * 3.5 / 1.05 / 1.2), {"type": "object"}),)


def make_loop(threshold, **fields):
    values = {"max_output_tokens": 2_000, "summarise": lambda task: "What was said."}
    return Loop(Chat(threshold=threshold, **(values | fields)), tools=())


def list_boundaries(loop):
    return [e.type for e in loop.chat.path if e.type in ("context_transform", "drop", "trim")]


def count_turns(prepared):
    return sum(turn.turn.user is not None for turn in prepared.draft.history)


def ask(loop, tools, chars, results=()):
    loop.tools = tools
    prepared = loop.begin("Why? " * 5)
    for size in results:
        if not loop.requests[-1].ends_loop:
            loop.step("w " * (size // 2))
    loop.end("w " * (chars // 2))
    return prepared


POLICIES = st.none() | st.builds(HistoryPolicy, auto_compact=st.booleans())


@given(
    st.integers(6_000, 20_000),
    POLICIES,
    st.floats(0.1, 0.55),
    st.integers(2, 12),
    st.floats(0.3, 0.9),
    st.lists(st.floats(0.001, 0.03), max_size=3),
)
@settings(max_examples=50, deadline=None)
def test_one_wide_turn_moves_no_boundary(threshold, policy, filled, turns, width, results):
    loop = make_loop(threshold, history_policy=policy)
    budget = loop.chat.preview("?").report.budget
    chars = int(budget * filled / turns * 3.5 / 1.05)
    for _ in range(turns):
        ask(loop, (), chars)
    sizes = [int(budget * share * 3.5) for share in results]
    wide = ask(loop, make_tools(budget * width), int(budget * 0.02 * 3.5), sizes)
    assert wide.report.used <= budget
    narrow = ask(loop, (), 100)
    assert list_boundaries(loop) == []
    assert count_turns(narrow) == turns + 1


def test_what_a_wide_turn_leaves_out_is_named_and_comes_back():
    loop = make_loop(8_000)
    for _ in range(8):
        ask(loop, (), 1_200)
    wide = ask(loop, make_tools(3_000), 100)
    (out,) = wide.report.dropped
    assert (out.reason, count_turns(wide) + out.turns) == ("tail", 8)
    assert count_turns(ask(loop, (), 100)) == 9


def test_the_fifth_wide_turn_running_moves_the_boundary():
    loop = make_loop(8_000)
    for _ in range(8):
        ask(loop, (), 1_200)
    moved = []
    for _ in range(5):
        ask(loop, make_tools(3_000), 100)
        moved.append(bool(list_boundaries(loop)))
    assert moved == [False, False, False, False, True]


def test_a_wide_turn_that_does_not_fit_at_all_stores_nothing():
    loop = make_loop(8_000)
    ask(loop, (), 1_200)
    before = list(loop.chat.path)
    loop.tools = make_tools(9_000)
    try:
        loop.begin("Why?")
    except ContextOverflow:
        loop.chat.path = before
    assert count_turns(ask(loop, (), 100)) == 1
    assert list_boundaries(loop) == []
