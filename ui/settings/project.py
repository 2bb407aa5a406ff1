"""The dialog with the settings of a project: instructions, memories, patterns and model."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.errors import describe
from app.library.projects import Projects, ProjectSettings
from ui.settings.instructions import SAVE_TIP, EditorWords, UserTextSection
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme, dress
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.dialogs import CtrlEnter
from ui.widgets.geometry import make_text_scroll_area, scale_size
from ui.widgets.layouts import align, grow, make_column, make_row, stretch
from ui.widgets.surfaces import Hairline
from ui.widgets.texts import word_hint

__all__ = ["ProjectDialog"]

_USUAL = QSize(560, 640)
_INSTRUCTIONS = EditorWords(
    "Instructions for this project",
    "Every request in the chats of this project begins with them, after your own instructions.",
    "Such as: Cite the chapter of each claim.",
    ButtonText("Save instructions", SAVE_TIP),
)
_MEMORIES = EditorWords(
    "Memories of this project",
    "What models remember in the chats of this project, one list item each. Delete a line to "
    "forget it.",
    "Such as: - The thesis is due in May.",
    ButtonText("Save memories", SAVE_TIP),
)


class ProjectDialog(QDialog):
    """The dialog with the settings of a project. Each section is saved separately.

    Args:
        projects: reads and writes the settings of all projects.
        name: the name of the project.
        runner: runs the tasks that read and write files.
        parent: the Qt parent.
    """

    def __init__(self, projects: Projects, name: str, runner: TaskRunner, parent: QWidget) -> None:
        super().__init__(parent)
        self._projects, self._name = projects, name
        self.instructions = UserTextSection(projects.instructions(name), runner, _INSTRUCTIONS)
        self.memories = UserTextSection(projects.memory(name), runner, _MEMORIES)
        self.notes = ProjectFields(projects, name, runner)
        self._lay_out(str(projects.find_folder(name)))

    def refresh(self) -> None:
        """Reload the settings, except for sections with unsaved changes."""
        self.setWindowTitle(f"Settings of the project {self._projects.find_title(self._name)}")
        for part in (self.instructions, self.memories, self.notes):
            part.refresh()

    def _lay_out(self, folder: str) -> None:
        page = QWidget()
        make_column(
            make_wrapped_label(folder, "caption", "secondary"),
            self.instructions,
            Hairline(),
            self.notes,
            Hairline(),
            self.memories,
            stretch(),
            margins=(20, 12, 20, 12),
            parent=page,
        )
        make_column(make_text_scroll_area(page), margins=0, parent=self)
        theme = Theme.current()
        usual = QSize(theme.px(_USUAL.width()), theme.px(_USUAL.height()))
        self.resize(usual.boundedTo(self.screen().availableGeometry().size()))


class ProjectFields(QWidget):
    """The fields for the note patterns and the model of a project. One button saves all of them."""

    def __init__(self, projects: Projects, name: str, runner: TaskRunner) -> None:
        super().__init__()
        self._projects, self._name = projects, name
        self._tasks = LatestOnly(runner, 0, self)
        self._tasks.answered.connect(self._on_answered)
        self._tasks.failed.connect(self._on_failed)
        self.include = _make_patterns("Only these notes")
        self.exclude = _make_patterns("Never these notes")
        self.model = QLineEdit()
        self.model.setAccessibleName("Model of this project")
        self.model.setPlaceholderText("The model that is set in Settings")
        dress(self.model, "ui", "")
        self.save = make_button(
            ButtonText("Save notes and model", "Use them from the next request on"),
            "",
            self._on_save,
        )
        CtrlEnter(self, self.save)
        self.state = make_wrapped_label("", "caption", "secondary")
        for field in (self.include, self.exclude, self.model):
            field.textChanged.connect(self._on_typed)
        self._lay_out()
        self._show(ProjectSettings())

    def refresh(self) -> None:
        """Reload the patterns and the model of the project, unless there are unsaved changes."""
        if self.save.isEnabled():
            return
        self._tasks.ask(lambda: (self._projects.settings(self._name), ""), now=True)

    def _on_save(self) -> None:
        values: dict[str, object] = {
            "include": self.include.toPlainText().splitlines(),
            "exclude": self.exclude.toPlainText().splitlines(),
            "model": self.model.text(),
        }

        def save() -> tuple[ProjectSettings, str]:
            for key, value in values.items():
                self._projects.change(self._name, key, value)
            return self._projects.settings(self._name), "Saved. The next request uses them."

        self._tasks.ask(save, now=True)

    def _on_answered(self, answer: tuple[ProjectSettings, str]) -> None:
        self._show(answer[0])
        self._say(answer[1], "secondary")

    def _on_failed(self, error: Exception) -> None:
        info = describe(error)
        self._say(f"{info.message} {word_hint(info.hint)}".strip(), "danger")

    def _show(self, settings: ProjectSettings) -> None:
        self.include.setPlainText("\n".join(settings.include))
        self.exclude.setPlainText("\n".join(settings.exclude))
        self.model.setText(settings.model)
        self.save.setEnabled(False)

    def _on_typed(self) -> None:
        self.save.setEnabled(True)
        self._say("", "secondary")

    def _say(self, text: str, tone: str) -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(0, 10, 0, 10)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        form.addRow(label("Notes and model", "ui_strong"))
        form.addRow(
            make_wrapped_label(
                "Patterns as in a .gitignore, one a line, such as drafts/ or *.txt.",
                "caption",
                "secondary",
            )
        )
        for field in (self.include, self.exclude, self.model):
            form.addRow(_make_buddy(field), field)
        buttons = make_row(grow(self.state), align(self.save, Qt.AlignmentFlag.AlignRight))
        form.addRow(buttons)


def _make_patterns(name: str) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setAccessibleName(name)
    field.setTabChangesFocus(True)
    field.setProperty("field", True)
    dress(field, "ui", "")
    scale_size(field, 0, 64)
    return field


def _make_buddy(field: QWidget) -> QLabel:
    made = label(field.accessibleName(), "ui")
    made.setBuddy(field)
    return made
