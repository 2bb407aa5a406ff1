"""The middle column: the open chat with its title, or the welcome page if no vault is open.

A note is shown beside the chat if there is enough space for both, otherwise in place of the chat.
"""

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ui.chat.composer.composer import Composer
from ui.icons import begin_painting, paint_icon
from ui.theme import Theme, dress
from ui.widgets.buttons import (
    ButtonText,
    IconButton,
    LabelledAction,
    PressedByEnter,
    make_button,
    paint_row,
)
from ui.widgets.controls import (
    ElidedLabel,
    draw_text,
    escape_tooltip,
    make_wrapped_label,
    one_line,
)
from ui.widgets.geometry import Scaled, set_apart, set_in
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.menus import TitleButton, show_menu
from ui.widgets.surfaces import Header, Notice, Pane
from ui.widgets.texts import from_left

__all__ = ["Middle", "ProjectLabel", "Welcome"]

_LEAST_BESIDE = 960
_GAP = 6
_CHANGES_OF_PLACE = (QEvent.Type.Resize, QEvent.Type.ShowToParent, QEvent.Type.HideToParent)
_LOOK_AGAIN = ButtonText("Look again", "Try to open the folder again")
_SENTENCE = "Strata reads Markdown files and changes none without asking."
_PRIVACY = (
    "No account. Nothing leaves this computer but the calls listed under Privacy. "
    "A folder can also be dropped here."
)


class Middle(Scaled, Pane):
    """The middle column: header, transcript and composer, and the note that is open.

    Signals:
        composer_resized: the height of the composer in pixels, or 0 while no chat is shown.
        menu_wanted: the empty menu of the title. The receiver fills it with the actions for the
            open chat before it is shown.
        project_requested: the user wants to see the page of the open chat's project.
        columns_changed: whether a note covers the chat, whether a button to show the sidebar is
            needed, and whether the right column is visible.

    Args:
        composer: the widget below the transcript.
        parent: the Qt parent.
    """

    columns_changed = Signal(bool, bool, bool)

    find_requested = Signal()
    sidebar_requested = Signal()
    panel_requested = Signal()
    project_requested = Signal()
    composer_resized = Signal(int)
    menu_wanted = Signal(QMenu)

    def __init__(self, composer: Composer, parent: QWidget | None = None) -> None:
        super().__init__("content", parent)
        self._note: QWidget | None = None
        self._page: QWidget | None = None
        self._is_chat_behind = True
        self._transcript: QWidget | None = None
        self._is_reading = self._needs_sidebar = False
        self._composer = composer
        self.setFocusProxy(composer)
        self._title = TitleButton("Chat", "Actions of this chat")
        self._title.set_text("New chat")
        self._title.clicked.connect(lambda: self._open_menu(self._title))
        self._project = ProjectLabel()
        self._project.clicked.connect(self.project_requested)
        self._project.hide()
        self._page_title = ElidedLabel()
        dress(self._page_title, "ui_strong", "primary")
        self._leave_page = IconButton("arrow-left", "Back to the chat", "stop")
        self._leave_page.clicked.connect(self.close_page)
        for view in (self._page_title, self._leave_page):
            view.hide()
        self._open_sidebar = IconButton("panel-left", "Show the sidebar", "toggle_sidebar")
        self._open_sidebar.clicked.connect(self.sidebar_requested)
        self._panel = IconButton("panel-right", "Context panel", "toggle_panel")
        self._panel.setCheckable(True)
        self._panel.clicked.connect(self.panel_requested)
        self._find = IconButton("magnifying-glass", "Find in this chat", "find")
        self._find.clicked.connect(self.find_requested)
        self._more = IconButton("dots-three-bold", "Actions of this chat")
        self._more.clicked.connect(lambda: self._open_menu(self._more))
        self._notice = Notice()
        self._notice.hide()
        self._notices = [self._notice]
        self._notice_room, self._find_room = QVBoxLayout(), QVBoxLayout()
        self._notice_room.setSpacing(8)
        self._lay_out()
        composer.installEventFilter(self)
        self._left.installEventFilter(self)
        self._fit()

    def take_transcript(self, transcript: QWidget) -> None:
        """Place the widget that shows the chat's messages above the composer."""
        self._transcript = transcript
        self._rows.replaceWidget(self._above_composer, transcript)
        self._above_composer.hide()
        self._above_composer.deleteLater()
        QWidget.setTabOrder(self._panel, transcript)  # between the header and the composer

    def take_note(self, note: QWidget) -> None:
        """Set the panel that shows a note. The panel is hidden at first."""
        self._note = note
        note.hide()
        self._columns.addWidget(note)

    @property
    def is_chat_covered(self) -> bool:
        """Whether a note covers the chat."""
        return self._left.isHidden()

    @property
    def is_reading(self) -> bool:
        """Whether a note is shown."""
        return self._is_reading

    def show_note(self) -> None:
        """Show the note next to the chat, or in place of the chat if there is too little space."""
        self._is_reading = True
        self._arrange()

    def close_note(self) -> None:
        """Hide the note, and restore the chat."""
        self._is_reading = False
        self._arrange()

    def add_bar(self, bar: QWidget) -> None:
        """Add a bar above the chat. The bar shows and hides itself."""
        self._rows.insertWidget(0, bar)

    def add_find_bar(self, bar: QWidget) -> None:
        """Put the chat's find bar between the header and the chat."""
        self._find_room.addWidget(bar)
        bar.installEventFilter(self)

    @property
    def title(self) -> str:
        """The open chat's full title, even if the header elides it."""
        return self._title.whole

    def set_title(self, title: str) -> None:
        """Show the open chat's title in the header. An empty title becomes "New chat"."""
        self._title.set_text(title or "New chat")

    def set_project(self, title: str, name: str, folder: str) -> None:
        """Show the project of the open chat in the header. An empty title means no project.

        Args:
            title: the title of the project.
            name: its folder, relative to the vault if it is in the vault.
            folder: the full path of its folder.
        """
        self._project.set_project(title, name, folder)
        self._project.setVisible(bool(title) and self.is_chat_shown)

    def set_columns(self, *, has_sidebar: bool, has_rail: bool, has_panel: bool) -> None:
        """Update the header's buttons for showing and hiding the other columns.

        Args:
            has_sidebar: whether the sidebar is visible.
            has_rail: whether the narrow bar that replaces a hidden sidebar is visible.
            has_panel: whether the right column is visible.
        """
        self._open_sidebar.setVisible(not has_sidebar and not has_rail)
        self._panel.setChecked(has_panel)
        self._needs_sidebar = not has_sidebar and not has_rail
        self._tell_columns()

    @property
    def is_chat_shown(self) -> bool:
        """Whether the chat is shown, and neither the welcome page nor another page."""
        return self._stack.currentWidget() is self._chat

    def show_chat(self, is_open: bool) -> None:
        """Show the chat, or the welcome page if no vault is open."""
        self._page = None
        self._show(self._chat if is_open else self.welcome)

    @property
    def page(self) -> QWidget | None:
        """The page that is shown in place of the chat, or None."""
        return self._page

    def show_page(self, page: QWidget, title: str) -> None:
        """Show a page in place of the chat until `close_page`, and give it the focus.

        Args:
            title: the title of the page, for the header.
        """
        if self._page is None:
            self._is_chat_behind = self.is_chat_shown
        self._page = page
        if self._stack.indexOf(page) < 0:
            self._stack.addWidget(page)
        self.set_page_title(page, title)
        self._show(page)
        page.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_page_title(self, page: QWidget, title: str) -> None:
        """Set the title in the header, if the page is shown."""
        if page is self._page:
            self._page_title.set_text(title)

    def close_page(self) -> bool:
        """Show the chat again in place of a page. Return False if no page is shown."""
        if self._page is None:
            return False
        focus, page = QApplication.focusWidget(), self._page
        had_focus = focus is self._leave_page or (focus is not None and page.isAncestorOf(focus))
        self._page = None
        self._show(self._chat if self._is_chat_behind else self.welcome)
        if had_focus or focus is page:
            self._composer.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _show(self, shown: QWidget) -> None:
        """Show the chat, the welcome page or another page, with what the header has for it."""
        self._stack.setCurrentWidget(shown)
        is_chat = shown is self._chat
        for view in (self._title, self._find, self._more):  # they are about a chat
            view.setVisible(is_chat)
        self._page_title.setVisible(shown is self._page)
        self._leave_page.setVisible(shown is self._page)
        self._project.setVisible(is_chat and bool(self._project.text()))
        self._tell_height()

    def show_notice(self, tone: str, title: str, text: str, *actions: LabelledAction) -> None:
        """Show a notice above the chat.

        Args:
            tone: the name of the notice's colour.
            title: the title of the notice.
            text: the text below the title.
            *actions: the texts of each button, and the function that it calls.
        """
        self._notice.show_notice(tone, title, text, actions)
        self._fit()

    def clear_notice(self) -> None:
        """Hide the notice above the chat."""
        self._notice.hide()
        self._fit()

    def add_notice(self, notice: Notice) -> None:
        """Add another notice above the chat. It shows and hides itself."""
        self._notices.append(notice)
        self._notice_room.insertWidget(0, notice)
        notice.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle a resize of the chat or the composer.

        Align the bars above the chat with the text column, and emit `composer_resized`. A notice
        that shows or hides itself changes the space above the chat too.
        """
        if event.type() in _CHANGES_OF_PLACE:
            self._fit()
            self._tell_height()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Write or paste what was typed or pasted in the transcript, such as after a click on it.

        The composer gets the focus. A space is not written, because it activates buttons.
        """
        super().keyPressEvent(event)
        focused = QApplication.focusWidget()
        if not (_is_letter(event) or event.matches(QKeySequence.StandardKey.Paste)):
            return
        transcript = self._transcript
        if transcript is not None and (
            transcript.hasFocus() or (focused is not None and transcript.isAncestorOf(focused))
        ):
            self._composer.setFocus()
            QApplication.sendEvent(self._composer.input, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the note next to the chat, or in its place if the column is too narrow for both."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        if self._note is None:
            return
        is_beside = self.width() >= Theme.current().px(_LEAST_BESIDE)
        was_beside = not self._left.isHidden() and self._note.isVisibleTo(self)
        self._left.setVisible(is_beside or not self._is_reading)
        self._note.setVisible(self._is_reading)
        if self._is_reading and is_beside and not was_beside:
            self._columns.setSizes([self.width() // 2, self.width() - self.width() // 2])
        self._tell_height()
        self._tell_columns()

    def _tell_columns(self) -> None:
        is_alone = self._left.isHidden()
        self.columns_changed.emit(is_alone, self._needs_sidebar, self._panel.isChecked())

    def _open_menu(self, button: QWidget) -> None:
        menu = QMenu(self)
        self.menu_wanted.emit(menu)
        show_menu(menu, button.mapToGlobal(button.rect().bottomLeft()), button)

    def _fit(self) -> None:
        left, right = set_in(self._left.width())
        is_empty = all(notice.isHidden() for notice in self._notices)
        above, below = (0, 0) if is_empty else (8, 4)
        self._notice_room.setContentsMargins(left, above, right, below)
        self._find_room.setContentsMargins(left, 0, right, 0)

    def _tell_height(self) -> None:
        is_there = self._stack.currentWidget() is self._chat and not self.is_chat_covered
        self.composer_resized.emit(self._composer.height() if is_there else 0)

    def _lay_out(self) -> None:
        # Qt restyles everything below a widget that gets a parent, so the outer widgets come first.
        self._columns = QSplitter(Qt.Orientation.Horizontal, self)
        self._columns.setHandleWidth(1)
        self._columns.setChildrenCollapsible(False)
        make_row(self._columns, margins=0, parent=self)
        self._left = Pane("content", self._columns)
        self._columns.addWidget(self._left)
        header = Header("content", self._left)
        header.row.setContentsMargins(16, 0, 12, 1)
        header.row.addWidget(self._open_sidebar)
        header.row.addWidget(self._leave_page)
        header.row.addWidget(self._page_title, 4)
        header.row.addWidget(self._project)
        header.row.addWidget(self._title)
        header.row.addStretch(1)
        header.row.addWidget(self._find)
        header.row.addWidget(self._more)
        header.row.addWidget(self._panel)
        self._stack = QStackedWidget(self._left)
        make_column(
            header,
            self._notice_room,
            self._find_room,
            grow(self._stack),
            margins=0,
            spacing=0,
            parent=self._left,
        )
        self._notice_room.addWidget(self._notice)
        self.welcome = Welcome(self._stack)
        self._stack.addWidget(self.welcome)
        self._chat = Pane("content", self._stack)
        self._stack.addWidget(self._chat)
        self._above_composer = QWidget()
        self._rows = make_column(
            grow(self._above_composer), self._composer, margins=0, spacing=0, parent=self._chat
        )


class ProjectLabel(PressedByEnter, QAbstractButton):
    """The project of the open chat, with its folder, at the start of the header.

    The folder is left out where there is too little space, and where it is named like the project.
    """

    def __init__(self) -> None:
        super().__init__()
        self._project = self._folder = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        dress(self, "ui", "secondary")

    def set_project(self, title: str, name: str, folder: str) -> None:
        """Show the project of the open chat. `Middle.set_project` documents the arguments."""
        self._project, self._folder = one_line(title), "" if name == title else one_line(name)
        self.setText(self._project)
        description = f"Project: {self._project}, folder {one_line(folder)}"
        self.setAccessibleName(description)
        self.setToolTip(escape_tooltip(f"{self._project}\n{folder}\nShow the page of the project"))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of icon, title and folder."""
        theme, metrics = Theme.current(), QFontMetrics(self.font())
        folder = metrics.horizontalAdvance(f"  {self._folder}") if self._folder else 0
        text = metrics.horizontalAdvance(self._project) + folder
        return QSize(theme.px(16) + 4 * _GAP + text, theme.px(28))

    def minimumSizeHint(self) -> QSize:
        """Return the size of the icon and the title, which is elided if it is long."""
        theme, text = Theme.current(), QFontMetrics(self.font()).horizontalAdvance(self._project)
        return QSize(theme.px(16) + 4 * _GAP + min(text, theme.px(140)), theme.px(28))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon, the title and, if there is space, the folder."""
        theme, painter = Theme.current(), begin_painting(self)
        paint_row(self, painter)
        side, middle = theme.px(16), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        spot = QRect(_GAP, (self.height() - side) // 2, side, side)
        paint_icon(painter, spot, "folder", "text.secondary")
        text = self.rect().adjusted(side + 2 * _GAP, 0, -_GAP, 0)
        painter.setFont(self.font())
        metrics, elide = QFontMetrics(self.font()), Qt.TextElideMode.ElideRight
        painter.setPen(theme.color("text.secondary"))
        word = metrics.elidedText(self._project, elide, text.width())
        draw_text(painter, text, middle, word)
        text.setLeft(text.left() + metrics.horizontalAdvance(f"{word}  "))
        if self._folder and text.width() > theme.px(40):
            painter.setPen(theme.color("text.tertiary"))
            elide = Qt.TextElideMode.ElideMiddle
            folder = metrics.elidedText(from_left(self._folder), elide, text.width())
            draw_text(painter, text, middle, folder)


class Welcome(Pane):
    """The welcome page, whose buttons choose a folder or open the sample notes."""

    folder_requested = Signal()
    samples_requested = Signal()
    again_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("content", parent)
        self.choose = make_button(
            ButtonText("Choose a folder", "Open another folder of notes", "choose_folder"),
            "primary",
            self.folder_requested.emit,
        )
        self.samples = make_button(
            ButtonText(
                "Try the sample notes", "Open a folder of notes about Strata, which you may change"
            ),
            "",
            self.samples_requested.emit,
        )
        self._notice = Notice()
        self._notice.hide()
        text = make_column(
            set_apart(self._notice, 0, 0, 0, 16),
            make_wrapped_label("Choose a folder of notes.", "display"),
            make_wrapped_label(_SENTENCE, "body", "secondary"),
            8,
            self._buttons(),
            16,
            make_wrapped_label(_PRIVACY, "caption", "tertiary"),
            spacing=8,
        )
        block = QWidget()
        block.setMaximumWidth(560)
        block.setLayout(text)
        row = make_row(stretch(), grow(block, 100), stretch(), margins=(24, 0, 24, 0))
        make_column(stretch(4), row, stretch(5), parent=self)

    def show_problem(self, message: str, hint: str) -> None:
        """Show why a folder could not be opened, and a button to try again."""
        actions = ((_LOOK_AGAIN, self.again_requested.emit),)
        self._notice.show_notice("amber", message, hint, actions)

    def clear_problem(self) -> None:
        """Hide the message about a folder that could not be opened."""
        self._notice.hide()

    def _buttons(self) -> QHBoxLayout:
        return make_row(self.choose, self.samples, stretch(), spacing=8)


def _is_letter(event: QKeyEvent) -> bool:
    """Return whether a key writes a visible character."""
    is_visible = event.text().isprintable() and not event.text().isspace()
    is_plain = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
    return bool(event.text()) and is_visible and is_plain
