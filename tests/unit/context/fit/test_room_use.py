"""History is shortened only as far as the room asks for it, whatever the settings."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from context.assemble.inputs import HistoryPolicy
from context.compaction import HEAD
from context.errors import ContextOverflow
from context.fit.compact_session import compact_session
from context.history.tool_pairing import is_final
from context.history.turns import list_turns
from context.tokens import count_message
from tests.support.sessions.chats import Chat
from tests.support.sessions.loops import Loop

QUESTION = "question words " * 20
ANSWER = "answer with words " * 20
MARKERS = ("[trimmed]", "[Content truncated")


def chat(**fields):
    values = {
        "max_output_tokens": 4_096,
        "history_policy": HistoryPolicy(auto_compact=False),
        "summarise": lambda task: "What was said before.",
    }
    return Chat(**(values | fields))


def is_shortened(message):
    return any(marker in str(message.content) for marker in MARKERS)


def answers(prepared):
    return [message.text for message in prepared.messages if is_final(message)]


@pytest.mark.parametrize("threshold", [6_000, 12_000, 24_000])
def test_a_chat_without_auto_compaction_always_leaves_half_of_its_budget_used(threshold):
    talked = chat(threshold=threshold)
    rounds = threshold // 100
    requests = [talked.ask(f"{at} {QUESTION}", f"{at} {ANSWER}") for at in range(rounds)]
    full = [one for one in requests if one.report.actions.trim or one.report.actions.compact]
    assert full
    for prepared in full:
        assert prepared.report.fraction >= 0.5
        assert len(answers(prepared)) >= 10
        assert "[trimmed]" not in answers(prepared)[-10:]


def test_a_compaction_that_a_full_budget_forces_keeps_as_much_as_any_other():
    talked = chat(threshold=6_000)
    while not (prepared := talked.ask(QUESTION, ANSWER)).report.actions.block:
        assert talked.compactions == []
    assert prepared.messages[0].text.startswith(HEAD)
    assert 0.5 < prepared.report.fraction < 0.7
    assert len(answers(prepared)) > 5
    assert "[trimmed]" not in answers(prepared)


def test_the_only_earlier_answer_is_not_trimmed():
    talked = chat(threshold=12_000)
    talked.ask("A question?", "answer with words " * 1_300)
    prepared = talked.ask("Another one?")
    assert 0.8 < prepared.report.fraction < 1
    assert prepared.report.trimmed is None
    assert answers(prepared) == ["answer with words " * 1_300]


@pytest.mark.parametrize("keep_last", [0, 1, 4])
def test_the_newest_answers_and_that_of_the_last_turn_are_never_trimmed(keep_last):
    history_policy = HistoryPolicy(auto_compact=False, keep_last=keep_last)
    talked = chat(threshold=6_000, history_policy=history_policy)
    trimmed = 0
    for at in range(40):
        shown = answers(talked.ask(f"{at} {QUESTION}", f"{at} {ANSWER}"))
        trimmed += "[trimmed]" in shown
        assert "[trimmed]" not in shown[-max(keep_last, 1) :]
    assert trimmed


def test_trims_are_decided_anew_after_a_compaction():
    loop = Loop(
        chat(threshold=8_000, max_output_tokens=2_000, history_policy=HistoryPolicy(keep_last=0))
    )
    for _ in range(3):
        loop.begin(QUESTION)
        for _ in range(4):
            loop.step("a line of a result\n" * 90)
        loop.end(ANSWER)
    assert any(is_shortened(message) for message in loop.requests[-1].messages)
    kept = []
    inputs = replace(loop.inputs, path=tuple(loop.chat.path), turn="", number=1)
    compact_session(replace(inputs, ports=loop.chat.ports(kept)))
    assert [entry.type for entry in kept] == ["context_transform", "trim"]
    loop.chat.path += kept
    prepared = loop.begin(QUESTION)
    assert prepared.report.trimmed is None
    assert len([m for m in prepared.messages if m.role == "tool"]) == 4
    assert not any(is_shortened(message) for message in prepared.messages)


def test_where_nothing_may_be_compacted_old_turns_are_dropped_before_newest_answers_are_trimmed():
    talked = chat(threshold=6_000)
    talked.prepare(talked.inputs("?"), mode="preview")
    budget = talked.preview("?").report.budget
    for _ in range(3):
        talked.breaker.record(talked.model, budget, has_shrunk=False)
    requests = [talked.ask(f"{at} {QUESTION}", f"{at} {ANSWER}") for at in range(60)]
    assert talked.compactions == []
    assert any(one.report.dropped for one in requests)
    for prepared in requests:
        assert "[trimmed]" not in answers(prepared)[-10:]
        if "drop" in prepared.report.guard:
            assert prepared.report.fraction >= 0.5


# Chats that nobody thought of


@dataclass(frozen=True)
class Step:
    """One turn of a generated chat, in words."""

    question: int
    answer: int
    results: tuple[int, ...]


SIZES = st.integers(1, 120) | st.integers(1, 1_500)
STEPS = st.builds(Step, SIZES, SIZES, st.lists(SIZES, max_size=3).map(tuple))
SETTINGS = st.builds(
    HistoryPolicy,
    auto_compact=st.booleans(),
    keep_last=st.integers(0, 20),
    clean_after=st.integers(0, 5),
    can_summarise=st.booleans(),
)


def words(number, chars):
    return f"{number} " + "word " * chars


def play(loop, steps):
    """Yield each request with what was in the log before it."""
    for number, step in enumerate(steps):
        before = tuple(loop.chat.path)
        try:
            yield before, loop.begin(words(number, step.question))
            for size in step.results:
                before = tuple(loop.chat.path)
                yield before, loop.step(words(number, size))
        except ContextOverflow:
            loop.chat.path = list(before)
            continue
        loop.end(words(number, step.answer))


def lost_of(turn, shown, counter):
    """How many tokens of a turn a request does not hold.

    A turn that is being answered has no end yet, so the end that history shows is not counted.
    """
    lost = 0
    for message in turn.shown:
        said = count_message(message, counter)
        lost += said - (count_message(shown[message.id], counter) if message.id in shown else 0)
    return lost


def has_more(before, prepared, counter):
    """Whether any turn of the log would have fitted whole beside what is sent.

    Summaries of earlier requests are not taken back, so turns before the last of them do not count.
    """
    report = prepared.report
    shown = {message.id: message for message in prepared.messages if message.id}
    at = max((at for at, e in enumerate(before) if e.type == "context_transform"), default=None)
    kept = None if at is None else before[at].patch[-1].get("firstKeptEntryId")
    ids = [entry.id for entry in before]
    since = ids.index(kept) if kept in ids else 0
    lost = [lost_of(turn, shown, counter) for turn in list_turns(before[since:])]
    return sum(lost) > 0 and report.used + max(lost) <= 0.6 * report.budget


@given(
    SETTINGS,
    st.integers(4_000, 30_000),
    st.sampled_from(["model", "outline", "long"]),
    st.lists(STEPS, min_size=1, max_size=40),
)
@example(
    HistoryPolicy(auto_compact=False, keep_last=0, clean_after=0, can_summarise=False),
    4_000,
    "outline",
    [Step(297, 1, (1_472,))],
)
@settings(max_examples=60, deadline=None)
def test_what_is_shortened_leaves_half_of_the_budget_used_wherever_the_history_has_that_much(
    history_policy, threshold, summary, steps
):
    summaries = {
        "model": lambda task: "What was said.",
        "long": lambda task: "word " * 900,
        "outline": None,
    }
    asked = Chat(
        threshold=threshold,
        max_output_tokens=2_000,
        history_policy=history_policy,
        summarise=summaries[summary] if history_policy.can_summarise else None,
    )
    for before, prepared in play(Loop(asked), steps):
        report = prepared.report
        is_shortened = report.actions.trim or report.actions.compact or report.guard
        if is_shortened and report.fraction < 0.5:
            assert not has_more(before, prepared, asked.counter)


EVEN_CHATS = given(SETTINGS, st.integers(4_000, 30_000), st.integers(1, 8), st.integers(0, 2))


@EVEN_CHATS
@settings(max_examples=12, deadline=None)
def test_turns_of_a_tenth_of_the_budget_always_leave_half_of_it_used(
    history_policy, threshold, share, results
):
    check_even_chat(history_policy, threshold, share, results)


@pytest.mark.soak
@EVEN_CHATS
@settings(max_examples=40, deadline=None)
def test_turns_of_a_tenth_of_the_budget_leave_half_of_it_used_in_many_chats(
    history_policy, threshold, share, results
):
    check_even_chat(history_policy, threshold, share, results)


def check_even_chat(history_policy, threshold, share, results):
    asked = Chat(threshold=threshold, max_output_tokens=2_000, history_policy=history_policy)
    budget = asked.preview("?").report.budget
    size = int(budget * share / 100 * 3.5 / 5 / (results + 2))
    step = Step(size, size, (size,) * results)
    used = []
    for _, prepared in play(Loop(asked), [step] * (300 // share)):
        report = prepared.report
        if report.actions.trim or report.actions.compact or report.guard:
            used.append(report.fraction)
    assert all(fraction >= 0.5 for fraction in used)


@given(SETTINGS, st.integers(4_000, 30_000), st.lists(STEPS, max_size=30))
@settings(max_examples=40, deadline=None)
def test_the_newest_answers_are_never_trimmed(history_policy, threshold, steps):
    asked = Chat(threshold=threshold, max_output_tokens=2_000, history_policy=history_policy)
    for _, prepared in play(Loop(asked), steps):
        protected = answers(prepared)[-max(1, history_policy.keep_last) :]
        assert "[trimmed]" not in protected


@pytest.mark.parametrize("chars", [6_000, 7_500, 9_000, 20_000, 60_000])
def test_results_that_end_a_loop_keep_at_least_half_of_what_fits(chars):
    loop = Loop(Chat(threshold=4_000, max_output_tokens=2_000))
    loop.begin("What do the notes say?")
    prepared = loop.step("word " * (chars // 5))
    if prepared.ends_loop:
        assert prepared.report.fraction >= 0.5
    (result,) = prepared.messages[-1].content
    assert result.content.startswith("word word")
