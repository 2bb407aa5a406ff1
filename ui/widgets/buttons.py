"""Buttons with tooltips, and switches. All of them can be reached with the keyboard."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QPushButton, QToolButton, QWidget

from ui.actions import Keymap
from ui.icons import icon
from ui.theme import Theme, dress
from ui.widgets.controls import escape_tooltip, paint_focus
from ui.widgets.geometry import Scaled

__all__ = [
    "CANCEL",
    "DISMISS",
    "DONE",
    "NO_TEXT",
    "SHOW_ALL",
    "SHOW_LESS",
    "UNDO",
    "ButtonText",
    "IconButton",
    "LabelledAction",
    "PressedByEnter",
    "PushButton",
    "Switch",
    "add_shortcut",
    "make_button",
    "paint_row",
]

if TYPE_CHECKING:
    _Button = QAbstractButton
else:
    _Button = object  # a widget can have only one base class of Qt


@dataclass(frozen=True)
class ButtonText:
    """The texts of a push button.

    Attributes:
        label: a verb and, if needed, its object.
        tip: the tooltip. It says what the label cannot: what happens.
        command: the window command that does the same, or an empty string. The tooltip shows the
            command's shortcut.
    """

    label: str
    tip: str
    command: str = ""


# A button that a notice, toast or error offers: its texts, and the function that a click calls.
LabelledAction = tuple[ButtonText, Callable[[], object]]

CANCEL = ButtonText("Cancel", "Close this without changing anything (Esc)")
DISMISS = ButtonText("Dismiss", "Close this message")
DONE = ButtonText("Done", "Close this window (Esc)")
SHOW_ALL = ButtonText("Show all", "Show what is folded away")
SHOW_LESS = ButtonText("Show less", "Fold this away again")
UNDO = ButtonText("Undo", "Take this back")
NO_TEXT = ButtonText("", "")  # for a button that is hidden until its text is known


class PressedByEnter(_Button):
    """A mixin for buttons that Enter presses while they have the focus, as Space does.

    Without it, Enter presses the default button of a dialog, and no button of the window. The mixin
    must precede the button class in the list of base classes.
    """

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the button on Enter."""
        is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if not is_enter or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self.click()


class PushButton(PressedByEnter, QPushButton):
    """A push button with a tooltip, and with a visible focus ring even if its role is `primary`.

    Args:
        text: the label and its tooltip.
        parent: the Qt parent.
    """

    def __init__(self, text: ButtonText, parent: QWidget | None = None) -> None:
        super().__init__(text.label, parent)
        self._text = text
        self._own_tip = ""
        Keymap.current().changed.connect(self._set_tip)
        self._set_tip()

    def set_text(self, text: ButtonText) -> None:
        """Set the label and its tooltip."""
        self._text = text
        self.setText(text.label)
        self._set_tip()

    def setToolTip(self, tip: str) -> None:
        """Replace the tooltip, such as by the reason why the button is disabled.

        An empty string restores the tooltip of the label.
        """
        self._own_tip = tip
        self._set_tip()

    def _set_tip(self) -> None:
        tip = self._own_tip or add_shortcut(self._text.tip, self._text.command)
        super().setToolTip(tip)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the button, with an additional focus ring if the button has the role `primary`.

        The usual focus ring is not visible on such a button, because its border has the same
        colour.
        """
        super().paintEvent(event)
        if self.hasFocus() and self.property("role") == "primary":
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_focus(painter, self.rect().adjusted(2, 2, -2, -2), "sm", "text.on_accent")


class IconButton(PressedByEnter, Scaled, QToolButton):
    """A button that shows only an icon. The tooltip contains its name and, if any, its shortcut.

    Args:
        name: the button's name, for the tooltip and for screen readers.
        command: the command of the window that does the same as the button, or an empty string. The
            tooltip shows the command's shortcut.
        size: the width and height of the button, in pixels at the normal font scale.
        icon_px: the width and height of the icon, in pixels at the normal font scale.
    """

    def __init__(
        self, icon_name: str, name: str, command: str = "", size: int = 28, icon_px: int = 16
    ) -> None:
        super().__init__()
        self._size, self._icon_px = size, icon_px
        self._command = command
        self.setIcon(icon(icon_name, on="text.primary"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.set_name(name)
        if command:
            Keymap.current().changed.connect(self._set_tip)
        self._fit()

    def set_name(self, name: str) -> None:
        """Set the button's name, for the tooltip and for screen readers."""
        self.setAccessibleName(name)
        self._set_tip()

    def set_icon(self, icon_name: str, tone: str = "text.secondary") -> None:
        """Show another icon. `tone` is the name of the icon's colour in the theme."""
        self.setIcon(icon(icon_name, tone))

    def _set_tip(self) -> None:
        self.setToolTip(add_shortcut(escape_tooltip(self.accessibleName()), self._command))

    def _fit(self) -> None:
        theme = Theme.current()
        self.setFixedSize(theme.px(self._size), theme.px(self._size))
        self.setIconSize(QSize(theme.px(self._icon_px), theme.px(self._icon_px)))


class Switch(QAbstractButton):
    """An on/off switch."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def sizeHint(self) -> QSize:
        """Return the fixed size of a switch."""
        theme = Theme.current()
        return QSize(theme.px(32), theme.px(24))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the switch as a track and a knob."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        high = theme.px(18)
        track = QRectF(0, (self.height() - high) / 2, self.width(), high)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent.base" if self.isChecked() else "line.control"))
        painter.drawRoundedRect(track, high / 2, high / 2)
        knob = high - 4
        x = track.right() - knob - 2 if self.isChecked() else track.left() + 2
        painter.setBrush(theme.color("text.on_accent" if self.isChecked() else "bg.content"))
        painter.drawEllipse(QRectF(x, track.top() + 2, knob, knob))
        if self.hasFocus():
            paint_focus(painter, self.rect())


def make_button(
    text: ButtonText, role: str = "", act: Callable[[], object] | None = None
) -> PushButton:
    """Create a push button.

    Args:
        text: the label and its tooltip.
        role: `primary`, `text`, `link`, or an empty string for a plain button.
        act: the function to call when the button is clicked, or None.
    """
    made = PushButton(text)
    made.setProperty("role", role)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    made.setAutoDefault(False)
    kinds = {"primary": "ui_strong", "text": "ui_strong", "link": "label"}
    dress(made, kinds.get(role, "ui"), "")  # once, as Qt's first polish restores this font
    if role == "link":
        made.setCursor(Qt.CursorShape.PointingHandCursor)
    if act is not None:
        made.clicked.connect(lambda _checked=False: act())
    return made


def add_shortcut(text: str, command: str) -> str:
    """Return the text followed by the command's shortcut in brackets, if it has a shortcut."""
    keys = Keymap.current().describe(command) if command else ""
    return f"{text} ({keys})" if keys else text


def paint_row(button: QAbstractButton, painter: QPainter) -> None:
    """Draw the background and the focus ring of a button that looks like a list row."""
    theme = Theme.current()
    if button.underMouse() or button.isDown():
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.pressed" if button.isDown() else "bg.hover"))
        painter.drawRoundedRect(button.rect(), theme.radius("md"), theme.radius("md"))
    if button.hasFocus():
        paint_focus(painter, button.rect())
