"""Open context menus and dialogs; a button with a menu, and a title that opens one."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QDialog, QMenu, QSizePolicy, QToolButton, QWidget

from ui.icons import begin_painting, paint_icon
from ui.theme import Theme, dress
from ui.widgets.buttons import PressedByEnter, paint_row
from ui.widgets.controls import draw_text, escape_tooltip, one_line
from ui.widgets.dialogs import update_hover

__all__ = [
    "MENU_INSET",
    "MenuButton",
    "TitleButton",
    "add_choice",
    "select_item",
    "show_dialog",
    "show_menu",
    "unlight_after",
]

_ARROW = 12
_ICON = 16
MENU_INSET = 8  # from the edge of a button to its label
_ROUNDED = 2  # added because text widths are rounded down, so that a word that fits would be elided
_FEWEST = 5


def show_menu(
    menu: QMenu, place: QPoint, opener: QWidget | None = None, *, is_by_key: bool = False
) -> None:
    """Show a menu and return immediately. The menu is deleted when it closes.

    Unlike `QMenu.exec`, this function does not run a nested event loop. During a nested loop, the
    widget that opened the menu could be deleted, and its event handler would then continue on a
    deleted object.

    Args:
        place: the position of the menu's top left corner in global coordinates.
        opener: the button that opened the menu, or None. If it has the focus, it was pressed with
            the keyboard, and an item of the menu is selected.
        is_by_key: whether a shortcut opened the menu, so that an item is selected.
    """
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if opener is not None:
        unlight_after(menu, opener)
    menu.popup(place)
    if is_by_key or (opener is not None and opener.hasFocus()):
        select_item(menu)


def show_dialog(dialog: QDialog) -> None:
    """Show a dialog that was made for this one time, and return immediately.

    The dialog belongs to its Qt parent, and is deleted when it closes. As for a menu, no nested
    event loop is run.
    """
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def add_choice(menu: QMenu, label: str, act: Callable[[], object]) -> None:
    """Add an item to a menu, whose label may be any text, such as the path of a note."""
    item = menu.addAction(one_line(label).replace("&", "&&"))
    item.triggered.connect(lambda _checked=False: act())


def select_item(menu: QMenu) -> None:
    """Highlight the checked item of an open menu, or else the first one, without triggering it."""
    enabled = [item for item in menu.actions() if item.isEnabled() and not item.isSeparator()]
    checked = [item for item in enabled if item.isChecked()]
    for item in (checked or enabled)[:1]:
        menu.setActiveAction(item)


def unlight_after(menu: QMenu, opener: QWidget) -> None:
    """Remove the hover highlight of a button when its menu closes.

    Qt itself would remove the highlight only when the pointer next moves over the window.
    """
    menu.aboutToHide.connect(lambda: QTimer.singleShot(0, opener, lambda: update_hover(opener)))


class MenuButton(PressedByEnter, QToolButton):
    """A button that opens a menu of choices. Its label is the current choice.

    The signal `chosen` is emitted with the value of a choice when the user chooses another one.

    Args:
        name: the name of the setting that the menu changes, such as "Model".
        icon_name: the name of the icon before the label, or an empty string for no icon.
        kind: the role of the label in the theme, such as `ui`, which sets the font.
        parent: the Qt parent.
        unset: the label while nothing is chosen, that is while the value is an empty string that
            the menu does not contain.
    """

    chosen = Signal(str)

    def __init__(
        self,
        name: str,
        icon_name: str = "",
        kind: str = "ui",
        parent: QWidget | None = None,
        *,
        unset: str = "",
    ) -> None:
        super().__init__(parent)
        self._name, self._icon_name, self._unset = name, icon_name, unset
        self._words: dict[str, str] = {}
        self.value = ""
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._on_triggered)
        self._menu.aboutToShow.connect(self._on_about_to_show)
        self._is_opened_by_command = False
        self.setMenu(self._menu)
        unlight_after(self._menu, self)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        dress(self, kind, "secondary")
        self.set_value("")

    def set_choices(self, choices: Sequence[tuple[str, str, str]]) -> None:
        """Replace the choices in the menu.

        Args:
            choices: the value, the label and an additional text of each choice. The menu shows the
                text after the label.
        """
        self._words = {value: one_line(word) for value, word, _ in choices}
        self._menu.clear()
        for value, word, beside in choices:
            text = one_line(word).replace("&", "&&")
            action = self._menu.addAction(f"{text}\t{one_line(beside)}" if beside else text)
            action.setCheckable(True)
            action.setData(value)
        self.set_value(self.value)

    def set_value(self, value: str) -> None:
        """Set the current choice without emitting `chosen`.

        Args:
            value: the value of the choice. If the menu does not contain it, it becomes the label
                itself.
        """
        self.value = value
        word = self._words.get(value, one_line(value) or self._unset)
        self.setText(word)
        text = f"{self._name}: {word}" if word else self._name
        self.setAccessibleName(text)
        self.setToolTip(escape_tooltip(text))
        for action in self._menu.actions():
            action.setChecked(action.data() == value)
        self.updateGeometry()

    def set_icon(self, icon_name: str) -> None:
        """Set the icon before the label."""
        self._icon_name = icon_name
        self.update()

    def open(self) -> None:
        """Open the menu with the current choice selected. Call this for a keyboard shortcut."""
        self._is_opened_by_command = True
        self.showMenu()

    def sizeHint(self) -> QSize:
        """Return the size that the icon, the label and the arrow need."""
        text = QFontMetrics(self.font()).horizontalAdvance(self.text())
        before, after = self._sides()
        return QSize(before + text + _ROUNDED + after, Theme.current().px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the width of a few letters, because a long label can be elided."""
        theme = Theme.current()
        return QSize(min(theme.px(88), self.sizeHint().width()), theme.px(28))

    def changeEvent(self, event: QEvent) -> None:
        """Update the button's size when the font changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the button's background, icon, label and arrow."""
        theme, painter = Theme.current(), begin_painting(self)
        paint_row(self, painter)
        tone = "text.primary" if self.underMouse() or self.isDown() else "text.secondary"
        if self._icon_name:
            paint_icon(painter, self._square(8, theme.px(_ICON)), self._icon_name, tone)
        before, after = self._sides()
        text = self.rect().adjusted(before, 0, -after, 0)
        painter.setPen(theme.color(tone))
        painter.setFont(self.font())
        middle = Qt.TextElideMode.ElideMiddle
        word = QFontMetrics(self.font()).elidedText(self.text(), middle, text.width())
        if len(word) >= min(_FEWEST, len(self.text())):  # fewer letters would be meaningless
            draw_text(painter, text, Qt.AlignmentFlag.AlignVCenter, word)
        side = theme.px(_ARROW)
        arrow = self._square(self.width() - side - 7, side).translated(0, 1)
        paint_icon(painter, arrow, "caret-down", "text.tertiary")

    def _sides(self) -> tuple[int, int]:
        """Return the widths in pixels that are needed to the left and to the right of the label."""
        theme = Theme.current()
        before = theme.px(_ICON) + 14 if self._icon_name else MENU_INSET
        return before, theme.px(_ARROW) + 11

    def _square(self, left: int, side: int) -> QRect:
        return QRect(left, (self.height() - side) // 2, side, side)

    def _on_about_to_show(self) -> None:
        if self._is_opened_by_command or self.hasFocus():
            QTimer.singleShot(0, self._menu, lambda: select_item(self._menu))
        self._is_opened_by_command = False

    def _on_triggered(self, action: QAction) -> None:
        value = str(action.data())
        is_other = value != self.value
        self.set_value(value)
        if is_other:
            self.chosen.emit(value)


class TitleButton(PressedByEnter, QAbstractButton):
    """A one-line title that looks like a button. A click only emits `clicked`.

    The receiver of this signal shows the menu.

    Args:
        what: the kind of item that the title names, such as "Chat", for screen readers.
        tip: the tooltip, which says what a click does.
    """

    def __init__(self, what: str, tip: str) -> None:
        super().__init__()
        self._what, self._tip = what, tip
        self._whole = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        dress(self, "ui_strong")

    @property
    def whole(self) -> str:
        """The full title, before elision."""
        return self._whole

    def set_text(self, text: str) -> None:
        """Set the title that the button shows."""
        self._whole = one_line(text)
        self.setAccessibleName(f"{self._what}: {self._whole}")
        self.setToolTip(escape_tooltip(f"{self._whole}\n{self._tip}"))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the full title and the arrow."""
        theme = Theme.current()
        text = QFontMetrics(self.font()).horizontalAdvance(self._whole)
        return QSize(MENU_INSET + text + _ROUNDED + theme.px(_ARROW) + 11, theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the width of a few letters, because a long title can be elided."""
        theme = Theme.current()
        return QSize(min(theme.px(56), self.sizeHint().width()), theme.px(28))

    def changeEvent(self, event: QEvent) -> None:
        """Update the button's size when the font changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the button's background, title and arrow."""
        theme, painter = Theme.current(), begin_painting(self)
        paint_row(self, painter)
        side = theme.px(_ARROW)
        text = self.rect().adjusted(MENU_INSET, 0, -side - 11, 0)
        painter.setPen(theme.color("text.primary"))
        painter.setFont(self.font())
        right = Qt.TextElideMode.ElideRight
        word = QFontMetrics(self.font()).elidedText(self._whole, right, text.width())
        draw_text(painter, text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, word)
        arrow = QRect(self.width() - side - 7, (self.height() - side) // 2 + 1, side, side)
        paint_icon(painter, arrow, "caret-down", "text.tertiary")
