"""The controls of settings: a number, a switch, a choice, text, a folder, several lines.

Each is made by a function that is given its row, writes to it what the user enters, and says how a
value is shown.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPlainTextEdit, QWidget

from app.config.schema import SettingSpec
from ui.theme import Theme, dress
from ui.widgets.controls import Switch, button, label
from ui.widgets.figures import count
from ui.widgets.menu_button import MenuButton
from ui.widgets.scaled import scale_size

__all__ = [
    "Control",
    "Maker",
    "NumberField",
    "RowPort",
    "folder_control",
    "maker_of",
    "parse_number",
    "range_sentence",
    "shown_number",
]

_EXAMPLES = {
    "chat.apiBase": "http://127.0.0.1:8080/v1",
    "vectorStore.url": "http://127.0.0.1:8000",
}
_SEPARATORS = re.compile(r"[\s,'’_\u00a0\u202f]")


class RowPort(Protocol):
    """The row that a control stands in."""

    spec: SettingSpec

    def write(self, value: object) -> None:
        """Set the setting, unless that is its value already."""

    def open_folder(self, path: str) -> None:
        """Set the folder of notes, which opens it."""

    def set_problem(self, text: str) -> None:
        """Say why a value is not taken; nothing takes that away."""


@dataclass(frozen=True)
class Control:
    """A widget, and what puts a value into it."""

    widget: QWidget
    show: Callable[[Any], object]


Maker = Callable[[RowPort], Control]


class NumberField(QLineEdit):
    """A field for a number with its unit; figures may be typed with separators."""

    def __init__(self, unit: str = "") -> None:
        super().__init__()
        self._unit = label(unit, "ui", "secondary")
        self._unit.setParent(self)
        self._unit.setVisible(bool(unit))
        dress(self, "ui", "", numbers=True)
        Theme.current().changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: Any) -> None:
        """Keep the unit at the right edge."""
        super().resizeEvent(event)
        self._place_unit()

    def _fit(self) -> None:
        self.setFixedWidth(Theme.current().px(132))
        right = self._unit.sizeHint().width() + 12 if self._unit.text() else 0
        self.setTextMargins(0, 0, right, 0)
        self._place_unit()

    def _place_unit(self) -> None:
        size = self._unit.sizeHint()
        top = (self.height() - size.height()) // 2
        self._unit.setGeometry(self.width() - size.width() - 9, top, size.width(), size.height())


class _LinesField(QPlainTextEdit):
    """Several lines, one value each; `finished` when it is left."""

    finished = Signal()

    def __init__(self) -> None:
        super().__init__()
        scale_size(self, 264, 84)
        self.setTabChangesFocus(True)
        self.setPlaceholderText("One pattern a line, such as drafts/")
        self.setProperty("field", True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        dress(self, "code", "")

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Say that the text is as it shall be."""
        super().focusOutEvent(event)
        self.finished.emit()


def maker_of(kind: str) -> Maker:
    """Return what makes the control of a kind of setting."""
    return _MAKERS[kind]


def _number(row: RowPort) -> Control:
    spec, field = row.spec, NumberField(row.spec.unit)

    def on_edited(text: str) -> None:
        is_fine = parse_number(text, spec) is not None
        row.set_problem("" if is_fine else range_sentence(spec))

    def on_finished() -> None:
        value = parse_number(field.text(), spec)
        if value is None:
            row.set_problem(f"{range_sentence(spec)} It stays as it was.")
        else:
            row.write(value)

    field.textEdited.connect(on_edited)
    field.editingFinished.connect(on_finished)
    return Control(field, lambda value: field.setText(shown_number(value)))


def _switch(row: RowPort) -> Control:
    switch = Switch(row.spec.label)
    switch.clicked.connect(row.write)
    return Control(switch, lambda value: switch.setChecked(bool(value)))


def _choice(row: RowPort) -> Control:
    menu = MenuButton(row.spec.label)
    menu.set_choices([(choice, choice.capitalize(), "") for choice in row.spec.choices])
    menu.chosen.connect(row.write)
    return Control(menu, lambda value: menu.set_value(str(value)))


def _text(row: RowPort) -> Control:
    field = _text_field(264)
    field.setPlaceholderText(_EXAMPLES.get(row.spec.key, ""))
    field.editingFinished.connect(lambda: row.write(field.text().strip()))
    return Control(field, lambda value: _show_text(field, value))


def folder_control(row: RowPort) -> Control:
    """Return a field for the folder of notes, and a button that chooses one."""
    field = _text_field(200)
    field.setAccessibleName(row.spec.label)
    both = QWidget()
    across = QHBoxLayout(both)
    across.setContentsMargins(0, 0, 0, 0)
    across.setSpacing(8)

    def on_choose() -> None:
        chosen = QFileDialog.getExistingDirectory(both, "Choose a folder of notes")
        if chosen:
            row.open_folder(chosen)

    field.editingFinished.connect(lambda: row.open_folder(field.text().strip()))
    across.addWidget(field)
    across.addWidget(button("Choose…", "", on_choose))
    return Control(both, lambda value: _show_text(field, value))


def _lines(row: RowPort) -> Control:
    field = _LinesField()

    def show(value: Any) -> None:
        lines = "\n".join(value)
        if field.toPlainText() != lines:
            field.setPlainText(lines)

    def on_finished() -> None:
        lines = (line.strip() for line in field.toPlainText().splitlines())
        row.write([line for line in lines if line])

    field.finished.connect(on_finished)
    return Control(field, show)


def _text_field(width: int) -> QLineEdit:
    field = QLineEdit()
    scale_size(field, width)
    dress(field, "ui", "")
    return field


def _show_text(field: QLineEdit, value: Any) -> None:
    field.setText(str(value))
    field.setCursorPosition(0)


_MAKERS: dict[str, Maker] = {
    "whole": _number,
    "number": _number,
    "switch": _switch,
    "choice": _choice,
    "text": _text,
    "list": _lines,
}


def parse_number(text: str, spec: SettingSpec) -> float | int | None:
    """Return the number that was typed, None where the setting does not take it."""
    plain = _SEPARATORS.sub("", text)
    try:
        value = int(plain) if spec.kind == "whole" else float(plain)
    except ValueError:
        return None
    low, high = spec.minimum, spec.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        return None
    return value


def range_sentence(spec: SettingSpec) -> str:
    """Return what a number setting takes, and its default."""
    low, high = shown_number(spec.minimum or 0), shown_number(spec.maximum or 0)
    return f"{low} to {high}. Default {shown_number(spec.default)}."


def shown_number(value: float) -> str:
    """Return a number as a field shows it."""
    return count(int(value)) if float(value).is_integer() else f"{value:g}"
