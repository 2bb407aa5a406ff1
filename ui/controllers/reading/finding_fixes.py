"""Compare the notes of a finding side by side, and fix it once the user approves the change."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu
from shiboken6 import isValid

from app.errors import describe
from chains.tool import ApprovalRequest, Proposal
from ui.chat.message.approval_card import ApprovalCard
from ui.controllers.reading.open_note import ReadingController
from ui.controllers.session import Collaborators, Controller
from ui.notify import announce
from ui.panels.notes.comparison import ComparisonDialog
from ui.panels.notes.finding import FindingCard
from ui.widgets.buttons import ButtonText
from ui.widgets.menus import add_choice, show_dialog, show_menu
from vault.errors import EditOutdated
from vault.review.findings import Finding

if TYPE_CHECKING:
    from app.library.finding_fixes import FindingFix
    from vault.review.comparison import ComparedRow

__all__ = ["FindingFixController"]

_UNDO_FIX: Final = ButtonText("Undo", "Change the notes back")
_TOOL: Final = "fix_finding"
_CHANGED: Final = "A note has changed meanwhile. Choose the fix again."
_NOTHING: Final = (
    "The notes have changed, or nothing in them can be fixed here. Open them to decide."
)


class FindingFixController(Controller):
    """Shows how a finding of the review can be fixed, and writes the change once it is approved.

    The change is shown in the same approval card as an agent's edits, below the finding, and
    recorded in the same journal.
    """

    def __init__(self, shared: Collaborators, reading: ReadingController) -> None:
        super().__init__(shared)
        self._reading = reading
        self._asking: ApprovalCard | None = None
        panel = self._panel = self._frame.column.review
        panel.compare_requested.connect(self.compare)
        panel.fix_requested.connect(self.offer)

    def compare(self, finding: Finding, card: FindingCard) -> None:
        """Show the two notes of a finding side by side."""
        project = self._panel.project
        task = self._runner.call(lambda: self._read_rows(finding, project))
        task.yielded.connect(lambda rows: self._show_comparison(finding, card, rows))
        task.failed.connect(self._on_failed)
        task.start()

    def offer(self, finding: Finding, card: FindingCard) -> None:
        """Show the fixes of a finding in a menu. If there is only one, propose it."""
        project = self._panel.project
        task = self._runner.call(lambda: self._assistant.build_fixes(project).list_fixes(finding))
        task.yielded.connect(lambda fixes: self._choose(finding, card, fixes))
        task.failed.connect(self._on_failed)
        task.start()

    def refuse(self) -> bool:
        """Refuse the proposed fix. Return False if no fix is proposed."""
        if self._asking is None or not isValid(self._asking) or not self._asking.isVisible():
            return False
        self._asking.decide("reject")
        return True

    def _read_rows(self, finding: Finding, project: str | None) -> "tuple[ComparedRow, ...]":
        from vault.review.comparison import compare_texts

        library = self._assistant.library
        assert library is not None
        vault = library.vault if project is None else self._assistant.projects.open(project)
        first, second = finding.notes
        texts = [vault.read_note(vault.name_path(note.path)).text for note in (first, second)]
        lines = (first.first, second.first) if first.first and second.first else None
        return compare_texts(texts[0], texts[1], lines)

    def _show_comparison(
        self, finding: Finding, card: FindingCard, rows: "Sequence[ComparedRow]"
    ) -> None:
        dialog = ComparisonDialog(finding, rows, can_fix=True, parent=self._frame.window)
        dialog.note_chosen.connect(self._panel.note_chosen)
        dialog.fix_requested.connect(partial(self._offer_if_there, finding, card))
        show_dialog(dialog)

    def _offer_if_there(self, finding: Finding, card: FindingCard) -> None:
        if isValid(card):
            self.offer(finding, card)

    def _choose(self, finding: Finding, card: FindingCard, fixes: "Sequence[FindingFix]") -> None:
        if not isValid(card):
            return
        if not fixes:
            self._frame.notifier.toast(_NOTHING)
        elif len(fixes) == 1:
            self._ask(finding, card, fixes[0])
        else:
            menu = QMenu(card)
            for fix in fixes:
                add_choice(menu, fix.label, partial(self._ask, finding, card, fix))
            place = card.fix.mapToGlobal(QPoint(0, card.fix.height()))
            show_menu(menu, place, card.fix)

    def _ask(self, finding: Finding, card: FindingCard, fix: "FindingFix") -> None:
        project = self._panel.project
        carry_out = partial(self._assistant.build_fixes(project).carry_out, fix)
        proposal = Proposal("write", f"{fix.label}.", carry_out, fix.plan.diff)
        self._asking = asking = ApprovalCard(ApprovalRequest("", "", _TOOL, {}, proposal))
        asking.decided.connect(partial(self._on_decided, finding, card, fix, carry_out))
        card.show_below(asking)
        asking.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(asking, asking.accessibleName(), is_urgent=True)

    def _on_decided(
        self,
        finding: Finding,
        card: FindingCard,
        fix: "FindingFix",
        carry_out: Callable[[], str],
        _id: str,
        decision: object,
    ) -> None:
        self._asking = None
        if isValid(card):
            card.show_below(None)
            card.take_focus()
        if decision != "reject":
            task = self._runner.call(carry_out)
            task.yielded.connect(partial(self._on_applied, finding, fix))
            task.failed.connect(self._on_refused)
            task.start()

    def _on_applied(self, finding: Finding, fix: "FindingFix", run: str) -> None:
        place = self._panel.remove_finding(finding)
        self._reading.reread()
        undo = partial(self._undo, run, finding, place)
        self._frame.notifier.toast(f"{', '.join(fix.plan.paths[:2])} changed", (_UNDO_FIX, undo))

    def _on_refused(self, error: Exception) -> None:
        is_outdated = isinstance(error, EditOutdated)
        self._frame.notifier.toast(_CHANGED if is_outdated else describe(error).message)

    def _undo(self, run: str, finding: Finding, place: int) -> None:
        task = self._runner.call(lambda: self._assistant.edits.undo(run=run))
        task.yielded.connect(lambda _undone: self._on_undone(finding, place))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_undone(self, finding: Finding, place: int) -> None:
        """Put the finding back into the list, unless a review has found it again meanwhile."""
        self._reading.reread()
        if finding not in self._panel.list_findings():
            self._panel.insert_finding(finding, place)
        self._panel.show_changed()
        self._frame.notifier.toast("Undone. The notes are as before.")

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)
