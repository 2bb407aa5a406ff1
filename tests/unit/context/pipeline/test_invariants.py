"""What holds for every request, over conversations nobody thought of."""

import json
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.errors import ContextOverflow
from context.history.turns import list_turns
from context.layers import Layer
from context.log.entries import MessageEntry, parse_entry
from context.messages import Message
from context.tokens import count_message
from tests.support.sessions.chats import Chat, passage
from tests.support.sessions.recount import merge_for_wire

SCRIPTS = (
    "Plain words, with a sentence. ",
    "東京都は日本の首都です。",
    "مرحبا بالعالم، كيف حالك؟ ",
    "Привет, как дела? ",
    "नमस्ते दुनिया। ",
    "🗼🎌👩‍👩‍👧‍👦 ",
    "</source> <b> & ``` {{x}} ",
    "x",
)


@st.composite
def texts(draw, longest):
    """Text of a script, most of it short, some of it long."""
    length = draw(st.integers(0, longest) | st.integers(0, 200))
    script = draw(st.sampled_from(SCRIPTS))
    return (script * (length // len(script) + 1))[:length]


@dataclass(frozen=True)
class Step:
    """One turn of a generated chat."""

    question: str
    answer: str | None
    status: str
    passages: tuple[str, ...]


STEPS = st.builds(
    Step,
    texts(12_000),
    st.none() | texts(12_000),
    st.sampled_from(["complete", "complete", "complete", "interrupted", "error"]),
    st.lists(texts(1_500), max_size=6).map(tuple),
)
CHATS = st.builds(
    Chat,
    threshold=st.integers(4_000, 200_000) | st.integers(4_000, 9_000),
    max_output_tokens=st.integers(256, 8_000),
    system=texts(3_000),
    model_limit=st.none() | st.integers(4_000, 300_000),
    factor=st.none() | st.sampled_from([1.0, 1.1, 1.45]),
)


def play(chat, steps):
    """Yield each request that was sent, with the inputs that it was made from."""
    for step in steps:
        segments = [passage(at, text) for at, text in enumerate(step.passages, start=1)]
        inputs = chat.inputs(step.question, segments)
        before, previous = list(chat.path), chat.previous
        try:
            prepared = chat.prepare(inputs, mode="preview")
        except ContextOverflow as overflow:
            check_overflow(overflow, step.question, chat)
            assert (chat.path, chat.previous) == (before, previous)
            continue
        yield inputs, prepared
        sent = chat.ask(step.question, None, segments)
        assert sent.request_body() == prepared.request_body()
        if step.answer is not None:
            turn = next(e.turn_id for e in reversed(chat.path) if isinstance(e, MessageEntry))
            chat.answer(turn, step.answer, step.status)


def check_overflow(overflow, question, chat):
    report = overflow.report
    bare = count_message(Message("user", question), chat.counter)
    assert report["layers"]["L5"]["tokens"] == bare
    assert report["used"] == report["layers"]["L1"]["tokens"] + bare > report["budget"]


@given(CHATS, st.lists(STEPS, max_size=10))
@settings(max_examples=30, deadline=None)
def test_no_request_exceeds_its_budget_and_the_layers_add_up(chat, steps):
    for _, prepared in play(chat, steps):
        report = prepared.report.to_dict()
        assert report["used"] <= report["budget"]
        assert report["used"] == sum(layer["tokens"] for layer in report["layers"].values())
        assert report["fraction"] == report["used"] / report["budget"]


@given(CHATS, st.lists(STEPS, max_size=8))
@settings(max_examples=25, deadline=None)
def test_what_is_reported_is_what_the_rendered_request_holds(chat, steps):
    for _, prepared in play(chat, steps):
        body = prepared.request_body()
        assert prepared.encode_body() == body
        messages = [Message.from_dict(message) for message in body["messages"]]
        if body["system"]:
            messages.append(Message("system", body["system"]))
        sent = merge_for_wire(messages)
        counted = sum(count_message(message, chat.counter) for message in sent)
        assert counted == prepared.draft.used
        is_empty_preview = (
            prepared.report.when == "next" and not prepared.draft.tail.question.content
        )
        if not is_empty_preview:  # an empty message has no tokens before it is sent
            assert counted == prepared.report.used


@given(CHATS, st.lists(STEPS, max_size=10))
@settings(max_examples=30, deadline=None)
def test_the_question_stands_last_and_as_it_was_typed(chat, steps):
    for inputs, prepared in play(chat, steps):
        content = prepared.request_body()["messages"][-1]["content"]
        last = content if isinstance(content, str) else content[-1]["text"]
        assert last == inputs.path[-1].message.content


@given(CHATS, st.lists(STEPS, max_size=10))
@settings(max_examples=30, deadline=None)
def test_the_last_answered_turn_is_there_unless_it_is_reported(chat, steps):
    for inputs, prepared in play(chat, steps):
        answered = [turn for turn in list_turns(inputs.path)[:-1] if turn.is_complete]
        sent = {message.id for message in prepared.messages}
        broken = "history_guarantee_broken" in prepared.report.guard
        reasons = {left_out.reason for left_out in prepared.report.dropped}
        assert broken == ("history_guarantee_broken" in reasons)
        if answered and not broken:
            assert {message.id for message in answered[-1].messages} <= sent


@given(CHATS, st.lists(STEPS, max_size=10))
@settings(max_examples=30, deadline=None)
def test_every_turn_is_sent_whole_or_named_as_left_out(chat, steps):
    for inputs, prepared in play(chat, steps):
        sent = {message.id for message in prepared.messages}
        named = {entry for out in prepared.report.dropped if out.turns for entry in out.entries}
        earlier = list_turns(inputs.path)[:-1]
        for turn in earlier:
            present = {message.id for message in turn.messages} & sent
            assert present in (set(), {message.id for message in turn.messages})
            assert bool(present) != (set(turn.entry_ids) <= named)
        left_out = sum(out.turns for out in prepared.report.dropped)
        assert left_out + prepared.report.layers[Layer.L4].items == len(earlier)


@given(CHATS, st.lists(STEPS, max_size=10))
@settings(max_examples=30, deadline=None)
def test_every_segment_is_sent_or_named_as_left_out(chat, steps):
    for inputs, prepared in play(chat, steps):
        found = list_turns(inputs.path)[-1].segments
        sent = [segment.id for segment in prepared.segments]
        out = {out.entries[0] for out in prepared.report.dropped if out.layer is Layer.L3}
        assert [segment.id for segment in found if segment.id not in out] == sent
        assert {use.segment.id for use in prepared.report.segments} == {s.id for s in found}


@given(CHATS, st.lists(STEPS, max_size=10))
@settings(max_examples=30, deadline=None)
def test_user_text_is_never_changed(chat, steps):
    for inputs, prepared in play(chat, steps):
        asked = {e.id: e.message for e in inputs.path if isinstance(e, MessageEntry)}
        for message in prepared.messages[:-1]:
            if message.role == "user":
                assert message == asked[message.id]


@given(CHATS, st.lists(STEPS, max_size=10))
@settings(max_examples=30, deadline=None)
def test_the_beginning_only_grows_unless_a_reason_is_given(chat, steps):
    before = None
    for _, prepared in play(chat, steps):
        prefix, body = prepared.report.prefix, prepared.request_body()
        assert prefix.changed == bool(prefix.reasons)
        assert all(prefix.reasons)
        assert prefix.tokens_reused <= prepared.report.used
        if before is not None and not prefix.changed:
            assert body["messages"][: len(before) - 1] == before[:-1]
        before = body["messages"]


@given(CHATS, st.lists(STEPS, max_size=12))
@settings(max_examples=30, deadline=None)
def test_a_cut_only_moves_forward_while_the_budget_stays(chat, steps):
    behind = 0
    for _, prepared in play(chat, steps):
        cut = sum(out.turns for out in prepared.report.dropped if out.reason == "room")
        assert cut >= behind
        behind = cut


@given(CHATS, st.lists(STEPS, max_size=10))
@settings(max_examples=25, deadline=None)
def test_saving_and_reopening_changes_nothing(chat, steps):
    for inputs, prepared in play(chat, steps):
        written = [json.dumps(entry.to_dict()) for entry in inputs.path]
        reopened = replace(inputs, path=tuple(parse_entry(json.loads(line)) for line in written))
        again = chat.prepare(reopened, mode="preview")
        assert json.dumps(again.request_body()) == json.dumps(prepared.request_body())
        assert again.report.to_dict() == prepared.report.to_dict()


@given(CHATS, st.lists(STEPS, max_size=8), st.lists(st.integers(4_000, 200_000), max_size=8))
@settings(max_examples=30, deadline=None)
def test_the_budget_holds_whatever_is_done_to_the_threshold(chat, steps, thresholds):
    for step, threshold in zip(steps, thresholds, strict=False):
        chat.threshold = threshold
        for _, prepared in play(chat, [step]):
            assert prepared.report.used <= prepared.report.budget


@given(
    st.integers(4_000, 16_000),
    st.sampled_from(SCRIPTS),
    st.integers(1, 8),
    st.integers(0, 6),
)
@settings(max_examples=25, deadline=None)
def test_in_a_long_chat_the_cut_rests(threshold, script, share, passages):
    """With turns of up to a fourteenth of the budget the cut rests for three turns at the least."""
    chat = Chat(threshold=threshold)
    budget = chat.preview("").report.budget
    length = int(budget * share / 120 * 3.5 / len(script.encode())) or 1
    found = [passage(number, script * 3) for number in range(1, passages + 1)]
    requests = [chat.ask(script, script * length, found).report for _ in range(60)]
    cuts = [at for at, report in enumerate(requests) if "drop" in report.guard]
    assert all(report.used <= report.budget for report in requests)
    assert all(after - before >= 3 for before, after in pairwise(cuts))
    assert len(chat.drops) == len(cuts)


def test_a_long_chat_at_the_smallest_threshold():
    chat = Chat(threshold=4_000)
    reports = [
        chat.ask(f"Question {number}?", f"Answer {number}. " * 20, [passage(1, "A note. " * 30)])
        for number in range(100)
    ]
    assert all(report.report.used <= report.report.budget for report in reports)
    assert 5 <= len(chat.drops) <= 25
    assert sum(report.report.prefix.changed for report in reports) == len(chat.drops)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_question_of_two_hundred_thousand_characters_is_sent_or_refused(script):
    chat = Chat(threshold=128_000)
    chat.ask("One", "1")
    question = (script * (200_000 // len(script) + 1))[:200_000]
    try:
        prepared = chat.ask(question)
    except ContextOverflow as overflow:
        check_overflow(overflow, question, chat)
    else:
        assert prepared.report.used <= prepared.report.budget
