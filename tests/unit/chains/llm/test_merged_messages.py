"""Property tests: the messages that are counted as merged are those that are sent as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chains.llm.wire_messages import build_wire_messages
from context.draft import make_message_body
from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.messages import Message, TextPart, ToolCallPart, ToolResultPart
from context.tokens import CALL_OVERHEAD_TOKENS

MESSAGE_TOKENS = 100
PART_TOKENS = 1

TEXTS = st.text("abc", min_size=1, max_size=3)
USERS = st.one_of(
    st.builds(lambda text: Message("user", text), TEXTS),
    st.builds(
        lambda texts: Message("user", tuple(map(TextPart, texts))),
        st.lists(TEXTS, min_size=1, max_size=3),
    ),
)
ASSISTANTS = st.builds(lambda text: Message("assistant", text), TEXTS)
CALLS = st.builds(lambda id: Message("assistant", (ToolCallPart(id, "read_note", {}),)), TEXTS)
RESULTS = st.builds(lambda id: Message("tool", (ToolResultPart(id, "text"),)), TEXTS)
MESSAGES = st.one_of(USERS, ASSISTANTS, CALLS, RESULTS)
TURNS = st.lists(st.lists(MESSAGES, min_size=1, max_size=4), min_size=1, max_size=5)


@dataclass(frozen=True)
class OverheadCounter:
    """Counts no text: only messages and their parts, so that each merge shows in the sum."""

    name: str = "overhead"
    is_exact: bool = True
    message_overhead: int = MESSAGE_TOKENS
    part_overhead: int = PART_TOKENS

    def count(self, text: str) -> int:
        """Return 0 for any text."""
        return 0


def measure_turns(turns: Sequence[Sequence[Message]]) -> TurnList:
    """Measure the history as requests do."""
    counter = OverheadCounter()
    turn = LoggedTurn("t", (), None)
    return TurnList.of(MeasuredTurn.measure(turn, messages, counter) for messages in turns)


def count_wire_message(message: dict[str, Any]) -> int:
    """Count a message as it is sent: itself, its parts, and its calls or its result."""
    content = message["content"]
    calls = len(message.get("tool_calls", ())) + (message["role"] == "tool")
    parts = calls if isinstance(content, str | None) else len(content) + calls
    return MESSAGE_TOKENS + parts * PART_TOKENS + calls * CALL_OVERHEAD_TOKENS


@given(TURNS, st.integers(0, 4))
def test_the_counted_history_is_the_history_that_is_sent(
    turns: list[list[Message]], start: int
) -> None:
    start = min(start, len(turns) - 1)
    sent = [message for turn in turns[start:] for message in turn]
    wired = build_wire_messages([make_message_body(message) for message in sent])
    counted = measure_turns(turns)[start:].tokens
    assert counted == sum(map(count_wire_message, wired))
