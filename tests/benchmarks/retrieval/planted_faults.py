"""Fifty faults, planted into real notes at places that a seed draws.

Each fault is of a kind that people make: a figure that was corrected in one of two notes, a copy
that was changed a little, a link to a note that was renamed, a task that was forgotten.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

__all__ = ["PlantedFault", "plant_faults"]

TODAY: Final = date(2026, 11, 27)

# The title of a note on a thing, or none, and what this note and another say of it.
_CONTRADICTIONS: Final = (
    (
        "House/Frost guard",
        "The frost guard switches on at 4 °C.",
        "The frost guard switches on at 7 °C, and draws 900 watts.",
    ),
    (
        "House/Windows",
        "Offer of Hartmann for the two windows: 2,480 €, in eight weeks.",
        "Offer of Hartmann for two windows: 1,900 €.",
    ),
    (
        "House/Boiler",
        "The boiler is serviced every 12 months.",
        "- The *boiler* is serviced every 24 months",
    ),
    (
        "Garten/Rasenmäher",
        "Der Rasenmäher braucht 0,6 Liter Öl.",
        "Der Rasenmäher braucht 0,8 Liter Öl.",
    ),
    (
        "Work/Lighthouse",
        "The go-live of Lighthouse is planned for 15 February 2027.",
        "The go-live of Lighthouse was moved to 15 March 2027.",
    ),
    ("Garden/Beans", "Beans are sown 5 cm deep.", "Beans are sown 3 cm deep, in May."),
    (
        "Choir/Rehearsals",
        "Rehearsals of the choir begin at 19:20.",
        "Rehearsals of the choir begin at 19:45.",
    ),
    ("Bahn/Jahresticket", "Das Jahresticket kostet 365 €.", "Das Jahresticket kostet 415 €."),
    (
        "",
        "The battery of the drone lasts 20 minutes on a cold day.",
        "The battery of the drone lasts 35 minutes on a cold day.",
    ),
    (
        "",
        "The allotment lease of Mrs Okafor costs 140 € a year.",
        "The allotment lease of Mrs Okafor costs 165 € a year.",
    ),
    ("Health/Inhaler", "The inhaler holds 200 puffs.", "> The inhaler holds 120 puffs."),
    (
        "",
        "The deadline of the Greiner scholarship is 31 March 2027.",
        "The deadline of the Greiner scholarship is 30 April 2027.",
    ),
)


@dataclass(frozen=True)
class PlantedFault:
    """A fault, and the notes that a finding of it names.

    Attributes:
        kind: the kind of finding that reports it.
        paths: the paths of the notes.
        text: what was planted.
    """

    kind: str
    paths: frozenset[str]
    text: str


class _Gardener:
    """Plants faults into the notes of a folder, each into other notes."""

    def __init__(self, root: Path, seed: int) -> None:
        self._root, self._random = root, Random(seed)
        notes = [path for path in sorted(root.rglob("*.md")) if path.stat().st_size > 1_500]
        self._random.shuffle(notes)
        self._notes = iter(notes)
        self.faults: list[PlantedFault] = []

    def draw(self) -> Path:
        return next(self._notes)

    def read(self, note: Path) -> str:
        return note.read_text("utf-8")

    def name(self, note: Path) -> str:
        return note.relative_to(self._root).as_posix()

    def write(self, path: str, text: str, changed: date = TODAY) -> Path:
        note = self._root / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text, "utf-8")
        time = datetime(changed.year, changed.month, changed.day, 12).timestamp()
        os.utime(note, (time, time))
        return note

    def insert(self, note: Path, line: str) -> None:
        """Insert a paragraph between two others of a note, outside of lists and code."""
        blocks = self.read(note).split("\n\n")
        plain = [at for at, block in enumerate(blocks) if block[:1].isalpha()]
        fences = [sum(b.count("```") for b in blocks[:at]) for at in plain]
        places = [at for at, marks in zip(plain, fences, strict=True) if marks % 2 == 0]
        blocks.insert((self._random.choice(places) if places else len(blocks) - 1) + 1, line)
        note.write_text("\n\n".join(blocks), "utf-8")

    def add(self, kind: str, notes: Sequence[Path], text: str) -> None:
        paths = frozenset(map(self.name, notes))
        self.faults.append(PlantedFault(kind, paths, text))


def plant_faults(
    root: Path, seed: int, contradictions: Sequence[tuple[str, str, str]] = _CONTRADICTIONS
) -> list[PlantedFault]:
    """Plant fifty faults into the notes of a folder, and return them.

    Args:
        root: the folder.
        seed: what the places are drawn by.
        contradictions: twelve things, each with a title and two sentences.
    """
    gardener = _Gardener(root, seed)
    _plant_contradictions(gardener, contradictions)
    _plant_duplicates(gardener)
    _plant_links(gardener)
    _plant_copies_and_titles(gardener)
    _plant_marks(gardener)
    _plant_neglect(gardener)
    assert len(gardener.faults) == 50
    return gardener.faults


def _plant_contradictions(
    gardener: _Gardener, contradictions: Sequence[tuple[str, str, str]]
) -> None:
    for title, said, differing in contradictions:
        if title:
            heading = title.rpartition("/")[2]
            first = gardener.write(f"{title}.md", f"# {heading}\n\nSee the shed.\n\n{said}\n")
        else:
            first = gardener.draw()
            gardener.insert(first, said)
        second = gardener.draw()
        while not title and second.parent == first.parent:
            second = gardener.draw()
        gardener.insert(second, differing)
        gardener.add("contradiction", (first, second), differing)


def _plant_duplicates(gardener: _Gardener) -> None:
    changes: Sequence[tuple[str, Callable[[str], str]]] = (
        ("Archive/{}", lambda text: text),
        ("Archive/Old {}", lambda text: text),
        ("Inbox/{} (2)", lambda text: text),
        ("Inbox/{} copy", lambda text: f"{text}\nTo be checked by Anna.\n"),
        ("Inbox/New {}", lambda text: f"{text}\n\n## Later\n\nAsk the neighbours about it.\n"),
        ("Archive/Draft of {}", lambda text: text.replace(" the ", " this ", 3)),
        ("Inbox/{} - shared", lambda text: "\n\n".join(text.split("\n\n")[:-1])),
        ("Archive/{} 2023", lambda text: text.replace(".\n", ". Really.\n", 2)),
    )
    for name, change in changes:
        note = gardener.draw()
        copy = gardener.write(f"{name.format(note.stem)}.md", change(gardener.read(note)))
        gardener.add("duplicate", (note, copy), name)


def _plant_links(gardener: _Gardener) -> None:
    target = gardener.write("House/Cellar.md", "# Cellar\n\n## Shelves\n\nJam. ^jam\n")
    gardener.insert(gardener.draw(), "See [[Cellar]] for the jars.")
    for line in (
        "The jars are listed in [[Celler]].",
        "The jars are listed in [[House/Attic|the attic]].",
        "The jars are listed in [the cellar](../House/Cellarr.md).",
        "The jars are listed in [[Cellar#Shelf]].",
        "The jars are listed in [[Cellar#^jars]].",
        "The jars are listed [above](#where-the-jars-are).",
        "![[Cellar plan.png]]",
        "![[Cellars]]",
        "![[Cellar#Racks]]",
        "![Plan](images/cellar-plan.jpg)",
    ):
        note = gardener.draw()
        gardener.insert(note, line)
        gardener.add("broken_embed" if line[0] == "!" else "broken_link", (note,), line)
    assert target.exists()


def _plant_copies_and_titles(gardener: _Gardener) -> None:
    for name in (
        "{} (conflicted copy 2026-11-02)",
        "{}.sync-conflict-20261102-101112-ABCDEFG",
        "{} (Anna's conflicted copy 2026-10-30)",
    ):
        note = gardener.draw()
        path = gardener.name(note.with_name(f"{name.format(note.stem)}.md"))
        copy = gardener.write(path, f"{gardener.read(note)}\nAnna was here.\n")
        gardener.add("conflict_copy", (note, copy), name)
    for title, text in (
        ("Insurance", "Call {} about the claim."),
        ("Holiday", "We go to {} by train."),
        ("Steuer", "Die Unterlagen liegen bei {}."),
    ):
        notes = [
            gardener.write(f"{folder}/{title}.md", f"# {title}\n\n{text.format(who)}\n")
            for folder, who in (("House", "Berger"), ("Work", "Lund"))
        ]
        gardener.add("same_title", notes, title)
    for title in ("Lichen", "Whetstone", "Käfer"):
        text = f"# {title}\n\nA thought that nobody has come back to so far.\n"
        gardener.add("orphan", (gardener.write(f"Inbox/{title}.md", text),), title)


def _plant_marks(gardener: _Gardener) -> None:
    for ours, theirs in (
        ("The gate opens at 7.", "The gate opens at 8."),
        ("Bring the saw.", "Bring the axe.\nAnd the rope."),
        ("", "Ask Tom."),
    ):
        note = gardener.draw()
        marked = f"<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> other"
        gardener.insert(note, marked.replace("\n\n", "\n"))
        gardener.add("git_conflict", (note,), theirs)
    for name, front in (
        ("Colon", "title: Plans: the second\ntags: [house]"),
        ("Bracket", "tags: [house, garden\nrating: 3"),
        ("Quote", 'author: "Anna\nrating: 3'),
    ):
        text = f"---\n{front}\n---\n# {name}\n\nSee [[Cellar]].\n"
        note = gardener.write(f"House/{name}.md", text)
        gardener.add("front_matter", (note,), front)


def _plant_neglect(gardener: _Gardener) -> None:
    for line in (
        "- [ ] Call the roofer 📅 2026-10-02",
        "- [ ] Renew the passport [due:: 2026-09-01]",
        "* [/] Pay the deposit, due 2026-11-26",
    ):
        note = gardener.write(f"Work/{line[6:14]}.md", f"See [[Cellar]].\n\n{line}\n")
        gardener.add("overdue", (note,), line)
    old = TODAY - timedelta(days=500)
    for name, text in (
        ("Essay", "---\nstatus: draft\n---\n# Essay\n\nSee [[Cellar]].\n"),
        ("Speech", "# Speech\n\n#draft\n\nSee [[Cellar]].\n"),
    ):
        note = gardener.write(f"Work/{name}.md", text, old)
        gardener.add("draft", (note,), name)
