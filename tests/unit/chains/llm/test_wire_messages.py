"""Messages on the wire: what is encoded message by message is what is converted in one go."""

from hypothesis import given
from hypothesis import strategies as st

from chains.llm import wire_messages as wire
from chains.llm.wire_messages import (
    build_wire_conversation,
    build_wire_messages,
    encode_conversation,
    encode_messages,
    encode_turns,
)
from context.draft import make_message_body
from context.history.turn_list import TurnList
from context.history.turns import LoggedTurn, MeasuredTurn
from context.messages import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    compact_json,
)
from context.tokens import ByteEstimator
from tests.support.sessions.chats import Chat, passage

_TEXTS = st.sampled_from(["", "Hello", 'Quoted "so", \\ and ä\n'])
_USER_PARTS = st.one_of(_TEXTS.map(TextPart), st.just(ImagePart("image/png", "aGk=")))
_ASSISTANT_PARTS = st.one_of(
    _TEXTS.map(TextPart),
    _TEXTS.map(ReasoningPart),
    st.just(ToolCallPart("c1", "read_note", {"path": "a.md", "at": 1})),
)
_RESULTS = _TEXTS.map(lambda text: ToolResultPart("c1", text))


def _parts(part: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(part, max_size=3).map(tuple)


_MESSAGES = st.one_of(
    st.builds(Message, st.just("user"), st.one_of(_TEXTS, _parts(_USER_PARTS))),
    st.builds(Message, st.just("assistant"), st.one_of(_TEXTS, _parts(_ASSISTANT_PARTS))),
    st.builds(Message, st.just("tool"), st.one_of(_TEXTS, _parts(_RESULTS))),
)


def converted(messages: list[Message], uncached: int) -> list[str]:
    bodies = [make_message_body(message) for message in messages]
    return [compact_json(wired) for wired in build_wire_messages(bodies, uncached)]


def encoded(messages: list[Message], uncached: int) -> str:
    return ",".join(encode_messages(messages, uncached))


@given(st.lists(_MESSAGES, min_size=1, max_size=12), st.integers(0, 1))
def test_encoded_messages_are_the_converted_ones_to_the_byte(
    messages: list[Message], uncached: int
) -> None:
    expected = ",".join(converted(messages, uncached))
    assert encoded(messages, uncached) == expected
    assert encoded(messages, uncached) == expected, "and so they are when they come again"


@given(st.lists(_MESSAGES, min_size=2, max_size=12), st.data())
def test_a_message_is_encoded_the_same_whatever_requests_it_was_in(
    messages: list[Message], data: st.DataObject
) -> None:
    encoded(messages[: data.draw(st.integers(1, len(messages)))], 0)
    assert encoded(messages, 0) == ",".join(converted(messages, 0))


def test_a_message_of_an_earlier_request_is_not_converted_again(monkeypatch) -> None:
    said = [
        Message("user", "One?"),
        Message("assistant", (ToolCallPart("c1", "read_note", {}),)),
        Message("tool", (ToolResultPart("c1", "text"),)),
        Message("assistant", "One."),
    ]
    encoded(said[:1], 0)
    encoded([*said, Message("user", "Two?")], 0)
    converted_now: list[object] = []

    def watch(message: Message) -> dict[str, object]:
        converted_now.append(message.text)
        return make_message_body(message)

    monkeypatch.setattr(wire, "make_message_body", watch)
    encoded([*said, Message("user", "Two?"), Message("assistant", "2"), Message("user", "3?")], 0)
    assert converted_now == []


@given(st.lists(st.lists(_MESSAGES, max_size=4), max_size=5), st.lists(_MESSAGES, max_size=3))
def test_a_history_is_encoded_turn_by_turn_to_the_same_bytes(
    turns: list[list[Message]], work: list[Message]
) -> None:
    history, said = TurnList.of(), []
    for messages in turns:
        turn = MeasuredTurn.measure(LoggedTurn("t", (), None), messages, ByteEstimator())
        history = history.with_turn(turn)
        known = history.accumulate("wire", encode_turns)
        said += messages
    known = history.accumulate("wire", encode_turns)
    now = [Message("user", "And now?"), *work]
    texts = encode_messages((*known.open, *now), 0)
    assert ",".join((*filter(None, [known.text]), *texts)) == ",".join(converted([*said, *now], 0))


def test_the_conversation_of_a_chat_that_grows_is_encoded_to_the_byte() -> None:
    chat = Chat(threshold=50_000)
    for number, answer in enumerate(("One.", None, "Three.", "", "Five.")):
        prepared = chat.ask(f"Number {number}?", answer, [passage(1, f"<{number}>")])
        assert encode_conversation(prepared) == compact_json(build_wire_conversation(prepared))
        assert prepared.encode_body().text == compact_json(prepared.request_body())
