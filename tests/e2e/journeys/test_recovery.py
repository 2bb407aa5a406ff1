"""A crash in the middle of an answer, and what the next start shows."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program, wait_until
from tests.support.window.remote_window import Opened
from ui.state import load_state

DRAFT = "A thought that is not sent"


def test_after_a_kill_the_chat_its_answer_and_the_draft_are_back(
    at_home: Opened, server: ModelServer, program: Program
) -> None:
    server.script(Answer("The barrel stands behind the shed, and more.", stall_after=4))
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    window.click("Mode: Vault")
    window.choose("Chat")
    window.click("Message")
    window.type("Where is the barrel?")
    window.press("Return")
    window.wait_for("The barrel stands", under="Chat")
    window.type(DRAFT)
    wait_until(lambda: is_saved(program.home, DRAFT), "the draft on the disk")
    state = program.home / "state" / "window.json"
    wait_until(lambda: bool(load_state(state).session), "the open chat on the disk")
    wait_until(lambda: is_partial_saved(program.home), "the text so far on the disk")
    window.kill()

    server.script(Answer("Behind the shed."))
    window = at_home()
    window.wait_for("Where is the barrel?", under="Chat")
    window.wait_until(lambda: window.read("Message") == DRAFT, "the draft")
    window.wait_for("The barrel stands", under="Chat")
    window.wait_for("The answer broke off: Strata was closed. What had arrived is kept.")
    window.click("Try again")
    window.wait_for("Behind the shed.", under="Chat")
    assert window.read("Message") == DRAFT


def test_a_second_start_hands_its_folder_to_the_first_window(
    at_home: Opened, program: Program, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "Orchard.md").write_text("# Orchard\n\nThe rhubarb ripens early.\n", "utf-8")
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    again = program.with_environ(window.screen.environ).run("--vault", str(other))
    assert (again.code, again.out) == (0, "")
    window.wait("Orchard.md", "TreeItem", "Notes")
    window.wait("Folder of notes: other")
    assert window.child.poll() is None


def is_saved(home: Path, text: str) -> bool:
    """Return whether any of the program's own files holds a text."""
    return any(text in file.read_text("utf-8") for file in home.rglob("*.json"))


def is_partial_saved(home: Path) -> bool:
    """Return whether the program has stored the part of an answer that has arrived."""
    (file,) = home.rglob("state.db")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        (count,) = database.execute("SELECT count(*) FROM partial_answer").fetchone()
    return bool(count)
