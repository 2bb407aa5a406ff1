"""A summary is the oldest of a history, and leaves last: it stands for all that was said before."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from context.assemble.inputs import HistoryPolicy
from context.compaction import HEAD
from context.errors import ContextOverflow
from context.fit.compact_session import compact_session
from context.log.entries import DropEntry, MessageEntry
from context.messages import ToolDefinition
from tests.support.sessions.chats import TIME, Chat
from tests.support.sessions.loops import SEARCH, Loop

SUMMARY = "- Decisions: the beans are sown in row 12 of Garden/Beds.md. " * 6
WIDE = ToolDefinition("wide", "Does a lot of things at once. " * 60, {"type": "object"})


def make_loop(threshold=8_000, summary=SUMMARY, **fields):
    values = {"max_output_tokens": 2_000, "summarise": lambda task: summary}
    return Loop(Chat(threshold=threshold, **(values | fields)))


def compact(loop):
    """Compact a chat as on request, and store the result."""
    kept = []
    inputs = replace(loop.inputs, path=tuple(loop.chat.path), turn="", number=1)
    compact_session(replace(inputs, ports=loop.chat.ports(kept)))
    loop.chat.path += kept


def summarised(threshold=8_000, turns=4, chars=1_500, **fields):
    """A chat whose earlier turns are summarised, with as many turns behind the summary."""
    loop = make_loop(threshold, **fields)
    for number in range(4):
        loop.begin(f"Question {number}?")
        loop.end("A long answer. " * 60)
    compact(loop)
    for number in range(turns):
        loop.begin(f"Later question {number}?")
        loop.end("w " * (chars // 2))
    return loop


def find_summary(prepared):
    return next((m.text for m in prepared.messages if m.text.startswith(HEAD)), "")


def reasons(prepared):
    return [one.reason for one in prepared.report.dropped]


def count_turns(prepared):
    return sum(turn.turn.user is not None for turn in prepared.draft.history)


def test_turns_are_dropped_before_the_summary():
    loop = summarised(turns=6, chars=4_000)
    prepared = loop.begin("And now? " * 20)
    assert loop.chat.drops
    assert find_summary(prepared).endswith(SUMMARY.strip())
    assert reasons(prepared) == ["room"]


def test_a_stored_drop_keeps_the_summary_and_names_only_the_turns_that_it_leaves_out():
    loop = summarised(turns=6, chars=4_000)
    loop.begin("And now?")
    loop.end("Done.")
    prepared = loop.begin("And then?")
    assert find_summary(prepared).endswith(SUMMARY.strip())
    (dropped,) = prepared.report.dropped
    assert dropped.reason == "room"
    assert loop.chat.compactions[-1].id not in dropped.entries
    # One turn of the first four was kept by the compaction; six turns and one more followed.
    assert dropped.turns + count_turns(prepared) == 8


def test_a_summary_that_an_earlier_version_dropped_is_back():
    loop = summarised(turns=3, chars=300)
    asked = [e for e in loop.chat.path if isinstance(e, MessageEntry) and e.message.role == "user"]
    place = "d1", loop.chat.path[-1].id, TIME
    loop.chat.path.append(DropEntry(*place, asked[-2].id, 900, 100, "room", None))
    prepared = loop.begin("And now?")
    assert find_summary(prepared)
    assert count_turns(prepared) == 2


def test_where_only_the_last_turn_is_left_the_summary_is_halved_and_then_left_out_and_named():
    states = []
    for words in range(1_500, 2_400, 20):
        loop = summarised(turns=1, chars=9_000)
        prepared = loop.begin("now " * words)
        shown, named = find_summary(prepared), reasons(prepared)
        if shown.endswith(SUMMARY.strip()):
            states.append("whole")
            assert "summary" not in named
        elif shown:
            states.append("half")
            assert len(shown) <= len(HEAD) + len(SUMMARY) // 2 + 5
            assert "summary_shortened" in named
            assert "the summary was shortened" in prepared.report.prefix.reasons
        else:
            states.append("out")
            (out,) = (one for one in prepared.report.dropped if "summary" in one.reason)
            assert out.reason == "summary", "the last state alone is named"
            assert out.tokens >= prepared.counter.count(SUMMARY)
            (warning,) = (one for one in prepared.report.warnings if "summary" in one)
            assert "left out" in warning
            assert list(out.entries) == [loop.chat.compactions[0].id]
            assert (out.turns, out.tokens > 0) == (0, True)
            assert "the summary was left out" in prepared.report.prefix.reasons
        if states[-1] != "whole":
            assert count_turns(prepared) == 1
        loop.end("Done.")
        after = loop.begin("And then?")
        assert find_summary(after).endswith(SUMMARY.strip())
        assert ("the summary came back" in after.report.prefix.reasons) == (states[-1] != "whole")
    assert list(dict.fromkeys(states)) == ["whole", "half", "out"]


def test_a_compaction_after_a_drop_tells_the_model_what_was_dropped_behind_the_summary():
    tasks = []

    def summarise(task):
        tasks.append(task)
        return SUMMARY

    loop = summarised(turns=6, chars=4_000, summarise=summarise)
    loop.begin("And now?")
    loop.end("Done.")
    assert loop.chat.drops
    compact(loop)
    first, *others = (turn.messages[0].text for turn in tasks[-1].full_turns)
    assert first.startswith(HEAD)
    assert others == ["Question 3?", *(f"Later question {number}?" for number in range(6))]


STEPS = st.one_of(
    st.tuples(st.just("ask"), st.integers(1, 2_000)),
    st.tuples(st.just("step"), st.integers(1, 2_500)),
    st.tuples(st.just("end"), st.integers(1, 2_500)),
    st.tuples(st.just("mode"), st.sampled_from([(), (SEARCH,), (SEARCH, WIDE)])),
    st.tuples(st.just("compact"), st.just(0)),
)


def play(loop, steps):
    """Yield each request of a chat that changes its mode, its sizes and its summaries."""
    is_open = False
    for number, (kind, value) in enumerate(steps):
        try:
            if kind == "mode":
                loop.tools = value
            elif kind == "ask" and not is_open:
                before = list(loop.chat.path)
                yield loop.begin(f"Question {number}: " + "why " * value)
                is_open = True
            elif kind == "step" and is_open and not loop.requests[-1].ends_loop:
                yield loop.step("word " * value)
            elif kind == "end" and is_open:
                loop.end("word " * value)
                is_open = False
            elif kind == "compact" and not is_open and loop.requests:
                compact(loop)
        except ContextOverflow:
            loop.chat.path, is_open = before, False


@given(
    st.integers(4_000, 20_000),
    st.builds(HistoryPolicy, auto_compact=st.booleans(), keep_last=st.integers(0, 12)) | st.none(),
    st.integers(1, 12),
    st.lists(STEPS, min_size=4, max_size=40),
)
@settings(max_examples=60, deadline=None)
def test_no_summary_is_lost_while_there_is_room(threshold, history_policy, size, steps):
    loop = make_loop(threshold, "The beans are in row 12. " * size, history_policy=history_policy)
    for prepared in play(loop, steps):
        applied = [e for e in loop.chat.compactions if e.patch[-1]["op"] == "compaction_apply"]
        if not applied:
            continue
        stored = applied[-1].patch[-1]["summary"]
        shown, report = find_summary(prepared), prepared.report
        if shown != stored:
            assert count_turns(prepared) <= 1
            assert set(reasons(prepared)) & {"summary", "summary_shortened"}
        if not shown:
            (out,) = (one for one in report.dropped if one.reason == "summary")
            assert list(out.entries) == [applied[-1].id]
            assert 2 * out.tokens + report.used > report.budget or "shorten" in report.guard
        kept = {entry for one in report.dropped if one.turns for entry in one.entries}
        assert applied[-1].id not in kept
        assert report.used <= report.budget


def test_a_question_that_looks_like_a_summary_is_an_ordinary_turn():
    loop = make_loop()
    for number in range(12):
        loop.begin(f"{HEAD}\nQuestion {number}? ")
        loop.end("A long answer. " * 120)
    prepared = loop.begin("Now?")
    assert loop.chat.drops
    assert f"{HEAD}\nQuestion 0? " not in [message.text for message in prepared.messages]
