"""Copies of sync programs are known by their names, and left alone while they are written."""

import os
import time
from pathlib import Path

import pytest

from resources.system.copies import ARRIVES_WITHIN_S, find_copies, take_file


def write_file(path: Path, text: str, age_s: float = 2 * ARRIVES_WITHIN_S) -> Path:
    """Write a file that was last changed some seconds ago."""
    path.write_text(text)
    os.utime(path, (time.time() - age_s,) * 2)
    return path


ENDS_OF_COPIES = [
    ".sync-conflict-20261127-184500-ABCDEFG",
    " (Ada's conflicted copy 2026-11-27)",
    " (Ada's MacBook (2)'s conflicted copy 2026-11-27)",
    " (Ada の競合コピー 2026-11-27)",
    " (Конфликтующая копия)",
    " (Ada 的冲突副本 2026-11-27)",
    " (copie en conflit de Ada 2026-11-27)",
    " (conflicted copy)",
    "[conflicted]",
    "_conflict-20261127-184500",
    "_Ada_Nov-27-184500-2026_Conflict",
    "-Marias-MBP",
    "-DESKTOP-7Q2F",
    "~HOST",
    " 2",
    "(1)",
    " (12)",
]
ENDS_OF_PEOPLE = ["", "-old", ".bak", " (mine)", "_of_work", "s", "2", "Backup", " before update"]
ENDS_OF_PEOPLE += ["_v2", "-v2", "_OLD", ".2026-11-27", " 2026-11-27", "-20261127"]


@pytest.mark.parametrize("end", ENDS_OF_COPIES)
def test_copies_are_known_by_their_names(end: str, tmp_path: Path) -> None:
    place, copy = tmp_path / "memories.md", tmp_path / f"memories{end}.md"
    copy.write_text("")
    assert list(find_copies(place)) == []
    place.write_text("")
    (tmp_path / f"memories{end}.txt").write_text("")
    assert list(find_copies(place)) == [copy]


@pytest.mark.parametrize("end", ENDS_OF_PEOPLE)
def test_files_of_people_are_no_copies(end: str, tmp_path: Path) -> None:
    for name in ("memories.md", f"memories{end}.md", f"my memories{end}.md"):
        (tmp_path / name).write_text("")
    assert list(find_copies(tmp_path / "memories.md")) == []


def test_a_file_that_has_arrived_is_used_and_removed(tmp_path: Path) -> None:
    path, used = write_file(tmp_path / "a", "whole\n"), list[bytes]()
    assert take_file(path, used.append)
    assert used == [b"whole\n"]
    assert not path.exists()


@pytest.mark.parametrize("age_s", [0, ARRIVES_WITHIN_S / 2, -30, -86_400])
def test_a_file_that_was_just_changed_stays_unused(age_s: float, tmp_path: Path) -> None:
    path, used = write_file(tmp_path / "a", "begun\n", age_s), list[bytes]()
    assert not take_file(path, used.append)
    assert used == []
    assert path.exists()


@pytest.mark.parametrize("is_replaced", [False, True])
def test_what_is_written_while_a_file_is_used_stays(is_replaced: bool, tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", "first\n")

    def use(_content: bytes) -> None:
        if is_replaced:
            write_file(tmp_path / "b", "first\nlater\n").replace(path)
        else:
            write_file(path, "first\nlater\n")

    assert not take_file(path, use)
    assert path.read_text() == "first\nlater\n"


def test_a_file_that_cannot_be_used_stays(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", "odd")

    def use(_content: bytes) -> None:
        raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        take_file(path, use)
    assert path.exists()


def test_a_symbolic_link_is_left_alone(tmp_path: Path) -> None:
    link, used = tmp_path / "link", list[bytes]()
    link.symlink_to(write_file(tmp_path / "a", "whole"))
    os.utime(link, (0, 0), follow_symlinks=False)
    assert not take_file(link, used.append)
    assert (used, link.is_symlink()) == ([], True)
