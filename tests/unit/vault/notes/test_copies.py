"""Names that programs give to copies of notes, and names of people's own."""

import pytest

from vault.notes.copies import has_copied_text, read_copy_name


@pytest.mark.parametrize(
    "name",
    [
        "Yusuf (conflicted copy 2026-11-02).md",
        "Yusuf (Anna's conflicted copy 2026-11-02).md",
        "Yusuf (Conflicted copy laptop 202611021010).md",
        "Yusuf (conflicted copy 2026-11-02 101010).md",
        "Yusuf (conflicted copy 2026-11-02) (1).md",
        "Yusuf.sync-conflict-20261102-101010-ABC1234.md",
        "Yusuf.sync-conflict-20261102-101010.md",
        "Yusuf_conflict-20261102-101010.md",
        "Yusuf (In Konflikt stehende Kopie von Anna 2026-11-02).md",
        "Yusuf [conflicted].md",
        "Yusuf_laptop_Nov-02-101010-2026_Conflict.md",
        "Yusuf.conflict.md",
        "Yusuf (SFConflict anna@example.org 2026-11-02-10-10-10).md",
    ],
)
def test_names_of_conflicts_are_sure(name: str) -> None:
    assert read_copy_name(f"People/{name}") == ("People/Yusuf.md", True)


@pytest.mark.parametrize(
    "name",
    [
        "Yusuf 2.md",
        "Yusuf (1).md",
        "Yusuf(1).md",
        "Yusuf copy.md",
        "Yusuf copy 2.md",
        "Yusuf - Copy.md",
        "Yusuf - Kopie (2).md",
        "Copy of Yusuf.md",
        "Kopie von Yusuf.md",
    ],
)
def test_other_names_may_be_those_of_copies(name: str) -> None:
    assert read_copy_name(name) == ("Yusuf.md", False)


@pytest.mark.parametrize(
    "name",
    ["Conflict.md", "Conflicts of interest.md", "2.md", "Route 66a.md", "Copy.md", "2026.md"],
)
def test_names_of_people_are_no_copies(name: str) -> None:
    assert read_copy_name(name) is None


def test_copied_text_is_most_of_the_lines() -> None:
    assert has_copied_text(["# Plan", "", "Dig.", "Sow."], ["# Plan", "Dig.", "Sow.", "Reap."])
    assert not has_copied_text(["# Plan 2", "Build."], ["# Plan", "Dig."])
    assert not has_copied_text([], [])
