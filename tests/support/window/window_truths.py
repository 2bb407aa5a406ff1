"""What is true of the window after each press, whatever was pressed."""

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from ui.chat.message.answer import Answer
from ui.chat.message.edits_card import EditsCard
from ui.panels.chats.sessions import ChatList
from ui.panels.context.panel import ContextPanel

_UNPAID = ("No answer came to this request", "This request was not sent")


def find_untruths(window: QWidget) -> Iterator[str]:
    """Yield a sentence for each thing in a window that is untrue, stuck or in the way."""
    if QApplication.activeModalWidget() is None and QApplication.activePopupWidget() is None:
        yield from _find_covered_buttons(window)
        if window.isActiveWindow() and window.focusWidget() is None:
            yield "no widget of the window has the focus"
    for chats in window.findChildren(ChatList):
        if len(chats.selectedIndexes()) > 1:
            yield "more than one chat is shown as open"
    for panel in window.findChildren(ContextPanel):
        said = _list_texts(panel)
        if any(text in _UNPAID for text in said) and any("$" in text for text in said):
            yield f"a request without an answer has a price: {said}"
    for card in window.findChildren(EditsCard):
        said = _list_texts(card)
        if any(text.startswith("Undone.") for text in said) and "changed" in said[0].split()[-1:]:
            yield f"undone changes are called changes: {said}"


def _find_covered_buttons(window: QWidget) -> Iterator[str]:
    """Yield the buttons of messages that the button to the latest message covers."""
    jumps = [
        one
        for one in window.findChildren(QAbstractButton)
        if one.text() == "Jump to latest" and one.isVisible()
    ]
    for jump in jumps:
        for answer in window.findChildren(Answer):
            for button in answer.findChildren(QAbstractButton):
                if button.isVisible() and _find_area(button).intersects(_find_area(jump)):
                    yield f"{button.accessibleName() or button.text()} is covered by {jump.text()}"


def _list_texts(root: QWidget) -> list[str]:
    return [one.text() for one in root.findChildren(QLabel) if one.isVisible() and one.text()]


def _find_area(widget: QWidget) -> QRect:
    return QRect(widget.mapToGlobal(QPoint()), widget.size())
