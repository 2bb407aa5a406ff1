"""Attachments shown as chips above the message text."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QStyle, QWidget

from ui.icons import begin_painting, keep_upright, paint_icon
from ui.theme import Theme, dress
from ui.widgets.controls import draw_text, escape_tooltip, one_line, paint_focus
from ui.widgets.flow_row import FlowRow
from ui.widgets.lists import paint_text

if TYPE_CHECKING:
    from context.layers import ImageData
    from ui.chat.composer.attachment import Attachment
    from ui.chat.composer.attachment_state import ChipState

__all__ = ["Chip", "ChipRow"]

_MOST_NAME = 220
_MOST_LINES = 3
_HEIGHT = 24
_IMAGE_HEIGHT = 48
_IMAGE_SIDE = 40
_CROSS = 24
_PADDING = 8
_ROUNDED = 2  # pixels, added because text widths are rounded down
_NO_USES: "Mapping[Attachment, str]" = MappingProxyType({})


class Chip(QAbstractButton):
    """A chip for one attachment. A click opens the attachment.

    Signals:
        removed: the user clicked the remove button or pressed Delete or Backspace.
        left: an arrow key was pressed: -1 to focus the previous chip, 1 to focus the next one.

    Args:
        attachment: the attachment that the chip shows.
        state: the attachment's state in an unsent message, or None if the message has been sent. A
            sent attachment cannot be removed.
        used: how a sent attachment was used, such as `3 passages used`, or an empty string if it
            was sent whole.
        image: the image that was sent, or None in an unsent message, where `state` holds the image.
    """

    removed = Signal()
    left = Signal(int)

    def __init__(
        self,
        attachment: "Attachment",
        state: "ChipState | None" = None,
        used: str = "",
        image: "ImageData | None" = None,
    ) -> None:
        super().__init__()
        self.attachment = attachment
        self._state = state
        self._used, self._image = used, image
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        dress(self, "caption", "", numbers=True)
        self._say()

    @property
    def state(self) -> "ChipState | None":
        """The attachment's state in an unsent message, or None if the message has been sent."""
        return self._state

    @property
    def image(self) -> "ImageData | None":
        """The image that is shown as a thumbnail, or None if the attachment is not an image."""
        return self._state.image if self._state else self._image

    @property
    def figures(self) -> str:
        """The text after the attachment's name.

        In an unsent message, it is usually the number of tokens to send, such as `11 notes, 3,120`.
        In a sent message, it says how the attachment was used, such as `3 passages used`, or is
        empty if the attachment was sent whole.
        """
        return self._state.figures if self._state else self._used

    def set_state(self, state: "ChipState") -> None:
        """Show a new state of the attachment."""
        if state != self._state:
            self._state = state
            self._say()
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """Return the size needed for the icon, the name, the counts and the remove button."""
        theme = Theme.current()
        name = min(self._name_width(), theme.px(_MOST_NAME))
        figures = self._figures_width()
        wide = _PADDING + self._picture_side() + 6 + name + (figures + 8 if figures else 0)
        height = theme.px(_IMAGE_HEIGHT if self.image else _HEIGHT)
        return QSize(wide + (theme.px(_CROSS) if self._state else _PADDING), height)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size at which the attachment's chip is still recognisable."""
        return QSize(Theme.current().px(72), self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove the attachment on Delete or Backspace, and open it on Enter.

        The arrow keys move the focus to the previous or next chip.
        """
        match event.key():
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace if self._state:
                self.removed.emit()
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                self.left.emit(-1)
            case Qt.Key.Key_Right | Qt.Key.Key_Down:
                self.left.emit(1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.click()
            case _:
                super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Remove the chip if its remove button was clicked. Otherwise open the attachment."""
        if self._state and self.cross_rect().contains(event.position().toPoint()):
            self.setDown(False)
            self.removed.emit()
        else:
            super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Repaint the remove button, which changes its colour on hover."""
        super().mouseMoveEvent(event)
        self.update()

    def cross_rect(self) -> QRect:
        """Return the rectangle of the button that removes the attachment."""
        return QStyle.visualRect(self.layoutDirection(), self.rect(), self._cross_field())

    def _cross_field(self) -> QRect:
        side = Theme.current().px(_CROSS)
        return QRect(self.width() - side, 0, side, self.height())

    def changeEvent(self, event: QEvent) -> None:
        """Update the chip's size when the font scale changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the attachment's chip: border, icon, name, counts and remove button."""
        theme, painter = Theme.current(), begin_painting(self)
        self._paint_field(painter)
        is_amber = self._state is not None and self._state.is_amber
        side = self._picture_side()
        spot = QRect(_PADDING, (self.height() - side) // 2, side, side)
        if not self._paint_image(painter, spot):
            name = "warning" if is_amber else self.attachment.icon
            paint_icon(painter, spot, name, "amber.graphic" if is_amber else "text.secondary")
        figures = self._figures_width()
        after = theme.px(_CROSS) if self._state else _PADDING
        rest = self.rect().adjusted(spot.right() + 7, 0, -after, 0)
        painter.setFont(theme.font("caption", numbers=True))
        painter.setPen(theme.color("amber.text" if is_amber else "text.secondary"))
        draw_text(painter, rest, _RIGHT, self.figures)
        painter.setFont(_name_font())
        painter.setPen(theme.color("amber.text" if is_amber else "text.primary"))
        rest.setRight(rest.right() - (figures + 8 if figures else 0))
        paint_text(painter, rest, one_line(self.attachment.name), Qt.TextElideMode.ElideMiddle)
        if self._state:
            self._paint_cross(painter)
        if self.hasFocus():
            paint_focus(painter, self.rect())

    def _picture_side(self) -> int:
        return Theme.current().px(_IMAGE_SIDE if self.image else 14)

    def _paint_image(self, painter: QPainter, spot: QRect) -> bool:
        """Paint the attached image into a square.

        Return False if the attachment is not an image, or cannot be decoded.
        """
        if self.image is None:
            return False
        from ui.chat.composer.attachment_state import read_thumbnail  # late: delays the first paint

        small = read_thumbnail(self.image, round(spot.width() * self.devicePixelRatioF()))
        shown = QRect(QPoint(0, 0), small.size().scaled(spot.size(), _KEEP))
        shown.moveCenter(spot.center())
        with keep_upright(painter, shown):
            painter.drawImage(shown, small)
        return not small.isNull()

    def _paint_field(self, painter: QPainter) -> None:
        theme = Theme.current()
        is_amber = self._state is not None and self._state.is_amber
        ground = "amber.soft" if is_amber else "bg.hover" if self.underMouse() else "bg.raised"
        if self._state is None and not self.underMouse():
            ground = "bg.content"
        painter.setPen(theme.color("amber.graphic" if is_amber else "line.hairline"))
        painter.setBrush(theme.color(ground))
        edge = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(edge, theme.radius("md"), theme.radius("md"))

    def _paint_cross(self, painter: QPainter) -> None:
        theme, pointer = Theme.current(), self.mapFromGlobal(self.cursor().pos())
        side = theme.px(12)
        spot = QRect(QPoint(0, 0), QSize(side, side))
        spot.moveCenter(self._cross_field().center())
        is_hot = self.underMouse() and self.cross_rect().contains(pointer)
        paint_icon(painter, spot, "x", "text.primary" if is_hot else "text.tertiary")

    def _say(self) -> None:
        whole, state = self.attachment.whole_name, self._state
        more = state.sentence if state else self._used
        text = f"{whole}\n{more}" if more else whole
        self.setToolTip(escape_tooltip(text))
        name = one_line(self.attachment.name)
        use = f", {self._used}" if self._used else ""
        if state:
            use = f", {state.sentence if state.is_amber else self._spoken_figures()}"
        self.setAccessibleName(f"Attached {name}{use}")
        keys = "Delete takes it off." if state else ""
        self.setAccessibleDescription(keys)

    def _spoken_figures(self) -> str:
        state = self._state
        if state is not None and (state.omitted or state.parts is not None):
            return state.figures
        if state is None or state.tokens is None:
            return "counting"
        return f"{state.figures} tokens"

    def _name_width(self) -> int:
        metrics = QFontMetrics(_name_font())
        return metrics.horizontalAdvance(one_line(self.attachment.name)) + _ROUNDED

    def _figures_width(self) -> int:
        if not self.figures:
            return 0
        metrics = QFontMetrics(Theme.current().font("caption", numbers=True))
        return metrics.horizontalAdvance(self.figures) + _ROUNDED


def _name_font() -> QFont:
    # Tabular figures as in the widget's font: a painter's font inherits unset features from it.
    return Theme.current().font("label", numbers=True)


class ChipRow(FlowRow):
    """The row of chips for one message's attachments.

    Signals:
        removed: the attachment that was removed.
        opened: the attachment that was clicked.
        left: an arrow key moved the focus beyond the last chip.
    """

    removed = Signal(object)
    opened = Signal(object)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_MOST_LINES, parent)
        self.hide()

    def chips(self) -> list[Chip]:
        """Return the chips of the attachments in the order in which they are shown."""
        return [chip for chip in self.shown() if isinstance(chip, Chip)]

    def show_states(self, states: "Mapping[Attachment, ChipState]") -> None:
        """Show the attachments of an unsent message and their states."""
        known = {chip.attachment: chip for chip in self.chips()}
        chips = []
        for attachment, state in states.items():
            chip = known.get(attachment) or self._connect(Chip(attachment, state))
            chip.set_state(state)
            chips.append(chip)
        self._show(chips)

    def show_sent(
        self,
        attachments: "Sequence[Attachment]",
        uses: "Mapping[Attachment, str]" = _NO_USES,
        images: "Mapping[Attachment, ImageData]" = MappingProxyType({}),
    ) -> None:
        """Show the attachments of a message that was sent.

        Args:
            attachments: the attachments, in display order.
            uses: how the large attachments were used, such as `3 passages used`.
            images: the images that were sent, by attachment.
        """
        chips = (Chip(one, None, uses.get(one, ""), images.get(one)) for one in attachments)
        self._show([self._connect(chip) for chip in chips])

    def focus_last(self) -> bool:
        """Focus the chip of the last attachment. Return False if there is no chip."""
        chips = self.chips()
        if chips:
            chips[-1].setFocus(Qt.FocusReason.BacktabFocusReason)
        return bool(chips)

    def _show(self, chips: Sequence[Chip]) -> None:
        has_image = any(chip.image for chip in chips)
        self.set_line_height(_IMAGE_HEIGHT if has_image else _HEIGHT)
        self.show_widgets(chips)
        self.setVisible(bool(chips))

    def _connect(self, chip: Chip) -> Chip:
        chip.removed.connect(self._on_removed)
        chip.clicked.connect(self._on_clicked)
        chip.left.connect(self._on_left)
        return chip

    def _on_removed(self) -> None:
        chip = self.sender()
        if isinstance(chip, Chip):
            self._step_from(chip, 1)
            self.removed.emit(chip.attachment)

    def _on_clicked(self) -> None:
        chip = self.sender()
        if isinstance(chip, Chip):
            self.opened.emit(chip.attachment)

    def _on_left(self, step: int) -> None:
        chip = self.sender()
        if isinstance(chip, Chip):
            self._step_from(chip, step)

    def _step_from(self, chip: Chip, step: int) -> None:
        chips = self.chips()
        place = chips.index(chip) + step
        if 0 <= place < len(chips):
            chips[place].setFocus(Qt.FocusReason.TabFocusReason)
        elif step > 0:
            self.left.emit()


_KEEP = Qt.AspectRatioMode.KeepAspectRatio
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
