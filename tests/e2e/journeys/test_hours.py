"""Hours of use: clicks and turns in the window and over RPC, with pauses as long as every timer.

`make soak HOURS=2` goes on for two hours, and without it once. Both programs write the calls of all
threads if they crash, which a file in their home shows. What they hold in memory stays within 5 %.
"""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Final

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc
from tests.support.window.remote_window import Opened, RemoteWindow

pytestmark = pytest.mark.soak

SECONDS: Final = float(os.environ.get("HOURS") or 0) * 3_600
ANSWER: Final = "The barrel stands behind the shed."
QUESTION: Final = "Where is the barrel?"
# As long as each timer, and a second more: the next round, the window at rest, its review of the
# notes, the workers for images and formulas, the model that is loaded again, its process.
PAUSES_S: Final = (0, 3, 21, 31, 61, 121, 301)
MOST_GROWTH: Final = 1.05
FEWEST_ROUNDS: Final = 4 * len(PAUSES_S)  # so that each quarter has each pause


class _Use:
    """A window and a program over RPC on homes of their own, used by turns."""

    def __init__(self, window: RemoteWindow, rpc: Rpc) -> None:
        self._window, self._rpc = window, rpc
        self.megabytes: dict[str, list[float]] = {"window": [], "rpc": []}

    def go_round(self) -> None:
        """Ask, read a note, search, and open and close what can be opened, then start anew."""
        window = self._window
        window.press("ctrl+n")
        window.wait_until(lambda: not window.shows(ANSWER, under="Chat"), "a new chat")
        window.click("Message")
        window.type(QUESTION)
        window.press("Return")
        window.wait_for(ANSWER, under="Chat")
        window.click("Watering.md", "TreeItem", "Notes")
        window.press("alt+Left")
        window.press("F1")
        window.wait("Shortcuts", "Dialog")
        window.press("Escape")
        window.wait_until(lambda: not window.find("Shortcuts", "Dialog"), "no list of shortcuts")
        self._rpc.do("new_session")
        assert self._rpc.turn("prompt", text=QUESTION)["status"] == "complete"
        assert self._rpc.do("search", query="barrel")["hits"]

    def measure(self) -> None:
        """Note the megabytes that both programs hold."""
        for name, pid in (("window", self._window.child.pid), ("rpc", self._rpc.pid)):
            pages = int(Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1])
            self.megabytes[name].append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


def _list_pauses() -> Iterator[float]:
    """Yield the pauses until the time is over, and at least the short ones once."""
    ends_at = time.monotonic() + SECONDS
    for number, pause_s in enumerate(cycle(PAUSES_S)):
        if time.monotonic() + pause_s > ends_at and number >= 3:
            return
        yield pause_s


def _compare_quarters(megabytes: Sequence[float]) -> float:
    """Return how the last quarter of the rounds compares with the second one."""
    quarter = len(megabytes) // 4
    return median(megabytes[-quarter:]) / median(megabytes[quarter : 2 * quarter])


@pytest.mark.timeout(SECONDS + 1_800)
def test_hours_of_use_leave_both_programs_as_they_were(
    at_home: Opened, server: ModelServer, program: Program, small_vault: Path, tmp_path: Path
) -> None:
    server.script(Answer(ANSWER))
    settings = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
    place = ("--vault", str(small_vault))
    other = replace(program, home=tmp_path / "rpc", options=(*settings, *place))
    window, rpc = at_home(), Rpc(other)
    window.wait("Watering.md", "TreeItem", "Notes")
    use = _Use(window, rpc)
    for pause_s in _list_pauses():
        use.go_round()
        time.sleep(pause_s)  # the pause itself is tried, not waited for
        use.measure()
        server.received.clear()
    assert window.close() == 0
    rpc.close()
    for home in (program.home, other.home):
        assert list((home / "state" / "crashes").glob("*.txt")) == []
    for name, megabytes in use.megabytes.items():
        print(f"{name}: {len(megabytes)} rounds, {megabytes[0]:.0f} to {megabytes[-1]:.0f} MB")
        if len(megabytes) >= FEWEST_ROUNDS:
            assert _compare_quarters(megabytes) <= MOST_GROWTH, name
