"""The panel that shows an image, or a note at its cited lines."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget
from shiboken6 import isValid

from ui.panels.notes.finder import NoteFinder
from ui.panels.notes.image import ImagePage, OpenImage
from ui.panels.notes.note_header import NoteHeader
from ui.panels.notes.note_lines import (
    cut_source,
    describe_place,
    find_lines_again,
    follow_line,
)
from ui.panels.notes.note_text import NoteText
from ui.panels.notes.reader import NoteReader
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.find_bar import FindBar
from ui.widgets.geometry import set_apart
from ui.widgets.surfaces import Notice, Pane

if TYPE_CHECKING:
    from vault.notes.note import Note

__all__ = ["NotePanel"]


class NotePanel(Pane):
    """The panel that shows an image, or a note as rendered Markdown or as source text.

    Signals:
        attach_requested: emitted with the path, first and last line to attach (0 for all lines).
        link_clicked: emitted with the address of the clicked link.
        task_pressed: emitted with the path and the content's hash of the note, and with the line of
            a task whose checkbox was pressed.
        listed_task_pressed: emitted with the link of a task of another note that a query lists.
        step_requested: emitted with -1 to go back, or 1 to go forward, by a button of the mouse.
        scrolled: emitted when other lines of the note become visible.

    Attributes:
        head: the header with the title and the buttons.
        page: the note as rendered Markdown.
        finder: the search in the note.
        source: the note's source text, which is only updated while it is shown.
        image: the image, if an image is open instead of a note.
    """

    attach_requested = Signal(str, int, int)
    link_clicked = Signal(str)
    task_pressed = Signal(str, str, int)
    listed_task_pressed = Signal(str)
    scrolled = Signal()
    step_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("content", parent)
        self.path, self._source_line = "", 0
        self._followed: int | None = None  # the line of the task that keeps the focus, or 0
        self._note: Note | None = None
        self._card: QWidget | None = None
        self.head = NoteHeader()
        self._cut = make_wrapped_label("", "caption", "secondary")
        self._cut.setContentsMargins(16, 6, 16, 6)
        self._notice = Notice("danger")
        self.page, self.source, self.image = NoteReader(), NoteText(), ImagePage()
        self.page.link_clicked.connect(self.link_clicked)
        self.page.task_pressed.connect(self._on_task_pressed)
        self.page.listed_task_pressed.connect(self.listed_task_pressed)
        self._stack = QStackedWidget()
        for view in (self.page, self.source, self.image):
            self._stack.addWidget(view)
        self.setFocusProxy(self._stack)
        self._came_from: QWidget | None = None
        self._bar = FindBar("Find in this note")
        self.finder = NoteFinder(self.page, self.source, self._bar)
        self.finder.closed.connect(self._on_find_closed)
        self._connect_head()
        for selected in (self.page.selection_changed, self.source.selectionChanged):
            selected.connect(self._on_selected)
        for view in (self.page, self.source):
            view.verticalScrollBar().valueChanged.connect(lambda _value: self.scrolled.emit())
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
        self._show_head(note, first, last)
        self._set_visible("note")
        self.image.show_image(None)
        self._set_view(self.source if self.head.switch.isChecked() else self.page)
        self.page.show_text(note.text, first, last, kinds=note.kinds)
        if self.is_source:
            self._fill_source(first)
        self.finder.renew()
        self._on_selected()

    def _show_head(self, note: "Note", first: int, last: int) -> None:
        self.head.show_title(note.title, describe_place(note, first, last))
        self._notice.setVisible(bool(note.fault))
        if note.fault:
            self._notice.show_notice("amber", "Front matter with a mistake", note.fault, ())

    def show_image(self, image: OpenImage) -> None:
        """Show an image instead of a note."""
        self._forget_note()
        self.path = image.path
        self.head.show_title(image.name)
        self._set_visible("image")
        self._set_view(self.image)
        self._show_picture(image)
        self._on_selected()

    def _show_picture(self, image: OpenImage) -> None:
        self._notice.hide()
        self.head.show_place(f"{image.path} · {image.pixels}")
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
        self.head.switch.setChecked(is_source)
        if is_source == self.is_source:
            return
        has_focus = self._stack.isAncestorOf(QApplication.focusWidget() or self)
        if is_source:
            line = self.page.find_top_line()
            self._fill_source(line)
            self._source_line = self.source.find_first_visible_line()
        elif self.source.find_first_visible_line() != self._source_line:
            self.page.show_line(self.source.find_first_visible_line())
        self._set_view(self.source if is_source else self.page)
        self.finder.renew()
        self._cut.setVisible(is_source and bool(self._cut.text()))
        if has_focus:
            self.setFocus()
        self._on_selected()

    def _connect_head(self) -> None:
        self.head.source_toggled.connect(self.show_source)
        self.head.attach_requested.connect(self.attach_selection)

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
        return (
            self.source.find_first_visible_line() if self.is_source else self.page.find_top_line()
        )

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
        self.source.show_text(cut.text, cut.start, first, last, self._note.kinds)
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
            self._update(self._note, note)
        line, self._followed = self._followed, None
        if line is not None and self.page.focused_task:
            self.page.focus_task(line)

    def follow_task(self, path: str, before: int, after: int) -> None:
        """Keep the focus at a task whose line changes when the note is shown again.

        Args:
            path: the note of the task.
            before: its line before the change.
            after: its line then, or 0 if it is deleted. Then no task has the focus.
        """
        self.page.follow_task(path, before, after)
        if path == self.path and self.page.focused_task == before:
            self._followed = after

    def _update(self, before: "Note", note: "Note") -> None:
        lines, at = self.find_marked_lines(), self.source.verticalScrollBar().value()
        first, last = (lines and find_lines_again(before.text, note.text, lines)) or (0, 0)
        follow = partial(follow_line, before.text, note.text)
        task, self._note = self.page.focused_task, note
        self._show_head(note, first, last)
        self.page.update_text(note.text, first, last, note.kinds, follow)
        if self.is_source:
            self._fill_source(first)
            self.source.stay_at(at)
        self.finder.renew()
        self._on_selected()
        if task:
            self.page.focus_task(follow(task))

    def show_lost(self, path: str) -> None:
        """Show that the open note or image no longer exists. Its content stays visible."""
        if path == self.path and self._kind:
            hint = "It was moved or deleted. This is how it was."
            self._notice.show_notice("amber", f"This {self._kind} is not there any more.", hint, ())

    def show_error(self, path: str, message: str, hint: str, *, is_image: bool = False) -> None:
        """Show why a note or image cannot be opened. `hint` says what the user can do."""
        self._forget_note()
        self.path = path
        self.head.show_title(path.rpartition("/")[2], path)
        self._set_visible("image" if is_image else "note")
        self._on_selected()
        self.head.hide_actions()
        self._stack.hide()
        self._notice.show_notice("danger", message, hint, ())

    def clear(self) -> None:
        """Close the note or image, and show the hint of the empty panel."""
        self._forget_note()
        self.head.show_title("Note")
        self.head.switch.setChecked(False)
        self._set_view(self.page)
        self._set_visible("")

    def _forget_note(self) -> None:
        """Remove the note or image from all views of the panel."""
        self.remove_card()
        self.path, self._note = "", None
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

    def _on_task_pressed(self, line: int) -> None:
        if self._note is not None:
            self.task_pressed.emit(self.path, self._note.version, line)

    def _on_selected(self) -> None:
        self.head.show_selection(self.find_selected_lines())

    def attach_selection(self) -> None:
        """Request to attach the selected lines, or the whole note if nothing is selected."""
        if self.path:
            self.attach_requested.emit(self.path, *(self.find_selected_lines() or (0, 0)))

    def _set_visible(self, kind: str) -> None:
        """Show the widgets for `kind`: `note`, `image`, or an empty string for the panel's hint."""
        self.head.show_kind(kind)
        self._stack.setVisible(bool(kind))
        self._empty.setVisible(not kind)

    def _lay_out(self) -> None:
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
