"""The first five minutes with notes: read one, tick a task, make a project, pin a question."""

from pathlib import Path

import pytest

from tests.support.window.remote_window import Opened, RemoteWindow

NOTE = """\
# Garden plan

Euler wrote $e^{i\\pi} + 1 = 0$, and the sum is

$$\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}$$

![[Barrel#Size]]

- [ ] Buy seeds

```base
views:
  - {type: list, name: Everything, filters: file.folder.contains("garden")}
  - {type: list, name: Water, filters: 'file.name.contains("Barrel")'}
```
"""
TALK = "1\n00:00:01,000 --> 00:00:04,000\nThe hose leaks at the tap.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder in a folder of notes, as a typed path leads through."""
    folder = tmp_path / "home notes" / "garden"
    folder.mkdir(parents=True)
    (folder / "Plan.md").write_text(NOTE, "utf-8")
    (folder / "Barrel.md").write_text("# Barrel\n\n## Size\n\nIt holds 200 litres.\n", "utf-8")
    return folder.parent


def choose_folder(window: RemoteWindow, folder: Path) -> None:
    """Type a path into the folder chooser, which lists the folders on the way meanwhile."""
    window.click("Directory:", "EditableText")
    window.press("ctrl+a")
    window.type(str(folder))
    window.wait(folder.name, "ListItem")
    window.press("Return")


def test_a_note_a_task_a_project_and_a_pinned_question_from_a_fresh_home(
    open_window: Opened, notes: Path, tmp_path: Path
) -> None:
    window = open_window()
    window.wait_for("Where are your notes?")
    window.click_at(window.find("Settings", "Button")[0].middle)  # behind the dialog
    window.click("Choose a folder…")
    choose_folder(window, notes)
    window.wait_for("Which model answers?")
    assert not window.find("Settings", "Dialog")
    window.press("Escape")
    window.wait_until_gone("Which model answers?")
    window.wait(f"Folder of notes: {notes.name}")

    window.click("garden", "TreeItem", "Notes")
    window.click("Plan.md", "TreeItem", "Notes")
    window.wait_for("It holds 200 litres.", under="Note")
    window.wait_for("Water", under="Note")
    window.click_words("Euler", under="Note")
    window.press("Tab")
    window.wait_for("Task, open: Buy seeds")
    window.press("space")
    plan = notes / "garden" / "Plan.md"
    window.wait_until(lambda: "- [x] Buy seeds" in plan.read_text("utf-8"), "the tick")
    window.click("Undo")
    window.wait_until(lambda: plan.read_text("utf-8") == NOTE, "the note as before")

    window.click("Open a folder as a project")
    choose_folder(window, notes / "garden")
    window.click(f"Project: garden, folder {notes / 'garden'}")
    (tmp_path / "talk.srt").write_text(TALK, "utf-8")
    window.click("Address of a web page or transcript")
    window.type(str(tmp_path / "talk.srt"))
    window.press("Return")
    window.wait_for("talk.srt is kept.")
    window.click("Back to the chat")

    window.click("Message")
    window.type("open tasks")
    window.click("Pin the question in the message box")
    window.wait_for("1 open task matches; searched all 2 notes", "Pinned answers")
    plan.write_text(NOTE + "- [ ] Mend the hose\n", "utf-8")
    window.wait_for("2 open tasks match; searched all 2 notes, 1 new", "Pinned answers")
    window.click("open tasks", "TreeItem", "Pinned answers")
    window.click("Mend the hose", "TreeItem", "Pinned answers")
    window.wait_for("Mend the hose", under="Note")
    assert window.close() == 0
