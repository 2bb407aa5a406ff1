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
    assert review(tmp_path, notes, kinds=["contradiction"]) == ()


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


NOTES = {f"Other {n}.md": f"# Thought {n}\n\nThe thought {n} is short.\n" for n in range(80)}


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (
            ("House/Frost.md", "The frost guard in the greenhouse is set to 4 °C."),
            ("Work/Estimate.md", "The frost guard is set to 7 °C. The roof costs 2,480 €."),
            "One note says 4 °C, the other 7 °C.",
        ),
        (
            ("House/Windows.md", "Offer of Hartmann for the two windows: 2,480 €, in eight weeks."),
            ("Work/North side.md", "Offer of Hartmann for two windows: 1,900 €."),
            "One note says 2,480 €, the other 1,900 €.",
        ),
        (
            ("Work/Lighthouse.md", "The go-live of Lighthouse is planned for 15 February 2027."),
            ("Work/Weekly.md", "The go-live of Lighthouse was moved to 15 March 2027."),
            "One note says 15 February 2027, the other 15 March 2027.",
        ),
        (
            ("Garden/Walk.md", "The allotment lease of Mrs Okafor costs 140 € a year."),
            ("Money/List.md", "The allotment lease of Mrs Okafor costs 165 € a year."),
            "One note says 140 €, the other 165 €.",
        ),
        (
            ("Garten/Rasenmäher.md", "Der Rasenmäher braucht 0,6 Liter Öl."),
            ("Werkstatt/Öl.md", "Der Rasenmäher braucht 0,8 Liter Öl."),
            "One note says 0,6 Liter, the other 0,8 Liter.",
        ),
    ],
)
def test_contradictions_of_the_planted_kind_are_found(
    tmp_path: Path, one: tuple[str, str], other: tuple[str, str], reason: str
) -> None:
    (found,) = review(tmp_path, {**NOTES, **dict([one, other])}, kinds=["contradiction"])
    assert found.reason == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Flats/Kiel.md", "The rent is 620 €."), ("Flats/Bonn.md", "The rent is 700 €.")),
        (
            ("Cars/Golf.md", "The tyres of the car need a pressure of 2.4 bar."),
            ("Cars/Polo.md", "The tyres of the car need a pressure of 2.1 bar."),
        ),
        (
            ("Money/Insurance 2023.md", "The premium of the insurance is 310 €."),
            ("Money/Insurance 2024.md", "The premium of the insurance is 330 €."),
        ),
        (
            ("Flat.md", "The rent of the flat was 620 € until March."),
            ("Rent.md", "The rent of the flat is 640 €."),
        ),
        (
            ("Frost guard.md", "The frost guard switches on at 4 °C."),
            ("House/Winter.md", "The frost guard switches off at 7 °C."),
        ),
        (
            ("Frostwächter.md", "Der Frostwächter schaltet bei 4 °C ein."),
            ("Haus/Winter.md", "Der Frostwächter schaltet bei 7 °C aus."),
        ),
        (
            ("Windows.md", "The offer of Hartmann for the windows is 2,480 €."),
            ("House/North.md", "The offer of Hartmann for the windows is about 2,500 €."),
        ),
        (
            ("Windows.md", "The offer of Hartmann for the windows is ~~2,480 €~~ 1,900 €."),
            ("House/North.md", "The offer of Hartmann for the windows is 1,900 €."),
        ),
        (
            ("Park run.md", "I ran 5 km in the park run of Kassel."),
            ("Sport/Spring.md", "I ran 10 km in the park run of Kassel."),
        ),
        (
            ("Heating.md", "The heating of the bathroom is set to 21 °C by day."),
            ("House/Night.md", "The heating of the bathroom is set to 17 °C by night."),
        ),
        (
            ("Ticket.md", "The annual ticket costs 365 €."),
            ("Money/Commute.md", "The annual ticket costs 30 € per month."),
        ),
        (
            ("House/Moves.md", "## Kiel\n\nThe rent of the flat is 620 €."),
            ("Work/Costs.md", "## Bonn\n\nThe rent of the flat is 700 €."),
        ),
        (
            ("Water.md", "## 3 May 2026\n\nThe water meter shows 1,230 m³."),
            ("House/Meter.md", "## 3 June 2026\n\nThe water meter shows 1,240 m³."),
        ),
        (
            ("Fridge.md", "The temperature of the fridge is 4 °C."),
            ("House/Manual.md", "The temperature of the fridge is 39.2 °F."),
        ),
        (
            ("Dentist.md", "- [ ] Call the dentist about the bridge 📅 2026-07-01"),
            ("House/Todo.md", "- [ ] Call the dentist about the bridge 📅 2026-08-01"),
        ),
    ],
    ids=[
        "flats", "cars", "years", "history", "on and off", "ein und aus", "about", "struck out",
        "events", "day and night", "per", "headings", "readings", "units", "tasks",
    ],
)  # fmt: skip
def test_different_things_do_not_contradict_each_other(
    tmp_path: Path, one: tuple[str, str], other: tuple[str, str]
) -> None:
    notes = {path: f"# {path[:-3].rpartition('/')[2]}\n\n{text}\n" for path, text in (one, other)}
    assert review(tmp_path, {**NOTES, **notes}, kinds=["contradiction"]) == ()
