"""Render a context report, and the request that the report describes, as Markdown.

Both are rendered from JSON, so that a stored report looks the same as a new one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from context.layers import WIRE_ORDER, Layer

BAR_CELLS: Final = 20
MOST_TOOL_NAMES: Final = 12
LONGEST_LINE_CHARS: Final = 2_000
LAYER_NAMES: Final[Mapping[Layer, str]] = {
    Layer.T: "tools",
    Layer.L1: "system and project",
    Layer.L2: "carry-forward",
    Layer.L3: "turn context",
    Layer.L4: "history",
    Layer.L5: "message",
    Layer.E: "notes",
    Layer.W: "work",
}

_SUMMARY_FATES: Final = {"summary": "left out", "summary_shortened": "shortened"}
_MAKERS: Final = {"model": "summarised by a model", "outline": "as an outline"}

# The JSON of a report or a request, as written by `ContextReport.to_dict`.
Json = Mapping[str, Any]


def report_markdown(context: Json) -> str:
    """Render a context report as Markdown: a table of layers, and a list of what was left out.

    Args:
        context: the JSON of a `ContextReport`.
    """
    lines = ["# Context Usage", "", _headline(context), ""]
    lines += [_layer_line(layer, context) for layer in WIRE_ORDER]
    left_out = _left_out(context)
    if left_out:
        lines.append(f"- left out: {left_out}")
    lines += _describe_shortened(context)
    lines.append(_ephemerals(context))
    lines += [f"- warning: {warning}" for warning in context["warnings"]]
    return "\n".join(lines) + "\n"


def format_envelope(context: Json, body: Json) -> str:
    """Render a whole request as Markdown, starting with the context report.

    Args:
        context: the JSON of a `ContextReport`. The key `ephemeral_log` is added: the messages that
            were sent with a single request only.
        body: the request as JSON, in a form that does not depend on the provider.
    """
    messages = body["messages"]
    cached = len(messages) - int(context.get("uncached", 0))
    options = json.dumps(body["options"], ensure_ascii=False, indent=2, sort_keys=True)
    meta = {key: context[key] for key in ("session", "when", "model", "request", "budget", "used")}
    sections = [
        report_markdown(context) + "\n# Context Envelope",
        "## Meta\n\n" + "\n".join(f"- {key}: {value}" for key, value in meta.items()),
        "## Options\n\n" + _fence(options, "json"),
        "## System\n\n" + _system(str(body["system"]), context.get("system_parts", ())),
        "## Tools\n\n"
        + _join_lines(_bullet(f"{tool['name']}: {tool['description']}") for tool in body["tools"]),
        "## Messages (cached)\n\n" + _messages(messages[:cached]),
        "## Messages (uncached)\n\n" + _messages(messages[cached:]),
        "## Context transforms (persisted)\n\n" + _join_lines(_transforms(context)),
        "## Ephemeral (request-only log)\n\n" + _join_lines(_list_ephemerals(context)),
    ]
    return "\n\n".join(sections) + "\n"


def shorten_count(tokens: int) -> str:
    """Format a token count in short form, such as `950`, `48.2k` or `3m`."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 999_950:
        return f"{tokens / 1_000:.1f}k"
    return f"{tokens / 1_000_000:.1f}".removesuffix(".0") + "m"


def _headline(context: Json) -> str:
    fraction = float(context["fraction"])
    cells = min(BAR_CELLS, round(fraction * BAR_CELLS))
    bar = "█" * cells + "░" * (BAR_CELLS - cells)
    used, budget = shorten_count(context["used"]), shorten_count(context["budget"])
    return f"[{bar}] {context['model']} · ~{used}/{budget} tokens ({fraction:.0%})"


def _layer_line(layer: Layer, context: Json) -> str:
    use = context["layers"][layer]
    share = round(100 * use["tokens"] / context["budget"]) if context["budget"] else 0
    percent = f" ({share}%)" if share else ""
    name = f"{layer} {LAYER_NAMES[layer]}" + (f" ({use['items']})" if layer is Layer.T else "")
    details = ", ".join(_details(layer, use, context))
    return f"- {name}: ~{shorten_count(use['tokens'])}{percent}" + (
        f" — {details}" if details else ""
    )


def _details(layer: Layer, use: Json, context: Json) -> list[str]:
    items = int(use["items"])
    if layer is Layer.T:
        names = list(context["tools"])
        return [*names[:MOST_TOOL_NAMES], *(["…"] if len(names) > MOST_TOOL_NAMES else [])]
    if layer is Layer.L4 and items:
        return [_plural(items, "turn"), *(["cached"] if use["cached"] else [])]
    if layer in (Layer.L2, Layer.L3) and items:
        return [_plural(items, "segment")]
    return []


def _left_out(context: Json) -> str:
    dropped: Sequence[Json] = context["dropped"]
    turns = [entry for entry in dropped if entry["turns"]]
    answers = [entry for entry in dropped if entry["reason"] == "shortened"]
    segments = [entry for entry in dropped if entry["layer"] in (Layer.L2, Layer.L3)]
    withheld = [entry for entry in dropped if entry["reason"] == "withheld"]
    results = [e for e in dropped if e["layer"] == Layer.W and e["reason"] != "withheld"]
    messages = sum(len(entry["entries"]) for entry in withheld)
    summaries = [entry for entry in dropped if entry["reason"] in _SUMMARY_FATES]
    shrunk = [segment for segment in context["segments"] if segment["state"] == "shrunk"]
    excerpts = [segment for segment in shrunk if segment["reason"] == "share"]
    searched = len({segment["source"] for segment in excerpts})
    shorter = len(shrunk) - len(excerpts)
    within = f"searched within ({_plural(len(excerpts), 'passage')})"
    parts = [
        _part(sum(entry["turns"] for entry in turns), "turn", turns, "dropped"),
        *(_part(1, "summary", [one], _SUMMARY_FATES[one["reason"]]) for one in summaries),
        _part(len(answers), "answer", answers, "shortened"),
        _part(len(results), "result", results, "shortened"),
        _part(messages, "message", withheld, "without the text of excluded notes"),
        _part(len(segments), "segment", segments, "dropped"),
        _part(searched, "attachment", (), within),
        _part(shorter, "segment", (), "shrunk"),
    ]
    return "; ".join(part for part in parts if part)


def _describe_shortened(context: Json) -> Iterable[str]:
    """Yield the report's lines about shortened messages and about the last compaction, if any."""
    if trimmed := context.get("trimmed"):
        sizes = _change(trimmed["tokens_before"], trimmed["tokens_after"])
        yield f"- trimmed: {_plural(trimmed['messages'], 'message')} ({sizes})"
    if compactions := context["compactions"]:
        last = compactions[-1]
        sizes = _change(last["before_tokens"], last["after_tokens"])
        how = _MAKERS.get(last["by"], "old results cleared")
        how += ", edited since" if last.get("edited") else ""
        earlier = f" ({len(compactions) - 1} before it)" if len(compactions) > 1 else ""
        yield f"- compacted: {', '.join(filter(None, (sizes, how)))}{earlier}"


def _change(before: int | None, after: int | None) -> str:
    """Format the token counts before and after a change.

    Logs of older versions do not contain these counts. For them, return an empty string.
    """
    if before is None or after is None:
        return ""
    return f"~{shorten_count(before)} → ~{shorten_count(after)} tokens"


def _part(number: int, noun: str, entries: Iterable[Json], verb: str) -> str:
    tokens = sum(entry["tokens"] for entry in entries)
    size = f" (~{shorten_count(tokens)})" if tokens else ""
    return f"{_plural(number, noun)}{size}, {verb}" if number else ""


def _ephemerals(context: Json) -> str:
    number = int(context["ephemerals"])
    return f"- ephemerals: yes ({_plural(number, 'message')})" if number else "- ephemerals: no"


def _system(compiled: str, parts: Sequence[Json]) -> str:
    if sum(part["chars"] for part in parts) != len(compiled):
        return _fence(compiled)
    shown, start = [], 0
    for part in parts:
        end = start + part["chars"]
        shown.append(f"**{_one_line(part['name'])}**\n\n{_fence(compiled[start:end].strip())}")
        start = end
    return "\n\n".join(shown) or "(none)"


def _transforms(context: Json) -> Iterable[str]:
    for transform in context.get("transforms", ()):
        ops, reasons = ", ".join(transform["ops"]), "; ".join(transform["reasons"])
        description = ": ".join(filter(None, (transform.get("title"), transform.get("summary"))))
        line = f"{transform['entry']} **{transform['name']}** — {ops} ({reasons})"
        yield _bullet(f"{line}: {description}" if description else line)


def _list_ephemerals(context: Json) -> Iterable[str]:
    for entry in context.get("ephemeral_log", ()):
        for message in entry["messages"]:
            message_text = f"**{message['role']}** — {_one_line(message['content'])}"
            yield _bullet(f"{entry['timestamp']} {message_text}")


def _bullet(text: str) -> str:
    return f"- {' '.join(text.split())}"


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _messages(messages: Sequence[Json]) -> str:
    lines = (
        f"{number}. **{message['role']}** — {_one_line(message['content'])}"
        for number, message in enumerate(messages, start=1)
    )
    return _join_lines(lines)


def _one_line(content: str | Sequence[Json]) -> str:
    if not isinstance(content, str):
        content = " ".join(_part_line(part) for part in content)
    line = " ".join(content.split())
    return line if len(line) <= LONGEST_LINE_CHARS else line[:LONGEST_LINE_CHARS] + "…"


def _part_line(part: Json) -> str:
    if part["type"] == "tool_call":
        arguments = json.dumps(part["arguments"], ensure_ascii=False)
        return f"[{part['name']} {arguments}]"
    if part["type"] == "tool_result":
        return str(part["content"])
    return str(part.get("text", f"[{part['type']}]"))


def _join_lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) or "(none)"


def _fence(text: str, language: str = "") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
