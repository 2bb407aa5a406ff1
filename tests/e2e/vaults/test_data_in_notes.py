"""Pictures and drawings in the text of notes reach neither the index nor a model."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program

DATA = base64.b64encode(b"".join(hashlib.sha256(bytes([n])).digest() for n in range(90))).decode()
NOTES = {
    "Photo.md": f"# Photo\n\n![p](data:image/png;base64,{DATA})\n\nIt shows the old mill.\n",
    "Drawing.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n# Text Elements\n"
    f"Pump in the cellar ^a1b2c3d4\n\n%%\n# Drawing\n```compressed-json\n{DATA}\n```\n%%\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


def test_no_door_hands_out_the_data_of_a_note(
    notes: Path,
    program: Program,
    asking: Callable[[Program], Program],
    server: ModelServer,
) -> None:
    program = Program(program.home, ("--vault", str(notes)))
    assert program.run("index").code == 0
    found = program.json("search", "mill pump cellar photo drawing")["hits"]
    shown = "\n".join(hit["text"] for hit in found)
    assert "It shows the old mill." in shown
    assert "Pump in the cellar" in shown
    assert DATA[:30] not in shown

    attached = [word for name in NOTES for word in ("--attach", str(notes / name))]
    asking(program).json("ask", "What is shown?", "--mode", "chat", *attached)
    server.script(
        Answer("", calls=(("c1", "read_note", '{"path": "Photo.md"}'),)),
        Answer("", calls=(("c2", "grep_notes", '{"pattern": "data:image"}'),)),
        Answer("The old mill."),
    )
    asking(program).json("ask", "What does it show?", "--mode", "agent")
    sent = [json.dumps(body) for body in server.bodies]
    assert len(sent) == 4
    assert all(DATA[:30] not in body for body in sent)
    assert "It shows the old mill." in sent[0]
    assert "Pump in the cellar" in sent[0]
    assert sent[0].count("characters of data left out") == 2
    assert "characters of data left out" in sent[-1]
