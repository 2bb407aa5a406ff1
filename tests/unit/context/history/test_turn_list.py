from hypothesis import given
from hypothesis import strategies as st

from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.messages import Message, ToolResultPart
from context.offload import offload_stub
from context.tokens import ByteEstimator, count_message
from tests.support.sessions.recount import merge_for_wire

COUNTER = ByteEstimator()


def turn(name, *texts):
    messages = [Message("user", text, f"{name}.{at}") for at, text in enumerate(texts)]
    ids = tuple(str(message.id) for message in messages)
    return MeasuredTurn.measure(LoggedTurn(name, ids, None), messages, COUNTER)


def turns(count):
    return [turn(f"t{at}", *["word"] * (at % 3 + 1)) for at in range(count)]


@given(st.integers(0, 9), st.integers(-10, 10), st.integers(-10, 10))
def test_a_part_holds_what_the_same_part_of_a_tuple_holds(count, start, stop):
    every = turns(count)
    part, same = TurnList.of(every)[start:stop], tuple(every)[start:stop]
    assert part == same
    assert list(reversed(part)) == list(reversed(same))
    sent = merge_for_wire(message for one in same for message in one.messages)
    assert part.tokens == sum(count_message(message, COUNTER) for message in sent)
    assert part.message_count == sum(len(one.messages) for one in same)
    assert list(part.messages) == [message for one in same for message in one.messages]
    assert part.entries == [entry for one in same for entry in one.turn.entry_ids]
    assert part.digest == TurnList.of(same).digest


def test_a_list_that_goes_on_shares_its_beginning():
    first = TurnList.of(turns(3))
    longer = first.with_turn(turn("next", "more"))
    assert (len(first), len(longer)) == (3, 4)
    assert longer[:3] == first
    assert first.common(longer) == 3
    assert longer.common(TurnList.of(turns(4))) == 0


def test_two_lists_may_go_on_from_the_same_beginning_in_their_own_ways():
    first = TurnList.of(turns(3))
    one, other = first.with_turn(turn("one", "1")), first.with_turn(turn("other", "2"))
    assert one[-1].turn.turn_id == "one"
    assert other[-1].turn.turn_id == "other"
    assert one[:3] == other[:3] == first


def test_a_digest_goes_on_and_can_be_asked_for_again():
    first = TurnList.of(turns(3))
    before = first.digest
    longer = first.with_turn(turn("next", "more"))
    assert longer.digest == TurnList.of(longer).digest != before
    assert first.digest == before


def test_an_entry_is_found_in_the_part_that_holds_it():
    every = TurnList.of(turns(5))
    assert every.position("t3.0") == 3
    assert every[2:].position("t3.0") == 1
    assert every[:2].position("t3.0") is None
    assert every.position("gone") is None


def test_results_that_are_kept_elsewhere_are_told_of():
    stub = ToolResultPart("c", offload_stub("search", "x" * 5_000, "r1"))
    kept = MeasuredTurn.measure(
        LoggedTurn("t", ("m",), None), [Message("tool", (stub,), "m")], COUNTER
    )
    every = TurnList.of([*turns(2), kept])
    assert [one.to_dict() for one in every.offloaded] == [
        {"ref_id": "r1", "tool": "search", "bytes": 5_000}
    ]
    assert list(every[:2].offloaded) == []


def test_what_is_made_of_turns_goes_on_from_what_was_made_of_the_first_of_them():
    seen: list[int] = []

    def names(known, more):
        seen.append(len(more))
        return (*(known or ()), *(one.turn.turn_id for one in more))

    every = turns(5)
    first = TurnList.of(every[:3])
    longer = first.with_turn(every[3]).with_turn(every[4])

    assert first.accumulate("names", names) == ("t0", "t1", "t2")
    assert longer.accumulate("names", names) == ("t0", "t1", "t2", "t3", "t4")
    assert longer[2:].accumulate("names", names) == ("t2", "t3", "t4")
    assert seen == [3, 2, 3], "the turns that were not there before, and those of another beginning"
    assert first.accumulate("names", names) == ("t0", "t1", "t2")
    assert TurnList.of().accumulate("names", names) == ()


def test_the_turn_that_stands_there_already_is_not_added_twice():
    first, last = TurnList.of(turns(2)), turn("t2", "word")
    again = [first.with_turn(last), first.with_turn(last)]

    assert [len(one) for one in again] == [3, 3]
    assert again[0].common(again[1]) == 3
    other = first.with_turn(turn("t3", "word"))
    assert [one.turn.turn_id for one in other] == ["t0", "t1", "t3"]
    assert again[0][2] is last
