"""What a summary lost is searched for in the notes, where the chat searches notes."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from chains.cancel import CancelToken
from chains.errors import Cancelled
from chains.events import CompactionEnded, Mode
from context.exam import MOST_STORED, SummaryExam
from tests.support.models.model_server import ModelServer
from tests.support.sessions.summaries import script_lossy_chat
from tests.support.sessions.turns import ask, result_of
from vault.errors import IndexUnusable
from vault.vault import Vault

PIPES = "Pipes.md"


def write_note(assistant: Assistant, folder: Path, text: str) -> None:
    (folder / PIPES).write_text(text, "utf-8")
    list(assistant.index(CancelToken()))


def compact_chat(assistant: Assistant, server: ModelServer, mode: Mode) -> tuple[str, SummaryExam]:
    """Compact a chat whose summary has lost how long the pipes are, and return what is lost."""
    list(assistant.index(CancelToken()))
    chats: list[str] = []

    def turn(question: str) -> None:
        session = chats[0] if chats else None
        chats.append(str(result_of(ask(assistant, question, session=session, mode=mode)).session))

    script_lossy_chat(server, turn)
    end = list(assistant.compact(chats[0], CancelToken()))[-1]
    assert isinstance(end, CompactionEnded)
    exam = SummaryExam.read(end.result["exam"])
    assert exam is not None
    return chats[0], exam


def check(assistant: Assistant, chat: str) -> dict[str, Any]:
    told = assistant.compaction.check_summary(chat)["exam"]
    assert isinstance(told, dict)
    return told


def test_a_lost_fact_is_findable_once_a_note_says_it(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    chat, exam = compact_chat(reading, server, "vault")
    assert (exam.findable, exam.gone_count > 0) == (0, True)
    lost = exam.gone[0]
    write_note(reading, small_vault, f"# Cellar\n\nLong: {lost.line}, measured twice.\n")
    told = check(reading, chat)
    (found,) = told["found"]
    assert (found["text"], found["path"]) == (lost.text, PIPES)
    assert told["findable"] == 1
    assert lost.text not in [one["text"] for one in told["gone"]]
    counts = (told[name] for name in ("in_request", "one_call", "findable", "not_checked"))
    assert sum(counts) + len(told["gone"]) == told["facts"]
    write_note(reading, small_vault, "# Cellar\n\nNothing of the sort.\n")
    assert check(reading, chat)["findable"] == 0


def test_a_note_that_is_private_by_now_is_not_named(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    """Also before the index is updated, where the search was made already."""
    chat, exam = compact_chat(reading, server, "vault")
    text = f"# Cellar\n\nLong: {exam.gone[0].line}, measured twice.\n"
    write_note(reading, small_vault, text)
    assert check(reading, chat)["findable"] == 1
    (small_vault / PIPES).write_text(f"---\nprivate: true\n---\n{text}", "utf-8")
    told = check(reading, chat)
    assert (told["findable"], told.get("found", [])) == (0, [])


def test_without_an_index_nothing_is_said_to_be_gone(
    reading: Assistant, server: ModelServer, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise IndexUnusable("The index cannot be read.")

    chat, exam = compact_chat(reading, server, "vault")
    stored = reading.compaction.find_summary(chat).exam
    assert stored is not None
    assert exam.not_checked == exam.facts - exam.in_request - MOST_STORED
    monkeypatch.setattr(Vault, "search", fail)
    write_note(reading, small_vault, "# Cellar\n\nNew.\n")
    told = check(reading, chat)
    assert (told["not_checked"], told["findable"]) == (exam.facts - exam.in_request, 0)
    assert SummaryExam.read(told) == stored
    assert f"0 gone, {stored.not_checked} not checked" in stored.describe()
    assert any(said.startswith("Not checked: ") for said, _fact in stored.list_losses())
    assert not any(said.startswith("Gone: ") for said, _fact in stored.list_losses())


def test_what_no_mode_of_the_chat_searches_is_gone(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    chat, exam = compact_chat(reading, server, "chat")
    write_note(reading, small_vault, f"# Cellar\n\n{exam.gone[0].line}.\n")
    assert (exam.not_checked, exam.gone_count > 0) == (0, True)
    assert check(reading, chat) == exam.to_dict()


@pytest.fixture
def count_searches(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Count the searches of the notes."""
    counts, search = Counter[str](), Vault.search

    def count(self: Vault, query: str, *arguments: Any, **options: Any) -> Any:
        counts["searches"] += 1
        return search(self, query, *arguments, **options)

    monkeypatch.setattr(Vault, "search", count)
    return lambda: counts["searches"]


def test_searches_are_few_and_made_once_and_never_for_a_preview(
    reading: Assistant,
    server: ModelServer,
    small_vault: Path,
    count_searches: Callable[[], int],
) -> None:
    chat, _ = compact_chat(reading, server, "vault")
    before = count_searches()
    check(reading, chat)
    check(reading, chat)
    assert count_searches() == before <= MOST_STORED + 2  # two questions were asked
    reading.preview(chat, "And the beds?")
    reading.compaction.preview(chat)
    assert count_searches() == before
    write_note(reading, small_vault, "# Cellar\n\nNew.\n")
    check(reading, chat)
    assert count_searches() > before


def test_a_search_for_facts_can_be_stopped(reading: Assistant, server: ModelServer) -> None:
    chat, _ = compact_chat(reading, server, "vault")
    item, token = reading.compaction.find_summary(chat), CancelToken()
    token.cancel()
    assert item.exam is not None
    with pytest.raises(Cancelled):
        reading.compaction.search_facts(chat, item.exam, token)


def test_the_command_line_says_where_a_lost_fact_stands(
    reading: Assistant,
    server: ModelServer,
    small_vault: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chat, exam = compact_chat(reading, server, "vault")
    write_note(reading, small_vault, f"# Cellar\n\n{exam.gone[0].line}.\n")
    verb = ["compact", "--session", chat, "--check", "--vault", str(small_vault)]
    assert run([*verb, "--json"], lambda _: 1) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in told["exam"]["found"]] == [PIPES]
    assert run(verb, lambda _: 1) == 0
    assert f"- Findable: {exam.gone[0].line} ({PIPES}, line " in capsys.readouterr().out
