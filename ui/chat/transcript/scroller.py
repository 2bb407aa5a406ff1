"""Keep the scroll position of a chat at its end, or at the message being read."""

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QPushButton,
    QScrollArea,
    QScrollBar,
    QWidget,
)

from ui.chat.transcript.feed import Feed, MessageRow, Slot
from ui.icons import begin_painting, paint_icon
from ui.theme import Theme, dress
from ui.widgets.buttons import PressedByEnter
from ui.widgets.controls import draw_text, paint_focus
from ui.widgets.geometry import PlaceKeeper, set_in

__all__ = ["Scroller"]

_AT_END = 8
_JUMP_FROM = 120
_BELOW_JUMP = 12


class Scroller(PlaceKeeper, QWidget):
    """A scroll area for the messages of a chat.

    If the viewport is at the end, it stays there as the chat grows. Otherwise the message at the
    top does not move when others are added or removed. A message that the user expands or collapses
    stays in place. The signal `jump_moved` is emitted when the button "Jump to latest" appears,
    disappears or moves.
    """

    jump_moved = Signal()

    def __init__(self, feed: Feed, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.feed = feed
        self._is_following = True
        self._is_moving = False
        self._resumes = False  # whether to follow the end again if it stays in view
        self._anchor: tuple[MessageRow, int] | None = None
        self.area = QScrollArea(self)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(feed)
        self._seen_bar = QScrollBar(Qt.Orientation.Vertical, self)
        self._seen_bar.valueChanged.connect(self.bar.setValue)
        self._seen_bar.hide()
        self.jump = _JumpButton(self)
        self.jump.clicked.connect(self.to_end)
        self.jump.hide()
        self.bar.valueChanged.connect(self._on_moved)
        self.bar.rangeChanged.connect(self._on_range_changed)
        self.area.viewport().installEventFilter(self)
        feed.laid_out.connect(self._on_laid_out)

    @property
    def bar(self) -> QScrollBar:
        """The hidden scroll bar that controls the position of the messages.

        The user sees a second scroll bar, which mirrors this one.
        """
        return self.area.verticalScrollBar()

    @property
    def is_following(self) -> bool:
        """Whether the viewport stays at the end of the chat while the chat grows."""
        return self._is_following

    def to_end(self) -> None:
        """Scroll to the end of the chat, and stay there while the chat grows."""
        if self.feed.has_newer:
            self.feed.show_latest()
        self._is_following = True
        self._settle()

    def show_row(self, row: MessageRow) -> None:
        """Scroll only as far as needed to bring a message into view."""
        top, bottom = row.y(), row.y() + row.height()
        value, page = self.bar.value(), self.bar.pageStep()
        if top < value or row.height() > page:
            self.bar.setValue(top)
        elif bottom > value + page:
            self.bar.setValue(bottom - page)

    def find_row_in_view(self) -> MessageRow | None:
        """Return the row of the last message that starts in the viewport.

        If no message starts there, return the topmost visible row, or None if there are no rows.
        """
        top, bottom = self.bar.value(), self.bar.value() + self.bar.pageStep()
        starting = [row for row in self.feed.rows if top <= row.y() < bottom]
        return starting[-1] if starting else self.feed.find_row_at(top)

    def reveal(self, slot: Slot) -> None:
        """Build a message's widget if it has none, and stop scrolling along with new messages."""
        self._is_following = False
        self.feed.reveal(slot)
        self._note_anchor()

    def hold(self, row: MessageRow, above: int) -> None:
        """Keep a message at a fixed distance, in pixels, from the top of the viewport."""
        self._is_following = False
        self._anchor = (row, above)
        QTimer.singleShot(0, self, self._settle_held)

    def keep_place(self, widget: QWidget) -> None:
        """Keep a message in place on the screen while a widget in it changes its height.

        Args:
            widget: the widget whose height changes, for example because the user expands it.
        """
        row = next((row for row in self.feed.rows if row.isAncestorOf(widget)), None)
        if row is not None:
            self._resumes = self._is_following
            self.hold(row, row.y() - self.bar.value())

    def shift(self, distance: int) -> None:
        """Scroll by the distance that the viewport has moved, so that the messages stay in place.

        Do nothing if the viewport is kept at the end of the chat.

        Args:
            distance: how far the viewport has moved down on the screen, in pixels.
        """
        if not self._is_following:
            self.bar.setValue(self.bar.value() + distance)

    def show_span(self, top: int, height: int) -> None:
        """Scroll an area of the chat into view, unless it is already completely visible.

        After scrolling, the area begins one third of the viewport's height below the viewport's
        top.

        Args:
            top: the upper edge of the area in pixels, measured from the top of the messages.
            height: the height of the area in pixels.
        """
        value, page = self.bar.value(), self.bar.pageStep()
        if top < value or top + height > value + page:
            self.bar.setValue(top - page // 3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the messages, the scroll bar and the button "Jump to latest" to the new size."""
        super().resizeEvent(event)
        self.feed.set_margins(*set_in(self.width()))
        self.area.setGeometry(self.rect())
        width = self._seen_bar.sizeHint().width()
        self._seen_bar.setGeometry(self.width() - width, 0, width, self.height())
        self._place_jump()

    def showEvent(self, event: QShowEvent) -> None:
        """Place the button "Jump to latest" again, since a hidden chat is laid out when shown."""
        super().showEvent(event)
        self._on_laid_out()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Restore the scroll position when the viewport is resized.

        This happens, for example, when the composer becomes taller.
        """
        if event.type() == QEvent.Type.Resize:
            self._settle()
        return False

    def _on_laid_out(self) -> None:
        """Place the button "Jump to latest" again at once, since other buttons may have moved."""
        if not self.jump.isHidden():
            self._place_jump()

    def _on_moved(self, value: int) -> None:
        self._seen_bar.setValue(value)
        if not self._is_moving:
            self._is_following = self._is_near_end() and not self.feed.has_newer
            self._resumes = False
            self._note_anchor()
            self._page()
        self._show_jump()

    def _on_range_changed(self, lowest: int, highest: int) -> None:
        self._is_moving = True  # a smaller range moves the bars, and the anchor has to stay
        self._seen_bar.setRange(lowest, highest)
        self._is_moving = False
        self._seen_bar.setPageStep(self.bar.pageStep())
        self._seen_bar.setSingleStep(Theme.current().line("body"))
        self.bar.setSingleStep(Theme.current().line("body"))
        self._seen_bar.setVisible(highest > lowest)
        self._settle()
        self._resume()

    def _settle(self) -> None:
        """Restore the scroll position of the chat after the heights of messages have changed."""
        self._is_moving = True
        if self._is_following:
            self.bar.setValue(self.bar.maximum())
        elif self._anchor is not None and self._anchor[0] in self.feed.rows:
            row, above = self._anchor
            is_collapsed = row.height() <= -above  # what was at the top is no longer there
            self.bar.setValue(row.y() if is_collapsed else row.y() - above)
        self._is_moving = False
        if not self._is_following:
            self._page()
        self._show_jump()

    def _settle_held(self) -> None:
        """Restore the screen position of a message that was expanded or collapsed."""
        if self._anchor is not None and self._anchor[0] in self.feed.rows:
            self.feed.fit_row(self._anchor[0])
        self._settle()
        self._resume()

    def _resume(self) -> None:
        """Follow the end of the chat again if it is still in view after a message was expanded.

        This applies only if the viewport followed the end before.
        """
        if self._resumes and self._is_near_end() and not self.feed.has_newer:
            self._is_following, self._resumes = True, False
            self._show_jump()

    def _note_anchor(self) -> None:
        row = self.feed.find_row_at(self.bar.value())
        self._anchor = None if row is None else (row, row.y() - self.bar.value())

    def _page(self) -> None:
        spare = self.bar.pageStep()
        if self.feed.has_older and self.bar.value() < spare:
            self.feed.want_older()
        if self.feed.has_newer and self.bar.maximum() - self.bar.value() < spare:
            self.feed.want_newer()

    def _is_near_end(self) -> bool:
        return self.bar.value() >= self.bar.maximum() - _AT_END

    def _show_jump(self) -> None:
        away = self.bar.maximum() - self.bar.value()
        is_away = not self._is_following and (away > _JUMP_FROM or self.feed.has_newer)
        if self.jump.isHidden() is is_away:  # also in a chat that a note covers
            self.jump.setVisible(is_away)
            self._place_jump()
            self.jump_moved.emit()
        elif is_away:
            self._place_jump()

    def _place_jump(self) -> None:
        """Place the button at the lower edge, or above the buttons that it would cover there."""
        size = self.jump.sizeHint()
        x, y = (self.width() - size.width()) // 2, self.height() - size.height() - _BELOW_JUMP
        place = QRect(QPoint(x, y), size)
        for covered in self._list_covered(place):
            if covered.intersects(place):
                place.moveBottom(covered.top() - _BELOW_JUMP)
        if place != self.jump.geometry():
            self.jump.setGeometry(place)
            self.jump.raise_()
            self.jump_moved.emit()

    def _list_covered(self, place: QRect) -> list[QRect]:
        """Return the places of the buttons in the messages near a place, the lowest first."""
        value, room = self.bar.value(), 2 * place.height()
        top, bottom = value + place.top() - room, value + place.bottom()
        # A chat that a note covers is placed before it is shown.
        found = [
            QRect(button.mapTo(self, QPoint()), button.size())
            for row in self.feed.rows
            if row.y() <= bottom and row.y() + row.height() >= top
            for button in row.findChildren(QAbstractButton)
            if button.isVisibleTo(self)
        ]
        return sorted(found, key=QRect.bottom, reverse=True)


class _JumpButton(PressedByEnter, QPushButton):
    """The "Jump to latest" button, which floats above the chat."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Jump to latest", parent)
        self.setAccessibleName("Jump to latest")
        self.setToolTip("Scroll to the end of the chat")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAutoDefault(False)
        dress(self, "ui", "")

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), begin_painting(self)
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(theme.color("line.strong"))
        painter.setBrush(theme.color("bg.hover" if self.underMouse() else "bg.overlay"))
        painter.drawRoundedRect(edge, edge.height() / 2, edge.height() / 2)
        side = theme.px(14)
        spot = self.rect().adjusted(12, 0, 0, 0)
        spot.setWidth(side)
        paint_icon(painter, spot, "arrow-down", "text.secondary")
        painter.setPen(theme.color("text.primary"))
        painter.setFont(self.font())
        text = self.rect().adjusted(side + 18, 0, -14, 0)
        draw_text(painter, text, Qt.AlignmentFlag.AlignVCenter, self.text())
        if self.hasFocus():
            paint_focus(painter, self.rect(), "xl")

    def sizeHint(self) -> QSize:
        theme = Theme.current()
        text = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(text + theme.px(14) + 34, theme.px(28))
