"""What is found out of the notes in a request: each turn of a chat is read once."""

from collections import Counter
from typing import Any, cast

import pytest

from app.requests import keep
from context.assemble.request import Request
from context.history.memory import Memory
from context.history.replay import CurrentTurn, ReplayedPath
from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import Layer, Segment
from context.tokens import ByteEstimator

COUNTER = ByteEstimator()


def make_turn(number: int) -> LoggedTurn:
    note = Segment(
        f"s{number}", Layer.L3, "passage", f"Note {number}.md", (1, 2), f"v{number}", "x"
    )
    return LoggedTurn(f"t{number}", (f"e{number}",), None, segments=(note,))


def find_versions(summarised: TurnList, earlier: TurnList, current: LoggedTurn) -> dict[str, str]:
    """Return the notes that are known in a request of this chat, with their versions."""
    reading = ReplayedPath(
        COUNTER, earlier=earlier, open=CurrentTurn(current, Memory()), summarised=summarised
    )
    given = cast(Any, None)  # no part of it is read
    request = Request(given, given, None, "model", None, reading=reading)
    return dict(keep.find_note_texts(request, ["/vault"], lambda _id: None).versions)


def test_a_request_reads_the_turns_that_no_request_had_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: Counter[str] = Counter()
    read_sources = keep._read_sources

    def count(turn: LoggedTurn) -> Any:
        read[turn.turn_id] += 1
        return read_sources(turn)

    monkeypatch.setattr(keep, "_read_sources", count)
    summarised = TurnList.of([MeasuredTurn.measure(make_turn(0), (), COUNTER)])
    earlier = TurnList.of()
    for number in range(1, 40):
        current = make_turn(number)
        found = find_versions(summarised, earlier, current)
        assert found == {f"Note {n}.md": f"v{n}" for n in range(number + 1)}
        earlier = earlier.with_turn(MeasuredTurn.measure(current, (), COUNTER))
    # Once as the current turn, and once among those that are over.
    assert max(read.values()) == 2
