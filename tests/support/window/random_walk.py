"""A random walk through the window: click and press what is visible, in an order chosen by a seed.

The walk never leaves the program: file dialogs are answered for it, and nothing is opened outside.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QPoint, QRect, Qt, QThread, QTimer
from PySide6.QtGui import QDesktopServices, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QApplication,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextBrowser,
    QTextEdit,
    QWidget,
)

from tests.support.window.clicks import visible_rows
from tests.support.window.faults import Faults, Heartbeat

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
NONE = Qt.KeyboardModifier.NoModifier
TYPED = (
    "When is the server backed up?",
    "How acid is the soil?",
    "/context",
    "/compact",
    "/h",
    "[[Home",
    "@",
    "server",
    "0.5",
    "12000",
    "half \ud83d\ude00 and 庭 and قهوة",
)
WINDOWS = {Qt.WindowType.Dialog, Qt.WindowType.Tool, Qt.WindowType.Window}
WIDTHS = (1440, 1440, 900, 720, 1600)
_PAUSES_MS = (0, 0, 10, 60)
_SEEN = 40
_STUCK_MS = 20_000
_FIRING_MS = 40
_LONGEST_PAUSE_MS = 60_000


@dataclass(frozen=True)
class Target:
    """Something that can be pressed: a point in a widget, and the name a user would give it."""

    kind: str
    name: str
    widget: QWidget
    spot: QPoint

    @property
    def key(self) -> str:
        """A text that identifies the target, wherever it is."""
        return f"{self.kind} {type(self.widget).__name__} {self.name}"


class Walk:
    """Presses random targets, and closes everything that this has opened.

    Args:
        open_window: opens the window; called again if a press has closed it.
        find_untruths: yields a sentence for each thing in the window that may not be so.
    """

    def __init__(
        self,
        seed: int,
        open_window: Callable[[], QWidget],
        faults: Faults,
        find_untruths: Callable[[QWidget], Iterable[str]] = lambda _window: (),
    ) -> None:
        self.pressed: list[str] = []
        self.longest_block_s = 0.0
        self.counts: Counter[str] = Counter()
        self._random = random.Random(seed)
        self._open_window = open_window
        self._window = open_window()
        self._faults = faults
        self._find_untruths = find_untruths
        self._left = 0
        self._levels: list[int] = []
        self._loop = QEventLoop()
        self._pauses: list[int] = []  # after which presses, the last one first
        self._real_pauses = self._fired = 0
        self._is_pausing = False

    @property
    def fired_timers(self) -> int:
        """How many timers of the window have fired early, because a pause was made short."""
        return self._fired

    def run(self, presses: int, pauses: int = 0, real_pauses: int = 0) -> None:
        """Press this many targets, including those in menus and dialogs that a press opens.

        Args:
            presses: the number of presses.
            pauses: the number of pauses among them, each as long as the longest timer that runs.
                They are made short: every timer fires at once instead.
            real_pauses: the number of these pauses that are not made short.
        """
        self._left, self._real_pauses = presses, real_pauses
        self._pauses = [presses * at // (pauses + 1) for at in range(1, pauses + 1)]
        heartbeat = Heartbeat(self._faults)
        watch = QTimer(interval=_STUCK_MS)
        last = [presses]

        def look() -> None:
            if self._left == last[0] and not self._is_pausing:
                self._faults.note(f"no press came to its end within {_STUCK_MS} ms")
            last[0] = self._left

        watch.timeout.connect(look)
        watch.start()
        self._faults.where = lambda: " → ".join(self.pressed[-6:])
        self._soon()
        self._loop.exec()
        watch.stop()
        heartbeat.stop()
        self.longest_block_s = heartbeat.longest_s
        self._window.close()
        self._window.deleteLater()

    def _soon(self) -> None:
        QTimer.singleShot(self._random.choice(_PAUSES_MS) if not self._levels else 5, self._step)

    def _step(self) -> None:
        """Press one target; first schedule the next step, since the press may run an event loop."""
        level = QThread.currentThread().loopLevel()
        if self._levels and level <= self._levels[-1]:
            self._soon()  # the last press has not ended yet, and is only processing events
            return
        if self._left <= 0:
            self._end()
            return
        if not self._levels and self._pauses and self._left <= self._pauses[-1]:
            self._pauses.pop()
            self._pause(is_real=len(self._pauses) < self._real_pauses)
            return
        self._left -= 1
        self._soon()
        if not self._window.isVisible():
            self._say("open the window again")
            self._window.deleteLater()
            self._window = self._open_window()
            return
        if not self._levels:
            # As at the next painting, which the user sees: a press may have left layouts to do.
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
            for untruth in self._find_untruths(self._window):
                self._faults.note(untruth)
        self._levels.append(level)
        try:
            self._press_one()
        except RuntimeError as error:  # the pressed widget was deleted before the press ended
            if "already deleted" not in str(error):
                self._faults.take(error)
        except Exception as error:  # noqa: BLE001 - a fault in an override comes out of the press
            self._faults.take(error)
        finally:
            self._levels.pop()

    def _pause(self, *, is_real: bool) -> None:
        """Wait until the longest timer has fired, or let all timers fire at once."""
        timers = list(find_timers())
        if is_real:
            longest = max((timer.interval() for timer in timers), default=0)
            self._say(f"wait {longest} ms")
            self._is_pausing = True
            QTimer.singleShot(min(longest, _LONGEST_PAUSE_MS) + _FIRING_MS, self._resume)
            return
        self._say(f"let {len(timers)} timers fire")
        self._fired += len(timers)
        before = [(timer, timer.interval()) for timer in timers]
        for timer in timers:
            timer.start(0)
        QTimer.singleShot(_FIRING_MS, lambda: self._resume(before))

    def _resume(self, before: Sequence[tuple[QTimer, int]] = ()) -> None:
        """Give the timers that have fired their intervals again, and go on with the walk."""
        for timer, interval in before:
            if shiboken6.isValid(timer) and timer.interval() == 0:
                timer.setInterval(interval)
        self._is_pausing = False
        self._soon()

    def _end(self) -> None:
        """Close what is open, the innermost first, until the walk's own event loop is left."""
        popup = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if popup is not None:
            popup.close()
        if self._levels or popup is not None:
            QTimer.singleShot(5, self._end)
        else:
            self._loop.quit()

    def _press_one(self) -> None:
        top = self._front()
        chance = self._random.random()
        if top.windowHandle() is None:
            return  # a dialog that is just being closed takes no presses
        if chance < 0.04:
            self._say("Escape")
            QTest.keyClick(top.windowHandle(), Qt.Key.Key_Escape)
        elif chance < 0.07 and top is self._window:
            self._use_shortcut(top)
        elif chance < 0.09 and top is self._window:
            width = self._random.choice(WIDTHS)
            self._say(f"width {width}")
            top.resize(width, 900)
        else:
            self._press_target(top)

    def _press_target(self, top: QWidget) -> None:
        found = list(targets(top))
        if not found:
            self._say("Escape, since there is nothing to press")
            QTest.keyClick(top.windowHandle(), Qt.Key.Key_Escape)
            return
        self._random.shuffle(found)
        some = found[:_SEEN]
        target = min(some, key=lambda target: self.counts[target.key])
        self.counts[target.key] += 1
        self._press(top, target)

    def _press(self, top: QWidget, target: Target) -> None:
        handle, spot = top.windowHandle(), target.widget.mapTo(top, target.spot)
        if handle.size() != top.size():
            return  # a popup that is just being resized takes no presses
        ways = WAYS[target.kind]
        way = self._random.choice(ways)
        self._say(f"{way} {target.key}")
        if way == "click":
            QTest.mouseClick(handle, LEFT, NONE, spot)
        elif way == "double":
            QTest.mouseClick(handle, LEFT, NONE, spot)
            if self._is_there(top) and top.rect().contains(spot) and not isinstance(top, QMenu):
                QTest.mouseDClick(top.windowHandle(), LEFT, NONE, spot)
        elif way == "right":
            QTest.mouseClick(handle, RIGHT, NONE, spot)
        else:
            self._press_key(top, target, way, spot)

    def _press_key(self, top: QWidget, target: Target, way: str, spot: QPoint) -> None:
        """Focus a target, then press Enter or the menu key, or type letters."""
        widget, view = target.widget, target.widget.parentWidget()
        if isinstance(view, QAbstractItemView):
            view.setFocus()
            view.setCurrentIndex(view.indexAt(target.spot))
        elif isinstance(widget, QMenu):
            widget.setActiveAction(widget.actionAt(target.spot))
        elif not widget.hasFocus():
            widget.setFocus(Qt.FocusReason.TabFocusReason)
        if way == "menu":
            QTest.keyClick(top.windowHandle(), Qt.Key.Key_Menu)
            return
        if way == "type":
            QTest.mouseClick(top.windowHandle(), LEFT, NONE, spot)
            for letter in self._random.choice(TYPED):
                if shiboken6.isValid(widget) and widget.isVisible():
                    _type(widget, letter)
        if self._is_there(top) and self._random.random() < 0.9:
            QTest.keyClick(top.windowHandle(), Qt.Key.Key_Return)

    def _use_shortcut(self, top: QWidget) -> None:
        known = [action for action in top.actions() if action.shortcuts()]
        action = self._random.choice(known)
        keys = action.shortcuts()[0]
        self._say(f"keys {keys.toString()}")
        QTest.keySequence(top.windowHandle(), keys)

    def _front(self) -> QWidget:
        """Return the widget that receives a user's clicks: a popup, a dialog, or the window."""
        front = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if front is not None:
            return front
        others = [
            widget
            for widget in QApplication.topLevelWidgets()
            if widget is not self._window
            and widget.isVisible()
            and widget.windowType() in WINDOWS
            and widget.windowHandle() is not None
        ]
        if others and self._random.random() < 0.8:
            return self._random.choice(others)
        return self._window

    def _is_there(self, top: QWidget) -> bool:
        """Return whether a window can still be used, and no other one is in front of it."""
        front = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if not shiboken6.isValid(top) or not top.isVisible() or top.windowHandle() is None:
            return False
        return front is None or front is top

    def _say(self, what: str) -> None:
        self.pressed.append(what)


WAYS = {
    "button": ("click", "click", "double", "enter"),
    "row": ("click", "double", "enter", "menu", "right"),
    "tab": ("click",),
    "item": ("click", "click", "enter"),
    "text": ("type", "type", "click", "menu", "right"),
    "page": ("click", "menu", "right", "enter"),
    "link": ("click", "right"),
    "slider": ("click",),
    "stop": ("click", "enter", "menu"),
}


def find_timers() -> Iterator[QTimer]:
    """Yield the running timers of all windows and of the application."""
    app = QApplication.instance()
    owners = [*([] if app is None else [app]), *QApplication.topLevelWidgets()]
    seen: set[int] = set()
    for owner in owners:
        for timer in owner.findChildren(QTimer):
            if timer.isActive() and id(timer) not in seen:
                seen.add(id(timer))
                yield timer


def _type(widget: QWidget, letter: str) -> None:
    """Type a letter; use an input method if a simple keyboard has no key for it."""
    if letter.isascii():
        QTest.keyClicks(widget, letter)
        return
    event = QInputMethodEvent()
    event.setCommitString(letter)
    QApplication.sendEvent(widget, event)


def targets(top: QWidget) -> Iterator[Target]:
    """Yield everything in a window that is visible and can be pressed."""
    if isinstance(top, QMenu):
        yield from _items(top)
        return
    for widget in [top, *top.findChildren(QWidget)]:
        if widget.window() is top and widget.isVisible() and widget.isEnabled():
            for target in _of(widget):
                if _is_uncovered(top, target):
                    yield target


def _of(widget: QWidget) -> Iterator[Target]:
    name = widget.accessibleName() or widget.objectName()
    middle = _visible(widget).center()
    if isinstance(widget, QScrollBar):
        return
    if isinstance(widget, QAbstractButton):
        yield Target("button", widget.accessibleName() or widget.text(), widget, middle)
    elif isinstance(widget, QAbstractItemView | QTabBar):
        yield from _rows(widget) if isinstance(widget, QAbstractItemView) else _tabs(widget)
    elif isinstance(widget, QTextBrowser):
        yield Target("page", name, widget.viewport(), middle)
        yield from _links(widget)
    elif isinstance(widget, QLineEdit | QTextEdit | QPlainTextEdit):
        yield Target("text", name, widget, middle)
    elif isinstance(widget, QAbstractSlider):
        yield Target("slider", name, widget, QPoint(widget.width() // 3, middle.y()))
    elif widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not widget.isWindow():
        yield Target("stop", name, widget, middle)


def _rows(view: QAbstractItemView) -> Iterator[Target]:
    for index in visible_rows(view):
        shown = str(index.data(Qt.ItemDataRole.AccessibleTextRole) or index.data())
        name = f"{view.accessibleName()}: {shown[:40]}"
        yield Target("row", name, view.viewport(), view.visualRect(index).center())


def _tabs(bar: QTabBar) -> Iterator[Target]:
    for at in range(bar.count()):
        yield Target("tab", bar.tabText(at), bar, bar.tabRect(at).center())


def _links(view: QTextBrowser) -> Iterator[Target]:
    """Yield the visible links that a grid of points finds."""
    seen, area = set(), _visible(view.viewport())
    for y in range(area.top(), area.bottom(), 14):
        for x in range(area.left(), area.right(), 24):
            href = view.anchorAt(QPoint(x, y))
            if href and href not in seen:
                seen.add(href)
                yield Target("link", href[:20], view.viewport(), QPoint(x, y))


def _items(menu: QMenu) -> Iterator[Target]:
    for action in menu.actions():
        if action.isVisible() and action.isEnabled() and not action.isSeparator():
            yield Target("item", action.text(), menu, menu.actionGeometry(action).center())


def _visible(widget: QWidget) -> QRect:
    return widget.visibleRegion().boundingRect()


def _is_uncovered(top: QWidget, target: Target) -> bool:
    """Return whether a click at the target's point reaches its widget."""
    widget = target.widget
    if not widget.visibleRegion().contains(target.spot):
        return False
    hit = top.childAt(widget.mapTo(top, target.spot))
    return hit is not None and (
        hit is widget or widget.isAncestorOf(hit) or hit.isAncestorOf(widget)
    )


@contextmanager
def inside(folders: list[Path], files: list[Path]) -> Iterator[list[str]]:
    """Keep a walk inside the program: answer file dialogs in turn, only record what it opens."""
    opened: list[str] = []
    turns = {"folder": 0, "file": 0, "new": 0}

    def choose_folder(*_given: Any, **_named: Any) -> str:
        turns["folder"] += 1
        return str(folders[turns["folder"] % len(folders)]) if turns["folder"] % 3 else ""

    def choose_files(*_given: Any, **_named: Any) -> tuple[list[str], str]:
        turns["file"] += 1
        return ([str(files[turns["file"] % len(files)])] if turns["file"] % 3 else []), ""

    def choose_new(*_given: Any, **_named: Any) -> tuple[str, str]:
        turns["new"] += 1
        return (f"{new}/{turns['new']}.zip" if turns["new"] % 3 else ""), ""

    def open_url(url: Any) -> bool:
        opened.append(url.toString())
        return True

    with (
        tempfile.TemporaryDirectory() as new,
        mock.patch.object(QFileDialog, "getSaveFileName", choose_new),
        mock.patch("ui.widgets.dialogs.ask_folder", choose_folder),
        mock.patch.object(QFileDialog, "getOpenFileNames", choose_files),
        mock.patch.object(QFileDialog, "getOpenFileName", return_value=("", "")),
        mock.patch.object(QDesktopServices, "openUrl", open_url),
    ):
        yield opened
