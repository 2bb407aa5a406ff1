"""What holds for every request of a turn in which tools are called."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from context.assemble.inputs import HistoryPolicy
from context.errors import SummaryFailed
from context.history.boundaries import ANEW
from context.hooks import ContextResult
from context.log.entries import (
    parse_entry,
)
from context.tokens import count_message
from tests.support.sessions.chats import Chat
from tests.support.sessions.loops import (
    PATCHES,
    STEPS,
    Loop,
    body_bytes,
    hooked,
    marker,
    once,
    operations,
    play,
    texts,
)
from tests.support.sessions.recount import merge_for_wire
from tests.unit.context.history.test_tool_pairing import check_pairs


def failing(task):
    raise SummaryFailed("The model is away.")


def missing_nothing(task):
    held = [message for turn in task.turns for message in turn.messages]
    assert all(message in held for turn in task.full_turns for message in turn.messages)
    return "What was said."


UPKEEPS = [
    None,
    HistoryPolicy(),
    HistoryPolicy(keep_last=1, clean_after=0),
    HistoryPolicy(auto_compact=False),
]


LOOPS = st.builds(
    lambda threshold, handler, history_policy, summarise: Loop(
        Chat(threshold=threshold, history_policy=history_policy, summarise=summarise),
        None if handler is None else hooked(handler),
    ),
    st.sampled_from([4_000, 6_000, 12_000, 100_000]),
    st.sampled_from([None, None, marker, once]),
    st.sampled_from(UPKEEPS),
    st.sampled_from([None, failing, missing_nothing, lambda task: "word " * 2_000]),
)


@given(LOOPS, st.lists(STEPS, max_size=10))
@settings(max_examples=60, deadline=None)
def test_what_holds_for_every_request_of_a_loop(loop, steps):
    last = None
    for before, prepared in play(loop, steps):
        report = prepared.report.to_dict()
        assert report["used"] <= report["budget"]
        assert report["used"] == sum(layer["tokens"] for layer in report["layers"].values())
        sent = merge_for_wire(prepared.messages)
        counted = sum(count_message(message, loop.chat.counter) for message in sent)
        rest = report["layers"]["T"]["tokens"] + report["layers"]["L1"]["tokens"]
        assert counted + rest == report["used"]
        assert prepared.report.prefix.changed == bool(prepared.report.prefix.reasons)
        check_pairs(prepared.messages)
        assert len(prepared.marks) <= 4
        assert texts(prepared).count("[once]") <= 1
        if before is not None and not prepared.report.prefix.changed:
            assert body_bytes(prepared)[: len(body_bytes(before))] == body_bytes(before)
        if before is None and last is not None and not prepared.report.prefix.changed:
            history = sum(len(turn) for turn in history_of(last))
            assert body_bytes(prepared)[:history] == body_bytes(last)[:history]
        last = prepared


def history_of(prepared):
    """The messages of L4, which stand before the one that the context of the turn is in."""
    asked = [at for at, m in enumerate(prepared.messages) if str(m.text).startswith("<source")]
    return [prepared.messages[:at] for at in asked[-1:]]


@given(LOOPS, st.lists(STEPS, max_size=8))
@settings(max_examples=40, deadline=None)
def test_save_reopen_prepare_is_prepare(loop, steps):
    for _, prepared in play(loop, steps):
        loop.hooks, hooks = None, loop.hooks
        path = loop.chat.path
        again = loop.send(mode="preview")
        loop.chat.path = [parse_entry(json.loads(json.dumps(e.to_dict()))) for e in path]
        reopened = loop.send(mode="preview")
        loop.chat.path, loop.hooks = path, hooks
        assert reopened.request_body() == again.request_body()
        assert prepared.report.request_budget == again.report.request_budget


@given(
    st.sampled_from([4_000, 12_000, 100_000]),
    st.sampled_from(UPKEEPS),
    st.lists(st.tuples(STEPS, PATCHES, PATCHES), max_size=8),
)
@settings(max_examples=80, deadline=None)
def test_whatever_hooks_do_a_request_fits_and_can_be_sent(threshold, history_policy, script):
    patches = {}

    def shape(event):
        wanted = patches.get(event.reason, ())
        return ContextResult(tuple(operations(event.envelope, wanted)))

    loop = Loop(Chat(threshold=threshold, history_policy=history_policy), hooked(shape))
    playing = play(loop, [step for step, _, _ in script])
    while True:
        at = len(loop.requests)
        _, lasting, passing = script[at % len(script)] if script else (None, (), ())
        patches.update(before_request=lasting, ephemeral=passing)
        following = next(playing, None)
        if following is None:
            break
        _, prepared = following
        report = prepared.report
        assert report.used <= report.budget
        assert report.prefix.changed == bool(report.prefix.reasons)
        assert any(message.role == "user" for message in prepared.messages)
        check_pairs(prepared.messages)


def positions(loop, entries):
    """Where boundaries stand in the chat."""
    ids = [entry.id for entry in loop.chat.path]
    return [ids.index(entry.up_to_entry_id) for entry in entries]


@given(LOOPS, st.lists(STEPS, max_size=14))
@example(
    Loop(Chat(threshold=4_000, history_policy=HistoryPolicy(keep_last=1, clean_after=0)), None),
    [("step", [4_565]), *[("end", 1)] * 4, ("step", [5_750])],
)
@settings(max_examples=60, deadline=None)
def test_boundaries_only_move_forward_and_trimming_only_shrinks(loop, steps):
    for _ in play(loop, steps):
        pass
    for entries in (loop.chat.trims, loop.chat.drops):
        assert positions(loop, entries) == sorted(positions(loop, entries))
        for entry in entries:
            assert entry.tokens_after <= entry.tokens_before
            # Decided anew after a compaction, a trim may find that nothing needs to be shortened.
            assert entry.tokens_after < entry.tokens_before or entry.extra.get(ANEW)


@given(LOOPS, st.lists(STEPS, max_size=14))
@settings(max_examples=60, deadline=None)
def test_what_the_user_said_is_never_trimmed(loop, steps):
    for _, prepared in play(loop, steps):
        users = [message for message in prepared.messages if message.role == "user"]
        assert not any("[trimmed]" in str(message.content) for message in users)


@given(LOOPS, st.lists(STEPS, max_size=14))
@settings(max_examples=60, deadline=None)
def test_a_compaction_frees_something_or_nothing_is_stored(loop, steps):
    for _, prepared in play(loop, steps):
        actions = prepared.report.actions
        stored = [e for e in loop.appended if getattr(e, "transformer_name", "") == "compaction"]
        if stored:
            figures = actions.compaction
            assert actions.compact
            assert figures["after_tokens"] < figures["before_tokens"]
            assert figures["after_messages"] <= figures["before_messages"]
            assert figures["by"] in ("model", "outline", "none")
