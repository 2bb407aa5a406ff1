"""Write a vault of 150 notes: the house, garden, work, kitchen, people and projects of one person.

The texts in `life/` were written by hand, in English and German. Each begins its notes with lines
`=== PATH`. What no person types is made here, with a fixed seed: the photos in the text, as data
addresses, and the drawing.
"""

import base64
import random
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

TEXTS: Final = Path(__file__).with_name("life")
_SEED: Final = 29
_LABELS: Final = ("Strawberries: south bed", "Rhubarb by the shed", "Path of bark, 60 cm wide")


def write_life_vault(folder: Path) -> int:
    """Write the notes below a folder, and return how many there are."""
    notes = make_life_notes()
    for path, text in notes.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return len(notes)


def make_life_notes() -> Mapping[str, str]:
    """Return the text of each note, by path."""
    draw = random.Random(_SEED)
    return {path: _fill_in(text, draw) for path, text in _read_notes()}


def _read_notes() -> Iterator[tuple[str, str]]:
    for source in sorted(TEXTS.glob("*.txt")):
        for part in source.read_text("utf-8").split("=== ")[1:]:
            path, _, text = part.partition("\n")
            yield path, text


def _fill_in(text: str, draw: random.Random) -> str:
    if "@photo@" in text:
        text = text.replace("@photo@", f"data:image/jpeg;base64,{_make_base64(draw, 24_000)}")
    return _make_drawing(draw) if text.strip() == "@drawing@" else text


def _make_drawing(draw: random.Random) -> str:
    labels = "\n\n".join(f"{label} ^{draw.getrandbits(32):08x}" for label in _LABELS)
    packed = "\n".join(textwrap.wrap(_make_base64(draw, 12_000), 256))
    return (
        "---\nexcalidraw-plugin: parsed\ntags: [garden, excalidraw]\n---\n# Excalidraw Data\n\n"
        f"## Text Elements\n{labels}\n\n%%\n## Drawing\n```compressed-json\n{packed}\n```\n%%\n"
    )


def _make_base64(draw: random.Random, size: int) -> str:
    return base64.b64encode(draw.randbytes(size)).decode("ascii")
