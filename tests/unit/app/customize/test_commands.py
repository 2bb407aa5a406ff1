"""The user's own commands, from their files to the message that is sent."""

from pathlib import Path

import pytest

from app.assistant import Assistant
from app.commands import CommandResult, Situation, parse, run
from app.customize.commands import MessageDraft, OpenPlace, list_user_commands
from app.errors import InvalidRequest, NotFound
from chains.request.ask import Selection
from tests.support.sessions.turns import ask, result_of


def put(assistant: Assistant, name: str, text: str) -> None:
    folder = assistant.paths.commands
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")


def given(
    assistant: Assistant, text: str, place: OpenPlace | None = None, session: str | None = None
) -> CommandResult:
    parsed = parse(text, list_user_commands(assistant.paths.commands))
    assert parsed is not None
    return run(assistant, Situation(session, "vault", None, place or OpenPlace()), *parsed)


def test_a_file_is_a_command_and_its_placeholders_are_attached(reading: Assistant) -> None:
    result_of(ask(reading, "Where is the barrel?"))  # indexes the notes
    put(reading, "weekly.md", "Compare {activeNote} with {[[Tomatoes]]} and {#start}.\n")
    made = given(reading, "/weekly In German.", OpenPlace("Watering.md")).message
    assert made == MessageDraft(
        "Compare Watering.md with garden/Tomatoes.md and #start.\n\nIn German.",
        ("Watering.md", "garden/Tomatoes.md", "#start"),
    )
    sent = result_of(ask(reading, made.text, attach=made.attach))
    assert {"Watering.md", "garden/Tomatoes.md"} <= {
        segment["source"] for segment in sent.context["segments"] if segment["layer"] == "L3"
    }


def test_selected_lines_are_attached(assistant: Assistant) -> None:
    put(assistant, "explain.md", "Explain {selection}.")
    made = given(assistant, "/explain", OpenPlace("a.md", (3, 5))).message
    assert made == MessageDraft("Explain a.md (lines 3 to 5).", (), (Selection("a.md", 3, 5),))
    with pytest.raises(InvalidRequest, match="needs selected lines"):
        given(assistant, "/explain", OpenPlace("a.md"))


def test_what_is_missing_is_named(reading: Assistant) -> None:
    put(reading, "one.md", "About {activeNote}.")
    put(reading, "two.md", "About {[[Nowhere]]}.")
    with pytest.raises(InvalidRequest, match="needs an open note"):
        given(reading, "/one")
    with pytest.raises(NotFound, match="Nowhere, which does not exist"):
        given(reading, "/two")


def test_only_readable_files_with_a_name_are_commands(assistant: Assistant) -> None:
    put(assistant, "good.md", "# Heading\nText")
    put(assistant, "empty.md", " \n")
    put(assistant, "two words.md", "x")
    put(assistant, "other.txt", "x")
    put(assistant, "new.md", "Never used, since /new is a command of Strata.")
    (assistant.paths.commands / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (assistant.paths.commands / "folder.md").mkdir()
    found = list_user_commands(assistant.paths.commands)
    assert [command.name for command in found] == ["good", "new"]
    assert found[0].help == "Heading"
    assert given(assistant, "/new").begins_chat
    assert "/good" in given(assistant, "/help").markdown


def test_a_mode_and_a_model_are_chosen_by_name(assistant: Assistant) -> None:
    assert given(assistant, "/mode Agent").mode == "agent"
    assert "The mode is vault" in given(assistant, "/mode").markdown
    with pytest.raises(InvalidRequest, match="/mode takes one of"):
        given(assistant, "/mode nothing")
    assert given(assistant, "/model openai/gpt-4o").model == "openai/gpt-4o"
    assert "| **extractive** |" in given(assistant, "/model").markdown
    with pytest.raises(NotFound, match="No service has a model named nonsense"):
        given(assistant, "/model nonsense")


def test_a_chat_is_exported_to_a_new_file_each_time(reading: Assistant) -> None:
    assert "nothing to export" in given(reading, "/export").markdown
    chat = result_of(ask(reading, "Where is the barrel?", attach=("Watering.md",))).session
    files = [given(reading, "/export", session=chat).markdown.split("`")[1] for _ in range(2)]
    first, second = map(Path, files)
    assert (first.name, second.name) == ("Where is the barrel.md", "Where is the barrel 2.md")
    text = first.read_text("utf-8")
    assert text.startswith("# Where is the barrel?\n\n## You\n\nWhere is the barrel?\n")
    assert "Attached: Watering.md" in text
    assert "\nSources:\n\n- **[1]** Watering.md" in text
    assert first.stat().st_mode & 0o077 == 0
    kept = Path(given(reading, "/export json", session=chat).markdown.split("`")[1])
    assert kept.suffix == ".json"
