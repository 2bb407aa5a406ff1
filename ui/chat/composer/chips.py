"""The attachments of a message as chips above its text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from ui.chat.composer.attachment import Attachment
from ui.icons import paint_icon
from ui.theme import Theme, dress
from ui.widgets.controls import one_line, paint_focus, plain_tip
from ui.widgets.figures import count, plural
from ui.widgets.flow_row import FlowRow
from ui.widgets.lists import paint_text

__all__ = ["Chip", "ChipRow", "ChipState"]

_MOST_NAME = 220
_MOST_LINES = 3
_CROSS = 24
_PADDING = 8
_ROUNDED = 2  # widths of text are rounded down
_COUNTING = "…"
_NO_USES: Mapping[Attachment, str] = MappingProxyType({})


@dataclass(frozen=True)
class ChipState:
    """The state of an attachment of the message that is being written.

    Attributes:
        notes: the number of notes in a folder or with a tag; 0 for a single note or file.
        tokens: the tokens of the attachment; None while they are being counted.
        sent: the tokens of it that fit into the next request; None if all of them fit.
        problem: why the attachment cannot be sent; empty if it can.
        length: the length of the attachment, such as `412 pages`.
        parts: the number of parts in which a too large attachment is read, or 0 if it is searched
            instead; None if it is not too large.
    """

    notes: int = 0
    tokens: int | None = None
    sent: int | None = None
    problem: str = ""
    length: str = ""
    parts: int | None = None

    @property
    def is_amber(self) -> bool:
        """Whether to warn: the attachment cannot be sent, or only a part of it fits."""
        return bool(self.problem) or (self.sent is not None and self.parts is None)

    @property
    def figures(self) -> str:
        """The figures after the name, such as `11 notes, 3,120`, the last one in tokens."""
        if self.problem:
            return "cannot be sent"
        if self.parts is not None:
            how = f"read in {plural(self.parts, 'part')}" if self.parts else "searched within"
            return f"{self.length}, {how}" if self.length else how
        amount = _COUNTING if self.tokens is None else count(self.tokens)
        if self.sent is not None:
            amount = f"{count(self.sent)} of {amount}"
        return f"{plural(self.notes, 'note')}, {amount}" if self.notes else amount

    @property
    def sentence(self) -> str:
        """The sentence below the name in the tooltip."""
        if self.problem:
            return self.problem
        if self.tokens is None:
            return "Its tokens are being counted."
        if self.parts:
            return f"All of its {count(self.tokens)} tokens are read before the answer."
        if self.parts == 0:
            return f"Too large to go whole ({count(self.tokens)} tokens): what is closest goes."
        if self.sent == 0:
            return "Too large: nothing of it fits into the next message."
        if self.sent is not None:
            sent, all_ = count(self.sent), count(self.tokens)
            return f"Too large to go whole: {sent} of its {all_} tokens fit, what is closest goes."
        return f"{count(self.tokens)} tokens"


class Chip(QAbstractButton):
    """A chip for one attachment; a click opens the attachment.

    `removed` is emitted by the cross, Delete and Backspace. `left` is emitted by the arrow keys and
    carries the step to the next chip, -1 or 1.

    Args:
        attachment: the attachment that the chip shows.
        state: the state of the attachment; None if it was sent already, so that it has no cross.
        used: which part was sent; empty if all of it was.
    """

    removed = Signal()
    left = Signal(int)

    def __init__(
        self, attachment: Attachment, state: ChipState | None = None, used: str = ""
    ) -> None:
        super().__init__()
        self.attachment = attachment
        self._state = state
        self._used = used
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        dress(self, "caption", "", numbers=True)
        self._say()

    @property
    def state(self) -> ChipState | None:
        """The state of the attachment; None if it was sent already."""
        return self._state

    @property
    def figures(self) -> str:
        """The figures after the name, or which part was sent."""
        return self._state.figures if self._state else self._used

    def set_state(self, state: ChipState) -> None:
        """Update the state of the attachment."""
        if state != self._state:
            self._state = state
            self._say()
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """Return the size that icon, name, figures and cross need."""
        theme = Theme.current()
        name = min(self._name_width(), theme.px(_MOST_NAME))
        figures = self._figures_width()
        wide = _PADDING + theme.px(14) + 6 + name + (figures + 8 if figures else 0)
        return QSize(wide + (theme.px(_CROSS) if self._state else _PADDING), theme.px(24))

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size at which the chip can still be recognised."""
        return QSize(Theme.current().px(72), Theme.current().px(24))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove with Delete or Backspace, move to a neighbour with the arrows, open with Enter."""
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
        """Remove the chip if its cross was clicked; otherwise open the attachment."""
        if self._state and self.cross_rect().contains(event.position().toPoint()):
            self.setDown(False)
            self.removed.emit()
        else:
            super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Repaint, because the cross changes its colour while it is hovered."""
        super().mouseMoveEvent(event)
        self.update()

    def cross_rect(self) -> QRect:
        """Return the rectangle of the cross."""
        side = Theme.current().px(_CROSS)
        return QRect(self.width() - side, 0, side, self.height())

    def changeEvent(self, event: QEvent) -> None:
        """Update the size when the font scale changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint border, icon, name, figures and cross."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_field(painter)
        is_amber = self._state is not None and self._state.is_amber
        side = theme.px(14)
        spot = QRect(_PADDING, (self.height() - side) // 2, side, side)
        name = "warning" if is_amber else self.attachment.icon
        paint_icon(painter, spot, name, "amber.graphic" if is_amber else "text.secondary")
        figures = self._figures_width()
        after = theme.px(_CROSS) if self._state else _PADDING
        rest = self.rect().adjusted(spot.right() + 7, 0, -after, 0)
        painter.setFont(theme.font("caption", numbers=True))
        painter.setPen(theme.color("amber.text" if is_amber else "text.secondary"))
        painter.drawText(rest, _RIGHT, self.figures)
        painter.setFont(_name_font())
        painter.setPen(theme.color("amber.text" if is_amber else "text.primary"))
        rest.setRight(rest.right() - (figures + 8 if figures else 0))
        paint_text(painter, rest, one_line(self.attachment.name), Qt.TextElideMode.ElideMiddle)
        if self._state:
            self._paint_cross(painter)
        if self.hasFocus():
            paint_focus(painter, self.rect())

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
        theme, field = Theme.current(), self.cross_rect()
        side = theme.px(12)
        spot = QRect(QPoint(0, 0), QSize(side, side))
        spot.moveCenter(field.center())
        is_hot = self.underMouse() and field.contains(self.mapFromGlobal(self.cursor().pos()))
        paint_icon(painter, spot, "x", "text.primary" if is_hot else "text.tertiary")

    def _say(self) -> None:
        whole, state = self.attachment.whole_name, self._state
        more = state.sentence if state else self._used
        said = f"{whole}\n{more}" if more else whole
        self.setToolTip(plain_tip(said))
        name = one_line(self.attachment.name)
        told = f", {self._used}" if self._used else ""
        if state:
            told = f", {state.sentence if state.is_amber else self._spoken_figures()}"
        self.setAccessibleName(f"Attached {name}{told}")
        keys = "Delete takes it off." if state else ""
        self.setAccessibleDescription(keys)

    def _spoken_figures(self) -> str:
        state = self._state
        if state is None or state.tokens is None:
            return "counting"
        return state.figures if state.parts is not None else f"{state.figures} tokens"

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
    """The chips of one message.

    `removed` carries the attachment that was removed, `opened` the one that was clicked. `left` is
    emitted when the focus moves beyond the last chip.
    """

    removed = Signal(object)
    opened = Signal(object)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_MOST_LINES, parent)
        self.hide()

    def chips(self) -> list[Chip]:
        """Return the chips in their order."""
        return [chip for chip in self.shown() if isinstance(chip, Chip)]

    def show_states(self, states: Mapping[Attachment, ChipState]) -> None:
        """Show the attachments of a message that is being written."""
        known = {chip.attachment: chip for chip in self.chips()}
        chips = []
        for attachment, state in states.items():
            chip = known.get(attachment) or self._make(attachment, state)
            chip.set_state(state)
            chips.append(chip)
        self._show(chips)

    def show_sent(
        self,
        attachments: Sequence[Attachment],
        uses: Mapping[Attachment, str] = MappingProxyType({}),
    ) -> None:
        """Show the attachments of a message that was sent.

        Args:
            attachments: the attachments in their order.
            uses: which part was sent of attachments that were not sent whole.
        """
        self._show([self._make(one, None, uses.get(one, "")) for one in attachments])

    def focus_last(self) -> bool:
        """Give the focus to the last chip; return False if there is no chip."""
        chips = self.chips()
        if chips:
            chips[-1].setFocus(Qt.FocusReason.BacktabFocusReason)
        return bool(chips)

    def _show(self, chips: Sequence[Chip]) -> None:
        self.show_widgets(chips)
        self.setVisible(bool(chips))

    def _make(self, attachment: Attachment, state: ChipState | None, used: str = "") -> Chip:
        chip = Chip(attachment, state, used)
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


_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
