"""Sums are told with their lines or refused, and lists that are understood in part are no lists."""

from collections.abc import Iterator
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
    "House/Garden.md": "| plant | price |\n|---|---|\n| Tomato | 18 € |\n| Rose | 12 $ |\n",
}


@pytest.fixture(scope="module")
def assistant(
    tmp_path_factory: pytest.TempPathFactory, embedder: RememberingEmbedder
) -> Iterator[Assistant]:
    root: Path = tmp_path_factory.mktemp("vault")
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    home = tmp_path_factory.mktemp("home")
    built = build(Paths.find({HOME_VARIABLE: str(home)}), embedder=embedder)
    built.open_vault(root, remember=False)
    for _event in built.index(CancelToken()):
        pass
    yield built
    built.close()


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
    ],
)
def test_a_sum_is_told_with_its_lines(
    assistant: Assistant, question: str, told: str, lines: int
) -> None:
    result = ask(assistant, question)
    assert result.answer.text.startswith(told)
    assert (result.answer.kind, len(result.answer.checked.citations)) == ("answer", lines)


@pytest.mark.parametrize(
    "question",
    ["What is the total price of my gear?", "¿Cuál es la suma de price en Garden?"],
)
def test_what_has_no_common_unit_is_not_added(assistant: Assistant, question: str) -> None:
    result = ask(assistant, question)
    assert "have no sum: they are not all numbers with the same unit" in result.answer.text
    assert len(result.answer.checked.citations) == 2


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
