"""Notes with the same text are found, and templates, licences and diaries are not."""

from pathlib import Path
from random import Random

import pytest

from tests.support.vaults.reviewed import name_paths, review

WORDS = [f"w{a}{b}rd" for a in "abcdefghijklmno" for b in "abcdefghijklmno"]


def write(seed: int, length: int = 120) -> str:
    """Return some words without a repetition of five."""
    return " ".join(Random(seed).choices(WORDS, k=length))


def test_a_copy_is_found_whatever_its_name(tmp_path: Path) -> None:
    text = write(1)
    (found,) = review(tmp_path, {"A.md": text, "deep/B.md": text, "C.md": write(2)})
    assert name_paths((found,)) == [("duplicate", "A.md", "deep/B.md")]
    assert found.reason == "Both notes have the same content."


def test_a_changed_copy_is_found_with_its_share(tmp_path: Path) -> None:
    text = write(1, 200)
    changed = text.replace(" ".join(text.split()[90:100]), "something else")
    (found,) = review(tmp_path, {"A.md": f"# A\n\n{text}\n", "B.md": f"# B\n\n**{changed}**\n"})
    assert found.kind == "duplicate"
    assert found.reason.startswith("9")
    assert found.reason.endswith("% of the text of the shorter note also stands in the other.")


def test_a_note_within_a_longer_one_is_found(tmp_path: Path) -> None:
    text = write(1)
    notes = {"Long.md": f"{write(2, 300)}\n\n{text}\n\n{write(3, 300)}", "Short.md": text}
    (found,) = review(tmp_path, notes)
    assert [note.path for note in found.notes] == ["Short.md", "Long.md"]
    assert found.reason.endswith("the first note also stands in the second, which has more.")


def test_many_exact_copies_are_found(tmp_path: Path) -> None:
    found = review(tmp_path, {f"Copy {n}.md": write(1) for n in range(9)})
    assert found
    assert {one.reason for one in found} == {"Both notes have the same content."}


@pytest.mark.parametrize(
    "notes",
    [
        {f"Note {n}.md": f"{write(n)}\n\n{write(99, 60)}" for n in range(10)},
        {f"Templates/T{n}.md": write(1) for n in range(2)},
        {f"2026-03-0{n}.md": f"{write(1, 60)} {write(n, 20)}" for n in (2, 3)},
        {"A.md": f"{write(1)} {write(3, 30)}", "B.md": f"{write(2)} {write(3, 30)}"},
        {f"Code {n}.md": f"{write(n, 50)}\n\n```\n{write(9)}\n```\n" for n in (1, 2)},
        {"Empty.md": "", "Blank.md": "\n\n", "Short.md": "One two.", "Too.md": "One two."},
    ],
    ids=["licence", "templates", "diary", "quotation", "code", "short"],
)
def test_what_is_common_for_a_reason_is_not_offered(tmp_path: Path, notes: dict[str, str]) -> None:
    assert review(tmp_path, notes) == ()
