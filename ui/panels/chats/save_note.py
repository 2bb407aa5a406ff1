"""The dialog that asks for a new note's name and folder."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCompleter,
    QDialog,
    QLineEdit,
    QWidget,
)

from ui.theme import Theme, dress
from ui.widgets.buttons import CANCEL, ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.layouts import make_column, make_grid, make_row, stretch

__all__ = ["SaveNoteDialog"]

_WIDTH = 460
_TOP = "The top of the vault"


class SaveNoteDialog(QDialog):
    """A dialog that asks for a new note's name and folder, and shows why saving failed.

    Emits `save_requested` with the note's path relative to the vault. The dialog stays open until
    its owner calls `accept`.
    """

    save_requested = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Save as note")
        self.name, self.folder = self._make_field("Name of the note"), self._make_field("Folder")
        self.folder.setPlaceholderText(_TOP)
        self._path = make_wrapped_label("", "caption", "secondary")
        self._problem = make_wrapped_label("", "ui", "danger")
        self._save = make_button(
            ButtonText("Save note", "Write this chat into a new note"), "primary", self._on_save
        )
        self._save.setDefault(True)
        self._lay_out()

    def ask(self, name: str, folder: str, folders: Sequence[str]) -> None:
        """Open the dialog.

        Args:
            name: the suggested name, without a suffix.
            folder: the suggested folder, or an empty string for the top of the vault.
            folders: the vault's folders, for completion. The user may also name a new one.
        """
        completer = QCompleter(list(folders), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.folder.setCompleter(completer)
        self.name.setText(name)
        self.folder.setText(folder)
        self._show_path()
        self.open()
        self.name.setFocus()
        self.name.selectAll()

    def show_problem(self, sentence: str) -> None:
        """Show why the note could not be saved. An empty string hides the message."""
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))
        self.adjustSize()

    def _make_field(self, name: str) -> QLineEdit:
        field = QLineEdit()
        field.setAccessibleName(name)
        field.setToolTip(name)
        field.textChanged.connect(self._show_path)
        dress(field, "ui", "")
        return field

    def _show_path(self) -> None:
        path = self._build_path()
        self._path.setText(f"The new note is {path}." if path else "Give the note a name.")
        self._save.setEnabled(bool(path))
        self.show_problem("")

    def _build_path(self) -> str:
        name, folder = self.name.text().strip(), self.folder.text().strip(" /")
        if not name:
            return ""
        file = name if name.lower().endswith(".md") else f"{name}.md"
        return f"{folder}/{file}" if folder else file

    def _on_save(self) -> None:
        self.show_problem("")
        self.save_requested.emit(self._build_path())

    def _lay_out(self) -> None:
        form = make_grid(
            [
                (label("Name", "ui", "secondary"), self.name),
                (label("Folder", "ui", "secondary"), self.folder),
            ],
            spacing=(12, 8),
        )
        make_column(
            label("Save as note", "h2"),
            form,
            self._path,
            self._problem,
            make_row(stretch(), make_button(CANCEL, "", self.reject), self._save),
            margins=(24, 20, 24, 16),
            spacing=Theme.current().space(3),
            parent=self,
        )
        self._problem.hide()
        self.setMinimumWidth(Theme.current().px(_WIDTH))
