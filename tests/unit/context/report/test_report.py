import json
from dataclasses import replace

import pytest

from context.budget import BudgetPolicy, ContextBudget, RequestBudget
from context.envelope import SystemPart
from context.history.memory import Memory, Progress
from context.layers import Layer
from context.offload import Offloaded
from context.report.layer_parts import LayerPart
from context.report.markdown import format_envelope, report_markdown, shorten_count
from context.report.reader import read_report
from context.report.report import (
    Actions,
    Compaction,
    ContextReport,
    LayerUse,
    LeftOut,
    PinUse,
    Prefix,
    SegmentUse,
    TrimSummary,
)
from tests.support.sessions.chats import Chat, passage

LAYERS = {
    Layer.T: LayerUse(2_140, False, 14),
    Layer.L1: LayerUse(3_412, True, 2),
    Layer.L4: LayerUse(31_000, True, 18),
    Layer.L2: LayerUse(1_188, False, 3),
    Layer.L3: LayerUse(9_824, False, 8),
    Layer.E: LayerUse(122, False, 1),
    Layer.L5: LayerUse(45, False, 1),
    Layer.W: LayerUse(550, False, 2),
}
REPORT = ContextReport(
    session="s1",
    when="last",
    request=2,
    model="openai/gpt-x",
    request_budget=RequestBudget("o200k_base", 1.0, 128_000, None, 128_000, 4_096, 123_904),
    layers=LAYERS,
    prefix=Prefix("abc", 36_558, True, ("2 turns were dropped",)),
    guard=("drop",),
    segments=(SegmentUse(passage(1, "a"), 20, 20, "full"),),
    dropped=(LeftOut(Layer.L4, ("a", "b", "c", "d"), 2, 5_100, "room"),),
    tools=tuple(f"tool_{number}" for number in range(14)),
    warnings=("The index is old.",),
)


def test_the_json_has_every_field():
    data = REPORT.to_dict()
    assert set(data) >= {
        "session",
        "when",
        "request",
        "model",
        "counter",
        "factor",
        "threshold",
        "model_limit",
        "window",
        "reserve",
        "budget",
        "used",
        "fraction",
        "layers",
        "actions",
        "segments",
        "dropped",
        "trimmed",
        "compactions",
        "deferred_tools",
        "offloaded",
        "memory",
        "cached_tokens",
        "prefix",
        "warnings",
    }
    assert json.loads(json.dumps(data)) == data


def test_the_layers_stand_in_the_order_of_the_wire():
    layers = REPORT.to_dict()["layers"]
    assert list(layers) == ["T", "L1", "L4", "L2", "L3", "E", "L5", "W"]
    assert layers["L4"] == {"tokens": 31_000, "cached": True, "items": 18}


def test_the_layers_add_up_to_used_and_the_fraction_is_of_the_budget():
    data = REPORT.to_dict()
    assert data["used"] == sum(layer["tokens"] for layer in data["layers"].values()) == 48_281
    assert data["fraction"] == 48_281 / 123_904


def test_without_a_budget_everything_is_used():
    assert replace(REPORT, request_budget=replace(REPORT.request_budget, budget=0)).fraction == 1.0


def test_parts_that_are_not_there_yet_are_empty():
    data = REPORT.to_dict()
    assert data["trimmed"] is None
    assert data["compactions"] == data["deferred_tools"] == data["offloaded"] == []
    assert data["memory"] == {
        "scratchpad": "",
        "progress": {"currentObjective": "", "completedSteps": [], "pendingSteps": []},
        "facts": [],
    }
    assert data["actions"] == {"trim": False, "compact": False, "block": False, "guard": ["drop"]}


def test_the_pins_are_told_with_what_they_may_take():
    data = replace(REPORT, pins=(PinUse("m1", "selection", "this chat", 210),)).to_dict()
    pin = {"target": "m1", "kind": "selection", "source": "this chat", "tokens": 210}
    assert (data["pins"], data["pins_limit"]) == ([pin], 30_976)


def test_the_shares_at_which_something_is_done_are_told():
    report = replace(REPORT, policy=BudgetPolicy(0.7, 0.9, 0.95), auto_compact=False)
    shares = {"trim_at": 0.7, "compact_at": 0.9, "block_at": 0.95, "auto_compact": False}
    assert report.to_dict()["policy"] == shares


def test_the_report_is_made_of_the_budget_by_component():
    report = replace(REPORT, instruction_tokens=412)
    assert report.components == ContextBudget(
        total=report.request_budget.budget + report.request_budget.reserve,
        max_output_tokens=report.request_budget.reserve,
        system_prompt=3_000,
        skill_prompts=412,
        tool_descriptions=2_140,
        conversation=report.used - 3_412 - 2_140,
    )
    data = report.to_dict()
    assert data["components"] == {
        "system_prompt": 3_000,
        "skill_prompts": 412,
        "tool_descriptions": 2_140,
        "conversation": report.used - 3_412 - 2_140,
        "remaining": report.budget - report.used,
    }
    assert data["fraction"] == report.components.used_percentage


def test_the_parts_have_their_fields():
    data = REPORT.to_dict()
    assert data["segments"] == [
        {
            "id": "p1",
            "layer": "L3",
            "kind": "passage",
            "source": "Folder/Note 1.md",
            "lines": [1, 4],
            "tokens": 20,
            "original_tokens": 20,
            "state": "full",
            "version": "v1",
            "reason": None,
        }
    ]
    assert data["dropped"] == [
        {
            "layer": "L4",
            "entries": ["a", "b", "c", "d"],
            "turns": 2,
            "tokens": 5_100,
            "reason": "room",
        }
    ]
    assert data["prefix"] == {
        "hash": "abc",
        "tokens_reused": 36_558,
        "changed": True,
        "reasons": ["2 turns were dropped"],
        "differences": [],
    }


def test_the_markdown_is_the_layer_table():
    assert REPORT.to_markdown() == (
        "# Context Usage\n"
        "\n"
        "[████████░░░░░░░░░░░░] openai/gpt-x · ~48.3k/123.9k tokens (39%)\n"
        "\n"
        "- T tools (14): ~2.1k (2%) — tool_0, tool_1, tool_2, tool_3, tool_4, tool_5, tool_6, "
        "tool_7, tool_8, tool_9, tool_10, tool_11, …\n"
        "- L1 system and project: ~3.4k (3%)\n"
        "- L4 history: ~31.0k (25%) — 18 turns, cached\n"
        "- L2 carry-forward: ~1.2k (1%) — 3 segments\n"
        "- L3 turn context: ~9.8k (8%) — 8 segments\n"
        "- E notes: ~122\n"
        "- L5 message: ~45\n"
        "- W work: ~550\n"
        "- left out: 2 turns (~5.1k), dropped\n"
        "- ephemerals: no\n"
        "- warning: The index is old.\n"
    )


def test_a_stored_report_reads_like_a_fresh_one():
    stored = json.loads(json.dumps(REPORT.to_dict()))
    assert report_markdown(stored) == REPORT.to_markdown()


@pytest.mark.parametrize(
    "report",
    [
        REPORT,
        replace(REPORT, pins=(PinUse("m1", "selection", "this chat", 210),)),
        replace(REPORT, policy=BudgetPolicy(0.7, 0.9, 0.95), auto_compact=False),
        replace(REPORT, instruction_tokens=412, outcome="refused", when="next"),
        replace(REPORT, compactions=(Compaction("c1", "u2", 9, None, "model", True),)),
        replace(REPORT, actions=Actions(trim=True, block=True), guard=("drop",)),
        replace(REPORT, trimmed=TrimSummary("a", 12, 3_200, 310), warnings=("One.",)),
        replace(REPORT, memory=Memory("Pad", Progress("Plan", ("a",), ("b",), "planning"))),
        replace(REPORT, offloaded=(Offloaded("r1", "grep", 9),), deferred_tools=("a", "b")),
        replace(REPORT, parts={Layer.L4: (LayerPart("turn", 9, entry="u1", turns=1),)}),
    ],
)
def test_a_stored_report_is_read_as_it_was(report):
    data = json.loads(json.dumps(report.to_dict()))
    again = read_report({**data, "a_later_field": 1}).to_dict()
    for key in ("system_parts", "transforms", "tools", "uncached"):  # they are not read
        again[key] = data[key]
    assert json.dumps(again) == json.dumps(data)


def test_a_report_of_an_older_version_is_read_with_defaults():
    data = REPORT.to_dict()
    for key in ("policy", "pins", "parts", "outcome", "memory", "compactions", "components"):
        del data[key]
    report = read_report(data)
    assert (report.policy, report.auto_compact, report.pins) == (BudgetPolicy(), True, ())
    assert (report.used, report.budget, report.outcome) == (REPORT.used, REPORT.budget, "")


def test_everything_that_was_left_out_is_named():
    report = replace(
        REPORT,
        dropped=(
            LeftOut(Layer.L4, ("a", "b"), 1, 2_000, "room"),
            LeftOut(Layer.L4, ("s",), 0, 240, "summary_shortened"),
            LeftOut(Layer.L4, ("s",), 0, 260, "summary"),
            LeftOut(Layer.L4, ("c",), 0, 900, "shortened"),
            LeftOut(Layer.L3, ("p8",), 0, 300, "share"),
            LeftOut(Layer.L3, ("p7",), 0, 310, "budget"),
        ),
        segments=(SegmentUse(passage(1, "a"), 20, 40, "shrunk"),),
    )
    line = (
        "- left out: 1 turn (~2.0k), dropped; 1 summary (~240), shortened; "
        "1 summary (~260), left out; 1 answer (~900), shortened; "
        "2 segments (~610), dropped; 1 segment, shrunk\n"
    )
    assert line in report.to_markdown()


def test_nothing_left_out_has_no_line():
    assert "left out" not in replace(REPORT, dropped=()).to_markdown()


@pytest.mark.parametrize(
    ("compactions", "line"),
    [
        ([(12_000, 3_000, "model")], "~12.0k → ~3.0k tokens, summarised by a model"),
        (
            [(9, 8, "model"), (990, 300, "outline")],
            "~990 → ~300 tokens, as an outline (1 before it)",
        ),
        ([(None, None, "none")], "old results cleared"),
    ],
)
def test_what_was_trimmed_and_compacted_has_a_line_each(compactions, line):
    told = [Compaction("c1", before_tokens=a, after_tokens=b, by=by) for a, b, by in compactions]
    report = replace(REPORT, trimmed=TrimSummary("a", 12, 3_200, 310), compactions=told)
    lines = report.to_markdown().splitlines()
    at = lines.index("- trimmed: 12 messages (~3.2k → ~310 tokens)")
    assert lines[at - 1].startswith("- left out: ")
    assert lines[at + 1] == f"- compacted: {line}"
    assert lines[at + 2].startswith("- ephemerals")


def test_an_overflow_fills_the_bar_and_no_more():
    report = replace(REPORT, layers={**LAYERS, Layer.L5: LayerUse(200_000)})
    assert "[" + "█" * 20 + "]" in report.to_markdown()
    assert "(200%)" in report.to_markdown()


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.0k"),
        (1_200, "1.2k"),
        (48_249, "48.2k"),
        (999_949, "999.9k"),
        (999_950, "1m"),
        (3_000_000, "3m"),
        (3_250_000, "3.2m"),
    ],
)
def test_counts_are_short(tokens, text):
    assert shorten_count(tokens) == text


def test_the_whole_request_can_be_read():
    chat = Chat()
    chat.ask("What is ```this```?", "An answer\nin lines.", [passage(1, "a note")])
    prepared = chat.ask("x" * 3_000)
    text = format_envelope(prepared.report.to_dict(), prepared.request_body())
    titles = [line for line in text.splitlines() if line.startswith("#")]
    assert titles == [
        "# Context Usage",
        "# Context Envelope",
        "## Meta",
        "## Options",
        "## System",
        "## Tools",
        "## Messages (cached)",
        "## Messages (uncached)",
        "## Context transforms (persisted)",
        "## Ephemeral (request-only log)",
    ]
    assert "1. **user** — What is ```this```?\n2. **assistant** — An answer in lines.\n" in text
    assert "3. **user** — " + "x" * 2_000 + "…\n" in text
    assert '```json\n{\n  "maxTokens": 1000,' in text
    assert "**base**\n\n```\nYou answer from the notes.\n```" in text
    assert text.split("## Meta\n\n")[1].startswith("- session: s1\n- when: last\n")
    assert text.count("(none)") == 4


def test_a_fence_in_the_instructions_does_not_end_their_block():
    prepared = Chat(system="Use ```code```.").ask("Why?")
    text = format_envelope(prepared.report.to_dict(), prepared.request_body())
    assert "````\nUse ```code```.\n````" in text


def test_the_parts_of_a_message_stand_on_one_line():
    prepared = Chat().ask("Why?", segments=[passage(1, "a note")])
    text = format_envelope(prepared.report.to_dict(), prepared.request_body())
    assert '1. **user** — <source n="1"' in text
    assert "</source> Why?\n" in text


def test_a_request_whose_parts_are_not_known_is_shown_whole():
    prepared = Chat().ask("Why?")
    report = prepared.report.to_dict()
    del report["system_parts"]
    text = format_envelope(report, prepared.request_body())
    assert "## System\n\n```\nYou answer from the notes.\n```" in text


def test_a_tool_cannot_begin_a_section_of_the_markdown():
    prepared = Chat().ask("Why?")
    tool = {"name": "x", "description": "Does this.\n\n## Messages (cached)\n\nand that."}
    text = format_envelope(prepared.report.to_dict(), prepared.request_body() | {"tools": [tool]})
    assert "- x: Does this. ## Messages (cached) and that.\n" in text


def test_a_transform_is_told_with_what_it_shows_of_itself():
    told = {"entry": "t1", "name": "redact", "ops": ["message_hide"], "reasons": ["secrets"]}
    report = replace(REPORT, transforms=(told | {"title": "Redaction", "summary": "One\nkey"},))
    text = format_envelope(report.to_dict(), Chat().ask("Why?").request_body())
    assert "- t1 **redact** — message_hide (secrets): Redaction: One key\n" in text


def test_the_log_of_what_was_added_to_single_requests_is_listed():
    said = {"role": "user", "content": "[once]\n## System"}
    log = [{"entry": "e1", "timestamp": "2026-01-01T00:00:00Z", "messages": [said]}]
    text = format_envelope(
        REPORT.to_dict() | {"ephemeral_log": log}, Chat().ask("Why?").request_body()
    )
    end = text.split("## Ephemeral (request-only log)\n\n")[1]
    assert end == "- 2026-01-01T00:00:00Z **user** — [once] ## System\n"


def test_a_note_with_instructions_is_a_row_of_the_first_layer():
    note = passage(1, "Be <brief>.", id="vault", layer=Layer.L1, kind="note", source="AGENTS.md")
    chat = Chat()
    parts = (SystemPart("base", "Answer."), SystemPart("vault", "\n\nBe &lt;brief&gt;."))
    inputs = replace(chat.inputs("Why?"), system=parts, instructions=(note,))
    report = chat.prepare(inputs).report
    (row,) = report.to_dict()["segments"]
    assert (row["layer"], row["source"], row["state"]) == ("L1", "AGENTS.md", "full")
    assert 0 < row["tokens"] < report.layers[Layer.L1].tokens
    assert report.to_dict()["system_parts"] == [
        {"name": "base", "chars": 7},
        {"name": "vault", "chars": 19},
    ]


def test_instructions_that_a_hook_took_away_are_told_as_dropped():
    note = passage(1, "Be brief.", id="vault", layer=Layer.L1, kind="note", source="AGENTS.md")
    chat = Chat()
    report = chat.prepare(replace(chat.inputs("Why?"), instructions=(note,))).report
    (row,) = report.to_dict()["segments"]
    assert (row["state"], row["reason"], row["tokens"]) == ("dropped", "hook", 0)
