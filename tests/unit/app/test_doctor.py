from pathlib import Path

import pytest

from app.assistant import Assistant
from app.doctor import check_up
from chains.cancel import CancelToken
from chains.events import TurnEnded
from chains.ledger import OutgoingCall
from chains.request.ask import Ask
from vault.edits.journal import EditJournal, EditStep


def checks_of(assistant: Assistant, vault: Path | None = None) -> dict[str, bool]:
    return {check.name: check.ok for check in check_up(assistant, vault)}


def test_the_doctor_finds_a_fresh_start_in_order(assistant: Assistant) -> None:
    checks = checks_of(assistant)
    assert {"python", "config", "data", "state", "cache", "settings", "chats"} <= set(checks)
    assert all(checks.values())


def test_the_doctor_names_what_is_wrong(
    assistant: Assistant, tmp_path: Path, strata_home: Path
) -> None:
    assistant.settings.set("chat.model", "openai/gpt-4o")
    asked = Ask("x", mode="chat", model="extractive")
    *_, ended = assistant.ask(asked, CancelToken())
    assert isinstance(ended, TurnEnded)
    with assistant.sessions.file(ended.result.session).open("ab") as log:
        log.write(b"not json\n")
    checks = checks_of(assistant, tmp_path / "nothere")
    assert [name for name, ok in checks.items() if not ok] == ["chats", "model", "vault"]
    assistant.settings.path.write_text("[\n")
    assistant.settings.reload()
    assert not checks_of(assistant)["settings"]


def test_the_doctor_names_the_last_crash(assistant: Assistant) -> None:
    assert details_of(assistant)["crashes"] == ["none is recorded"]
    folder = assistant.paths.crashes
    folder.mkdir(parents=True)
    (folder / "20261126T190201Z-1-search.txt").write_text("Fatal Python error: Aborted\n")
    (said,) = details_of(assistant)["crashes"]
    assert said.startswith("1 recorded, the last one (search) on 20")
    assert said.endswith("20261126T190201Z-1-search.txt")
    assert checks_of(assistant)["crashes"]


@pytest.mark.parametrize("name", ["ledger", "edits"])
def test_the_doctor_names_a_line_that_was_lost(name: str, assistant: Assistant) -> None:
    """Of the ledger and of the journal of edits. What is left of them is still read."""
    call = OutgoingCall("model", "localhost", 1)
    step = {"id": "s", "run": "r", "session": "", "time": "2026-11-27T00:00:00+00:00", "root": "/n"}
    change = {"kind": "create", "path": "a.md", "to": "", "before": None, "after": "0" * 64}
    journal = EditJournal(assistant.paths.edits)
    for number in range(3):
        assistant.ledger.record(call)
        one = EditStep.from_dict({**step, **change, "id": f"s{number}", "folders": []})
        with journal.lock():
            journal.begin([one], [])
    assert details_of(assistant)[name] == ["each line follows the one before"]
    file = assistant.paths.ledger if name == "ledger" else assistant.paths.edits / "journal.jsonl"
    first, _, last = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + last)
    assert not checks_of(assistant)[name]
    assert details_of(assistant)[name][0].startswith("lines before line 2 were lost or changed, by")
    assert len(assistant.ledger.list_calls() if name == "ledger" else journal.read()) == 2


def details_of(assistant: Assistant, vault: Path | None = None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for check in check_up(assistant, vault):
        found.setdefault(check.name, []).append(check.detail)
    return found


@pytest.fixture
def hooks(assistant: Assistant) -> Path:
    """A folder with a hook that can be loaded, and one that cannot."""
    folder = assistant.paths.hooks
    folder.mkdir(parents=True)
    (folder / "marker.py").write_text("def register(registry): ...\n", "utf-8")
    (folder / "torn.py").write_text("raise ValueError('no table')\n", "utf-8")
    return folder


def test_the_doctor_names_hook_files_that_do_not_run(assistant: Assistant, hooks: Path) -> None:
    assert details_of(assistant)["hooks"] == [f"off, marker.py, torn.py in {hooks}"]
    assistant.settings.set("hooks.enabled", True)
    (problem,) = details_of(assistant)["hooks"]
    assert problem == "The hook file torn.py does not run: ValueError: no table."
    assert not checks_of(assistant)["hooks"]
    (hooks / "torn.py").unlink()
    assert details_of(assistant)["hooks"] == [f"on, marker.py in {hooks}"]
    (hooks / "marker.py").chmod(0o666)
    (problem,) = details_of(assistant)["hooks"]
    assert problem.startswith("The hook file marker.py does not run: others may write")


def test_the_doctor_says_what_was_decided_about_the_instructions_of_notes(
    assistant: Assistant, small_vault: Path
) -> None:
    (said,) = details_of(assistant, small_vault)["instructions"]
    assert said == "these notes have no AGENTS.md for models"
    (small_vault / "AGENTS.md").write_text("Answer in short.", "utf-8")
    (said,) = details_of(assistant, small_vault)["instructions"]
    assert said.startswith("AGENTS.md of these notes is not used yet")
    assistant.open_vault(small_vault, remember=False)
    found = assistant.customization.instructions()
    assert found is not None
    assistant.customization.decide(found.digest, "refused")
    assert details_of(assistant, small_vault)["instructions"] == ["AGENTS.md is refused"]
