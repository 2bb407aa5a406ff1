"""Tasks that change notes, over RPC with approvals, and their undo to the same bytes."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.startup import sweep_files
from resources import sample_vault
from tests.support.models.model_server import Answer, Body, ModelServer
from tests.unit.app.rpc.test_server import Caller

Call = tuple[str, dict[str, Any]]
ONE_NOTE = pytest.mark.parametrize("notes", ["Welcome.md"], indirect=True)


@pytest.fixture
def notes(assistant: Assistant, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of the sample notes that are not about Strata, or of one note to save time."""
    folder = tmp_path / "notes"
    if only := getattr(request, "param", ""):
        folder.mkdir()
        shutil.copy(sample_vault() / only, folder)
    else:
        shutil.copytree(sample_vault(), folder, ignore=shutil.ignore_patterns("Guide"))
    assistant.open_vault(folder, remember=False)
    return folder


@pytest.fixture
def caller(assistant: Assistant, notes: Path, server: ModelServer) -> Iterator[Caller]:
    caller = Caller(assistant)
    caller.ask("set_mode", mode="agent")
    yield caller
    caller.hang_up()


def list_files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def step(*calls: Call) -> Answer:
    names = ((f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(calls))
    return Answer("", calls=tuple(names))


def run_task(caller: Caller, text: str, decision: str = "allow") -> dict[str, Any]:
    """Ask for a task, decide about each of its calls, and return how the turn ended."""
    caller.send("prompt", text=text)
    while True:
        line = caller.wait_for(lambda line: line.get("event") in ("approval_request", "turn_end"))
        if line["event"] == "turn_end":
            return dict(line["data"])
        caller.send("approve", approval_id=line["data"]["approval_id"], decision=decision)


def read_results(body: Body) -> list[str]:
    return [str(message["content"]) for message in body["messages"] if message["role"] == "tool"]


def check_undo(caller: Caller, notes: Path, end: dict[str, Any], before: dict[str, bytes]) -> None:
    assert end["status"] == "complete"
    assert list_files(notes) != before
    undone = caller.ask("undo")
    assert undone["run"] == end["edits"]["run"]
    assert {step["path"] for step in undone["undone"]} == {
        note["old_path"] or note["path"] for note in end["edits"]["notes"]
    }
    assert list_files(notes) == before
    refused = caller.error("undo")
    assert refused["code"] == "not_found"
    assert "no edit in this chat" in refused["message"]


def test_a_folder_is_summarised_into_a_new_note(
    caller: Caller, server: ModelServer, notes: Path
) -> None:
    before = list_files(notes)
    names = [path for path in before if path.startswith("Examples/")]

    def write(body: Body) -> Answer:
        heads = [next(r for r in read_results(body) if name in r)[:40] for name in names]
        return step(("create_note", {"path": "Summaries/Examples", "text": "\n".join(heads)}))

    server.script(
        step(("list_folder", {"path": "Examples"})),
        step(*(("read_note", {"path": name}) for name in names)),
        write,
        Answer("The summary is in Summaries/Examples.md."),
    )
    end = run_task(caller, "Summarise the folder Examples in a new note.")
    [note] = end["edits"]["notes"]
    assert (note["path"], note["is_new"]) == ("Summaries/Examples.md", True)
    assert note["diff"].startswith("--- /dev/null\n+++ Summaries/Examples.md\n")
    check_undo(caller, notes, end, before)
    assert not (notes / "Summaries").exists()


def test_related_notes_are_linked_and_one_of_them_moved(
    caller: Caller, server: ModelServer, notes: Path
) -> None:
    before = list_files(notes)
    garden, reading = "Examples/Garden log.md", "Examples/Reading notes.md"
    server.script(
        step(("search_notes", {"query": "garden and books"})),
        step(
            ("append_to_note", {"path": garden, "text": "See [[Reading notes]]."}),
            ("append_to_note", {"path": reading, "text": "See [[Garden log]]."}),
        ),
        step(("move_note", {"path": garden, "to": "Garden/Log 2024.md"})),
        Answer("Both notes link to each other."),
    )
    end = run_task(caller, "Link related notes, and move the garden log.")
    assert [tool["status"] for tool in end["tools"]] == ["ok"] * 4
    assert "[[Log 2024]]" in (notes / reading).read_text("utf-8")
    check_undo(caller, notes, end, before)


def test_a_tag_is_renamed_across_notes(caller: Caller, server: ModelServer, notes: Path) -> None:
    (notes / "Tool shed.md").write_bytes("A spade. #garden/log\r\n".encode("utf-16"))
    before = list_files(notes)
    log = "Examples/Garden log.md"
    old = ["tags: [example, garden]", "#garden/log", "#garden/tomatoes"]
    edits = [{"path": log, "old": tag, "new": tag.replace("garden", "plot")} for tag in old]
    edits.append({"path": "Tool shed.md", "old": "#garden", "new": "#plot"})
    server.script(step(*(("edit_note", edit) for edit in edits)), Answer("The tag is #plot now."))
    end = run_task(caller, "Rename the tag garden to plot.")
    text = before[log].decode()
    for tag in old:
        text = text.replace(tag, tag.replace("garden", "plot"))
    after = list_files(notes)
    assert after[log] == text.encode()
    assert after["Tool shed.md"] == "A spade. #plot/log\r\n".encode("utf-16")
    assert [note["path"] for note in end["edits"]["notes"]] == [log, "Tool shed.md"]
    check_undo(caller, notes, end, before)


@ONE_NOTE
def test_edits_are_undone_after_their_chat_was_in_the_bin(
    caller: Caller, server: ModelServer, notes: Path, assistant: Assistant
) -> None:
    before = list_files(notes)
    edit = {"path": "Welcome.md", "text": "Bye."}
    server.script(step(("append_to_note", edit)), Answer("Done."))
    end = run_task(caller, "Say bye.")
    caller.ask("delete_session", session=end["session"])
    sweep_files(assistant)  # prunes the journal, as at the next start
    caller.ask("restore_session", session=end["session"])
    caller.ask("open_session", session=end["session"])
    check_undo(caller, notes, end, before)


@ONE_NOTE
def test_a_rejected_edit_changes_nothing_and_is_told_to_the_model(
    caller: Caller, server: ModelServer, notes: Path
) -> None:
    before = list_files(notes)
    server.script(step(("create_note", {"path": "x.md", "text": "x"})), Answer("As you wish."))
    end = run_task(caller, "Write.", "deny")
    assert [tool["status"] for tool in end["tools"]] == ["denied"]
    assert "edits" not in end
    assert list_files(notes) == before
    assert "rejected" in read_results(server.bodies[-1])[0]


@ONE_NOTE
def test_a_note_that_changes_before_the_approval_is_proposed_again(
    caller: Caller, server: ModelServer, notes: Path
) -> None:
    path = notes / "Welcome.md"
    server.script(step(("append_to_note", {"path": "Welcome.md", "text": "Bye."})), Answer("Done."))
    caller.send("prompt", text="Say goodbye.")
    first = caller.event("approval_request")["data"]
    path.write_text("Newer.\n")
    caller.send("approve", approval_id=first["approval_id"], decision="allow")
    second = caller.event("approval_request")["data"]
    assert "Newer." in second["diff"]
    caller.send("approve", approval_id=second["approval_id"], decision="allow")
    assert caller.event("turn_end")["data"]["status"] == "complete"
    assert path.read_text() == "Newer.\n\nBye.\n"


@ONE_NOTE
def test_an_undo_that_would_lose_a_newer_text_is_refused_by_name(
    caller: Caller, server: ModelServer, notes: Path
) -> None:
    server.script(step(("append_to_note", {"path": "Welcome.md", "text": "Bye."})), Answer("Done."))
    end = run_task(caller, "Say goodbye.")
    (notes / "Welcome.md").write_text("Newer.\n")
    error = caller.error("undo", run=end["edits"]["run"])
    assert (error["code"], "Welcome.md" in error["message"]) == ("bad_request", True)
    assert (notes / "Welcome.md").read_text() == "Newer.\n"


@ONE_NOTE
def test_some_hunks_of_a_change_are_approved(
    caller: Caller, server: ModelServer, notes: Path
) -> None:
    lines = [f"line {number}" for number in range(12)]
    old = "\n".join(lines)
    (notes / "List.md").write_text(f"{old}\n", "utf-8")
    before = list_files(notes)
    new = old.replace("line 1\n", "LINE 1\n").replace("line 6", "LINE 6").replace("e 10", "E 10")
    edit = ("edit_note", {"path": "List.md", "old": old, "new": new})
    server.script(step(edit), Answer("Done."))
    caller.ask("prompt", text="Shout.")
    asked = caller.event("approval_request")["data"]
    assert [hunk.split("\n")[0] for hunk in asked["hunks"]] == [
        "@@ -1,3 +1,3 @@",
        "@@ -6,3 +6,3 @@",
        "@@ -10,3 +10,3 @@",
    ]
    caller.ask("approve", approval_id=asked["approval_id"], decision="allow", hunks=[0, 2])
    end = caller.event("turn_end")["data"]
    kept = old.replace("line 1\n", "LINE 1\n").replace("e 10", "E 10")
    assert (notes / "List.md").read_text("utf-8") == f"{kept}\n"
    (result,) = read_results(server.bodies[-1])
    assert result.startswith("Done: Edit List.md, lines 2–11.\nThe user accepted 2 of 3 parts")
    assert "+LINE 6" in result
    assert "+LINE 1\n" not in result
    check_undo(caller, notes, end, before)
