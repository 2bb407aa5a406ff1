"""The actions of a message: buttons, pin, version switcher and label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QStackedLayout,
    QWidget,
    QWidgetItem,
)

from ui.theme import Theme, dress
from ui.widgets.buttons import IconButton
from ui.widgets.controls import ElidedLabel, IconLabel, label
from ui.widgets.formatting import count
from ui.widgets.geometry import Scaled
from ui.widgets.layouts import grow, make_row
from ui.widgets.surfaces import AccessibleFrame

__all__ = [
    "LabelTag",
    "MessageAction",
    "PinButton",
    "QuietButton",
    "Siblings",
    "ToolStrip",
]

_LONGEST_LABEL = 80


class ToolStrip(Scaled, AccessibleFrame):
    """A strip with two groups of buttons. It wraps onto two lines if space is short.

    The signal `lines_changed` is emitted when the number of lines changes.

    Args:
        role: the accessible role of the strip.
        row: the height of a line in pixels at the normal font scale.
        margins: the left and right margins in pixels.
        spacing: the space between two buttons in pixels.
    """

    lines_changed = Signal()

    def __init__(
        self, role: QAccessible.Role, row: int, margins: tuple[int, int], spacing: int
    ) -> None:
        super().__init__(role)
        self.lines = 1
        self._row = row
        self._outer = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._outer.setContentsMargins(margins[0], 0, margins[1], 0)
        self._outer.setSpacing(0)
        self._spacing = spacing
        self._widths: tuple[int, int] | None = None
        self._first, self._second = QHBoxLayout(), QHBoxLayout()
        for group in (self._first, self._second):
            group.setSpacing(spacing)
        self._fit()

    def fill(
        self, first: Sequence[QWidget], second: Sequence[QWidget], growing: QWidget | None
    ) -> None:
        """Add two groups of buttons to the strip.

        Args:
            first: the buttons on the left, or on the first line.
            second: the buttons on the right, or on the second line.
            growing: the button that takes up the free width, or None for a gap between the groups.
        """
        for group, widgets in ((self._first, first), (self._second, second)):
            for widget in widgets:
                group.addWidget(widget, 1 if widget is growing else 0)
        self._first.setContentsMargins(0, 0, self._spacing, 0)
        self._outer.addLayout(self._first)
        if growing is None:
            self._outer.addStretch(1)
        self._outer.addLayout(self._second, 1 if growing in second else 0)

    def event(self, event: QEvent) -> bool:
        """Arrange the buttons on one or two lines when some of them are shown or hidden."""
        if event.type() in {QEvent.Type.LayoutRequest, QEvent.Type.StyleChange}:
            self._widths = None
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the buttons on one or two lines, depending on the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        lines = 2 if self._is_tight() else 1
        self._outer.setDirection(across if lines == 1 else down)
        height = lines * Theme.current().px(self._row)
        if self.height() != height or self.minimumHeight() != height:
            self.setFixedHeight(height)
        if lines != self.lines:
            self.lines = lines
            self.lines_changed.emit()

    def _is_tight(self) -> bool:
        if self._widths is None:  # kept while tools stay the same, since measuring them is slow
            self._widths = _least_width(self._first), _least_width(self._second)
        widths = self._widths
        margins = self._outer.contentsMargins()
        room = self.width() - margins.left() - margins.right()
        return min(widths) > 0 and sum(widths) + self._spacing > room > 0


def _least_width(group: QHBoxLayout) -> int:
    items = [group.itemAt(place) for place in range(group.count())]
    shown = [item for item in items if isinstance(item, QWidgetItem) and not item.isEmpty()]
    spaces = max(0, len(shown) - 1) * group.spacing()
    return sum(item.minimumSize().width() for item in shown) + spaces


class QuietButton(IconButton):
    """A button that is visible only while its message is hovered or the button has the focus."""

    _is_seen = False

    def set_seen(self, is_seen: bool) -> None:
        """Show or hide the button. Its space stays reserved."""
        self._is_seen = is_seen
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the button if its message is hovered or it has the focus."""
        if self._is_seen or self.hasFocus():
            super().paintEvent(event)


class PinButton(QuietButton):
    """A button that pins or unpins a message. It stays visible while the message is pinned.

    Emits `chosen` with `pin` or `unpin`.
    """

    chosen = Signal(str)

    def __init__(self, what: str) -> None:
        super().__init__("push-pin", f"Pin {what}", size=24)
        self._what = what
        self._is_pinned = False
        self.clicked.connect(lambda _checked=False: self.chosen.emit(self._act()))

    def show_pin(self, is_pinned: bool) -> None:
        """Show whether the message is pinned."""
        self._is_pinned = is_pinned
        self.set_icon("push-pin-fill" if is_pinned else "push-pin")
        self.set_name(f"{self._act().capitalize()} {self._what}")
        if not is_pinned:
            self.setToolTip(f"{self.toolTip()}: always send it word for word")
        self.set_seen(self._is_seen)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the button on hover, or if the message is pinned."""
        if self._is_pinned:
            IconButton.paintEvent(self, event)
        else:
            super().paintEvent(event)

    def _act(self) -> Literal["pin", "unpin"]:
        return "unpin" if self._is_pinned else "pin"


class Siblings(QWidget):
    """A version switcher, such as ‹ 2/3 ›. Emits `chosen` with the entry ID of a version."""

    chosen = Signal(str)

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what = what
        self._entries: tuple[str, ...] = ()
        self._at = 0
        self.previous = IconButton("caret-left", f"Previous {what}", size=24, icon_px=14)
        self.following = IconButton("caret-right", f"Next {what}", size=24, icon_px=14)
        self.previous.clicked.connect(lambda _checked=False: self._step(-1))
        self.following.clicked.connect(lambda _checked=False: self._step(1))
        self._place = label("", "caption", "secondary", numbers=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for widget in (self.previous, self._place, self.following):
            row.addWidget(widget)
        row.addStretch(1)  # on a line of its own, the switcher is wider than its buttons
        self.hide()

    @property
    def text(self) -> str:
        """The number of the current version and the number of all versions, such as `2/3`."""
        return self._place.text()

    def show_versions(self, entries: Sequence[str], present: str) -> None:
        """Show the number of the version `present` among `entries`, the entry IDs of all versions.

        If there is only one version, hide the switcher.
        """
        self._entries = tuple(entries)
        self._at = self._entries.index(present) if present in self._entries else 0
        total = len(self._entries)
        self.setVisible(total > 1)
        self._place.setText(f"{count(self._at + 1)}/{count(total)}")
        self.setAccessibleName(f"{self._what.capitalize()} {self._at + 1} of {total}")
        before, after = self._at > 0, self._at + 1 < total
        first = f"Previous {self._what}, {self._at} of {total}" if before else "This is the first"
        last = f"Next {self._what}, {self._at + 2} of {total}" if after else "This is the last"
        self.previous.set_name(first)
        self.following.set_name(last)
        self.previous.setEnabled(before)
        self.following.setEnabled(after)

    def take_focus(self) -> None:
        """Focus the button for the next version. At the last version, focus the previous button."""
        target = self.following if self.following.isEnabled() else self.previous
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _step(self, by: int) -> None:
        self.chosen.emit(self._entries[self._at + by])


class LabelTag(Scaled, QWidget):
    """The user's label on a message.

    Emits `named` with a new label, or with an empty string if the label was removed.
    """

    named = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = ElidedLabel()
        dress(self._words, "label", "secondary")
        shown = QWidget()
        make_row(
            IconLabel("tag", "text.tertiary", 14),
            grow(self._words),
            margins=0,
            spacing=4,
            parent=shown,
        )
        self.field = QLineEdit()
        self.field.setMaxLength(_LONGEST_LABEL)
        self.field.setPlaceholderText("Name this message")
        self.field.setAccessibleName("Name of the message")
        self.field.setProperty("compact", True)
        dress(self.field, "caption", "")
        self.field.installEventFilter(self)
        self.field.returnPressed.connect(self._on_named)
        self.field.editingFinished.connect(self._close)
        self._is_closing = False
        self._stack = QStackedLayout(self)
        self._stack.addWidget(shown)
        self._stack.addWidget(self.field)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._fit()
        self.hide()

    @property
    def text(self) -> str:
        """The message's current label, or an empty string if the message has no label."""
        return self._words.whole

    def show_label(self, text: str) -> None:
        """Show a label. If the label is empty, hide the tag unless the user is editing it."""
        self._words.set_text(text)
        self._fit()
        if self._stack.currentWidget() is not self.field:
            self.setVisible(bool(text))

    def edit(self) -> None:
        """Let the user edit the label. Enter accepts the new label, Esc keeps the old one."""
        self.field.setText(self.text)
        self._stack.setCurrentWidget(self.field)
        self.show()
        self._fit()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Cancel editing on Esc, so that Esc does not trigger a window shortcut."""
        if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            self.field.setText(self.text)
            self._close()
            return True
        return False

    def _on_named(self) -> None:
        words = " ".join(self.field.text().split())
        if words != self.text:
            self.named.emit(words)

    def _close(self) -> None:
        """End editing. Hiding the field takes the focus from it, which calls this once more.

        While it changes the page, the stack disables updates. If the tag were hidden then, the area
        below it would not be repainted.
        """
        if self._stack.currentWidget() is self.field and not self._is_closing:
            self._is_closing = True
            self._stack.setCurrentIndex(0)
            self._is_closing = False
            self._fit()
            self.setVisible(bool(self.text))

    def _fit(self) -> None:
        theme = Theme.current()
        is_edited = self._stack.currentWidget() is self.field
        wide = theme.px(200) if is_edited else self._words.sizeHint().width() + theme.px(20)
        self.setFixedHeight(theme.px(24))
        self.setMaximumWidth(min(wide, theme.px(240)))
        self.setMinimumWidth(min(wide, theme.px(152)) if is_edited else 0)  # fits the hint


@dataclass(frozen=True)
class MessageAction:
    """An action that the user requested for a message.

    Attributes:
        kind: `edit`, `again` (regenerate the answer), `continue` (continue an interrupted answer),
            `branch` (fork into a new chat), `select` (show another version), `label`, `saw` (show
            the request), `pin`, `unpin`, `note` (save the answer as a note), `compare` (compare
            versions), `keep` (pin to the sidebar) or `ask` (send a message).
        entry: the ID of the message's log entry, or for `select`, the entry ID of the other
            version.
        text: the new text for `edit`, the new label for `label` or the message for `ask`, otherwise
            an empty string.
    """

    kind: Literal[
        "edit",
        "again",
        "continue",
        "branch",
        "select",
        "label",
        "saw",
        "pin",
        "unpin",
        "note",
        "compare",
        "keep",
        "ask",
    ]
    entry: str
    text: str = ""
