"""The left column: vault, notes, pinned answers, projects, chats and index, or a rail of icons."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QLabel,
    QSizePolicy,
    QWidget,
)

from ui.actions import Keymap
from ui.icons import begin_painting, paint_icon
from ui.panels.chats.chats_model import NONE_RUNNING, unpack_chat
from ui.panels.chats.projects import ProjectList
from ui.panels.chats.sessions import ChatList
from ui.panels.index.footer import IndexFooter
from ui.panels.index.state import IndexState
from ui.panels.notes.folders import Folders
from ui.panels.notes.note_tree import NoteTree
from ui.panels.pinned import PinnedList
from ui.panels.vault_switcher import VaultSwitcher
from ui.theme import Theme, dress
from ui.widgets.buttons import IconButton, PressedByEnter, Switch, add_shortcut, paint_row
from ui.widgets.controls import (
    ElidedLabel,
    draw_text,
    escape_tooltip,
    label,
    make_wrapped_label,
    one_line,
)
from ui.widgets.find_bar import SearchField
from ui.widgets.geometry import Scaled
from ui.widgets.layouts import align, grow, make_column, make_row, stretch
from ui.widgets.surfaces import Hairline, Header, Pane

if TYPE_CHECKING:
    from app.library.projects import Project
    from app.pinned.answers import ShownAnswer
    from app.sessions.bin import BinnedChat
    from app.sessions.search import ChatHit
    from app.sessions.session_info import SessionInfo

__all__ = ["Rail", "RowButton", "SearchScope", "Sidebar"]

_HEAD, _BELOW = 36, 8
_SHORTEST_CHATS, _ROW = 80, 28
_LEAST = 2 * _ROW + _SHORTEST_CHATS
_NO_FOLDER = "No folder is open. Choose one above."
_OTHER_CHATS = "No chats without a folder. The button above shows the others."
_IN_PROJECTS = "All chats are in projects. A chat that is dropped here leaves its project."
_NO_PINNED = "Nothing pinned yet."
_PINNED_TIP = "A pinned list or answer stays up to date here."
_NO_PROJECTS = "No projects yet."
_PROJECTS_TIP = "A project is a folder with chats of its own."


class Sidebar(Pane):
    """The left column of the window: vault, notes, pinned answers, projects, chats and index.

    Each signal is emitted when the user requests the action in its name.
    """

    new_chat_requested = Signal()
    note_chosen = Signal(str)
    chat_chosen = Signal(str)
    folder_requested = Signal()
    recent_chosen = Signal(str)
    samples_requested = Signal()
    index_requested = Signal()
    review_requested = Signal()
    judge_requested = Signal()
    project_requested = Signal()
    pin_requested = Signal()
    all_vaults_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("sidebar", parent)
        self.switcher = VaultSwitcher()
        self.new_chat = RowButton("note-pencil", "New chat", "new_chat")
        self.notes = NoteTree()
        self.pinned = PinnedList()
        self.chats = ChatList()
        self.projects = ProjectList(self.chats)
        self.all_vaults = IconButton("books", "Show the chats of all vaults", size=24)
        self.all_vaults.setCheckable(True)
        self.all_vaults.toggled.connect(self.all_vaults_toggled)
        self.all_vaults.hide()
        self._is_vault_open = False
        self.chat_search = SearchField("Search chats", "search_chats")
        self.chat_search.hide()
        self.search_scope = SearchScope()
        self.search_scope.hide()
        self.footer = IndexFooter()
        self._no_notes = _quiet("")
        self._no_pinned = _quiet("Loading…")
        self._no_projects = _quiet("Loading…")
        self._no_chats = _quiet("Loading…")
        switcher = self.switcher
        switcher.chosen.connect(self.recent_chosen)
        switcher.folder_requested.connect(self.folder_requested)
        switcher.samples_requested.connect(self.samples_requested)
        switcher.index_requested.connect(self.index_requested)
        switcher.review_requested.connect(self.review_requested)
        switcher.judge_requested.connect(self.judge_requested)
        self._lay_out()
        self.new_chat.clicked.connect(self.new_chat_requested)
        self.notes.note_chosen.connect(self.note_chosen)
        self.chats.chat_chosen.connect(self.chat_chosen)
        for part in (self.notes, self.pinned, self.projects, self.chats):
            part.model().modelReset.connect(self._share_height)
            part.height_changed.connect(self._share_height)

    def show_vault(self, name: str, path: str) -> None:
        """Show the open vault's name. For the arguments, see `VaultSwitcher.show_vault`."""
        self.switcher.show_vault(name, path)
        self._no_notes.setText("")
        self._is_vault_open = bool(name)
        if not name:
            self.show_notes(Folders(), _NO_FOLDER)
            self.show_pinned(())

    def show_notes(self, folders: Folders, empty: str) -> None:
        """Show the note tree.

        Args:
            folders: the tree of folders, notes and images.
            empty: the text to show if the tree is empty.
        """
        self.notes.show_folders(folders)
        self._no_notes.setText(empty)
        has_files = bool(folders.notes or folders.images)
        self._no_notes.setVisible(not has_files)
        self._show_list(self.notes, is_shown=has_files)
        self._share_height()

    def show_pinned(self, answers: "Sequence[ShownAnswer]", problem: str = "") -> None:
        """Replace the pinned answers, or show why they cannot be read."""
        self.pinned.set_answers(answers)
        self._no_pinned.setText(problem or ("" if answers else _NO_PINNED))
        self._no_pinned.setToolTip("" if problem or answers else _PINNED_TIP)
        self._show_list(self.pinned, is_shown=bool(answers))
        self._share_height()

    def show_projects(
        self,
        projects: "Sequence[Project]",
        chats: "Mapping[Path, Sequence[SessionInfo]]",
        running: Mapping[str, str] = NONE_RUNNING,
    ) -> None:
        """Replace the listed projects and their chats.

        For the arguments, see `ProjectList.set_projects`.
        """
        self.projects.set_projects(projects, chats, running)
        self.chats.set_projects(projects)
        self._no_projects.setText(_NO_PROJECTS)
        self._no_projects.setToolTip(_PROJECTS_TIP)
        self._no_projects.setVisible(not projects)
        self._show_list(self.projects, is_shown=bool(projects))
        self._share_height()

    def show_chats(
        self,
        chats: "Sequence[SessionInfo]",
        current: str | None,
        running: Mapping[str, str] = NONE_RUNNING,
        binned: "Sequence[BinnedChat]" = (),
    ) -> None:
        """Replace the listed chats, and select the open chat.

        For the arguments, see `ChatList.set_chats`.
        """
        self.chats.set_chats(chats, current, running, binned)
        in_projects = bool(self.projects.sessions())
        self.chat_search.setVisible(bool(chats) or in_projects or not self.all_vaults.isHidden())
        hides_all = not self._is_vault_open and not self.all_vaults.isHidden()
        none = _OTHER_CHATS if hides_all else _IN_PROJECTS if in_projects else _name_no_chats()
        self._show_chat_list("" if chats else none, is_shown=bool(chats or binned))

    def find_neighbour(self, session: str | None, step: int) -> str | None:
        """Return the session ID of the chat above (-1) or below (1) a chat, or None at the ends.

        The chats of projects stand above the others. If the chat is not listed, return the first of
        the others.
        """
        others = self.chats.sessions()
        known = [*self.projects.sessions(), *others]
        if session not in known:
            return next(iter(others or known), None)
        place = known.index(session) + step
        return known[place] if 0 <= place < len(known) else None

    def show_chat_hits(self, hits: "Sequence[ChatHit]", titles: Mapping[str, str]) -> None:
        """Show the texts that a search of all chats found.

        For the arguments, see `list_hit_rows`.
        """
        self.chats.set_hits(hits, titles)
        empty = "" if hits else "No chat contains these words."
        self._show_chat_list(empty, is_shown=bool(hits))

    def _show_chat_list(self, empty: str, *, is_shown: bool) -> None:
        self._no_chats.setText(empty)
        self._no_chats.setVisible(bool(empty))
        self._show_list(self.chats, is_shown=is_shown)
        self._share_height()

    def _show_list(self, view: QWidget, *, is_shown: bool) -> None:
        """Show or hide a list. If it is hidden with the focus, another list gets it.

        Otherwise, Qt would give it to a button far below, as after the last chat was moved.
        """
        lists = (self.projects, self.chats, self.pinned, self.notes)
        others = (one for one in lists if one is not view and not one.isHidden())
        if not is_shown and view.hasFocus() and (other := next(others, None)) is not None:
            other.setFocus(Qt.FocusReason.OtherFocusReason)
        view.setVisible(is_shown)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Distribute the height again when the sidebar is resized, and take chats that are dropped.

        A chat that is dropped below the lists is taken out of its project.
        """
        if event.type() == QEvent.Type.Resize:
            self._share_height()
        if isinstance(event, QDropEvent) and (session := unpack_chat(event.mimeData())):
            event.acceptProposedAction()
            if event.type() == QEvent.Type.Drop and self.projects.find_chat(session).isValid():
                self.chats.move_requested.emit(session, "")
            return True
        return super().eventFilter(watched, event)

    def _share_height(self) -> None:
        """Distribute the height among the sidebar's lists. No list gets more than it needs.

        The lists of notes and projects show whole rows, without the edge of the next one. The list
        of chats gets the rest.
        """
        free = self._lists.height() - 4 * Theme.current().px(_HEAD) - _BELOW
        for text in (self._no_notes, self._no_projects, self._no_chats):
            if not text.isHidden():
                free -= text.heightForWidth(self._lists.width())
        least = Theme.current().px(_LEAST)
        has_text = bool(self._no_pinned.text())
        text_height = self._no_pinned.heightForWidth(self._lists.width()) if has_text else 0
        # A low window has room for either the lists or the text that takes the place of one.
        self._no_pinned.setVisible(has_text and free - text_height >= least)
        free -= 0 if self._no_pinned.isHidden() else text_height
        if free <= 0:
            return
        if not self.pinned.isHidden():
            lists = (self.notes, self.projects, self.chats)
            left = free - sum(part.measure_content() for part in lists if not part.isHidden())
            self.pinned.set_limit(_fit_rows(max(free // 3, left), least=1))
            free -= self.pinned.height()
        if not self.projects.isHidden():
            self.projects.set_limit(_fit_rows(free // 3, least=1))
            free -= self.projects.height()
        chats = min(self.chats.measure_content(), free // 2)
        self.notes.set_limit(_fit_rows(free - chats, least=2))
        self.chats.set_limit(max(Theme.current().px(_SHORTEST_CHATS), free - self.notes.height()))

    def show_findings(self, number: int) -> None:
        """Show in the vault's menu how many review findings have not been dismissed."""
        self.switcher.show_findings(number)

    def _lay_out(self) -> None:
        head = Header("sidebar")
        head.row.setContentsMargins(8, 0, 8, 1)
        head.row.addWidget(self.switcher, 1)
        search = self.new_chat, self.chat_search, self.search_scope
        top = make_column(*search, margins=(8, 8, 8, 0), spacing=4)
        self._lists = QWidget()
        self._lists.installEventFilter(self)
        self._lists.setAcceptDrops(True)
        lists = make_column(margins=(0, 0, 0, _BELOW), spacing=0, parent=self._lists)
        add = IconButton("plus", "Open a folder as a project", "open_project", size=24)
        add.clicked.connect(self.project_requested)
        pin = IconButton("plus", "Pin the question in the message box", "pin_question", size=24)
        pin.clicked.connect(self.pin_requested)
        actions: dict[QWidget, QWidget] = {
            self.pinned: pin,
            self.projects: add,
            self.chats: self.all_vaults,
        }
        for title, empty, view in (
            ("Vault", self._no_notes, self.notes),
            ("Pinned answers", self._no_pinned, self.pinned),
            ("Projects", self._no_projects, self.projects),
            ("Chats", self._no_chats, self.chats),
        ):
            lists.addWidget(_SectionHead(title, actions.get(view)))
            lists.addWidget(empty)
            lists.addWidget(view)
            view.hide()
        lists.addStretch(1)
        make_column(
            head, top, grow(self._lists), Hairline(), self.footer, margins=0, spacing=0, parent=self
        )


class SearchScope(QWidget):
    """A switch below the search field: search only the chats of the open chat's project, or all.

    It is hidden while no project is open. `toggled` is emitted when the user switches it.
    """

    toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._label = ElidedLabel(is_ours=True)
        dress(self._label, "caption", "secondary")
        self.switch = Switch("Search only the chats of the project")
        self.switch.setChecked(True)
        self.switch.toggled.connect(self.toggled)
        make_row(grow(self._label), self.switch, margins=(8, 0, 4, 0), spacing=8, parent=self)

    @property
    def is_narrow(self) -> bool:
        """Whether only the chats of the project are searched."""
        return not self.isHidden() and self.switch.isChecked()

    def show_project(self, title: str) -> None:
        """Show the title of the open chat's project, or hide the switch if it is empty."""
        name = one_line(title)
        self._label.set_text(f"Search only in {name}")
        self.switch.setAccessibleName(f"Search only the chats of {name}")
        self.switch.setToolTip(escape_tooltip(f"Off: search all chats, not only those of {name}"))
        self.setVisible(bool(name))


class RowButton(PressedByEnter, QAbstractButton):
    """A button that looks like a list row: icon, label, and a command's shortcut on the right."""

    def __init__(self, icon_name: str, word: str, command: str) -> None:
        super().__init__()
        self._icon, self._command = icon_name, command
        self.setText(word)
        self.setAccessibleName(word)
        Keymap.current().changed.connect(self._set_tip)
        self._set_tip()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return the preferred size of the row at the current font scale."""
        return QSize(120, Theme.current().px(28))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the button's icon, label and shortcut."""
        theme, painter = Theme.current(), begin_painting(self)
        paint_row(self, painter)
        side = theme.px(16)
        spot = QRect(8, (self.height() - side) // 2, side, side)
        paint_icon(painter, spot, self._icon, "text.primary")
        inner = self.rect().adjusted(16 + side, 0, -8, 0)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text.tertiary"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        draw_text(painter, inner, right, Keymap.current().describe(self._command))
        painter.setFont(theme.font("ui_strong"))
        painter.setPen(theme.color("text.primary"))
        draw_text(painter, inner, Qt.AlignmentFlag.AlignVCenter, self.text())

    def _set_tip(self) -> None:
        self.setToolTip(add_shortcut(self.text(), self._command))
        self.update()


class _SectionHead(Scaled, QWidget):
    """The heading above a list in the sidebar, with an optional button."""

    def __init__(self, title: str, action: QWidget | None = None) -> None:
        super().__init__()
        row = make_row(
            grow(label(title, "label", "secondary")),
            margins=(16, 12 if action is None else 8, 16 if action is None else 12, 4),
            parent=self,
        )
        if action is not None:
            row.addWidget(action)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(Theme.current().px(_HEAD))


def _quiet(text: str) -> QLabel:
    made = make_wrapped_label(text, "caption", "tertiary")
    made.setContentsMargins(16, 2, 16, 6)
    return made


def _name_no_chats() -> str:
    keys = Keymap.current().describe("new_chat")
    return f"No chats yet. {keys} starts one." if keys else "No chats yet."


class Rail(Pane):
    """A narrow strip of icon buttons that replaces the sidebar in a narrow window."""

    open_requested = Signal()
    new_chat_requested = Signal()
    search_requested = Signal()
    settings_requested = Signal()
    index_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("sidebar", parent)
        self.index = IconButton("check-circle", "Index", size=36)
        open_ = IconButton("panel-left", "Show the sidebar", "toggle_sidebar", size=36)
        new = IconButton("note-pencil", "New chat", "new_chat", size=36)
        search = IconButton("magnifying-glass", "Search all chats", "search_chats", size=36)
        notes = IconButton("books", "Notes", size=36)
        projects = IconButton("folder", "Projects", size=36)
        chats = IconButton("chat", "Chats", size=36)
        settings = IconButton("gear", "Settings", "settings", size=36)
        for button in (open_, notes, projects, chats):
            button.clicked.connect(self.open_requested)
        self.index.clicked.connect(self.index_requested)
        new.clicked.connect(self.new_chat_requested)
        search.clicked.connect(self.search_requested)
        settings.clicked.connect(self.settings_requested)
        head = Header("sidebar")
        head.row.setContentsMargins(0, 0, 0, 1)
        head.row.addWidget(open_, 0, Qt.AlignmentFlag.AlignCenter)
        centre = Qt.AlignmentFlag.AlignHCenter
        make_column(
            head,
            6,
            align(new, centre),
            align(search, centre),
            align(notes, centre),
            align(projects, centre),
            align(chats, centre),
            stretch(),
            align(self.index, centre),
            align(settings, centre),
            margins=(0, 0, 0, 4),
            spacing=0,
            parent=self,
        )
        self.show_state(IndexState())

    def show_state(self, state: IndexState) -> None:
        """Show the state of the index as an icon, with a description as its tooltip."""
        icon, tone = state.icon
        self.index.set_icon(icon, tone)
        self.index.set_name(state.text)


def _fit_rows(height: int, least: int) -> int:
    """Return the height of the rows that fit into a height, or of `least` rows if fewer fit."""
    row = Theme.current().px(_ROW)
    return max(least, height // row) * row
