import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.errors import ContextError, MalformedMessage
from context.messages import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, st.text()),
    st.builds(lambda text: {"type": "reasoning", "text": text}, st.text()),
    st.builds(lambda data: {"type": "image", "media_type": "image/png", "data": data}, st.text()),
    st.builds(
        lambda name, arguments: {
            "type": "tool_call",
            "id": "c1",
            "name": name,
            "arguments": arguments,
        },
        st.text(),
        st.dictionaries(st.text(), JSON, max_size=3),
    ),
    st.builds(
        lambda text, failed: {
            "type": "tool_result",
            "tool_call_id": "c1",
            "content": text,
            "is_error": failed,
        },
        st.text(),
        st.booleans(),
    ),
)
MESSAGES = st.builds(
    lambda role, content, entry: (
        {"role": role, "content": content} | ({} if entry is None else {"id": entry})
    ),
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.text() | st.lists(PARTS, max_size=4),
    st.none() | st.text(),
)


@given(MESSAGES)
def test_to_dict_is_the_inverse_of_from_dict(data):
    message = Message.from_dict(data)
    assert message.to_dict() == data
    assert Message.from_dict(message.to_dict()) == message


@given(MESSAGES)
def test_equal_messages_have_equal_hashes_and_digests(data):
    first, second = Message.from_dict(data), Message.from_dict(data)
    assert hash(first) == hash(second)
    assert first.digest == second.digest


def test_every_kind_of_part_is_read():
    message = Message.from_dict(
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "reasoning", "text": "b"},
                {"type": "image", "media_type": "image/png", "data": "aGk="},
                {"type": "tool_call", "id": "c1", "name": "read_note", "arguments": {"path": "x"}},
                {"type": "tool_result", "tool_call_id": "c1", "content": "y", "is_error": True},
            ],
        }
    )
    assert message.content == (
        TextPart("a"),
        ReasoningPart("b"),
        ImagePart("image/png", "aGk="),
        ToolCallPart("c1", "read_note", {"path": "x"}),
        ToolResultPart("c1", "y", is_error=True),
    )


def test_a_missing_is_error_is_false_and_is_written():
    part = {"type": "tool_result", "tool_call_id": "c1", "content": "y"}
    message = Message.from_dict({"role": "tool", "content": [part]})
    assert message.to_dict()["content"] == [{**part, "is_error": False}]


def test_unknown_keys_of_a_message_are_ignored():
    message = Message.from_dict({"role": "user", "content": "hi", "timestamp": 3})
    assert message.to_dict() == {"role": "user", "content": "hi"}


def test_the_id_is_kept_where_present():
    assert Message.from_dict({"role": "user", "content": "hi", "id": "e1"}).id == "e1"
    assert "id" not in Message("user", "hi").to_dict()


def test_changing_what_was_read_changes_nothing():
    arguments = {"paths": ["a"], "options": {"deep": [1]}}
    content = [{"type": "tool_call", "id": "c", "name": "n", "arguments": arguments}]
    message = Message.from_dict({"role": "assistant", "content": content})
    before = message.to_dict()
    arguments["paths"].append("b")
    arguments["options"]["deep"].append(2)
    content.append({"type": "text", "text": "more"})
    assert message.to_dict() == before != {"role": "assistant", "content": content}


def test_changing_what_was_written_changes_nothing():
    call = ToolCallPart("c", "n", {"paths": ["a"], "options": {"deep": [1]}})
    message = Message("assistant", (call,))
    written = message.to_dict()
    written["content"][0]["arguments"]["options"]["deep"].append(2)
    written["content"].append("x")
    assert message.to_dict()["content"] == [
        {
            "type": "tool_call",
            "id": "c",
            "name": "n",
            "arguments": {"paths": ["a"], "options": {"deep": [1]}},
        }
    ]


def test_content_given_as_a_list_is_kept_as_a_tuple():
    parts = [TextPart("a")]
    message = Message("user", parts)
    parts.append(TextPart("b"))
    assert message.content == (TextPart("a"),)


def test_arguments_that_differ_only_in_type_are_different():
    one, yes = ToolCallPart("c", "n", {"a": 1}), ToolCallPart("c", "n", {"a": True})
    assert one != yes


def test_arguments_are_equal_whatever_the_order_of_their_keys():
    first = ToolCallPart("c", "n", {"a": 1, "b": 2})
    second = ToolCallPart("c", "n", {"b": 2, "a": 1})
    assert first == second
    assert first.arguments_json == second.arguments_json == '{"a":1,"b":2}'


def test_arguments_compare_with_plain_dictionaries():
    assert ToolCallPart("c", "n", {"a": [1, {"b": 2}]}).arguments == {"a": [1, {"b": 2}]}


def test_text_joins_the_text_parts_only():
    message = Message("assistant", (TextPart("a"), ReasoningPart("no"), TextPart("b")))
    assert message.text == "ab"


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"role": "robot", "content": "x"},
        {"role": "user"},
        {"role": "user", "content": 3},
        {"role": "user", "content": ["x"]},
        {"role": "user", "content": [{"type": "video"}]},
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "user", "content": [{"type": ["text"], "text": "a"}]},
        {"role": "user", "content": "x", "id": 3},
        {"role": "assistant", "content": [{"type": "tool_call", "id": "c", "name": "n"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_call", "id": "c", "name": "n", "arguments": {"a": {1}}}],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_call", "id": "c", "name": "n", "arguments": {1: "a"}}],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool_result", "tool_call_id": "c", "content": "x", "is_error": "no"}
            ],
        },
    ],
)
def test_what_is_not_a_message_is_refused_in_words(data):
    with pytest.raises(MalformedMessage) as caught:
        Message.from_dict(data)
    assert isinstance(caught.value, ContextError)
    assert str(caught.value).endswith(".")


def test_a_tool_definition_is_read_and_written():
    data = {
        "name": "search_notes",
        "description": "Search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    }
    tool = ToolDefinition.from_dict(data)
    assert tool.to_dict() == data
    data["parameters"]["properties"]["k"] = {}
    assert "k" not in tool.to_dict()["parameters"]["properties"]


def test_a_tool_definition_needs_a_name_and_an_object():
    with pytest.raises(MalformedMessage):
        ToolDefinition.from_dict({"description": "x", "parameters": {}})
    with pytest.raises(MalformedMessage):
        ToolDefinition.from_dict({"name": "x", "parameters": []})


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "media_type": "image/png\ud800", "data": "AAAA\udfff"},
        {"type": "reasoning", "text": "So.", "signature": "abc\ud800"},
    ],
)
def test_every_text_of_a_part_can_be_encoded(part):
    message = Message.from_dict({"role": "assistant", "content": [part]})
    assert json.dumps(message.to_dict(), ensure_ascii=False).encode()
