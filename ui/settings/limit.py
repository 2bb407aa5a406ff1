"""The row of the setting `autoCompactThreshold`: field, slider, and a preview of its effect."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from app.config.schema import SettingSpec, use_labels
from app.errors import ErrorInfo, describe
from context.report.reader import read_report
from context.report.report import ContextReport
from ui.panels.context.bar import ContextBar
from ui.settings.fields import (
    NumberField,
    describe_range,
    format_number,
    parse_number,
)
from ui.settings.rows import Control, SettingRow
from ui.settings.writer import SettingsWriter
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme, dress
from ui.widgets.controls import IconLabel, label, make_wrapped_label
from ui.widgets.formatting import count, percent, plural
from ui.widgets.geometry import scale_size
from ui.widgets.layouts import align, grow, make_column, make_row, stretch

__all__ = ["LimitRow", "describe_effect", "to_limit", "to_slider_position"]

Changes = Mapping[str, object]
Preview = Callable[[Changes], ContextReport]
_BEGINNINGS = {
    "compact": "Older messages would become a summary before your next message goes.",
    "trim": "Trimming would start with your next message. Nothing would be dropped.",
}
_STEPS = 1_000
_MARKS = (4_000, 16_000, 128_000, 2_000_000)


class LimitRow(SettingRow):
    """The row of the context limit: a field, a slider, and a preview of the next request."""

    def __init__(self, spec: SettingSpec, writer: SettingsWriter, runner: TaskRunner) -> None:
        self._effect = _Effect(runner)
        super().__init__(spec, writer, self._make_field)

    def set_preview(self, preview: Preview) -> None:
        """Set the function that previews the next request of the open chat."""
        self._effect.begin(preview)

    def show_change(self, key: str, value: object) -> None:
        """Preview the next request with a different value of one setting.

        Args:
            key: the key of the setting.
            value: the different value.
        """
        self._effect.show_changes({key: value})

    def show_in_force(self) -> None:
        """Preview the next request with the current settings."""
        self._effect.show_changes({})

    def _value(self) -> int:
        value = self._writer.value(self.spec.key)
        assert isinstance(value, int)
        return value

    def _make_field(self, _row: SettingRow) -> Control:
        self._field = NumberField(self.spec.unit)
        self._field.textEdited.connect(self._on_edited)
        self._field.editingFinished.connect(self._on_finished)
        return Control(self._field, self._show_value)

    def _name(self) -> QHBoxLayout:
        row = super()._name()
        row.insertWidget(1, label(self.spec.key, "code", "tertiary"))
        row.insertSpacing(1, 6)
        return row

    def _lay_out(self) -> None:
        super()._lay_out()
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # like the scale below it
        self._slider.setRange(0, _STEPS)
        self._slider.setPageStep(_STEPS // 20)
        self._slider.setAccessibleName(f"{self.spec.label}, slider")
        self._slider.setToolTip(self.spec.help)
        self._slider.valueChanged.connect(self._on_slid)
        self._slider.sliderReleased.connect(self._on_released)
        self._range = label(describe_range(self.spec), "caption", "secondary", numbers=True)
        column = self.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(1, self._slider)
        column.insertWidget(2, _Scale())
        column.insertWidget(3, self._effect)
        column.insertWidget(4, self._range)

    def _show_value(self, value: Any) -> None:
        self._field.setText(format_number(value))
        self._place_slider(value)
        self.show_in_force()

    def set_problem(self, text: str) -> None:
        """Show an error instead of the allowed range. An empty string shows the range again."""
        super().set_problem(text)
        self._range.setVisible(not text)

    def _place_slider(self, value: int) -> None:
        self._slider.blockSignals(True)
        self._slider.setValue(to_slider_position(value))
        self._slider.blockSignals(False)

    def _on_edited(self, text: str) -> None:
        value = parse_number(text, self.spec)
        if value is None:
            self.set_problem(f"{describe_range(self.spec)} It stays at {count(self._value())}.")
            self._place_slider(self._value())
            self.show_in_force()
            return
        self.set_problem("")
        self._place_slider(int(value))
        self.show_change(self.spec.key, int(value))

    def _on_finished(self) -> None:
        value = parse_number(self._field.text(), self.spec)
        if value is not None:
            self.write(int(value))

    def _on_slid(self, position: int) -> None:
        value = to_limit(position)
        self._field.setText(format_number(value))
        self.set_problem("")
        self.show_change(self.spec.key, value)
        if not self._slider.isSliderDown():
            self.write(value)

    def _on_released(self) -> None:
        self.write(to_limit(self._slider.value()))


class _Scale(QWidget):
    """The numbers below the slider."""

    def __init__(self) -> None:
        super().__init__()
        scale_size(self, height=18)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the numbers below the slider."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setFont(theme.font("caption", numbers=True))
        painter.setPen(theme.color("text.secondary"))
        for value in _MARKS:
            x = round(8 + (self.width() - 16) * to_slider_position(value) / _STEPS)
            text = count(value)
            width = painter.fontMetrics().horizontalAdvance(text) + 2
            left = max(0, min(self.width() - width, x - width // 2))
            place = QRect(left, 0, width, self.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)


class _Effect(QFrame):
    """A preview of the next request: a bar for the old settings, and a bar for the changed ones."""

    def __init__(self, runner: TaskRunner) -> None:
        super().__init__()
        self.setProperty("surface", "raised")
        self._preview: Preview | None = None
        self._first: ContextReport | None = None
        pause = Theme.current().duration("preview_debounce")
        self._asks = LatestOnly(runner, pause, self)
        self._asks.answered.connect(self._on_answered)
        self._asks.failed.connect(self._on_failed)
        self._now, self._new = _Half("now"), _Half("new")
        self._icon = IconLabel("info", "text.secondary", 16)
        self._sentence = make_wrapped_label("", "caption", "secondary")
        self._lay_out()

    def begin(self, preview: Preview) -> None:
        """Set the function that previews requests, and preview the next request.

        Later previews are compared with this one.
        """
        self._preview, self._first = preview, None
        self._say("Loading…", "secondary")
        self.show_changes({})

    def show_changes(self, changes: Changes) -> None:
        preview, first = self._preview, self._first
        if preview is not None:
            self._asks.ask(lambda: (first or _try(preview, {}), _try(preview, changes)))

    def _on_answered(self, answer: tuple[Any, Any]) -> None:
        first, new = answer
        if isinstance(first, ErrorInfo):
            self._say(use_labels(first.message), "danger")
            return
        self._first = first
        self._now.show_context(first)
        if isinstance(new, ErrorInfo):
            self._show_failure(new)
            return
        self._new.show_context(new)
        self._say(*describe_effect(first, new))

    def _show_failure(self, info: ErrorInfo) -> None:
        if info.context is None:
            self._say(use_labels(info.message), "danger")
        else:
            self._new.show_context(read_report(info.context))
            self._say("Your message would not fit.", "danger")

    def _on_failed(self, error: Exception) -> None:
        self._say(use_labels(describe(error).message), "danger")

    def _say(self, text: str, tone: str) -> None:
        self._sentence.setText(text)
        dress(self._sentence, "caption", tone)
        icons = {"danger": "x-circle", "amber": "warning"}
        colour = f"{tone}.text" if tone in icons else "text.secondary"
        self._icon.set_icon(icons.get(tone, "info"), colour)

    def _lay_out(self) -> None:
        row = make_row(
            align(self._icon, Qt.AlignmentFlag.AlignTop), grow(self._sentence), spacing=8
        )
        make_column(
            label("Preview: the chat you are in", "label", "secondary"),
            self._now,
            self._new,
            row,
            margins=(16, 12, 16, 12),
            spacing=10,
            parent=self,
        )


class _Half(QWidget):
    """A bar in the preview of the context limit, with its numbers."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word
        self._limit = label("", "ui", numbers=True)
        self._figures = label("", "ui", "secondary", numbers=True)
        self._bar = ContextBar()
        row = make_row(self._limit, stretch(), self._figures)
        make_column(row, self._bar, margins=0, spacing=6, parent=self)

    def show_context(self, context: ContextReport) -> None:
        """Show the context limit of a request, and how much of its budget the request uses.

        Args:
            context: the request report.
        """
        used, budget = count(context.used), count(context.budget)
        self._limit.setText(f"{count(context.request_budget.threshold)} {self._word}")
        self._figures.setText(f"{used} of {budget} · {percent(context.fraction)}")
        self._bar.show_context(context)


def to_slider_position(limit: int) -> int:
    """Convert a context limit in tokens to a position on the logarithmic slider."""
    low, high = math.log(_MARKS[0]), math.log(_MARKS[-1])
    return round((math.log(limit) - low) / (high - low) * _STEPS)


def to_limit(position: int) -> int:
    """Convert a position on the logarithmic slider to a context limit in tokens.

    The limit is rounded to two significant digits or to a common context length.
    """
    low, high = math.log(_MARKS[0]), math.log(_MARKS[-1])
    exact = math.exp(low + (high - low) * position / _STEPS)
    unit = int(10 ** (len(str(int(exact))) - 2))
    for mark in (*_MARKS, 8_000, 32_000, 64_000, 200_000, 1_000_000):
        if abs(to_slider_position(mark) - position) <= 4:
            return mark
    rounded: int = round(exact / unit) * unit
    return max(_MARKS[0], min(_MARKS[-1], rounded))


def describe_effect(now: ContextReport, new: ContextReport) -> tuple[str, str]:
    """Return a sentence that describes how changed settings affect the next request.

    Args:
        now: the report of the next request with the old settings.
        new: the report of the next request with the changed settings.

    Returns:
        The sentence, and the name of its text colour.
    """
    before, after = _turns_out(now), _turns_out(new)
    if _list_limits(new) == _list_limits(now):
        if new.request_budget.threshold != now.request_budget.threshold:
            limit = count(new.request_budget.window)
            sentence = f"Nothing changes: the model itself takes no more than {limit} tokens."
            return sentence, "secondary"
        return "This is the limit in force.", "secondary"
    for action, sentence in _BEGINNINGS.items():
        if getattr(new.actions, action) and not getattr(now.actions, action):
            return sentence, "amber"
    if after > before:
        turns = plural(after - before, "more turn")
        return f"{turns} would be left out of your next request, the oldest first.", "amber"
    if after < before:
        back = plural(before - after, "turn")
        return f"{back} that are left out now would be sent again.", "secondary"
    shorter = _segments_out(new) - _segments_out(now)
    if shorter > 0:
        passages = plural(shorter, "more passage")
        return f"{passages} would be left out of your next request or shortened.", "amber"
    if after:
        return f"{plural(after, 'turn')} would be left out, as now.", "secondary"
    return "Nothing would be left out.", "secondary"


def _list_limits(context: ContextReport) -> tuple[object, ...]:
    window, budget = context.request_budget.window, context.budget
    return window, budget, context.policy, context.auto_compact


def _turns_out(context: ContextReport) -> int:
    return sum(int(dropped.turns) for dropped in context.dropped)


def _segments_out(context: ContextReport) -> int:
    return sum(use.state in {"dropped", "shrunk"} for use in context.segments)


def _try(preview: Preview, changes: Changes) -> ContextReport | ErrorInfo:
    try:
        return preview(changes)
    except Exception as error:  # noqa: BLE001 - a message that does not fit is a valid result
        return describe(error)
