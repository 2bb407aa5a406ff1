"""A long walk through the window in each theme: a thousand presses, and nothing goes wrong."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.support.window.random_walk_window import walk
from ui.theme import Mode
from vault.embedder import Embedder

pytestmark = pytest.mark.soak
PRESSES = 1_000


@pytest.mark.parametrize(("seed", "mode"), [(21, "light"), (22, "dark")])
def test_a_thousand_presses_meet_no_fault(
    qtbot: QtBot, tmp_path: Path, seed: int, mode: Mode, embedder: Embedder
) -> None:
    walked, faults = walk(tmp_path, seed, mode, PRESSES, embedder)
    assert len(walked.pressed) >= PRESSES
    assert faults.report() == ""
