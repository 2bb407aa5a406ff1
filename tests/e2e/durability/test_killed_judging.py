"""A run that judges notes, killed at some places: no note is answered twice, and none is lost.

The bench `judge` does the same with ten kills and 10,000 notes.
"""

from collections.abc import Callable
from pathlib import Path

from tests.support.kills.killed_judging import (
    HoldingJudge,
    kill_at,
    list_planted,
    name_set,
    plant_notes,
)
from tests.support.models.model_server import ModelServer
from tests.support.processes.program import Program


def test_a_killed_run_goes_on_where_it_was(
    program: Program, asking: Callable[[Program], Program], server: ModelServer, tmp_path: Path
) -> None:
    notes = plant_notes(tmp_path / "notes", 60, (3,))
    over = asking(program)
    over = Program(over.home, (*over.options, "--vault", str(notes)))
    assert over.run("index").code == 0
    judge = HoldingJudge(name_set(3))
    server.script(judge)
    words = ("judge", "Which notes say 3?", "--yes", "--json", "--no-index")
    table = kill_at(over, words, judge, (1, 2))
    found = [row["path"] for row in table["rows"] if row["verdict"] == "yes"]
    assert found == list_planted(60, 3)
    assert table["is_complete"]
    assert set(judge.answered.values()) == {1}
    assert len(judge.answered) == 60
