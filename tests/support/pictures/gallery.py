"""Take pictures of the screen in each theme and each window size, one group of states at a time.

A group is a function that brings the window into a state and yields a `Shot` of it. The picture is
taken while the function waits, so that it can go on to its next state or clean up:

```
def show_palette(on: Stage) -> Iterator[Shot]:
    on.window.run_command("palette")
    yield Shot("palette")
    on.window.controllers.palette.close()
```
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from tests.support.pictures.sample_window import SIZES, Stage, settle
from tests.support.window.widgets import find_faults
from ui.theme import Mode, Theme
from ui.window import MainWindow

MODES: tuple[Mode, ...] = ("light", "dark")
_ORDER = {Qt.WindowType.Dialog: 1, Qt.WindowType.Popup: 2, Qt.WindowType.ToolTip: 3}


@dataclass(frozen=True)
class Shot:
    """A state that is ready to be taken in every theme and size.

    Attributes:
        name: the start of the names of its pictures.
        arrange: restores what a change of the theme or size closes, such as a drawer.
        window: the window, if it is not that of the stage.
    """

    name: str
    arrange: Callable[[], object] = lambda: None
    window: QWidget | None = None


Group = Callable[[Stage], Iterator[Shot]]


def take(on: Stage, groups: Iterable[Group], folder: Path, sizes: Iterable[str]) -> int:
    """Save the pictures of all states of the groups. Return the number of pictures."""
    number = 0
    chosen = list(sizes)
    folder.mkdir(parents=True, exist_ok=True)
    for group in groups:
        _reset(on)
        for shot in group(on):
            number += _take_all(on, shot, folder, chosen)
    return number


def _reset(on: Stage) -> None:
    on.show("light", "medium")
    on.window.columns.close_drawer()
    on.window.controllers.reading.close()
    on.window.open_session(None)
    settle()


def _take_all(on: Stage, shot: Shot, folder: Path, sizes: list[str]) -> int:
    window = shot.window or on.window
    for mode in MODES:
        Theme.current().apply(mode)
        for size in sizes:
            window.resize(*SIZES[size])
            window.activateWindow()
            settle(60)
            shot.arrange()
            _place_dialogs(window)
            settle(150)
            name = f"{shot.name}-{size}-{mode}"
            grab_screen(window).save(str(folder / f"{name}.png"))
            faults = [fault for one in _list_windows(window) for fault in find_faults(one)]
            print(name, *faults, sep="\n  ", flush=True)
    return len(MODES) * len(sizes)


def grab_screen(window: QWidget) -> QPixmap:
    """Return a picture of a window with all dialogs, menus and tooltips over it."""
    picture = window.grab()
    painter = QPainter(picture)
    for widget in _list_windows(window)[1:]:
        spot = widget.geometry().topLeft() - window.geometry().topLeft()
        painter.drawPixmap(spot, widget.grab())
        painter.setPen(Theme.current().color("line.strong"))
        painter.drawRect(widget.geometry().translated(spot - widget.geometry().topLeft()))
    painter.end()
    return picture


def _place_dialogs(window: QWidget) -> None:
    """Put the dialogs in the middle of the window, where they open on a desktop."""
    for widget in _list_windows(window)[1:]:
        if widget.windowType() == Qt.WindowType.Dialog:
            room = window.size() - widget.size()
            widget.move(window.pos() + QPoint(max(0, room.width()), max(0, room.height())) / 2)
            widget.activateWindow()


def _list_windows(window: QWidget) -> list[QWidget]:
    """Return the window and everything over it, the lowest first."""
    above = [
        widget
        for widget in QApplication.topLevelWidgets()
        if widget is not window and widget.isVisible() and not isinstance(widget, MainWindow)
    ]
    above.sort(key=lambda widget: _ORDER.get(widget.windowType(), 0))
    return [window, *above]
