"""What is left of the sidebar in a narrow window: its commands as icons."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.panels.index import IndexState
from ui.widgets.controls import IconButton
from ui.widgets.surfaces import Header, Pane

__all__ = ["Rail"]


class Rail(Pane):
    """A strip of icons; each opens the sidebar over the conversation or does what it says."""

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
        """Say in one icon how the index stands."""
        icon, tone = state.icon
        self.index.set_icon(icon, tone)
        self.index.set_name(state.text)
