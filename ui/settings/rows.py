"""One row a setting: name and help at the left, the control at the right, a reset when changed."""

import re
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.settings import SettingSpec
from ui.kit.controls import IconButton, MenuButton, Switch, button, label, wrapped
from ui.kit.figures import count
from ui.settings.writer import SettingsWriter
from ui.theme import Theme, dress

__all__ = ["NumberField", "SettingRow", "make_row", "parse_number", "range_sentence"]

_EXAMPLES = {"chat.apiBase": "http://127.0.0.1:8080/v1"}
_SEPARATORS = re.compile(r"[\s,'’_\u00a0\u202f]")


class SettingRow(QWidget):
    """The row of one setting; it follows the value in force, whoever changed it."""

    def __init__(self, spec: SettingSpec, writer: SettingsWriter) -> None:
        super().__init__()
        self.spec = spec
        self._writer = writer
        self._problem = wrapped("", "caption", "danger")
        self._problem.hide()
        self._reset = IconButton("arrow-counter-clockwise", f"Reset {spec.label}", size=24)
        self._reset.clicked.connect(self._on_reset)
        writer.changed.connect(self._on_changed)
        writer.refused.connect(self._on_refused)
        self.control = self._make_control()
        self.control.setAccessibleName(spec.label)
        self.control.setToolTip(spec.help)
        self._lay_out()
        self.refresh()

    def refresh(self) -> None:
        """Show the value in force."""
        value = self._writer.value(self.spec.key)
        self._show(value)
        self.set_problem("")
        policy = self._reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._reset.setSizePolicy(policy)
        self._reset.setVisible(value != self.spec.default)

    def set_problem(self, text: str) -> None:
        """Say below the row why a value is not taken; nothing takes it away."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
        mark_invalid(self.control, bool(text))

    def problem(self) -> str:
        """Return what is said below the row."""
        return self._problem.text()

    def _make_control(self) -> QWidget:
        raise NotImplementedError

    def _show(self, value: Any) -> None:
        raise NotImplementedError

    def _write(self, value: object) -> None:
        if value != self._writer.value(self.spec.key):
            self._writer.set(self.spec.key, value)
        else:
            self.refresh()

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addLayout(self._name())
        texts.addWidget(wrapped(self.spec.help, "caption", "secondary"))
        texts.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addLayout(texts, 1)
        row.addWidget(self._reset)
        row.addWidget(self.control)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 10)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._problem)

    def _name(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(label(self.spec.label, "ui_strong"))
        row.addStretch(1)
        return row

    def _on_reset(self) -> None:
        self._writer.reset(self.spec.key)

    def _on_changed(self, key: str) -> None:
        if key == self.spec.key:
            self.refresh()

    def _on_refused(self, key: str, problem: str) -> None:
        if key == self.spec.key:
            self.set_problem(problem)


class NumberField(QLineEdit):
    """A field for a number with its unit; figures may be typed with separators."""

    def __init__(self, unit: str = "") -> None:
        super().__init__()
        self._unit = label(unit, "ui", "secondary")
        self._unit.setParent(self)
        self._unit.setVisible(bool(unit))
        dress(self, "ui", "", numbers=True)
        theme = Theme.current()
        self.setFixedWidth(theme.px(132))
        right = self._unit.sizeHint().width() + 12 if unit else 0
        self.setTextMargins(0, 0, right, 0)

    def resizeEvent(self, event: Any) -> None:
        """Keep the unit at the right edge."""
        super().resizeEvent(event)
        size = self._unit.sizeHint()
        top = (self.height() - size.height()) // 2
        self._unit.setGeometry(self.width() - size.width() - 9, top, size.width(), size.height())


class _NumberRow(SettingRow):
    def _make_control(self) -> QWidget:
        field = NumberField(self.spec.unit)
        field.textEdited.connect(self._on_edited)
        field.editingFinished.connect(self._on_finished)
        self._field = field
        return field

    def _show(self, value: Any) -> None:
        self._field.setText(shown_number(value))

    def _on_edited(self, text: str) -> None:
        is_fine = parse_number(text, self.spec) is not None
        self.set_problem("" if is_fine else range_sentence(self.spec))

    def _on_finished(self) -> None:
        value = parse_number(self._field.text(), self.spec)
        if value is None:
            self.set_problem(f"{range_sentence(self.spec)} It stays as it was.")
        else:
            self._write(value)


class _SwitchRow(SettingRow):
    def _make_control(self) -> QWidget:
        switch = Switch(self.spec.label)
        switch.clicked.connect(self._on_clicked)
        self._switch = switch
        return switch

    def _show(self, value: Any) -> None:
        self._switch.setChecked(bool(value))

    def _on_clicked(self, is_on: bool) -> None:
        self._write(is_on)


class _ChoiceRow(SettingRow):
    def _make_control(self) -> QWidget:
        self._menu = MenuButton(self.spec.label)
        return self._menu

    def _show(self, value: Any) -> None:
        choices = [(choice, choice.capitalize()) for choice in self.spec.choices]
        self._menu.set_choices(choices, str(value), self._write)


class _TextRow(SettingRow):
    def _make_control(self) -> QWidget:
        field = QLineEdit()
        field.setFixedWidth(Theme.current().px(264))
        field.setPlaceholderText(_EXAMPLES.get(self.spec.key, ""))
        field.editingFinished.connect(self._on_finished)
        dress(field, "ui", "")
        self._field = field
        return field

    def _show(self, value: Any) -> None:
        self._field.setText(str(value))
        self._field.setCursorPosition(0)

    def _on_finished(self) -> None:
        self._write(self._field.text().strip())


class _FolderRow(_TextRow):
    def _make_control(self) -> QWidget:
        field = super()._make_control()
        field.setFixedWidth(Theme.current().px(200))
        field.setAccessibleName(self.spec.label)
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(field)
        row.addWidget(button("Choose…", "", self._on_choose))
        return both

    def _write(self, value: object) -> None:
        if value and value != self._writer.value(self.spec.key):
            self._writer.open_folder(str(value))
        else:
            super()._write(value)

    def _on_choose(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, "Choose a folder of notes")
        if chosen:
            self._write(chosen)


class _ListRow(SettingRow):
    def _make_control(self) -> QWidget:
        self._text = _LinesField()
        self._text.finished.connect(self._on_finished)
        return self._text

    def _show(self, value: Any) -> None:
        lines = "\n".join(value)
        if self._text.toPlainText() != lines:
            self._text.setPlainText(lines)

    def _on_finished(self) -> None:
        lines = self._text.toPlainText().splitlines()
        self._write([line.strip() for line in lines if line.strip()])


class _LinesField(QPlainTextEdit):
    """Several lines, one value each; `finished` when it is left."""

    finished = Signal()

    def __init__(self) -> None:
        super().__init__()
        theme = Theme.current()
        self.setFixedSize(theme.px(264), theme.px(84))
        self.setTabChangesFocus(True)
        self.setPlaceholderText("One pattern a line, such as drafts/")
        self.setProperty("field", True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        dress(self, "code", "")

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Say that the text is as it shall be."""
        super().focusOutEvent(event)
        self.finished.emit()


_ROWS: dict[str, type[SettingRow]] = {
    "whole": _NumberRow,
    "number": _NumberRow,
    "switch": _SwitchRow,
    "choice": _ChoiceRow,
    "text": _TextRow,
    "list": _ListRow,
}


def make_row(spec: SettingSpec, writer: SettingsWriter) -> SettingRow:
    """Return the row that fits the kind of a setting."""
    if spec.key == "vault.path":
        return _FolderRow(spec, writer)
    return _ROWS[spec.kind](spec, writer)


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


def mark_invalid(widget: QWidget, is_invalid: bool) -> None:
    """Give a field the red edge, or take it away."""
    if bool(widget.property("invalid")) != is_invalid:
        widget.setProperty("invalid", is_invalid)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
