"""Formulas are drawn in a child process, which never stops the window and never stays behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.library.formula_drawer import DrawnFormula, FormulaDrawer, UndrawnFormula
from tests.support.processes.program import children_of, wait_until
from vault.workers import process

START = """
import time
from app.library.formula_drawer import FormulaDrawer
drawer = FormulaDrawer()
drawer.draw("x", is_display=False, size_px=15, color="#000000")
print("drawn", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def drawer() -> Iterator[FormulaDrawer]:
    with closing(FormulaDrawer()) as drawer:
        yield drawer


def draw(drawer: FormulaDrawer, tex: str, *, is_display: bool = False) -> DrawnFormula:
    return drawer.draw(tex, is_display=is_display, size_px=15, color="#102030")


def test_a_formula_is_a_picture_in_the_colour_of_the_text(drawer: FormulaDrawer) -> None:
    made = draw(drawer, "\\frac{a}{b}")
    assert made.svg.startswith(b"<svg")
    assert b"#102030" in made.svg
    assert made.width > 0
    assert made.descent > 0


def test_a_formula_of_its_own_is_larger(drawer: FormulaDrawer) -> None:
    inline, alone = (draw(drawer, "\\sum_{i=0}^n i", is_display=shown) for shown in (False, True))
    assert alone.ascent + alone.descent > inline.ascent + inline.descent


@pytest.mark.parametrize(
    ("tex", "reason"),
    [
        ("\\frac{a", "cannot be read"),
        ("\\begin{matrix}", "cannot be read"),
        ("\\frac{1}{" * 80 + "x" + "}" * 80, "nested too deeply"),
        ("x+" * 2_000, "4,000 characters"),
        ("\\rule{9999em}{9999em}", "not drawn"),
        ("\\href{http://a}{b}", "not known here"),
    ],
)
def test_a_formula_that_is_not_drawn_says_why(drawer: FormulaDrawer, tex: str, reason: str) -> None:
    with pytest.raises(UndrawnFormula, match=reason) as error:
        draw(drawer, tex)
    assert error.value.is_lasting
    assert draw(drawer, "x").width > 0  # the next one is drawn all the same


def test_a_killed_child_is_replaced(drawer: FormulaDrawer) -> None:
    draw(drawer, "x")
    assert drawer._child.child is not None
    drawer._child.child.kill("the test ends it")
    assert draw(drawer, "y").width > 0


def test_a_child_that_cannot_be_started_is_named_and_not_tried_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []

    def build(module: str) -> list[str]:
        tried.append(module)
        return [sys.executable, "-c", "raise SystemExit('no fonts')"]

    monkeypatch.setattr(process, "build_command", build)
    with closing(FormulaDrawer()) as drawer:
        for _ in range(3):
            with pytest.raises(UndrawnFormula, match=r"cannot be started .*no fonts") as error:
                draw(drawer, "x")
            assert not error.value.is_lasting
    assert len(tried) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the processes are listed in /proc")
def test_the_child_ends_when_the_program_is_killed() -> None:
    root = Path(__file__).parents[4]
    with subprocess.Popen([sys.executable, "-c", START], cwd=root, stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == b"drawn\n"
        (child,) = children_of(one.pid)
        os.kill(one.pid, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{child}").exists(), "the child has ended")
