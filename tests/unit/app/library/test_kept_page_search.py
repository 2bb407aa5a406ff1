"""A search in a project finds the web pages and transcripts that it keeps."""

import gc
from collections.abc import Iterator
from pathlib import Path
from threading import get_ident
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import TurnFailed
from app.library.project_pages import PageStore, ProjectPage
from app.paths import Paths
from app.sessions.transcript import AnswerItem
from app.wiring import build
from chains.cancel import CancelToken
from chains.request.ask import Ask
from tests.support.models.model_server import ModelServer
from tests.support.sessions.turns import ask, result_of
from vault.embedder import Embedder
from vault.search import adhoc

PAGE = "https://walrus.example/weights"
TEXT = "# Weights\n\nA grown walrus weighs 1,200 kilograms.\n\n# Food\n\nIt eats clams."


@pytest.fixture
def assistant(embedder: Embedder, tmp_path: Path) -> Iterator[Assistant]:
    vault = tmp_path / "vault"
    (vault / "Thesis").mkdir(parents=True)
    (vault / "Thesis" / "Plan.md").write_text("# Plan\n\nThe thesis is about walrus songs.")
    (vault / "Garden.md").write_text("# Garden\n\nThe frost guard is set to 4 degrees.")
    built = build(Paths.find(), embedder=embedder)
    built.open_vault(vault, remember=False)
    assert built.library is not None
    built.library.vault.update()
    built.projects.add("Thesis")
    yield built
    built.close()


@pytest.fixture
def store(assistant: Assistant) -> PageStore:
    return assistant.projects.pages("Thesis")


def put(store: PageStore, address: str = PAGE, text: str = TEXT, title: str = "Weights") -> None:
    kind = "page" if address.startswith("http") else "transcript"
    store.put(ProjectPage(address, kind, title, text, "2026-11-20T12:00:00.000Z"))


def find(assistant: Assistant, query: str, project: str | None = "Thesis") -> list[str]:
    return [hit.path for hit in assistant.search(query, 5, project).hits]


def test_a_page_is_found_in_its_project_alone_with_its_date(
    assistant: Assistant, store: PageStore
) -> None:
    put(store)
    (first, *_) = assistant.search("how much does a grown walrus weigh", 5, "Thesis").hits
    assert (first.path, first.title) == (PAGE, "Weights (fetched 2026-11-20)")
    assert "1,200 kilograms" in first.text
    assert PAGE not in find(assistant, "grown walrus weighs", None)
    assert find(assistant, "walrus songs thesis")[0] == "Thesis/Plan.md", "more words of it"
    assert find(assistant, "walrus songs thesis")[1:] == [PAGE]


@pytest.mark.parametrize(
    "query",
    ["walrus weighs folder:Thesis", "walrus tag:zoo", "[kind:animal] walrus", "modified:today", ""],
)
def test_a_filter_is_about_notes_alone(assistant: Assistant, store: PageStore, query: str) -> None:
    put(store)
    vault = assistant.projects.open("Thesis")
    assert PAGE not in [hit.path for hit in vault.search(query).hits]


def test_a_page_that_is_refreshed_or_removed_is_found_as_it_is_now(
    assistant: Assistant, store: PageStore
) -> None:
    put(store)
    assert find(assistant, "clams") == [PAGE]
    put(store, text="# Food\n\nIt eats snails.")
    assert find(assistant, "clams") == []
    assert find(assistant, "snails") == [PAGE]
    store.remove(store.find(PAGE))
    gc.collect()
    assert find(assistant, "snails") == []


def test_a_transcript_is_found_unless_models_may_not_read_its_file(
    assistant: Assistant, store: PageStore, tmp_path: Path
) -> None:
    (tmp_path / "vault" / "talk.txt").write_text("The narwhal is silent.")
    put(store, "talk.txt", "The narwhal is silent.", "talk.txt")
    assert find(assistant, "narwhal") == ["talk.txt"]
    assistant.settings.set("vault.exclude", ["talk.txt"])
    assert find(assistant, "narwhal") == []


def test_a_question_that_is_cancelled_reads_no_further_page(
    assistant: Assistant, store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        put(store, f"{PAGE}/{number}", f"{TEXT} {number}")
    token, threads, parse = CancelToken(), list[int](), adhoc.parse_note

    def parse_one(*given: Any, **more: Any) -> Any:
        threads.append(get_ident())
        token.cancel()
        return parse(*given, **more)

    monkeypatch.setattr(adhoc, "parse_note", parse_one)
    asked = Ask("What does a walrus eat?", mode="project", project="Thesis", model="extractive")
    with pytest.raises(TurnFailed):
        list(assistant.ask(asked, token))
    assert len(find(assistant, "clams")) == 4, "waits until the cancelled search has ended"
    assert threads.count(get_ident()) == len(threads) - 1 >= 3


def test_an_answer_without_a_model_cites_the_page(assistant: Assistant, store: PageStore) -> None:
    put(store)
    asked = "How many kilograms does a grown walrus weigh?"
    result = result_of(ask(assistant, asked, mode="project", project="Thesis", model="extractive"))
    assert "1,200 kilograms" in result.answer.text
    assert [one.path for one in result.answer.checked.citations] == [PAGE]
    assert all(one.verified for one in result.answer.checked.citations)
    store.remove(store.find(PAGE))
    (answer,) = [
        item
        for item in assistant.history.transcript(str(result.session)).items
        if isinstance(item, AnswerItem)
    ]
    assert answer.changed == (), "the page is no note, of which one could say that it is gone"
    again = assistant.regenerate(str(result.session), str(result.entry), CancelToken())
    assert "1,200 kilograms" in result_of(again).answer.text


def test_a_model_gets_the_passage_of_a_page_whose_end_is_left_out_of_the_system_message(
    assistant: Assistant, server: ModelServer, store: PageStore
) -> None:
    put(store)
    result_of(ask(assistant, "What does a walrus eat?", mode="project", project="Thesis"))
    (sent,) = [str(server.bodies[-1])]
    assert sent.count("It eats clams") == 1, "the page is in the system message as a whole"
    lines = "".join(f"Line {n} of the walrus book.\n\n" for n in range(6_000))
    put(store, "https://walrus.example/book", f"{lines}The bull sings in February.", "Book")
    result_of(ask(assistant, "When does the bull sing?", mode="project", project="Thesis"))
    system, *others = server.bodies[-1]["messages"]
    assert "sings in February" not in str(system)
    assert "sings in February" in str(others)
    assert "Book (fetched 2026-11-20)" in str(others)


def test_a_project_outside_of_the_vault_finds_its_pages(
    assistant: Assistant, tmp_path: Path
) -> None:
    folder = tmp_path / "Outside"
    folder.mkdir()
    assistant.projects.add(str(folder))
    put(assistant.projects.pages(str(folder)))
    assert find(assistant, "clams", str(folder)) == [PAGE]


TALK = "A heron flew over the pond. The second nests of the heron were empty."
NOTES = {
    "Birds.md": "# Birds\n\nThe heron nests in June.",
    "Flight.md": "# Flight\n\nSwifts flew high, and a crane went over the house.",
}


@pytest.mark.parametrize(
    ("phrase", "paths", "missing"),
    [
        ('"flew over"', ["talk.txt"], []),
        ('heron "flew over"', ["talk.txt"], []),
        ('"heron nests"', ["Thesis/Birds.md"], []),
        ('"Swifts flew" over', ["Thesis/Flight.md"], []),
        ('"flew over" "second nests"', ["talk.txt"], []),
        ('"flew over" "heron sings"', ["talk.txt"], ["heron sings"]),
        ('"over heron"', ["Thesis/Birds.md", "Thesis/Flight.md", "talk.txt"], ["over heron"]),
        ('"flew over" "heron nests"', ["Thesis/Birds.md", "talk.txt"], []),
    ],
)
@pytest.mark.parametrize("is_shortened", [False, True])
def test_a_phrase_is_found_on_the_side_that_holds_it(
    assistant: Assistant,
    store: PageStore,
    tmp_path: Path,
    phrase: str,
    paths: list[str],
    missing: list[str],
    is_shortened: bool,
) -> None:
    for name, text in NOTES.items():
        (tmp_path / "vault" / "Thesis" / name).write_text(text)
    assert assistant.library is not None
    assistant.library.vault.update()
    put(store, "talk.txt", TALK, "talk.txt")
    vault = assistant.projects.open("Thesis")
    found = vault.excerpts(phrase, 5) if is_shortened else vault.search(phrase, 5)
    others = {"Thesis/Plan.md"}  # found by meaning, where no note holds the phrase
    assert sorted({hit.path for hit in found.hits} - others) == paths
    warned = [warning for warning in found.warnings if "word for word" in warning]
    assert len(warned) == len(missing)
    assert all(phrase in warned[0] for phrase in missing)


def test_pages_stay_ready_after_another_project_was_searched(
    assistant: Assistant, store: PageStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store)
    (tmp_path / "vault" / "Zoo").mkdir()
    assistant.projects.add("Zoo")
    put(assistant.projects.pages("Zoo"), "https://walrus.example/zoo", "It eats clams at noon.")
    assert find(assistant, "clams") == [PAGE]
    assert find(assistant, "clams", "Zoo") == ["https://walrus.example/zoo"]
    monkeypatch.setattr("vault.search.adhoc.parse_note", lambda *_, **_k: pytest.fail("read again"))
    monkeypatch.setattr("app.library.project_pages.read_file", lambda *_: pytest.fail("again"))
    assert find(assistant, "clams") == [PAGE]
    assert find(assistant, "clams", "Zoo") == ["https://walrus.example/zoo"]
