"""The index panel: progress, size, and the notes by state."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.panels.index.lists import NoteLists
from ui.panels.index.progress import ProgressBox
from ui.panels.index.state import IndexState, NotesByState
from ui.widgets.buttons import NO_TEXT, ButtonText, make_button
from ui.widgets.controls import make_wrapped_label, one_line
from ui.widgets.formatting import ago, count, plural, size
from ui.widgets.geometry import make_scroll_area
from ui.widgets.layouts import align, grow, make_column, stretch
from ui.widgets.surfaces import Hairline, Notice, Pane

if TYPE_CHECKING:
    from vault.indexing.status import IndexStatus

__all__ = ["IndexPanel"]

_KEEP = ButtonText("Keep it", "Leave the index as it is")
_REBUILD = ButtonText("Rebuild the index", "Delete the index and make it from the notes")


class IndexPanel(Pane):
    """The panel that shows the progress and size of the index, and the notes by state.

    Signals:
        rebuild_confirmed: emitted when the user has confirmed that the index should be rebuilt.
        review_requested: emitted when the user wants to see the findings of the review.
        looked_at: emitted when the panel becomes visible.
    """

    rebuild_confirmed = Signal()
    review_requested = Signal()
    looked_at = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", parent)
        self._state = IndexState()
        self._chunks = 0
        self.run = ProgressBox()
        self.lists = NoteLists()
        self._facts = make_wrapped_label("", "caption", "secondary")
        self.rebuild = make_button(
            ButtonText(
                "Rebuild the index…",
                "Delete the index and make it from the notes, after a question",
            ),
            "link",
            self._ask_to_rebuild,
        )
        self.review = make_button(NO_TEXT, "link", self.review_requested.emit)
        self.question = Notice("info")
        self.question.hide()
        self._lay_out()
        self.show_state(self._state)
        self.show_status(None)
        self.show_findings(0)

    def show_state(self, state: IndexState) -> None:
        """Show a new state of the index."""
        is_open = state.kind != "none"
        self._state = state
        self.run.show_state(state)
        self.lists.setVisible(is_open)
        self.rebuild.setVisible(is_open and not state.is_going_on and not state.is_elsewhere)
        self._facts.setVisible(bool(self._facts.text()) and is_open)

    def show_status(self, status: "IndexStatus | None") -> None:
        """Show the contents and size of the index, or hide them if `status` is None."""
        self._chunks = 0 if status is None else status.chunks
        self._facts.setText("" if status is None else _describe_index(status))
        self._facts.setVisible(bool(self._facts.text()) and self._state.kind != "none")

    def show_findings(self, number: int) -> None:
        """Show the number of review findings that have not been dismissed, if there are any."""
        tip = "Show contradictions, faults, duplicates and outdated notes that were found"
        text = ButtonText(f"Look after your notes ({count(number)})", tip, "look_after")
        self.review.set_text(text)
        self.review.setVisible(number > 0)

    def show_notes(self, notes: NotesByState) -> None:
        """Show the lists of notes by state."""
        self.lists.show_notes(notes)

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `looked_at` when the panel becomes visible, so that its contents are loaded."""
        super().showEvent(event)
        self.looked_at.emit()

    def _ask_to_rebuild(self) -> None:
        effect = f"{plural(self._chunks, 'passage')} are taken in again. " if self._chunks else ""
        text = f"Your notes are untouched. {effect}Search finds less until that is done."
        ways = ((_KEEP, self._on_kept), (_REBUILD, self._on_confirmed))
        self.question.show_notice("info", "Throw the index away and make it again?", text, ways)
        self.question.focus_first()

    def _on_kept(self) -> None:
        self.question.hide()
        self.rebuild.setFocus()

    def _on_confirmed(self) -> None:
        self._on_kept()
        self.rebuild_confirmed.emit()

    def _lay_out(self) -> None:
        # Qt restyles everything below a widget that gets a parent, so the outer widgets come first.
        content = Pane("panel")
        make_column(make_scroll_area(content), margins=0, parent=self)
        make_column(
            self.run,
            self._about(),
            Hairline(),
            4,
            grow(self.lists),
            stretch(0),
            margins=(0, 0, 0, 8),
            spacing=0,
            parent=content,
        )

    def _about(self) -> QVBoxLayout:
        return make_column(
            self._facts,
            align(self.review, Qt.AlignmentFlag.AlignLeft),
            align(self.rebuild, Qt.AlignmentFlag.AlignLeft),
            self.question,
            margins=(16, 8, 16, 8),
            spacing=4,
        )


def _describe_index(status: "IndexStatus") -> str:
    """Describe the index in a few sentences: passages, age, gaps, size and embedding model."""
    if not status.notes and status.indexed_at is None:
        return "Nothing is indexed yet."
    when = f", indexed {ago(status.indexed_at)}" if status.indexed_at else ""
    contents = f"{plural(status.chunks, 'passage')}{when}."
    model = f" Meaning by {one_line(status.embedder)}." if status.embedder else ""
    gap = "" if status.gap is None else f" {status.gap.sentence}"
    return f"{contents}{gap} {size(status.size_bytes)} on the disk, outside the folder.{model}"
