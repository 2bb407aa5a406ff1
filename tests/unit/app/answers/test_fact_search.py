"""What a summary lost is searched for in the notes, where the chat searches notes."""

import json
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from app.errors import VaultNotChosen
from app.sessions.export import export_markdown
from app.sessions.transcript import ChatTranscript
from chains.cancel import CancelToken
from chains.claims.summaries import FactSearcher
from chains.errors import Cancelled
from chains.events import CompactionEnded, Mode
from context.exam import MOST_STORED, ChatFact, SummaryExam
from tests.support.models.model_server import ModelServer
from tests.support.sessions.summaries import script_lossy_chat
from tests.support.sessions.turns import ask, result_of
from vault.errors import IndexUnusable, VaultMissing
from vault.index_search import IndexSearch
from vault.vault import Vault

PIPES = "Pipes.md"


def write_note(assistant: Assistant, folder: Path, text: str) -> None:
    (folder / PIPES).write_text(text, "utf-8")
    list(assistant.index(CancelToken()))


def script_vault_chat(assistant: Assistant, server: ModelServer, mode: Mode = "vault") -> str:
    """Return a chat of which the model will lose how long the pipes are."""
    list(assistant.index(CancelToken()))
    chats: list[str] = []

    def turn(question: str) -> None:
        session = chats[0] if chats else None
        chats.append(str(result_of(ask(assistant, question, session=session, mode=mode)).session))

    script_lossy_chat(server, turn)
    return chats[0]


def compact_chat(assistant: Assistant, server: ModelServer, mode: Mode) -> tuple[str, SummaryExam]:
    """Compact a chat whose summary has lost how long the pipes are, and return what is lost."""
    chat = script_vault_chat(assistant, server, mode)
    end = list(assistant.compact(chat, CancelToken()))[-1]
    assert isinstance(end, CompactionEnded)
    exam = SummaryExam.read(end.result["exam"])
    assert exam is not None
    return chat, exam


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


NAMES = tuple(ChatFact("name", f"Berg {n}", f"Berg {n}", ()) for n in range(MOST_STORED))
LOST_NAMES = SummaryExam(MOST_STORED, 0, gone=NAMES, not_checked=MOST_STORED)


def test_only_the_first_search_waits_for_the_latest_changes_of_the_notes(
    reading: Assistant,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    count_searches: Callable[[], int],
) -> None:
    """Each wait may take seconds, and there are as many searches as lost facts."""
    chat, _ = compact_chat(reading, server, "vault")
    waits = Counter[str]()

    def catch_up(_search: IndexSearch) -> str:
        waits["for the watcher"] += 1
        return ""

    monkeypatch.setattr(IndexSearch, "catch_up", catch_up)
    before = count_searches()
    reading.compaction.search_facts(chat, LOST_NAMES)
    assert (count_searches() - before, waits.total()) == (len(LOST_NAMES.gone), 1)


def test_a_search_for_facts_can_be_stopped_between_two_searches(
    reading: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, _ = compact_chat(reading, server, "vault")
    token, searched, search = CancelToken(), list[str](), Vault.search

    def search_and_cancel(self: Vault, query: str, *arguments: Any, **options: Any) -> Any:
        searched.append(query)
        token.cancel()
        return search(self, query, *arguments, **options)

    monkeypatch.setattr(Vault, "search", search_and_cancel)
    with pytest.raises(Cancelled):
        reading.compaction.search_facts(chat, LOST_NAMES, token)
    assert len(searched) == 1


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


def damage_search(monkeypatch: pytest.MonkeyPatch, name: str, error: Exception) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(name, fail)


ERRORS = (
    VaultMissing("/gone"),
    IndexUnusable("The index cannot be read."),
    VaultNotChosen(),
    PermissionError(13, "Permission denied"),
    sqlite3.OperationalError("disk I/O error"),
    KeyError("path"),
    RecursionError("too deep"),
    MemoryError(),
)
PLACES = (
    "chains.request.turn.Turn.open_searched",
    "app.sessions.branches.FactSearcher.check",
    "vault.vault.Vault.search",
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("error", ERRORS, ids=lambda one: type(one).__name__)
def test_an_error_of_the_search_never_fails_a_compaction_that_is_stored(
    reading: Assistant,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    place: str,
) -> None:
    """Its facts are not checked, for a reason that the log has."""
    session = script_vault_chat(reading, server)
    damage_search(monkeypatch, place, error)
    end = list(reading.compact(session, CancelToken()))[-1]
    assert isinstance(end, CompactionEnded)
    exam = SummaryExam.read(end.result["exam"])
    assert exam is not None
    assert end.result["entry"] == reading.compaction.find_summary(session).entry
    assert (exam.findable, exam.gone_count, exam.not_checked > 0) == (0, 0, True)
    assert SummaryExam.read(check(reading, session)) == exam
    assert f"{exam.not_checked:,} not checked" in reading.history.export(session, "md")[1]
    assert "The facts of a summary were not searched for: " in caplog.text
    reasons = [one.levelno for one in caplog.records if "not searched for" in one.getMessage()]
    assert set(reasons) == {logging.WARNING}
    caplog.clear()


def test_a_compaction_is_over_before_the_notes_are_searched(
    reading: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the chat can go on meanwhile, and a kill loses nothing."""
    session, seen = script_vault_chat(reading, server), list[str]()

    def look(_searcher: FactSearcher, exam: SummaryExam, *_rest: object) -> SummaryExam:
        seen.append(reading.compaction.find_summary(session).entry)
        with reading.sessions.open(session):  # it is not locked
            return exam

    monkeypatch.setattr(FactSearcher, "check", look)
    end = list(reading.compact(session, CancelToken()))[-1]
    assert isinstance(end, CompactionEnded)
    assert seen == [end.result["entry"]]


def test_a_chat_is_shown_and_exported_with_the_figures_of_the_check(
    reading: Assistant,
    server: ModelServer,
    small_vault: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chat, exam = compact_chat(reading, server, "vault")
    write_note(reading, small_vault, f"# Cellar\n\n{exam.gone[0].line}.\n")
    told = SummaryExam.read(check(reading, chat))
    assert told is not None
    assert (told.findable, told.not_checked > 0) == (1, True)
    shown = [reading.history.export(chat, "md")[1], reading.history.build_note(chat)[1]]
    for verb in (["show", chat], ["export", chat]):
        assert run(["sessions", *verb], lambda _: 1) == 0
        shown.append(capsys.readouterr().out)
    for text in shown:
        lines = text.splitlines()
        assert [lines.count(line) for line in told.list_lines()] == [1] * len(told.list_lines())
    for verb in (["show", chat], ["export", chat], ["export", chat, "--format", "json"]):
        assert run(["sessions", *verb, "--json"], lambda _: 1) == 0
        (stored,) = json.loads(capsys.readouterr().out)["exams"]
        assert (stored.pop("entry"), stored.pop("is_in_use")) != ("", False)
        assert SummaryExam.read(stored) == told


def test_a_summary_without_facts_is_exported_without_figures(
    reading: Assistant, server: ModelServer
) -> None:
    chat, _ = compact_chat(reading, server, "vault")
    item = reading.compaction.find_summary(chat)
    empty = replace(item, compaction=replace(item.compaction, exam=SummaryExam(0, 0)))
    text = export_markdown(ChatTranscript("A chat", (empty,)))
    assert text.rstrip().endswith(empty.summary)
