"""The row of a setting: name and help on the left, control and reset button on the right."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.config.schema import SettingSpec, use_labels
from ui.actions import word_keys
from ui.settings.writer import SettingsWriter
from ui.widgets.buttons import IconButton
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.layouts import grow, keep_room, make_column, make_row, stretch

__all__ = ["Control", "MakeControl", "SettingRow"]


@dataclass(frozen=True)
class Control:
    """The input widget of a setting, and a function that shows a value in the widget."""

    widget: QWidget
    show: Callable[[Any], object]


MakeControl = Callable[["SettingRow"], Control]


class SettingRow(QWidget):
    """The row of a setting, which shows and changes the setting's value.

    Args:
        spec: the schema entry of the setting.
        writer: reads and writes the setting's value.
        make: creates the control on the right.
    """

    def __init__(self, spec: SettingSpec, writer: SettingsWriter, make: MakeControl) -> None:
        super().__init__()
        self.spec = spec
        self._writer = writer
        self._problem = make_wrapped_label("", "caption", "danger")
        self._problem.hide()
        self.reset_button = IconButton("arrow-counter-clockwise", f"Reset {spec.label}", size=24)
        self.reset_button.clicked.connect(self._on_reset)
        writer.changed.connect(self._on_changed)
        writer.refused.connect(self._on_refused)
        made = make(self)
        self.control, self._show = made.widget, made.show
        self.control.setAccessibleName(spec.label)
        self.control.setToolTip(_word_help(spec))
        self._lay_out()
        self.refresh()

    def refresh(self) -> None:
        """Show the current value of the setting, and hide the error message."""
        value = self._writer.value(self.spec.key)
        self._show(value)
        self.set_problem("")
        keep_room(self.reset_button)
        self.reset_button.setVisible(value != self.spec.default)

    def set_problem(self, text: str) -> None:
        """Show an error message below the setting. An empty string hides the message."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
        _mark_invalid(self.control, bool(text))

    def problem(self) -> str:
        """Return the error message below the setting, or an empty string if there is none."""
        return self._problem.text()

    def write(self, value: object) -> None:
        """Write a new value of the setting, unless it equals the current value."""
        if value != self._writer.value(self.spec.key):
            self._writer.set(self.spec.key, value)
        else:
            self.refresh()

    def open_folder(self, path: str) -> None:
        """Open a folder as the vault, and store it in this setting.

        If the folder cannot be opened, the setting does not change.

        Args:
            path: the path of the folder. If it is empty, the setting is cleared and no folder is
                opened.
        """
        if path and path != self._writer.value(self.spec.key):
            self._writer.open_folder(path)
        else:
            self.write(path)

    def _lay_out(self) -> None:
        texts = make_column(
            self._name(),
            make_wrapped_label(_word_help(self.spec), "caption", "secondary"),
            stretch(),
            spacing=2,
        )
        row = make_row(grow(texts), self.reset_button, self.control, spacing=8)
        make_column(row, self._problem, margins=(0, 10, 0, 10), spacing=4, parent=self)

    def _name(self) -> QHBoxLayout:
        return make_row(label(self.spec.label, "ui_strong"), stretch())

    def _on_reset(self) -> None:
        self._writer.reset(self.spec.key)

    def _on_changed(self, key: str) -> None:
        if key == self.spec.key:
            self.refresh()

    def _on_refused(self, key: str, problem: str) -> None:
        if key == self.spec.key:
            self.set_problem(problem)


def _mark_invalid(widget: QWidget, is_invalid: bool) -> None:
    """Show or hide the red border of a field."""
    if bool(widget.property("invalid")) != is_invalid:
        widget.setProperty("invalid", is_invalid)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def _word_help(spec: SettingSpec) -> str:
    return word_keys(use_labels(spec.help))
