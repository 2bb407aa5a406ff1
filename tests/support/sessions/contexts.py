"""*Context* reports for tests, with the numbers that a test needs."""

from dataclasses import replace
from typing import Any

from context.layers import Layer
from context.report.reader import read_report
from context.report.report import ContextReport
from ui.theme import tokens

# A long chat, a new one, a nearly full one, and one with a little of everything.
CHATS: tuple[dict[str, int] | None, ...] = (
    None,
    {"L1": 120, "L5": 8},
    {"L1": 3_000, "L4": 110_000, "L3": 9_000, "L5": 1},
    {"T": 1, "L1": 1, "L4": 1, "L2": 1, "L3": 1, "E": 1, "L5": 1, "W": 1},
)
LAYERS = {"T": 2140, "L1": 3412, "L4": 31595, "L2": 1188, "L3": 9824, "E": 122, "L5": 17, "W": 0}


def make_context(
    layers: dict[str, int] | None = None,
    *,
    window: int = 128_000,
    reserve: int = 4_096,
    factor: float = 1.0,
    reused: int = 0,
    **fields: Any,
) -> ContextReport:
    """Return a report whose numbers agree with each other.

    Args:
        layers: tokens by layer code, 0 for codes not given; None means the layers of a long chat.
        reused: the tokens of the prefix that was sent before.
        fields: any other field of the report.
    """
    counts = {code: (layers or {}).get(code, 0) for code in tokens()["layer_order"]}
    counts = LAYERS if layers is None else counts
    budget = (window - reserve) * 100 // round(factor * 100)
    used = sum(counts.values())
    context: dict[str, Any] = {
        "session": None,
        "when": "next",
        "model": "extractive",
        "factor": factor,
        "threshold": window,
        "model_limit": 200_000,
        "window": window,
        "reserve": reserve,
        "budget": budget,
        "used": used,
        "fraction": used / budget,
        "layers": {
            code: {"tokens": count, "cached": False, "items": 1} for code, count in counts.items()
        },
        "actions": {"trim": False, "compact": False, "block": False, "guard": []},
        "segments": [],
        "dropped": [],
        "trimmed": None,
        "compactions": [],
        "deferred_tools": [],
        "offloaded": [],
        "memory": {"scratchpad": "", "progress": {}, "facts": []},
        "parts": {},
        "pins": [],
        "pins_limit": budget // 4,
        "policy": {"trim_at": 0.8, "compact_at": 0.95, "block_at": 0.98, "auto_compact": True},
        "prefix": {"hash": "", "tokens_reused": reused, "changed": False, "reasons": []},
        "warnings": [],
    }
    return read_report(context | fields)


def change_context(context: ContextReport, **fields: Any) -> ContextReport:
    """Return a report with some fields of its JSON replaced."""
    return read_report(context.to_dict() | fields)


def make_segment(**fields: Any) -> dict[str, Any]:
    """Return one segment of a report; `fields` replace the defaults."""
    segment = {
        "id": "s1",
        "layer": "L3",
        "kind": "passage",
        "source": "garden/Tomatoes.md",
        "lines": [3, 9],
        "tokens": 418,
        "original_tokens": 418,
        "state": "full",
        "version": "v",
        "reason": None,
    }
    return segment | fields


def make_part(**fields: Any) -> dict[str, Any]:
    """Return one part of a layer that has no segments."""
    return {"kind": "tool", "name": "", "entry": None, "turns": 0, "tokens": 0} | fields


def make_dropped(**fields: Any) -> dict[str, Any]:
    """Return one omission of a report: a turn that was dropped because it did not fit."""
    return {"layer": "L4", "entries": [], "turns": 0, "tokens": 0, "reason": "room"} | fields


def panel_states() -> dict[str, ContextReport]:
    """Return a report for each state of the context panel, by the state's name."""
    base = {"T": 2_140, "L1": 3_412, "E": 122}
    chat = {**base, "L4": 31_595, "L2": 1_188, "L3": 9_824, "L5": 17}
    full = {**base, "L4": 78_420, "L2": 3_020, "L3": 14_880, "L5": 32}
    shortened = {**base, "L4": 71_900, "L2": 2_240, "L3": 18_400, "L5": 60}
    return {
        "calm": _reusing(
            make_context(chat, reused=36_558, segments=_SEGMENTS, parts=_PARTS, pins=_PINS)
        ),
        "amber": _reusing(make_context(full, reused=83_120, trimmed=_TRIMMED)),
        "compacted": _compacted({**chat, "L4": 30_120}),
        "dropped": _dropped(shortened),
        "overflow": make_context({**base, "L5": 131_870}),
    }


def _reusing(context: ContextReport) -> ContextReport:
    cached = {
        layer: replace(context.layers[layer], cached=True)
        for layer in (Layer.T, Layer.L1, Layer.L4)
    }
    return replace(context, layers={**context.layers, **cached})


def _compacted(layers: dict[str, int]) -> ContextReport:
    return make_context(
        layers,
        compactions=[_COMPACTION],
        pins=_PINS,
        memory=_MEMORY,
        prefix=_broken("the history was compacted"),
    )


def _dropped(layers: dict[str, int]) -> ContextReport:
    segments = [
        make_segment(
            id="s8",
            source="Home server/Router.md",
            state="shrunk",
            tokens=410,
            original_tokens=1_614,
            reason="budget",
        ),
        make_segment(
            id="s9",
            layer="L2",
            source="Shopping/Old prices.md",
            lines=None,
            state="dropped",
            tokens=0,
            original_tokens=2_980,
            reason="gone",
        ),
    ]
    turns = make_dropped(entries=["u1", "a1", "u2", "a2"], turns=6, tokens=24_310)
    return make_context(
        layers,
        segments=segments,
        dropped=[turns],
        offloaded=[{"ref_id": "r1", "tool": "search_notes", "bytes": 12_480}],
        deferred_tools=["calendar__list_events", "calendar__create_event"],
        prefix=_broken("6 turns were dropped"),
    )


def _broken(reason: str) -> dict[str, Any]:
    return {"hash": "", "tokens_reused": 5_552, "changed": True, "reasons": [reason]}


_SEGMENTS = [
    make_segment(id="s1", source="Home server/Backups.md", lines=None, tokens=2_306),
    make_segment(id="s2", kind="selection", source="Prices.md", lines=[12, 30]),
    make_segment(id="s3", source="Home server/Long names are cut in their middle.md", tokens=3_120),
    make_segment(
        id="s4",
        layer="L2",
        kind="note",
        source="Reading/Thesis chapter 3.md",
        lines=None,
        tokens=1_188,
        original_tokens=6_240,
        state="compacted",
    ),
]
_PARTS = {
    "T": [
        make_part(name="search_notes", tokens=1_204),
        make_part(name="read_note", tokens=936),
    ],
    "L1": [
        make_part(kind="instructions", name="agent", tokens=2_906),
        make_part(kind="instructions", name="user_instructions", tokens=502),
    ],
    "L4": [
        make_part(kind="summary", tokens=604),
        make_part(kind="turns", turns=14, tokens=24_190),
        make_part(kind="turn", entry="u1", turns=1, tokens=4_801),
        make_part(kind="turn", entry="u2", turns=1, tokens=2_000),
    ],
}
_PINS = [
    {"target": "s2", "kind": "selection", "source": "Prices.md", "tokens": 418},
    {"target": "u2", "kind": "selection", "source": "this chat", "tokens": 26},
]
_TRIMMED = {"up_to_entry": "u2", "messages": 12, "tokens_before": 18_220, "tokens_after": 310}
_COMPACTION = {
    "entry": "c1",
    "first_kept_entry": "u2",
    "before_tokens": 96_412,
    "after_tokens": 30_120,
    "by": "model",
}
_MEMORY = {
    "scratchpad": "The passphrase is printed and kept with the passports.",
    "progress": {
        "currentObjective": "Plan the April restore test",
        "completedSteps": ["Read Backups.md"],
        "pendingSteps": ["Ask Ines", "Note the date"],
    },
    "facts": ["The rented box has its own, shorter rule"],
}
QUESTIONS = {"u1": "How are the notes backed up?", "u2": "And the second one?"}
