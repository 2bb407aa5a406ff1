"""The left column: vault, notes, projects, chats and index, or a rail of icons."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from resources import sample_vault
from ui.icons import paint_icon
from ui.panels.chats.projects import ProjectList
from ui.panels.chats.sessions import ChatList
from ui.panels.index.footer import IndexFooter
from ui.panels.index.state import IndexState
from ui.panels.notes.folders import Folders
from ui.panels.notes.vault import NoteTree
from ui.theme import Theme
from ui.widgets.controls import IconButton, label, make_wrapped_label, paint_focus, plain_tip
from ui.widgets.geometry import Scaled
from ui.widgets.lists import paint_text
from ui.widgets.surfaces import Hairline, Header, Pane

if TYPE_CHECKING:
    from app.library.projects import Project
    from app.sessions.store import SessionInfo

__all__ = ["Rail", "RowButton", "Sidebar", "folder_name"]

_HEAD, _BELOW = 36, 8
_PROJECT_KEYS = "Ctrl+Alt+O"
_NO_PROJECTS = "No projects yet. A project is a folder with chats of its own."


class Sidebar(Pane):
    """The sidebar with vault, projects, chats and index; signals report the user's actions."""

    new_chat_requested = Signal()
    note_chosen = Signal(str)
    chat_chosen = Signal(str)
    folder_requested = Signal()
    samples_requested = Signal()
    index_requested = Signal()
    project_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("sidebar", parent)
        self.switcher = VaultSwitcher()
        self.new_chat = RowButton("note-pencil", "New chat", "Ctrl+N")
        self.notes = NoteTree()
        self.projects = ProjectList()
        self.chats = ChatList()
        self.footer = IndexFooter()
        self._no_notes = _quiet("")
        self._no_projects = _quiet(_NO_PROJECTS)
        self._no_chats = _quiet("Loading…")
        self._make_menu()
        self._lay_out()
        self.new_chat.clicked.connect(self.new_chat_requested)
        self.notes.note_chosen.connect(self.note_chosen)
        self.chats.chat_chosen.connect(self.chat_chosen)
        for part in (self.notes, self.projects, self.chats):
            part.model().modelReset.connect(self._share_height)
            part.height_changed.connect(self._share_height)

    def show_vault(self, name: str, path: str) -> None:
        """Show the name of the open vault; an empty name means that none is open."""
        self.switcher.show_vault(name or "No folder open", path)
        self._reindex.setEnabled(bool(name))

    def show_notes(self, folders: Folders, empty: str) -> None:
        """Show the tree of notes; `empty` is the text shown if there are none."""
        self.notes.show_folders(folders)
        self._no_notes.setText(empty)
        self._no_notes.setVisible(not folders.notes)
        self.notes.setVisible(bool(folders.notes))
        self._share_height()

    def show_projects(self, projects: "Sequence[Project]", current: str | None) -> None:
        """Show the projects and select the one of the open chat."""
        self.projects.set_projects(projects, current)
        self._no_projects.setVisible(not projects)
        self.projects.setVisible(bool(projects))
        self._share_height()

    def show_chats(self, chats: "Sequence[SessionInfo]", current: str | None) -> None:
        """Show the chats and select the open one."""
        self.chats.set_chats(chats, current)
        self._no_chats.setText("No chats yet. Ctrl+N starts one.")
        self._no_chats.setVisible(not chats)
        self.chats.setVisible(bool(chats))
        self._share_height()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Redistribute the height of the lists when it changes."""
        if event.type() == QEvent.Type.Resize:
            self._share_height()
        return super().eventFilter(watched, event)

    def _share_height(self) -> None:
        """Distribute the height: each list gets up to half, and more if the other needs less."""
        free = self._lists.height() - 3 * Theme.current().px(_HEAD) - _BELOW
        for text in (self._no_notes, self._no_projects, self._no_chats):
            if not text.isHidden():
                free -= text.heightForWidth(self._lists.width())
        if free <= 0:
            return
        if not self.projects.isHidden():
            self.projects.set_limit(max(Theme.current().px(28), free // 4))
            free -= self.projects.height()
        chats = min(self.chats.content_height(), free // 2)
        self.notes.set_limit(max(Theme.current().px(84), free - chats))
        self.chats.set_limit(max(Theme.current().px(84), free - self.notes.height()))

    def _make_menu(self) -> None:
        menu = QMenu(self.switcher)
        menu.addAction("Choose a folder…").triggered.connect(self.folder_requested)
        menu.addAction("Open the sample notes").triggered.connect(self.samples_requested)
        menu.addSeparator()
        self._reindex = menu.addAction("Read the notes again")
        self._reindex.triggered.connect(self.index_requested)
        self.switcher.set_menu(menu)

    def _lay_out(self) -> None:
        head = Header("sidebar")
        head.row.setContentsMargins(8, 0, 8, 1)
        head.row.addWidget(self.switcher, 1)
        self._lists = QWidget()
        self._lists.installEventFilter(self)
        lists = QVBoxLayout(self._lists)
        lists.setContentsMargins(0, 0, 0, _BELOW)
        lists.setSpacing(0)
        add = IconButton("plus", "Open a folder as a project", _PROJECT_KEYS, size=24)
        add.clicked.connect(self.project_requested)
        for title, empty, view in (
            ("Vault", self._no_notes, self.notes),
            ("Projects", self._no_projects, self.projects),
            ("Chats", self._no_chats, self.chats),
        ):
            lists.addWidget(_SectionHead(title, add if view is self.projects else None))
            lists.addWidget(empty)
            lists.addWidget(view)
            view.hide()
        lists.addStretch(1)
        top = QHBoxLayout()
        top.setContentsMargins(8, 8, 8, 0)
        top.addWidget(self.new_chat)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addLayout(top)
        column.addWidget(self._lists, 1)
        column.addWidget(Hairline())
        column.addWidget(self.footer)


class RowButton(QAbstractButton):
    """A row-shaped button with an icon, a label, and its shortcut at the right."""

    def __init__(self, icon_name: str, word: str, shortcut: str) -> None:
        super().__init__()
        self._icon = icon_name
        self._keys = QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)
        self.setText(word)
        self.setAccessibleName(word)
        self.setToolTip(f"{word} ({self._keys})")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the height of a row."""
        return QSize(120, Theme.current().px(28))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the row."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _paint_field(self, painter)
        side = theme.px(16)
        spot = QRect(8, (self.height() - side) // 2, side, side)
        paint_icon(painter, spot, self._icon, "text.primary")
        inner = self.rect().adjusted(16 + side, 0, -8, 0)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.tertiary"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(inner, right, self._keys)
        painter.setFont(theme.font("ui_strong"))
        painter.setPen(theme.color("text.primary"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, self.text())


class VaultSwitcher(QAbstractButton):
    """A button with the name of the open vault that opens a menu to change it."""

    def __init__(self) -> None:
        super().__init__()
        self._menu: QMenu | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._on_clicked)
        self.show_vault("No folder open", "")

    def set_menu(self, menu: QMenu) -> None:
        """Set the menu that a click opens."""
        self._menu = menu

    def show_vault(self, name: str, path: str) -> None:
        """Show the name of the vault, and its path as the tooltip."""
        self.setText(name)
        self.setAccessibleName(f"Folder of notes: {name}")
        self.setToolTip(plain_tip(path or "Choose a folder of notes"))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a row."""
        return QSize(120, Theme.current().px(30))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw icon, name and the two arrows."""
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _paint_field(self, painter)
        side = theme.px(16)
        top = (self.height() - side) // 2
        paint_icon(painter, QRect(6, top, side, side), "books", "text.secondary")
        arrows = QRect(self.width() - side - 4, top, side, side)
        paint_icon(painter, arrows, "up-down", "text.tertiary")
        painter.setFont(theme.font("ui_strong"))
        painter.setPen(theme.color("text.primary"))
        paint_text(painter, self.rect().adjusted(side + 14, 0, -side - 12, 0), self.text())

    def _on_clicked(self) -> None:
        if self._menu is not None:
            self._menu.popup(self.mapToGlobal(self.rect().bottomLeft()))


class _SectionHead(Scaled, QWidget):
    """The heading of a list in the sidebar."""

    def __init__(self, title: str, action: QWidget | None = None) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12 if action is None else 8, 16 if action is None else 12, 4)
        row.addWidget(label(title, "label", "secondary"), 1)
        if action is not None:
            row.addWidget(action)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(Theme.current().px(_HEAD))


def _quiet(text: str) -> QLabel:
    made = make_wrapped_label(text, "caption", "tertiary")
    made.setContentsMargins(16, 2, 16, 6)
    return made


def _paint_field(widget: QAbstractButton, painter: QPainter) -> None:
    theme = Theme.current()
    if widget.underMouse() or widget.isDown():
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bg.pressed" if widget.isDown() else "bg.hover"))
        painter.drawRoundedRect(widget.rect(), theme.radius("md"), theme.radius("md"))
    if widget.hasFocus():
        paint_focus(painter, widget.rect())


def folder_name(folder: Path) -> str:
    """Return the display name of a vault's folder."""
    return "Sample notes" if folder == sample_vault().resolve() else folder.name or str(folder)


class Rail(Pane):
    """A strip of icon buttons that replaces the sidebar in a narrow window."""

    open_requested = Signal()
    new_chat_requested = Signal()
    settings_requested = Signal()
    index_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("sidebar", parent)
        self.index = IconButton("check-circle", "Index", size=36)
        open_ = IconButton("panel-left", "Show the sidebar", "Ctrl+B", size=36)
        new = IconButton("note-pencil", "New chat", "Ctrl+N", size=36)
        notes = IconButton("books", "Notes", size=36)
        chats = IconButton("chat", "Chats", size=36)
        settings = IconButton("gear", "Settings", "Ctrl+,", size=36)
        for button in (open_, notes, chats):
            button.clicked.connect(self.open_requested)
        self.index.clicked.connect(self.index_requested)
        new.clicked.connect(self.new_chat_requested)
        settings.clicked.connect(self.settings_requested)
        head = Header("sidebar")
        head.row.setContentsMargins(0, 0, 0, 1)
        head.row.addWidget(open_, 0, Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(0)
        column.addWidget(head)
        column.addSpacing(6)
        centre = Qt.AlignmentFlag.AlignHCenter
        for button in (new, notes, chats):
            column.addWidget(button, 0, centre)
        column.addStretch(1)
        for button in (self.index, settings):
            column.addWidget(button, 0, centre)
        self.show_state(IndexState())

    def show_state(self, state: IndexState) -> None:
        """Show the state of the index as an icon with its text."""
        icon, tone = state.icon
        self.index.set_icon(icon, tone)
        self.index.set_name(state.text)
