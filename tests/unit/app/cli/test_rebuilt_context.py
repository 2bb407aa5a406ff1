"""`strata context --entry` without a stored request: rebuilt with the vault of the chat."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from chains.llm import server
from chains.llm.server_queries import ServerQueries
from tests.support.models.model_server import ModelServer
from tests.support.processes.command_line import Strata, document

_PARTS = ("T", "L1", "L2", "L3", "L4", "L5")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Notes with instructions for models, and a project with its own."""
    folder = tmp_path / "notes"
    (folder / "Garden").mkdir(parents=True)
    (folder / "AGENTS.md").write_text("Answer in one sentence.\n")
    (folder / "Barrel.md").write_text("# Barrel\n\nThe rain barrel holds 210 litres.\n")
    (folder / "Garden" / "AGENTS.md").write_text("Name the bed.\n")
    (folder / "Garden" / "Beans.md").write_text("# Beans\n\nBeans are sown in May.\n")
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path, strata: Strata, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another vault, which the settings name, and another working folder."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "AGENTS.md").write_text("Answer in verse.\n")
    (other / "Barrel.md").write_text("# Barrel\n\nThis barrel holds herrings.\n")
    assert strata("instructions", "accept", "--vault", str(other))[0] == 0
    assert strata("settings", "set", "vault.path", str(other))[0] == 0
    (tmp_path / "work" / "Garden").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    return other


@pytest.mark.parametrize(
    "where",
    [
        ("--mode", "vault"),
        ("--mode", "vault", "--attach", "Barrel.md"),
        ("--mode", "agent"),
        ("--project", "Garden"),
        ("--project", "Garden", "--mode", "agent"),
    ],
)
def test_a_request_is_rebuilt_with_the_notes_of_its_chat(
    strata: Strata,
    model: ModelServer,
    notes: Path,
    elsewhere: Path,
    strata_home: Path,
    where: tuple[str, ...],
) -> None:
    assert strata("instructions", "accept", "--vault", str(notes))[0] == 0
    asked = _ask(strata, model, notes, "How much does the barrel hold?", *where)
    follow = "--session", asked["session"]
    again = _ask(strata, model, notes, "And the beans?", *where, *follow)
    _lose_stored_requests(strata_home)
    for entry, sent in ((asked["entry"], asked["context"]), (again["entry"], again["context"])):
        code, out, _ = strata(*_context(asked["session"], entry, model))
        shown = document(out)
        assert (code, shown["rebuilt"]) == (0, True)
        assert _list_parts(shown) == _list_parts(sent)
        system = str(shown["request_body"]["system"])
        assert ("one sentence" in system, "verse" in system) == (True, False)


def test_a_project_outside_of_the_notes_is_found_again(
    strata: Strata,
    model: ModelServer,
    notes: Path,
    elsewhere: Path,
    strata_home: Path,
    tmp_path: Path,
) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(notes / "Garden", outside)
    asked = _ask(strata, model, notes, "When are beans sown?", "--project", str(outside))
    _lose_stored_requests(strata_home)
    shown = document(strata(*_context(asked["session"], asked["entry"], model))[1])
    assert _list_parts(shown) == _list_parts(asked["context"])


def test_without_the_notes_they_count_as_unchanged_and_a_warning_says_so(
    strata: Strata, model: ModelServer, notes: Path, elsewhere: Path, strata_home: Path
) -> None:
    asked = _ask(strata, model, notes, "How much does it hold?", "--attach", "Barrel.md")
    again = _ask(strata, model, notes, "And in winter?", "--session", asked["session"])
    _lose_stored_requests(strata_home)
    shutil.rmtree(notes)
    code, out, _ = strata(*_context(asked["session"], again["entry"], model))
    shown = document(out)
    assert (code, shown["rebuilt"]) == (0, True)
    assert shown["layers"]["L2"]["tokens"] == again["context"]["layers"]["L2"]["tokens"] > 0
    assert any(str(notes) in warning for warning in shown["warnings"])
    assert "herrings" not in out


@pytest.mark.parametrize("where", [("--mode", "agent"), ("--project", "Garden")])
def test_a_turn_that_needs_the_notes_names_their_missing_folder(
    strata: Strata,
    model: ModelServer,
    notes: Path,
    elsewhere: Path,
    strata_home: Path,
    where: tuple[str, ...],
) -> None:
    asked = _ask(strata, model, notes, "How much does it hold?", *where)
    _lose_stored_requests(strata_home)
    shutil.rmtree(notes)
    code, out, _ = strata(*_context(asked["session"], asked["entry"], model))
    error = document(out)["error"]
    assert (code, error["code"]) == (1, "vault_missing")
    assert str(notes) in error["message"]


def test_a_request_is_rebuilt_where_the_ledger_cannot_be_written(
    strata: Strata,
    model: ModelServer,
    notes: Path,
    elsewhere: Path,
    strata_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = _ask(strata, model, notes, "How much does it hold?", "--attach", "Barrel.md")
    _lose_stored_requests(strata_home)
    ledger = strata_home / "state" / "ledger.log"
    ledger.unlink(missing_ok=True)
    ledger.mkdir()
    monkeypatch.setattr(server, "_queries", ServerQueries())  # as in a new process
    code, out, _ = strata(*_context(asked["session"], asked["entry"], model))
    shown = document(out)
    assert (code, shown["rebuilt"]) == (0, True)
    assert _list_parts(shown) == _list_parts(asked["context"])


def _ask(strata: Strata, model: ModelServer, notes: Path, text: str, *argv: str) -> Any:
    code, out, _ = strata("ask", text, *_model(model), "--vault", str(notes), "--json", *argv)
    assert code == 0
    return document(out)


def _context(session: str, entry: str, model: ModelServer) -> tuple[str, ...]:
    named = ("--session", session, "--entry", entry)
    return ("context", *named, *_model(model), "--full", "--json")


def _model(model: ModelServer) -> tuple[str, ...]:
    return ("--set", f"chat.apiBase={model.url}", "--set", "chat.model=gpt-4o")


def _lose_stored_requests(home: Path) -> None:
    for file in (home / "state").glob("state.db*"):
        file.unlink()


def _list_parts(context: Any) -> list[tuple[str, int]]:
    return [(name, context["layers"][name]["tokens"]) for name in _PARTS]
