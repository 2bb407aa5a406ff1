"""Compact the open chat, with a preview and an editable summary."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from shiboken6 import isValid

from app.errors import describe
from app.sessions.branches import SummaryDraft, SummaryMend
from app.sessions.transcript import SummaryItem
from chains.cancel import CancelToken
from context.compaction import HEAD
from context.exam import ChangedFact, ChatFact, SummaryExam
from context.fit.compact import CompactionReport
from context.fit.compact_session import CompactionPreview
from ui.chat.message.blocks import SummaryDivider, describe_tokens
from ui.controllers.composer import ComposerController
from ui.controllers.context import ContextController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.panels.context.compaction import CompactionDialog
from ui.tasks import Task
from ui.widgets.buttons import ButtonText, LabelledAction
from ui.widgets.formatting import count, plural

__all__ = ["CompactionController"]

_NONE: Final = "Nothing has been asked in this chat yet."
_NOTHING: Final = "Nothing was compacted: the chat is unchanged."
_UNDO: Final = ButtonText("Undo", "Put the summary back as it was")
_BUSY: Final = "An answer is on its way. Stop it first."


class CompactionController(ChatController):
    """Compacts the open chat on request: replaces its older messages with a summary.

    If the user cancels, the chat is not changed.
    """

    def __init__(
        self,
        shared: Collaborators,
        session: SessionController,
        composer: ComposerController,
        context: ContextController,
    ) -> None:
        super().__init__(shared, session)
        self._context = context
        self._dialog: CompactionDialog | None = None
        self._task: Task | None = None
        self._chat = ""
        self._model: str | None = None
        self._draft: SummaryDraft | None = None
        self._edited = ""
        self._frame.transcript.maker.summary_edit_requested.connect(self.edit)
        self._frame.transcript.maker.summary_mend_requested.connect(self.mend)
        self._frame.transcript.maker.facts_wanted.connect(self._search_facts)
        composer.commands.compact_requested.connect(self.compact)
        context.add_action("compact", lambda _entry: self.compact())

    def compact(self, instructions: str = "") -> None:
        """Show which messages of the open chat a compaction would summarise.

        The user can then start the compaction in the dialog.

        Args:
            instructions: the user's instructions for the summary, such as which topic to keep.
        """
        session = self._session.session
        if session is None or self._session.is_running:
            self._frame.notifier.toast(_NONE if session is None else _BUSY)
            return
        self._chat, self._model, self._draft = session, self._session.model, None
        self._edited = ""
        dialog = self._find_dialog()
        dialog.begin(instructions)
        preview, model = self._assistant.compaction.preview, self._model
        self._run(self._runner.call(lambda: preview(session, model)), self._on_previewed)

    def edit(self, item: SummaryItem) -> None:
        """Open the dialog to edit a summary that the model receives instead of older messages."""
        session = self._session.session
        if session is None or self._session.is_running:
            self._frame.notifier.toast(_BUSY)
            return
        self._chat, self._model, self._draft = session, self._session.model, None
        self._edited = item.entry
        self._find_dialog().begin_edit(item.summary, describe_tokens(item.compaction))

    def mend(self, item: SummaryItem, fact: ChatFact | ChangedFact) -> None:
        """Keep a fact that is gone, or take one that nobody said out of the summary in use."""
        chat, model = self._session.session, self._session.model
        if chat is None or self._session.is_running:
            self._frame.notifier.toast(_BUSY)
            return
        mender = self._assistant.mender

        def on_mended(done: SummaryMend) -> None:
            undo = partial(self._start, lambda: mender.undo(chat, done, model), on_undone)
            self._tell(chat, done.sentence, (_UNDO, undo))

        def on_undone(_none: object) -> None:
            self._tell(chat, "Undone. The summary is as before.")

        self._start(lambda: mender.mend(chat, item, fact, model), on_mended)

    def _search_facts(self, shown: SummaryDivider, exam: SummaryExam) -> None:
        """Search the notes in a worker for what a summary lost, until its divider is closed."""
        chat, search = self._session.session, self._assistant.compaction.search_facts
        if chat is None:
            return

        def run(token: CancelToken) -> Iterator[SummaryExam]:
            yield search(chat, exam, token)

        def show(found: SummaryExam) -> None:
            if isValid(shown) and found != exam:
                shown.show_exam(found)

        task = self._runner.stream(run)
        task.yielded.connect(show)
        shown.destroyed.connect(task.cancel)
        task.start()

    def _start(self, act: Callable[[], Any], on_done: Callable[[Any], None]) -> None:
        task = self._runner.call(act)
        task.yielded.connect(on_done)
        task.failed.connect(lambda error: self._frame.notifier.toast(describe(error).message))
        task.start()

    def _tell(self, chat: str, message: str, action: LabelledAction | None = None) -> None:
        self._frame.notifier.toast(message, action, is_of_chat=action is not None)
        if self._session.session == chat:
            self._context.show("next")
            self._session.load()

    def _find_dialog(self) -> CompactionDialog:
        if self._dialog is None:
            self._dialog = CompactionDialog(self._frame.window)
            self._dialog.make_requested.connect(self._on_make_requested)
            self._dialog.use_requested.connect(self._on_use_requested)
            self._dialog.rejected.connect(self._on_rejected)
        return self._dialog

    def _run(self, task: Task, on_yielded: Callable[[Any], None]) -> None:
        """Start a task, and ignore the remaining results of the previous task.

        Args:
            task: the task to start.
            on_yielded: called with each result of the task, until another task is started or the
                user cancels.
        """

        def pass_on(receive: Callable[[Any], None], item: object) -> None:
            if self._task is task:
                receive(item)

        self._task = task
        task.yielded.connect(partial(pass_on, on_yielded))
        task.failed.connect(partial(pass_on, self._on_failed))
        task.start()

    def _on_previewed(self, preview: CompactionPreview) -> None:
        result = preview.report.result
        self._find_dialog().show_preview(
            preview.questions,
            result.before_tokens,
            result.after_tokens,
            _count_summarised(preview.report),
            preview.maker,
        )

    def _on_make_requested(self, instructions: str) -> None:
        draft, chat, model = self._assistant.compaction.draft, self._chat, self._model
        task = self._runner.stream(lambda token: draft(chat, token, instructions, model))
        self._run(task, self._on_event)

    def _on_event(self, event: object) -> None:
        if isinstance(event, SummaryDraft):
            self._draft = event
            result = event.report.result
            summary = event.report.summary.removeprefix(f"{HEAD}\n")
            dialog = self._find_dialog()
            dialog.show_summary(summary, result.before_tokens, result.after_tokens)
            if event.report.warnings:
                dialog.show_problem(" ".join(event.report.warnings))

    def _on_use_requested(self, text: str) -> None:
        draft, chat, model = self._draft, self._chat, self._model
        if self._edited:
            edit, entry = self._assistant.compaction.edit_summary, self._edited
            self._run(self._runner.call(lambda: edit(chat, entry, text, model)), self._on_edited)
        elif draft is not None:
            store = self._assistant.compaction.store
            self._run(self._runner.call(lambda: store(chat, draft, text, model)), self._on_stored)

    def _on_edited(self, _none: object) -> None:
        self._close("The summary was edited.")

    def _on_stored(self, report: CompactionReport) -> None:
        self._close(_describe(report))

    def _close(self, message: str) -> None:
        """Close the dialog, show a toast, and reload the chat if it is still open.

        Args:
            message: the text of the toast.
        """
        self._find_dialog().accept()
        self._frame.composer.setFocus()
        self._frame.notifier.toast(message)
        if self._session.session == self._chat:
            self._context.show("next")  # the last request was sent before the compaction
            self._session.load()

    def _on_failed(self, error: Exception) -> None:
        self._find_dialog().show_problem(describe(error).message)

    def _on_rejected(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._draft = None


def _describe(report: CompactionReport) -> str:
    """Describe a stored compaction in one sentence."""
    if report.entry is None:
        return " ".join((_NOTHING, *report.warnings))
    result, gone = report.result, plural(_count_summarised(report), "earlier message")
    if report.by == "outline":
        return f"{gone} became an outline, made without a model."
    return (
        f"{gone} summarised · {count(result.before_tokens)} → {count(result.after_tokens)} tokens"
    )


def _count_summarised(report: CompactionReport) -> int:
    """Count the messages that a summary replaces."""
    return report.result.before_messages - report.result.after_messages + 1
