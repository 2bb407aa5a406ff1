"""`strata project`, moving a chat to a project, and the same over RPC."""

import json
import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from app.rpc.server import RPC
from tests.support.models.model_server import ModelServer
from tests.support.processes.command_line import document, no_window
from tests.support.sessions.turns import ask, result_of

Strata = Callable[..., Any]
TALK = "WEBVTT\n\n00:00.000 --> 00:02.000\nHello tomato\n"


@pytest.fixture
def strata(capsys: pytest.CaptureFixture[str], small_vault: Path) -> Strata:
    """Run a command with --json and return its document, or its text without."""

    def call(*argv: str, code: int = 0, is_json: bool = True) -> Any:
        flags = ["--json"] if is_json else []
        assert run(["--vault", str(small_vault), *argv, *flags], no_window) == code
        out = capsys.readouterr().out
        return document(out) if is_json else out

    return call


def request(assistant: Assistant, type: str, **fields: Any) -> dict[str, Any]:
    said: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    found: list[dict[str, Any]] = []

    def lines() -> Iterator[bytes]:
        yield json.dumps({"id": 1, "type": type, **fields}).encode()
        while not found:
            line = said.get(timeout=60)
            found.extend([line] if line["type"] == "response" else [])

    RPC(assistant, lambda line: said.put(json.loads(line))).serve(lines())
    assert found[0]["success"], found[0]
    return dict(found[0]["data"])


def test_a_project_is_made_shown_changed_and_removed_on_the_command_line(
    strata: Strata, tmp_path: Path
) -> None:
    assert strata("project", "list") == {"projects": []}
    assert strata("project", "add", "garden")["project"] == "garden"
    strata("project", "set", "garden", "instructions", "Be brief.", "Cite.")
    strata("project", "set", "garden", "exclude", "Kompost.md")
    strata("project", "rename", "garden", "Mein Garten 庭")
    (tmp_path / "talk.vtt").write_text(TALK)
    page = strata("project", "add-page", "garden", str(tmp_path / "talk.vtt"))
    assert (page["kind"], page["size"]) == ("transcript", 13)
    found = strata("project", "show", "garden")
    assert found["instructions"] == "Be brief.\nCite."
    assert [note["path"] for note in found["notes"]] == ["Tomatoes.md"]
    assert found["notes"][0]["tokens"] > 0 < found["notes"][0]["l1_tokens"]
    assert found["pages"][0]["l1_tokens"] > found["pages"][0]["tokens"] > 0
    parts = {part["id"]: part["tokens"] for part in found["l1"]["parts"]}
    assert parts["project_instructions"] > 0
    assert max(parts.values()) < found["l1"]["tokens"]
    text = strata("project", "show", "garden", is_json=False)
    assert "Mein Garten 庭" in text
    assert "L1 of a new chat: " in text
    (tmp_path / "talk.vtt").write_text(TALK.replace("tomato", "bean"))
    assert strata("project", "refresh", "garden")["pages"][0]["is_changed"] is True
    (tmp_path / "talk.vtt").unlink()
    assert strata("project", "refresh", "garden", code=1)["pages"][0]["problem"]
    assert strata("project", "remove-page", "garden", page["id"])["id"] == page["id"]
    failed = strata("project", "remove-page", "garden", page["id"], code=1)
    assert failed["error"]["code"] == "not_found"
    assert strata("project", "remove", "Mein Garten 庭") == {"project": "garden"}
    assert strata("project", "list") == {"projects": []}


def test_a_chat_is_moved_and_lists_and_searches_stay_in_the_project(
    strata: Strata, reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    inside = str(result_of(ask(reading, "Which tomato is early?")).session)
    beside = str(result_of(ask(reading, "How is tomato spelled?")).session)
    assert strata("sessions", "move", inside, "--project", "garden")["project"] == "garden"
    listed = strata("sessions", "list", "--project", "garden")["sessions"]
    assert [chat["session"] for chat in listed] == [inside]
    for wide, expected in ((["--project", "garden"], {inside}), ([], {inside, beside})):
        hits = strata("sessions", "search", "tomato", *wide)["hits"]
        assert {hit["session"] for hit in hits} == expected
    assert strata("project", "list")["projects"][0]["chats"] == 1
    hits = request(reading, "search_sessions", text="tomato", project="garden")["hits"]
    assert {hit["session"] for hit in hits} == {inside}
    moved = request(reading, "move_session", session=beside, project=str(small_vault / "garden"))
    assert moved["project"] == "garden"
    assert len(request(reading, "list_sessions", project="garden")["sessions"]) == 2
    assert request(reading, "move_session", session=beside)["project"] is None
    assert strata("sessions", "move", inside)["project"] is None


def test_rpc_does_what_the_command_line_does(reading: Assistant, tmp_path: Path) -> None:
    (tmp_path / "talk.srt").write_text(TALK)
    assert request(reading, "add_project", project="garden")["title"] == "garden"
    request(reading, "set_project", project="garden", key="include", value=["*.md"])
    request(reading, "set_project", project="garden", key="instructions", value="Be brief.")
    page = request(reading, "add_page", project="garden", address=str(tmp_path / "talk.srt"))
    again = request(reading, "refresh_pages", project="garden", addresses=[page["id"]])
    assert [one["id"] for one in again["pages"]] == [page["id"]]
    found = request(reading, "get_project", project="garden")
    assert (found["include"], found["instructions"]) == (["*.md"], "Be brief.")
    assert found["pages"][0]["address"] == page["address"]
    request(reading, "remove_page", project="garden", address=page["address"])
    assert request(reading, "rename_project", project="garden", title="Beds")["title"] == "Beds"
    (listed,) = request(reading, "list_projects")["projects"]
    assert (listed["title"], listed["chats"]) == ("Beds", 0)
    assert request(reading, "remove_project", project="Beds") == {"project": "garden"}
    assert request(reading, "list_projects") == {"projects": []}


def test_related_notes_of_a_project_stay_in_it(strata: Strata, reading: Assistant) -> None:
    strata("index")
    wide = strata("related", "garden/Tomatoes.md", "-k", "9")["notes"]
    assert {"Welcome.md", "garden/Kompost.md"} <= {note["path"] for note in wide}
    inside = strata("related", "garden/Tomatoes.md", "--project", "garden")["notes"]
    assert [note["path"] for note in inside] == ["garden/Kompost.md"]
    outside = strata("related", "Welcome.md", "--project", "garden", code=1)["error"]
    assert outside["message"] == "There is no note Welcome.md in this project."
    found = request(reading, "related", path="garden/Tomatoes.md", project="garden")["notes"]
    assert found == inside


def test_related_notes_of_a_project_outside_the_vault_have_full_paths(
    reading: Assistant, tmp_path: Path
) -> None:
    folder = tmp_path / "Aside"
    folder.mkdir()
    (folder / "One.md").write_text("# One\n\nSee [[Two]].")
    (folder / "Two.md").write_text("# Two\n\nThe second.")
    reading.projects.open_named(str(folder)).update()
    (found,) = reading.find_related(str(folder / "One.md"), project=str(folder))
    assert (found.path, found.is_link_target) == (str(folder / "Two.md"), True)
