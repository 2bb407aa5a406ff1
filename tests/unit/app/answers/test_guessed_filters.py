"""What is told of a list: nothing where its filter is only guessed, and all that was said of it."""

from pathlib import Path
from typing import Final

import pytest

from app.assistant import Assistant
from app.sessions.transcript import AnswerItem
from chains.cancel import CancelToken
from tests.support.sessions.turns import ask, result_of
from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "Recipes/Soup.md": "---\ntags: [recipe]\nrating: 4\n---\n# Soup\n\nLentils and cumin.\n",
    "Recipes/Flan.md": "---\ntags: [recipe]\nrating: 5\n---\n# Flan\n\nEggs and milk.\n",
    "House/Roof.md": "# Roof\n\n- [x] Order tiles 📅 2026-03-02\n- [ ] Paint the dormer\n",
    "House/Attic.md": "---\nstatus: closed\n---\n# Attic\n\n- [ ] Sweep it 📅 2026-07-01\n",
    "Log.md": "---\ncreated: 2024-10-21\n---\n# Log\n\nRain all day.\n",
    "Books.md": "# Books\n\n- Middlemarch, finished in March\n- Austerlitz, begun in June\n",
    "Loom.md": "# Loom\n\nThe loom has eight shafts. #home #weaving\n",
    "Site.md": "---\npriority: high\n---\n# Site\n\n- [ ] Test it\n- [x] Draw it ⏫\n",
    "Cup.md": "---\ntags: [race]\ndate: 2026-10-17\n---\n# Cup\n\nFourth of eleven.\n",
    "Calendar.md": "# Calendar\n\n| Race | Date |\n|---|---|\n| Night race | 2027-06-12 |\n",
    "Tasted.md": "# Tasted\n\n| Recipe | Rating |\n|---|---|\n"
    "| Pie | 7 |\n| Tart | 8+ |\n| Quiche | 2 |\n",
    "Gekocht.md": "# Gekocht\n\n| Gericht | Bewertung | Preis (€) |\n|---|---|---|\n"
    "| Gulasch | 2 | 9 € |\n| Knödel | 2 | 3 € |\n| Sülze | 1 | 4 € |\n",
    "Seen.md": "# Seen\n\n| Film | Stars |\n|---|---|\n| Ran | 3 |\n| Ikiru | 1 |\n",
    "Spares.md": "# Spares\n\n| Part | Stock |\n|---|---|\n| Impeller | 2 |\n| Oil filter | 0 |\n"
    "| Belt | 1 |\n| Anode | 0 |\n",
    "Stove.md": "---\ntags: [tool]\nprice: 120 €\n---\n# Stove\n\nGas.\n",
    "Keller.md": "---\ntags: [projekt]\n---\n# Keller\n\nDer Boden wird mit Kork ausgelegt.\n",
}
NONE: Final = ("No note", "No task", "No open task", "No done task")


@pytest.mark.parametrize(
    "order",
    [
        "Create a tag recipe",
        "Please make a note about cumin",
        "Delete all notes with the tag recipe",
        "Erstelle einen Tag recipe",
        "Bitte einen Tag recipe anlegen",
        "Lösche alle Notizen im Ordner Recipes",
        "Crée un tag recipe",
        "Supprime toutes les notes du dossier Recipes",
        "Crea una etiqueta recipe",
        "Borra todas las notas de la carpeta Recipes",
    ],
)
def test_an_order_to_change_notes_is_not_answered_by_a_list(answer: Asking, order: str) -> None:
    assert answer(order).kind not in ("list", "tasks")


@pytest.mark.parametrize(
    "question",
    [
        "Make a list of my recipes",
        "Mache eine Liste aller Rezepte",
        "Fais une liste des recettes",
        "Haz una lista de las recetas",
    ],
)
def test_an_order_for_a_list_is(answer: Asking, question: str) -> None:
    assert answer(question).text.startswith("2 notes ")


def test_none_is_not_said_of_things_of_a_year_that_other_notes_may_have(answer: Asking) -> None:
    assert answer("Which races were in 2026?").text.startswith("1 note with the tag #race")
    assert "Night race" in answer("Which races are in 2027?").text
    assert answer("Which notes tagged race are from 2027?").text.startswith("No note with the tag")


@pytest.mark.parametrize(
    "question",
    [
        "recipes with a rating of 7+",
        "recipes with a rating of 7 or more",
        "recipes with a rating of at least 7",
        "Which recipes have a rating above 6?",
        "How many recipes are rated higher than 6?",
        "Rezepte mit rating über 6",
        "recettes avec rating supérieur à 6",
        "recetas con rating superior a 6",
    ],
)
def test_none_is_not_said_beside_a_table_that_has_what_is_asked(
    answer: Asking, question: str
) -> None:
    found = answer(question)
    assert not found.text.startswith(NONE)
    assert "Tasted" in found.text


@pytest.mark.parametrize(
    ("question", "begins", "rows"),
    [
        (
            "Which recipes have a rating of 2?",
            "3 rows of tables with rating: 2.",
            "Gulasch Knödel Quiche",
        ),
        ("recipes with a rating below 2", "1 row of tables with rating: below 2.", "Sülze"),
        (
            "recetas con valoración de 2",
            "3 rows of tables with rating: 2.",
            "Gulasch Knödel Quiche",
        ),
        (
            "Welche Rezepte haben 2 Sterne?",
            "3 rows of tables with rating: 2.",
            "Gulasch Knödel Quiche",
        ),
        ("How many recipes have a rating of 7?", "1 row of tables with rating: 7.", "Pie"),
        ("Which tools cost less than 4 €?", "1 row of tables with price: below 4 €.", "Knödel"),
        (
            "recipes with a rating of 2 and a price below 5 €",
            "1 row of tables with rating: 2, with price: below 5 €.",
            "Knödel",
        ),
    ],
)
def test_the_rows_of_tables_are_told_that_have_a_property_in_place_of_notes(
    answer: Asking, question: str, begins: str, rows: str
) -> None:
    found = answer(question)
    assert found.text.startswith(f"{begins} No note")
    named = [
        each
        for each in ("Gulasch", "Knödel", "Sülze", "Pie", "Tart", "Quiche", "Ran")
        if each in found.text
    ]
    assert named == rows.split()
    assert found.kind == "answer"


@pytest.mark.parametrize(
    "question",
    [
        "recipes with a price of 5",
        "Rezepte mit einem price von 5",
        "recetas con price 5",
        "Which recipes have a price of 4?",
    ],
)
def test_a_number_is_not_looked_for_in_another_property(answer: Asking, question: str) -> None:
    found = answer(question)
    assert "Soup: " not in found.text
    assert "Flan: " not in found.text
    assert "rating: " not in found.text.partition(".")[0]


def test_the_filter_of_rows_can_be_changed(assistant: Assistant, tmp_path: Path) -> None:
    for path in ("Gekocht.md", "Stove.md"):
        (tmp_path / path).write_text(NOTES[path], "utf-8")
    assistant.open_vault(tmp_path, remember=False)
    list(assistant.index(CancelToken()))
    session = result_of(
        ask(assistant, "Which tools cost less than 4 €?", model="extractive")
    ).session
    item = assistant.history.transcript(session or "").items[-1]
    assert isinstance(item, AnswerItem)
    parts = [part.text for part in item.filter_parts]
    assert parts == ["with the tag #tool", "with price: below 4 €"]


def test_no_row_is_told_that_fulfils_only_one_of_two_conditions(answer: Asking) -> None:
    text = answer("recipes with a rating of 1 and a price below 3 €").text
    assert "rows of tables" not in text
    assert "row of tables" not in text
    assert not text.startswith(NONE)


def test_the_rows_of_other_things_are_not_told(answer: Asking) -> None:
    text = answer("Which recipes have a rating of 3?").text
    assert not text.startswith(NONE)
    assert "row of tables" not in text


def test_none_is_said_if_no_row_of_a_table_fits_either(answer: Asking) -> None:
    assert answer("recipes with a rating of at least 9").text.startswith("No note with the tag")


@pytest.mark.parametrize(
    "question",
    [
        "How many books did I finish?",
        "Which notes have the tag home projects?",
    ],
)
def test_nothing_is_told_of_finding_none_by_a_guess(answer: Asking, question: str) -> None:
    assert not answer(question).text.startswith(NONE)


@pytest.mark.parametrize(
    "question",
    [
        "Which tasks have a high priority?",
        "List all tasks with priority high",
        "Welche Aufgaben haben priority high?",
        "Quelles tâches ont la priority high ?",
        "¿Qué tareas tienen priority high?",
    ],
)
def test_the_priority_of_a_note_is_not_told_as_that_of_its_tasks(
    answer: Asking, question: str
) -> None:
    text = answer(question).text
    assert "Draw it" in text
    assert "Test it" not in text


def test_notes_are_listed_by_their_priority(answer: Asking) -> None:
    assert answer("Which notes have a high priority?").text.startswith("1 note with priority: high")


@pytest.mark.parametrize(
    ("message", "begins"),
    [
        ("done folder House", "1 done task in the folder “House”"),
        ("open folder House", "2 open tasks in the folder “House”"),
        ("done folder:House", "1 done task in the folder “House”"),
        ("closed folder House", "1 note with status: closed, in the folder “House”"),
        ("erledigt Ordner House", "1 done task in the folder “House”"),
        ("terminées dossier House", "1 done task in the folder “House”"),
        ("hechas carpeta House", "1 done task in the folder “House”"),
        ("open #weaving", "No open task with the tag #weaving"),
    ],
)
def test_a_state_before_a_filter_is_not_passed_over(
    answer: Asking, message: str, begins: str
) -> None:
    assert answer(message).text.startswith(begins)


@pytest.mark.parametrize(
    ("message", "begins"),
    [
        ("rating:5", "1 note with rating: 5"),
        ("rating>4", "1 note with rating: above 4"),
        ("rating<=4", "1 note with rating: at most 4"),
        ("-rating:5 tag:recipe", "1 note without rating: 5, with the tag #recipe"),
        ("Which recipes have rating>=4?", "2 notes with rating: at least 4"),
        ("due:<2026-07-01", "1 task due until 2026-06-30"),
        ("due:>=2026-07-01", "1 task due from 2026-07-01 on"),
        ("task:open due:..", "1 open task due on any day"),
    ],
)
def test_a_property_and_a_limit_can_be_typed_as_filters(
    answer: Asking, message: str, begins: str
) -> None:
    assert answer(message).text.startswith(begins)


@pytest.mark.parametrize("text", ["note:this", "rating:excellent", "https://rating:5"])
def test_other_words_with_a_colon_are_searched(answer: Asking, text: str) -> None:
    assert answer(text).kind not in ("list", "tasks")


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which spares have a stock of 0?", ["| Oil filter | 0 |", "| Anode | 0 |"]),
        ("Which spares have a stock of 2?", ["| Impeller | 2 |"]),
    ],
)
def test_the_rows_with_the_figure_that_is_asked_for_are_lit(
    answer: Asking, question: str, rows: list[str]
) -> None:
    lit = [each.quote for each in answer(question).checked.citations if "|" in (each.quote or "")]
    assert "\n".join(filter(None, lit)).split("\n") == rows
