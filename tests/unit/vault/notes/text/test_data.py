"""What stands in a note but is no text is left out, and only that."""

import base64
import hashlib
import json

import pytest

from vault.notes.note import parse_note
from vault.notes.text.data import hide_data, hide_data_in_lines
from vault.notes.text.document import parse_document
from vault.notes.text.lines import TEXT


def make_bytes(count: int) -> bytes:
    blocks = (hashlib.sha256(f"{number}".encode()).digest() for number in range(count // 32 + 1))
    return b"".join(blocks)[:count]


def encode(count: int) -> str:
    return base64.b64encode(make_bytes(count)).decode()


def read_lines(text: str) -> list[str]:
    note, _ = parse_note("Note.md", text.encode())
    return note.text.split("\n")


PICTURE = f"data:image/png;base64,{encode(600)}"
MINIFIED = json.dumps({f"k{n}": [n, {"a": n}] for n in range(90)}, separators=(",", ":"))
CSS = "".join(f".c{n}{{margin:0;padding:{n}px;color:#fff}}" for n in range(60))
WRAPPED = "\n".join(encode(600)[at : at + 76] for at in range(0, 800, 76))
HEX = make_bytes(600).hex()
HELD = {
    "a picture": f"![p]({PICTURE})",
    "a picture in HTML": f'<img src="{PICTURE}" alt="mill">',
    "a picture in quotation marks": f"> ![p]({PICTURE}) beside",
    "a picture as a reference": f"[p]: {PICTURE}",
    "a font": f"src: url(data:font/woff2;charset=utf-8;base64,{encode(300)})",
    "a vector picture": f"![](data:image/svg+xml,%3Csvg{'%20xmlns' * 20})",
    "base64 in a fence": f"```\n{WRAPPED}\n```",
    "base64 in the text": WRAPPED,
    "base64 in a line": f"key: {encode(2000)}",
    "JSON": f"```json\n{MINIFIED}\n```",
    "CSS": f"```css\n{CSS}\n```",
    "a drawing": f"%%\n# Drawing\n```compressed-json\n{encode(60)}\n\n{encode(20)}\n```\n%%",
    "a drawing in JSON": '```json\n{\n\t"type": "excalidraw",\n\t"elements": [1]\n}\n```',
}


@pytest.mark.parametrize("kind", HELD)
def test_data_is_left_out_and_the_lines_around_it_stay(kind: str) -> None:
    text = f"# Note\n\nBefore.\n\n{HELD[kind]}\n\nThe photo shows the old mill.\n"
    lines = read_lines(text)
    assert len(lines) == text.count("\n") + 1
    assert lines[:4] == ["# Note", "", "Before.", ""]
    assert lines[-2] == "The photo shows the old mill."
    shown = "\n".join(lines)
    assert shown.count("characters of data left out)") == 1
    assert len(shown) < 250


@pytest.mark.parametrize("kind", ["a drawing", "a drawing in JSON"])
def test_one_line_takes_the_place_of_the_fence_of_a_drawing(kind: str) -> None:
    document = hide_data(parse_document(f"# Note\n\n{HELD[kind]}\n\nAfter."))
    shown = [
        (line, mark) for line, mark in zip(document.lines, document.kinds, strict=True) if line
    ]
    assert not any("```" in line for line, _ in shown)
    assert {mark for line, mark in shown if "left out" in line} == {TEXT}


@pytest.mark.parametrize(
    "line",
    [
        f"sha512: {make_bytes(64).hex()}",
        f"input: 0x{HEX * 3}",
        f"ssh-rsa AAAA{encode(530)} me@home",
        f"https://example.org/{'a-long-path-of-words/' * 70}",
        f"https://example.org/?token={encode(60)}&next=home",
        "=" * 1200,
        "-" * 1200,
        "- " + "item, " * 300,
        "会议" * 800,
        "| " + " | ".join(f"{{{n}:{n}}}" for n in range(400)) + " |",
        json.dumps({"note": "A sentence with many words in it. " * 60}),
        "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung",
        f"curl --data '{MINIFIED[:300]}'",
    ],
)
def test_text_is_kept(line: str) -> None:
    assert hide_data_in_lines([line]) == (line,)


def test_a_table_with_a_picture_stays_a_table() -> None:
    lines = read_lines(f"| mill | photo |\n|---|---|\n| old | ![]({PICTURE}) |\n| new | none |\n")
    assert lines[2].startswith("| old | ![](data:image/png;base64) (")
    assert lines[2].endswith("left out) |")
    assert lines[3] == "| new | none |"
