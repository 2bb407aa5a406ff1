"""One order of the layers, for the request and for its report."""

import json

from context import layers
from context.draft import Preamble, RequestDraft, Tail
from context.envelope import System, SystemPart
from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.layers import WIRE_ORDER, Layer
from context.messages import Message, ToolCallPart, ToolDefinition
from context.tokens import ByteEstimator
from tests.support.sessions.chats import passage

COUNTER = ByteEstimator()


def make_draft():
    tools = (ToolDefinition("words-of-T", "", {}),)
    preamble = Preamble(System((SystemPart("base", "words-of-L1"),)), tools, COUNTER)
    earlier = MeasuredTurn.measure(
        LoggedTurn("t1", (), None), [Message("user", "words-of-L4")], COUNTER
    )
    segments = tuple(
        passage(1, f"words-of-{layer}", id=str(layer), layer=layer)
        for layer in (Layer.L3, Layer.L2)
    )
    tail = Tail(segments, Message("user", "words-of-L5"), COUNTER, notes="words-of-E")
    work = (Message("assistant", (ToolCallPart("c1", "words-of-W", {}),)),)
    uncached = Message("user", "for this request alone")
    return RequestDraft(preamble, TurnList.of([earlier]), tail, work, uncached)


def layers_of_messages(draft):
    sent = json.dumps([message.to_dict() for message in draft.messages])
    positions = {sent.find(f"words-of-{layer}"): layer for layer in WIRE_ORDER}
    return [positions[at] for at in sorted(positions) if at >= 0]


def test_the_messages_of_a_request_follow_the_wire_order():
    messages = [layer for layer in WIRE_ORDER if layer not in (Layer.T, Layer.L1)]
    draft = make_draft()
    assert layers_of_messages(draft) == messages
    assert draft.messages[-1] is draft.uncached


def test_another_wire_order_makes_another_request(monkeypatch):
    monkeypatch.setattr(layers, "WIRE_ORDER", WIRE_ORDER[::-1])
    draft = make_draft()
    assert layers_of_messages(draft) == list(WIRE_ORDER[::-1])[:-2]
    assert draft.messages[-1] is draft.uncached
