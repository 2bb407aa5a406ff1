"""The rows of the list "Left out": everything that a request omits or shortens."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from context.layers import name_place, name_source
from ui.panels.context.words import describe_maker, word_name, word_reason
from ui.widgets.controls import one_line
from ui.widgets.formatting import count, plural

if TYPE_CHECKING:
    from context.report.report import Compaction, ContextReport, LeftOut, SegmentUse

__all__ = ["Detail", "LeftOutRow", "is_excerpt", "list_left_out_rows", "name_segment"]

_UNREADABLE = ("gone", "excluded")
_UNITS = {"shortened": "long answer", "work": "result", "withheld": "message"}
_SUMMARY = ("summary", "summary_shortened")


@dataclass(frozen=True)
class Detail:
    """A detail line below an omitted item.

    Attributes:
        text: the text of the line.
        path: the path of the note that a click opens, or an empty string if it opens no note.
        lines: the first and last line to show in that note, or None for the whole note.
        summary: the ID of the log entry whose summary a click opens, or an empty string if it
            opens no summary.
    """

    text: str
    path: str = ""
    lines: tuple[int, int] | None = None
    summary: str = ""


@dataclass(frozen=True)
class LeftOutRow:
    """A row for an item that a request omits or shortens.

    Attributes:
        layer: the code of the item's layer (kind of content), such as `L4` for the history.
        what: the name of the item.
        tokens: the number of tokens saved, or None if unknown.
        reason: a sentence that explains why the item is omitted or shortened.
        below: the detail lines, shown below the row.
    """

    layer: str
    what: str
    tokens: int | None
    reason: str
    below: tuple[Detail, ...] = ()

    @property
    def figure(self) -> str:
        """The number of tokens saved, as text, or an empty string if it is unknown."""
        return "" if self.tokens is None else count(self.tokens)

    @property
    def name(self) -> str:
        """The accessible name of the row, which screen readers read aloud."""
        size = "" if self.tokens is None else f"{self.figure} tokens"
        return ", ".join(filter(None, (self.layer, self.what, size, self.reason)))


def list_left_out_rows(
    context: "ContextReport", questions: Mapping[str, str], reported: str = ""
) -> list[LeftOutRow]:
    """Return a row for each item that a request omits or shortens, such as a turn or a passage.

    Args:
        context: the request report.
        questions: the user messages by entry ID, used as names of the turns.
        reported: the ID of a compaction that gets no row, because the notice above the rows already
            reports it, or an empty string.
    """
    sources = {use.segment.id: use for use in context.segments}
    named = {entry for dropped in context.dropped for entry in dropped.entries}
    rows = [_list_dropped(dropped, sources, questions) for dropped in context.dropped]
    rows += _list_compacted(context, reported)
    rows += _list_trimmed(context, questions)
    rows += _list_offloaded(context)
    rows += _list_searched(context.segments)
    for use in context.segments:
        is_left_out = use.state in {"dropped", "shrunk"} and not is_excerpt(use)
        if is_left_out and use.segment.id not in named:
            rows.append(_segment(use))
    rows += _list_deferred(context)
    return rows


def is_excerpt(use: "SegmentUse") -> bool:
    """Return whether a segment is a passage found by searching in a large attachment."""
    fate = use.segment.kind, use.state, use.reason
    return fate == ("passage", "shrunk", "share")


def name_segment(use: "SegmentUse") -> str:
    """Return the name of a segment's source.

    A passage is named by the path of its note. An attachment from outside the vault, such as a
    pasted image, is named by its file name, as on its chip.
    """
    source = use.segment.source or ""
    is_found = use.segment.kind == "passage" and not is_excerpt(use)
    return one_line(source if is_found else name_source(source))


def _list_searched(segments: "Sequence[SegmentUse]") -> Iterator[LeftOutRow]:
    by_source: dict[str, list[SegmentUse]] = {}
    for use in segments:
        if is_excerpt(use):
            by_source.setdefault(use.segment.source, []).append(use)
    for source, parts in by_source.items():
        lost = parts[0].original_tokens - sum(part.tokens for part in parts)
        reason = f"Searched within: {plural(len(parts), 'passage')} used"
        below = (_make_open_row(Detail(source, source)),)
        layer, name = parts[0].segment.layer, name_segment(parts[0])
        yield LeftOutRow(layer, name, max(0, lost), reason, below)


def _list_dropped(
    dropped: "LeftOut",
    sources: "Mapping[str, SegmentUse]",
    questions: Mapping[str, str],
) -> LeftOutRow:
    entries, turns = dropped.entries, dropped.turns
    reason = word_reason(dropped.reason)
    kinds = {sources[entry].segment.kind for entry in entries if entry in sources}
    if dropped.reason == "share" and kinds and "passage" not in kinds:
        part = "it" if kinds == {"image"} else "any of its passages"
        reason = f"Too large: no room for {part}"
    known = tuple(_detail(sources[entry]) for entry in entries if entry in sources)
    if turns:
        what = "Oldest turn" if turns == 1 else f"{count(turns)} oldest turns"
        asked = tuple(
            _describe_question(questions[entry]) for entry in entries if entry in questions
        )
        return LeftOutRow(dropped.layer, what, dropped.tokens, reason, asked)
    if dropped.reason in _SUMMARY:
        shown = (Detail("Show summary", summary=entries[0]),)
        return LeftOutRow(dropped.layer, "Summary", dropped.tokens, reason, shown)
    unit = _UNITS.get(dropped.reason, "passage")
    what = known[0].text if len(known) == 1 else plural(max(1, len(entries)), unit)
    is_there = dropped.reason not in _UNREADABLE
    noun = "image" if kinds == {"image"} else "note"
    opening = tuple(_make_open_row(detail, noun) for detail in known if detail.path and is_there)
    below = known if len(known) > 1 else opening
    return LeftOutRow(dropped.layer, what, dropped.tokens, reason, below)


def _list_compacted(context: "ContextReport", reported: str) -> Iterator[LeftOutRow]:
    compactions = list(context.compactions)
    is_ahead = context.when == "next" and context.actions.compact
    for compaction in _drop_replaced(compactions[:-1] if is_ahead else compactions):
        if compaction.entry == reported:
            continue
        before, after = compaction.before_tokens, compaction.after_tokens
        by = describe_maker(compaction)
        reason = f"Summarised: {by}" if by else "Summarised"
        if before is not None and after is not None:
            figures = f"{count(before)} → {count(after)} tokens"
            reason = f"Summarised: {figures}, {by}" if by else f"Summarised: {figures}"
        below = (Detail("Show summary", summary=compaction.entry),)
        yield LeftOutRow("L4", "Earlier messages", None, reason, below)
    if is_ahead:
        yield LeftOutRow("L4", "Older messages", None, "Summarised first, before your message goes")


def _drop_replaced(compactions: "Sequence[Compaction]") -> "Sequence[Compaction]":
    """Drop the compactions before the last summary, which covers their messages too."""
    summaries = [at for at, one in enumerate(compactions) if describe_maker(one)]
    return compactions[summaries[-1] :] if summaries else compactions


def _list_trimmed(context: "ContextReport", questions: Mapping[str, str]) -> Iterator[LeftOutRow]:
    trimmed = context.trimmed
    if not trimmed or not trimmed.messages:
        return
    before, after = trimmed.tokens_before, trimmed.tokens_after
    below = [Detail(f"{count(before)} → {count(after)} tokens")]
    if trimmed.up_to_entry in questions:
        below.append(Detail(f"Up to {_describe_question(questions[trimmed.up_to_entry]).text}"))
    below.append(Detail("This chat still shows them in full"))
    what = plural(trimmed.messages, "old message")
    reason = "Trimmed: old results of tools are shortened"
    yield LeftOutRow("L4", what, max(0, before - after), reason, tuple(below))


def _list_offloaded(context: "ContextReport") -> Iterator[LeftOutRow]:
    kept = context.offloaded
    if kept:
        below = tuple(Detail(f"{one_line(stub.tool)}, {count(stub.bytes)} bytes") for stub in kept)
        what = plural(len(kept), "large result")
        yield LeftOutRow("W", what, None, "Kept aside: the model reads them in parts", below)


def _list_deferred(context: "ContextReport") -> Iterator[LeftOutRow]:
    deferred = context.deferred_tools
    if deferred:
        below = tuple(Detail(one_line(str(tool))) for tool in deferred)
        what = plural(len(deferred), "tool")
        yield LeftOutRow("T", what, None, "Held back: the model can look for them", below)


def _segment(use: "SegmentUse") -> LeftOutRow:
    lost = use.original_tokens - use.tokens
    reason = word_reason(use.reason)
    if use.state == "shrunk" and use.reason == "share":
        reason = f"About {count(use.tokens)} of it go: what is found on sending"
    elif use.state == "shrunk":
        why = f": {reason[:1].lower()}{reason[1:]}" if reason else ""
        reason = f"Shrunk to {count(use.tokens)}{why}"
    detail = _detail(use)
    is_there = detail.path and use.reason not in _UNREADABLE
    noun = "image" if use.segment.kind == "image" else "note"
    below = (_make_open_row(detail, noun),) if is_there else ()
    return LeftOutRow(use.segment.layer, detail.text, lost, reason, below)


def _make_open_row(detail: Detail, noun: str = "note") -> Detail:
    return replace(detail, text=f"Open the {noun}")


def _detail(use: "SegmentUse") -> Detail:
    lines = use.segment.lines
    named = name_segment(use) or word_name(use.segment.kind)
    spot = (lines[0], lines[1]) if lines else None
    return Detail(name_place(named, lines), use.segment.source or "", spot)


def _describe_question(question: str) -> Detail:
    return Detail(f"“{one_line(question)}”")
