"""A long walk through the window in each theme: presses and pauses, and nothing goes wrong."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.support.window.random_walk_window import walk
from ui.theme import Mode
from vault.embedder import Embedder

pytestmark = pytest.mark.soak
PRESSES, PAUSES = 1_000, 100


@pytest.mark.parametrize(("seed", "mode"), [(21, "light"), (22, "dark")])
@pytest.mark.timeout(7_200)
def test_a_thousand_presses_with_a_hundred_pauses_meet_no_fault(
    qtbot: QtBot, tmp_path: Path, seed: int, mode: Mode, embedder: Embedder
) -> None:
    walked, faults = walk(tmp_path, seed, mode, PRESSES, embedder, pauses=PAUSES, real_pauses=2)
    assert len(walked.pressed) >= PRESSES
    assert walked.fired_timers >= PAUSES
    assert faults.report() == ""
