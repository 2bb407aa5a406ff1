"""The middle column: the title and the open chat, or the welcome page if no vault is open."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from ui.chat.composer.composer import Composer
from ui.theme import dress
from ui.widgets.controls import ElidedLabel, IconButton, button, make_wrapped_label
from ui.widgets.geometry import Scaled, set_in
from ui.widgets.surfaces import Header, Notice, Pane

__all__ = ["Middle", "Welcome"]

_SENTENCE = "Strata reads Markdown files and changes none without asking."
_PRIVACY = (
    "No account. Nothing leaves this computer but the calls listed under Privacy. "
    "A folder can also be dropped here."
)


class Middle(Scaled, Pane):
    """The middle column: header, transcript and composer.

    `composer_resized` carries the height of the composer in pixels, or 0 while no chat is shown.
    """

    sidebar_requested = Signal()
    panel_requested = Signal()
    composer_resized = Signal(int)

    def __init__(self, composer: Composer) -> None:
        super().__init__("content")
        self.welcome = Welcome()
        self._composer = composer
        self._title = ElidedLabel("New chat")
        dress(self._title, "ui_strong")
        self._open_sidebar = IconButton("panel-left", "Show the sidebar", "Ctrl+B")
        self._open_sidebar.clicked.connect(self.sidebar_requested)
        self._panel = IconButton("panel-right", "Context panel", "Ctrl+I")
        self._panel.setCheckable(True)
        self._panel.clicked.connect(self.panel_requested)
        self._stack = QStackedWidget()
        self._chat = Pane("content")
        self._rows = chat = QVBoxLayout(self._chat)
        chat.setContentsMargins(0, 0, 0, 0)
        chat.setSpacing(0)
        self._above_composer = QWidget()
        chat.addWidget(self._above_composer, 1)
        chat.addWidget(composer)
        composer.installEventFilter(self)
        self._notice = Notice()
        self._notice.hide()
        self._notice_room, self._find_room = QVBoxLayout(), QVBoxLayout()
        self._lay_out()
        self._fit()

    def take_transcript(self, transcript: QWidget) -> None:
        """Put the transcript above the composer, in place of an empty widget."""
        self._rows.replaceWidget(self._above_composer, transcript)
        self._above_composer.hide()
        self._above_composer.deleteLater()

    def add_bar(self, bar: QWidget) -> None:
        """Put a bar above the chat; the bar shows and hides itself."""
        self._rows.insertWidget(0, bar)

    def add_find_bar(self, bar: QWidget) -> None:
        """Put the bar for searching in the chat between the header and the chat."""
        self._find_room.addWidget(bar)
        bar.installEventFilter(self)

    @property
    def title(self) -> str:
        """The title of the open chat, in full even if the header cuts it."""
        return self._title.whole

    def set_title(self, title: str) -> None:
        """Show the title of the open chat in the header; an empty title becomes "New chat"."""
        self._title.set_text(title or "New chat")

    def set_columns(self, *, has_sidebar: bool, has_rail: bool, has_panel: bool) -> None:
        """Update the header's buttons to the columns that are visible."""
        self._open_sidebar.setVisible(not has_sidebar and not has_rail)
        self._panel.setChecked(has_panel)

    def show_chat(self, is_open: bool) -> None:
        """Show the chat, or the welcome page if no vault is open."""
        self._stack.setCurrentWidget(self._chat if is_open else self.welcome)
        self._tell_height()

    def show_notice(
        self, tone: str, title: str, text: str, *actions: tuple[str, Callable[[], object]]
    ) -> None:
        """Show a notice above the chat, with a title, a text and action buttons."""
        self._notice.show_notice(tone, title, text, actions)
        self._fit()

    def clear_notice(self) -> None:
        """Hide the notice."""
        self._notice.hide()
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Emit `composer_resized` when the composer or the find bar is resized."""
        if event.type() == QEvent.Type.Resize:
            self._tell_height()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Align the notice and the find bar with the transcript's column."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        left, right = set_in(self.width())
        above, below = (0, 0) if self._notice.isHidden() else (8, 4)
        self._notice_room.setContentsMargins(left, above, right, below)
        self._find_room.setContentsMargins(left, 0, right, 0)

    def _tell_height(self) -> None:
        is_there = self._stack.currentWidget() is self._chat
        self.composer_resized.emit(self._composer.height() if is_there else 0)

    def _lay_out(self) -> None:
        header = Header("content")
        header.row.setContentsMargins(24, 0, 12, 1)
        header.row.addWidget(self._open_sidebar)
        header.row.addWidget(self._title, 1)
        header.row.addWidget(self._panel)
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self._chat)
        self._notice_room.addWidget(self._notice)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(header)
        column.addLayout(self._notice_room)
        column.addLayout(self._find_room)
        column.addWidget(self._stack, 1)


class Welcome(Pane):
    """The welcome page, with buttons to choose a folder or try the sample notes."""

    folder_requested = Signal()
    samples_requested = Signal()
    again_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("content", parent)
        self.choose = button("Choose a folder", "primary", self.folder_requested.emit)
        self.samples = button("Try the sample notes", "", self.samples_requested.emit)
        self._notice = Notice()
        self._notice.hide()
        text = QVBoxLayout()
        text.setSpacing(8)
        text.addWidget(self._notice)
        text.addWidget(make_wrapped_label("Choose a folder of notes.", "display"))
        text.addWidget(make_wrapped_label(_SENTENCE, "body", "secondary"))
        text.addSpacing(8)
        text.addLayout(self._buttons())
        text.addSpacing(16)
        text.addWidget(make_wrapped_label(_PRIVACY, "caption", "tertiary"))
        block = QWidget()
        block.setMaximumWidth(560)
        block.setLayout(text)
        row = QHBoxLayout()
        row.setContentsMargins(24, 0, 24, 0)
        row.addStretch(1)
        row.addWidget(block, 100)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.addStretch(4)
        column.addLayout(row)
        column.addStretch(5)

    def show_problem(self, message: str, hint: str) -> None:
        """Show why a folder could not be opened, with a button to try again."""
        actions = (("Look again", self.again_requested.emit),)
        self._notice.show_notice("amber", message, hint, actions)

    def clear_problem(self) -> None:
        """Hide the message about a folder that could not be opened."""
        self._notice.hide()

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.choose)
        row.addWidget(self.samples)
        row.addStretch(1)
        return row
