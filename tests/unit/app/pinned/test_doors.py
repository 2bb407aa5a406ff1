"""Pinned answers at the command line and over RPC."""

import json
import queue
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from app.rpc.server import RPC
from chains.cancel import CancelToken
from tests.support.processes.command_line import no_window

PATIENCE_S = 60


@pytest.fixture
def vault(reading: Assistant, small_vault: Path) -> Path:
    (small_vault / "Tasks.md").write_text("- [ ] Mow 📅 2026-11-27\n- [ ] Dig\n")
    list(reading.index(CancelToken()))
    return small_vault


def strata(
    vault: Path, capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0
) -> dict[str, Any]:
    assert run(["pinned", *argv, "--vault", str(vault), "--json"], no_window) == code
    return dict(json.loads(capsys.readouterr().out))


def test_the_command_line_pins_lists_shows_and_removes(
    reading: Assistant, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reading.close()  # the command line opens the vault itself
    id = strata(vault, capsys, "add", "open tasks", "--title", "To do")["id"]
    (vault / "Tasks.md").write_text("- [ ] Dig\n- [ ] Sow\n")
    (listed,) = strata(vault, capsys, "refresh")["pinned"]
    assert (listed["title"], listed["mark"], listed["total"]) == ("To do", "+1 −1", 2)
    assert run(["pinned", "show", id, "--vault", str(vault)], no_window) == 0
    shown = capsys.readouterr().out
    assert " + Tasks.md:2  - [ ] Sow" in shown
    assert " - Tasks.md:1  - [ ] Mow" in shown
    assert "   Tasks.md:1  - [ ] Dig" in shown
    (listed,) = strata(vault, capsys, "list")["pinned"]
    assert listed["mark"] == ""
    assert strata(vault, capsys, "rename", id, "Garden")["title"] == "Garden"
    planned = strata(vault, capsys, "note", id, "--path", "List.md", code=1)
    assert (planned["run"], "+- [[Tasks]]: Sow" in planned["diff"]) == (None, True)
    assert not (vault / "List.md").exists()
    assert run(["pinned", "note", id, "--path", "List.md", "--vault", str(vault)], no_window) == 1
    assert "Nothing was written" in capsys.readouterr().out  # without a terminal
    written = strata(vault, capsys, "note", id, "--path", "List.md", "--yes")
    assert "Sow" in (vault / "List.md").read_text()
    assert run(["undo", "--run", written["run"]], no_window) == 0
    assert not (vault / "List.md").exists()
    capsys.readouterr()
    assert strata(vault, capsys, "remove", id) == {"id": id}
    error = strata(vault, capsys, "show", id, code=1)["error"]
    assert (error["code"], "strata pinned list" in error["hint"]) == ("not_found", True)
    assert run(["pinned", "list", "--vault", str(vault)], no_window) == 0
    assert "strata pinned add" in capsys.readouterr().out


class Conversation:
    """Talks to a server in this process. Each request is sent when the line before was handled."""

    def __init__(self, assistant: Assistant) -> None:
        self._said: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._asked: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._server = RPC(assistant, lambda line: self._said.put(json.loads(line)))

    def lines(self) -> Iterator[bytes]:
        while (line := self._asked.get(timeout=PATIENCE_S)) is not None:
            yield line

    def run(self, talk: Any) -> None:
        from threading import Thread

        def work() -> None:
            try:
                talk(self)
            finally:
                self._asked.put(None)

        failed: list[BaseException] = []

        def guarded() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised below
                failed.append(error)

        thread = Thread(target=guarded)
        thread.start()
        self._server.serve(self.lines())
        thread.join(PATIENCE_S)
        if failed:
            raise failed[0]

    def send(self, type: str, **fields: Any) -> None:
        self._asked.put(json.dumps({"id": 1, "type": type, **fields}).encode())

    def do(self, type: str, **fields: Any) -> dict[str, Any]:
        self.send(type, **fields)
        line = self.wait_for(lambda line: line["type"] == "response")
        assert line["success"], line
        return dict(line["data"])

    def wait_for_event(self, name: str) -> dict[str, Any]:
        return dict(self.wait_for(lambda line: line.get("event") == name)["data"])

    def wait_for(self, fits: Any) -> dict[str, Any]:
        while not fits(line := self._said.get(timeout=PATIENCE_S)):
            pass
        return line


def test_rpc_pins_and_tells_when_the_notes_or_the_day_change(
    reading: Assistant, vault: Path
) -> None:
    now = [datetime(2026, 11, 27, 23, 59, 59, 900_000, tzinfo=UTC)]

    def talk(client: Conversation) -> None:
        id = client.do("add_pinned_answer", question="Which tasks are overdue?")["id"]
        client.do("add_pinned_answer", question="open tasks", title="All")
        now[0] += timedelta(seconds=1)
        (news,) = client.wait_for_event("pinned_answers")["pinned"]
        assert (news["id"], news["mark"]) == (id, "+1")
        (vault / "Tasks.md").write_text("- [ ] Dig\n")
        told = client.wait_for_event("pinned_answers")["pinned"]
        assert {one["title"]: one["mark"] for one in told} == {
            "All": "−1",
            "Which tasks are overdue?": "",
        }
        assert (
            client.do("change_pinned_answer", answer=id, title="Late", place=1)["title"] == "Late"
        )
        listed = client.do("list_pinned_answers")["pinned"]
        assert [one["title"] for one in listed] == ["All", "Late"]
        assert client.do("show_pinned_answer", answer=listed[0]["id"])["mark"] == "−1"
        assert client.do("show_pinned_answer", answer=listed[0]["id"])["mark"] == ""
        assert len(client.do("refresh_pinned_answers", answer=id)["pinned"]) == 1
        all_tasks = listed[0]["id"]
        planned = client.do("write_pinned_answer", answer=all_tasks)
        assert (planned["path"], planned["run"]) == ("All.md", None)
        assert client.do("write_pinned_answer", answer=all_tasks, apply=True)["run"]
        assert "Dig" in (vault / "All.md").read_text()
        assert client.do("remove_pinned_answer", answer=id) == {"id": id, "place": 1}

    reading.pinned.clock = lambda: now[0]
    Conversation(reading).run(talk)
