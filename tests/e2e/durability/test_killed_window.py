"""What comes back after the window was killed: chat, draft, text size and geometry."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.kills.killed_window import DRAFT, QUESTION, SIZE
from tests.support.models.model_server import Answer, ModelServer

ROOT = Path(__file__).parents[3]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Compost.md").write_text("# Compost\n\nCompost is rotten leaves.\n", "utf-8")
    return folder


def start(kind: str, home: Path, notes: Path, *options: str) -> "subprocess.Popen[str]":
    """Start the program with somebody at it, in a process group of its own."""
    argv = ["--set", f"vault.path={notes}", *options]
    screen = home.with_name("screen.json")
    shown = {"name": "s", "x": 0, "y": 0, "width": 1920, "height": 1080, "logicalDpi": 96, "dpr": 1}
    screen.write_text(json.dumps({"screens": [shown]}))
    platform = f"offscreen:configfile={screen}"
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.kills.killed_window", kind, *argv],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "STRATA_HOME": str(home), "QT_QPA_PLATFORM": platform},
        process_group=0,
    )


def read_and_kill(child: "subprocess.Popen[str]") -> Any:
    """Read what the window shows, and kill it without a warning."""
    try:
        assert child.stdout is not None
        return json.loads(child.stdout.readline())
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate(timeout=60)


def test_chat_draft_text_size_and_geometry_come_back_after_a_kill(
    tmp_path: Path, notes: Path
) -> None:
    home = tmp_path / "home"
    before = read_and_kill(start("act", home, notes))
    assert (before["title"], before["draft"], before["size"]) == (QUESTION, DRAFT, list(SIZE))
    assert before["scale"] > 1
    assert read_and_kill(start("tell", home, notes)) == before


def test_an_answer_that_was_arriving_is_shown_as_broken_off(tmp_path: Path, notes: Path) -> None:
    home, text = tmp_path / "home", "Leaves rot in a heap for a year."
    with ModelServer(Answer(text, chunk_chars=8, stall_after=5)) as server:
        options = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=gpt-4o")
        before = read_and_kill(start("ask", home, notes, *options))
        assert before["endings"] == [[text, ""]]
        after = read_and_kill(start("tell", home, notes, *options))
    ending = "The answer broke off: Strata was closed. What had arrived is kept."
    assert (after["title"], after["endings"]) == (QUESTION, [[text, ending]])


def test_a_second_start_ends_and_the_first_window_goes_on(tmp_path: Path, notes: Path) -> None:
    home = tmp_path / "home"
    first = start("act", home, notes)
    try:
        assert first.stdout is not None
        assert json.loads(first.stdout.readline())["title"] == QUESTION
        second = start("tell", home, notes)
        out, _ = second.communicate(timeout=60)
        assert (second.returncode, out) == (0, "")
        assert first.poll() is None
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate(timeout=60)
