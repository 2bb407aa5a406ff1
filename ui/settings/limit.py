"""The row of `autoCompactThreshold`: a field, a slider, and what it would do to the open chat."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from app.config.schema import SettingSpec, use_labels
from app.errors import ErrorInfo, describe
from ui.panels.context.bar import ContextBar
from ui.settings.fields import (
    Control,
    NumberField,
    RowPort,
    parse_number,
    range_sentence,
    shown_number,
)
from ui.settings.rows import SettingRow
from ui.settings.writer import SettingsWriter
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme, dress
from ui.widgets.controls import IconLabel, label, wrapped
from ui.widgets.figures import count, percent, plural
from ui.widgets.scaled import scale_size

__all__ = ["LimitRow", "effect_sentence", "position_of", "value_at"]

Changes = Mapping[str, object]
Preview = Callable[[Changes], Mapping[str, Any]]
_BEGINNINGS = {
    "compact": "Older messages would become a summary before your next message goes.",
    "trim": "Trimming would start with your next message. Nothing would be dropped.",
}
_STEPS = 1_000
_MARKS = (4_000, 16_000, 128_000, 2_000_000)


class LimitRow(SettingRow):
    """Field, slider, two bars, one sentence."""

    def __init__(self, spec: SettingSpec, writer: SettingsWriter, runner: TaskRunner) -> None:
        self._effect = _Effect(runner)
        super().__init__(spec, writer, self._make_field)

    def set_preview(self, preview: Preview) -> None:
        """Show the effect on this chat; what is in force now is what it is compared with."""
        self._effect.begin(preview)

    def show_change(self, key: str, value: object) -> None:
        """Show what another setting would do that decides what a request holds."""
        self._effect.show_changes({key: value})

    def show_in_force(self) -> None:
        """Show what the settings do as they are now."""
        self._effect.show_changes({})

    def _value(self) -> int:
        value = self._writer.value(self.spec.key)
        assert isinstance(value, int)
        return value

    def _make_field(self, _row: RowPort) -> Control:
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
        self._slider.setRange(0, _STEPS)
        self._slider.setPageStep(_STEPS // 20)
        self._slider.setAccessibleName(f"{self.spec.label}, slider")
        self._slider.setToolTip(self.spec.help)
        self._slider.valueChanged.connect(self._on_slid)
        self._slider.sliderReleased.connect(self._on_released)
        self._range = label(range_sentence(self.spec), "caption", "secondary", numbers=True)
        column = self.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(1, self._slider)
        column.insertWidget(2, _Scale())
        column.insertWidget(3, self._effect)
        column.insertWidget(4, self._range)

    def _show_value(self, value: Any) -> None:
        self._field.setText(shown_number(value))
        self._place_slider(value)
        self.show_in_force()

    def set_problem(self, text: str) -> None:
        """Show the range in red where a value is not taken."""
        super().set_problem(text)
        self._range.setVisible(not text)

    def _place_slider(self, value: int) -> None:
        self._slider.blockSignals(True)
        self._slider.setValue(position_of(value))
        self._slider.blockSignals(False)

    def _on_edited(self, text: str) -> None:
        value = parse_number(text, self.spec)
        if value is None:
            self.set_problem(f"{range_sentence(self.spec)} It stays at {count(self._value())}.")
            return
        self.set_problem("")
        self._place_slider(int(value))
        self.show_change(self.spec.key, int(value))

    def _on_finished(self) -> None:
        value = parse_number(self._field.text(), self.spec)
        if value is not None:
            self.write(int(value))

    def _on_slid(self, position: int) -> None:
        value = value_at(position)
        self._field.setText(shown_number(value))
        self.set_problem("")
        self.show_change(self.spec.key, value)
        if not self._slider.isSliderDown():
            self.write(value)

    def _on_released(self) -> None:
        self.write(value_at(self._slider.value()))


class _Scale(QWidget):
    """The figures under the slider, each at its place."""

    def __init__(self) -> None:
        super().__init__()
        scale_size(self, height=18)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the figures."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setFont(theme.font("caption", numbers=True))
        painter.setPen(theme.color("text.secondary"))
        for value in _MARKS:
            x = round(8 + (self.width() - 16) * position_of(value) / _STEPS)
            text = count(value)
            width = painter.fontMetrics().horizontalAdvance(text) + 2
            left = max(0, min(self.width() - width, x - width // 2))
            place = QRect(left, 0, width, self.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)


class _Effect(QFrame):
    """The open chat under the present limit and under another, and what the difference is."""

    def __init__(self, runner: TaskRunner) -> None:
        super().__init__()
        self.setProperty("surface", "raised")
        self._preview: Preview | None = None
        self._first: Mapping[str, Any] | None = None
        pause = Theme.current().duration("preview_debounce")
        self._asks = LatestOnly(runner, pause, self)
        self._asks.answered.connect(self._on_answered)
        self._asks.failed.connect(self._on_failed)
        self._now, self._new = _Half("now"), _Half("new")
        self._icon = IconLabel("info", "text.secondary", 16)
        self._sentence = wrapped("", "caption", "secondary")
        self._lay_out()

    def begin(self, preview: Preview) -> None:
        """Compare from now on with what is in force at this moment."""
        self._preview, self._first = preview, None
        self.show_changes({})

    def show_changes(self, changes: Changes) -> None:
        """Show what some settings would do."""
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
        self._say(*effect_sentence(first, new))

    def _show_failure(self, info: ErrorInfo) -> None:
        if info.context is None:
            self._say(use_labels(info.message), "danger")
        else:
            self._new.show_context(info.context)
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
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(10)
        column.addWidget(label("Preview: the chat you are in", "label", "secondary"))
        column.addWidget(self._now)
        column.addWidget(self._new)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._sentence, 1)
        column.addLayout(row)


class _Half(QWidget):
    """One of the two bars with its figures."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word
        self._limit = label("", "ui", numbers=True)
        self._figures = label("", "ui", "secondary", numbers=True)
        self._bar = ContextBar()
        row = QHBoxLayout()
        row.addWidget(self._limit)
        row.addStretch(1)
        row.addWidget(self._figures)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self._bar)

    def show_context(self, context: Mapping[str, Any]) -> None:
        """Show one request."""
        used, budget = count(context["used"]), count(context["budget"])
        self._limit.setText(f"{count(context['threshold'])} {self._word}")
        self._figures.setText(f"{used} of {budget} · {percent(context['fraction'])}")
        self._bar.show_context(context)


def position_of(limit: int) -> int:
    """Return where a limit stands on the slider: each doubling takes the same way."""
    low, high = math.log(_MARKS[0]), math.log(_MARKS[-1])
    return round((math.log(limit) - low) / (high - low) * _STEPS)


def value_at(position: int) -> int:
    """Return the limit at a place of the slider, rounded to two figures."""
    low, high = math.log(_MARKS[0]), math.log(_MARKS[-1])
    exact = math.exp(low + (high - low) * position / _STEPS)
    unit = int(10 ** (len(str(int(exact))) - 2))
    for mark in (*_MARKS, 8_000, 32_000, 64_000, 200_000, 1_000_000):
        if abs(position_of(mark) - position) <= 4:
            return mark
    rounded: int = round(exact / unit) * unit
    return max(_MARKS[0], min(_MARKS[-1], rounded))


def effect_sentence(now: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, str]:
    """Return in one sentence what other settings do to the next request, and its tone."""
    before, after = _turns_out(now), _turns_out(new)
    if all(new[part] == now[part] for part in ("window", "budget", "policy")):
        if new["threshold"] != now["threshold"]:
            limit = count(new["window"])
            sentence = f"Nothing changes: the model itself takes no more than {limit} tokens."
            return sentence, "secondary"
        return "This is the limit in force.", "secondary"
    for action, sentence in _BEGINNINGS.items():
        if new["actions"][action] and not now["actions"][action]:
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


def _turns_out(context: Mapping[str, Any]) -> int:
    return sum(int(dropped["turns"]) for dropped in context["dropped"])


def _segments_out(context: Mapping[str, Any]) -> int:
    return sum(segment["state"] in {"dropped", "shrunk"} for segment in context["segments"])


def _try(preview: Preview, changes: Changes) -> Mapping[str, Any] | ErrorInfo:
    try:
        return preview(changes)
    except Exception as error:  # noqa: BLE001 - a message that does not fit is an answer here
        return describe(error)
