"""Tells a test what the window of a running program shows; loaded into the program by the test.

The probe answers one JSON request per line on a pipe. It reads Qt's accessibility tree, which is
what a screen reader gets: no class, attribute or object name of Strata is used, and nothing in the
window is changed. All input comes from the X server.

    test ── {"ask": "nodes"} ──> reader thread ── event ──> Qt's main thread
         <── {"nodes": […]} ──                 <── reply ──
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

VARIABLE = "STRATA_TEST_PROBE"
_MOST_CHILDREN = 400
Json = dict[str, Any]


def start() -> None:
    """Start to answer, if the environment names the pipe's two ends; otherwise do nothing."""
    ends = os.environ.pop(VARIABLE, "")
    if ends:
        source, target = (int(end) for end in ends.split(","))
        for end in (source, target):
            os.set_inheritable(end, False)
        threading.Thread(target=_serve, args=(source, target), daemon=True).start()


def _serve(source: int, target: int) -> None:
    main: Callable[[Callable[[], Json]], Json] | None = None
    with os.fdopen(source, "rb") as lines, os.fdopen(target, "wb", buffering=0) as replies:
        for line in lines:
            request = json.loads(line)
            main = main or _find_main_thread()
            try:
                reply = {} if main is None else main(lambda asked=request: _answer(asked))
            except Exception as error:  # noqa: BLE001 - the test reports it
                reply = {"error": repr(error)}
            replies.write(json.dumps(reply).encode() + b"\n")


def _find_main_thread() -> Callable[[Callable[[], Json]], Json] | None:
    """Return a function that runs another one in Qt's main thread; None before Qt has started."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    app = widgets and getattr(widgets, "QApplication", None) and widgets.QApplication.instance()
    if not app:
        return None
    from PySide6.QtCore import QCoreApplication, QEvent, QObject
    from PySide6.QtGui import QAccessible

    wanted: queue.SimpleQueue[Callable[[], Json]] = queue.SimpleQueue()
    found: queue.SimpleQueue[Json | Exception] = queue.SimpleQueue()

    class Receiver(QObject):
        def customEvent(self, _event: QEvent) -> None:  # noqa: N802 - Qt names it
            try:
                found.put(wanted.get()())
            except Exception as error:  # noqa: BLE001 - raised again in the reader thread
                found.put(error)

    receiver = Receiver()
    receiver.moveToThread(app.thread())

    def activate() -> Json:
        """Let views tell when their rows change, as they do once a screen reader is there."""
        QAccessible.setActive(True)
        return {}

    def run(work: Callable[[], Json]) -> Json:
        wanted.put(work)
        QCoreApplication.postEvent(receiver, QEvent(QEvent.Type.User))
        reply = found.get()
        if isinstance(reply, Exception):
            raise reply
        return reply

    run(activate)
    return run


def _answer(request: Json) -> Json:
    match request["ask"]:
        case "nodes":
            return {"nodes": list(_nodes())}
        case "words":
            return {"rects": list(_find_words(request["words"], request["under"]))}
        case "unfocused":
            return {"window": _find_unfocused()}
        case "save":
            return {"saved": _save_screen(request["path"])}
    raise ValueError(request)


def _windows() -> Iterator[Any]:
    """Yield the accessibility interfaces of the visible windows, the front one last."""
    from PySide6.QtGui import QAccessible
    from PySide6.QtWidgets import QApplication

    front = QApplication.activePopupWidget() or QApplication.activeModalWidget()
    for widget in sorted(_top_levels(), key=lambda one: (one is front, one.isActiveWindow())):
        yield QAccessible.queryAccessibleInterface(widget)


def _top_levels() -> list[Any]:
    from PySide6.QtWidgets import QApplication
    from shiboken6 import isValid

    return [one for one in QApplication.topLevelWidgets() if isValid(one) and one.isVisible()]


def _find_unfocused() -> int | None:
    """Return the X window that a window manager would focus; None if a window has the focus."""
    from PySide6.QtWidgets import QApplication, QDialog

    if QApplication.activePopupWidget() or QApplication.activeWindow():
        return None
    front = QApplication.activeModalWidget()
    shown = sorted(_top_levels(), key=lambda one: (one is front, isinstance(one, QDialog)))
    return int(shown[-1].winId()) if shown else None


def _nodes() -> Iterator[Json]:
    """Yield everything that is visible, each with the names of what it is in."""
    for number, window in enumerate(_windows()):
        yield from _walk(window, number, ())


def _walk(one: Any, window: int, above: tuple[str, ...]) -> Iterator[Json]:
    from PySide6.QtGui import QAccessible

    if one is None or not one.isValid() or one.state().invisible:
        return
    rect, name = _visible_rect(one), one.text(QAccessible.Text.Name)
    if rect is not None:
        yield _describe(one, name, rect, window, above)
    inner = (*above, name) if name else above
    for at in range(min(one.childCount(), _MOST_CHILDREN)):
        yield from _walk(one.child(at), window, inner)


def _describe(one: Any, name: str, rect: list[int], window: int, above: tuple[str, ...]) -> Json:
    from PySide6.QtGui import QAccessible

    state, text = one.state(), one.textInterface()
    return {
        "role": one.role().name,
        "name": name,
        "text": text.text(0, text.characterCount()) if text else one.text(QAccessible.Text.Value),
        "about": one.text(QAccessible.Text.Description),
        "rect": rect,
        "above": above,
        "window": window,
        "is_enabled": not state.disabled,
        "has_focus": bool(state.focused),
        "is_checked": bool(state.checked),
        "is_selected": bool(state.selected),
    }


def _visible_rect(one: Any) -> list[int] | None:
    """Return the part of something that is not clipped, in pixels of the screen."""
    from PySide6.QtWidgets import QWidget
    from shiboken6 import isValid

    rect, owner = one.rect(), one.object()
    widget = owner if isinstance(owner, QWidget) else _find_widget(one)
    if isinstance(widget, QWidget) and isValid(widget):
        seen = widget.visibleRegion().boundingRect()
        seen.moveTopLeft(widget.mapToGlobal(seen.topLeft()))
        rect = rect.intersected(seen) if owner is not widget else seen
    return None if rect.isEmpty() else [rect.x(), rect.y(), rect.width(), rect.height()]


def _find_widget(one: Any) -> Any:
    """Return the widget that shows an item, such as the viewport of a list."""
    above = one.parent()
    while above is not None and above.isValid():
        if (owner := above.object()) is not None:
            viewport = getattr(owner, "viewport", None)
            return viewport() if callable(viewport) else owner
        above = above.parent()
    return None


def _find_words(words: str, under: str) -> Iterator[list[int]]:
    """Yield where some words are shown in texts, below something with the name `under`."""
    for window in _windows():
        for one in _list_texts(window, under, is_inside=not under):
            text = one.textInterface()
            whole = text.text(0, text.characterCount())
            seen, at = _visible_rect(one), whole.find(words)
            while at >= 0 and seen is not None:
                start, end = _count_units(whole[:at]), _count_units(whole[: at + len(words) - 1])
                first, last = text.characterRect(start), text.characterRect(end)
                yield [*first.united(last).getRect()]
                at = whole.find(words, at + 1)


def _count_units(text: str) -> int:
    """Count the UTF-16 code units of a text, in which Qt measures places in it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _list_texts(one: Any, under: str, *, is_inside: bool) -> Iterator[Any]:
    from PySide6.QtGui import QAccessible

    if one is None or not one.isValid() or one.state().invisible:
        return
    is_inside = is_inside or one.text(QAccessible.Text.Name) == under
    if is_inside and one.textInterface():
        yield one
    for at in range(min(one.childCount(), _MOST_CHILDREN)):
        yield from _list_texts(one.child(at), under, is_inside=is_inside)


def _save_screen(path: str) -> bool:
    from PySide6.QtGui import QGuiApplication

    return QGuiApplication.primaryScreen().grabWindow(0).save(path)
