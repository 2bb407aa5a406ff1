"""Read a context report from its JSON, as this or an older version of Strata wrote it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from context.budget import BudgetPolicy, RequestBudget
from context.exam import SummaryExam
from context.history.memory import Memory, Progress
from context.layers import Layer, Segment
from context.offload import Offloaded
from context.report.layer_parts import LayerPart
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

Json = Mapping[str, Any]


_Row = TypeVar("_Row")


def read_report(data: Json) -> ContextReport:
    """Read a report. Fields that an older version of Strata did not write have their defaults.

    The texts of the segments, the patches of hooks and the sizes of the system parts are not read.
    """
    return ContextReport(
        session=data.get("session"),
        when=data["when"],
        request=data.get("request", 0),
        model=data["model"],
        request_budget=_read_row(RequestBudget, {"counter": "", **data}),
        layers={Layer(code): _read_row(LayerUse, use) for code, use in data["layers"].items()},
        prefix=_read_row(Prefix, data["prefix"]),
        guard=tuple(data["actions"].get("guard", ())),
        actions=_read_row(Actions, data["actions"]),
        trimmed=_read_row(TrimSummary, data["trimmed"]) if data.get("trimmed") else None,
        compactions=_read_rows(Compaction, data.get("compactions")),
        offloaded=_read_rows(Offloaded, data.get("offloaded")),
        segments=tuple(map(_read_segment, data["segments"])),
        dropped=_read_rows(LeftOut, data["dropped"]),
        warnings=tuple(data.get("warnings", ())),
        memory=_read_memory(data.get("memory") or {}),
        deferred_tools=tuple(data.get("deferred_tools", ())),
        parts=_read_parts(data.get("parts", {})),
        pins=_read_rows(PinUse, data.get("pins")),
        policy=_read_row(BudgetPolicy, data.get("policy") or {}),
        auto_compact=(data.get("policy") or {}).get("auto_compact", True),
        instruction_tokens=data.get("components", {}).get("skill_prompts", 0),
        outcome=data.get("outcome", ""),
        **{name: data[name] for name in ("cached_tokens", "ephemerals") if name in data},
    )


def _read_row(cls: type[_Row], data: Json) -> _Row:
    """Read an object whose JSON has the names of its fields. Other keys are ignored."""
    convert: Mapping[str, Callable[[Any], object]] = {"layer": Layer, "exam": SummaryExam.read}
    return cls(
        **{
            field.name: convert.get(field.name, _freeze)(data[field.name])
            for field in fields(cls)  # type: ignore[arg-type]
            if field.name in data
        }
    )


def _read_rows(cls: type[_Row], rows: Iterable[Json] | None) -> tuple[_Row, ...]:
    return tuple(_read_row(cls, row) for row in rows or ())


def _freeze(value: object) -> object:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _read_segment(data: Json) -> SegmentUse:
    lines = data["lines"]
    segment = Segment(
        id=data["id"],
        layer=Layer(data["layer"]),
        kind=data["kind"],
        source=data["source"] or "",
        lines=None if lines is None else (lines[0], lines[1]),
        version=data["version"],
        content="",
        derived=data.get("derived", ""),
    )
    size, whole = data["tokens"], data["original_tokens"]
    return SegmentUse(segment, size, whole, data["state"], data["reason"])


def _read_memory(data: Json) -> Memory:
    progress = Progress.read(data.get("progress") or {})
    return Memory(data.get("scratchpad") or "", progress, tuple(data.get("facts", ())))


def _read_parts(data: Json) -> dict[Layer, tuple[LayerPart, ...]]:
    return {Layer(code): _read_rows(LayerPart, parts) for code, parts in data.items()}
