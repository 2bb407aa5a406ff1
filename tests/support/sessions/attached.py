"""Notes of any size to attach, and checks that hold for every report about attachments."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from context.layers import name_source
from context.report.markdown import report_markdown

WORDS = (
    "river barrel garden bean soil compost water meter pump valve winter frost seed tray label",
    "invoice meeting minutes budget plan kitchen oven bread yeast flour salt walk trail map tide",
)
PASSAGE = 340  # tokens; the maximum for a passage of these notes, including its source


def prose(seed: int, size: int) -> str:
    """Return the text of a note with about `size` characters."""
    chance = random.Random(seed)
    text = f"# Note {seed}\n"
    while len(text) < size:
        sentence = " ".join(chance.choices(" ".join(WORDS).split(), k=chance.randint(20, 60)))
        text += f"\n## Part {len(text)}\n\n{sentence.capitalize()}.\n"
    return text


def write_sized_notes(folder: Path, large: Sequence[int], tagged: Sequence[int]) -> None:
    """Write notes of about the given sizes in characters.

    They are named `n0.md` and so on, the tagged ones `Sub/s0.md` and so on. A short `small.md` is
    added.
    """
    (folder / "Sub").mkdir(parents=True)
    for number, size in enumerate(large):
        (folder / f"n{number}.md").write_text(prose(number, size))
    for number, size in enumerate(tagged):
        (folder / "Sub" / f"s{number}.md").write_text(f"#tagged\n\n{prose(20 + number, size)}")
    (folder / "small.md").write_text("# Small\n\nThe gate is green.\n")


def rows(context: Any, layer: str = "L3") -> list[Any]:
    """Return the report's segments in a layer."""
    return [row for row in context["segments"] if row["layer"] == layer]


def assert_consistent(done: Any, *, has_selection: bool = False) -> None:
    """Check that the report mentions each omission once, and that its numbers agree.

    Args:
        done: the result of a turn.
        has_selection: whether a large selection, which is never cut, may exceed half the budget.
    """
    context = done["context"]
    layers = {name: layer["tokens"] for name, layer in context["layers"].items()}
    assert context["used"] == sum(layers.values()) <= context["budget"]
    assert has_selection or layers["L3"] <= context["budget"] * 0.5
    assert layers["L3"] >= sum(row["tokens"] for row in rows(context)) * 0.9
    gone = {row["id"] for row in rows(context) if row["state"] == "dropped"}
    named = {entry for one in context["dropped"] for entry in one["entries"]}
    assert gone == named
    retrieved = [row for row in rows(context) if row["kind"] == "passage" and row["reason"] is None]
    retrieved += [row for row in rows(context) if row["kind"] == "passage" and row["id"] in gone]
    parted = {
        row["source"] for row in rows(context) if row["state"] != "full" and row not in retrieved
    }
    assert bool([said for said in done["warnings"] if " sent once" not in said]) == bool(parted)
    said = " ".join(done["warnings"])
    assert all(name_source(source) in said for source in parted) or "of the attachments" in said
    assert len(done["warnings"]) == len(set(done["warnings"]))
    markdown = report_markdown(context)
    assert all(f"warning: {warning}" in markdown for warning in done["warnings"])
    assert not parted or "left out: " in markdown
