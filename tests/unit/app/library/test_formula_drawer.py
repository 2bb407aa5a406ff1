"""Formulas are drawn in a child process, which never stops the window and never stays behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.library.formula_drawer import DrawnFormula, FormulaDrawer, UndrawnFormula
from tests.support.processes.program import children_of, wait_until
from vault.errors import ChildDied
from vault.workers import process
from vault.workers.frames import Frame
from vault.workers.process import ChildOnDemand

# Six fractions. A computer that is slow or busy draws them within the shorter limit, too.
ROW = "".join(f"\\frac{{a_{at}}}{{b}}" for at in range(6))
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
        ("\\frac{1}{" * 80 + "x" + "}" * 80, "takes too long to draw"),
        ("\\text{a\x01b}", "a sign that is not known here"),
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


@pytest.mark.parametrize(
    "tex",
    [
        "\\text{a < b}",
        "\\text{R\\&D}",
        "\\textbf{Q&A: 5 > 3}",
        "\\mbox{if $a < b$ & c}",
        "x\\text{ <b> }y",
    ],
)
def test_words_with_signs_of_xml_are_drawn(drawer: FormulaDrawer, tex: str) -> None:
    assert draw(drawer, tex).width > 0


def test_slow_formulas_do_not_keep_others_from_being_drawn(
    drawer: FormulaDrawer, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []
    answers = iter([{"failure": "too long", "is_slow": True}] * 9)
    child = drawer._child

    class Slow(ChildOnDemand):
        def request(self, header: Mapping[str, Any], payload: bytes, timeout_s: float) -> Frame:
            limits.append(header["limit_s"])
            found = next(answers, None)
            return child.request(header, payload, timeout_s) if found is None else Frame(found, b"")

    monkeypatch.setattr(drawer, "_child", Slow(""))
    lasting = []
    for _ in range(9):
        with pytest.raises(UndrawnFormula) as error:
            draw(drawer, "x")
        lasting.append(error.value.is_lasting)
    assert lasting == [True] * 8 + [False]
    assert draw(drawer, ROW).width > 0
    assert draw(drawer, "x").width > 0
    assert limits[0] == limits[-1] > limits[8] == limits[9]


def test_a_child_that_leaves_before_it_answers_is_started_twice_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []

    def build(module: str) -> list[str]:
        tried.append(module)
        return [sys.executable, "-c", "import sys; sys.stdin.buffer.read(1)"]

    monkeypatch.setattr(process, "build_command", build)
    child = ChildOnDemand("x")
    with pytest.raises(ChildDied):
        child.request({}, b"", 20.0)
    assert len(tried) == 2
    child.close()


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
