"""The header of the panel that shows a note or an image: its title, its place and the buttons."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu

from context.layers import name_lines
from ui.theme import dress
from ui.widgets.buttons import IconButton
from ui.widgets.controls import ElidedLabel
from ui.widgets.geometry import set_apart
from ui.widgets.menus import show_menu
from ui.widgets.surfaces import Header

__all__ = ["NoteHeader"]


class NoteHeader(Header):
    """The title and the place of a note or image, between buttons.

    Signals:
        closed, related_requested: emitted when the corresponding button is clicked.
        attach_requested: emitted when the user wants to attach the note or its selected lines.
        source_toggled: emitted with whether the source text is to be shown.
        step_requested: emitted with -1 to go back, or 1 to go forward.
        menu_wanted: emitted with the note's menu before it is shown. The receiver fills it.
        sidebar_requested, panel_requested: emitted when the user wants to show or hide a column.

    Attributes:
        outline: the button that shows the panel of the note's headings.
        switch: the button that switches between the source text and the rendered note.
        related: the button that shows the related notes.
        attach: the button that attaches the note. Its name says what is attached.
    """

    closed = Signal()
    attach_requested = Signal()
    menu_wanted = Signal(QMenu)
    panel_requested = Signal()
    related_requested = Signal()
    sidebar_requested = Signal()
    source_toggled = Signal(bool)
    step_requested = Signal(int)

    def __init__(self) -> None:
        super().__init__("content")
        self._title = ElidedLabel("Note")
        self._place = ElidedLabel("", Qt.TextElideMode.ElideMiddle, is_ours=True)
        dress(self._title, "ui_strong")
        dress(self._place, "caption", "secondary")
        self.outline = IconButton("list-bullets", "Headings of this note", "note_outline")
        self.switch = IconButton("code", "Show the source", "toggle_source")
        self.switch.setCheckable(True)
        self.attach = IconButton("paperclip", "Attach this note")
        self._back = IconButton("arrow-left", "Back", "note_back")
        self._forward = IconButton("arrow-right", "Forward", "note_forward")
        self.related = IconButton("share-network", "Show related notes", "toggle_related")
        self._more = IconButton("dots-three-bold", "Actions of this note")
        self._sidebar = IconButton("panel-left", "Show the sidebar", "toggle_sidebar")
        self._panel = IconButton("panel-right", "Context panel", "toggle_panel")
        self._panel.setCheckable(True)
        self._close = IconButton("x", "Close the note")
        self._connect()
        self._lay_out()
        self.show_columns(False, False, False)

    def show_title(self, title: str, place: str = "") -> None:
        """Show a title, and where the note or image is. Without a place, the last one stays."""
        self._title.set_text(title)
        if place:
            self.show_place(place)

    def show_place(self, place: str) -> None:
        """Show where the note or image is."""
        self._place.set_text(place)

    def show_kind(self, kind: str) -> None:
        """Show the buttons for a `note`, an `image`, or those of the empty panel (`""`)."""
        for part in (self.outline, self.switch, self.related):
            part.setVisible(kind == "note")
        for shown in (self.attach, self._more, self._place):
            shown.setVisible(bool(kind))

    def hide_actions(self) -> None:
        """Hide the buttons that need the text of a note, because it cannot be read."""
        for part in (self.outline, self.switch, self.related, self.attach):
            part.hide()

    def show_selection(self, lines: tuple[int, int] | None) -> None:
        """Show what the attach button attaches: the selected lines, or otherwise everything."""
        whole = "this image" if self.outline.isHidden() else "this note"
        self.attach.set_name(f"Attach {name_lines(lines) if lines else whole}")
        self._more.set_name(f"Actions of {whole}")

    def show_columns(self, is_alone: bool, needs_sidebar: bool, has_panel: bool) -> None:
        """Show the buttons for the side columns if the note covers the chat (`is_alone`)."""
        self._sidebar.setVisible(is_alone and needs_sidebar)
        self._panel.setVisible(is_alone)
        self._panel.setChecked(has_panel)

    def show_steps(self, *, has_back: bool, has_forward: bool) -> None:
        """Enable or disable the buttons that go back and forward."""
        self._back.setEnabled(has_back)
        self._forward.setEnabled(has_forward)

    def _on_more(self) -> None:
        menu = QMenu(self)
        self.menu_wanted.emit(menu)
        show_menu(menu, self._more.mapToGlobal(self._more.rect().bottomLeft()), self._more)

    def _connect(self) -> None:
        self.switch.clicked.connect(self.source_toggled)
        self.attach.clicked.connect(lambda _checked=False: self.attach_requested.emit())
        self._back.clicked.connect(lambda _checked=False: self.step_requested.emit(-1))
        self._forward.clicked.connect(lambda _checked=False: self.step_requested.emit(1))
        self.related.clicked.connect(self.related_requested)
        self._more.clicked.connect(self._on_more)
        self._sidebar.clicked.connect(self.sidebar_requested)
        self._panel.clicked.connect(self.panel_requested)
        self._close.clicked.connect(self.closed)

    def _lay_out(self) -> None:
        texts = set_apart(self._title, 0, 2, 0, 2)
        texts.setSpacing(0)
        texts.addWidget(self._place)
        self.row.setContentsMargins(8, 0, 8, 1)
        for part in (self._sidebar, self._back, self._forward):
            self.row.addWidget(part)
        self.row.addLayout(texts, 1)
        for part in (self.outline, self.switch, self.related, self.attach, self._more):
            self.row.addWidget(part)
        self.row.addWidget(self._panel)
        self.row.addWidget(self._close)
