"""Insert a link to a related note into the open note, and create the note that a link names."""

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.errors import describe
from chains.tool import ApprovalRequest, Proposal
from ui.chat.message.approval_card import ApprovalCard
from ui.controllers.navigation import PaletteController
from ui.controllers.reading.open_note import ReadingController
from ui.controllers.session import Collaborators, Controller
from ui.notify import announce
from ui.widgets.buttons import ButtonText
from vault.edits.plan import EditPlan
from vault.errors import EditOutdated
from vault.notes.kinds import note_name

__all__ = ["LinkController"]

_UNDO_LINK = ButtonText("Undo", "Remove the link from the note")
_UNDO_CREATE = ButtonText("Undo", "Remove the new note")
_TOOL: Final = "insert_link"
_CHANGED: Final = "The note has changed meanwhile. This is the change as it would be now."


class LinkController(Controller):
    """Shows how a new link changes the open note, and writes the change once it is approved.

    A note that does not exist is created where a link to it was clicked, if the user says so.

    The change is shown in the same approval card as an agent's edits, and recorded in the same
    journal.
    """

    def __init__(
        self, shared: Collaborators, reading: ReadingController, palette: PaletteController
    ) -> None:
        super().__init__(shared)
        reading.missing_clicked.connect(palette.offer_new_note)
        palette.new_note_wanted.connect(self.create)
        self._reading = reading
        self._card: ApprovalCard | None = None
        self._before: QWidget | None = None
        self._frame.column.related.link_requested.connect(self.propose)

    def list_commands(self) -> dict[str, Callable[[], object]]:
        """Return the functions that run this controller's window commands, by command name."""
        return {"insert_link": self.begin}

    def begin(self) -> None:
        """Show the notes related to the open note, and propose a link to the selected one."""
        if self._frame.note.path:
            self._frame.docking.show_related()
            self._frame.column.related.begin_link()

    def create(self, path: str) -> None:
        """Create a note and open it. This can be undone."""
        create = self._assistant.user_edits.create_note
        task = self._runner.call(lambda: create(path, f"# {note_name(path)}\n"))
        task.yielded.connect(partial(self._on_created, path))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_created(self, path: str, run: str) -> None:
        self._reading.show(path)
        undo = (_UNDO_CREATE, partial(self._undo_create, path, run))
        self._frame.notifier.toast(f"{path} is created.", undo)

    def _undo_create(self, path: str, run: str) -> None:
        task = self._runner.call(lambda: self._assistant.edits.undo(run=run))
        task.yielded.connect(lambda _undone: self._frame.notifier.toast(f"{path} is removed."))
        task.failed.connect(self._on_failed)
        task.start()

    def propose(self, to: str, *, is_again: bool = False) -> None:
        """Show how a link to another note would change the open note, and ask for approval.

        Args:
            to: the path of the note to link to.
            is_again: whether this proposal replaces an earlier one, because the open note has
                changed since. The card then shows a warning.
        """
        path = self._frame.note.path
        plan = self._assistant.user_edits.plan_related_link
        task = self._runner.call(lambda: plan(path, to))
        task.yielded.connect(lambda planned: self._ask(path, to, planned, is_again))
        task.failed.connect(self._on_failed)
        task.start()

    def refuse(self) -> bool:
        """Refuse the proposed link. Return False if no link is proposed."""
        if self._card is None or not isValid(self._card) or not self._card.isVisible():
            return False
        self._card.decide("reject")
        return True

    def _ask(self, path: str, to: str, plan: EditPlan, is_again: bool) -> None:
        if self._frame.note.path != path:
            return
        warnings = (_CHANGED,) if is_again else ()
        summary = f"{path} gets a link to {to}."
        apply = partial(self._assistant.user_edits.apply, plan)
        proposal = Proposal("write", summary, apply, plan.diff, warnings=warnings)
        request = ApprovalRequest("", "", _TOOL, {}, proposal)
        self._before = self._before or QApplication.focusWidget()
        self._card = card = ApprovalCard(request)
        card.decided.connect(partial(self._on_decided, to, path, proposal))
        self._frame.note.show_card(card)
        card.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(card, card.accessibleName(), is_urgent=True)

    def _on_decided(
        self, to: str, path: str, proposal: Proposal, _id: str, decision: object
    ) -> None:
        self._frame.note.remove_card()
        self._card = None
        before, self._before = self._before, None
        is_there = before is not None and isValid(before) and before.isVisible()
        (before if before is not None and is_there else self._frame.note).setFocus()
        if decision != "reject":
            task = self._runner.call(proposal.apply)
            task.yielded.connect(partial(self._on_applied, path, to))
            task.failed.connect(partial(self._on_refused, to))
            task.start()

    def _on_applied(self, path: str, to: str, run: str) -> None:
        self._frame.column.related.show_linked(to)
        self._reading.reread()
        self._frame.notifier.toast(f"{path} changed", (_UNDO_LINK, partial(self._undo, path, run)))

    def _on_refused(self, to: str, error: Exception) -> None:
        if isinstance(error, EditOutdated):
            self.propose(to, is_again=True)
        else:
            self._on_failed(error)

    def _undo(self, path: str, run: str) -> None:
        task = self._runner.call(lambda: self._assistant.edits.undo(run=run))
        task.yielded.connect(lambda _undone: self._on_undone(path))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_undone(self, path: str) -> None:
        self._reading.reread()
        self._reading.refresh_related()
        self._frame.notifier.toast(f"Undone. {path} is as before.")

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)
