"""The window's surfaces: panes, headers, hairlines, notices and accessible frames.

Neighbouring surfaces have slightly different background colours and a hairline between them.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleInterface,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAccessibleWidget, QFrame, QScrollArea, QSizePolicy, QWidget

from ui.theme import Theme, dress
from ui.widgets.buttons import LabelledAction, make_button
from ui.widgets.controls import IconLabel, make_wrapped_label
from ui.widgets.geometry import Scaled, clear_layout
from ui.widgets.layouts import align, grow, make_column, make_row
from ui.widgets.texts import from_left

__all__ = ["AccessibleFrame", "Hairline", "Header", "Notice", "Pane", "StickyFoot", "StickyRow"]

# Qt uses the interfaces but PySide keeps no reference, so each is kept while its widget lives.
_alive: dict[int, QAccessibleInterface] = {}
_installed: list[bool] = []


class Pane(QWidget):
    """A widget with one of the window's background colours.

    Args:
        surface: the colour: `sidebar`, `content`, `panel`, `overlay` or `raised`.
        parent: the Qt parent.
    """

    def __init__(self, surface: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", surface)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)


class Header(Scaled, Pane):
    """The header of a column, with a hairline at its lower edge.

    Args:
        surface: the background colour, as in `Pane`.
        parent: the Qt parent.
    """

    def __init__(self, surface: str, parent: QWidget | None = None) -> None:
        super().__init__(surface, parent)
        self.row = make_row(margins=(16, 0, 8, 1), spacing=Theme.current().space(2), parent=self)
        self.is_folded = False
        self._fit()

    def set_folded(self, is_folded: bool) -> None:
        """Collapse the header to a height of 0, or restore its normal height."""
        self.is_folded = is_folded
        self._fit()

    def sizeHint(self) -> QSize:
        """Return the header's fixed height, because docks ignore the minimum height."""
        return QSize(super().sizeHint().width(), self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the hairline along the header's lower edge."""
        painter = QPainter(self)
        line = Theme.current().color("line.hairline")
        painter.fillRect(0, self.height() - 1, self.width(), 1, line)

    def _fit(self) -> None:
        theme = Theme.current()
        self.setFixedHeight(0 if self.is_folded else theme.px(theme.value("layout.header")))


class Hairline(QFrame):
    """A line that is one pixel wide at every font scale."""

    def __init__(self, parent: QWidget | None = None, *, is_vertical: bool = False) -> None:
        super().__init__(parent)
        self.setProperty("hairline", True)
        if is_vertical:
            self.setFixedWidth(1)
        else:
            self.setFixedHeight(1)


class Notice(QFrame):
    """A coloured box with a message and up to three buttons.

    Args:
        tone: the colour: `danger`, `amber` or `info`.
        parent: the Qt parent.
    """

    def __init__(self, tone: str = "amber", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tone = tone
        theme = Theme.current()
        self._icon = IconLabel("warning", "amber.text")
        self._title = make_wrapped_label("", "ui_strong")
        self._text = make_wrapped_label("", "caption")
        self._actions = make_row(spacing=theme.space(4))
        texts = make_column(self._title, self._text, self._actions, spacing=2)
        make_row(
            align(self._icon, Qt.AlignmentFlag.AlignTop),
            grow(texts),
            margins=(12, 10, 12, 10),
            spacing=theme.space(2),
            parent=self,
        )

    def show_notice(
        self, tone: str, title: str, text: str, actions: Sequence[LabelledAction]
    ) -> None:
        """Fill the box with a message, and show it.

        Args:
            tone: the colour: `danger`, `amber` or `info`.
            title: the title of the notice.
            text: the text below the title, or an empty string.
            actions: the texts of each button, and the function that it calls.
        """
        self._tone = tone
        icons = {"danger": "x-circle", "amber": "warning", "info": "info"}
        colour = "text.secondary" if tone == "info" else f"{tone}.text"
        self._icon.set_icon(icons[tone], colour)
        dress(self._title, "ui_strong", "primary" if tone == "info" else tone)
        self._title.setText(from_left(title))
        self._text.setText(from_left(text))
        self._text.setVisible(bool(text))
        clear_layout(self._actions)
        for button_text, act in actions:
            self._actions.addWidget(make_button(button_text, "link", act))
        self._actions.addStretch(1)
        self.setAccessibleName(f"{title}. {text}".strip())
        self.show()
        self.update()

    def focus_first(self) -> None:
        """Focus the first button. Call this only if the notice appears at the user's request."""
        first = self._actions.itemAt(0)
        if first is not None and (widget := first.widget()) is not None:
            widget.setFocus(Qt.FocusReason.PopupFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the coloured background of the notice."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.raised" if self._tone == "info" else f"{self._tone}.soft"))
        painter.drawRoundedRect(self.rect(), theme.radius("lg"), theme.radius("lg"))


class StickyRow(Pane):
    """The row that `StickyFoot` keeps in sight, in front of what is behind it."""


class StickyFoot(QWidget):
    """The last row of a card, which stays in sight while the upper part of the card is in sight.

    If the end of the card is below the lower edge of the scroll area, the row is shown at that
    edge, in front of what is behind it. The widget itself is the place of the row in the layout.

    Args:
        row: the row, which the card then owns.
        above: the widget that the row never covers, such as the title of the card.
        parent: the card.
    """

    def __init__(self, row: StickyRow, above: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._row, self._above, self._card = row, above, parent
        self._area: QScrollArea | None = None
        self._line = Hairline(row)
        row.setParent(parent)
        row.installEventFilter(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def is_stuck(self) -> bool:
        """Whether the row is not at the end of the card, but at the edge of the scroll area."""
        return self._row.y() < self.y()

    def sizeHint(self) -> QSize:
        """Return the size that the row prefers."""
        return self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the size that the row needs."""
        return self._row.minimumSizeHint()

    def heightForWidth(self, width: int) -> int:
        """Return the height of the row at a width."""
        height = self._row.heightForWidth(width)
        return self._row.sizeHint().height() if height < 0 else height

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the scroll area that the card is in, and where the card is in it."""
        super().showEvent(event)
        above, around = self.parentWidget(), list[QWidget]()
        while above is not None and not isinstance(above, QScrollArea):
            around.append(above)
            above = above.parentWidget()
        self._area = above
        for one in around if above is not None else ():
            one.installEventFilter(self)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the row the width of its place."""
        super().resizeEvent(event)
        self._place()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Move the row with its place."""
        super().moveEvent(event)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size that the row needs, and the card and the scroll area around it."""
        if watched is self._row and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        elif watched is not self._row and event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return False

    def _place(self) -> None:
        """Show the row in its place, or higher if its place is out of sight."""
        rect = self.geometry()
        # A card that is taken out of the scroll area has no place there.
        if self._area is not None and self._area.isAncestorOf(self._card):
            view = self._area.viewport()
            edge = self._card.mapFrom(view, QPoint(0, view.height())).y()
            least = self._above.geometry().bottom() + 1
            rect.moveTop(min(rect.top(), max(edge - rect.height(), least)))
        self._row.setGeometry(rect)
        self._line.setGeometry(0, 0, rect.width(), 1)
        self._line.setVisible(self.is_stuck)
        self._row.raise_()


class AccessibleFrame(QFrame):
    """A frame with an accessible role, for screen readers.

    Args:
        role: the accessible role, such as `Document` for an answer or `AlertMessage` for an error.
        parent: the Qt parent.
    """

    def __init__(
        self,
        role: QAccessible.Role = QAccessible.Role.Grouping,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.accessible_role = role
        key = id(self)
        self.destroyed.connect(lambda: _alive.pop(key, None))
        if not _installed:
            QAccessible.installFactory(_build_interface)
            _installed.append(True)


def _build_interface(_name: str, widget: QObject) -> QAccessibleInterface | None:
    if not isinstance(widget, AccessibleFrame):
        return None
    made = QAccessibleWidget(widget, widget.accessible_role)  # a name here would never change
    _alive[id(widget)] = made
    return made
