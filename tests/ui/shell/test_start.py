"""How the window starts, and what happens where it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ui.main import display_problem

HEAVY = ("torch", "chromadb", "litellm", "sentence_transformers", "tiktoken")
NOT_FOR_A_PAINT = (
    *("pydantic", "httpx", "markdown_it", "pygments", "sqlite3", "numpy", "yaml"),
    *("app.assistant", "app.config.schema", "chains.events", "context.messages", "vault.vault"),
    *("app.secret_text", "ui.markdown.blocks", "PySide6.QtNetwork", "hashlib"),
    *("vault.notes.dates", "vault.notes.text.document"),
    *("ui.chat.transcript.transcript", "ui.controllers.session", "ui.settings.dialog"),
    *("ui.panels.context.panel", "ui.panels.notes.sources", "context.layers"),
)
SHOW = """
import sys
from app.cli.parser import run
def open_window(opening):
    from ui.main import run
    return run(opening, exit_after_show=True)
code = run([], open_window)
print("loaded:", [name for name in {heavy} if name in sys.modules])
sys.exit(code)
"""


def run_window(tmp_path: Path, **environ: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "STRATA_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen", **environ}
    env = {name: value for name, value in env.items() if value}
    code = SHOW.format(heavy=HEAVY + NOT_FOR_A_PAINT)
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120
    )


def test_the_first_paint_loads_nothing_that_it_does_not_show(
    tmp_path: Path,
) -> None:
    done = run_window(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "loaded: []"


IDLE = """
import linecache
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.paths import Paths
from app.startup import Startup
from app.wiring import build
from ui.main import run
assistant = build(Paths.find())
assistant.settings.set("chat.model", "openai/gpt-4o")
assistant.close()
app = QApplication(sys.argv)
timer = QTimer(interval=50)
timer.timeout.connect(lambda: "litellm" in sys.modules and app.closeAllWindows())
timer.start()
code = run(Startup(Paths.find()))
print([name for name in linecache.cache if "litellm" in name])
sys.exit(code)
"""


def test_the_client_for_models_is_loaded_once_the_window_is_idle(tmp_path: Path) -> None:
    env = {**os.environ, "STRATA_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run([sys.executable, "-c", IDLE], env=env, timeout=120, capture_output=True)
    assert done.returncode == 0
    assert done.stdout == b"[]\n"  # PySide6 has not read the source of each module


def test_without_a_display_one_sentence_says_so_and_another_what_to_do(tmp_path: Path) -> None:
    done = run_window(tmp_path, QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
    assert done.returncode == 1
    problem, way_out = done.stderr.splitlines()
    assert "There is no display" in problem
    assert "Ask without one" in way_out


@pytest.mark.parametrize("display", [":4711", "unix:4711", ":x", "nowhere"])
def test_a_display_that_does_not_answer_is_named(display: str) -> None:
    problem = display_problem({"DISPLAY": display}, "linux")
    assert problem == f"The display {display} does not answer. Use the commands: strata --help."


def test_a_named_platform_is_taken_at_its_word() -> None:
    assert display_problem({"QT_QPA_PLATFORM": "offscreen"}, "linux") is None


def test_other_systems_always_have_a_display() -> None:
    assert display_problem({}, "darwin") is None
