"""Edits of notes by an agent in one process, and their undo in another."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program


def test_edits_that_are_all_approved_are_undone_later_but_a_brake_still_holds(
    program: Program, asking: Callable[[Program], Program], server: ModelServer, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    long = notes / "Long.md"
    long.write_bytes(b"\xef\xbb\xbf" + b"A line to keep.\r\n" * 40)
    before = {path: path.read_bytes() for path in notes.rglob("*.md")}
    program = asking(Program(program.home, ("--vault", str(notes))))
    edits = [
        ("create_note", {"path": "New/Plan.md", "text": "See [[Long]].\n"}),
        ("append_to_note", {"path": "Long.md", "text": "And one more."}),
        ("move_note", {"path": "Long.md", "to": "New/Longer.md"}),
        ("edit_note", {"path": "New/Longer.md", "old": "one more.", "new": "another one."}),
        ("edit_note", {"path": "New/Longer.md", "old": "A line to keep.\n" * 40, "new": ""}),
    ]
    calls = [(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(edits)]
    server.script(Answer("", calls=tuple(calls)), Answer("Done."))
    options = ("--mode", "agent", "--approve", "all", "--no-index")
    result = program.json("ask", "Make a plan.", *options)
    assert [tool["status"] for tool in result["tools"]] == ["ok"] * 4 + ["denied"]
    assert (notes / "New/Plan.md").read_text() == "See [[Longer]].\n"
    assert (notes / "New/Longer.md").read_bytes() == before[long] + b"\r\nAnd another one.\r\n"
    assert [note["path"] for note in result["edits"]["notes"]] == ["New/Longer.md", "New/Plan.md"]
    undone = program.json("undo", "--run", result["edits"]["run"])
    assert undone["run"] == result["edits"]["run"]
    assert {path: path.read_bytes() for path in notes.rglob("*.md")} == before
    assert not (notes / "New").exists()
