"""Formulas are vector pictures in the text's colour and size, or TeX with the reason."""

import gc
from time import thread_time

import pytest
from PySide6.QtGui import QColor, QGuiApplication, QTextFormat
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.markdown.note_parts import NotePart
from ui.markdown.page import formulas
from ui.markdown.page.note_view import NoteView
from ui.markdown.page.view import MarkdownView
from ui.theme import Theme

OBJECT = "\N{OBJECT REPLACEMENT CHARACTER}"


@pytest.fixture
def view(qtbot: QtBot) -> MarkdownView:
    view = MarkdownView()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    return view


def list_formulas(view: MarkdownView) -> list[str]:
    """Return the TeX of the drawn formulas, with its dollar signs."""
    found, block = [], view.document().begin()
    while block.isValid():
        piece = block.begin()
        while not piece.atEnd():
            char = piece.fragment().charFormat()
            if char.objectType() == QTextFormat.ObjectTypes.UserObject.value:
                found.append(char.toolTip())
            piece += 1
        block = block.next()
    return found


def count_ink(view: MarkdownView, name: str) -> int:
    image, ink = view.grab().toImage(), Theme.current().color(name)
    points = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return sum(image.pixelColor(x, y) == QColor(ink) for x, y in points)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_formulas_are_drawn_in_the_colour_of_the_text(view: MarkdownView, mode: str) -> None:
    Theme.current().apply(mode, 1.0)
    view.set_markdown("$$\\frac{\\pi}{2}$$\n")
    assert list_formulas(view) == ["\\frac{\\pi}{2}"]
    assert view.toPlainText() == OBJECT
    assert count_ink(view, "text.primary") > 0


def test_a_formula_is_drawn_in_text_headings_lists_and_tables(view: MarkdownView) -> None:
    view.set_markdown(
        "# On $a$\n\nIt is $b_1$ and \\(c\\).\n\n- $d$\n\n|x|\n|---|\n|$e$|\n\n> $f$\n"
    )
    assert list_formulas(view) == ["a", "b_1", "c", "d", "e", "f"]


@pytest.mark.parametrize("text", ["$5 and $6", "from $100 to $200.", "US$ 5, or 6 $", "a $HOME b"])
def test_a_price_is_no_formula(view: MarkdownView, text: str) -> None:
    view.set_markdown(text)
    assert view.toPlainText() == text


def test_copying_gives_the_tex(view: MarkdownView) -> None:
    view.set_markdown("Take 😀 $x^2$ and $x^2$.\n\n$$\ny=1\n$$\n")
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == "Take 😀 $x^2$ and $x^2$.\n$$y=1$$"


def test_a_callback_of_the_garbage_collector_is_not_interrupted(view: MarkdownView) -> None:
    """What is raised in such a callback is swallowed, and the formula was drawn for minutes."""
    seen = []

    def spend_time(phase: str, _info: dict[str, int]) -> None:
        if phase == "start" and not seen:
            seen.append(phase)
            until = thread_time() + 1
            while thread_time() < until:
                pass

    formulas.draw_formula("x", view.font(), "#000000", is_display=False)  # the library is loaded
    before, after = gc.get_threshold(), "x^{" * 90 + "}" * 90
    gc.callbacks.append(spend_time)
    gc.set_threshold(20)
    try:
        found = formulas.draw_formula(after, view.font(), "#010101", is_display=False)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(spend_time)
    assert seen
    assert isinstance(found, str)
    assert "nested too deeply" in found


@pytest.mark.parametrize(
    ("tex", "reason"),
    [
        ("\\frac{a", "cannot be read"),
        ("\\begin{matrix}", "cannot be read"),
        ("\\frac{1}{" * 80 + "x" + "}" * 80, "nested too deeply"),
        ("x^{" * 90 + "}" * 90, "nested too deeply"),
        ("\\hat{" * 100 + "x" + "}" * 100, "nested too deeply"),
        ("x+" * 2_000, "4,000 characters"),
        ("\\rule{9999em}{9999em}", "not drawn"),
        ("\\href{http://a}{b}", "not known here"),
    ],
)
def test_a_formula_that_is_not_drawn_stays_as_tex_and_says_why(
    view: MarkdownView, tex: str, reason: str
) -> None:
    before = thread_time()
    view.set_markdown(f"It is ${tex}$.")
    assert thread_time() - before < 5
    assert view.toPlainText() == f"It is {tex}."
    cursor = view.document().find(tex[:6])
    assert reason in cursor.charFormat().toolTip()


def test_a_note_draws_formulas_too(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    view = NoteView(NotePart(1, "So $x$.\n\n$$y$$\n"), 600, {}, page)
    view.draw()
    qtbot.waitUntil(lambda: list_formulas(view) == ["x", "y"])  # a busy machine draws in steps


def test_nothing_above_moves_when_a_formula_closes(view: MarkdownView) -> None:
    text = "One line.\n\nThe sum $\\sum_{i=0}^n x_i$ is it.\n\n$$\n\\frac{a}{b}\n$$\n\nEnd."
    heights, seen = [], []
    for char in text:
        view.append(char)
        view.flush()
        heights.append(view.height())
        seen.append(view.toPlainText())
    view.finish()
    assert heights == sorted(heights)  # it only grows
    assert not [words for words in seen if "$" in words or "\\" in words]
    assert list_formulas(view) == ["\\sum_{i=0}^n x_i", "\\frac{a}{b}"]


def test_many_formulas_are_drawn_in_steps(
    view: MarkdownView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.markdown.page.writer._MOST_FORMULAS_S", 0.0)
    formulas._drawn.clear()
    view.set_markdown(" ".join(f"$q_{{{n}}}$" for n in range(9)))
    assert len(list_formulas(view)) == 1
    qtbot.waitUntil(lambda: len(list_formulas(view)) == 9)


def test_a_drawn_formula_is_kept(view: MarkdownView) -> None:
    view.set_markdown("$k_1$")
    before = formulas.draw_formula("k_1", Theme.current().font("body"), "#000000", is_display=False)
    again = formulas.draw_formula("k_1", Theme.current().font("body"), "#000000", is_display=False)
    assert before is again


def test_a_formula_of_its_own_that_cannot_be_read_is_code_with_the_reason(
    view: MarkdownView,
) -> None:
    view.set_markdown("Above.\n\n$$\n\\begin{matrix} a\n$$\n")
    assert view.toPlainText() == "Above.\n\\begin{matrix} a"
    assert "cannot be read" in view.document().find("matrix").charFormat().toolTip()
