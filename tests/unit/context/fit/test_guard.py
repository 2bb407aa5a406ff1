from dataclasses import replace

import pytest

from context.assemble.inputs import Ports
from context.assemble.request import Request
from context.budget import compute_budget
from context.draft import RequestDraft, Tail, make_preamble
from context.envelope import System, SystemPart
from context.errors import ContextError, UnguardedRequest
from context.fit.guard import enforce_budget, seal
from context.history.turn_list import TurnList
from context.history.turns import MeasuredTurn, list_turns
from context.layers import Layer
from context.log.entries import MessageEntry
from context.messages import Message
from context.tokens import ByteEstimator
from tests.support.sessions.chats import TIME, Chat, passage

COUNTER = ByteEstimator()


def chars(tokens):
    return "x" * int(tokens * 3.5 / 1.05)


def draft(*answers, question="Why?", segments=()):
    """A draft with a turn for each answer; `None` is a question that was not answered."""
    path = []
    for at, answer in enumerate(answers):
        path.append(MessageEntry(f"q{at}", None, TIME, Message("user", f"Question {at}"), f"t{at}"))
        if answer is not None:
            message = Message("assistant", answer)
            path.append(MessageEntry(f"a{at}", f"q{at}", TIME, message, f"t{at}"))
    measured = (MeasuredTurn.measure(turn, turn.messages, COUNTER) for turn in list_turns(path))
    history = TurnList.of(measured)
    before = make_preamble(System((SystemPart("base", "Be kind."),)), (), COUNTER)
    return RequestDraft(before, history, Tail(tuple(segments), Message("user", question), COUNTER))


def guard(found, budget, lasting_tail_tokens):
    """Put a draft through the guard, with a budget of its own."""
    sizes = replace(compute_budget(COUNTER, 4_000, None, 1_000), budget=budget)
    preamble = found.preamble
    lasting = preamble.tool_tokens + preamble.system_tokens + lasting_tail_tokens
    fields = {"draft": found, "unguarded": found, "lasting_tokens": lasting}
    ports = Ports.build_for_call(COUNTER)
    return enforce_budget(
        Request(ports, sizes, "s1", "test/model", None, state="drafted", **fields)
    )


def questions(guarded):
    return [turn.turn.turn_id for turn in guarded.draft.history]


def reasons(guarded):
    return [left_out.reason for left_out in guarded.left_out]


def test_what_fits_is_left_alone():
    found = draft("a", "b")
    guarded = guard(found, found.used, 10)
    assert guarded.draft is found
    assert (guarded.state, guarded.steps, guarded.left_out) == ("guarded", (), ())
    assert guarded.cut == 0


def test_one_token_over_is_over():
    found = draft("a", "b")
    assert guard(found, found.used - 1, found.tail.total).steps == ("drop",)


def test_a_history_over_its_room_is_cut_to_three_quarters_of_it():
    found = draft(*[chars(100)] * 10)
    budget = found.used - 1
    guarded = guard(found, budget, found.tail.total)
    room = budget - found.layers[Layer.L1] - found.tail.total
    assert guarded.steps == ("drop",)
    assert reasons(guarded) == ["room"]
    assert guarded.cut == guarded.left_out[0].turns == 3
    assert guarded.draft.layers[Layer.L4] <= 0.75 * room
    assert questions(guarded) == [f"t{number}" for number in range(3, 10)]


def test_what_a_large_tail_has_no_room_for_leaves_for_this_request_only():
    found = draft(*[chars(100)] * 10, question=chars(500))
    budget = found.used - 150
    guarded = guard(found, budget, lasting_tail_tokens=100)
    assert guarded.steps == ("tail",)
    assert reasons(guarded) == ["tail"]
    assert guarded.cut == 0
    assert guarded.left_out[0].turns == 2
    assert guarded.draft.used <= budget


def test_a_cut_that_stays_can_be_followed_by_one_for_this_request():
    found = draft(*[chars(100)] * 10, question=chars(800))
    guarded = guard(found, 1_400, lasting_tail_tokens=350)
    assert guarded.steps == ("drop", "tail")
    assert guarded.cut == guarded.left_out[0].turns
    assert guarded.draft.used <= 1_400


def test_the_last_answered_turn_stays_while_anything_else_can_go():
    found = draft("a", "b", None, segments=[passage(1, chars(300))])
    guarded = guard(found, 200, lasting_tail_tokens=50)
    assert questions(guarded) == ["t1"]
    assert "history_guarantee_broken" not in guarded.steps


def test_questions_without_an_answer_go_before_passages_do():
    found = draft("a", None, segments=[passage(1, chars(50))])
    failed = replace(found.history[1], tokens=500)
    found = replace(found, history=TurnList.of((found.history[0], failed)))
    guarded = guard(found, 250, lasting_tail_tokens=60)
    assert questions(guarded) == ["t0"]
    assert guarded.draft.tail.segments == found.tail.segments


def test_long_answers_that_remain_are_shortened():
    sentence = "This is a sentence. "
    found = draft(sentence * 500)
    guarded = guard(found, 1_500, found.tail.total)
    assert guarded.steps == ("shorten",)
    answer = guarded.draft.history[0].messages[1].text
    assert len(answer) <= 2_004
    assert answer.endswith("sentence. ...")
    saved = found.used - guarded.draft.used
    assert [left_out.to_dict() for left_out in guarded.left_out] == [
        {"layer": "L4", "entries": ["a0"], "turns": 0, "tokens": saved, "reason": "shortened"}
    ]


def test_user_text_is_never_shortened():
    found = draft("a", segments=[passage(1, chars(300))])
    long_question = MessageEntry("q", None, TIME, Message("user", "Long. " * 1_000), "t")
    answer = MessageEntry("a", "q", TIME, Message("assistant", "b"), "t")
    (turn,) = list_turns([long_question, answer])
    found = replace(
        found, history=TurnList.of((MeasuredTurn.measure(turn, turn.messages, COUNTER),))
    )
    guarded = guard(found, found.used - 200, 10)
    assert guarded.draft.history[0].messages[0].text == "Long. " * 1_000


def test_only_as_many_answers_are_shortened_as_need_be_the_oldest_first():
    long_answer = "This is a sentence. " * 300
    found = draft(long_answer, long_answer)
    newest = found.history[1]
    merged = replace(found.history[0], messages=(*found.history[0].messages, *newest.messages[1:]))
    merged = MeasuredTurn.measure(merged.turn, merged.messages, COUNTER)
    found = replace(found, history=TurnList.of((merged,)))
    guarded = guard(found, found.used - 100, 10)
    lengths = [len(message.text) for message in guarded.draft.history[0].messages]
    assert lengths[1] < 2_100
    assert lengths[2] == len(long_answer)


def test_passages_leave_from_the_lowest_rank():
    passages = [passage(number, chars(100)) for number in range(1, 5)]
    found = draft("a", segments=passages)
    guarded = guard(found, found.used - 200, lasting_tail_tokens=600)
    assert guarded.steps == ("shrink_tail",)
    assert [segment.id for segment in guarded.draft.tail.segments] == ["p1", "p2"]
    assert [left_out.entries for left_out in guarded.left_out] == [("p4",), ("p3",)]
    assert reasons(guarded) == ["budget", "budget"]


def test_what_was_attached_outlives_passages_and_the_newest_outlives_all():
    note = replace(passage(1, chars(100)), id="note", kind="note")
    pin = replace(passage(2, chars(100)), id="pin", kind="note", pinned=True)
    carried = replace(passage(3, chars(100)), id="carried", kind="note", layer=Layer.L2)
    found = draft("a", segments=[pin, carried, note, passage(4, chars(100))])
    guarded = guard(found, 230, lasting_tail_tokens=100)
    assert [left_out.entries[0] for left_out in guarded.left_out] == ["p4", "carried", "pin"]
    assert [segment.id for segment in guarded.draft.tail.segments] == ["note"]


def test_the_last_turn_goes_last_and_is_named():
    found = draft(chars(300), question=chars(100))
    guarded = guard(found, 150, lasting_tail_tokens=30)
    assert guarded.steps[-1] == "history_guarantee_broken"
    assert reasons(guarded) == ["history_guarantee_broken"]
    assert guarded.draft.history == ()
    assert guarded.state == "guarded"


def test_a_question_that_does_not_fit_alone_is_all_that_is_left():
    found = draft("a", "b", question=chars(500), segments=[passage(1, "a")])
    guarded = guard(found, 300, lasting_tail_tokens=50)
    assert guarded.state == "refused"
    assert guarded.draft.history == ()
    assert guarded.draft.tail.segments == ()
    assert guarded.draft.tail.message.text == chars(500)
    assert guarded.steps == guarded.left_out == ()


def test_a_request_cannot_be_made_beside_the_guard():
    prepared = Chat().ask("Why?")
    with pytest.raises(UnguardedRequest):
        replace(guard(prepared.draft, 4_000, 10), state="sealed", sealed_report=prepared.report)
    with pytest.raises(UnguardedRequest):
        replace(prepared, draft=prepared.draft)


def test_what_did_not_pass_is_not_sealed():
    guarded = guard(draft(question=chars(500)), 300, lasting_tail_tokens=50)
    with pytest.raises(ContextError):
        seal(guarded, Chat().ask("Why?").report)


def test_the_body_is_fresh_each_time():
    prepared = Chat().ask("Why?")
    prepared.request_body()["messages"].clear()
    prepared.request_body()["options"]["temperature"] = 2
    assert prepared.request_body() == {
        "system": "You answer from the notes.",
        "tools": [],
        "messages": [{"role": "user", "content": "Why?"}],
        "options": {"temperature": 0.2, "maxTokens": 1_000},
        "marks": [],
    }
