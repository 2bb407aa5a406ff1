"""The settings dialog, with one page for each section of the schema. Changes apply at once."""

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    QUrl,
    Signal,
)
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.assistant import Assistant
from app.config.schema import schema
from app.config.settings import SECTIONS
from ui.settings.fields import NumberField, make_row, parse_number
from ui.settings.instructions import INSTRUCTIONS_WORDS, MEMORIES_WORDS, UserTextSection
from ui.settings.ledger import LedgerSection
from ui.settings.limit import LimitRow
from ui.settings.rows import SettingRow
from ui.settings.sections import (
    IndexSection,
    KeySection,
    PrivacySection,
    TextSizeSection,
    stack_separated,
)
from ui.settings.writer import SettingsWriter
from ui.tasks import TaskRunner
from ui.theme import Theme, tokens
from ui.widgets.controls import IconButton, button, label, plain_tip
from ui.widgets.geometry import make_scroll_area, scale_size
from ui.widgets.lists import FitTree, Row, RowDelegate
from ui.widgets.surfaces import Hairline, Pane

__all__ = ["SettingsDialog"]

_LIMIT = "autoCompactThreshold"
_SHOWN_WITH_LIMIT = (
    "maxOutputTokens",
    "context.trimAt",
    "context.compactAt",
    "context.blockAt",
    "context.autoCompact",
)
_ICONS = {
    "Appearance": "palette",
    "Vault and index": "books",
    "Models": "cpu",
    "Context": "stack",
    "Retrieval": "magnifying-glass",
    "Agent": "robot",
    "Privacy": "shield",
}


class SettingsDialog(QDialog):
    """The settings dialog, with the list of pages at the left and the open page at the right.

    `changed` carries the key of a setting that was changed, or `instructions` if the user's own
    instructions or memories for models were saved. `index_requested` is emitted to start an index
    run. `scale_chosen` carries the chosen font scale.
    """

    changed = Signal(str)
    index_requested = Signal()
    scale_chosen = Signal(float)

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QWidget) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner
        self.writer = SettingsWriter(assistant, runner, self)
        self.writer.changed.connect(self._on_changed)
        self.rows: dict[str, SettingRow] = {}
        self.keys = KeySection(assistant, runner)
        self.index = IndexSection(assistant, runner)
        self.index.index_requested.connect(self.index_requested)
        self.privacy = PrivacySection(assistant, runner)
        self.ledger = LedgerSection(assistant, runner)
        own, remembered = assistant.user_instructions, assistant.customization.memories.file
        self.instructions = UserTextSection(own, runner, INSTRUCTIONS_WORDS)
        self.memories = UserTextSection(remembered, runner, MEMORIES_WORDS)
        for text in (self.instructions, self.memories):
            text.saved.connect(lambda: self.changed.emit("instructions"))
        self.text_size = TextSizeSection()
        self.text_size.scale_chosen.connect(self.scale_chosen)
        self.stack = QStackedWidget()
        self.pages = FitTree("Pages")
        self.setWindowTitle("Settings")
        self._lay_out()
        Theme.current().changed.connect(self._fit)
        self._fit()
        self.show_page("")

    def show_page(self, name: str) -> None:
        """Show a page by its name; an empty name keeps the current page."""
        place = SECTIONS.index(name) if name in SECTIONS else max(0, self.stack.currentIndex())
        self.stack.setCurrentIndex(place)
        self.pages.setCurrentIndex(self.pages.model().index(place, 0))
        for row in self.rows.values():
            row.refresh()
        for extra in (self.keys, self.index, self.privacy, self.ledger, self.text_size):
            extra.refresh()
        for text in (self.instructions, self.memories):
            text.refresh()

    def set_preview(self, preview: Callable[[Mapping[str, object]], Mapping[str, Any]]) -> None:
        """Set the function that the context limit uses to preview its effect."""
        self._limit_row.set_preview(preview)

    def refresh_index(self) -> None:
        """Update the index section."""
        self.index.refresh()

    @property
    def _limit_row(self) -> LimitRow:
        row = self.rows[_LIMIT]
        assert isinstance(row, LimitRow)
        return row

    def _on_changed(self, key: str) -> None:
        self.changed.emit(key)
        if key in _SHOWN_WITH_LIMIT:
            self._limit_row.show_in_force()
        if key.startswith(("chat.", "privacy.")):
            self.keys.refresh()
            self.privacy.refresh()

    def _on_page(self, index: QModelIndex) -> None:
        self.stack.setCurrentIndex(index.row())

    def _reset_page(self) -> None:
        section = SECTIONS[self.stack.currentIndex()]
        for key, row in self.rows.items():
            if row.spec.section == section and self.writer.value(key) != row.spec.default:
                self.writer.reset(key)

    def _open_file(self) -> None:
        path = self._assistant.paths.settings_file
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path if path.exists() else path.parent)))

    def _fit(self) -> None:
        """Resize the dialog for the font scale and the screen."""
        theme, usual = Theme.current(), QSize(*tokens()["layout"]["dialog_settings"])
        room = self.screen().availableSize() - QSize(64, 64)
        wanted = QSize(theme.px(usual.width()), theme.px(usual.height()))
        self.resize(wanted.boundedTo(room).expandedTo(usual))

    def _lay_out(self) -> None:
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._navigation())
        outer.addWidget(Hairline(is_vertical=True))
        right = Pane("overlay")
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for section in SECTIONS:
            self.stack.addWidget(self._page(section))
        column.addWidget(self.stack, 1)
        column.addLayout(self._foot())
        outer.addWidget(right, 1)

    def _navigation(self) -> QWidget:
        side = Pane("sidebar")
        scale_size(side, 208)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 16, 0, 16)
        column.setSpacing(8)
        title = label("Settings", "h2")
        title.setContentsMargins(16, 0, 16, 0)
        column.addWidget(title)
        self.pages.setModel(_PagesModel(self.pages))
        self.pages.setItemDelegate(RowDelegate(self.pages))
        self.pages.chosen.connect(self._on_page)
        self.pages.selectionModel().currentChanged.connect(self._on_page)
        column.addWidget(self.pages)
        column.addStretch(1)
        file = button("Open settings.toml", "text", self._open_file)
        file.setToolTip(plain_tip(str(self._assistant.paths.settings_file)))
        foot = QHBoxLayout()
        foot.setContentsMargins(8, 0, 8, 0)
        foot.addWidget(file)
        foot.addStretch(1)
        column.addLayout(foot)
        return side

    def _page(self, section: str) -> QWidget:
        head = QHBoxLayout()
        head.setContentsMargins(24, 12, 16, 4)
        head.addWidget(label(section, "h2"), 1)
        close = IconButton("x", "Close settings")
        close.clicked.connect(self.close)
        head.addWidget(close)
        content = Pane("overlay")
        column = QVBoxLayout(content)
        column.setContentsMargins(24, 0, 24, 16)
        column.setSpacing(0)
        stack_separated(self._widgets(section), column)
        column.addStretch(1)
        scroll = make_scroll_area(content)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        page = QWidget()
        outer = QVBoxLayout(page)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(head)
        outer.addWidget(scroll, 1)
        return page

    def _widgets(self, section: str) -> list[QWidget]:
        made: list[QWidget] = []
        for key, spec in schema().items():
            if spec.section == section:
                is_limit = key == _LIMIT
                row = LimitRow(spec, self.writer, self._runner) if is_limit else None
                self.rows[key] = row or make_row(spec, self.writer)
                self._show_while_typed(key)
                made.append(self._with_key() if key == "chat.model" else self.rows[key])
        extras: dict[str, tuple[QWidget, ...]] = {
            "Appearance": (self.text_size,),
            "Vault and index": (self.index,),
            "Models": (self.instructions, self.memories),
            "Privacy": (self.privacy, self.ledger),
        }
        return [*made, *extras.get(section, ())]

    def _show_while_typed(self, key: str) -> None:
        field, spec = self.rows[key].control, schema()[key]
        if key in _SHOWN_WITH_LIMIT and isinstance(field, NumberField):
            field.textEdited.connect(lambda text: self._try(key, parse_number(text, spec)))

    def _try(self, key: str, value: float | None) -> None:
        if value is not None:
            self._limit_row.show_change(key, value)

    def _with_key(self) -> QWidget:
        both = QWidget()
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.rows["chat.model"])
        column.addWidget(self.keys)
        return both

    def _foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setContentsMargins(24, 12, 24, 16)
        foot.setSpacing(8)
        foot.addWidget(label("Changes apply at once.", "caption", "secondary"))
        foot.addStretch(1)
        foot.addWidget(button("Reset this page", "text", self._reset_page))
        done = button("Done", "primary", self.accept)
        foot.addWidget(done)
        return foot


class _PagesModel(QAbstractListModel):
    """A Qt list model of the pages with their icons."""

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(SECTIONS)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        section = SECTIONS[index.row()]
        return Row(section, icon=_ICONS[section]).data(role)
