"""Backup and restore over RPC: progress, report, refusal and abort."""

import json
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.backup import archive
from app.rpc.server import RPC
from resources.system.files import read_file

PATIENCE_S = 60


def request(assistant: Assistant, type: str, **fields: Any) -> list[dict[str, Any]]:
    """Send a request, and return its events and its response, which is the last line."""
    said: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    found: list[dict[str, Any]] = []

    def lines() -> Iterator[bytes]:
        yield json.dumps({"id": 1, "type": type, **fields}).encode()
        while not found or found[-1]["type"] != "response":
            found.append(said.get(timeout=PATIENCE_S))

    RPC(assistant, lambda line: said.put(json.loads(line))).serve(lines())
    return found


def test_a_backup_is_made_and_merged_over_rpc(assistant: Assistant, tmp_path: Path) -> None:
    assistant.settings.set("retrieval.topK", 9)
    target = tmp_path / "b.zip"
    *events, made = request(assistant, "backup", path=str(target))
    assert (made["data"]["path"], made["data"]["files"]) == (str(target), 2)
    progress = [event["data"] for event in events if event["event"] == "backup_progress"]
    assert progress == [{"done": 1, "total": 2}, {"done": 2, "total": 2}]
    (again,) = request(assistant, "backup", path=str(target))
    assert "overwrites nothing" in again["error"]["message"]
    (relative,) = request(assistant, "backup", path="b.zip")
    assert "not absolute" in relative["error"]["message"]
    assistant.settings.set("retrieval.topK", 5)
    (refused,) = request(assistant, "restore", path=str(target))
    assert refused["error"]["code"] == "bad_request"
    assert "merge" in refused["error"]["hint"]
    *events, restored = request(assistant, "restore", path=str(target), merge=True)
    assert {event["event"] for event in events} == {"restore_progress"}
    assert restored["data"]["missing"] == []
    assert assistant.settings.get("retrieval.topK") == 5


def test_a_backup_is_stopped_by_its_id(
    assistant: Assistant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant.paths.prompts.mkdir(parents=True)
    (assistant.paths.prompts / "mine.md").write_text("Be brief.")
    begun, aborted = threading.Event(), threading.Event()
    said: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    responses: dict[int, dict[str, Any]] = {}

    def read_slowly(path: Path) -> bytes:
        begun.set()
        assert aborted.wait(PATIENCE_S)
        return read_file(path)

    def lines() -> Iterator[bytes]:
        yield json.dumps({"id": 1, "type": "backup", "path": str(tmp_path / "b.zip")}).encode()
        assert begun.wait(PATIENCE_S)
        for id, named in ((2, 7), (3, 1)):
            yield json.dumps({"id": id, "type": "abort", "request": named}).encode()
        while len(responses) < 3:
            line = said.get(timeout=PATIENCE_S)
            if line["type"] == "response":
                responses[line["id"]] = line
            if 3 in responses:
                aborted.set()

    monkeypatch.setattr(archive, "read_file", read_slowly)
    RPC(assistant, lambda line: said.put(json.loads(line))).serve(lines())
    assert [responses[id]["data"]["aborted"] for id in (2, 3)] == [False, True]
    assert responses[1]["error"]["code"] == "cancelled"
    assert list(tmp_path.glob("*.zip")) == []
