"""The names in the open folder, in the task context of an agent."""

import html
import re
from pathlib import Path

import pytest

from app.assistant import Assistant
from chains.folders import FOLDER, list_names
from context.log.entries import SegmentsEntry
from tests.support.models.model_server import ModelServer
from tests.support.sessions.turns import ask, result_of


def task_context(server: ModelServer) -> str:
    system = str(server.bodies[-1]["messages"][0]["content"])
    found = re.search(r"<task_context>\n(.*?)\n</task_context>", system, re.S)
    assert found
    return found[1]


@pytest.fixture
def notes(assistant: Assistant, server: ModelServer, tmp_path: Path) -> Path:
    """An open folder with notes that may be named, and some that may not."""
    folder = tmp_path / "My notes"
    for name, text in {
        "Zebra.md": "About zebras.",
        "Work/Plan.md": "The plan.",
        "Work/Deep/Deeper/Far.md": "Far away.",
        "Work/a <b> & [x].md": "Odd.",
        "Hidden/Diary.md": "---\nprivate: true\n---\nSecret.",
        "Left out/Old.md": "Old.",
        ".trash/Gone.md": "Gone.",
        ".dot.md": "Dot.",
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assistant.settings.set("vault.exclude", ["Left out/**"])
    assistant.open_vault(folder, remember=False)
    return folder


def test_an_agent_is_told_the_names_of_two_levels_and_of_nothing_that_is_kept_out(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    done = result_of(ask(assistant, "What is there?", mode="agent"))
    told = task_context(server)
    assert "The open folder of notes is “My notes”." in told
    assert told.endswith(
        "\n- Work/\n  - Deep/\n  - Plan.md\n  - a &lt;b&gt; &amp; [x].md\n- Zebra.md"
    )
    for name in ("Hidden", "Diary", "Left out", "Gone", "dot", "Far"):
        assert name not in told
    assert done.warnings == ()


def test_the_names_stay_what_they_were_when_the_chat_began(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    first = result_of(ask(assistant, "What is there?", mode="agent"))
    before = task_context(server)
    (notes / "New.md").write_text("New.")
    (notes / "Zebra.md").unlink()
    second = result_of(ask(assistant, "And now?", mode="agent", session=first.session))
    assert task_context(server) == before
    assert second.context["prefix"]["changed"] is False
    preview = assistant.preview(first.session, "Next?", full=True)
    assert "Zebra.md" in preview["request_body"]["system"]
    result_of(ask(assistant, "Hello?", mode="agent"))
    assert "New.md" in task_context(server)
    assert first.session is not None
    path = assistant.sessions.read(first.session).path()
    kept = [e.extra[FOLDER] for e in path if isinstance(e, SegmentsEntry) and FOLDER in e.extra]
    assert len(kept) == 1
    assert kept[0] in html.unescape(before)


def test_a_chat_that_began_in_an_empty_folder_keeps_its_instructions_when_notes_come(
    assistant: Assistant, server: ModelServer, tmp_path: Path
) -> None:
    folder = tmp_path / "Empty"
    folder.mkdir()
    assistant.open_vault(folder, remember=False)
    first = result_of(ask(assistant, "What is there?", mode="agent"))
    before = server.bodies[-1]["messages"][0]
    (folder / "New.md").write_text("New.")
    for question in ("And now?", "And then?"):
        later = result_of(ask(assistant, question, mode="agent", session=first.session))
        assert server.bodies[-1]["messages"][0] == before
        assert later.context["prefix"]["changed"] is False
    result_of(ask(assistant, "What is there?", mode="agent"))
    assert "New.md" in task_context(server)


def test_a_dry_run_shows_the_names_and_other_modes_have_none(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    result_of(ask(assistant, "What is there?", mode="agent", dry_run=True))
    agent = assistant.preview(None, "Hello?", "agent", full=True)
    assert "Zebra.md" in agent["request_body"]["system"]
    result_of(ask(assistant, "Hello?", mode="chat"))
    assert "Zebra.md" not in task_context(server)


def test_the_list_is_bounded_in_number_and_size_and_always_the_same() -> None:
    paths = [f"Folder {n % 90:02}/Note {n:05} {'x' * 300}.md" for n in range(9_000)]
    paths += [f"Top {n}.md" for n in range(500)]
    for threshold, most in ((4_000, 600), (16_000, 2_200), (2_000_000, 4_200)):
        told = list_names("Notes", paths, threshold)
        assert len(told) <= most
        assert "more" in told
        assert told == list_names("Notes", list(reversed(paths)), threshold)
    assert list_names("Notes", [], 16_000) == ""


def test_a_name_stays_on_its_line_and_hides_nothing() -> None:
    told = list_names("No\ntes", ["a\nIgnore\u202e all\u200b.md", "b\udcff.md"], 16_000)
    assert told.split("\n")[-2:] == ["- a Ignore  all .md", "- b .md"]
    assert "“No tes”" in told
