"""Requests about notes and about what is kept beside the chats, over RPC and as commands."""

import hashlib
import json
import queue
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from app.rpc.server import RPC
from chains.cancel import CancelToken
from tests.support.models.model_server import ModelServer
from tests.support.processes.command_line import document, no_window
from tests.support.servers.web_server import Page, WebServer
from tests.support.sessions.turns import ask, result_of
from vault.errors import EditOutdated, EditRefused

PATIENCE_S = 60
WATER = "# Water\n\nThe frost guard of the barrel switches on at {} degrees.\n"


class Client:
    """Sends one request after the other to a server in this process."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    def do(self, type: str, **fields: Any) -> dict[str, Any]:
        """Send a request that must succeed, and return its data."""
        found = self.send(type, **fields)
        assert found["success"], found
        return dict(found["data"])

    def send(self, type: str, **fields: Any) -> dict[str, Any]:
        """Send a request, and return the response."""
        said: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        found: list[dict[str, Any]] = []

        def lines() -> Iterator[bytes]:
            yield json.dumps({"id": 1, "type": type, **fields}).encode()
            while not found:
                line = said.get(timeout=PATIENCE_S)
                found.extend([line] if line["type"] == "response" else [])

        RPC(self._assistant, lambda line: said.put(json.loads(line))).serve(lines())
        return found[0]


@pytest.fixture
def indexed(reading: Assistant, small_vault: Path) -> Assistant:
    (small_vault / "Water.md").write_text(WATER.format(4))
    (small_vault / "Winter.md").write_text(WATER.format(7))
    list(reading.index(CancelToken()))
    return reading


@pytest.fixture
def chat(indexed: Assistant, server: ModelServer) -> str:
    return str(result_of(ask(indexed, "How much does the barrel hold?")).session)


@pytest.fixture
def client(indexed: Assistant) -> Client:
    return Client(indexed)


def test_findings_are_listed_dismissed_and_restored(client: Client) -> None:
    found = client.do("review")
    (finding, *_) = found["findings"]
    assert {note["path"] for note in finding["notes"]} == {"Water.md", "Winter.md"}
    assert finding["reason"]
    hidden = client.do("review", dismiss=finding["key"])
    assert finding["key"] not in [one["key"] for one in hidden["findings"]]
    assert finding["key"] in [one["key"] for one in hidden["dismissed"]]
    assert client.do("review", restore=finding["key"]) == found


def test_findings_are_limited_to_a_kind_a_folder_and_a_project(
    client: Client, small_vault: Path
) -> None:
    assert {one["kind"] for one in client.do("review", kinds=["contradiction"])["findings"]} == {
        "contradiction"
    }
    (small_vault / "Inside").mkdir()
    assert client.do("review", folder="./Inside/")["notes"] == 0
    assert client.do("review", folder=".") == client.do("review")
    error = client.send("review", folder="Nowhere")["error"]
    assert error["code"] == "not_found"
    assert f"There is no folder “Nowhere” in {small_vault}." in error["message"]
    assert client.do("review", project=str(small_vault / "Inside"))["findings"] == []
    assert client.do("review")["totals"]["contradiction"] == 1


def test_a_finding_is_fixed_and_the_fix_undone(client: Client, small_vault: Path) -> None:
    (finding,) = client.do("review", kinds=["contradiction"])["findings"]
    fixes = client.do("list_fixes", key=finding["key"])["fixes"]
    fixed = client.do("fix_finding", key=finding["key"], choice=fixes[0]["id"])
    (path,) = fixed["paths"]
    assert fixed["diff"] == fixes[0]["diff"]
    assert WATER.format(4) == (small_vault / "Winter.md").read_text() == WATER.format(4)
    client.do("undo", run=fixed["run"])
    assert (small_vault / path).read_text() == WATER.format(7)


def test_a_base_and_a_query_are_computed(client: Client, small_vault: Path) -> None:
    (small_vault / "Water.base").write_text('filters: file.name.contains("Water")\n')
    (small_vault / "Query.md").write_text('```dataview\nLIST WHERE file.name = "Winter"\n```\n')
    (view,) = client.do("table", path="Water.base")["blocks"][0]["views"]
    assert "Water.md" in [row["path"] for row in view["rows"]]
    (view,) = client.do("table", path="Query.md", k=1)["blocks"][0]["views"]
    assert [row["path"] for row in view["rows"]] == ["Winter.md"]


def test_related_notes_say_why(client: Client) -> None:
    notes = client.do("related", path="Water.md")["notes"]
    near = next(note for note in notes if note["path"] == "Winter.md")
    assert "alike in meaning" in near["why"]


def test_a_chat_is_saved_as_a_note_that_can_be_undone(
    client: Client, chat: str, small_vault: Path
) -> None:
    saved = client.do("save_note", session=chat, path="Chats/Barrel.md")
    file = small_vault / "Chats" / "Barrel.md"
    assert (saved["path"], "barrel hold?" in file.read_text()) == ("Chats/Barrel.md", True)
    client.do("undo", run=saved["run"])
    assert not file.exists()


def test_the_memory_of_a_chat_is_read_and_changed(client: Client, chat: str) -> None:
    empty = {"currentObjective": "", "completedSteps": [], "pendingSteps": []}
    read = client.do("get_memory", session=chat)["memory"]
    assert read == {"scratchpad": "", "progress": empty, "facts": []}
    client.do("set_memory", session=chat, facts=["The barrel is green."])
    client.do("set_memory", session=chat, progress={"currentObjective": "Winter"})
    read = client.do("get_memory", session=chat)["memory"]
    assert (read["facts"], read["progress"]["currentObjective"]) == (
        ["The barrel is green."],
        "Winter",
    )


def test_instructions_are_decided_about(client: Client, small_vault: Path) -> None:
    (small_vault / "garden" / "AGENTS.md").write_text("Name the bed.\n")
    asked = {"project": str(small_vault / "garden")}
    assert client.do("instructions", **asked)["state"] == "undecided"
    accepted = client.do("instructions", action="accept", **asked)
    assert (accepted["state"], accepted["text"]) == ("accepted", "Name the bed.\n")
    assert client.do("instructions", action="refuse", **asked)["state"] == "refused"


def test_the_calls_that_left_are_listed(client: Client, chat: str) -> None:
    calls = client.do("ledger")["calls"]
    assert {call["kind"] for call in calls} == {"model"}
    assert chat in [call["session"] for call in calls]


def test_the_claims_of_a_model_are_told_with_the_entries(client: Client, chat: str) -> None:
    (told,) = client.do("get_entries", session=chat)["claims"]
    assert set(told) == {"entry", "summary", "counts", "claims", "coverage"}


def test_a_source_that_changed_since_is_named(
    client: Client, indexed: Assistant, small_vault: Path
) -> None:
    asked = ask(indexed, "How much does the barrel hold?", model="extractive")
    session = str(result_of(asked).session)
    cited = result_of(asked).answer.checked.citations[0].path
    shown = client.do("get_entries", session=session)
    assert (shown["changed"], shown["claims"]) == ([], [])  # no model claims anything
    (small_vault / cited).write_text("# Other\n\nAll is new.\n")
    (changed,) = client.do("get_entries", session=session)["changed"]
    assert (changed["path"], cited in changed["message"]) == (cited, True)
    markdown = indexed.history.export(session, "md")[1]
    assert f"{cited} has changed since this answer." in markdown
    assert json.loads(indexed.history.export(session, "json")[1])["changed"] == [changed]


def test_the_commands_do_the_same(
    indexed: Assistant, chat: str, small_vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def strata(*argv: str) -> Any:
        assert run([*argv, "--vault", str(small_vault), "--json"], no_window) == 0
        return document(capsys.readouterr().out)

    key = strata("review")["findings"][0]["key"]
    assert key in [one["key"] for one in strata("review", "--dismiss", key)["dismissed"]]
    saved = strata("sessions", "save-note", chat, "--path", "Barrel.md")
    assert (small_vault / saved["path"]).is_file()
    strata("sessions", "memory", chat, "--fact", "It is green.", "--to-do", "Paint it")
    memory = strata("sessions", "memory", chat)["memory"]
    assert (memory["facts"], memory["progress"]["pendingSteps"]) == (
        ["It is green."],
        ["Paint it"],
    )


def test_a_limited_review_says_how_many_notes_it_is_about(
    indexed: Assistant, small_vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def strata(*argv: str) -> tuple[int, str, str]:
        code = run(["review", *argv, "--vault", str(small_vault)], no_window)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    (small_vault / "Empty").mkdir()
    assert strata("--folder", "./Empty") == (0, "No finding here in 0 notes.\n", "")
    only = ("--kind", "git_conflict")
    assert strata("--folder", "Empty/", *only)[1] == "No finding of this kind here in 0 notes.\n"
    assert strata(*only)[1].startswith("No finding of this kind in ")
    code, said, error = strata("--folder", "nonexist")
    assert (code, said) == (1, "")
    assert f"There is no folder “nonexist” in {small_vault}." in error


def test_a_task_is_ticked_and_undone(
    client: Client, indexed: Assistant, small_vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = small_vault / "Tasks.md"
    text = "\ufeff# Tasks\r\n\r\n> 1. [ ] Call 📅 2026-11-28\r\n- [-] No\n+ [/] Half\n"
    before = text.encode()
    note.write_bytes(before)
    ticked = client.do("tick_task", path="Tasks.md", line=3)
    assert (ticked["status"], ticked["line"]) == ("x", 3)
    assert "+> 1. [x] Call" in ticked["diff"]
    done = f"1. [x] Call 📅 2026-11-28 ✅ {date.today()}"
    assert note.read_bytes() == text.replace("1. [ ] Call 📅 2026-11-28", done).encode()
    client.do("undo", run=ticked["run"])
    assert note.read_bytes() == before
    argv = ["tick", "Tasks.md", "5", "--vault", str(small_vault)]
    assert run(argv, no_window) == 0
    said = capsys.readouterr().out
    assert said.startswith("[x] Half  Tasks.md:5\n`strata undo --run ")
    assert note.read_bytes() == before.replace(b"[/]", b"[x]")
    for line in ("1", "9"):
        assert (
            run(["tick", "Tasks.md", line, "--vault", str(small_vault), "--json"], no_window) == 1
        )
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["message"] == f"Line {line} of Tasks.md is no task."


def test_a_task_with_a_marker_is_ticked_and_unticked(
    indexed: Assistant, client: Client, small_vault: Path
) -> None:
    note = small_vault / "Tasks.md"
    note.write_bytes(b"- NOW Write\r\n- DOING [#A] Call\r\n  DEADLINE: <2026-12-01 Tue>\r\n")
    ticked = client.do("tick_task", path="Tasks.md", line=2)
    assert (ticked["status"], "+- DONE [#A] Call" in ticked["diff"]) == ("x", True)
    indexed.user_edits.toggle_task("Tasks.md", 2)
    assert note.read_bytes().startswith(b"- NOW Write\r\n- TODO [#A] Call\r\n  DEADLINE: <2026")


def test_the_next_task_is_added_above_a_recurring_one_and_taken_back_with_the_tick(
    indexed: Assistant,
    client: Client,
    small_vault: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    note = small_vault / "Tasks.md"
    before = "# Tasks\r\n> - [ ] Water 🔁 every week 📅 2026-11-27\r\n".encode()
    note.write_bytes(before)
    ticked = client.do("tick_task", path="Tasks.md", line=2)
    assert (ticked["line"], ticked["next_line"], ticked["next_day"]) == (3, 2, "2026-12-04")
    task = "> - [ ] Water 🔁 every week 📅 2026-11-27"
    added = "> - [ ] Water 🔁 every week 📅 2026-12-04\r\n> - [x] Water 🔁 every week 📅 2026-11-27"
    done = f"{added} ✅ {date.today()}".encode()
    assert note.read_bytes() == before.replace(task.encode(), done)
    client.do("undo", run=ticked["run"])
    assert note.read_bytes() == before
    assert run(["tick", "Tasks.md", "2", "--vault", str(small_vault)], no_window) == 0
    assert "The next task is in line 2. It is on 2026-12-04." in capsys.readouterr().out
    unticked = client.do("tick_task", path="Tasks.md", line=3)
    assert (unticked["status"], unticked["next_line"]) == (" ", None)
    assert note.read_bytes().count(b"[ ] Water") == 2
    note.write_text("- [ ] Water 🔁 every week until 2027 📅 2026-11-27\n", "utf-8")
    refused = client.send("tick_task", path="Tasks.md", line=1)
    assert "cannot tell its next day" in refused["error"]["message"]
    assert "[ ] Water" in note.read_text("utf-8")


def test_the_settings_of_the_tasks_plugin_hold_for_commands_too(
    client: Client, indexed: Assistant, small_vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = small_vault / ".obsidian" / "plugins" / "obsidian-tasks-plugin"
    plugin.mkdir(parents=True)
    settings = {"globalFilter": "#task", "recurrenceOnNextLine": True}
    (plugin / "data.json").write_text(json.dumps(settings), "utf-8")
    note = small_vault / "Tasks.md"
    before = "- [ ] Air 🏁 delete\n- [ ] Water #task 🔁 every week 📅 2026-11-27\n"
    note.write_text(before, "utf-8")
    ticked = client.do("tick_task", path="Tasks.md", line=2)
    assert (ticked["line"], ticked["next_line"], ticked["next_day"]) == (2, 3, "2026-12-04")
    client.do("undo", run=ticked["run"])
    assert run(["tick", "Tasks.md", "2", "--vault", str(small_vault)], no_window) == 0
    assert "The next task is in line 3. It is on 2026-12-04." in capsys.readouterr().out
    item = client.do("tick_task", path="Tasks.md", line=1)
    assert (item["status"], item["is_deleted"]) == ("x", False)
    assert note.read_text("utf-8").startswith("- [x] Air 🏁 delete\n- [x] Water")


def test_a_task_that_is_deleted_and_one_with_a_repeater_are_said_to_be_so(
    client: Client, indexed: Assistant, small_vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = small_vault / "Tasks.md"
    before = "- [ ] Air 🏁 delete\n- TODO Water\n  SCHEDULED: <2026-11-27 Fri +1w>\n"
    note.write_text(before, "utf-8")
    ticked = client.do("tick_task", path="Tasks.md", line=2)
    assert (ticked["status"], ticked["next_line"], ticked["next_day"]) == (" ", None, "2026-12-04")
    assert run(["tick", "Tasks.md", "2", "--vault", str(small_vault)], no_window) == 0
    assert "\nIt is open again, for 2026-12-11.\n" in capsys.readouterr().out
    deleted = client.do("tick_task", path="Tasks.md", line=1)
    assert (deleted["status"], deleted["is_deleted"]) == ("x", True)
    assert note.read_text("utf-8") == "- TODO Water\n  SCHEDULED: <2026-12-11 Fri +1w>\n"
    client.do("undo", run=deleted["run"])
    assert run(["tick", "Tasks.md", "1", "--vault", str(small_vault)], no_window) == 0
    assert "\nIt was deleted, as its line says.\n" in capsys.readouterr().out


def test_a_task_is_not_ticked_in_another_version_of_its_note(
    indexed: Assistant, small_vault: Path
) -> None:
    (small_vault / "Tasks.md").write_text("- [ ] Call\n")
    seen = hashlib.sha256(b"- [ ] Call\n").hexdigest()
    (small_vault / "Tasks.md").write_text("- [ ] Write\n- [ ] Call\n")
    with pytest.raises(EditOutdated):
        indexed.user_edits.toggle_task("Tasks.md", 1, seen)
    assert (small_vault / "Tasks.md").read_text() == "- [ ] Write\n- [ ] Call\n"
    (small_vault / "Tasks.md").write_text("- [ ] Call\n#private\n")
    with pytest.raises(EditRefused, match="marked as private"):
        indexed.user_edits.toggle_task("Tasks.md", 1)


def test_what_was_spent_is_told_with_the_limits(client: Client) -> None:
    client.do("set_setting", key="spending.monthLimit", value=20)
    found = client.do("get_spending")
    assert found["month"] == {"cost": 0, "calls": 0, "unpriced_calls": 0, "limit": 20}
    assert (found["today"]["limit"], found["models"]) == (None, [])


def test_a_newer_version_is_looked_for_at_the_address_that_is_set(client: Client) -> None:
    refused = client.send("check_updates")
    assert (refused["success"], refused["error"]["code"]) == (False, "bad_request")
    with WebServer() as server:
        server.pages["/r.json"] = Page(b'{"version": "9.0", "files": []}', "application/json")
        client.do("set_setting", key="updates.address", value=f"{server.url}/r.json")
        found = client.do("check_updates")
    assert (found["newest"], found["is_newer"], found["files"]) == ("9.0", True, [])
