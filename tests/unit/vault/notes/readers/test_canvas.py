import json
from typing import Any

import pytest

from vault.errors import ReadingFailed
from vault.notes.readers import canvas as reader
from vault.notes.readers.extract import ExtractPart


def canvas(nodes: object, edges: object = ()) -> bytes:
    return json.dumps({"nodes": nodes, "edges": edges}).encode()


def card(name: str, text: str, x: int = 0, y: int = 0, **more: Any) -> dict[str, Any]:
    place = {"x": x, "y": y, "width": 100, "height": 50}
    return {"id": name, "type": "text", "text": text, **place, **more}


def test_cards_are_read_from_top_to_bottom_those_of_a_group_below_its_name() -> None:
    nodes = [
        card("b", "second", y=100),
        card("c", "inside", x=310, y=10),
        card("a", "first"),
        card("g", "", x=300, type="group", label="Plans", width=200, height=200),
        {"id": "f", "type": "file", "file": "dir/a.md", "subpath": "#H", "x": 0, "y": 200},
        {"id": "l", "type": "link", "url": "https://example.org", "x": 0, "y": 300},
    ]
    assert reader.read(canvas(nodes)).parts == (
        ExtractPart("markdown", "first"),
        ExtractPart("markdown", "second"),
        ExtractPart("markdown", "![[dir/a.md#H]]"),
        ExtractPart("markdown", "<https://example.org>"),
        ExtractPart("heading", "Plans", 1),
        ExtractPart("markdown", "inside"),
    )


def test_edges_name_the_cards_at_their_ends() -> None:
    nodes = [card("a", "# Idea\nmore"), card("b", "x" * 80)]
    edges = [
        {"fromNode": "a", "toNode": "b", "label": "leads\nto"},
        {"fromNode": "a", "toNode": "gone"},
    ]
    assert reader.read(canvas(nodes, edges)).parts[-2:] == (
        ExtractPart("heading", "Connections", 1),
        ExtractPart("list", f"- Idea → {'x' * 60}…: leads to"),
    )


def test_a_new_canvas_is_empty() -> None:
    assert reader.read(b"").parts == ()
    assert reader.read(b"{}").parts == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[" * 100_000, "it is damaged: its JSON cannot be read"),
        (b'{"nodes":', "it is damaged: its JSON cannot be read"),
        (b"[]", "it is no canvas"),
        (b"\x00\xff\x00", "it holds NUL bytes, so it is not text"),
    ],
)
def test_what_is_no_canvas_says_so(data: bytes, reason: str) -> None:
    with pytest.raises(ReadingFailed) as caught:
        reader.read(data)
    assert caught.value.reason == reason


def test_odd_values_are_passed_over() -> None:
    nodes = [None, 3, {"type": "text", "text": 5}, card("a", "\ud800", x=10**400), card("b", "ok")]
    assert [part.text for part in reader.read(canvas(nodes)).parts] == ["?", "ok"]


def test_a_canvas_of_too_many_cards_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_CARDS", 2)
    with pytest.raises(ReadingFailed, match="more than 2 cards and edges"):
        reader.read(canvas([card("a", "x")] * 3))
