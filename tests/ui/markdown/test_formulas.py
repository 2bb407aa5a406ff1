"""Formulas are vector pictures in the text's colour and size, or TeX with the reason."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from PySide6.QtGui import QColor, QGuiApplication, QTextFormat
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.library.formula_drawer import FormulaDrawer, UndrawnFormula
from ui.controllers.reading.images import FormulaController
from ui.markdown.note_parts import NotePart
from ui.markdown.page.decorations import list_tasks
from ui.markdown.page.formula_store import Formula, FormulaStore, UndrawableFormula, estimate_size
from ui.markdown.page.note_view import NoteView
from ui.markdown.page.view import MarkdownView
from ui.tasks import TaskRunner
from ui.theme import Theme

TYPICAL = (
    *("x", "E = mc^2", "\\frac{a}{b}", "\\sum_{i=0}^{n} x_i", "\\sqrt{x^2 + y^2}"),
    *("\\int_0^\\infty e^{-x^2} dx", "\\alpha + \\beta", "\\mathbb{R}^n", "f(x) = \\sin x"),
    "\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}",
)
OBJECT = "\N{OBJECT REPLACEMENT CHARACTER}"


@pytest.fixture(scope="module")
def drawer() -> Iterator[FormulaDrawer]:
    with closing(FormulaDrawer()) as drawer:
        yield drawer


@pytest.fixture
def store(qapp: QApplication) -> Iterator[FormulaStore]:
    """The store of formulas, which are not drawn by themselves."""
    store = FormulaStore.current()
    store.clear()
    yield store
    store.clear()


@pytest.fixture
def drawing(store: FormulaStore, drawer: FormulaDrawer) -> Iterator[None]:
    """Formulas are drawn by a child process."""
    runner = TaskRunner()
    controller = FormulaController(drawer, runner, runner)
    yield
    runner.close()
    controller.deleteLater()
    runner.deleteLater()


@pytest.fixture
def view(qtbot: QtBot) -> MarkdownView:
    view = MarkdownView()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    return view


def list_formulas(view: MarkdownView) -> list[str]:
    """Return the TeX of the formulas that are drawn or will be, without its dollar signs."""
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


def answer(store: FormulaStore, width: float = 40, height: float = 12, reason: str = "") -> None:
    """Draw all formulas that wait as boxes of a size, or as undrawable for a reason."""
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
    keys = store.take(1_000)
    made = UndrawableFormula(reason) if reason else None
    store.show([(key, made or Formula(svg, width, height, 2)) for key in keys])


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_formulas_are_drawn_in_the_colour_of_the_text(
    view: MarkdownView, qtbot: QtBot, mode: str
) -> None:
    Theme.current().apply(mode, 1.0)
    view.set_markdown("$$\\frac{\\pi}{2}$$\n")
    assert list_formulas(view) == ["\\frac{\\pi}{2}"]
    assert view.toPlainText() == OBJECT
    qtbot.waitUntil(lambda: count_ink(view, "text.primary") > 0)


def test_a_formula_has_its_full_size_in_a_view_that_was_narrow_when_it_was_written(
    store: FormulaStore, view: MarkdownView
) -> None:
    view.resize(50, 400)
    view.set_markdown("$$x^2$$\n")
    answer(store, width=200, height=100)
    narrow = view.document().size().height()
    view.resize(600, 400)
    assert view.document().size().height() >= 100 > narrow
    view.resize(50, 400)
    assert view.document().size().height() == narrow


@pytest.mark.usefixtures("store")
def test_a_formula_is_drawn_in_text_headings_lists_and_tables(view: MarkdownView) -> None:
    view.set_markdown(
        "# On $a$\n\nIt is $b_1$ and \\(c\\).\n\n- $d$\n\n|x|\n|---|\n|$e$|\n\n> $f$\n"
    )
    assert list_formulas(view) == ["a", "b_1", "c", "d", "e", "f"]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("text", ["$5 and $6", "from $100 to $200.", "US$ 5, or 6 $", "a $HOME b"])
def test_a_price_is_no_formula(view: MarkdownView, text: str) -> None:
    view.set_markdown(text)
    assert view.toPlainText() == text


@pytest.mark.usefixtures("store")
def test_copying_gives_the_tex(view: MarkdownView) -> None:
    view.set_markdown("Take 😀 $x^2$ and $x^2$.\n\n$$\ny=1\n$$\n")
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == "Take 😀 $x^2$ and $x^2$.\n$$y=1$$"


@pytest.mark.usefixtures("drawing")
def test_a_formula_that_is_not_drawn_stays_as_tex_and_says_why(
    view: MarkdownView, qtbot: QtBot
) -> None:
    view.set_markdown("It is $\\frac{a$.\n\n$$\n\\begin{matrix} a\n$$\n")
    qtbot.waitUntil(lambda: view.toPlainText() == "It is \\frac{a.\n\\begin{matrix} a")
    for words in ("frac", "matrix"):
        cursor = view.document().find(words)
        assert "cannot be read" in cursor.charFormat().toolTip()


def test_without_the_child_the_source_stays_and_is_tried_again_later(
    store: FormulaStore, view: MarkdownView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: FormulaDrawer, tex: str, **options: object) -> None:
        raise UndrawnFormula("Formulas are not drawn: it is broken.", is_lasting=False)

    monkeypatch.setattr(FormulaDrawer, "draw", fail)
    runner = TaskRunner(view)
    FormulaController(FormulaDrawer(), runner, view)
    view.set_markdown("So $x^2$.")
    qtbot.waitUntil(lambda: view.toPlainText() == "So x^2.")
    assert "it is broken" in view.document().find("x^2").charFormat().toolTip()
    runner.close()
    monkeypatch.setattr("ui.markdown.page.formula_store.monotonic", lambda: float("1e12"))
    view.set_markdown("So $x^2$.")
    assert list_formulas(view) == ["x^2"]


def test_a_note_draws_formulas_too(store: FormulaStore, qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    view = NoteView(NotePart(1, "So $x$.\n\n$$y$$\n"), 600, {}, page)
    view.draw()
    assert list_formulas(view) == ["x", "y"]


def test_nothing_above_moves_when_a_formula_closes(store: FormulaStore, view: MarkdownView) -> None:
    text = "One line.\n\nThe sum $\\sum_{i=0}^n x_i$ is it.\n\n$$\n\\frac{a}{b}\n$$\n\nEnd."
    heights, seen = [], []
    for count, char in enumerate(text):
        view.append(char)
        view.flush()
        if count % 5 == 0:  # some formulas are drawn only when more text has arrived
            answer(store, height=40)
        heights.append(view.height())
        seen.append(view.toPlainText())
    view.finish()
    answer(store, height=40)
    assert heights == sorted(heights)  # it only grows
    assert not [words for words in seen if "$" in words or "\\" in words]
    assert list_formulas(view) == ["\\sum_{i=0}^n x_i", "\\frac{a}{b}"]


def test_a_formula_that_arrives_later_leaves_the_text_and_the_selection(
    store: FormulaStore, view: MarkdownView
) -> None:
    view.set_markdown("Take $x$ and [a link](https://a.de) and `code` and $x$ again.")
    cursor = view.document().find("code")
    view.setTextCursor(cursor)
    before, rewritten = view.toPlainText(), []
    view.rewritten.connect(lambda: rewritten.append(1))
    answer(store, height=60)
    assert view.toPlainText() == before
    assert view.textCursor().selectedText() == "code"
    assert not rewritten
    assert view.height() > 60


def test_an_undrawable_formula_in_a_streamed_answer_becomes_tex(
    store: FormulaStore, view: MarkdownView, qtbot: QtBot
) -> None:
    view.append("It is $x$.\n\nMore of $y$")
    view.flush()
    answer(store, reason="It is broken.")
    qtbot.waitUntil(lambda: view.toPlainText() == "It is x.\nMore of y")


def test_a_formula_that_is_not_shown_any_more_is_not_drawn(
    store: FormulaStore, qtbot: QtBot
) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    views = [NoteView(NotePart(1, f"So ${tex}$."), 600, {}, page) for tex in "xy"]
    for view in views:
        view.draw()
    views[0].deleteLater()
    qtbot.waitUntil(lambda: not isValid(views[0]))
    assert [key.tex for key in store.take(10)] == ["y"]


def test_a_drawn_formula_is_kept(store: FormulaStore, view: MarkdownView) -> None:
    view.set_markdown("$k_1$")
    answer(store)
    view.set_markdown("$k_1$ again")
    assert store.take(10) == []


@pytest.mark.usefixtures("drawing")
def test_the_estimated_size_is_rather_too_small(
    store: FormulaStore, view: MarkdownView, qtbot: QtBot
) -> None:
    view.set_markdown(" ".join(f"${tex}$" for tex in TYPICAL))
    view.append("".join(f"\n\n$${tex}$$" for tex in TYPICAL))
    view.finish()
    qtbot.waitUntil(lambda: len(store._known) == 2 * len(TYPICAL))
    for key, formula in store._known.items():
        assert isinstance(formula, Formula)
        width, height = estimate_size(key)
        assert height <= formula.ascent + formula.descent + key.size_px / 2, key
        assert formula.width / 3 < width < 2 * formula.width + key.size_px, key


def list_looks(view: MarkdownView) -> list[tuple[str, str, str]]:
    """Return each piece of text that is no formula, with its font and its colour."""
    found, block = [], view.document().begin()
    while block.isValid():
        piece = block.begin()
        while not piece.atEnd():
            one, char = piece.fragment(), piece.fragment().charFormat()
            if char.objectType() != QTextFormat.ObjectTypes.UserObject.value:
                color = char.foreground().color().name()
                found.append((one.text(), char.font().toString(), color))
            piece += 1
        block = block.next()
    return found


@pytest.mark.parametrize("way", ["complete", "streamed", "redrawn"])
def test_what_follows_a_formula_keeps_its_look_when_it_is_drawn(
    view: MarkdownView, store: FormulaStore, way: str
) -> None:
    text = (
        "Say $a$ *and* $b$,\n\n$$c$$\n\n## On [[Ann]] and $a$\n\n| x |\n|---|\n| $d$ y |\n\n`k`\n"
    )
    if way == "streamed":
        view.append(text)
        view.flush()
        view.finish()
    else:
        view.set_markdown(text)
    if way == "redrawn":
        view._rewrite()
    looks, formulas = list_looks(view), list_formulas(view)
    answer(store)
    assert list_looks(view) == looks
    assert list_formulas(view) == formulas == ["a", "b", "c", "a", "d"]


def test_what_is_painted_beside_the_text_moves_with_it_when_a_formula_is_drawn(
    view: MarkdownView, store: FormulaStore
) -> None:
    view.set_markdown("$$a$$\n\n- [ ] A task\n\n> A quote\n\n`code`\n\n```\nx\n```\n")
    view.grab()  # finds the places of all that is painted

    def measure() -> tuple[float, ...]:
        ink, (mark,) = view._writer.final, list_tasks(view._writer.final)
        panels = [view._decoration_painter.panel_rect(panel).top() for panel in ink.panels]
        copy = view._buttons._buttons[0].y()
        return (view._decoration_painter.find_box(mark).top(), *panels, copy)

    before, height = measure(), view.height()
    answer(store, 80, 60)
    moved = view.height() - height
    assert moved > 20
    assert measure() == pytest.approx([place + moved for place in before], abs=1)
