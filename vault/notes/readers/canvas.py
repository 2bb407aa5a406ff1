"""Obsidian's canvases: a JSON of cards, groups and the edges between them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from vault.errors import ReadingFailed
from vault.notes.encodings import decode_text, lines_joined
from vault.notes.readers.parts import Extract, Part, bounded

MAX_CARDS: Final = 20_000

_NAME_CHARS: Final = 60

Card = Mapping[str, Any]


def read(data: bytes) -> Extract:
    """Read a canvas: cards from top to bottom, those of a group below its name, then the edges.

    Raises:
        ReadingFailed: it is no canvas, or holds too many cards.
    """
    cards, edges = _content(decode_text(data).text)
    if len(cards) + len(edges) > MAX_CARDS:
        raise ReadingFailed(f"it holds more than {MAX_CARDS:,} cards and edges")
    return Extract(bounded([*_cards(cards), *_edges(cards, edges)]))


def _content(text: str) -> tuple[list[Card], list[Card]]:
    if not text.strip():  # Obsidian makes new canvases so
        return [], []
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadingFailed("it is damaged: its JSON cannot be read") from error
    if not isinstance(loaded, dict):
        raise ReadingFailed("it is no canvas")
    cards = _objects(loaded, "nodes")
    cards.sort(key=lambda card: (_number(card, "y"), _number(card, "x")))
    return cards, _objects(loaded, "edges")


def _objects(loaded: Mapping[str, Any], key: str) -> list[Card]:
    found = loaded.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _cards(cards: Sequence[Card]) -> Iterator[Part]:
    groups = [card for card in cards if card.get("type") == "group" and _text(card, "label")]
    inside: dict[int, list[Card]] = {}
    for card in cards:
        if card.get("type") != "group":
            inside.setdefault(_group_of(card, groups), []).append(card)
    for index, members in sorted(inside.items()):
        if index >= 0:
            yield Part("heading", _text(groups[index], "label"), 1)
        for card in members:
            if shown := _shown(card):
                yield Part("markdown", shown)


def _group_of(card: Card, groups: Sequence[Card]) -> int:
    """Give the smallest group around a card's middle, or -1."""
    x = _number(card, "x") + _number(card, "width") / 2
    y = _number(card, "y") + _number(card, "height") / 2
    around = [
        (_number(group, "width") * _number(group, "height"), index)
        for index, group in enumerate(groups)
        if 0 <= x - _number(group, "x") <= _number(group, "width")
        and 0 <= y - _number(group, "y") <= _number(group, "height")
    ]
    return min(around)[1] if around else -1


def _shown(card: Card) -> str:
    match card.get("type"):
        case "file":
            return f"![[{_text(card, 'file')}{_text(card, 'subpath')}]]"
        case "link":
            return f"<{_text(card, 'url')}>"
        case _:
            return lines_joined(_text(card, "text")).strip("\n")


def _edges(cards: Sequence[Card], edges: Sequence[Card]) -> Iterator[Part]:
    names = {_text(card, "id"): _name(card) for card in cards}
    lines = []
    for edge in edges:
        ends = [names.get(_text(edge, key), "") for key in ("fromNode", "toNode")]
        label = " ".join(_text(edge, "label").split())
        if all(ends):
            lines.append(f"- {ends[0]} → {ends[1]}" + (f": {label}" if label else ""))
    if lines:
        yield Part("heading", "Connections", 1)
        yield Part("list", "\n".join(lines))


def _name(card: Card) -> str:
    """Name a card in one line: its group's label, its file, or how its text begins."""
    shown = _text(card, "label") if card.get("type") == "group" else _shown(card)
    first = shown.strip().partition("\n")[0].lstrip("# ").removeprefix("!").strip()
    return first if len(first) <= _NAME_CHARS else f"{first[:_NAME_CHARS].rstrip()}…"


def _text(card: Card, key: str) -> str:
    value = card.get(key)
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _number(card: Card, key: str) -> float:
    value = card.get(key)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e9 else 0.0
