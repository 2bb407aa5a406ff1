"""What an answer says of notes that have changed since."""

import json
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.cli import text as cli_text
from app.sessions.transcript import AnswerItem
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of


@pytest.fixture
def session(reading: Assistant, server: ModelServer) -> str:
    """A chat with an answer that cites the note about watering."""
    server.script(Answer("The barrel holds 210 litres [1]."))
    result = result_of(ask(reading, "How much does the barrel hold?", attach=("Watering.md",)))
    assert result.session is not None
    return result.session


def calling(name: str, **given: str) -> Answer:
    return Answer("", calls=((f"c-{name}", name, json.dumps(given)),))


def last_answer(assistant: Assistant, session: str) -> AnswerItem:
    answer = assistant.history.transcript(session).items[-1]
    assert isinstance(answer, AnswerItem)
    return answer


def test_a_note_that_is_as_it_was_is_not_mentioned(reading: Assistant, session: str) -> None:
    assert last_answer(reading, session).changed == ()


def test_a_cited_note_that_changed_is_shown_with_its_change(
    reading: Assistant, session: str, small_vault: Path
) -> None:
    note = small_vault / "Watering.md"
    note.write_text(note.read_text("utf-8").replace("210 litres", "300 litres"), "utf-8")
    (changed,) = last_answer(reading, session).changed
    assert changed.sentence == "Watering.md has changed since this answer."
    lines = changed.diff.splitlines()
    removed = "-Water the beds before eight in the morning. The barrel behind the shed holds "
    assert f"{removed}210 litres." in lines
    assert f"+{removed[1:]}300 litres." in lines
    assert not any("winter" in line for line in lines if line[0] in "+-")
    shown = "\n".join(cli_text.transcript(reading.history.transcript(session)))
    assert "! Watering.md has changed since this answer." in shown


def test_text_that_is_added_elsewhere_changes_no_citation(
    reading: Assistant, session: str, small_vault: Path
) -> None:
    note = small_vault / "Watering.md"
    note.write_text(f"{note.read_text('utf-8')}\nMore.\n", "utf-8")
    assert last_answer(reading, session).changed == ()


def test_a_cited_note_that_is_gone_or_private_is_named(
    reading: Assistant, session: str, small_vault: Path
) -> None:
    (small_vault / "Watering.md").unlink()
    (changed,) = last_answer(reading, session).changed
    assert (changed.sentence, changed.diff) == (
        "Watering.md is gone, or may not be read any more.",
        "",
    )


def test_no_note_is_called_gone_while_the_folder_cannot_be_reached(
    reading: Assistant, session: str, small_vault: Path
) -> None:
    elsewhere = small_vault.rename(small_vault.with_name("elsewhere"))
    assert last_answer(reading, session).changed == ()
    elsewhere.rename(small_vault)
    (small_vault / "Watering.md").unlink()
    assert "is gone" in last_answer(reading, session).changed[0].sentence


def test_what_the_answers_own_agent_changed_is_not_reported(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    edit = {"path": "Watering.md", "old": "210 litres", "new": "300 litres"}
    reading.agents.connect(None, "all")
    reading.settings.set("chat.model", "gpt-4o")
    server.script(
        calling("read_note", path="Watering.md"),
        calling("edit_note", **edit),
        calling("edit_note", **{**edit, "old": "300 litres", "new": "320 litres"}),
        calling("move_note", path="Watering.md", to="garden"),
        Answer("The barrel holds 320 litres now [1]."),
    )
    answered = result_of(ask(reading, "Correct it.", mode="agent"))
    session = answered.session
    assert session is not None
    note = small_vault / "garden" / "Watering.md"
    assert "320 litres" in note.read_text("utf-8")
    answer = last_answer(reading, session)
    assert [citation.path for citation in answer.answer.checked.citations] == ["Watering.md"]
    assert answer.changed == ()
    note.write_text(note.read_text("utf-8").replace("320 litres", "400 litres"), "utf-8")
    (changed,) = last_answer(reading, session).changed
    assert [line for line in changed.diff.splitlines() if "litres" in line and line[0] in "+-"] == [
        f"{mark}Water the beds before eight in the morning. The barrel behind the shed holds "
        f"{litres} litres."
        for mark, litres in (("-", 320), ("+", 400))
    ]


def test_a_note_of_a_project_outside_the_vault_is_compared_too(
    reading: Assistant, server: ModelServer, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    note = project / "Well.md"
    note.write_text("# Well\n\nThe well is nine metres deep.\n", "utf-8")
    reading.settings.set("project.includeText", "never")
    server.script(Answer("It is nine metres deep [1]."))
    asked = ask(reading, "How deep is the well?", mode="project", project=str(project))
    session = result_of(asked).session
    assert session is not None
    assert last_answer(reading, session).answer.checked.citations
    assert last_answer(reading, session).changed == ()
    note.write_text("# Well\n\nThe well is ten metres deep.\n", "utf-8")
    (changed,) = last_answer(reading, session).changed
    assert "+The well is ten metres deep." in changed.diff
    note.unlink()
    assert "is gone" in last_answer(reading, session).changed[0].sentence


def test_a_chat_of_other_notes_is_compared_with_nothing(
    reading: Assistant, session: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    reading.open_vault(other, remember=False)
    assert last_answer(reading, session).changed == ()
