"""The command palette: finds commands, chats, projects and notes by parts of their names."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from shiboken6 import isValid

from ui.icons import icon
from ui.theme import Theme, dress, tokens
from ui.widgets.completion_list import SHOWN_ROWS, Choice, ChoiceView, Match, find_choices
from ui.widgets.controls import make_wrapped_label, one_line
from ui.widgets.layouts import grow, make_column
from ui.widgets.surfaces import AccessibleFrame, Hairline

__all__ = ["Group", "Palette", "WiderSearch"]

_FROM_TOP = 0.12
_INSET, _GAP = 8, 6
_STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -SHOWN_ROWS,
    Qt.Key.Key_PageDown: SHOWN_ROWS,
}
Group = tuple[str, Sequence[Choice]]


@dataclass(frozen=True)
class WiderSearch:
    """A search among more items, which the palette offers as its last row.

    Attributes:
        choice: the row.
        groups: the items to choose from, as in `Palette.open`.
        hint: the placeholder text of the search field.
    """

    choice: Choice
    groups: Sequence[Group]
    hint: str


class Palette(AccessibleFrame):
    """The command palette. It closes on Esc, when an item is chosen, or when it loses the focus.

    Emits `chosen` with the name of the chosen item's group, and the item's value.

    Attributes:
        is_loading: whether notes are still being listed, so that none can be found yet.
    """

    chosen = Signal(str, str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(QAccessible.Role.Dialog, window)
        self._groups: Sequence[Group] = ()
        self._wider: WiderSearch | None = None
        self._came_from: QWidget | None = None
        self.setAccessibleName("Palette")
        self.is_loading = False
        self.field = QLineEdit()
        self.field.setProperty("bare", True)
        dress(self.field, "body", "")
        self.field.textChanged.connect(self._on_text)
        self.field.installEventFilter(self)
        self.field.addAction(icon("magnifying-glass"), QLineEdit.ActionPosition.LeadingPosition)
        self.view = ChoiceView("Matching commands")
        self.view.chosen.connect(lambda _value: self._choose())
        self._nothing = make_wrapped_label("", "ui", "secondary")
        self._nothing.setContentsMargins(12, 6, 12, 6)
        self._nothing.hide()
        make_column(
            self.field,
            Hairline(),
            self._nothing,
            grow(self.view),
            margins=(_INSET, _INSET, _INSET, _INSET),
            spacing=_GAP,
            parent=self,
        )
        self.hide()

    def open(
        self,
        groups: Sequence[Group],
        hint: str,
        text: str = "",
        wider: WiderSearch | None = None,
    ) -> None:
        """Open the palette.

        Args:
            groups: the items to choose from, as pairs of a group's name and the group's items.
            hint: the placeholder text of the search field.
            text: what is searched for at first. It is selected, so that typing replaces it.
            wider: the search that the last row widens this one to, or None.
        """
        self._groups, self._wider = groups, wider
        focused = QApplication.focusWidget()
        if focused is not None and not self.isAncestorOf(focused):
            self._came_from = focused
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(hint)
        self.field.setText(text)
        self.field.selectAll()
        self._on_text(text)
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def dismiss(self) -> bool:
        """Close the palette and restore the previous focus. Return False if it was not open."""
        if self.isHidden():
            return False
        self.hide()
        before, self._came_from = self._came_from, None
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle Esc, Enter and the arrow keys of the search field before the window does."""
        if event.type() == QEvent.Type.FocusOut and not self.isHidden():
            self.hide()
        if not isinstance(event, QKeyEvent):
            return False
        key = Qt.Key(event.key())
        if event.type() == QEvent.Type.ShortcutOverride and key == Qt.Key.Key_Escape:
            event.accept()
            return True
        return event.type() == QEvent.Type.KeyPress and self._take(key)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the background and border of the palette."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.color("line.strong"))
        painter.setBrush(theme.color("bg.overlay"))
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, theme.radius("xl"), theme.radius("xl"))

    def _take(self, key: Qt.Key) -> bool:
        if key == Qt.Key.Key_Escape:
            return self.dismiss()
        if key in _STEPS:
            self.view.step(_STEPS[key])
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._choose()
        else:
            return False
        return True

    def _on_text(self, text: str) -> None:
        choices = chain.from_iterable(choices for _, choices in self._groups)
        found = find_choices(choices, text)
        has_found = bool(found)
        if self._wider is not None:
            found.append(Match(self._wider.choice))
        self.view.show_matches(found)
        nothing = f"Nothing found for “{one_line(text)}”. Try fewer words."
        self._nothing.setText("Loading notes…" if self.is_loading else nothing)
        self._nothing.setVisible(bool(text.strip()) and not has_found)
        self.view.setVisible(bool(found))
        self._place()

    def _choose(self) -> None:
        choice = self.view.current
        if choice is None:
            return
        if self._wider is not None and choice is self._wider.choice:
            self.open(self._wider.groups, self._wider.hint, self.field.text())
            self.field.end(False)
            return
        self.dismiss()
        for group, choices in self._groups:
            if any(known is choice for known in choices):
                self.chosen.emit(group, choice.value)
                return

    def _place(self) -> None:
        theme, window = Theme.current(), self.window()
        width, height = (theme.px(side) for side in tokens()["layout"]["palette"])
        top = round(window.height() * _FROM_TOP)
        width, room = min(width, window.width() - 32), window.height() - top - 16
        rows = len(self.view.matches) * theme.px(theme.value("control.row"))
        if not self._nothing.isHidden():
            between = _GAP if rows else 0
            rows += self._nothing.heightForWidth(width - 2 * _INSET) + between
        head = self.field.sizeHint().height() + 2 * _INSET + 2 * _GAP + 1
        self.setGeometry((window.width() - width) // 2, top, width, min(height, room, head + rows))
