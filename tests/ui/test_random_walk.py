"""The walk: whatever is seen is pressed, and nothing goes wrong unseen. `make soak` walks on."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.support.window.random_walk_window import walk
from ui.theme import Mode
from vault.embedder import Embedder

PRESSES, PAUSES = 100, 8


@pytest.mark.parametrize(("seed", "mode"), [(11, "light"), (12, "dark"), (13, "light")])
def test_a_walk_through_the_window_meets_no_fault(
    qtbot: QtBot, tmp_path: Path, seed: int, mode: Mode, embedder: Embedder
) -> None:
    walked, faults = walk(tmp_path, seed, mode, PRESSES, embedder, pauses=PAUSES)
    assert len(walked.pressed) >= PRESSES
    assert walked.fired_timers >= PAUSES
    assert faults.report() == ""
