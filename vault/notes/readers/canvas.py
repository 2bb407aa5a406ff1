"""Read Obsidian canvases and Excalidraw drawings: JSON files with what lies on a plane.

Of a canvas, the cards, groups and edges are read, and of a drawing its text elements.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from vault.errors import ReadingFailed
from vault.notes.encodings import decode_text, normalize_line_ends
from vault.notes.readers.extract import Extract, ExtractPart, limit_parts

MAX_CARDS: Final = 20_000
MAX_ELEMENTS: Final = 100_000

_NAME_CHARS: Final = 60

Card = Mapping[str, Any]


def read(data: bytes) -> Extract:
    """Extract the text of a canvas: first the cards, then the edges between them.

    Cards are read from top to bottom, and those of a group are put below the group's name.

    Raises:
        ReadingFailed: the file is not a canvas, or has too many cards and edges.
    """
    cards, edges = _load(decode_text(data).text)
    if len(cards) + len(edges) > MAX_CARDS:
        raise ReadingFailed(f"it holds more than {MAX_CARDS:,} cards and edges")
    return Extract(limit_parts([*_build_card_parts(cards), *_build_edge_parts(cards, edges)]))


def _load(text: str) -> tuple[list[Card], list[Card]]:
    if not text.strip():  # a new canvas of Obsidian is empty
        return [], []
    loaded = _parse(text)
    if not isinstance(loaded, dict):
        raise ReadingFailed("it is no canvas")
    cards = _list_objects(loaded, "nodes")
    cards.sort(key=lambda card: (_read_number(card, "y"), _read_number(card, "x")))
    return cards, _list_objects(loaded, "edges")


def _list_objects(loaded: Mapping[str, Any], key: str) -> list[Card]:
    found = loaded.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _build_card_parts(cards: Sequence[Card]) -> Iterator[ExtractPart]:
    groups = [card for card in cards if card.get("type") == "group" and _read_text(card, "label")]
    inside: dict[int, list[Card]] = {}
    for card in cards:
        if card.get("type") != "group":
            inside.setdefault(_find_group(card, groups), []).append(card)
    for index, members in sorted(inside.items()):
        if index >= 0:
            yield ExtractPart("heading", _read_text(groups[index], "label"), 1)
        for card in members:
            if shown := _render_card(card):
                yield ExtractPart("markdown", shown)


def _find_group(card: Card, groups: Sequence[Card]) -> int:
    """Return the index of the smallest group that contains a card's centre, or -1 if none does."""
    x = _read_number(card, "x") + _read_number(card, "width") / 2
    y = _read_number(card, "y") + _read_number(card, "height") / 2
    around = [
        (_read_number(group, "width") * _read_number(group, "height"), index)
        for index, group in enumerate(groups)
        if 0 <= x - _read_number(group, "x") <= _read_number(group, "width")
        and 0 <= y - _read_number(group, "y") <= _read_number(group, "height")
    ]
    return min(around)[1] if around else -1


def _render_card(card: Card) -> str:
    match card.get("type"):
        case "file":
            return f"![[{_read_text(card, 'file')}{_read_text(card, 'subpath')}]]"
        case "link":
            return f"<{_read_text(card, 'url')}>"
        case _:
            return normalize_line_ends(_read_text(card, "text")).strip("\n")


def _build_edge_parts(cards: Sequence[Card], edges: Sequence[Card]) -> Iterator[ExtractPart]:
    names = {_read_text(card, "id"): _name_card(card) for card in cards}
    lines = []
    for edge in edges:
        ends = [names.get(_read_text(edge, key), "") for key in ("fromNode", "toNode")]
        label = " ".join(_read_text(edge, "label").split())
        if all(ends):
            lines.append(f"- {ends[0]} → {ends[1]}" + (f": {label}" if label else ""))
    if lines:
        yield ExtractPart("heading", "Connections", 1)
        yield ExtractPart("list", "\n".join(lines))


def _name_card(card: Card) -> str:
    shown = _read_text(card, "label") if card.get("type") == "group" else _render_card(card)
    first = shown.strip().partition("\n")[0].lstrip("# ").removeprefix("!").strip()
    return first if len(first) <= _NAME_CHARS else f"{first[:_NAME_CHARS].rstrip()}…"


def _read_text(card: Card, key: str) -> str:
    value = card.get(key)
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _read_number(card: Card, key: str) -> float:
    value = card.get(key)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e9 else 0.0


def read_drawing(data: bytes) -> Extract:
    """Extract the texts of a drawing, from top to bottom, each as a paragraph.

    Raises:
        ReadingFailed: the file is not a drawing, or has too many elements.
    """
    elements = _load_drawing(decode_text(data).text)
    if len(elements) > MAX_ELEMENTS:
        raise ReadingFailed(f"it holds more than {MAX_ELEMENTS:,} elements")
    elements.sort(key=lambda one: (_read_number(one, "y"), _read_number(one, "x")))
    return Extract(limit_parts(list(_build_text_parts(elements))))


def _load_drawing(text: str) -> list[Card]:
    if not text.strip():
        return []
    loaded = _parse(text)
    if not isinstance(loaded, dict) or not isinstance(loaded.get("elements"), list):
        raise ReadingFailed("it is no drawing")
    return _list_objects(loaded, "elements")


def _build_text_parts(elements: list[Card]) -> Iterator[ExtractPart]:
    for element in elements:
        if element.get("type") != "text" or element.get("isDeleted") is True:
            continue
        # The lines of `text` are wrapped to the width of its box, those of `originalText` are not.
        written = _read_text(element, "originalText") or _read_text(element, "text")
        if shown := normalize_line_ends(written).strip():
            yield ExtractPart("paragraph", shown)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadingFailed("it is damaged: its JSON cannot be read") from error
