"""A *Context* as the report gives it, with the figures that a test wants."""

from typing import Any

from ui.theme import tokens

LAYERS = {"T": 2140, "L1": 3412, "L4": 31595, "L2": 1188, "L3": 9824, "E": 122, "L5": 17, "W": 0}


def make_context(
    layers: dict[str, int] | None = None,
    *,
    window: int = 128_000,
    reserve: int = 4_096,
    factor: float = 1.0,
    reused: int = 0,
    **fields: Any,
) -> dict[str, Any]:
    """Return a report in which the figures agree with each other.

    Args:
        layers: tokens by code; those not named are 0. None means a chat in full swing.
        reused: the tokens of the beginning that was sent before.
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
        "segments": [],
        "dropped": [],
        "prefix": {"hash": "", "tokens_reused": reused, "changed": False, "reasons": []},
        "warnings": [],
    }
    return context | fields


def make_segment(**fields: Any) -> dict[str, Any]:
    """Return one segment of a report."""
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
