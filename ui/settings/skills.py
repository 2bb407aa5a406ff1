"""The section that lists skills, for the settings and projects, and the dialog that shows one."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.assistant import Assistant
from app.customize.skills import Skill
from app.errors import describe
from app.library.instructions import Decision
from resources.system.files import make_private_folder
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import DONE, ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label, one_line
from ui.widgets.dialogs import fit_dialog
from ui.widgets.formatting import count
from ui.widgets.geometry import clear_layout
from ui.widgets.layouts import align, grow, make_column, make_row, stretch

__all__ = ["SkillDialog", "SkillsSection"]

_HELP: Final = (
    "Folders with a SKILL.md that tell an agent how to do a certain task. It is offered their "
    "names and descriptions, and reads one when it fits; /NAME sends it as a message. Those in "
    ".agents/skills of your notes are used once you have accepted them."
)
_PROJECT_HELP: Final = (
    "Folders in .agents/skills of this project, with a SKILL.md that tells an agent how to do a "
    "certain task. They are used once you have accepted them."
)
_OPEN = ButtonText("Open the folder of skills", "Show it in the file manager; it is made if needed")
_SHOW = ButtonText("Read it", "Show the text and the files of the skill")
_ACCEPT = ButtonText("Accept", "Give this skill to models, as it is now")
_REFUSE = ButtonText("Refuse", "Leave this skill out")
_NONE: Final = "No skill yet. A folder named after the task, with a SKILL.md in it, becomes one."


class SkillsSection(QWidget):
    """The skills of the user and of the open vault, each with its state and its tokens.

    Args:
        assistant: provides the skills.
        runner: runs the tasks that read and write files.
        project: the project whose skills are listed instead, or None.
    """

    def __init__(
        self, assistant: Assistant, runner: TaskRunner, project: str | None = None
    ) -> None:
        super().__init__()
        self._project = project
        self._skills, self._folder = assistant.customization.skills, assistant.paths.skills
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self.show_skills)
        self._reads.failed.connect(self._on_failed)
        self.state = make_wrapped_label("Loading…", "caption", "secondary")
        self._rows = make_column(spacing=8)
        # As far apart as in the sections around it, which are rows in the settings.
        apart, spacing = ((4,), 2) if project is None else ((), 6)
        texts = make_column(
            label("Skills", "ui_strong"),
            make_wrapped_label(_HELP if project is None else _PROJECT_HELP, "caption", "secondary"),
            *apart,
            self.state,
            spacing=spacing,
        )
        head = make_row(grow(texts), spacing=8)
        if project is None:
            open_folder = make_button(_OPEN, "", self._open_folder)
            head.addWidget(open_folder, alignment=Qt.AlignmentFlag.AlignTop)
        make_column(head, self._rows, margins=(0, 10, 0, 10), spacing=8, parent=self)

    def refresh(self) -> None:
        """Read the skills again."""
        self._reads.ask(self._list, now=True)

    def show_skills(self, skills: Sequence[Skill]) -> None:
        """List skills, each with a button that shows it."""
        dress(self.state, "caption", "secondary")
        self.state.setText("" if skills else _NONE)
        self.state.setVisible(not skills)
        clear_layout(self._rows)
        for skill in skills:
            self._rows.addWidget(self._make_line(skill))

    def _make_line(self, skill: Skill) -> QWidget:
        tokens_of = skill.to_dict()["tokens"]
        state = one_line(skill.describe())
        about = one_line(skill.description)
        if not skill.problem:
            about += (
                f" · {count(tokens_of['offered'])} tokens in each request of an agent, "
                f"{count(tokens_of['text'])} more when it is read"
            )
        texts = make_column(
            make_wrapped_label(f"{one_line(skill.name)} · {state}", "ui"),
            make_wrapped_label(about, "caption", "secondary"),
            spacing=2,
        )
        show = make_button(_SHOW, "", partial(self._show, skill))
        show.setAccessibleName(f"Read the skill {one_line(skill.name)}")
        show.setEnabled(not skill.problem)
        line = QWidget()
        make_row(
            grow(texts), align(show, Qt.AlignmentFlag.AlignTop), margins=0, spacing=8, parent=line
        )
        return line

    def _show(self, skill: Skill) -> None:
        dialog = SkillDialog(self.window(), skill)
        dialog.finished.connect(lambda _code: self._decide(skill, dialog.decision))
        dialog.open()

    def _decide(self, skill: Skill, decision: Decision | None) -> None:
        if decision is not None:
            self._reads.ask(partial(self._store, skill, decision), now=True)

    def _store(self, skill: Skill, decision: Decision) -> tuple[Skill, ...]:
        self._skills.decide(skill.name, decision, skill.digest, self._project)
        return self._list()

    def _list(self) -> tuple[Skill, ...]:
        found = self._skills.list(self._project)
        if self._project is None:
            return found
        return tuple(skill for skill in found if skill.origin == "project")

    def _open_folder(self) -> None:
        try:
            make_private_folder(self._folder)
        except OSError as error:
            self._on_failed(error)
            return
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder))):
            self.state.setText(f"No program here shows folders. Skills belong in {self._folder}.")
            self.state.show()

    def _on_failed(self, error: Exception) -> None:
        self.state.setText(describe(error).message)
        dress(self.state, "caption", "danger")
        self.state.show()


class SkillDialog(QDialog):
    """Shows the text and the files of a skill. For a skill of the notes, it asks for a decision.

    Attributes:
        decision: the user's decision when the dialog has closed, or None.
    """

    def __init__(self, parent: QWidget, skill: Skill) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Skill {one_line(skill.name)}")
        fit_dialog(self)
        self.decision: Decision | None = None
        self.text = QPlainTextEdit(skill.show())
        self.text.setReadOnly(True)
        self.text.setAccessibleName("The text and the files of the skill")
        buttons = [make_button(DONE, "", self.reject)]
        if skill.origin != "own":
            refuse = make_button(_REFUSE, "", partial(self._decide, "refused"))
            accept = make_button(_ACCEPT, "primary", partial(self._decide, "accepted"))
            buttons += [refuse, accept]
        make_column(
            make_wrapped_label(f"{one_line(skill.folder.as_posix())}", "caption", "secondary"),
            grow(self.text),
            make_row(stretch(), *buttons, spacing=8),
            margins=(24, 20, 24, 16),
            spacing=12,
            parent=self,
        )

    def _decide(self, decision: Decision) -> None:
        self.decision = decision
        self.accept()
