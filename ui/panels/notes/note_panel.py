"""The panel that shows an image, or a note at its cited lines."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QMenu, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from context.layers import name_lines
from ui.panels.notes.finder import NoteFinder
from ui.panels.notes.image import ImagePage, OpenImage
from ui.panels.notes.note_lines import cut_source, describe_place, find_lines_again
from ui.panels.notes.note_text import NoteText
from ui.panels.notes.outline import OutlineButton
from ui.panels.notes.reader import NoteReader
from ui.theme import dress
from ui.widgets.buttons import IconButton
from ui.widgets.controls import ElidedLabel, label, make_wrapped_label
from ui.widgets.find_bar import FindBar
from ui.widgets.geometry import set_apart
from ui.widgets.menus import show_menu
from ui.widgets.surfaces import Header, Notice, Pane

if TYPE_CHECKING:
    from vault.notes.note import Note

__all__ = ["NotePanel"]


class NotePanel(Pane):
    """The panel that shows an image, or a note as rendered Markdown or as source text.

    Signals:
        closed, related_requested: emitted when the corresponding button in the header is clicked.
        attach_requested: emitted with the path, first and last line to attach (0 for all lines).
        link_clicked: emitted with the address of the clicked link.
        step_requested: emitted with -1 to go back, or 1 to go forward.
        headings_wanted: emitted if the headings are needed. `add_structure` then shows them.
        menu_wanted: emitted with the note's menu before it is shown. The receiver fills it.
        sidebar_requested, panel_requested: emitted when the user wants to show or hide a column.

    Attributes:
        page: the note as rendered Markdown.
        finder: the search in the note.
        source: the note's source text, which is only updated while it is shown.
        image: the image, if an image is open instead of a note.
    """

    closed = Signal()
    attach_requested = Signal(str, int, int)
    link_clicked = Signal(str)
    headings_wanted = Signal()
    menu_wanted = Signal(QMenu)
    panel_requested = Signal()
    related_requested = Signal()
    sidebar_requested = Signal()
    step_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("content", parent)
        self.path, self._source_line = "", 0
        self._note: Note | None = None
        self._card: QWidget | None = None
        self._title = ElidedLabel("Note")
        self._place = ElidedLabel("", Qt.TextElideMode.ElideMiddle, is_ours=True)
        dress(self._title, "ui_strong")
        dress(self._place, "caption", "secondary")
        self._cut = make_wrapped_label("", "caption", "secondary")
        self._cut.setContentsMargins(16, 6, 16, 6)
        self._notice = Notice("danger")
        self.page, self.source, self.image = NoteReader(), NoteText(), ImagePage()
        self.page.link_clicked.connect(self.link_clicked)
        self._stack = QStackedWidget()
        for view in (self.page, self.source, self.image):
            self._stack.addWidget(view)
        self.setFocusProxy(self._stack)
        self._came_from: QWidget | None = None
        self._bar = FindBar("Find in this note")
        self.finder = NoteFinder(self.page, self.source, self._bar)
        self.finder.closed.connect(self._on_find_closed)
        self.switch = IconButton("code", "Show the source", "toggle_source")
        self.switch.setCheckable(True)
        self.switch.clicked.connect(self.show_source)
        self.back = IconButton("arrow-left", "Back", "note_back")
        self.forward = IconButton("arrow-right", "Forward", "note_forward")
        self.back.clicked.connect(lambda _checked=False: self.step_requested.emit(-1))
        self.forward.clicked.connect(lambda _checked=False: self.step_requested.emit(1))
        self.outline = self._make_outline()
        self.more = IconButton("dots-three-bold", "Actions of this note")
        self.more.clicked.connect(self._on_more)
        self.attach = IconButton("paperclip", "Attach this note")
        self.attach.clicked.connect(lambda _checked=False: self.attach_selection())
        self.related = IconButton("share-network", "Show related notes", "toggle_related")
        self.related.clicked.connect(self.related_requested)
        self._sidebar = IconButton("panel-left", "Show the sidebar", "toggle_sidebar")
        self._sidebar.clicked.connect(self.sidebar_requested)
        self._panel = IconButton("panel-right", "Context panel", "toggle_panel")
        self._panel.setCheckable(True)
        self._panel.clicked.connect(self.panel_requested)
        self.show_columns(False, False, False)
        for selected in (self.page.selection_changed, self.source.selectionChanged):
            selected.connect(self._on_selected)
        self._empty = label("Click a note or a source to read it here.", "ui", "tertiary")
        self._empty.setContentsMargins(16, 12, 16, 8)
        self._lay_out()
        self.clear()

    def show_note(self, note: "Note", first: int = 0, last: int = 0) -> None:
        """Show a note.

        Args:
            note: the note as just read from disk.
            first, last: the first and last line to highlight, or 0 and 0 to highlight none.
        """
        if note.path != self.path:
            self.remove_card()
            self.finder.close()
        self.path, self._note = note.path, note
        self._title.set_text(note.title)
        self._place.set_text(describe_place(note, first, last))
        self.outline.set_note(note)
        self._set_visible("note")
        self._notice.hide()
        self.image.show_image(None)
        self._set_view(self.source if self.switch.isChecked() else self.page)
        self.page.show_text(note.text, first, last)
        if self.is_source:
            self._fill_source(first)
        self.finder.renew()
        self._on_selected()

    def show_image(self, image: OpenImage) -> None:
        """Show an image instead of a note."""
        self._forget_note()
        self.path = image.path
        self._title.set_text(image.name)
        self._set_visible("image")
        self._set_view(self.image)
        self._show_picture(image)
        self._on_selected()

    def _show_picture(self, image: OpenImage) -> None:
        self._notice.hide()
        self._place.set_text(f"{image.path} · {image.pixels}")
        self.image.show_image(image)

    @property
    def is_source(self) -> bool:
        """Whether the note is shown as source text."""
        return self._stack.currentWidget() is self.source

    def toggle_source(self) -> None:
        """Switch between the source text and the rendered note."""
        if self._note is not None:
            self.show_source(not self.is_source)

    def show_source(self, is_source: bool) -> None:
        """Show the note as source text or rendered, at the same scroll position."""
        self.switch.setChecked(is_source)
        if is_source == self.is_source:
            return
        has_focus = self._stack.isAncestorOf(QApplication.focusWidget() or self)
        if is_source:
            line = self.page.find_top_line()
            self._fill_source(line)
            self._source_line = self.source.first_visible_line()
        elif self.source.first_visible_line() != self._source_line:
            self.page.show_line(self.source.first_visible_line())
        self._set_view(self.source if is_source else self.page)
        self.finder.renew()
        self._cut.setVisible(is_source and bool(self._cut.text()))
        if has_focus:
            self.setFocus()
        self._on_selected()

    def _make_outline(self) -> OutlineButton:
        made = OutlineButton()
        made.clicked.connect(lambda: self._open_outline(is_by_key=False))
        made.line_chosen.connect(self._go_to)
        made.headings_wanted.connect(self.headings_wanted)
        return made

    def open_outline(self) -> None:
        """Open the menu of the note's headings. The panel scrolls to the selected heading."""
        self._open_outline(is_by_key=True)

    def _open_outline(self, *, is_by_key: bool) -> None:
        self.outline.open(self.find_top_line(), is_by_key=is_by_key)

    def add_structure(self, note: "Note") -> None:
        """Add the headings of the open note, which were read separately, and open their menu."""
        if note.path == self.path:
            self.show_changed(note)
            self._note = note
            self.outline.set_note(note)
            self._open_outline(is_by_key=True)

    def _go_to(self, line: int) -> None:
        self.show_line(line)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_more(self) -> None:
        menu = QMenu(self)
        self.menu_wanted.emit(menu)
        show_menu(menu, self.more.mapToGlobal(self.more.rect().bottomLeft()), self.more)

    def show_columns(self, is_alone: bool, needs_sidebar: bool, has_panel: bool) -> None:
        """Show the buttons for the side columns if the note covers the chat (`is_alone`)."""
        self._sidebar.setVisible(is_alone and needs_sidebar)
        self._panel.setVisible(is_alone)
        self._panel.setChecked(has_panel)

    def show_steps(self, *, has_back: bool, has_forward: bool) -> None:
        """Enable or disable the buttons that go back and forward."""
        self.back.setEnabled(has_back)
        self.forward.setEnabled(has_forward)

    def open_search(self) -> None:
        """Open the search in the note. When it is closed, the previous focus is restored."""
        focused = QApplication.focusWidget()
        if self._note is not None:
            if focused is None or not self._bar.isAncestorOf(focused):
                is_own = focused is not None and self.isAncestorOf(focused)
                self._came_from = focused if is_own else None
            self.finder.open()

    def close_search(self) -> bool:
        """Close the search in the note and restore the focus. Return False if it was not open."""
        is_open = not self._bar.isHidden()
        if is_open:
            self.finder.close()
            self._on_find_closed()
        return is_open

    def _on_find_closed(self) -> None:
        before = self._came_from
        is_there = before is not None and isValid(before) and before.isVisible()
        (before if before is not None and is_there else self._stack).setFocus()

    def show_card(self, card: QWidget) -> None:
        """Show a card above the note, such as a proposed change. Remove an earlier card."""
        self.remove_card()
        self._card = card
        self._cards.addWidget(card)
        self._cards.setContentsMargins(16, 8, 16, 8)

    def remove_card(self) -> None:
        """Remove the card above the note, if a card is shown."""
        if self._card is not None:
            self._cards.removeWidget(self._card)
            self._cards.setContentsMargins(0, 0, 0, 0)
            self._card.hide()
            self._card.deleteLater()
            self._card = None

    def show_line(self, line: int) -> None:
        """Scroll so that a line of the note is at the top of the visible area."""
        (self.source if self.is_source else self.page).show_line(line)

    def find_top_line(self) -> int:
        """Return the number of the line at the top of the visible area."""
        return self.source.first_visible_line() if self.is_source else self.page.find_top_line()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go back or forward when the mouse's back or forward button is pressed."""
        steps = {Qt.MouseButton.BackButton: -1, Qt.MouseButton.ForwardButton: 1}
        if event.button() in steps:
            self.step_requested.emit(steps[event.button()])
        else:
            super().mousePressEvent(event)

    def find_marked_lines(self) -> tuple[int, int] | None:
        """Return the first and last highlighted line, or None if no lines are highlighted."""
        return self.page.find_lit_lines()

    def find_selected_lines(self) -> tuple[int, int] | None:
        """Return the first and last selected line, or None if nothing is selected."""
        return (self.source if self.is_source else self.page).find_selected_lines()

    def _fill_source(self, line: int) -> None:
        """Show the note's source text, or the part around `line` if the note is large."""
        if self._note is None:
            return
        cut = cut_source(self._note.text, line)
        first, last = self.find_marked_lines() or (0, 0)
        self.source.show_text(cut.text, cut.start, first, last)
        if line != first:
            self.source.show_line(line)
        self._cut.setText(cut.describe())
        self._cut.setVisible(bool(self._cut.text()))

    def show_changed(self, note: "Note | OpenImage") -> None:
        """Show a new version of the open note or image. Keep the position and the highlights."""
        if isinstance(note, OpenImage):
            self._show_picture(note)
        if isinstance(note, OpenImage) or self._note is None or note.path != self.path:
            return
        self._notice.hide()
        if note.version != self._note.version:
            lines = self.find_marked_lines()
            lines = find_lines_again(self._note.text, note.text, lines) if lines else None
            top, at = self.page.find_top_line(), self.source.verticalScrollBar().value()
            self.show_note(note, *(lines or (0, 0)))
            self.page.show_line(top if top > 1 else 0)
            self.source.stay_at(at)

    def show_lost(self, path: str) -> None:
        """Show that the open note or image no longer exists. Its content stays visible."""
        if path == self.path and self._kind:
            hint = "It was moved or deleted. This is how it was."
            self._notice.show_notice("amber", f"This {self._kind} is not there any more.", hint, ())

    def show_error(self, path: str, message: str, hint: str, *, is_image: bool = False) -> None:
        """Show why a note or image cannot be opened. `hint` says what the user can do."""
        self._forget_note()
        self.path = path
        self._title.set_text(path.rpartition("/")[2])
        self._place.set_text(path)
        self._set_visible("image" if is_image else "note")
        self._on_selected()
        for needless in (self._stack, self.outline, self.switch, self.related, self.attach):
            needless.hide()
        self._notice.show_notice("danger", message, hint, ())

    def clear(self) -> None:
        """Close the note or image, and show the hint of the empty panel."""
        self._forget_note()
        self._title.set_text("Note")
        self.switch.setChecked(False)
        self._set_view(self.page)
        self._set_visible("")

    def _forget_note(self) -> None:
        """Remove the note or image from all views of the panel."""
        self.remove_card()
        self.path, self._note = "", None
        self.outline.set_note(None)
        self.finder.close()
        self.page.show_text("")
        self.source.show_text("", 1, 0, 0)
        self.image.show_image(None)
        self._notice.hide()
        self._cut.hide()

    @property
    def _kind(self) -> str:
        """The kind of the open file: `note`, `image`, or an empty string if no file is open."""
        return "image" if self.image.shown is not None else "note" if self._note else ""

    def _set_view(self, view: QWidget) -> None:
        self._stack.setCurrentWidget(view)
        self._stack.setFocusProxy(view)

    def _on_selected(self) -> None:
        lines = self.find_selected_lines()
        whole = "this image" if self.outline.isHidden() else "this note"
        self.attach.set_name(f"Attach {name_lines(lines) if lines else whole}")
        self.more.set_name(f"Actions of {whole}")

    def attach_selection(self) -> None:
        """Request to attach the selected lines, or the whole note if nothing is selected."""
        if self.path:
            self.attach_requested.emit(self.path, *(self.find_selected_lines() or (0, 0)))

    def _set_visible(self, kind: str) -> None:
        """Show the widgets for `kind`: `note`, `image`, or an empty string for the panel's hint."""
        for part in (self.outline, self.switch, self.related):
            part.setVisible(kind == "note")
        for shown in (self.attach, self.more, self._place, self._stack):
            shown.setVisible(bool(kind))
        self._empty.setVisible(not kind)

    def _lay_out(self) -> None:
        self.head = Header("content")
        texts = set_apart(self._title, 0, 2, 0, 2)
        texts.setSpacing(0)
        texts.addWidget(self._place)
        close = IconButton("x", "Close the note")
        close.clicked.connect(self.closed)
        self.head.row.setContentsMargins(8, 0, 8, 1)
        for part in (self._sidebar, self.back, self.forward):
            self.head.row.addWidget(part)
        self.head.row.addLayout(texts, 1)
        for part in (self.outline, self.switch, self.related, self.attach, self.more):
            self.head.row.addWidget(part)
        self.head.row.addWidget(self._panel)
        self.head.row.addWidget(close)
        column = QVBoxLayout(self)
        column.setSpacing(0)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.head)
        self._cards = QVBoxLayout()
        column.addLayout(self._cards)
        self._bar.setContentsMargins(16, 0, 16, 0)
        column.addLayout(set_apart(self._notice, 8, 8, 8, 0))
        for widget in (self._bar, self._empty, self._cut):
            column.addWidget(widget)
        column.addWidget(self._stack, 1)
        column.addStretch(0)
