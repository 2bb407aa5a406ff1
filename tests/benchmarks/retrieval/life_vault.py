"""Write vaults of 69 to 150 notes, each of the life of one person.

The texts were written by hand: `life/` in English and German, of a house, garden, work and
projects; `theatre/` in English and French, of a theatre, a boat and a family; `nurse/` in English
and French, of a nurse who keeps bees and writes a thesis. Each begins its notes with lines
`=== PATH`. What no person types is made here, with a fixed seed: the photos in the text, as data
addresses, and the drawings.
"""

import base64
import random
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

LifeName = Literal["life", "theatre", "nurse"]

_TEXTS: Final = Path(__file__).parent
_SEED: Final = 29
_DRAWING: Final = "@drawing@\n"


def write_life_vault(folder: Path, name: LifeName = "life") -> int:
    """Write the notes of a life below a folder, and return how many there are."""
    notes = make_life_notes(name)
    for path, text in notes.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return len(notes)


def make_life_notes(name: LifeName = "life") -> Mapping[str, str]:
    """Return the text of each note of a life, by path."""
    draw = random.Random(_SEED)
    return {path: _fill_in(text, draw) for path, text in _read_notes(_TEXTS / name)}


def _read_notes(folder: Path) -> Iterator[tuple[str, str]]:
    for source in sorted(folder.glob("*.txt")):
        for part in source.read_text("utf-8").split("=== ")[1:]:
            path, _, text = part.partition("\n")
            yield path, text


def _fill_in(text: str, draw: random.Random) -> str:
    if "@photo@" in text:
        text = text.replace("@photo@", f"data:image/jpeg;base64,{_make_base64(draw, 24_000)}")
    if text.startswith(_DRAWING):
        return _make_drawing(draw, text.removeprefix(_DRAWING).splitlines())
    return text


def _make_drawing(draw: random.Random, written: Sequence[str]) -> str:
    labels = "\n\n".join(f"{label} ^{draw.getrandbits(32):08x}" for label in written)
    packed = "\n".join(textwrap.wrap(_make_base64(draw, 12_000), 256))
    return (
        "---\nexcalidraw-plugin: parsed\ntags: [garden, excalidraw]\n---\n# Excalidraw Data\n\n"
        f"## Text Elements\n{labels}\n\n%%\n## Drawing\n```compressed-json\n{packed}\n```\n%%\n"
    )


def _make_base64(draw: random.Random, size: int) -> str:
    return base64.b64encode(draw.randbytes(size)).decode("ascii")
