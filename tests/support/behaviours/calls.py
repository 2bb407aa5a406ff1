"""Tool calls in other forms than OpenAI's, and calls that are not valid.

After the calls, each server expects the strict form of the request with their results.
"""

import json
from typing import Any

from tests.support.behaviours.behaviour import (
    DONE,
    HEAD,
    Behaviour,
    chunk,
    finish,
    played,
    stream,
    text,
)
from tests.support.models.model_server import Answer, Body, Failure, Reply, Script
from tests.support.models.stage import Step
from tests.support.models.strict_server import strict

SAID = "In the shed."
PATH = '{"path": "Watering.md"}'


def _call(index: int | None, name: str | None, arguments: Any, id: str | None = None) -> bytes:
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    call: dict[str, Any] = {"function": function}
    if index is not None:
        call["index"] = index
    if id is not None:
        call |= {"id": id, "type": "function"}
    return chunk({"tool_calls": [call]})


def _expecting(*contents: str) -> Script:
    """Answer a request that holds these texts in the results at its end, one for each."""

    def answer(body: Body) -> Reply:
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"][-len(contents) :]
        if len(results) < len(contents) or any(
            wanted not in str(result) for wanted, result in zip(contents, results, strict=True)
        ):
            return Failure.saying(400, f"unexpected results: {json.dumps(results)[:400]}")
        return Answer(SAID)

    return strict(answer)


def _row(name: str, *steps: Step, expected: tuple[str, ...] = ("210 litres",)) -> Behaviour:
    calling = played(*steps, finish("tool_calls"), DONE)
    return Behaviour(name, (calling, _expecting(*expected)), SAID, requests=2, mode="agent")


def _faulty(name: str, *steps: Step, error: str) -> Behaviour:
    return _row(name, *steps, expected=(error,))


_DEEP = "[" * 200 + "]" * 200

FORMS = (
    _row("a call as it should be", _call(0, "read_note", PATH, "c1")),
    _row(
        "arguments in pieces", _call(0, "read_note", "", "c1"), *(_call(0, None, c) for c in PATH)
    ),
    _row(
        "a name in pieces", _call(0, "read_", "", "c1"), _call(0, "note", ""), _call(0, None, PATH)
    ),
    _row(
        "a name with every piece",
        _call(0, "read_note", PATH[:9], "c1"),
        _call(0, "read_note", PATH[9:], "c1"),
    ),
    _row(
        "arguments that repeat all so far",
        _call(0, "read_note", "", "c1"),
        *(_call(0, None, PATH[:end]) for end in (5, 11, 18, len(PATH))),
    ),
    _row(
        "whole arguments, sent twice",
        _call(0, "read_note", PATH, "c1"),
        _call(0, "read_note", PATH, "c1"),
    ),
    _row("arguments encoded twice", _call(0, "read_note", json.dumps(PATH), "c1")),
    _row("arguments as an object", _call(0, "read_note", json.loads(PATH), "c1")),
    _row(
        "head and tail on different indexes", _call(0, "read_note", "", "c1"), _call(1, None, PATH)
    ),
    _row("no index", _call(None, "read_note", PATH, "c1")),
    _row("no index and no id", _call(None, "read_note", PATH)),
    _row(
        "pieces without index and id",
        _call(None, "read_note", ""),
        *(_call(None, None, PATH[at : at + 6]) for at in range(0, len(PATH), 6)),
    ),
    _row(
        "two calls with the same index",
        _call(0, "read_note", PATH, "c1"),
        _call(0, "read_note", '{"path": "garden/Kompost.md"}', "c2"),
        expected=("210 litres", "sechs Wochen"),
    ),
    _row(
        "two calls in turns",
        _call(0, "read_note", "", "c1"),
        _call(1, "read_note", "", "c2"),
        _call(0, None, PATH),
        _call(1, None, '{"path": "garden/Kompost.md"}'),
        expected=("210 litres", "sechs Wochen"),
    ),
    _row(
        "two calls with the same id",
        _call(0, "read_note", PATH, "c1"),
        _call(1, "read_note", '{"path": "garden/Kompost.md"}', "c1"),
        expected=("210 litres", "sechs Wochen"),
    ),
    _row(
        "a function call of the old form",
        chunk({"function_call": {"name": "read_note", "arguments": PATH[:8]}}),
        chunk({"function_call": {"arguments": PATH[8:]}}),
    ),
    _row("an id that no other server takes", _call(0, "read_note", PATH, "call:1 ☃ " + "x" * 90)),
    _row(
        "an id that is a number",
        chunk(
            {
                "tool_calls": [
                    {"index": 0, "id": 17, "function": {"name": "read_note", "arguments": PATH}}
                ]
            }
        ),
    ),
    _row(
        "null arguments",
        chunk(
            {
                "tool_calls": [
                    {"index": 0, "id": "c1", "function": {"name": "list_tags", "arguments": None}}
                ]
            }
        ),
        expected=("No note has a tag",),
    ),
    _row("text before a call", text("\n\n"), _call(0, "read_note", PATH, "c1")),
    Behaviour(
        "a call that ends with stop",
        (played(_call(0, "read_note", PATH, "c1"), finish("stop"), DONE), _expecting("210 litres")),
        SAID,
        requests=2,
        mode="agent",
    ),
    Behaviour(
        "a call in a JSON document",
        (
            played(
                json.dumps(
                    {
                        **HEAD,
                        "choices": [
                            {
                                "index": 0,
                                "message": {
                                    "role": "assistant",
                                    "content": None,
                                    "tool_calls": [
                                        {
                                            "id": "c1",
                                            "type": "function",
                                            "function": {"name": "read_note", "arguments": PATH},
                                        }
                                    ],
                                },
                                "finish_reason": "tool_calls",
                            }
                        ],
                    }
                ).encode(),
                content_type="application/json",
            ),
            _expecting("210 litres"),
        ),
        SAID,
        requests=2,
        mode="agent",
    ),
)


def _as_text(name: str, said: str) -> Behaviour:
    says = "wrote a tool call as text"
    return Behaviour(name, (stream(text(said)),), said, says=says, mode="agent")


AS_TEXT = (
    _as_text("a call as text", '<tool_call>\n{"name": "list_tags", "arguments": {}}\n</tool_call>'),
    _as_text("a call as text behind words", 'I look.\n[TOOL_CALLS] [{"name": "list_tags"}]'),
    _as_text("a call as a function in text", "<function=list_tags>{}</function>"),
    _as_text("a call as text behind code", "So:\n~~~\nx\n~~~\n<tool_call>{}</tool_call>"),
    *(
        Behaviour(f"a call in {place} of an answer", (stream(text(said)),), said, mode="agent")
        for place, said in (
            ("a fence", "Qwen writes:\n\n```\n<tool_call>{}</tool_call>\n```"),
            ("a fence of tildes", "Qwen writes:\n\n~~~\n<tool_call>{}</tool_call>\n~~~"),
            ("an indented block", "Qwen writes:\n\n    <tool_call>{}</tool_call>\n\nSo."),
        )
    ),
)

FAULTS = (
    _faulty(
        "a name with a channel mark",
        _call(0, "list_tags<|channel|>commentary", "{}", "c1"),
        error="There is no tool list_tags<|channel|>commentary",
    ),
    _faulty("an empty name", _call(0, "", "{}", "c1"), error="Error"),
    _faulty("no name", _call(0, None, "{}", "c1"), error="Error"),
    _faulty("a name of 300 characters", _call(0, "x" * 300, "{}", "c1"), error="There is no tool"),
    _faulty(
        "a name with blanks and marks",
        _call(0, "read note! ☃", PATH, "c1"),
        error="There is no tool",
    ),
    _faulty(
        "a name with half a surrogate",
        _call(0, "read_note\ud800", PATH, "c1"),
        error="There is no tool",
    ),
    _faulty(
        "arguments that are not JSON", _call(0, "read_note", '{"path": ', "c1"), error="not JSON"
    ),
    _faulty("arguments that are a list", _call(0, "read_note", "[1]", "c1"), error="JSON object"),
    _faulty(
        "arguments nested too deep",
        _call(0, "read_note", f'{{"path": {_DEEP}}}', "c1"),
        error="levels",
    ),
    _faulty(
        "arguments nested far too deep",
        _call(0, "read_note", "[" * 100_000, "c1"),
        error="not JSON",
    ),
    _faulty(
        "arguments of four megabytes",
        _call(0, "read_note", '{"path": "', "c1"),
        *(_call(0, None, "x" * 100_000) for _ in range(41)),
        error="The arguments have 4,100,010 characters",
    ),
    _faulty(
        "a NUL and half a surrogate in arguments",
        _call(0, "read_note", '{"path": "a\\u0000\\ud800.md"}', "c1"),
        error="Error",
    ),
    _faulty("an infinite number", _call(0, "read_note", '{"path": NaN}', "c1"), error="not JSON"),
)

CALLS = (*FORMS, *AS_TEXT, *FAULTS)
