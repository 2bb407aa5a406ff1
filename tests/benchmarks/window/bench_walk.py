"""A long walk through the window on three seeds, half of it in each theme: no fault may come up.

A fault is an exception, a warning of Qt, an error in our log, or an event loop that stands still
for more than a second.
"""

import os
from pathlib import Path

from tests.benchmarks.measure import Ratio

PRESSES = 5_000
SEEDS = (1, 2, 3)


def run(folder: Path) -> list[Ratio]:
    """Walk with each seed in each theme, and count the faults."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    from PySide6.QtWidgets import QApplication

    from tests.support.window.random_walk_window import walk

    _app = QApplication.instance() or QApplication([])
    found, pressed, longest_s = 0, 0, 0.0
    for seed in SEEDS:
        for mode in ("light", "dark"):
            home = folder / f"{seed}-{mode}"
            home.mkdir()
            walked, faults = walk(home, seed, mode, PRESSES // (2 * len(SEEDS)) + 1)
            pressed += len(walked.pressed)
            longest_s = max(longest_s, walked.longest_block_s)
            found += len(faults.found)
            if faults.found:
                print(f"seed {seed}, {mode}:\n{faults.report()}", flush=True)
    return [
        Ratio("walk: faults", found, at_most=0, detail=f"{pressed:,} presses"),
        Ratio("walk: longest block / 1 s", longest_s, detail=f"{longest_s:.2f} s"),
    ]
