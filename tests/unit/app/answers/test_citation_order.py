"""The citation numbers of an answer without a model follow the order of its text."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.paths import Paths
from chains.cancel import CancelToken
from chains.citations.parser import parse_answer
from chains.events import AskResult, Event, Retrieved
from context.history.turns import list_turns
from resources import sample_vault
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of
from vault.embedder import Embedder
from vault.vault import Vault

# Twenty questions about the sample notes, in five languages.
QUESTIONS = (
    "When is the server backed up?",
    "Why are the films not backed up?",
    "How long does the battery last?",
    "When was the last frost?",
    "Which tomato ripened first?",
    "How acid is the soil?",
    "What did Darwin say about worms?",
    "What is a memex?",
    "What does verified mean?",
    "How large is the budget at a threshold of 32,000?",
    "Can I delete the index?",
    "How do I keep a note away from the model?",
    "What is sent to the model?",
    "What can I do about context_overflow?",
    "Wie lange zieht Pfefferminze?",
    "À quelle altitude se trouve le refuge ?",
    "¿Cuántos huevos lleva la tortilla?",
    "索引はどこに保存されますか",
    "Which notes link to Citations?",
    "What is the name of the cat?",
)

# The best section is not in the passage that ranks first.
KEEP_AWAY = "How do I keep a note away from the model?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    """The folder of an index of the sample notes."""
    index_dir = tmp_path_factory.mktemp("index")
    with closing(Vault(sample_vault(), index_dir, (), embedder)) as opened:
        opened.update()
    return index_dir


@pytest.fixture
def sample(assistant: Assistant, index: Path) -> Assistant:
    """An assistant with the sample notes, indexed."""
    shutil.copytree(index, Paths.find().index_folder(sample_vault()))
    assistant.open_vault(sample_vault(), remember=False)
    return assistant


def list_met(text: str) -> list[int]:
    """Return the citation numbers of a text in the order in which a reader meets them."""
    return list(dict.fromkeys(n for group in parse_answer(text).numbers for n in group.numbers))


def check_order(events: list[Event]) -> AskResult:
    """Check that the numbers in an answer ascend from 1, and that its sources have the same."""
    result = result_of(events)
    met = list_met(result.answer.text)
    assert met == list(range(1, len(met) + 1)), result.answer.text
    assert sorted({citation.n for citation in result.answer.checked.citations}) == met
    assert list(dict.fromkeys(section.n for section in result.answer.sections)) in ([], met)
    sources = [each.segments for each in events if isinstance(each, Retrieved)][-1]
    paths = {source.number: source.source for source in sources if source.number}
    assert sorted(paths) == list(range(1, len(paths) + 1))
    assert all(paths[citation.n] == citation.path for citation in result.answer.checked.citations)
    return result


def test_the_numbers_of_twenty_answers_ascend_in_the_text(sample: Assistant) -> None:
    answers = [check_order(ask(sample, each, model="extractive")).answer.text for each in QUESTIONS]
    assert sum("[2]" in answer for answer in answers) > 5


def test_an_attached_note_that_is_cited_second_has_the_second_number(sample: Assistant) -> None:
    asked: dict[str, Any] = {"model": "extractive", "attach": ("Guide/Citations.md",)}
    check_order(ask(sample, "What else do my notes say about the battery?", **asked))
    result = check_order(ask(sample, "Which notes link to Citations?", **asked))
    assert result.answer.kind == "list"


def test_the_order_holds_where_fewer_passages_fit(sample: Assistant) -> None:
    sample.settings.set("maxOutputTokens", 1_000)
    sample.settings.set("autoCompactThreshold", 8_000)
    for question in QUESTIONS[9:14]:
        check_order(ask(sample, question, model="extractive"))


def test_the_log_and_the_export_have_the_same_numbers(sample: Assistant) -> None:
    asked = check_order(ask(sample, KEEP_AWAY, model="extractive"))
    session = str(asked.session)
    exported = sample.history.export(session, "md")[1]
    assert list_met(exported.split("No model is set")[1])[:1] == [1]
    (turn,) = list_turns(sample.sessions.read(session).path())
    paths = {segment.number: segment.source for segment in turn.segments}
    assert all(paths[citation.n] == citation.path for citation in asked.answer.checked.citations)
    assert asked.answer.checked.citations[0].n == 1


def test_an_answer_that_a_model_gave_first_keeps_its_numbers(
    sample: Assistant, server: ModelServer
) -> None:
    server.script(Answer("It is told there [2]. And here [1]."))
    first = result_of(ask(sample, KEEP_AWAY))
    session, entry = str(first.session), str(first.entry)
    paths = {citation.n: citation.path for citation in first.answer.checked.citations}
    assert set(paths) == {1, 2}
    sample.settings.set("chat.model", "extractive")
    again = result_of(sample.regenerate(session, entry, CancelToken()))
    assert again.answer.model == "extractive"
    assert list_met(again.answer.text)[0] == 1
    assert again.answer.checked.citations[0].path == again.answer.sections[0].path
