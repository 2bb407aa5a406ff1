"""Small tools of a message: buttons seen on hover, its pin, the versions it has, its name."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QStackedLayout, QWidget

from ui.theme import Theme, dress
from ui.widgets.controls import ElidedLabel, IconButton, IconLabel, label
from ui.widgets.figures import count
from ui.widgets.scaled import Scaled

__all__ = ["LabelTag", "PinButton", "QuietButton", "Siblings"]

_LONGEST_LABEL = 80


class QuietButton(IconButton):
    """A button of a message, drawn only while the message is pointed at or the focus is on it."""

    _is_seen = False

    def set_seen(self, is_seen: bool) -> None:
        """Draw it, or leave its place empty."""
        self._is_seen = is_seen
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it where it is to be seen."""
        if self._is_seen or self.hasFocus():
            super().paintEvent(event)


class PinButton(QuietButton):
    """Pins a message or takes the pin off; one that is pinned shows it always.

    `chosen` carries `pin` or `unpin`.
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
        """Draw a pin that is there, also where nobody points at it."""
        if self._is_pinned:
            IconButton.paintEvent(self, event)
        else:
            super().paintEvent(event)

    def _act(self) -> Literal["pin", "unpin"]:
        return "unpin" if self._is_pinned else "pin"


class Siblings(QWidget):
    """The versions of a message, as ‹ 2/3 ›; `chosen` carries the entry of another one."""

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
        self.hide()

    @property
    def text(self) -> str:
        """Which of how many is shown, such as `2/3`."""
        return self._place.text()

    def show_versions(self, entries: Sequence[str], present: str) -> None:
        """Show which of its versions a message is; nothing where it is the only one."""
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

    def _step(self, by: int) -> None:
        self.chosen.emit(self._entries[self._at + by])


class LabelTag(Scaled, QWidget):
    """The user's name for a message; `named` carries another one, empty to take it off."""

    named = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = ElidedLabel()
        dress(self._words, "label", "secondary")
        shown = QWidget()
        row = QHBoxLayout(shown)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(IconLabel("tag", "text.tertiary", 14))
        row.addWidget(self._words, 1)
        self.field = QLineEdit()
        self.field.setMaxLength(_LONGEST_LABEL)
        self.field.setPlaceholderText("Name this message")
        self.field.setAccessibleName("Name of the message")
        self.field.setProperty("compact", True)
        dress(self.field, "caption", "")
        self.field.installEventFilter(self)
        self.field.returnPressed.connect(self._on_named)
        self.field.editingFinished.connect(self._close)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(shown)
        self._stack.addWidget(self.field)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._fit()
        self.hide()

    @property
    def text(self) -> str:
        """The name."""
        return self._words.whole

    def show_label(self, text: str) -> None:
        """Show a name; nothing where there is none."""
        self._words.set_text(text)
        self._fit()
        if self._stack.currentWidget() is not self.field:
            self.setVisible(bool(text))

    def edit(self) -> None:
        """Let the name be written; Enter takes it, Esc leaves it as it was."""
        self.field.setText(self.text)
        self._stack.setCurrentWidget(self.field)
        self.show()
        self._fit()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the name as it was by Esc, before the window takes that key for itself."""
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
        if self._stack.currentWidget() is self.field:
            self._stack.setCurrentIndex(0)
            self._fit()
            self.setVisible(bool(self.text))

    def _fit(self) -> None:
        theme = Theme.current()
        is_edited = self._stack.currentWidget() is self.field
        wide = theme.px(200) if is_edited else self._words.sizeHint().width() + theme.px(20)
        self.setFixedHeight(theme.px(24))
        self.setMaximumWidth(min(wide, theme.px(240)))
        self.setMinimumWidth(min(wide, theme.px(120)) if is_edited else 0)
