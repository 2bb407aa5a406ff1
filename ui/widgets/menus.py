"""A button that opens a menu of choices and shows the chosen one."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from ui.icons import paint_icon
from ui.theme import Theme, dress
from ui.widgets.controls import one_line, paint_focus, plain_tip

__all__ = ["MenuButton"]

_ARROW = 12
_ICON = 16
_ROUNDED = 2  # text widths are rounded down, and a word that is one pixel too wide is elided
_FEWEST = 5


class MenuButton(QToolButton):
    """A menu button labelled with the current choice; `chosen` carries a newly chosen value.

    Args:
        name: the name of the choice, such as "Model".
        icon_name: the icon before the label; empty for none.
        kind: the type role of the label.
        parent: the Qt parent.
    """

    chosen = Signal(str)

    def __init__(
        self, name: str, icon_name: str = "", kind: str = "ui", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._name, self._icon_name = name, icon_name
        self._words: dict[str, str] = {}
        self.value = ""
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._on_triggered)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        dress(self, kind, "secondary")
        self.set_value("")

    def set_choices(self, choices: Sequence[tuple[str, str, str]]) -> None:
        """Fill the menu with tuples of value, label, and a second text next to the label."""
        self._words = {value: one_line(word) for value, word, _ in choices}
        self._menu.clear()
        for value, word, beside in choices:
            text = one_line(word).replace("&", "&&")
            action = self._menu.addAction(f"{text}\t{one_line(beside)}" if beside else text)
            action.setCheckable(True)
            action.setData(value)
        self.set_value(self.value)

    def set_value(self, value: str) -> None:
        """Set the current choice; a value that is not in the menu is shown as it is."""
        self.value = value
        word = self._words.get(value, one_line(value))
        self.setText(word)
        said = f"{self._name}: {word}" if word else self._name
        self.setAccessibleName(said)
        self.setToolTip(plain_tip(said))
        for action in self._menu.actions():
            action.setChecked(action.data() == value)
        self.updateGeometry()

    def set_icon(self, icon_name: str) -> None:
        """Set the icon before the label."""
        self._icon_name = icon_name
        self.update()

    def open(self) -> None:
        """Open the menu."""
        self.showMenu()

    def sizeHint(self) -> QSize:
        """Return the size of icon, label and arrow."""
        text = QFontMetrics(self.font()).horizontalAdvance(self.text())
        before, after = self._sides()
        return QSize(before + text + _ROUNDED + after, Theme.current().px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the width for a few letters, since a long label is elided."""
        theme = Theme.current()
        return QSize(min(theme.px(88), self.sizeHint().width()), theme.px(28))

    def changeEvent(self, event: QEvent) -> None:
        """Update the size when the font changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw background, icon, label and arrow."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_hot = self.underMouse() or self.isDown()
        if is_hot:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("bg.pressed" if self.isDown() else "bg.hover"))
            painter.drawRoundedRect(self.rect(), theme.radius("md"), theme.radius("md"))
        if self.hasFocus():
            paint_focus(painter, self.rect())
        tone = "text.primary" if is_hot else "text.secondary"
        if self._icon_name:
            paint_icon(painter, self._square(8, theme.px(_ICON)), self._icon_name, tone)
        before, after = self._sides()
        text = self.rect().adjusted(before, 0, -after, 0)
        painter.setPen(theme.color(tone))
        painter.setFont(self.font())
        middle = Qt.TextElideMode.ElideMiddle
        word = QFontMetrics(self.font()).elidedText(self.text(), middle, text.width())
        if len(word) >= min(_FEWEST, len(self.text())):  # fewer letters would be meaningless
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, word)
        side = theme.px(_ARROW)
        arrow = self._square(self.width() - side - 7, side).translated(0, 1)
        paint_icon(painter, arrow, "caret-down", "text.tertiary")

    def _sides(self) -> tuple[int, int]:
        """Return the widths in pixels to the left and right of the label."""
        theme = Theme.current()
        before = theme.px(_ICON) + 14 if self._icon_name else 8
        return before, theme.px(_ARROW) + 11

    def _square(self, left: int, side: int) -> QRect:
        return QRect(left, (self.height() - side) // 2, side, side)

    def _on_triggered(self, action: QAction) -> None:
        value = str(action.data())
        is_other = value != self.value
        self.set_value(value)
        if is_other:
            self.chosen.emit(value)
