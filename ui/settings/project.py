"""The page of a project: instructions, notes, web pages, memories, skills, model, and L1.

There is no Save button: what is typed and chosen applies at once, and can be undone.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app.assistant import Assistant
from app.config.models import ModelChoice
from app.errors import AppError, describe
from app.library.projects import Projects, ProjectSettings
from app.project_overview import ProjectNote, ProjectOverview, describe_project
from ui.chat.composer.menus import ModelMenu
from ui.settings.instructions import SAVED_AFTER_MS, EditorWords, UserTextSection
from ui.settings.project_pages import KeptPages
from ui.settings.skills import SkillsSection
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import dress
from ui.widgets.controls import ElidedLabel, escape_tooltip, label, make_wrapped_label, one_line
from ui.widgets.formatting import count, percent, plural
from ui.widgets.geometry import OUTDENT, clear_layout, make_text_scroll_area, scale_size, set_in
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.surfaces import Hairline, Pane
from ui.widgets.texts import word_error

__all__ = ["ProjectFields", "ProjectView"]

_MOST_ROWS = 40
_INSTRUCTIONS = EditorWords(
    "Instructions for this project",
    "Every request in the chats of this project begins with them, after your own instructions.",
    "Such as: Cite the chapter of each claim.",
)
_MEMORIES = EditorWords(
    "Memories of this project",
    "What models remember in the chats of this project, one list item each. Change a line to "
    "correct it, delete it to forget it.",
    "Such as: - The thesis is due in May.",
)
_PATTERNS = "Patterns as in a .gitignore, one a line, such as drafts/ or *.txt."
_DEFAULT_MODEL = "The model in the settings"
_PARTS: Final[Mapping[str, str]] = {
    "project": "Strata's own instructions",
    "agent": "Strata's own instructions",
    "user_instructions": "Your instructions",
    "vault_instructions": "AGENTS.md of the vault",
    "long_term_memories": "Memories of all chats",
    "project_agents": "AGENTS.md of this project",
    "project_instructions": "Instructions for this project",
    "project_memory": "Memories of this project",
    "project_context": "Names and headings of the notes",
}


class ProjectView(Pane):
    """The page of a project, which is shown in place of the chat.

    Signals:
        model_wanted: emitted when the user wants to set up a model.
        titled: emitted with the name of the page, such as "Project Thesis".
        changed: emitted after something was saved that a request of the project holds.

    Args:
        assistant: reads and writes everything about the project.
        name: the name of the project.
        runner: runs the tasks that read and write files, and fetch pages.
        parent: the Qt parent.

    Attributes:
        title: the title of the project, as it was read last.
    """

    model_wanted = Signal()
    titled = Signal(str)
    changed = Signal()

    def __init__(
        self, assistant: Assistant, name: str, runner: TaskRunner, parent: QWidget
    ) -> None:
        super().__init__("content", parent)
        self.title = ""
        self._assistant, self._name = assistant, name
        projects = assistant.projects
        self.instructions = UserTextSection(projects.instructions(name), runner, _INSTRUCTIONS)
        self.memories = UserTextSection(projects.memory(name), runner, _MEMORIES)
        self.notes = ProjectFields(assistant, name, runner)
        self.pages = KeptPages(assistant, name, runner)
        self.skills = SkillsSection(assistant, runner, name)
        self.contents = ProjectContents()
        self._overviews = LatestOnly(runner, SAVED_AFTER_MS, self)
        self._overviews.answered.connect(self._on_described)
        self._overviews.failed.connect(self.contents.show_error)
        texts = self.instructions.saved, self.memories.saved, self.notes.saved
        for saved in (*texts, self.pages.changed):
            saved.connect(self._measure)
            saved.connect(self.changed)
        self.notes.model.setup_wanted.connect(self.model_wanted)
        self.notes.model.file_wanted.connect(self.model_wanted)
        self._lay_out(str(projects.find_folder(name)))

    def refresh(self) -> None:
        """Reload the page, except for text that is not saved yet."""
        self.title = one_line(self._assistant.projects.find_title(self._name))
        self.setAccessibleName(f"Project {self.title}")
        self.titled.emit(self.accessibleName())
        for part in (self.instructions, self.memories, self.notes, self.pages, self.skills):
            part.refresh()
        self._measure()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the page as wide as the text of a chat."""
        super().resizeEvent(event)
        left, right = set_in(self.width())  # of a box, whose text stands further in
        self._rows.setContentsMargins(left + OUTDENT, 16, right + OUTDENT, 12)

    def _measure(self) -> None:
        self._overviews.ask(lambda: describe_project(self._assistant, self._name))

    def _on_described(self, found: ProjectOverview) -> None:
        self.contents.show_overview(found)
        self.pages.show_tokens(found.pages)

    def _lay_out(self, folder: str) -> None:
        page = QWidget()
        self._rows = make_column(
            make_wrapped_label(folder, "caption", "secondary"),
            self.instructions,
            Hairline(),
            self.notes,
            Hairline(),
            self.pages,
            Hairline(),
            self.memories,
            Hairline(),
            self.skills,
            Hairline(),
            self.contents,
            stretch(),
            margins=(20, 16, 20, 12),
            parent=page,
        )
        area = make_text_scroll_area(page)
        area.setAccessibleName("Page of the project")
        self.setFocusProxy(area)
        make_column(area, margins=0, parent=self)


class ProjectFields(QWidget):
    """The fields for the note patterns and the model of a project. They apply at once.

    The signal `saved` is emitted after something was written.
    """

    saved = Signal()

    def __init__(self, assistant: Assistant, name: str, runner: TaskRunner) -> None:
        super().__init__()
        self._projects: Projects = assistant.projects
        self._name, self._setup = name, assistant.model_setup
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._reads.failed.connect(self._on_failed)
        self._saves = LatestOnly(runner, 0, self)
        self._saves.answered.connect(self._on_saved)
        self._saves.failed.connect(self._on_failed)
        self._models = LatestOnly(runner, 0, self)
        self._models.answered.connect(self._on_models)
        self._pause = QTimer(self, singleShot=True, interval=SAVED_AFTER_MS)
        self._pause.timeout.connect(self.save)
        self.include = _make_patterns("Only these notes", "All notes of the folder")
        self.exclude = _make_patterns("Never these notes", "None")
        self.model = ModelMenu()
        self.model.set_model("")
        self.model.model_chosen.connect(self._on_model_chosen)
        self.state = make_wrapped_label("", "caption", "secondary")
        for field in (self.include, self.exclude):
            field.document().contentsChanged.connect(self._on_typed)
        self._lay_out()

    @property
    def is_changed(self) -> bool:
        """Whether patterns in the fields are not saved yet."""
        return any(field.document().isModified() for field in (self.include, self.exclude))

    def refresh(self) -> None:
        """Reload the patterns and the model, unless there are patterns that are not saved yet."""
        self._reads.ask(lambda: self._projects.settings(self._name), now=True)
        self._models.ask(self._setup.list_choices, now=True)

    def save(self) -> None:
        """Save the patterns in the fields."""
        self._pause.stop()
        if self.is_changed:
            self._write(self._read_values())

    def hideEvent(self, event: QHideEvent) -> None:
        """Save the patterns before the page or the window is closed."""
        super().hideEvent(event)
        self._pause.stop()
        if self.is_changed:
            try:
                self._on_saved(self._store(self._read_values()))  # at once: the program may end now
            except AppError as error:
                self._on_failed(error)

    def _read_patterns(self) -> tuple[list[str], list[str]]:
        include, exclude = (one.toPlainText().splitlines() for one in (self.include, self.exclude))
        return include, exclude

    def _read_values(self) -> Mapping[str, object]:
        include, exclude = self._read_patterns()
        return {"include": include, "exclude": exclude}

    def _write(self, values: Mapping[str, object]) -> None:
        self._saves.ask(partial(self._store, values), now=True)

    def _store(self, values: Mapping[str, object]) -> ProjectSettings:
        for key, value in values.items():
            self._projects.change(self._name, key, value)
        return self._projects.settings(self._name)

    def _on_read(self, settings: ProjectSettings) -> None:
        self.model.set_model(settings.model)
        if self.is_changed:
            return
        for field, patterns in ((self.include, settings.include), (self.exclude, settings.exclude)):
            if tuple(field.toPlainText().splitlines()) != patterns:
                field.setPlainText("\n".join(patterns))
            field.document().setModified(False)
        self._pause.stop()
        self._say("", "secondary")

    def _on_saved(self, settings: ProjectSettings) -> None:
        written = [list(filter(None, map(str.strip, one))) for one in self._read_patterns()]
        if written == [list(settings.include), list(settings.exclude)]:
            for field in (self.include, self.exclude):
                field.document().setModified(False)
        self._say("Saved. The next request uses it.", "secondary")
        self.saved.emit()

    def _on_failed(self, error: Exception) -> None:
        self._say(word_error(describe(error)), "danger")

    def _on_models(self, models: Sequence[ModelChoice]) -> None:
        self.model.set_models(models, _DEFAULT_MODEL)

    def _on_model_chosen(self, name: str) -> None:
        self._write({"model": name})

    def _on_typed(self) -> None:
        if self.is_changed:
            self._say("", "secondary")
            self._pause.start()

    def _say(self, text: str, tone: str) -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)

    def _lay_out(self) -> None:
        fields = [
            grow(_lay_out_field(field.accessibleName(), field))
            for field in (self.include, self.exclude)
        ]
        make_column(
            label("Model", "ui_strong"),
            make_row(self.model, stretch(), margins=0),
            8,
            label("Notes", "ui_strong"),
            make_wrapped_label(_PATTERNS, "caption", "secondary"),
            make_row(*fields, spacing=12),
            self.state,
            margins=(0, 10, 0, 10),
            spacing=6,
            parent=self,
        )


class ProjectContents(QWidget):
    """The members of a project with their tokens, and what L1 of a new chat holds."""

    def __init__(self) -> None:
        super().__init__()
        self._head = make_wrapped_label("Loading…", "caption", "secondary")
        self._notes, self._parts = QVBoxLayout(), QVBoxLayout()
        for rows in (self._notes, self._parts):
            rows.setSpacing(2)
        make_column(
            label("What each message begins with (L1)", "ui_strong"),
            self._head,
            self._parts,
            8,
            label("Files and folders", "ui_strong"),
            self._notes,
            margins=(0, 10, 0, 10),
            spacing=6,
            parent=self,
        )

    def show_overview(self, found: ProjectOverview) -> None:
        """Show the members and what L1 holds, or why this is not known."""
        share = f" ({percent(found.l1_tokens / found.budget)})" if found.budget else ""
        used = f"{count(found.l1_tokens)} of {count(found.budget)} tokens{share}, in a new chat."
        self._head.setText(found.problem or used)
        dress(self._head, "caption", "danger" if found.problem else "secondary")
        titles = {kept.page.source: kept.page.title for kept in found.pages}
        parts = [
            (_name_part(part.id, titles.get(part.source) or part.source), count(part.tokens))
            for part in found.l1
        ]
        _fill(self._parts, parts, "")
        _fill(self._notes, list(_list_members(found.notes)), "No notes that a model may read.")

    def show_error(self, error: Exception) -> None:
        """Show why the project cannot be described."""
        self._head.setText(describe(error).message)
        dress(self._head, "caption", "danger")


def _name_part(id: str, source: str) -> str:
    return _PARTS.get(id, source or id)


def _list_members(notes: Sequence[ProjectNote]) -> Iterator[tuple[str, str]]:
    """Yield a line for each folder in the project's folder, then one for each note beside them."""
    folders: dict[str, list[ProjectNote]] = {}
    for note in notes:
        folder, slash, _rest = note.path.partition("/")
        folders.setdefault(folder if slash else "", []).append(note)
    own = folders.pop("", [])
    for folder in sorted(folders, key=str.casefold):
        inside = folders[folder]
        tokens = sum(note.tokens for note in inside)
        yield f"{folder}/", f"{plural(len(inside), 'note')} · {count(tokens)} tokens"
    for note in own:
        sent = " · text sent" if note.l1_tokens else ""
        yield note.path, f"{count(note.tokens)} tokens{sent}"


def _fill(rows: QVBoxLayout, lines: Sequence[tuple[str, str]], empty: str) -> None:
    clear_layout(rows)
    for name, tokens in lines[:_MOST_ROWS]:
        line = QWidget()
        shown = ElidedLabel(name)
        dress(shown, "caption", "primary")
        shown.setToolTip(escape_tooltip(name))
        make_row(
            grow(shown),
            label(tokens, "caption", "secondary", numbers=True),
            margins=0,
            spacing=8,
            parent=line,
        )
        line.setAccessibleName(f"{name}, {tokens}")
        rows.addWidget(line)
    if not lines and empty:
        rows.addWidget(label(empty, "caption", "tertiary"))
    if len(lines) > _MOST_ROWS:
        more = f"… and {count(len(lines) - _MOST_ROWS)} more"
        rows.addWidget(label(more, "caption", "tertiary"))


def _make_patterns(name: str, empty: str) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setAccessibleName(name)
    field.setPlaceholderText(empty)
    field.setTabChangesFocus(True)
    field.setProperty("field", True)
    dress(field, "ui", "")
    scale_size(field, 0, 64)
    return field


def _lay_out_field(name: str, field: QWidget) -> QVBoxLayout:
    buddy = label(name, "ui")
    buddy.setBuddy(field)
    return make_column(buddy, field, spacing=4)
