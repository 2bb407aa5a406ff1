"""What the layers without segments hold, piece by piece."""

from context.assemble.inputs import HistoryPolicy
from context.draft import RequestDraft, Tail, make_preamble
from context.envelope import System, SystemPart
from context.history.turn_list import TurnList
from context.layers import Layer
from context.messages import Message, ToolDefinition
from context.report.layer_parts import SINGLE_TURNS, list_layer_parts
from context.tokens import ByteEstimator
from tests.support.sessions.chats import Chat

TOOLS = tuple(ToolDefinition(f"tool_{n}", "Does it. " * n, {"type": "object"}) for n in range(1, 4))


def pieces(prepared, layer):
    return prepared.report.parts[layer]


def test_tools_are_told_one_by_one_and_add_up():
    counter = ByteEstimator()
    parts = System((SystemPart("chat", "Be kind."), SystemPart("agents", "Be brief.")))
    draft = RequestDraft(
        make_preamble(parts, TOOLS, counter), TurnList.of(), Tail((), Message("user", "?"), counter)
    )
    found = list_layer_parts(draft)
    assert [part.name for part in found[Layer.T]] == ["tool_1", "tool_2", "tool_3"]
    assert sum(part.tokens for part in found[Layer.T]) == draft.layers[Layer.T]
    assert [part.name for part in found[Layer.L1]] == ["chat", "agents"]
    assert found[Layer.L4] == ()


def test_the_newest_turns_are_told_one_by_one_and_the_older_ones_together():
    chat = Chat(threshold=50_000)
    for number in range(SINGLE_TURNS + 8):
        prepared = chat.ask(f"Question {number}?", "answer " * (number + 1))
    older, *single = pieces(prepared, Layer.L4)
    assert (older.kind, older.turns, older.entry) == ("turns", 7, None)
    assert [part.kind for part in single] == ["turn"] * SINGLE_TURNS
    asked = [message.id for message in prepared.messages if message.role == "user"]
    assert [part.entry for part in single] == asked[-SINGLE_TURNS - 1 : -1]
    assert older.tokens + sum(p.tokens for p in single) == prepared.report.layers[Layer.L4].tokens


def test_one_older_turn_is_told_like_the_others():
    chat = Chat(threshold=50_000)
    for number in range(SINGLE_TURNS + 2):
        prepared = chat.ask(f"Question {number}?")
    assert [part.kind for part in pieces(prepared, Layer.L4)] == ["turn"] * (SINGLE_TURNS + 1)


def test_a_summary_is_told_as_one():
    chat = Chat(history_policy=HistoryPolicy(), summarise=lambda task: "What was said.")
    while not chat.compactions:
        prepared = chat.ask("Question?", "answer " * 100)
    first, *turns = pieces(prepared, Layer.L4)
    assert (first.kind, first.turns) == ("summary", 0)
    assert {part.kind for part in turns} == {"turn"}


def test_the_report_lists_them_by_layer():
    chat = Chat(threshold=50_000)
    chat.ask("Why?")
    report = chat.ask("And?").report.to_dict()
    assert list(report["parts"]) == ["T", "L1", "L4"]
    (turn,) = report["parts"]["L4"]
    assert turn == {
        "kind": "turn",
        "name": "",
        "entry": "00000001",
        "turns": 1,
        "tokens": turn["tokens"],
    }
    assert turn["tokens"] == report["layers"]["L4"]["tokens"]
