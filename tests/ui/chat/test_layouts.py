"""The layout of a widget is found although PySide6 takes it for an item that Qt has deleted."""

from collections.abc import Iterator

from PySide6.QtWidgets import QLayout, QVBoxLayout, QWidget, QWidgetItem
from pytestqt.qtbot import QtBot

from ui.widgets.layouts import lay_out_now


class Mistaken(QWidget):
    """A widget of which PySide6 first returns an old object in place of the layout."""

    def __init__(self, child: QWidget) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.addWidget(child)
        self._found: Iterator[object] = iter((QWidgetItem(child), self.column))

    def layout(self) -> QLayout:
        """Return the old object, and then the layout."""
        found: QLayout = next(self._found)  # type: ignore[assignment]
        return found


def test_an_old_object_in_place_of_the_layout_is_dropped(qtbot: QtBot) -> None:
    child = QWidget()
    child.setMinimumSize(120, 40)
    widget = Mistaken(child)
    qtbot.addWidget(widget)
    widget.resize(300, 200)
    lay_out_now(widget)
    assert child.width() == 300 - 2 * widget.column.contentsMargins().left()


def test_a_widget_without_a_layout_is_left_alone(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    lay_out_now(widget)
    assert widget.layout() is None
