"""The lines around an answer: the current step, why it ended early, and unverified citations."""

from collections.abc import Sequence
from time import monotonic

from PySide6.QtCore import QEvent, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QHideEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.icons import mirror_painter, paint_icon
from ui.markdown.page.spacing import CALLOUT_INSET
from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, add_shortcut, make_button
from ui.widgets.controls import ElidedLabel, IconLabel, label, make_wrapped_label, one_line
from ui.widgets.formatting import count
from ui.widgets.geometry import OUTDENT, Scaled
from ui.widgets.layouts import align, grow, make_column, make_row, stretch
from ui.widgets.surfaces import AccessibleFrame
from ui.widgets.texts import from_left

__all__ = ["EndingLine", "StepLine", "UnverifiedNotice", "paint_callout"]

_TURN_MS = 90
_TICK_MS = 100
_STEP_DEGREES = 30
_MOST_DOUBTS = 6
_ROW = 28
_PADDING = 12


class StepLine(Scaled, AccessibleFrame):
    """The line with the turn's current step and the seconds since the turn started."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.StatusBar, parent)
        self._spinner = _Spinner()
        self._text = ElidedLabel()
        dress(self._text, "ui", "secondary")
        self._text.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._seconds = label("", "caption", "tertiary", numbers=True)
        self._started_s = 0.0
        self._ticker = QTimer(self, interval=_TICK_MS)
        self._ticker.timeout.connect(self._show_seconds)
        make_row(
            self._spinner,
            self._text,
            self._seconds,
            stretch(),
            margins=(OUTDENT, 0, OUTDENT, 0),
            spacing=8,
            parent=self,
        )
        self._fit()

    @property
    def text(self) -> str:
        """The sentence that describes the current step of the turn."""
        return self._text.whole

    def show_step(self, text: str, seconds: float, *, is_paused: bool = False) -> None:
        """Show the turn's current step and its duration, which is omitted below 0.1 s.

        Args:
            text: describes the step.
            seconds: the duration so far.
            is_paused: whether the duration stays as it is.
        """
        if text != self._text.whole:
            self._text.set_text(text)
            self._text.updateGeometry()
            self.setAccessibleName(one_line(text))
        self._started_s = monotonic() - seconds
        self._show_seconds()
        if is_paused:
            self._ticker.stop()
        else:
            self._ticker.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop counting the seconds while the line with the current step is hidden."""
        super().hideEvent(event)
        self._ticker.stop()

    def _show_seconds(self) -> None:
        seconds = monotonic() - self._started_s
        self._seconds.setText(f"{seconds:.1f} s" if seconds >= 0.1 else "")

    def _fit(self) -> None:
        self.setFixedHeight(Theme.current().px(_ROW))


class EndingLine(QWidget):
    """A line below an incomplete answer: why it ended early, and what the user can do.

    Signals:
        continue_requested: the user asked for the rest of the answer.
        retry_requested: the user asked for another answer.
    """

    continue_requested = Signal()
    retry_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = make_wrapped_label("", "ui", "secondary")
        self.resume = make_button(
            ButtonText("Continue", "Go on where it stopped"), "link", self.continue_requested.emit
        )
        self.resume.setAccessibleName("Continue this answer")
        self.resume.setToolTip(add_shortcut("Let the model write the rest", "continue_answer"))
        self.retry = make_button(
            ButtonText("Try again", "Send the message again as it is"),
            "link",
            self.retry_requested.emit,
        )
        make_row(
            grow(self._words),
            self.resume,
            self.retry,
            margins=(OUTDENT, 8, OUTDENT, 0),
            spacing=12,
            parent=self,
        )
        self.hide()

    def show_ending(self, sentence: str, *, can_continue: bool, can_retry: bool) -> None:
        """Show why the answer ended early. An empty sentence hides the line."""
        self._words.setText(from_left(sentence))
        self.resume.setVisible(can_continue)
        self.retry.setVisible(can_retry)
        self.setVisible(bool(sentence))

    def hide_actions(self) -> None:
        """Hide the buttons and leave the sentence."""
        self.resume.hide()
        self.retry.hide()


class UnverifiedNotice(Scaled, AccessibleFrame):
    """A callout in the warning colour that lists up to six unverified citations of an answer."""

    def __init__(self, sentences: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Note, parent)
        title = _title(sentences)
        self.sentences = tuple(sentences)
        self.setAccessibleName(f"{title}. {' '.join(self.sentences)}")
        icon = IconLabel("warning", "amber.graphic")
        self._head = make_row(
            align(icon, Qt.AlignmentFlag.AlignVCenter),
            grow(make_wrapped_label(title, "h3", "amber")),
        )
        self._texts = make_column(spacing=4)
        for sentence in sentences[:_MOST_DOUBTS]:
            self._texts.addWidget(make_wrapped_label(from_left(one_line(sentence)), "body"))
        if len(sentences) > _MOST_DOUBTS:
            more = f"And {count(len(sentences) - _MOST_DOUBTS)} more, marked in the text."
            self._texts.addWidget(make_wrapped_label(more, "body", "secondary"))
        make_column(
            self._head, self._texts, margins=(_PADDING, 10, OUTDENT, 12), spacing=4, parent=self
        )
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the callout's background and the bar at its leading edge."""
        paint_callout(QPainter(self), QRectF(self.rect()), "amber")

    def _fit(self) -> None:
        """Give the notice the same margins as the Markdown callouts in the answer."""
        theme = Theme.current()
        inset = theme.px(CALLOUT_INSET) - _PADDING
        self._head.setSpacing(inset - theme.px(16))
        self._texts.setContentsMargins(inset, 0, 0, 0)


def paint_callout(painter: QPainter, rect: QRectF, tone: str) -> None:
    """Paint a callout: a soft background with a bar at the leading edge.

    The bar is on the left, or on the right in a right-to-left layout.

    Args:
        painter: the painter of the widget.
        rect: the rectangle of the callout.
        tone: the name of the callout's colour, such as `amber`.
    """
    theme = Theme.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    shape = QPainterPath()
    shape.addRoundedRect(rect, theme.radius("lg"), theme.radius("lg"))
    painter.setClipPath(shape)
    painter.fillRect(rect, theme.color(f"{tone}.soft"))
    width = float(theme.value("border.callout_bar"))
    mirror_painter(painter, rect, painter.layoutDirection())
    bar = QRectF(rect.left(), rect.top(), width, rect.height())
    painter.fillRect(bar, theme.color(f"{tone}.graphic"))


def _title(sentences: Sequence[str]) -> str:
    return "1 thing to check" if len(sentences) == 1 else f"{count(len(sentences))} things to check"


class _Spinner(QWidget):
    """A spinner, or a dot if animations are turned off."""

    def __init__(self) -> None:
        super().__init__()
        self._angle = 0
        self._timer = QTimer(self, interval=_TURN_MS)
        self._timer.timeout.connect(self._turn)
        side = Theme.current().px(14)
        self.setFixedSize(side, side)

    def showEvent(self, event: QEvent) -> None:
        if Theme.current().duration("base"):
            self._timer.start()

    def hideEvent(self, event: QEvent) -> None:
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._timer.isActive():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(Theme.current().color("accent.base"))
            painter.drawEllipse(QRectF(self.rect()).center(), 3, 3)
            return
        center = QRectF(self.rect()).center()
        painter.translate(center)
        painter.rotate(self._angle)
        painter.translate(-center)
        paint_icon(painter, self.rect(), "spinner", "accent.base")

    def _turn(self) -> None:
        self._angle = (self._angle + _STEP_DEGREES) % 360
        self.update()
