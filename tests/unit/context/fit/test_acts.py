"""Results of acts and errors stay as they are while the model can act, in full requests too."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from context.assemble.inputs import HistoryPolicy
from context.errors import ContextOverflow
from context.fit.compact_session import compact_session
from context.history.tool_pairing import READS_ONLY, list_tool_results
from context.log.entries import MessageEntry
from tests.support.sessions.chats import Chat
from tests.support.sessions.loops import Loop

READING = frozenset({"search"})
MARKS = ("[trimmed]", "[Content truncated")
LINE = "Done: the line was appended to Garden/Log.md, below the last one of the note."


def make_loop(threshold=8_000, **fields):
    values = {"max_output_tokens": 2_000, "summarise": lambda task: "What was said."}
    return Loop(Chat(threshold=threshold, **(values | fields)), reading_tools=READING)


def list_results(prepared):
    return [result for message in prepared.messages for result in list_tool_results(message)]


def list_marked(prepared):
    return [result for result in list_results(prepared) if result.content.startswith(MARKS)]


def fill(loop, steps=10):
    for _ in range(steps):
        prepared = loop.step("a line of a result\n" * 90)
    return prepared


def test_acts_and_errors_stay_while_what_was_read_is_trimmed():
    loop = make_loop(history_policy=HistoryPolicy(keep_last=0))
    loop.begin("Write it down, then read on.")
    loop.step(LINE, name="append_to_note")
    loop.step("Error: there is no such note as Graden.md in the vault.", is_error=True)
    prepared = fill(loop)
    assert list_marked(prepared)
    shown = [result.content for result in list_results(prepared)]
    assert shown[:2] == [LINE, "Error: there is no such note as Graden.md in the vault."]


def test_the_guard_spares_them_in_a_loop():
    loop = make_loop()
    loop.begin("Write it down, then read on.")
    loop.step(LINE * 20, name="append_to_note")
    prepared = fill(loop)
    assert "work" in prepared.report.guard
    assert not prepared.ends_loop
    assert list_results(prepared)[0].content == LINE * 20
    assert list_marked(prepared) or "..." in str(list_results(prepared)[1].content)


def test_a_compaction_clears_large_results_of_reading_tools_only():
    loop = make_loop(20_000)
    loop.begin("Write it down, then read on.")
    loop.step(LINE * 20, name="append_to_note")
    loop.step(f"Error: {LINE * 20}", is_error=True)
    fill(loop, 14)
    loop.end("Done.")
    loop.chat.threshold = 9_000
    kept = []
    inputs = replace(loop.chat.inputs("?"), path=tuple(loop.chat.path), turn="", tools=loop.tools)
    ports = loop.chat.ports(kept)
    compact_session(replace(inputs, reading_tools=READING, ports=ports), "overflow")
    cleared = [op["entryId"] for op in kept[0].patch if op["op"] == "message_replace"]
    said = {e.id: e for e in loop.chat.path if isinstance(e, MessageEntry)}
    assert cleared
    assert not any(LINE in str(said[name].message.content) for name in cleared)


def test_what_the_log_says_of_a_tool_holds_without_the_tool():
    loop = make_loop(history_policy=HistoryPolicy(keep_last=0))
    loop.begin("Weigh it.")
    loop.step("a line of a result\n" * 40, name="mcp__weigh")
    loop.step("a line of a result\n" * 40, name="mcp__measure")
    at = next(
        at for at, e in enumerate(loop.chat.path) if "c0" in str(e) and e.message.role == "tool"
    )
    loop.chat.path[at] = replace(loop.chat.path[at], extra={READS_ONLY: True})
    weighed, measured, *_ = list_results(fill(loop))
    assert weighed.content.startswith(MARKS)
    assert not measured.content.startswith(MARKS)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("search"), st.integers(1, 120), st.booleans()),
        st.tuples(st.sampled_from(["append", "mcp__send"]), st.integers(1, 12), st.booleans()),
        st.tuples(st.just("end"), st.integers(1, 500), st.just(False)),
    ),
    min_size=5,
    max_size=40,
)


def find_last_result(loop):
    results = (e for e in reversed(loop.chat.path) if isinstance(e, MessageEntry))
    return next(e.id for e in results if e.message.role == "tool")


@given(
    st.integers(6_000, 20_000),
    st.none() | st.builds(HistoryPolicy, auto_compact=st.booleans(), keep_last=st.integers(0, 6)),
    STEPS,
)
@settings(max_examples=50, deadline=None)
def test_no_act_and_no_error_ever_becomes_a_mark(threshold, history_policy, steps):
    loop, stored = make_loop(threshold, history_policy=history_policy), {}
    loop.begin("Question?")
    for number, (name, size, is_error) in enumerate(steps):
        try:
            if loop.requests[-1].ends_loop or name == "end":
                loop.end("word " * size)
                prepared = loop.begin(f"Question {number}?")
            else:
                text = f"{number}: " + LINE * (min(size, 12) if is_error else size)
                prepared = loop.step(text, name=name, is_error=is_error)
                stored |= {find_last_result(loop): text} if name != "search" or is_error else {}
        except ContextOverflow:
            return
        for message in () if prepared.ends_loop else prepared.messages:
            for result in list_tool_results(message):
                assert stored.get(message.id, result.content) == result.content
