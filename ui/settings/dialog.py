"""The settings dialog, with one page for each section of the schema. Changes apply immediately."""

from collections.abc import Sequence
from itertools import chain

from PySide6.QtCore import QModelIndex, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QWidget,
)

from app.assistant import Assistant
from app.config.schema import SettingSpec, schema
from app.config.settings import SECTIONS
from ui.settings.backup import BackupSection
from ui.settings.fields import NumberField, make_setting_row, parse_number
from ui.settings.folders import make_folder_sections
from ui.settings.instructions import INSTRUCTIONS_WORDS, MEMORIES_WORDS, UserTextSection
from ui.settings.keyboard import CommandRow, KeyboardRow
from ui.settings.keys import KeySection
from ui.settings.ledger import LedgerSection
from ui.settings.limit import LimitRow, Preview
from ui.settings.mcp import ServersSection
from ui.settings.pages import SettingsPages
from ui.settings.rows import SettingRow
from ui.settings.search import SettingsSearchField, build_pages_model
from ui.settings.sections import (
    ActionSection,
    IndexSection,
    KeptSection,
    PrivacySection,
    SpendingSection,
    TextSizeSection,
    VerdictsSection,
)
from ui.settings.shapes import ShapeSection
from ui.settings.skills import SkillsSection
from ui.settings.writer import SettingsWriter
from ui.tasks import TaskRunner
from ui.theme import Theme, tokens
from ui.widgets.buttons import DONE, ButtonText, make_button
from ui.widgets.controls import escape_tooltip, label
from ui.widgets.formatting import plural
from ui.widgets.geometry import scale_size, set_apart
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.lists import FitTree, RowDelegate
from ui.widgets.surfaces import Hairline, Notice, Pane

__all__ = ["SettingsDialog"]

_LIMIT, _KEYS = "autoCompactThreshold", "ui.keys"
_SET_UP = ButtonText(
    "Set up again", "Go through the first steps once more; nothing is lost", "first_run"
)
_SET_MODEL = ButtonText("Set a model", "Find a model on this computer, or a service with a key")
_KEEP = ButtonText("Keep them", "Leave the settings as they are")
_RESET = ButtonText("Reset them", "Set everything on this page to its default")
_SHOWN_WITH_LIMIT = (
    "maxOutputTokens",
    "context.trimAt",
    "context.compactAt",
    "context.blockAt",
    "context.autoCompact",
)


class SettingsDialog(QDialog):
    """The settings dialog: the list of pages on the left, the open page on the right.

    Signals:
        changed: emitted with the key of a changed setting, or with `instructions` when the user's
            instructions or memories have been saved.
        index_requested: emitted when the user wants to update the index.
        scale_chosen: emitted with the font scale that the user chooses.
        setup_requested: emitted with the name of the first-run step that the user opens.
        restored: emitted when a backup has been restored, as a whole or in part.
        file_requested: emitted with the path of a file to open in another program.
    """

    changed = Signal(str)
    index_requested = Signal()
    scale_chosen = Signal(float)
    file_requested = Signal(object)
    setup_requested = Signal(str)
    restored = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QWidget) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner
        self.writer = SettingsWriter(assistant, runner, self)
        self.writer.changed.connect(self._on_changed)
        self._rows: dict[str, SettingRow] = {}
        self._preview: Preview | None = None
        self.keys = KeySection(assistant, runner)
        self.shapes = ShapeSection(assistant, runner)
        self.index = IndexSection(assistant, runner)
        self.index.index_requested.connect(self.index_requested)
        self.privacy = PrivacySection(assistant, runner)
        self.kept = KeptSection(assistant, runner)
        self.verdicts = VerdictsSection(assistant, runner)
        self.ledger = LedgerSection(assistant, runner)
        self.spending = SpendingSection(assistant, runner)
        self.skills = SkillsSection(assistant, runner)
        self.backup = BackupSection(assistant, runner)
        self.backup.restored.connect(self.restored)
        self.servers = ServersSection(assistant, runner, self.writer)
        texts = assistant.customization
        self.instructions = UserTextSection(texts.own_instructions, runner, INSTRUCTIONS_WORDS)
        self.memories = UserTextSection(texts.memories.file, runner, MEMORIES_WORDS)
        for text in (self.instructions, self.memories):
            text.saved.connect(lambda: self.changed.emit("instructions"))
        self.folders = make_folder_sections(assistant.paths, runner)
        self.text_size = TextSizeSection()
        self.text_size.scale_chosen.connect(self.scale_chosen)
        self._setup = self._make_setup()
        self._extras = self._list_extras()
        self.stack = SettingsPages(self._make_widgets)
        self.stack.page_created.connect(self._order_focus)
        self.shapes.listed.connect(self._order_focus)
        self.pages = FitTree("Pages")
        self.search = SettingsSearchField(self)
        self._listed = build_pages_model(self.pages)
        self._shown = SECTIONS[0]
        self.stack.currentChanged.connect(self._on_turned)
        self._question = Notice("info")
        self._question.hide()
        self.stack.currentChanged.connect(self._question.hide)
        self.setWindowTitle("Settings")
        self._lay_out()
        Theme.current().changed.connect(self._fit)
        self._fit()
        self.show_page("")

    def show_key(self, owner: str) -> None:
        """Show the page with the API key of a provider or address, and focus the key's field."""
        self.show_page("Models")
        self.keys.enter_key(owner)

    def show_page(self, name: str) -> None:
        """Show a page by its name, or a setting by its key. "" keeps the page, for a search."""
        self.keys.show_owner("")
        self.search.begin(takes_focus=not name)
        section = schema()[name].section if name in schema() else name
        self._turn_to(section if section in SECTIONS else self._shown)
        for row in self._rows.values():
            row.refresh()
        for extra in (
            self.index,
            self.privacy,
            self.kept,
            self.verdicts,
            self.ledger,
            self.text_size,
            self.servers,
        ):
            extra.refresh()
        self.shapes.refresh()
        self.spending.refresh()
        self.skills.refresh()
        for folder in chain.from_iterable(self.folders.values()):
            folder.refresh()
        for text in (self.instructions, self.memories):
            text.refresh()
        if name in schema():
            self._go_to(self.find_row(name))

    def find_row(self, key: str) -> SettingRow:
        """Return the row of a setting, given the setting's key. Create its page if necessary."""
        self.stack.create_page(schema()[key].section)
        return self._rows[key]

    def show_change(self, key: str) -> None:
        """Show the new value of a setting that has been changed outside of the dialog."""
        if key in self._rows:
            self._rows[key].refresh()

    def set_preview(self, preview: Preview) -> None:
        """Set the function that previews the next request with changed settings."""
        self._preview = preview
        if (row := self._limit_row) is not None:
            row.set_preview(preview)

    @property
    def _limit_row(self) -> LimitRow | None:
        """The row of the context limit, or None if its page has not been created."""
        row = self._rows.get(_LIMIT)
        return row if isinstance(row, LimitRow) else None

    def _on_changed(self, key: str) -> None:
        self.changed.emit(key)
        if key in _SHOWN_WITH_LIMIT and (row := self._limit_row) is not None:
            row.show_in_force()
        if key.startswith(("chat.", "privacy.")):
            self.keys.refresh()
            self.privacy.refresh()
        if key.startswith("spending."):
            self.spending.refresh()

    def _on_page(self, index: QModelIndex) -> None:
        name = index.data()
        if name in SECTIONS:
            self.stack.show_section(name)

    def _on_turned(self) -> None:
        """Remember which page is shown, and reload it if it lists calls or what they cost."""
        if self.stack.section:
            self._shown = self.stack.section
            if self._shown == "Ledger":
                self.ledger.refresh()
            elif self._shown == "Spending":
                self.spending.refresh()

    def _turn_to(self, section: str) -> None:
        """Show a page, and select it in the list of pages."""
        self.stack.show_section(section)
        self.pages.setCurrentIndex(self._listed.find(section))

    def _go_to(self, row: SettingRow) -> None:
        """Scroll the open page to a row, and focus the row's control."""
        self.stack.scroll_to(row.spec.section, row)
        row.control.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_searched(self, text: str) -> None:
        """List only the pages that match the search text, and show one of them."""
        names = self.stack.find_matches(text)
        with QSignalBlocker(self.pages.selectionModel()):  # or the next page would be shown
            self._listed.set_rows(names)
        if not names:
            self.stack.show_none(text)
        else:
            self._turn_to(self._shown if self._shown in names else names[0])

    def _list_keys(self) -> list[str]:
        """Return the keys of the settings on the open page."""
        return [key for key, spec in schema().items() if spec.section == self.stack.section]

    def _ask_to_reset(self) -> None:
        """List the changed settings of the open page, and ask whether to reset them."""
        keys = [k for k in self._list_keys() if self.writer.value(k) != schema()[k].default]
        if not keys:
            self._question.hide()
            return
        names = ", ".join(f"“{schema()[key].label}”" for key in keys)
        title = f"Reset {plural(len(keys), 'setting')} of this page?"
        ways = ((_KEEP, self._end_question), (_RESET, lambda: self._reset(keys)))
        self._question.show_notice("info", title, f"Changed: {names}.", ways)
        self._question.focus_first()

    def _reset(self, keys: Sequence[str]) -> None:
        self._end_question()
        for key in keys:
            self.writer.reset(key)

    def _end_question(self) -> None:
        self._question.hide()
        self._last[0].setFocus()

    def _open_file(self) -> None:
        self.file_requested.emit(self._assistant.paths.settings_file)

    def _fit(self) -> None:
        """Resize the dialog to match the font scale, but not larger than the screen."""
        theme, usual = Theme.current(), QSize(*tokens()["layout"]["dialog_settings"])
        room = self.screen().availableSize() - QSize(64, 64)
        wanted = QSize(theme.px(usual.width()), theme.px(usual.height()))
        self.resize(wanted.boundedTo(room).expandedTo(usual))

    def _lay_out(self) -> None:
        right = Pane("overlay")
        self.search.textChanged.connect(self._on_searched)
        make_column(
            grow(self.stack),
            set_apart(self._question, 24, 8, 24, 0),
            self._foot(),
            margins=0,
            spacing=0,
            parent=right,
        )
        make_row(
            self._navigation(),
            Hairline(is_vertical=True),
            grow(right),
            margins=0,
            spacing=0,
            parent=self,
        )

    def _order_focus(self) -> None:
        """Move the buttons below the pages to the end of the tab order."""
        for last in self._last:
            before = self.previousInFocusChain()
            while before is not None and not before.focusPolicy() & Qt.FocusPolicy.TabFocus:
                before = before.previousInFocusChain()
            if before is not None:
                self.setTabOrder(before, last)

    def _navigation(self) -> QWidget:
        side = Pane("sidebar")
        scale_size(side, 208)
        title = label("Settings", "h2")
        title.setContentsMargins(16, 0, 16, 0)
        field = make_row(self.search, margins=(8, 0, 8, 0))
        self.pages.setModel(self._listed)
        self.pages.setItemDelegate(RowDelegate(self.pages))
        self.pages.chosen.connect(self._on_page)
        self.pages.selectionModel().currentChanged.connect(self._on_page)
        file = make_button(
            ButtonText("Open settings.toml", "Open the file with your settings"),
            "text",
            self._open_file,
        )
        file.setToolTip(escape_tooltip(str(self._assistant.paths.settings_file)))
        foot = make_row(file, stretch(), margins=(8, 0, 8, 0))
        make_column(
            title,
            field,
            self.pages,
            stretch(),
            foot,
            margins=(0, 16, 0, 16),
            spacing=8,
            parent=side,
        )
        return side

    def _make_widgets(self, section: str) -> list[QWidget]:
        """Create the widgets of a page: a row for each setting, and sections without settings."""
        made: list[QWidget] = []
        for key, spec in schema().items():
            if spec.section == section:
                self._rows[key] = self._make_row(spec)
                self._show_while_typed(key)
                made.append(self._with_key() if key == "chat.model" else self._rows[key])
        if section == "Models":
            made.insert(0, self._setup[1])
        elif section == "MCP servers":
            made.insert(0, self.servers)
        return [*made, *self._list_commands(section), *self._extras.get(section, ())]

    def _list_extras(self) -> dict[str, tuple[QWidget, ...]]:
        """Return the sections without settings, by page.

        Until a page is created, its sections belong to a widget outside of the dialog. Otherwise,
        they would already be part of the dialog's tab order.
        """
        extras: dict[str, tuple[QWidget, ...]] = {
            "Appearance": (self.text_size, self._setup[0]),
            "Vault and index": (self.index,),
            "Models": (self.shapes,),
            "Prompts": (self.instructions, *self.folders["Prompts"], self.skills),
            "Hooks": self.folders["Hooks"],
            "Memory": (self.memories,),
            "Privacy": (self.privacy, self.kept, self.verdicts),
            "Ledger": (self.ledger,),
            "Backup": (self.backup,),
            "Spending": (self.spending,),
        }
        self._holder = QWidget()
        self.destroyed.connect(self._holder.deleteLater)
        first = (self.keys, self.servers, self._setup[1])
        for widget in (*first, *chain.from_iterable(extras.values())):
            widget.setParent(self._holder)
        return extras

    def _make_row(self, spec: SettingSpec) -> SettingRow:
        if spec.key == _LIMIT:
            limit = LimitRow(spec, self.writer, self._runner)
            if self._preview is not None:
                limit.set_preview(self._preview)
            return limit
        if spec.key == _KEYS:
            return KeyboardRow(spec, self.writer)
        return make_setting_row(spec, self.writer)

    def _list_commands(self, section: str) -> Sequence[CommandRow]:
        """Return the rows of all commands for the page "Keyboard", or none for another page."""
        row = self._rows.get(_KEYS)
        return row.commands if section == "Keyboard" and isinstance(row, KeyboardRow) else ()

    def _make_setup(self) -> tuple[ActionSection, ActionSection]:
        """Create two rows that open the first-run dialog: at its start and at the model step."""
        start = ActionSection(
            "First run", "Folder of notes, model and first question, step by step.", _SET_UP
        )
        start.requested.connect(lambda: self._set_up("Notes"))
        model = ActionSection(
            "Find a model",
            "Servers on this computer, a service with a key, or another server, with a test.",
            _SET_MODEL,
        )
        model.requested.connect(lambda: self._set_up("Model"))
        return start, model

    def _set_up(self, step: str) -> None:
        self.close()
        self.setup_requested.emit(step)

    def _show_while_typed(self, key: str) -> None:
        field, spec = self._rows[key].control, schema()[key]
        if key in _SHOWN_WITH_LIMIT and isinstance(field, NumberField):
            field.textEdited.connect(lambda text: self._try(key, parse_number(text, spec)))

    def _try(self, key: str, value: object) -> None:
        if value is not None and (row := self._limit_row) is not None:
            row.show_change(key, value)

    def _with_key(self) -> QWidget:
        both = QWidget()
        make_column(self._rows["chat.model"], self.keys, margins=0, spacing=0, parent=both)
        return both

    def _foot(self) -> QHBoxLayout:
        hint = label("Changes apply at once.", "caption", "secondary")
        reset = make_button(
            ButtonText(
                "Reset this page", "Set everything on this page to its default, after a question"
            ),
            "text",
            self._ask_to_reset,
        )
        done = make_button(DONE, "primary", self.accept)
        self._last = (reset, done)
        foot = make_row(hint, stretch(), reset, done, margins=(24, 12, 24, 16), spacing=8)
        for at in (hint, reset):
            self.stack.currentChanged.connect(lambda _, w=at: w.setVisible(bool(self._list_keys())))
        return foot
