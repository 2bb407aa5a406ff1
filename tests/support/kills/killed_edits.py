"""A process that edits notes and undoes the edits, killed before every third file operation.

`python -m tests.support.kills.killed_edits FOLDER` forks a child for each of these operations.
After the child is killed, another process undoes its run, and everything that is then wrong is
printed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from vault.edits.editor import NoteEditor
from vault.edits.journal import EditJournal, EditRun
from vault.errors import UndoRefused

NOTES = {"a.md": "one\r\ntwo\r\n", "b.md": "[[a]] and [t](a.md)\n", "c.md": "\ufeffthree\n"}
OPERATIONS = ("open", "write", "fsync", "replace", "link", "unlink", "rename", "mkdir", "rmdir")
RUN = EditRun("run")


def kill_edits(folder: Path) -> list[dict[str, Any]]:
    """Kill the edits before every third operation, and return the losses of each trial."""
    command = [sys.executable, "-m", __name__, str(folder)]
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    return [json.loads(line) for line in done.stdout.splitlines()]


def make_home(folder: Path, number: int) -> Path:
    """Create a home folder with notes."""
    home = folder / f"home{number}"
    (home / "notes").mkdir(parents=True)
    for name, text in NOTES.items():
        (home / "notes" / name).write_bytes(text.encode())
    return home


def edit_and_undo(home: Path) -> None:
    """Make edits of every kind in one run and undo them."""
    editor = NoteEditor(home / "notes", EditJournal(home / "edits"))
    editor.apply(editor.plan_append("c.md", "four"), RUN)
    editor.apply(editor.plan_move("a.md", "new/a2.md"), RUN)
    editor.apply(editor.plan_create("new/d.md", "made"), RUN)
    editor.history.undo_run("run")


def run_until_killed(home: Path, last: int) -> bool:
    """Run the edits in a child that is killed before an operation; return whether it got there."""
    child = os.fork()
    if child == 0:
        count = 0

        def build(name: str) -> Any:
            real = getattr(os, name)

            def operate(*args: Any, **named: Any) -> Any:
                nonlocal count
                if name != "open" or args[1] & os.O_CREAT:
                    count += 1
                if count == last:
                    if name == "write":
                        real(args[0], bytes(args[1])[: len(args[1]) // 2])
                    os._exit(9)
                return real(*args, **named)

            return operate

        for name in OPERATIONS:
            setattr(os, name, build(name))
        edit_and_undo(home)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def list_losses(home: Path) -> list[str]:
    """Undo the run of a killed process, and return what differs from before the run."""
    history = NoteEditor(home / "notes", EditJournal(home / "edits")).history
    losses = []
    try:
        history.undo_run("run")
    except UndoRefused as error:
        if error.paths:
            losses.append(str(error))
    history.remove_leftovers()
    notes = home / "notes"
    found = {
        path.relative_to(notes).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in notes.rglob("*")
    }
    if found != {name: text.encode() for name, text in NOTES.items()}:
        losses.append(f"left: {found}")
    return losses


def main(folder: Path) -> None:
    """Run a trial for every third operation."""
    os.fsync = lambda _handle: None  # not needed: data written by a killed process is not lost
    edit_and_undo(make_home(folder, -1))  # imports everything, so that the children need not
    number, was_killed = -2, True
    while was_killed:
        number += 3
        home = make_home(folder, number)
        was_killed = run_until_killed(home, number)
        print(json.dumps({"at": number, "losses": list_losses(home)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
