"""A note is outdated when a note it rests on was changed later, and not for any link."""

from pathlib import Path

import pytest

from tests.support.vaults.reviewed import name_paths, review

LATER = {"Prices.md": "2026-05-12"}
PRICES = "# Prices\n\nHydrangeas cost less.\n"


@pytest.mark.parametrize(
    "text",
    [
        "# Budget\n\nPlants are dear.\n\n## Sources\n\n- [[Prices]]\n",
        '---\nsource: "[[Prices]]"\n---\n# Budget\n\nPlants are dear.\n',
        '---\nsources:\n  - "[[Prices]]"\n---\n# Budget\n\nPlants are dear.\n',
        "# Budget\n\nPlants are dear.\n\nBased on [the prices](Prices.md).\n",
        "# Budget\n\nAccording to [[Prices]], plants are dear.\n",
        "# Budget\n\nPlants are dear, as [[Prices]] says.\n",
    ],
    ids=["heading", "property", "properties", "line", "sentence", "word"],
)
def test_a_note_that_is_older_than_its_source_is_found(tmp_path: Path, text: str) -> None:
    (found,) = review(tmp_path, {"Budget.md": text, "Prices.md": PRICES}, LATER)
    assert name_paths((found,)) == [("outdated", "Budget.md", "Prices.md")]
    assert found.reason == (
        "Its source changed on 12 May 2026, 72 days after this note was last changed."
    )
    line = next(n for n, line in enumerate(text.split("\n"), 1) if "Prices" in line)
    assert found.notes[0].first == line
    assert found.notes[0].quote


@pytest.mark.parametrize(
    ("path", "text", "day"),
    [
        ("Budget.md", "# Budget\n\nSource: [[Prices]]\n", "2026-05-13"),
        ("Budget.md", "# Budget\n\nA word about [[Prices]] and other things.\n", "2026-03-01"),
        ("Budget.md", "# Budget\n\nPlants are dear; [[Prices]] says why.\n", "2026-03-01"),
        ("2026-03-01.md", "Source: [[Prices]]\n", "2026-03-01"),
        ("Budget.md", "# Budget\n\nSource: [[Nothing]]\n", "2026-03-01"),
        ("Budget.md", "# Budget\n\nSource: [[Prices]]\n", "1969-12-01"),
        ("Budget.md", "# Budget\n\n- [Sources](Prices.md): a list of them\n", "2026-03-01"),
    ],
    ids=["newer", "mention", "pointer", "diary", "lost", "unknown", "name"],
)
def test_other_links_do_not_make_a_note_outdated(
    tmp_path: Path, path: str, text: str, day: str
) -> None:
    notes, days = {path: text, "Prices.md": PRICES}, {**LATER, path: day}
    assert review(tmp_path, notes, days, kinds=["outdated"]) == ()


def test_a_source_that_changes_again_is_offered_again(tmp_path: Path) -> None:
    text = "# Budget\n\nSource: [[Prices]]\n"
    (before,) = review(tmp_path / "1", {"Budget.md": text, "Prices.md": PRICES}, LATER)
    again = {"Budget.md": text, "Prices.md": f"{PRICES}\nAnd more.\n"}
    (after,) = review(tmp_path / "2", again, {"Prices.md": "2026-06-12"})
    assert before.key != after.key


def test_files_that_were_all_written_at_once_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault.review.outdated._MOST_AT_ONCE", 0)
    monkeypatch.setattr("vault.review.outdated._MINUTE_NS", 10**9 * 3600 * 24 * 7)
    notes = {"Budget.md": "# Budget\n\nSource: [[Prices]]\n", "Prices.md": PRICES, "Else.md": "x"}
    days = {**LATER, "Else.md": "2026-05-12"}
    assert review(tmp_path, notes, days, kinds=["outdated"]) == ()
