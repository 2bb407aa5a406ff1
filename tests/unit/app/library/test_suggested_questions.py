"""The suggested questions of an empty chat: which notes they ask about, and how they read."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from app.library.suggested_questions import suggest_questions
from vault.records import NoteState
from vault.vault import Vault


def suggest(folder: Path, texts: Mapping[str, str], *titles: str) -> list[str]:
    """Write notes, and return the questions suggested for them.

    Args:
        texts: the text of each note by its path.
        titles: the titles of the notes, in order. Without it, a note's title is its file name.
    """
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    names = titles or tuple(Path(path).stem for path in texts)
    notes = [NoteState(path, name, "indexed") for path, name in zip(texts, names, strict=True)]
    return list(suggest_questions(notes, Vault(folder, folder / ".index"), date(2026, 11, 27)))


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Compost", "What is in “Compost”?"),
        ("Meeting about the roof", "What is in “Meeting about the roof”?"),
        ("How to sharpen a knife", "What is in “How to sharpen a knife”?"),
        ("Buy a new bike", "What is in “Buy a new bike”?"),
        ("Who owns the fence?", "Who owns the fence?"),
    ],
)
def test_a_suggestion_reads_well_for_a_title_of_any_form(
    tmp_path: Path, title: str, question: str
) -> None:
    assert suggest(tmp_path, {"a.md": "Some text."}, title) == [question]


def test_a_title_with_quotation_marks_is_not_asked_about(tmp_path: Path) -> None:
    titles = ("The “new” roof", 'The "old" roof', "The roof")
    texts = {"a.md": "Text.", "b.md": "Text.", "c.md": "Text."}
    assert suggest(tmp_path, texts, *titles) == ["What is in “The roof”?"]


def test_three_questions_are_suggested_first_of_different_folders(tmp_path: Path) -> None:
    texts = {f"{name}.md": "Text." for name in ("Rain", "Beans", "Frost", "Ice floes")}
    flat = ["What is in “Rain”?", "What is in “Beans”?", "What is in “Frost”?"]
    assert suggest(tmp_path, texts) == flat
    with_folder = ["What is in “Rain”?", "What is in “Peas”?", "What is in “Beans”?"]
    assert suggest(tmp_path, {**texts, "beds/Peas.md": "Text."}) == with_folder


def test_a_note_without_text_a_date_and_a_short_name_are_not_asked_about(tmp_path: Path) -> None:
    texts = {
        "Arrivals.md": "",
        "Bulbs.md": "# Bulbs\n\n## Tulips\n",
        "Crates.md": "---\ntags: [shed]\n---\n",
        "2025-03-12.md": "A day.",
        "Ice.md": "Cold.",
        "Eaves.md": "Swallows nest below the eaves.\n",
    }
    assert suggest(tmp_path, texts) == ["What is in “Eaves”?"]


def test_a_note_that_was_deleted_meanwhile_is_not_asked_about(tmp_path: Path) -> None:
    notes = [NoteState("Gone.md", "Gone", "indexed"), NoteState("Here.md", "Here", "indexed")]
    (tmp_path / "Here.md").write_text("Text.", "utf-8")
    assert suggest_questions(notes, Vault(tmp_path, tmp_path / ".index")) == ("What is in “Here”?",)


def test_the_questions_that_the_user_has_listed_come_first(tmp_path: Path) -> None:
    listed = (
        "# Questions\n\n- How much does the barrel hold?\n- Water it.\n| When is sowing? | May |\n"
    )
    texts = {"Rain.md": "Text.", "Help/Questions worth asking.md": listed}
    assert suggest(tmp_path, texts) == ["How much does the barrel hold?", "When is sowing?"]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("# Boiler\n\n## Frost guard\n\nIt starts at 4 °C.\n", "What is in “Frost guard”?"),
        ("## How do I bleed a radiator?\n\nWith the key.\n", "How do I bleed a radiator?"),
        ("## Wie entlüftet man?\n\nMit dem Schlüssel.\n", "Wie entlüftet man?"),
        ("- [ ] Call the fitter 📅 2026-11-20\n", "Which tasks are overdue?"),
        ("- [ ] Call the fitter 📅 2026-11-27\n", "Which tasks are open?"),
        ("- [ ] Call the fitter\n- [x] Pay 📅 2026-01-01\n", "Which tasks are open?"),
        ("- [x] Call the fitter\n", "What is in “Boiler”?"),
        ("## Summary\n\nIt is old.\n", "What is in “Boiler”?"),
        ("## Frost guard\n\n## Next part\n\n", ""),
        ("## [[Frost]] **guard**\n\nIt starts at 4 °C.\n", "What is in “Frost guard”?"),
        ("## 2026 in numbers\n\nIt is old.\n", "What is in “Boiler”?"),
        ("```\n## Frost guard\n```\n", "What is in “Boiler”?"),
    ],
)
def test_the_first_question_is_made_of_what_a_note_contains(
    tmp_path: Path, text: str, question: str
) -> None:
    assert [*suggest(tmp_path, {"Boiler.md": text}), ""][0] == question


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("People/Edda Brandt.md", "She mends boilers."),
        ("Life/Kontakte/Edda Brandt.md", "She mends boilers."),
        ("Edda Brandt.md", "---\ntags: [person]\n---\nShe mends boilers."),
    ],
)
def test_a_person_is_asked_about_by_name(tmp_path: Path, path: str, text: str) -> None:
    assert "What do I know about Edda Brandt?" in suggest(tmp_path, {path: text})


def test_the_list_of_questions_may_be_private(tmp_path: Path) -> None:
    text = "---\nprivate: true\n---\n- How much does the barrel hold?\n"
    texts = {"Questions worth asking.md": text, "Barrel.md": "It holds 200 litres."}
    assert suggest(tmp_path, texts) == ["How much does the barrel hold?"]


def test_a_heading_that_several_notes_have_is_not_asked_about(tmp_path: Path) -> None:
    form = "## Open points here\n\nNone.\n"
    assert suggest(tmp_path, {"Roof.md": form, "Drains.md": form}) == [
        "What is in “Roof”?",
        "What is in “Drains”?",
    ]


def test_nothing_of_a_private_note_is_suggested(tmp_path: Path) -> None:
    text = "---\nprivate: true\n---\n## Frost guard\n\n- [ ] Call the fitter\n"
    assert suggest(tmp_path, {"Boiler.md": text}) == []
