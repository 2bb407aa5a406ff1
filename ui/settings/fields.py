"""The controls of settings: number, switch, choice, text, folder, list of lines, and table.

For each kind of setting, a function creates the control for a row. The control passes the user's
input to the row.
"""

import json
import re
from typing import Any, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from app.config.schema import SettingSpec
from ui.actions import word_keys
from ui.settings.rows import Control, MakeControl, SettingRow
from ui.settings.writer import SettingsWriter
from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, Switch, make_button
from ui.widgets.controls import label
from ui.widgets.dialogs import choose_folder
from ui.widgets.formatting import count
from ui.widgets.geometry import scale_size
from ui.widgets.layouts import make_row
from ui.widgets.menus import MenuButton

__all__ = [
    "NumberField",
    "describe_range",
    "format_number",
    "make_setting_row",
    "parse_number",
]

_EXAMPLES = {
    "chat.apiBase": "http://127.0.0.1:8080/v1",
    "chat.imageModels": "One model a line, such as openai/NAME",
    "vault.exclude": "One pattern a line, such as drafts/",
    "vectorStore.url": "http://127.0.0.1:8000",
}
_TABLE_EXAMPLE = '{"files": {"command": "npx", "args": ["-y", "NAME"]}}'
_SEPARATORS = re.compile(r"[\s,'’_\u00a0\u202f]")


class NumberField(QLineEdit):
    """A field for a number, with an optional unit. The input may contain digit separators."""

    def __init__(self, unit: str = "") -> None:
        super().__init__()
        self.unit = label(unit, "ui", "secondary")
        self.unit.setParent(self)
        self.unit.setVisible(bool(unit))
        dress(self, "ui", "", numbers=True)
        Theme.current().changed.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: Any) -> None:
        """Keep the unit label at the right edge of the field when the field is resized."""
        super().resizeEvent(event)
        self._place_unit()

    def _fit(self) -> None:
        self.setFixedWidth(Theme.current().px(132))
        right = self.unit.sizeHint().width() + 12 if self.unit.text() else 0
        self.setTextMargins(0, 0, right, 0)
        self._place_unit()

    def _place_unit(self) -> None:
        size = self.unit.sizeHint()
        top = (self.height() - size.height()) // 2
        self.unit.setGeometry(self.width() - size.width() - 9, top, size.width(), size.height())


class _LinesField(QPlainTextEdit):
    """A text field with several lines. `finished` is emitted when it loses the focus."""

    finished = Signal()

    def __init__(self, example: str) -> None:
        super().__init__()
        scale_size(self, 264, 84)
        self.setTabChangesFocus(True)
        self.setPlaceholderText(example)
        self.setProperty("field", True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        dress(self, "code", "")

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Emit `finished` when the field loses the focus."""
        super().focusOutEvent(event)
        self.finished.emit()


def make_setting_row(spec: SettingSpec, writer: SettingsWriter) -> SettingRow:
    """Create the row of a setting, with a control that matches the kind of setting.

    Args:
        spec: the schema entry of the setting.
        writer: reads and writes the setting's value.
    """
    is_folder = spec.key == "vault.path"
    return SettingRow(spec, writer, _folder if is_folder else _MAKERS[spec.kind])


def _number(row: SettingRow) -> Control:
    spec = row.spec
    field = NumberField("%" if spec.is_share else spec.unit)

    def on_edited(text: str) -> None:
        is_fine = parse_number(text, spec) is not None
        row.set_problem("" if is_fine else describe_range(spec))

    def on_finished() -> None:
        value = parse_number(field.text(), spec)
        if value is None:
            row.set_problem(f"{describe_range(spec)} It stays as it was.")
        else:
            row.write(value)

    field.textEdited.connect(on_edited)
    field.editingFinished.connect(on_finished)
    return Control(field, lambda value: field.setText(format_value(value, spec)))


def _switch(row: SettingRow) -> Control:
    switch = Switch(row.spec.label)
    switch.clicked.connect(row.write)
    return Control(switch, lambda value: switch.setChecked(bool(value)))


def _choice(row: SettingRow) -> Control:
    menu = MenuButton(row.spec.label)
    words = ((choice, word_keys(choice[:1].upper() + choice[1:])) for choice in row.spec.choices)
    menu.set_choices([(choice, word, "") for choice, word in words])
    menu.chosen.connect(row.write)
    return Control(menu, lambda value: menu.set_value(str(value)))


def _text(row: SettingRow) -> Control:
    field = _text_field(264)
    field.setPlaceholderText(_EXAMPLES.get(row.spec.key, ""))
    field.editingFinished.connect(lambda: row.write(field.text().strip()))
    return Control(field, lambda value: _show_text(field, value))


def _folder(row: SettingRow) -> Control:
    field = _text_field(200)
    field.setAccessibleName(row.spec.label)
    both = QWidget()

    def on_choose() -> None:
        chosen = choose_folder(both, "Choose a folder of notes", "")
        if chosen:
            row.open_folder(chosen)

    field.editingFinished.connect(lambda: row.open_folder(field.text().strip()))
    choose = make_button(ButtonText("Choose…", "Choose the folder of notes"), "", on_choose)
    choose.setAccessibleName("Choose the folder of notes")
    make_row(field, choose, margins=0, spacing=8, parent=both)
    return Control(both, lambda value: _show_text(field, value))


def _lines(row: SettingRow) -> Control:
    field = _LinesField(_EXAMPLES.get(row.spec.key, ""))

    def show(value: Any) -> None:
        lines = "\n".join(value)
        if field.toPlainText() != lines:
            field.setPlainText(lines)

    def on_finished() -> None:
        lines = (line.strip() for line in field.toPlainText().splitlines())
        row.write([line for line in lines if line])

    field.finished.connect(on_finished)
    return Control(field, show)


def _table(row: SettingRow) -> Control:
    field = _LinesField(_TABLE_EXAMPLE)

    def show(value: Any) -> None:
        text = json.dumps(value, indent=1, ensure_ascii=False) if value else ""
        if field.toPlainText() != text:
            field.setPlainText(text)

    def on_finished() -> None:
        try:
            value = json.loads(field.toPlainText().strip() or "{}")
        except ValueError as error:
            row.set_problem(f"This is not JSON: {error}. It stays as it was.")
        else:
            row.write(value)

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


_MAKERS: dict[str, MakeControl] = {
    "whole": _number,
    "number": _number,
    "switch": _switch,
    "choice": _choice,
    "text": _text,
    "list": _lines,
    "table": _table,
}


def parse_number(text: str, spec: SettingSpec) -> float | int | Literal[""] | None:
    """Parse the number that the user typed for a setting.

    Return None if the text is not a number or the number is out of range. A setting that may be
    empty has an empty text in place of a number.

    Args:
        text: the typed text.
        spec: the schema entry of the setting.
    """
    plain = _SEPARATORS.sub("", text)
    if spec.may_be_empty and not plain:
        return ""
    try:
        value = int(plain) if spec.kind == "whole" else float(plain.removesuffix("%"))
        value = round(value / 100, 6) if spec.is_share else value
    except ValueError:
        return None
    low, high = spec.minimum, spec.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        return None
    return value


def describe_range(spec: SettingSpec) -> str:
    """Describe the allowed range and the default of a number setting."""
    low, high = format_value(spec.minimum or 0, spec), format_value(spec.maximum or 0, spec)
    unit = "\N{NO-BREAK SPACE}%" if spec.is_share else ""
    return f"{low} to {high}{unit}. Default {format_value(spec.default, spec)}{unit}."


def format_value(value: float | Literal[""], spec: SettingSpec) -> str:
    """Format the value of a number setting for its field. A share is formatted as a percentage."""
    if value == "":
        return ""
    return format_number(round(value * 100, 4) if spec.is_share else value)


def format_number(value: float) -> str:
    """Format a number for a number field. Whole numbers get digit separators."""
    return count(int(value)) if float(value).is_integer() else f"{value:g}"
