"""How the docks of the right column share its height, whatever becomes of the column."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QTabBar
from pytestqt.qtbot import QtBot

from app.paths import Paths
from app.startup import StartupInfo
from tests.support.window.waiting import settle
from ui.panels.docks import RightColumn
from ui.theme import Theme
from ui.window import MainWindow

LEFT, NO_KEYS = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
WIDTH, HEIGHT = 344, 900
FIRST = 0.64


@pytest.fixture
def column(qtbot: QtBot) -> RightColumn:
    """The column alone, as it stands at first."""
    column = RightColumn()
    column.fill()
    qtbot.addWidget(column)
    column.resize(WIDTH, HEIGHT)
    column.show()
    settle()
    return column


@pytest.fixture
def make(strata_home: object, qtbot: QtBot) -> Callable[..., MainWindow]:
    """Make the window as it is painted first."""

    def make(width: int = 1440, height: int = 900) -> MainWindow:
        frame = MainWindow(StartupInfo(Paths.find().state, None))
        qtbot.addWidget(frame)
        frame.fill_column()
        frame.resize(width, height)
        frame.show()
        settle()
        return frame

    return make


def share(column: RightColumn) -> float:
    """The part of the height that the context panel has."""
    return column.context_dock.height() / (column.height() - 1)


def about(wanted: float) -> Any:
    return pytest.approx(wanted, abs=0.003)  # one pixel or two


def drag(column: RightColumn, by: int) -> None:
    """Drag the separator under the context panel."""
    start = QPoint(WIDTH // 2, column.context_dock.geometry().bottom() + 1)
    pull(column, start, start + QPoint(0, by))


def pull(column: RightColumn, start: QPoint, end: QPoint) -> None:
    """Press what lies at a place, move the mouse and let go."""
    grip = column.childAt(start) or column
    QTest.mousePress(grip, LEFT, NO_KEYS, grip.mapFrom(column, start))
    QTest.mouseMove(grip, grip.mapFrom(column, end))
    settle()
    QTest.mouseRelease(grip, LEFT, NO_KEYS, grip.mapFrom(column, end))
    settle()


def set_height(column: RightColumn, height: int) -> None:
    column.resize(WIDTH, height)
    settle()


def reopen(column: RightColumn, dock: QDockWidget) -> None:
    dock.hide()
    settle()
    dock.show()
    settle()


def set_scale(scale: float) -> None:
    Theme.current().apply(scale=scale)
    settle()


def test_the_context_panel_has_most_of_the_height_at_first(column: RightColumn) -> None:
    assert share(column) == about(FIRST)


def test_a_column_that_was_too_short_for_its_panels_has_their_shares_again(
    column: RightColumn,
) -> None:
    set_height(column, 200)
    assert share(column) == pytest.approx(0.5, abs=0.01)  # each has the least it needs
    set_height(column, HEIGHT)
    assert share(column) == about(FIRST)


def test_a_panel_that_was_closed_comes_back_with_its_share(column: RightColumn) -> None:
    reopen(column, column.context_dock)
    assert share(column) == about(FIRST)
    reopen(column, column.sources_dock)
    assert share(column) == about(FIRST)


def test_a_panel_that_floated_comes_back_with_its_share(column: RightColumn) -> None:
    column.context_dock.setFloating(True)
    set_height(column, 300)
    column.context_dock.setFloating(False)
    set_height(column, HEIGHT)
    assert share(column) == about(FIRST)


def test_text_that_was_larger_for_a_while_takes_no_share(column: RightColumn) -> None:
    set_height(column, 320)
    set_scale(2.0)
    assert share(column) < 0.6
    set_scale(1.0)
    assert share(column) == pytest.approx(FIRST, abs=0.01)


@pytest.mark.parametrize("by", [-150, 120])
def test_what_was_dragged_holds_from_then_on(column: RightColumn, by: int) -> None:
    before = column.context_dock.height()
    drag(column, by)
    assert column.context_dock.height() == before + by
    dragged = share(column)
    for height in (250, 1300, 213, HEIGHT):
        set_height(column, height)
    reopen(column, column.sources_dock)
    assert share(column) == about(dragged)


def test_what_was_dragged_holds_where_the_lower_panels_are_tabs(column: RightColumn) -> None:
    column.show_dock(column.related_dock)
    settle()
    drag(column, -100)
    dragged = share(column)
    set_height(column, 250)
    set_height(column, HEIGHT)
    assert share(column) == about(dragged)
    column.related_dock.close()
    settle()
    assert share(column) == about(dragged)


def test_panels_that_were_closed_come_up_in_what_was_dragged(column: RightColumn) -> None:
    drag(column, -200)
    dragged = share(column)
    column.sources_dock.close()
    settle()
    column.show_dock(column.index_dock)
    settle()
    assert share(column) == about(dragged)


def test_a_panel_that_leaves_its_tabs_begins_with_their_share(column: RightColumn) -> None:
    column.show_dock(column.related_dock)
    settle()
    column.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, column.related_dock)
    settle()
    heights = [dock.height() for dock in column.docks() if dock.isVisible()]
    assert heights[1] == pytest.approx(heights[2], abs=1)
    assert heights[0] / heights[1] == pytest.approx(64 / 36, abs=0.02)


def test_a_click_on_the_separator_changes_nothing(column: RightColumn) -> None:
    set_height(column, 213)
    drag(column, 0)
    set_height(column, HEIGHT)
    assert share(column) == about(FIRST)


def test_a_separator_between_panels_side_by_side_leaves_the_heights(column: RightColumn) -> None:
    column.splitDockWidget(column.context_dock, column.sources_dock, Qt.Orientation.Horizontal)
    settle()
    start = QPoint(column.context_dock.geometry().right() + 1, 400)
    width = column.context_dock.width()
    pull(column, start, start + QPoint(-20, 0))
    assert column.context_dock.width() < width
    column.splitDockWidget(column.context_dock, column.sources_dock, Qt.Orientation.Vertical)
    settle()
    assert share(column) == about(FIRST)


STEPS: dict[str, Callable[[RightColumn], object]] = {
    "tiny": lambda column: set_height(column, 213),
    "short": lambda column: set_height(column, 400),
    "odd": lambda column: set_height(column, 777),
    "tall": lambda column: set_height(column, 1_400),
    "hide": lambda column: column.hide(),
    "show": lambda column: column.show(),
    "close context": lambda column: column.context_dock.hide(),
    "open context": lambda column: column.context_dock.show(),
    "close sources": lambda column: column.sources_dock.hide(),
    "open related": lambda column: column.show_dock(column.related_dock),
    "close related": lambda column: column.related_dock.close(),
    "float context": lambda column: column.context_dock.setFloating(True),
}


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each walk resets it
)
@given(
    dragged=st.integers(-300, 150),
    walk=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=8),
)
def test_no_walk_through_sizes_and_panels_takes_a_share(
    column: RightColumn, dragged: int, walk: list[str]
) -> None:
    column.reset()
    settle()
    drag(column, dragged)
    chosen = share(column)
    for step in walk:
        STEPS[step](column)
        settle()
    column.context_dock.setFloating(False)
    column.context_dock.show()
    column.sources_dock.show()
    column.show()
    set_height(column, HEIGHT)
    assert share(column) == about(chosen)


@pytest.mark.parametrize("sizes", [[(720, 520)], [(900, 520), (900, 1000), (1160, 520)]])
def test_a_window_that_was_small_for_a_while_has_the_shares_again(
    make: Callable[..., MainWindow], sizes: list[tuple[int, int]]
) -> None:
    frame = make()
    for size in sizes:
        frame.resize(*size)
        frame.columns.show_right()
        settle()
    frame.resize(1440, 900)
    settle()
    assert share(frame.column) == about(FIRST)


def test_a_reset_in_a_narrow_window_gives_the_first_shares(
    make: Callable[..., MainWindow],
) -> None:
    frame = make()
    drag(frame.column, -200)
    frame.resize(720, 520)
    settle()
    frame.reset_layout()
    settle()
    frame.resize(1440, 900)
    settle()
    assert frame.column.isVisible()
    assert share(frame.column) == about(FIRST)


def test_shares_are_remembered_also_from_a_narrow_window(make: Callable[..., MainWindow]) -> None:
    frame = make()
    drag(frame.column, -200)
    dragged = share(frame.column)
    frame.resize(720, 520)
    settle()
    frame.places.remember()
    frame.places.finish()
    again = make()
    assert share(again.column) == about(dragged)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_tabs_begin_on_the_edge_of_their_panels_and_stand_on_a_hairline(
    column: RightColumn, mode: Any
) -> None:
    Theme.current().apply(mode)
    column.show_dock(column.related_dock)
    settle()
    (tabs,) = (bar for bar in column.findChildren(QTabBar) if bar.isVisible())
    picture, theme = column.grab().toImage(), Theme.current()
    ground, low = theme.color("bg.panel"), tabs.geometry().bottom()
    lowest = [picture.pixelColor(WIDTH - 40, low - up) for up in (0, 1, 2)]
    assert lowest == [theme.color("line.hairline"), ground, ground]
    words = range(tabs.y() + 8, low - 8)
    inked = (x for x in range(WIDTH) if any(picture.pixelColor(x, y) != ground for y in words))
    assert next(inked) in range(16, 19)


def test_the_words_of_tabs_have_their_room_also_after_a_reset(column: RightColumn) -> None:
    column.show_dock(column.related_dock)
    settle()
    column.reset()
    settle()
    column.show_dock(column.related_dock)
    settle()
    for tabs in column.findChildren(QTabBar):
        for place in range(tabs.count()):
            assert tabs.tabRect(place).width() >= tabs.tabSizeHint(place).width()


def test_tabs_of_a_column_that_is_made_before_the_theme_have_its_font(
    qapp: QApplication, qtbot: QtBot
) -> None:
    qapp.setStyleSheet("")
    qapp.setFont(QFont("Sans Serif", 9))
    column = RightColumn()
    column.fill()
    qtbot.addWidget(column)
    column.resize(400, 800)
    Theme.current().apply("light", 1.0)
    column.show()
    column.show_dock(column.related_dock)
    QApplication.processEvents()
    tabs = [tabs for tabs in column.findChildren(QTabBar) if tabs.isVisible()]
    assert [bar.font().family() for bar in tabs] == [Theme.current().font("ui").family()]
