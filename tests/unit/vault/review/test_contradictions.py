"""Notes that say the same with another quantity are found, and what only looks so is not."""

from pathlib import Path

import pytest

from tests.support.vaults.reviewed import review

BARREL = "# Rain barrel\n\nThe rain barrel holds 210 litres.\n"


def test_two_notes_about_the_same_thing_contradict_each_other(tmp_path: Path) -> None:
    garden = "# Garden\n\nWater comes from the roof.\n\n- The *rain barrel* holds 200 litres\n"
    (found,) = review(tmp_path, {"Rain barrel.md": BARREL, "Garden.md": garden})
    assert found.kind == "contradiction"
    assert found.reason == "One note says 200 litres, the other 210 litres."
    shown = [(note.path, note.first, note.quote) for note in found.notes]
    assert shown == [
        ("Garden.md", 5, "The rain barrel holds 200 litres"),
        ("Rain barrel.md", 3, "The rain barrel holds 210 litres."),
    ]


@pytest.mark.parametrize(
    "other",
    [
        "The rain barrel holds 210 liters or litres, as 210 litres.",
        "The rain barrel holds 210.0 litres.",
        "The green rain barrel of Anna holds 100 litres.",
        "The rain barrel of Anna holds 100 litres.",
        "The rain barrel never holds 300 litres.",
        "The rain barrel holds 210 litres since 2024.",
        "Step 4: the rain barrel holds 210 litres.",
        "The rain barrel costs 40 euros.",
        "```\nThe rain barrel holds 100 litres.\n```",
        "`The rain barrel holds 100 litres`",
    ],
)
def test_another_statement_is_no_contradiction(tmp_path: Path, other: str) -> None:
    notes = {"Rain barrel.md": BARREL, "Garden.md": f"# Garden\n\n{other}\n"}
    assert review(tmp_path, notes) == ()


def test_the_same_value_in_another_form_is_no_contradiction(tmp_path: Path) -> None:
    notes = {
        "Server.md": "# Server\n\nThe server copies 1,500 files of the notes at 02:30.\n",
        "Backup.md": "# Backup\n\nThe server copies 1500 files of the notes at 2:30.\n",
    }
    assert review(tmp_path, notes) == ()


def test_another_time_is_a_contradiction(tmp_path: Path) -> None:
    notes = {
        "Server.md": "# Server\n\nThe server is backed up every night at 02:30.\n",
        "Plan.md": "# Plan\n\nThe server is backed up every night at 03:15.\n",
    }
    (found,) = review(tmp_path, notes)
    assert found.reason == "One note says 03:15, the other 02:30."


def test_things_of_one_kind_may_differ(tmp_path: Path) -> None:
    bake = "Bake in the oven for {} minutes at 180 °C."
    notes = {
        "Apple cake.md": f"# Apple cake\n\n{bake.format(50)}\n",
        "Bread.md": f"# Bread\n\n{bake.format(40)}\n",
    }
    assert review(tmp_path, notes) == ()


def test_a_series_is_no_contradiction(tmp_path: Path) -> None:
    notes = {
        f"Report {number}.md": f"# Report\n\nThe report of the club counts {number} members.\n"
        for number in range(30, 36)
    }
    assert review(tmp_path, notes) == ()


def test_days_of_a_diary_may_differ(tmp_path: Path) -> None:
    notes = {
        f"2026-03-0{day}.md": f"The rain barrel held {100 + day} litres of water.\n"
        for day in (1, 2)
    }
    assert review(tmp_path, notes) == ()


def test_several_quantities_of_two_notes_are_one_finding(tmp_path: Path) -> None:
    text = "# {}\n\nThe rain barrel holds {} litres.\n\nThe rain barrel costs {} euros.\n"
    notes = {"Barrel.md": text.format("Barrel", 210, 40), "Shop.md": text.format("Shop", 200, 45)}
    (found,) = review(tmp_path, notes)
    assert found.reason.endswith(" 1 more differs.")
