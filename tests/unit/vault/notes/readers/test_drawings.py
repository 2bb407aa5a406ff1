"""Drawings of Excalidraw are read as their text elements."""

import json
from typing import Any

import pytest

from vault.errors import ReadingFailed
from vault.notes.kinds import DRAWING, find_kind
from vault.notes.note import parse_note
from vault.notes.readers.canvas import read_drawing


def draw(*elements: dict[str, Any]) -> bytes:
    return json.dumps({"type": "excalidraw", "version": 2, "elements": elements}).encode()


def write(text: Any, y: float, x: float = 0, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, "x": x, "y": y, **more}


def test_the_texts_are_read_from_top_to_bottom_and_nothing_else() -> None:
    drawing = draw(
        write("The pump\nis loud.", 300, originalText="The pump is loud."),
        {"type": "rectangle", "x": 0, "y": 0, "label": "no text"},
        write("Right", 10, 500),
        write("Left", 10, 20),
        write("Gone", 5, isDeleted=True),
        write(7, 1),
        write("   ", 2),
        {"type": "arrow", "y": 4},
        write("# No heading\r\nof two lines", 400),
    )
    assert [part.text for part in read_drawing(drawing).parts] == [
        "Left",
        "Right",
        "The pump is loud.",
        "# No heading\nof two lines",
    ]
    note, _ = parse_note("Plans/House.excalidraw", drawing)
    assert find_kind("Plans/House.excalidraw") is DRAWING
    assert (note.title, note.headings) == ("House", ())
    assert "The pump is loud." in note.text
    assert "excalidraw" not in note.text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "it is damaged: its JSON cannot be read"),
        (b"[1]", "it is no drawing"),
        (b'{"nodes": []}', "it is no drawing"),
        (b"[" * 100_000, "it is damaged: its JSON cannot be read"),
    ],
)
def test_what_is_no_drawing_says_so(data: bytes, reason: str) -> None:
    with pytest.raises(ReadingFailed) as failed:
        read_drawing(data)
    assert failed.value.reason == reason


def test_an_empty_drawing_has_no_text() -> None:
    assert not read_drawing(b"").parts
    assert not read_drawing(draw()).parts
