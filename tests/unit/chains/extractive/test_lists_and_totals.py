"""Sums are told with their lines or refused, and lists that are understood in part are no lists."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from app.assistant import Assistant
from app.paths import HOME_VARIABLE, Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import AskResult, TurnEnded
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from tests.support.models.remembering_embedder import RememberingEmbedder

NOTES: Final = {
    "Books/Dune.md": "---\ncost: 12.50 €\nrating: 5\n---\n#book\n\nSand.\n",
    "Books/Emma.md": "---\ncost: 8 €\nrating: 4\n---\n#book\n\nA matchmaker.\n",
    "Books/Unread.md": "#book\n\nStill in paper.\n",
    "Bikes/City.md": "---\nprice: 650 EUR\n---\n#gear\n",
    "Bikes/Tandem.md": "---\nprice: borrowed\n---\n#gear\n",
    "Trips/Lyon.md": "---\nbudget: 420\nstars: 5\n---\n#trip\n",
    "Trips/Kiel.md": "---\nbudget: 180\nstars: 3\n---\n#trip\n",
    "House/Renovation.md": (
        "| item | cost | hours |\n|---|---|---|\n| Paint | 120 € | 6 |\n"
        "| Door | 300 € | 3 |\n| Key | | 1 |\n| **Total** | 420 € | 10 |\n"
    ),
    "Money/Flat1.md": "---\nlease: 1.900 €\n---\n",
    "Money/Flat2.md": "---\nlease: 12 €\n---\n",
    "Sheets/Runs.md": "way:: 5 km\nway:: 3 km\n\nway::\n",
    "Money/Kauf1.md": (
        "---\npreis2: 1.900,50 €\nrent: 1.900\nmenge: 0,500 kg\noutlay: EUR 100\n---\n"
    ),
    "Money/Kauf2.md": "---\npreis2: 2.000 €\nrent: 12\nmenge: 1,5 kg\noutlay: EUR 50\n---\n",
    "Counts/Big1.md": "---\ngrains: 9007199254740993\ndday: 24.12.\n---\nI paid [toll:: 5] today"
    " and [toll:: 7] back.\n",
    "Counts/Big2.md": (
        "---\ngrains: 1\ndday: 31.12.\nlevy: 3\n---\ntoll:: 10\n\nmore\n\ntoll:: 20\n"
    ),
    "Counts/Flow.md": "---\n{levy: 5, mood: ok, toll: 1}\n---\nText.\n",
    "Sheets/Deliveries.md": "| day | crates |\n|---|---|\n| 1 | 1,500 |\n| 2 | 40 |\n",
    "Sheets/Doubt.md": (
        "| job | hours | fare |\n|---|---|---|\n| Walls | 1 | 4 |\n| Doors | 2 | 5 |\n"
        "| Pipes | 3 | |\n| Total care | | 7 |\n"
    ),
    "Sheets/Wrong.md": "| car | seats |\n|---|---|\n| A | 4 |\n| B | 2 |\n| Total | 7 |\n",
    "Sheets/Table.md": (
        "| Thing | Euros |\n|---|---|\n| A | 10 |\n| B | 20 |\n| Subtotal | 30 |\n| C | 5 |\n"
        "| Grand total | 35 |\n| Total 2026 | 35 |\n"
    ),
    "Sheets/Tab2.md": (
        "| Posten | Betrag |\n|---|---|\n| A | 10 |\n| B | 20 |\n| Zwischensumme | 30 |\n"
        "| Gesamtbetrag | 30 |\n"
    ),
    "Sheets/Tab3.md": (
        "| Objet | Montant |\n|---|---|\n| A | 10,5 € |\n| B | 20 € |\n| Sous-total | 30,50 € |\n"
        "| C | 5 € |\n| | 35,50 € |\n"
    ),
    "House/Garden.md": "| plant | price |\n|---|---|\n| Tomato | 18 € |\n| Rose | 12 $ |\n",
}

MANUAL: Final = {
    "Settings.md": (
        "---\ntags: [settings]\n---\n| setting | takes | what it does |\n|---|---|---|\n"
        "| `theme` | light, dark | the colours of the window |\n"
        "| `font` | a name | the letters of the window |\n"
    ),
    "Budget.md": "---\ntags: [settings]\n---\nThe threshold is a share of the window.\n",
    "Recipes/Recipes.md": "#recipe\n\nSaffron goes into the risotto last.\n",
    "Recipes/Soup.md": "#recipe\n\nLeeks and potatoes.\n",
    "Recipes/Paella.md": "#recipe\n\nShrimps and rice, with lemon on top.\n",
}

HIVES: Final = {
    "Rucher/Ruche 1.md": "---\ntags: [ruche]\nreine: bleue\n---\nDouce, près du lavoir.\n",
    "Rucher/Ruche 4.md": "---\ntags: [ruche]\nreine: rouge\n---\nOrpheline.\n",
    "Rucher/Ruche 5.md": "---\ntags: [ruche]\nreine: bleue\n---\nBees with a crown.\n",
} | {f"Choir/Piece {n}.md": f"The queen of the night, sung in part {n}.\n" for n in range(40)}


def open_notes(
    notes: Mapping[str, str],
    tmp_path_factory: pytest.TempPathFactory,
    embedder: RememberingEmbedder,
) -> Iterator[Assistant]:
    root: Path = tmp_path_factory.mktemp("vault")
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    home = tmp_path_factory.mktemp("home")
    built = build(Paths.find({HOME_VARIABLE: str(home)}), embedder=embedder)
    built.open_vault(root, remember=False)
    for _event in built.index(CancelToken()):
        pass
    yield built
    built.close()


@pytest.fixture(scope="module")
def assistant(
    tmp_path_factory: pytest.TempPathFactory, embedder: RememberingEmbedder
) -> Iterator[Assistant]:
    yield from open_notes(NOTES, tmp_path_factory, embedder)


@pytest.fixture(scope="module")
def manual(
    tmp_path_factory: pytest.TempPathFactory, embedder: RememberingEmbedder
) -> Iterator[Assistant]:
    yield from open_notes(MANUAL, tmp_path_factory, embedder)


@pytest.fixture(scope="module")
def hives(
    tmp_path_factory: pytest.TempPathFactory, embedder: RememberingEmbedder
) -> Iterator[Assistant]:
    yield from open_notes(HIVES, tmp_path_factory, embedder)


def ask(assistant: Assistant, question: str) -> AskResult:
    request = Ask(question, model=EXTRACTIVE, update_index=False)
    ended = [each for each in assistant.ask(request, CancelToken()) if isinstance(each, TurnEnded)]
    return ended[0].result


@pytest.mark.parametrize(
    ("question", "told", "lines"),
    [
        ("What is the total of cost of my books?", "The sum of cost is 20.50 €", 2),
        ("How much do my books cost in total?", "The sum of cost is 20.50 €", 2),
        ("What is the average rating of my books?", "The mean of rating is 4.5", 2),
        ("What is the sum of hours in Renovation?", "The sum of hours is 10, of 3 values", 3),
        ("What is the total cost of Renovation?", "The sum of cost is 420 €, of 2 values", 2),
        ("What is the total budget of the trips?", "The sum of budget is 600", 2),
        ("Wie viel kostet in Renovation alles zusammen?", "The sum of cost is 420 €", 2),
        ("Wie hoch ist das budget aller trips zusammen?", "The sum of budget is 600", 2),
        ("Quelle est la moyenne de rating des livres ?", "The mean of rating is 4.5", 2),
        ("¿Cuánto suman los hours de Renovation?", "The sum of hours is 10", 3),
        ("What is the total of preis2?", "The sum of preis2 is 3,900.50 €, of 2 values", 2),
        ("What is the total of menge?", "The sum of menge is 2 kg,", 2),
        ("What is the total of outlay?", "The sum of outlay is 150 EUR", 2),
        ("What is the total of grains?", "The sum of grains is 9,007,199,254,740,994", 2),
        ("What is the total of toll?", "The sum of toll is 43, of 5 values", 4),
        ("What is the total of way?", "The sum of way is 8 km, of 2 values", 2),
        ("What is the total of levy?", "The sum of levy is 8, of 2 values", 2),
        ("What is the total of euros in Table?", "The sum of euros is 35, of 3 values", 3),
        ("What is the sum of Betrag in Tab2?", "The sum of betrag is 30, of 2", 2),
        ("Quel est le total de montant dans Tab3 ?", "The sum of montant is 35.5 €", 3),
    ],
)
def test_a_sum_is_told_with_its_lines(
    assistant: Assistant, question: str, told: str, lines: int
) -> None:
    result = ask(assistant, question)
    assert result.answer.text.startswith(told)
    citations = result.answer.checked.citations
    assert (result.answer.kind, len(citations)) == ("answer", lines)
    assert all(cited.verified and cited.quote for cited in citations)


@pytest.mark.parametrize(
    ("question", "reason", "lines"),
    [
        ("What is the total price of my gear?", "they could not all be read as numbers", 2),
        ("¿Cuál es la suma de price en Garden?", "they do not all have the same unit", 2),
        ("What is the total of rent?", "“1.900” can be read in two ways", 2),
        ("What is the total of crates in Deliveries?", "“1,500” can be read in two ways", 2),
        ("What is the total of dday?", "they could not all be read as numbers", 2),
        ("What is the total of hours in Doubt?", "line 5 of “Doubt” may be a total", 3),
        ("What is the total of fare in Doubt?", "line 6 of “Doubt” may be a total", 3),
        ("What is the total of seats in Wrong?", "line 5 of “Wrong” may be a total", 3),
    ],
)
def test_what_is_not_certain_is_not_added(
    assistant: Assistant, question: str, reason: str, lines: int
) -> None:
    result = ask(assistant, question)
    assert f"have no sum: {reason}" in result.answer.text
    assert len(result.answer.checked.citations) == lines


@pytest.mark.parametrize(
    "question",
    [
        "What is the total of weight of my books?",
        "What is the average number of pages of my books?",
    ],
)
def test_no_sum_or_count_is_told_of_what_is_not_there(assistant: Assistant, question: str) -> None:
    answer = ask(assistant, question).answer
    assert answer.kind in ("doubt", "nothing")
    assert answer.text.startswith("No model is set")


@pytest.mark.parametrize(
    "question",
    ["What is the total of budget except Lyon?", "Wie hoch ist die Summe von budget außer Lyon?"],
)
def test_a_sum_leaves_out_what_is_excepted(assistant: Assistant, question: str) -> None:
    text = ask(assistant, question).answer.text
    assert text.startswith("The sum of budget is 180, of 1 value in ")
    assert "Lyon: " not in text


@pytest.mark.parametrize(
    "question",
    [
        "What is the total of budget and stars?",
        "What is the sum of cost and rating?",
        "How much is the total of cost and what is the mean of rating?",
        "Wie hoch ist die Summe von budget und stars?",
        "What is the average of budget but not Lyon?",
        "What is the budget not of Lyon?",
        "What is the total of budget other than Lyon?",
        "What is the budget other than Lyon?",
    ],
)
def test_nothing_is_claimed_of_several_properties_or_exceptions(
    assistant: Assistant, question: str
) -> None:
    text = ask(assistant, question).answer.text
    assert text.startswith("No model is set")
    assert " has this as " not in text


def test_nothing_is_claimed_of_a_number_that_can_be_read_in_two_ways(assistant: Assistant) -> None:
    told = ask(assistant, "Which notes have a lease above 500?").answer.text
    assert told.startswith("No model is set")
    told = ask(assistant, "Which notes have a lease above 1?").answer.text
    assert told.startswith("2 notes with lease: above 1")
    told = ask(assistant, "Which notes have a rent above 5?").answer.text
    assert told.startswith("1 note with rent: above 5")
    told = ask(assistant, "Welche Notizen haben preis2 über 1950?").answer.text
    assert told.startswith("1 note with preis2: above 1950")


def test_a_count_in_total_is_no_sum(assistant: Assistant) -> None:
    told = ask(assistant, "How many books are there in total?").answer.text
    assert told.startswith("3 notes with the tag #book")


@pytest.mark.parametrize(
    ("question", "understood", "left", "paths"),
    [
        ("How many books in Norwegian do I have?", "with the tag #book", "Norwegian", "Books"),
        ("Which books made me cry?", "with the tag #book", "cry", "Books"),
        ("Welche Bücher auf Japanisch habe ich?", "with the tag #book", "Japanisch", "Books"),
        ("Quels livres en italien ai-je ?", "with the tag #book", "italien", "Books"),
        ("¿Qué libros llevan azafrán?", "with the tag #book", "azafrán", "Books"),
        ("Show all my trips to Sweden", "with the tag #trip", "Sweden", "Trips"),
    ],
)
def test_a_filter_that_is_understood_in_part_claims_nothing(
    assistant: Assistant, question: str, understood: str, left: str, paths: str
) -> None:
    result = ask(assistant, question)
    lead = result.answer.text.splitlines()[0]
    assert lead.startswith("No model is set")
    assert lead.endswith(f"Only “{understood}” was understood, not “{left}”. The nearest:")
    assert result.answer.kind in ("nothing", "doubt")
    assert result.answer.checked.citations
    assert all(cited.path.startswith(paths) for cited in result.answer.checked.citations)


def test_a_sure_answer_names_no_filter(assistant: Assistant) -> None:
    result = ask(assistant, "Which book is about a matchmaker?")
    assert "was understood" not in result.answer.text
    assert [cited.path for cited in result.answer.checked.citations] == ["Books/Emma.md"]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Which setting makes the theme dark?", "| `theme` | light, dark |"),
        ("Which recipe goes with saffron last?", "Saffron goes into the risotto last."),
    ],
)
def test_a_line_of_the_note_of_all_is_quoted_and_not_its_name(
    manual: Assistant, question: str, line: str
) -> None:
    answer = ask(manual, question).answer
    assert answer.kind != "list"
    assert f"> {line}" in answer.text


def test_a_note_that_is_one_of_many_is_listed(manual: Assistant) -> None:
    answer = ask(manual, "Which recipe has lemon on top?").answer
    assert answer.text.startswith("1 note with the tag #recipe, containing “lemon top”")


def test_all_of_the_few_notes_that_fulfil_what_was_understood_are_named(hives: Assistant) -> None:
    answer = ask(hives, "which hives have a blue queen?").answer
    assert answer.kind in ("nothing", "doubt")
    assert "was understood, not “queen”" in answer.text
    assert "Ruche 1" in answer.text
    assert "Ruche 5" in answer.text
    assert "Ruche 4" not in answer.text
