"""Keep the pinned answers in the sidebar up to date, and let the user pin and change them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import QTimer

from app.errors import describe
from app.pinned.answer import PinnedAnswer
from app.pinned.answers import ShownAnswer, measure_wait_for_midnight
from app.pinned.changes import RowChanges
from app.pinned.model_answers import AskedAnswer
from app.pinned.notes import PlannedNote
from chains.tool import ApprovalRequest, Proposal
from ui.chat.message.approval_card import ApprovalDialog
from ui.chat.message.tools import MessageAction
from ui.controllers.chats.versions import VersionsController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.vault import VaultController
from ui.panels.pinned_question import PinQuestionDialog
from ui.tasks import LatestOnly
from ui.widgets.buttons import ButtonText

__all__ = ["PinnedController"]

_PAUSE_MS: Final = 200
_UNDO: Final = ButtonText("Undo", "Put the pinned answer back into the sidebar")
_SHOW: Final = ButtonText("Show it", "Open the pinned answer in the sidebar")
_UNDO_WRITING: Final = ButtonText("Undo", "Put the note back as it was")
_TOOL: Final = "write_pinned_answer"
_PINNED: Final = "Pinned to the sidebar. It is found again when your notes change."


class PinnedController(ChatController):
    """Fills the list of pinned answers in the sidebar.

    They are found again when the index has changed, and when a new day begins. What has changed is
    lit until the user has opened and closed the answer.
    """

    def __init__(
        self,
        shared: Collaborators,
        session: SessionController,
        vault: VaultController,
        versions: VersionsController,
    ) -> None:
        super().__init__(shared, session)
        self._list = self._frame.sidebar.pinned
        self._kept_changes: dict[str, RowChanges] = {}
        self._to_select = self._compared = ""
        self._versions = versions
        self._asked: AskedAnswer | None = None
        self._reads = LatestOnly(self._runner, 0, self)
        self._finds = LatestOnly(self._runner, _PAUSE_MS, self)
        self._reads.answered.connect(self._on_read)
        # A change may be stored after a find has begun, so that what it found is read again.
        self._finds.answered.connect(lambda _found: self._reload())
        for calls in (self._reads, self._finds):  # apart, so that no read takes a find's place
            calls.failed.connect(self._on_unreadable)
        self._day = ""
        self.midnight = QTimer(self)
        self.midnight.setSingleShot(True)
        self.midnight.timeout.connect(self.check_day)
        for changed in (vault.indexed, vault.lost, vault.watch.failed):
            changed.connect(self.refresh)
        vault.opened.connect(self._on_vault_opened)
        session.loaded.connect(self._on_chat_loaded)
        versions.kept.connect(self._on_kept)
        self._frame.transcript.maker.action_requested.connect(self._on_action)
        self._frame.sidebar.pin_requested.connect(self.pin_question)
        self._connect_list()

    def refresh(self) -> None:
        """Find all pinned answers again."""
        if self._assistant.vault is not None:
            self._finds.ask(self._assistant.pinned.refresh)

    def check_day(self) -> None:
        """Find all pinned answers again if another day has begun since the last check."""
        now = self._assistant.pinned.clock()
        day, before = now.date().isoformat(), self._day
        self._day = day
        if before and before != day:
            self.refresh()
        self.midnight.start(int(measure_wait_for_midnight(now) * 1_000))

    def pin_question(self) -> None:
        """Pin the question or search in the message box, or else the last answer.

        If there is neither, the user is asked for a question.
        """
        text, project = self._frame.composer.text().strip(), self._session.project
        entry = self._frame.transcript.last_answer_entry
        if text:
            self._pin(partial(self._assistant.pinned.add, text, project=project))
        elif entry and self._session.session is not None:
            self._pin_answer(self._session.session, entry)
        else:
            self._ask_for_question()

    def _ask_for_question(self) -> None:
        dialog = PinQuestionDialog(self._frame.window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.pin_requested.connect(partial(self._pin_typed, dialog))
        dialog.ask()

    def _pin_typed(self, dialog: PinQuestionDialog, question: str) -> None:
        add = partial(self._assistant.pinned.add, question, project=self._session.project)
        task = self._runner.call(add)
        task.yielded.connect(self._on_pinned)
        task.yielded.connect(dialog.accept)
        task.failed.connect(dialog.show_error)
        task.start()

    def _connect_list(self) -> None:
        pinned, shown = self._assistant.pinned, self._list
        shown.opened.connect(self._on_opened)
        shown.closed.connect(self._on_closed)
        shown.line_chosen.connect(self._on_line_chosen)
        shown.remove_requested.connect(self._remove)
        shown.rename_requested.connect(lambda id, title: self._start(pinned.rename, id, title))
        shown.move_requested.connect(lambda id, place: self._start(pinned.move, id, place))
        shown.chat_requested.connect(self._show_chat)
        shown.ask_requested.connect(self._ask_again)
        shown.write_requested.connect(self._plan_note)
        shown.refresh_requested.connect(lambda id: self._start(pinned.refresh, [id]))

    def _on_vault_opened(self) -> None:
        self._kept_changes.clear()
        self.check_day()
        self._reads.ask(self._assistant.pinned.list, now=True)

    def _on_action(self, action: MessageAction) -> None:
        if action.kind == "keep" and self._session.session is not None:
            self._pin_answer(self._session.session, action.entry)

    def _pin_answer(self, session: str, entry: str) -> None:
        self._pin(partial(self._assistant.pinned.add_answer, session, entry))

    def _pin(self, add: Callable[[], ShownAnswer]) -> None:
        task = self._runner.call(add)
        task.yielded.connect(self._on_pinned)
        task.failed.connect(self._on_failed)
        task.start()

    def _on_pinned(self, added: ShownAnswer) -> None:
        self._to_select = added.answer.id
        self._reload()
        show = partial(self._show_answer, added.answer.id)
        self._frame.notifier.toast(_PINNED, (_SHOW, show))

    def _show_answer(self, id: str) -> None:
        self._frame.columns.show_sidebar()
        self._list.open(id)
        self._list.setFocus()

    def _remove(self, id: str) -> None:
        task = self._runner.call(partial(self._assistant.pinned.remove, id))
        task.yielded.connect(self._on_removed)
        task.failed.connect(self._on_failed)
        task.start()

    def _on_removed(self, removed: tuple[PinnedAnswer, int]) -> None:
        self._reload()
        answer, place = removed
        undo = partial(self._start, self._assistant.pinned.restore, answer, place)
        self._frame.notifier.toast(f"“{answer.title}” was removed.", (_UNDO, undo))

    def _show_chat(self, id: str) -> None:
        shown = self._list.find_answer(id)
        if shown is not None and shown.answer.answer is not None:
            self._frame.navigation.open_session(shown.answer.answer.session)

    def _ask_again(self, id: str) -> None:
        """Open the chat of a model's answer, and ask its question again beside the answer."""
        shown = self._list.find_answer(id)
        if shown is None or shown.answer.answer is None:
            return
        answer, assistant = shown.answer.answer, self._assistant

        def find() -> AskedAnswer:
            assistant.branches.show_entry(answer.session, answer.entry)
            return assistant.pinned.find_asked(id)

        self._compared = id
        task = self._runner.call(find)
        task.yielded.connect(partial(self._open_to_ask, answer.session))
        task.failed.connect(self._on_failed)
        task.start()

    def _open_to_ask(self, session: str, asked: AskedAnswer) -> None:
        self._asked = asked
        if self._session.session == session:
            self._frame.navigation.show_chat()
            self._session.load()
        else:
            self._frame.navigation.open_session(session)

    def _on_chat_loaded(self, _transcript: object, _is_new: bool) -> None:
        asked, self._asked = self._asked, None
        if asked is not None and asked.user_entry in self._session.user_messages:
            self._versions.ask_again(asked.item.entry, asked.user_entry)

    def _on_kept(self, entry: str) -> None:
        """Pin the answer that the user has kept, in place of the one before it."""
        id, self._compared = self._compared, ""
        shown, session = self._list.find_answer(id) if id else None, self._session.session
        if shown is None or shown.answer.answer is None or session is None or not entry:
            return
        if shown.answer.answer.session == session and shown.answer.answer.entry != entry:
            self._kept_changes.pop(id, None)
            self._start(self._replace, id, session, entry)

    def _replace(self, id: str, session: str, entry: str) -> None:
        self._assistant.branches.show_entry(session, entry)
        self._assistant.pinned.replace_answer(id, session, entry)

    def _plan_note(self, id: str) -> None:
        """Show how a pinned answer would be written into the vault, and ask for approval."""
        task = self._runner.call(partial(self._assistant.pinned_notes.plan, id))
        task.yielded.connect(self._ask_to_write)
        task.failed.connect(self._on_failed)
        task.start()

    def _ask_to_write(self, planned: PlannedNote) -> None:
        apply = partial(self._assistant.pinned_notes.apply, planned)
        proposal = Proposal("write", planned.sentence, apply, planned.plan.diff)
        dialog = ApprovalDialog(ApprovalRequest("", "", _TOOL, {}, proposal), self._frame.window)
        dialog.accepted.connect(partial(self._write, planned, apply))
        dialog.open()

    def _write(self, planned: PlannedNote, apply: Callable[[], str]) -> None:
        task = self._runner.call(apply)
        task.yielded.connect(partial(self._on_written, planned))
        task.failed.connect(self._on_failed)
        task.start()

    def _on_written(self, planned: PlannedNote, run: str) -> None:
        self._reload()
        undo = partial(self._start, lambda: self._assistant.edits.undo(run=run))
        self._frame.notifier.toast(f"{planned.path} was written.", (_UNDO_WRITING, undo))

    def _on_opened(self, id: str) -> None:
        """Take the changes of an answer as seen, and keep them lit until it is closed."""
        if (shown := self._list.find_answer(id)) is not None:
            self._kept_changes[id] = shown.changes
            task = self._runner.call(partial(self._assistant.pinned.look, id))
            task.failed.connect(self._on_failed)
            task.start()

    def _on_closed(self, id: str) -> None:
        self._kept_changes.pop(id, None)
        self._start(self._assistant.pinned.look, id)

    def _on_line_chosen(self, path: str, line: int) -> None:
        self._frame.navigation.show_note(path, line, line)

    def _start(self, act: Callable[..., object], *args: object) -> None:
        task = self._runner.call(partial(act, *args))
        task.yielded.connect(lambda _result: self._reload())
        task.failed.connect(self._on_failed)
        task.start()

    def _reload(self) -> None:
        if self._assistant.vault is not None:
            self._reads.ask(self._assistant.pinned.list, now=True)

    def _on_read(self, answers: Sequence[ShownAnswer]) -> None:
        sidebar = self._frame.sidebar
        if not answers and self._list.hasFocus():
            self._frame.composer.setFocus()  # the list is hidden when it is empty
        sidebar.show_pinned([self._keep_lit(shown) for shown in answers])
        if self._to_select:
            self._list.select(self._to_select)
            self._to_select = ""

    def _keep_lit(self, shown: ShownAnswer) -> ShownAnswer:
        """Keep the rows lit that were new when the user opened this answer, until it is closed."""
        changes = self._kept_changes.get(shown.answer.id)
        return shown if changes is None or shown.changes.mark else replace(shown, changes=changes)

    def _on_unreadable(self, error: Exception) -> None:
        self._frame.sidebar.show_pinned((), describe(error).message)

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)
