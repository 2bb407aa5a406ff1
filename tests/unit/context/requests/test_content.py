"""Parts of a kept request are left out and put back; everything else stays the same."""

import json
from typing import Any

import pytest

from context.requests.content import KeptContent
from context.requests.parts import order_keys

L2 = '<prior_context source="Old.md" type="note">\nold\n</prior_context>'
ONE = '<source n="1" path="A.md" lines="1-2">\nA &lt;b&gt;\n</source>'
TWO = '<source n="2" path="B.md">\nB\n</source>'
THREE = '<source n="3" path="A.md" lines="9-9">\nA again\n</source>'
IMAGE = {"type": "image", "media_type": "image/png", "data": "AAAA"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(id: str) -> dict[str, Any]:
    return {"type": "tool_call", "id": id, "name": "read_note", "arguments": {"path": "C.md"}}


def result(id: str, content: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_call_id": id, "content": content, "is_error": False}


BODY: dict[str, Any] = {
    "system": "Be brief.\n\n<garden>beds</garden>",
    "tools": [{"name": "read_note", "description": "d", "parameters": {}}],
    "messages": [
        {"role": "user", "content": "First?"},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Second?"},
        {"role": "assistant", "content": [call("c0")]},
        {"role": "tool", "content": [result("c0", "x")]},
        {"role": "assistant", "content": "Two."},
        {
            "role": "user",
            "content": [text(L2), text(f"{ONE}\n{TWO}\n{THREE}"), IMAGE, text("note"), text("Q?")],
        },
        {"role": "assistant", "content": [call("c1")]},
        {"role": "tool", "content": [result("c1", f"{TWO}\nrest")]},
        {"role": "user", "content": "uncached"},
    ],
    "options": {"maxTokens": 100, "temperature": 0.2},
    "marks": [{"layer": "L1", "message": None}, {"layer": "L4", "message": 5}],
}
LAYOUT = {
    "system": [["base", 11], ["garden", 21]],
    "history": 6,
    "blocks": ["L2", "L3", "E"],
    "uncached": True,
}


@pytest.fixture
def kept() -> KeptContent:
    return KeptContent(BODY, LAYOUT)


def changed(**messages: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(BODY)), **messages}


def test_every_part_is_named_once_and_the_question_is_none(kept: KeptContent) -> None:
    assert [part.key for part in kept.parts] == [
        *("T", "T.1", "L1", "L1.1", "L1.2", "L4", "L4.1", "L4.2", "L2", "L2.1"),
        *("L3", "1", "2", "3", "L3.1", "E", "E.1", "E.2", "W", "W.1"),
    ]
    labels = {part.key: part.label for part in kept.parts}
    assert (labels["1"], labels["L4.2"]) == ("[1] A.md, lines 1–2", "Second?")
    assert next(part for part in kept.parts if part.key == "1").text == "A <b>"


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["1"], f"{TWO}\n{THREE}"),
        (["2"], f"{ONE}\n{THREE}"),
        (["3"], f"{ONE}\n{TWO}"),
        (["1", "3"], TWO),
        (["2", "3"], ONE),
    ],
)
def test_a_source_leaves_the_others_as_they_were(
    kept: KeptContent, keys: list[str], left: str
) -> None:
    messages = kept.leave_out(keys).body["messages"]
    assert messages[6]["content"][1] == text(left)
    assert messages[8]["content"][0]["content"] == ("rest" if "2" in keys else f"{TWO}\nrest")
    assert messages[:6] == BODY["messages"][:6]
    assert messages[7] == BODY["messages"][7]


def test_a_text_goes_with_its_last_source_and_a_layer_with_its_images(kept: KeptContent) -> None:
    every = kept.leave_out(["1", "2", "3"]).body["messages"][6]["content"]
    assert every == [text(L2), IMAGE, text("note"), text("Q?")]
    layer = kept.leave_out(["L3"]).body["messages"][6]["content"]
    assert layer == [text(L2), text("note"), text("Q?")]
    ephemeral = kept.leave_out(["E"])
    assert ephemeral.body["messages"][6]["content"][-2:] == [IMAGE, text("Q?")]
    assert (len(ephemeral.body["messages"]), ephemeral.has_uncached) == (9, False)


def test_a_turn_goes_with_its_calls_and_results_and_marks_move(kept: KeptContent) -> None:
    cut = kept.leave_out(["L4.1"])
    assert cut.body["messages"] == BODY["messages"][2:]
    assert cut.body["marks"] == [{"layer": "L1", "message": None}, {"layer": "L4", "message": 3}]
    assert (cut.history, cut.has_uncached) == (4, True)
    cut = kept.leave_out(["L4.2"])
    assert cut.body["messages"] == [*BODY["messages"][:2], *BODY["messages"][6:]]
    assert cut.body["marks"] == [{"layer": "L1", "message": None}]
    cut = kept.leave_out(["W.1"])
    assert cut.body["messages"] == [*BODY["messages"][:7], BODY["messages"][9]]
    assert kept.leave_out(["L4"]).history == 0


def test_instructions_and_tools_are_left_out_by_name(kept: KeptContent) -> None:
    cut = kept.leave_out(["L1.1", "T.1"])
    assert (cut.body["system"], cut.body["tools"]) == ("<garden>beds</garden>", [])
    assert cut.system_parts == (("garden", "<garden>beds</garden>"),)
    none = kept.leave_out(["L1"])
    assert (none.body["system"], none.system_parts) == ("", ())
    assert none.body["marks"] == [{"layer": "L4", "message": 5}]


def test_what_is_put_back_is_what_was_there(kept: KeptContent) -> None:
    keys = [part.key for part in kept.parts]
    assert kept.body is BODY
    for key in keys:
        cut = kept.leave_out([key])
        assert cut.body != BODY
        assert cut.put_back([key]) == kept
        assert cut.leave_out([key]) == cut
        assert cut.body["messages"][-1 - cut.has_uncached :] != []
    bare = kept.leave_out(keys)
    assert bare.body["messages"] == [{"role": "user", "content": [text("Q?")]}]
    assert bare.put_back(keys).body == BODY
    with pytest.raises(KeyError):
        kept.leave_out(["9"])


def test_keys_are_shown_by_number_and_then_by_layer() -> None:
    assert order_keys(["L4.10", "10", "L2", "L4.9", "9"]) == ["9", "10", "L2", "L4.9", "L4.10"]
