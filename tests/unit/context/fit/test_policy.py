"""How a history is kept within its room: trimming, compaction, block, epochs."""

from dataclasses import replace

import pytest

from context.assemble.inputs import HistoryPolicy
from context.compaction import HEAD
from context.errors import ContextOverflow, SummaryFailed
from context.fit.compact_session import compact_if_due, compact_session
from context.layers import Layer
from context.log.entries import PinEntry
from context.messages import ToolResultPart
from context.offload import offload_stub
from context.report.report import Actions
from tests.support.sessions.chats import TIME, Chat
from tests.support.sessions.loops import Loop

RESULT = "line of a result number\n" * 60
QUESTION = "question " * 20
ANSWER = "an answer with words " * 30


def agent(**fields):
    values = {"threshold": 8_000, "max_output_tokens": 2_000, "history_policy": HistoryPolicy()}
    return Loop(Chat(**(values | fields)))


def play(loop, turns, steps=3, result=RESULT):
    """Yield each request of turns that call tools."""
    for number in range(turns):
        yield loop.begin(f"{number} {QUESTION}")
        for _ in range(steps):
            yield loop.step(result)
        loop.end(f"{number} {ANSWER}")


# It names the numbers of some questions, since a summary that names nothing is refused.
SUMMARY = "What was said before, in 10, 11, 12 and up to 29."


def chat(**fields):
    values = {"history_policy": HistoryPolicy(), "summarise": lambda task: SUMMARY}
    return Chat(**(values | fields))


def talk(chat_, turns, answer=ANSWER):
    return [chat_.ask(f"{number} {QUESTION}", f"{number} {answer}") for number in range(turns)]


def results(prepared):
    return [
        part.content
        for message in prepared.messages
        if not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, ToolResultPart)
    ]


# Trimming


def test_old_results_are_trimmed_at_eighty_percent_and_not_before():
    loop = agent()
    for prepared in play(loop, 4):
        before = loop.chat.trims
        report = prepared.report
        if not before:
            assert report.used <= report.budget * 0.8
            assert report.trimmed is None
    assert loop.chat.trims
    assert prepared.report.trimmed.tokens_after < prepared.report.trimmed.tokens_before


def test_a_trim_that_covers_a_part_of_the_way_spares_the_compaction_that_is_due():
    loop = agent(summarise=lambda task: "What was said.")
    shares = {}
    for prepared in play(loop, 30, steps=2):
        report, trims = prepared.report, loop.chat.trims
        if report.actions.trim and trims[-1].reason != "compaction":
            beside = sum(report.layers[layer].tokens for layer in (Layer.T, Layer.L1, Layer.E))
            before, room = trims[-1].tokens_before, report.budget - beside
            freed = before - trims[-1].tokens_after
            share = freed / (before - 0.6 * report.budget + beside)
            shares.setdefault(before > 0.95 * room, []).append(share)
            assert not report.actions.compact
    assert min(shares[False]) >= 0.5
    assert 0.3 <= min(shares[True]) < 0.5


def test_a_trim_reaches_down_to_sixty_percent_and_then_rests():
    loop = agent()
    requests = list(play(loop, 5))
    trimming = [at for at, one in enumerate(requests) if one.report.actions.trim]
    first = requests[trimming[0]].report
    assert 0.5 * first.budget < first.used <= 0.6 * first.budget + 500
    assert trimming[1] - trimming[0] > 2
    assert len(loop.chat.trims) == len(trimming)


def test_what_was_asked_and_answered_is_never_trimmed_while_a_summary_can_be_made():
    loop = agent()
    for prepared in play(loop, 6):
        said = {entry.id: entry.message for entry in loop.chat.path if entry.type == "message"}
        for message in prepared.messages[:-1]:
            original = said.get(message.id)
            if original is not None and isinstance(original.content, str) and message.id:
                assert message.text.endswith(original.text)


def test_where_no_summary_can_be_made_answers_are_trimmed_too():
    talked = chat(threshold=4_000, history_policy=HistoryPolicy(auto_compact=False, keep_last=3))
    prepared = talk(talked, 10)[-1]
    answers = [m.text for m in prepared.messages if m.role == "assistant"]
    assert "[trimmed]" in answers
    assert "[trimmed]" not in answers[-3:]
    assert all(m.text != "[trimmed]" for m in prepared.messages if m.role == "user")


def test_a_chat_without_tools_is_not_trimmed_before_it_is_compacted():
    talked = chat(threshold=4_000)
    talk(talked, 12)
    assert talked.trims == []
    assert talked.compactions


def test_the_latest_results_are_never_trimmed():
    loop = agent()
    for prepared in play(loop, 5):
        shown = results(prepared)
        if prepared.report.request > 1:
            assert shown[-1] == RESULT


def test_old_results_shrink_to_their_lines_first_and_to_a_marker_later():
    loop = agent(history_policy=HistoryPolicy(keep_last=4), threshold=16_000)
    markers = {text for prepared in play(loop, 16) for text in results(prepared)}
    assert markers == {RESULT, "[Content truncated: 60 lines]", "[trimmed]"}


def test_a_stub_stays_since_it_holds_the_reference():
    stub = offload_stub("search", "x" * 9_000, "r1")
    loop = agent(threshold=6_000, history_policy=HistoryPolicy(keep_last=0))
    loop.begin(QUESTION)
    loop.step(stub)
    for _ in range(8):
        prepared = loop.step(RESULT)
    assert loop.chat.trims
    assert results(prepared)[0] == stub
    assert [one.ref_id for one in prepared.report.offloaded] == ["r1"]


def test_trimming_names_the_first_entry_that_stays():
    loop = agent()
    *_, prepared = play(loop, 4)
    up_to = prepared.report.trimmed.up_to_entry
    assert up_to == loop.chat.trims[-1].up_to_entry_id
    at = [message.id for message in prepared.messages].index(up_to)
    assert "[trimmed]" not in " ".join(str(m.content) for m in prepared.messages[at:])


def test_a_trim_is_the_reason_that_the_cache_is_broken():
    loop = agent()
    reasons = {r for one in play(loop, 6) for r in one.report.prefix.reasons}
    assert "old results and words were trimmed" in reasons


# Compaction


def test_a_full_history_becomes_a_summary_that_rests():
    talked = chat(threshold=4_000)
    requests = talk(talked, 30)
    assert 1 < len(talked.compactions) < 12
    for prepared in requests:
        assert prepared.report.dropped == ()
    (told, *_), head = prepared.report.compactions, prepared.messages[0]
    assert head.text == f"{HEAD}\n{SUMMARY}"
    assert told.by == "model"


def test_a_compaction_cuts_at_a_turn_and_keeps_the_last_one():
    talked = chat(threshold=4_000)
    requests = talk(talked, 20)
    for prepared in requests:
        if prepared.report.actions.compact:
            roles = [message.role for message in prepared.messages]
            assert roles[:2] == ["user", "user"]
            assert roles[2:] == ["assistant", "user"] * ((len(roles) - 2) // 2)


def test_the_history_takes_two_thirds_of_its_room_afterwards():
    talked = chat(threshold=16_000)
    for prepared in talk(talked, 60):
        if prepared.report.actions.compact:
            used, budget = prepared.report.used, prepared.report.budget
            assert used < budget * 0.70


def test_the_next_summary_is_made_from_the_one_before_it_too():
    tasks = []

    def summarise(task):
        tasks.append(task)
        return f"Summary {len(tasks)}."

    talk(chat(threshold=4_000, summarise=summarise), 25)
    assert len(tasks) > 1
    assert tasks[1].turns[0].messages[0].text == f"{HEAD}\nSummary 1."


def test_a_summary_is_made_from_what_was_said_not_from_what_was_trimmed():
    tasks = []
    loop = agent(summarise=lambda task: tasks.append(task) or "Short.")
    for _ in play(loop, 18):
        pass
    assert loop.chat.trims
    texts = [str(m.content) for task in tasks for turn in task.full_turns for m in turn.messages]
    assert any(RESULT.strip()[:20] in text for text in texts)
    assert not any("[trimmed]" in text or "[Content truncated" in text for text in texts)


def test_a_call_for_a_summary_begins_as_the_last_request_and_tells_in_full_what_that_shortened():
    shortened = 0

    def summarise(task):
        nonlocal shortened
        begins, held, said = (
            [message for turn in turns for message in turn.messages]
            for turns in (task.sent, task.turns, task.full_turns)
        )
        assert begins == list(loop.requests[-1].messages[: len(begins)])
        assert held[: len(begins)] == begins
        assert all(message in held for message in said)
        shortened += begins != said
        return "Short."

    loop = agent(summarise=summarise)
    for _ in play(loop, 18):
        pass
    assert shortened > 1


@pytest.mark.parametrize("bad", ["", "   ", None])
def test_an_outline_stands_for_a_summary_that_is_empty_or_failed(bad):
    def summarise(task):
        if bad is None:
            raise SummaryFailed("The model is away.")
        return bad

    talked = chat(threshold=4_000, summarise=summarise)
    warnings = [one.report.warnings for one in talk(talked, 12) if one.report.actions.compact]
    (apply, *_) = talked.compactions[0].patch
    assert apply["by"] == "outline"
    assert "0 question" in apply["summary"]
    assert any("An outline stands in its place." in text for found in warnings for text in found)


def test_a_summary_that_is_too_long_is_cut_to_its_length():
    talked = chat(threshold=4_000, summarise=lambda task: "word " * 5_000)
    for prepared in talk(talked, 12):
        assert prepared.report.used <= prepared.report.budget
    assert talked.compactions


def test_a_stopped_compaction_leaves_the_chat_as_it_was():
    class Stopped(Exception):
        pass

    def summarise(task):
        raise Stopped

    talked = chat(threshold=4_000, summarise=summarise)
    while not talked.preview(QUESTION).report.actions.compact:
        talked.ask(QUESTION, ANSWER)
    before = list(talked.path)
    with pytest.raises(Stopped):
        talked.ask(QUESTION, ANSWER)
    assert talked.path == before


def test_a_question_that_never_fits_costs_no_summary():
    tasks = []
    talked = chat(threshold=4_000, summarise=lambda task: tasks.append(task) or "Short.")
    talk(talked, 6)
    with pytest.raises(ContextOverflow):
        talked.ask("word " * 20_000)
    assert tasks == []


def test_a_preview_shows_an_outline_and_stores_nothing():
    tasks = []
    talked = chat(threshold=4_000, summarise=lambda task: tasks.append(task) or "Short.")
    while not talked.preview(QUESTION).report.actions.compact:
        talked.ask(QUESTION, ANSWER)
    assert tasks == []
    assert talked.compactions == []
    assert talked.preview(QUESTION).messages[0].text.startswith(HEAD)


@pytest.mark.parametrize(("has_model", "by"), [(True, "model"), (False, "outline")])
def test_a_preview_says_who_would_make_the_summary(has_model, by):
    talked = chat(threshold=4_000, history_policy=HistoryPolicy(can_summarise=has_model))
    while not (report := talked.preview(QUESTION).report).actions.compact:
        talked.ask(QUESTION, ANSWER)
    (compaction,) = report.compactions
    assert compaction.by == by
    strategy = "summarise" if has_model else "outline"
    assert report.actions.compaction["strategies_run"] == [strategy]
    assert report.warnings == ()


def test_three_attempts_that_free_nothing_trip_the_breaker():
    breaker = Chat().breaker
    for _ in range(3):
        assert not breaker.is_tripped("m", 100)
        breaker.record("m", 100, has_shrunk=False)
    assert breaker.is_tripped("m", 100)
    assert not breaker.is_tripped("m", 101)
    breaker.record("m", 100, has_shrunk=True)
    assert not breaker.is_tripped("m", 100)


def test_a_summary_that_is_not_taken_counts_as_an_attempt():
    talked = chat(threshold=4_000, summarise=lambda task: "")
    talked.ask("a", "b")
    budget = talked.ask("Short?", "Yes.").report.budget
    for _ in range(3):
        assert not talked.breaker.is_tripped(talked.model, budget)
        assert forced(talked)[1] == []
    assert talked.breaker.is_tripped(talked.model, budget)


def test_once_the_breaker_is_tripped_turns_are_dropped():
    talked = chat(threshold=4_000)
    for _ in range(3):
        talked.breaker.record("test/model", 2_727, has_shrunk=False)
    requests = talk(talked, 30)
    assert talked.compactions == []
    assert any(one.report.dropped for one in requests)


def test_a_blocked_chat_is_compacted_once_whatever_the_setting():
    talked = chat(threshold=4_000, history_policy=HistoryPolicy(auto_compact=False))
    requests = [talked.ask(f"{number} {QUESTION * 6}", "Yes.") for number in range(14)]
    actions = [one.report.actions for one in requests]
    assert any(one.block for one in actions)
    assert not any(one.compact and not one.block for one in actions)
    at = next(at for at, one in enumerate(actions) if one.block)
    assert 0.5 < requests[at].report.fraction < 0.7


# On request, and at the end of a turn


def forced(chat_, path=None, **fields):
    inputs = replace(chat_.inputs(""), path=tuple(path or chat_.path), turn="", **fields)
    kept = []
    return compact_session(replace(inputs, ports=chat_.ports(kept))), kept


def test_everything_before_the_last_complete_turn_is_summed_up_on_request():
    talked = chat(threshold=50_000)
    talk(talked, 5)
    compacted, kept = forced(talked)
    assert [entry.id for entry in kept] == [compacted.entry]
    assert (compacted.result.before_messages, compacted.result.after_messages) == (10, 3)
    assert compacted.to_dict()["strategies_run"] == ["summarise"]
    assert kept[0].parent_id == talked.path[-1].id


def test_nothing_is_compacted_twice():
    talked = chat(threshold=50_000)
    talk(talked, 5)
    _, kept = forced(talked)
    again, nothing = forced(talked, [*talked.path, *kept])
    assert (again.entry, nothing) == (None, [])
    assert again.result.before_tokens == again.result.after_tokens


def test_short_turns_are_summed_up_on_request_by_something_shorter_still():
    talked = chat(threshold=50_000, summarise=lambda task: "long " * 100)
    for _ in range(3):
        talked.ask("Hi.", "Yes.")
    compacted, _ = forced(talked)
    assert compacted.entry is not None
    assert compacted.result.after_tokens < compacted.result.before_tokens


def test_a_turn_that_fills_the_room_is_compacted_when_it_ends():
    talked = chat(threshold=4_000)
    kept = []
    for number in range(40):
        talked.ask(f"{number} {QUESTION}", ANSWER)
        inputs = replace(talked.inputs(""), path=tuple(talked.path), turn="")
        done = compact_if_due(replace(inputs, ports=talked.ports(kept)))
        if done is not None:
            break
    assert [entry.id for entry in kept] == [done.entry]
    assert talked.compactions == []


def test_what_is_wanted_in_a_summary_is_handed_on():
    tasks = []
    talked = chat(threshold=50_000, summarise=lambda task: tasks.append(task) or "Short.")
    talk(talked, 3)
    forced(talked, summary_instructions="Mention beans.")
    assert tasks[0].instructions == "Mention beans."


# Epochs


def test_raising_the_threshold_brings_back_what_was_trimmed():
    loop = agent()
    for _ in play(loop, 4):
        pass
    assert loop.chat.trims
    loop.chat.threshold = 100_000
    prepared = loop.begin(QUESTION)
    assert prepared.report.trimmed is None
    assert set(results(prepared)) == {RESULT}


def test_another_model_brings_back_what_was_trimmed_as_far_as_it_fits():
    loop = agent()
    for _ in play(loop, 4):
        pass
    before = len(loop.chat.trims)
    loop.chat.model = "test/another"
    prepared = loop.begin(QUESTION)
    assert prepared.report.actions.trim or prepared.report.trimmed is None
    assert len(loop.chat.trims) <= before + 1


def test_a_summary_stays_when_the_threshold_is_raised():
    talked = chat(threshold=4_000)
    talk(talked, 20)
    talked.threshold = 100_000
    assert talked.ask(QUESTION).messages[0].text.startswith(HEAD)


# Pins


def pin(chat_, target):
    chat_.path.append(PinEntry(next(chat_._ids), chat_.path[-1].id, TIME, target, True))


def test_a_pinned_message_moves_word_for_word_in_front_when_its_turn_is_summed_up():
    talked = chat(threshold=4_000)
    talked.ask("Remember: the code is 4711 & <more>.", "Yes.")
    pin(talked, talked.path[0].id)
    for prepared in talk(talked, 14):
        text = " ".join(message.text for message in prepared.messages)
        assert "4711" in text
    assert talked.compactions
    (segment,) = [use for use in prepared.report.segments if use.state == "pinned"]
    assert segment.segment.raw_content == "Remember: the code is 4711 & <more>."
    assert prepared.messages[-1].content[0].text.startswith("<prior_context")


def test_a_pinned_result_is_not_trimmed():
    loop = agent()
    loop.begin(QUESTION)
    loop.step("the pinned one\n" * 60)
    pinned = loop.chat.path[-1].id
    loop.end()
    pin(loop.chat, pinned)
    *_, prepared = play(loop, 3)
    assert loop.chat.trims
    assert "the pinned one\n" * 60 in results(prepared)


def test_a_pin_that_is_taken_off_holds_no_longer():
    talked = chat(threshold=4_000)
    talked.ask("Remember: the code is 4711.", "Yes.")
    pin(talked, talked.path[0].id)
    talk(talked, 14)
    target = talked.path[0].id
    talked.path.append(PinEntry(next(talked._ids), talked.path[-1].id, TIME, target, False))
    text = " ".join(message.text for message in talked.ask(QUESTION).messages)
    assert "4711" not in text


def test_no_action_is_the_default():
    assert Chat().ask("Hi.").report.actions == Actions()
