"""No absolute path reaches a model, and citations of files outside the notes still open them."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc

TurnRunner = Callable[[Program], Program]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A vault, and a project outside it with two notes of the same name."""
    vault, project = tmp_path / "vault", tmp_path / "Elsewhere" / "Orchard"
    for folder, name in (("North", "Rows"), ("South", "Rows")):
        (project / folder).mkdir(parents=True)
        (project / folder / f"{name}.md").write_text(f"# Rows\n\nThe {folder} rows are quinces.\n")
    (project / "Plan.md").write_text("# Plan\n\nSee [[North/Rows]]. They are picked in autumn.\n")
    vault.mkdir()
    (vault / "note.md").write_text("# Note\n\nA note.\n")
    return vault, project


def find_places(server: ModelServer, folder: Path) -> list[str]:
    """Return the texts around each place where a folder is named in what the server was sent."""
    text = sent(server)
    places = [found.start() for found in re.finditer(re.escape(str(folder)), text)]
    return [text[max(0, place - 80) : place + 120] for place in places]


def sent(server: ModelServer) -> str:
    """Return everything that the server was sent so far."""
    return json.dumps(server.bodies, ensure_ascii=False)


@pytest.mark.parametrize("includes_text", ["never", "auto"])
def test_a_project_outside_the_notes_is_named_by_relative_paths(
    includes_text: str,
    program: Program,
    asking: TurnRunner,
    server: ModelServer,
    folders: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    vault, project = folders
    server.script(Answer("The north rows are quinces [1]."))
    options = ("--vault", str(vault), "--set", f"project.includeText={includes_text}")
    rpc = Rpc(asking(Program(program.home, options)))
    rpc.do("new_session", project=str(project))
    first = rpc.turn("prompt", text="What are the north rows?", mode="project")
    cited = [Path(one["path"]) for one in first["citations"]]
    assert cited == ([] if includes_text == "auto" else [project / "North" / "Rows.md"])
    rpc.turn("prompt", text="And in autumn?", mode="project")
    rpc.do("compact")
    rpc.turn("prompt", text="And in the south?", mode="project")
    rpc.close()
    assert "North/Rows.md" in sent(server)
    assert find_places(server, tmp_path) == []


def test_an_agent_of_such_a_project_uses_relative_paths(
    program: Program,
    asking: TurnRunner,
    server: ModelServer,
    folders: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    vault, project = folders
    asked = [
        ("list_folder", {}),
        ("list_folder", {"path": "nowhere"}),
        ("search_notes", {"query": "quinces"}),
        ("read_note", {"path": "South/Rows.md"}),
        ("read_note", {"path": "South/None.md"}),
        ("read_note", {"path": "../../vault/note.md"}),
        ("read_note", {"path": "/etc/passwd"}),
        ("get_links", {"path": "North/Rows.md"}),
        ("grep_notes", {"pattern": "quinces"}),
        ("recent_notes", {}),
        ("move_note", {"path": "Plan.md", "to": "/Plan.md"}),
        ("edit_note", {"path": "None.md", "old": "a", "new": "b"}),
        ("create_note", {"path": "../x.md", "text": "x"}),
        ("create_note", {"path": "North/Rows.md", "text": "x"}),
    ]
    calls = [(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(asked)]
    server.script(Answer("", calls=tuple(calls)), Answer("The south rows are quinces [1]."))
    rpc = Rpc(asking(Program(program.home, ("--vault", str(vault)))))
    rpc.do("new_session", project=str(project))
    result = rpc.turn("prompt", text="Look around.", mode="agent")
    rpc.close()
    statuses = {tool["arguments"].get("path"): tool["status"] for tool in result["tools"]}
    assert statuses["South/Rows.md"] == "ok"
    assert Path(result["citations"][0]["path"]).is_relative_to(project)
    assert "Links to North/Rows.md:\nPlan.md, line 3" in sent(server).replace("\\n", "\n")
    assert "South/Rows.md" in sent(server)
    assert find_places(server, tmp_path) == []


def test_files_attached_from_outside_are_named_without_their_folder(
    program: Program, asking: TurnRunner, server: ModelServer, folders: tuple[Path, Path]
) -> None:
    vault, project = folders
    plan = project / "Plan.md"
    server.script(Answer("They are picked in autumn [1]."))
    rpc = Rpc(asking(Program(program.home, ("--vault", str(vault)))))
    first = rpc.turn("prompt", text="When?", mode="chat", attach=[str(plan)])
    assert Path(first["citations"][0]["path"]) == plan
    rpc.turn("prompt", text="And then?", mode="chat")
    plan.write_text("# Plan\n\nQuinces are picked in winter.\n")
    rpc.turn("prompt", text="And now?", mode="chat")
    plan.unlink()
    rpc.turn("prompt", text="And gone?", mode="chat")
    rpc.do("compact")
    rpc.turn("prompt", text="And after that?", mode="chat")
    rpc.close()
    assert "Plan.md" in sent(server)
    assert "picked in winter" in sent(server)
    assert find_places(server, project.parent) == []


@pytest.mark.parametrize("named", ["../Elsewhere/Orchard/Plan.md", "{project}/Plan.md"])
def test_a_selection_of_a_file_outside_is_named_without_its_folder(
    program: Program,
    asking: TurnRunner,
    server: ModelServer,
    folders: tuple[Path, Path],
    named: str,
) -> None:
    vault, project = folders
    server.script(Answer("In autumn."))
    place = f"{named.format(project=project)}:3-3"
    ours = asking(Program(program.home, ("--vault", str(vault))))
    ours.json("ask", "When?", "--mode", "chat", "--selection", place)
    assert "Plan.md" in sent(server)
    assert "Elsewhere" not in sent(server)


def test_a_large_file_outside_that_is_read_part_by_part_is_named_without_its_folder(
    program: Program, asking: TurnRunner, server: ModelServer, folders: tuple[Path, Path]
) -> None:
    vault, project = folders
    parts = (
        f"## Part {n}\n\nPlum {n} is ripe in week {n % 52}. {'word ' * 60}" for n in range(120)
    )
    (project / "Long.md").write_text("\n\n".join(parts))
    server.script(Answer("- Plums are ripe in many weeks."))
    options = ("--vault", str(vault), "--set", "autoCompactThreshold=8000")
    ours = asking(Program(program.home, options))
    named = str(project / "Long.md")
    ours.json("ask", "When?", "--mode", "chat", "--attach", named, "--read-whole")
    assert len(server.bodies) > 2
    assert '<part path="Long.md"' in sent(server).replace('\\"', '"')
    assert find_places(server, project.parent) == []
