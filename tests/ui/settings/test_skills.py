"""The skills in the settings: they are listed, read, and accepted."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.conftest import write_notes
from tests.support.window.clicks import button_named, click_button, click_row
from tests.support.window.settings_dialog import open_settings
from ui.settings.skills import SkillDialog
from ui.tasks import TaskRunner

SKILL = "---\nname: {}\ndescription: Write a review.\n---\nLook at seven days.\u200b\n"


@pytest.fixture
def skills(assistant: Assistant, tmp_path: Path) -> Assistant:
    notes = write_notes(tmp_path / "notes")
    own, of_notes = assistant.paths.skills / "mine", notes / ".agents" / "skills" / "tidy"
    for folder in (own, of_notes, assistant.paths.skills / "bad"):
        folder.mkdir(parents=True)
        text = "No front matter." if folder.name == "bad" else SKILL.format(folder.name)
        (folder / "SKILL.md").write_text(text, "utf-8")
    (of_notes / "steps.txt").write_text("1. Read.")
    assistant.open_vault(notes, remember=False)
    return assistant


def test_a_skill_of_the_notes_is_read_and_accepted(
    skills: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    with open_settings(skills, runner, qtbot) as dialog:
        click_row(dialog.pages, "Prompts")
        said = [one.text() for one in dialog.skills.findChildren(QLabel) if " · " in one.text()]
        assert said[0].startswith("bad · Its SKILL.md does not begin with a name")
        assert "mine · used (yours)" in said
        assert "tidy · not used until you accept it (of these notes)" in said
        assert not button_named(dialog, "Read the skill bad").isEnabled()
        button_named(dialog, "Read the skill tidy").click()  # it may be below the fold
        shown = QApplication.activeModalWidget()
        assert isinstance(shown, SkillDialog)
        text = shown.text.toPlainText()
        assert "Look at seven days.\\u{200b}" in text
        assert "1. Read." in text
        click_button(shown, "Accept")
        qtbot.waitUntil(lambda: skills.customization.skills.find("tidy").state == "used")
        said = [one.text() for one in dialog.skills.findChildren(QLabel)]
        assert "tidy · used (of these notes)" in said
