"""`strata project`, moving a chat to a project, and the same over RPC."""

import json
import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from app.errors import NotFound
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


def test_a_project_is_found_by_folder_before_title_by_each_action(
    strata: Strata, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("other", "proj", "third"):
        (small_vault / name).mkdir()
        strata("project", "add", name)
    strata("project", "rename", "other", "proj")
    assert strata("project", "rename", "proj", "Zwei  Beete") == {
        "project": "proj",
        "title": "Zwei Beete",
    }
    assert strata("project", "show", "Zwei Beete")["project"] == "proj"
    assert strata("project", "set", "Zwei Beete", "model", "m")["project"] == "proj"
    monkeypatch.chdir(small_vault / "third")
    monkeypatch.setenv("HOME", str(small_vault))
    for named in ("proj/", "./proj", "../proj", str(small_vault / "proj"), "~/proj"):
        assert strata("project", "remove", named) == {"project": "proj"}, named
        strata("project", "add", "proj")
    (small_vault / "proj").rmdir()
    assert strata("project", "remove", "proj/") == {"project": "proj"}, "its folder is gone"


def test_a_folder_off_the_list_is_not_taken_for_the_title_of_another_project(
    strata: Strata, small_vault: Path
) -> None:
    (small_vault / "other").mkdir()
    strata("project", "add", "other")
    strata("project", "rename", "other", "garden")
    refused = strata("project", "remove", "garden", code=1)["error"]
    assert refused["code"] == "not_found"
    assert "strata project add garden" in refused["hint"]
    assert [one["project"] for one in strata("project", "list")["projects"]] == ["other"]


def test_a_title_of_two_projects_is_refused_with_their_folders(
    strata: Strata, reading: Assistant, small_vault: Path
) -> None:
    for name in ("one", "two"):
        (small_vault / name).mkdir()
        strata("project", "add", name)
        strata("project", "rename", name, "Beds")
    for argv in (
        ("remove", "Beds"),
        ("rename", "Beds", "New"),
        ("show", "Beds"),
        ("refresh", "Beds"),
    ):
        error = strata("project", *argv, code=1)["error"]
        assert error["code"] == "bad_request"
        assert str(small_vault / "one") in error["hint"]
        assert str(small_vault / "two") in error["hint"]
    assert len(request(reading, "list_projects")["projects"]) == 2


@pytest.mark.parametrize("named", ["~nobody-here/x", "a\0b", "Nothing", "garden/Tomatoes.md"])
def test_what_is_no_project_is_refused_with_one_sentence(reading: Assistant, named: str) -> None:
    for look in (reading.projects.find, reading.projects.find_listed):
        with pytest.raises(NotFound):
            look(named)


@pytest.mark.parametrize("key", ["include", "model", "instructions"])
def test_a_setting_does_not_put_a_folder_on_the_list_of_projects(
    strata: Strata, reading: Assistant, key: str
) -> None:
    strata("project", "set", "garden", key, "x")
    value = ["y"] if key == "include" else "y"
    request(reading, "set_project", project="garden", key=key, value=value)
    assert strata("project", "list") == {"projects": []}
    strata("project", "add", "garden")
    assert len(strata("project", "list")["projects"]) == 1
    assert "y" in str(strata("project", "show", "garden")[key]), "what was set is kept"


def test_a_kept_transcript_is_named_by_its_listed_address_or_any_path(
    strata: Strata, small_vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = small_vault / "garden" / "talk.vtt"
    talk.write_text(TALK)
    for folder, named in ((small_vault, "garden/talk.vtt"), (talk.parent, "talk.vtt")):
        monkeypatch.chdir(folder)
        page = strata("project", "add-page", "garden", named)
        assert page["address"] == "garden/talk.vtt"
        for other in (page["address"], named, str(talk), "./" + named, page["id"]):
            assert strata("project", "refresh", "garden", other)["pages"][0]["id"] == page["id"]
        assert strata("project", "remove-page", "garden", named)["id"] == page["id"]
    strata("project", "add-page", "garden", "talk.vtt")
    talk.unlink()
    assert strata("project", "remove-page", "garden", "talk.vtt")["id"] == page["id"]
    monkeypatch.chdir(tmp_path)
    Path("away.srt").write_text(TALK)
    away = strata("project", "add-page", "garden", "away.srt")
    assert away["address"] == str(tmp_path / "away.srt")
    Path("away.srt").unlink()
    assert strata("project", "remove-page", "garden", "away.srt")["id"] == away["id"]


def test_a_hidden_transcript_is_kept_once_the_user_agrees(
    strata: Strata, small_vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / ".hid" / "t.txt"
    hidden.parent.mkdir()
    hidden.write_text("Hello walrus\n")
    refused = strata("project", "add-page", "garden", str(hidden), code=1)["error"]
    agreed = refused["hint"].rpartition(" ")[2]
    assert agreed == f"hidden:{hidden}"
    page = strata("project", "add-page", "garden", agreed)
    assert page["size"] == 13
    assert strata("project", "show", "garden")["pages"][0]["l1_tokens"] > 0, "models are given it"
    for named in (page["address"], agreed, str(hidden), page["id"]):
        assert strata("project", "refresh", "garden", named)["pages"][0]["problem"] == ""
    assert strata("project", "remove-page", "garden", agreed)["id"] == page["id"]
    monkeypatch.chdir(hidden.parent)
    strata("project", "add-page", "garden", "hidden:t.txt")
    assert strata("project", "refresh", "garden", "t.txt")["pages"][0]["problem"] == ""
    (small_vault / ".talk.txt").write_text("Inside\n")
    strata("project", "remove-page", "garden", "t.txt")
    inside = strata("project", "add-page", "garden", "hidden:.talk.txt")
    for named in (".talk.txt", inside["address"]):
        assert strata("project", "refresh", "garden", named)["pages"][0]["problem"] == ""
    text = strata("project", "show", "garden", is_json=False)
    assert "Web pages and transcripts: 1\n" in text


def test_a_refresh_that_fails_has_found_no_change(strata: Strata, tmp_path: Path) -> None:
    talk = tmp_path / "talk.vtt"
    talk.write_text(TALK)
    strata("project", "add-page", "garden", str(talk))
    talk.write_text(TALK.replace("tomato", "bean"))
    assert strata("project", "refresh", "garden")["pages"][0]["is_changed"] is True
    talk.unlink()
    (lost,) = strata("project", "refresh", "garden", code=1)["pages"]
    assert (bool(lost["problem"]), lost["is_changed"]) == (True, False)
    assert "(changed)" not in strata("project", "show", "garden", is_json=False)
