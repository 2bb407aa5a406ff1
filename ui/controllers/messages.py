"""The actions that the user can perform on messages and on errors.

Messages: edit, regenerate, continue, fork, select a version, pin, label, summarise. Errors: open
the settings or the log, choose a folder, copy the details, disable the hooks.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from shiboken6 import isValid

from app.errors import ErrorInfo, describe
from app.sessions.branches import AbandonedBranch
from app.sessions.transcript import ChatTranscript, SummaryItem
from chains.claims.report import ClaimReport
from chains.request.ask import Ask
from chains.turn_answer import TurnAnswer
from ui.chat.message.answer import Answer
from ui.chat.message.tools import MessageAction
from ui.controllers.chats.save_note import SaveNoteController
from ui.controllers.composer import ComposerController
from ui.controllers.context import ContextController
from ui.controllers.navigation import SessionListController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn
from ui.notify import open_file
from ui.settings.writer import SettingsWriter
from ui.tasks import Task
from ui.widgets.buttons import ButtonText
from ui.widgets.formatting import plural

__all__ = ["ErrorActionController", "MessageController"]

LONG_TURNS = 3  # the fewest turns of an abandoned branch for which a summary is offered
_OPEN_CHAT = ButtonText("Open the chat", "Show the chat whose answer failed")
_SUMMARISE = ButtonText("Summarise them", "Let the model sum up the messages of the other version")
_SHOW_LATER = ButtonText("Show them", "Go back to the version with the later questions")
_HOOKS_ON_AGAIN = ButtonText("Undo", "Run your hook files again")
_BUSY = "An answer is on its way. Stop it first."
_NOTHING_TO_CONTINUE = "The last answer did not break off, so there is nothing to continue."
_OTHER_VERSION = "What the other version came to, as a summary"
_STORED = "kept with the chat, not sent to the model"
_SENT = "sent to the model in their place"
_PAGES = {
    "choose_model": "Models",
    "privacy_settings": "Privacy",
    "spending_settings": "Spending",
    "raise_limit": "Context",
    "lower_limit": "autoCompactThreshold",
}
_HOOKS_KEY = "hooks.enabled"
_HOOKS_OFF = "Your hook files are off."
_HOOKS_ON = "Your hook files are on again."
_PACKAGE_HOOK = "This hook is part of an installed package, and goes when that is removed."


class MessageController(ChatController):
    """Performs the actions on messages of the open chat. No action deletes anything."""

    def __init__(
        self,
        shared: Collaborators,
        session: SessionController,
        sessions: SessionListController,
        composer: ComposerController,
        context: ContextController,
        notes: SaveNoteController,
    ) -> None:
        super().__init__(shared, session)
        self._notes = notes
        self._transcript, self._notifier = self._frame.transcript, self._frame.notifier
        self._sessions = sessions
        self._composer, self._context = composer, context
        self._summaries: dict[str, str] = {}
        self._tell: Callable[[], None] | None = None
        session.loaded.connect(self._on_loaded)
        session.turn_ended.connect(self._on_turn_ended)
        context.add_action("summary", self._show_summary)
        context.add_action("before", self._continue_before)
        self._connect()

    def answer_again(self) -> None:
        """Regenerate the answer to the last user message."""
        if self._session.user_messages:
            last = list(self._session.user_messages)[-1]
            self.perform(MessageAction("again", last))

    def continue_answer(self) -> None:
        """Continue the last answer if it was interrupted."""
        if entry := self._transcript.find_broken_answer():
            self.perform(MessageAction("continue", entry))
        else:
            self._notifier.toast(_NOTHING_TO_CONTINUE)

    def perform(self, action: MessageAction) -> None:
        """Perform an action on a message."""
        session = self._session.session
        if action.kind == "saw":
            self._context.show_request_for(action.entry)
        elif session is None or action.kind in ("compare", "keep"):  # which others perform
            return
        elif action.kind == "note":
            self._notes.save(session, action.entry)
        elif action.kind == "branch":
            self._start(
                partial(self._assistant.branches.fork, session, action.entry), self._on_forked
            )
        elif self._session.is_running:
            self._notifier.toast(_BUSY)
            if action.kind == "edit":  # the editor was closed, and its text must not be lost
                self._transcript.edit(action.entry, action.text)
        else:
            self._change(session, action)

    def _connect(self) -> None:
        maker, sources = self._transcript.maker, self._frame.column.sources
        maker.citation_activated.connect(self._frame.navigation.show_note)
        maker.before_requested.connect(self._continue_before)
        maker.claims_wanted.connect(self._check_claims)
        maker.citation_pointed.connect(self._on_citation_pointed)
        maker.action_requested.connect(self.perform)
        maker.retry_requested.connect(self._on_retry)
        sources.place_chosen.connect(self._frame.navigation.show_note)
        sources.hovered.connect(self._transcript.mark_source)

    def _check_claims(self, shown: Answer, answer: TurnAnswer) -> None:
        """Check the claims of an older answer in a worker, and then show the line below it."""

        def show(report: ClaimReport) -> None:
            if isValid(shown):
                shown.claims.show_report(report)

        task = self._runner.call(lambda: answer.claims)
        task.yielded.connect(show)
        task.start()

    def _change(self, session: str, action: MessageAction) -> None:
        branches, entry, turns = self._assistant.branches, action.entry, self._session
        match action.kind:
            case "edit":
                self._tell_later(session, entry)
                turns.edit(entry, action.text, self._transcript.list_attachments(entry))
            case "again" | "continue":
                is_again = action.kind == "again"
                self._tell_later(session, entry)
                answer = turns.regenerate if is_again else turns.continue_answer
                answer(entry)
                self._frame.composer.setFocus()  # the answer whose button had the focus is gone
            case "ask":
                turns.ask(turns.address(Ask(action.text)))
            case "select":
                self._transcript.hold_versions(entry)
                self._start(partial(branches.select_leaf, session, entry), self._on_selected)
            case "pin" | "unpin":
                is_on = action.kind == "pin"
                self._start(partial(branches.pin, session, entry, is_on), self._on_changed)
            case "label":
                self._start(partial(branches.label, session, entry, action.text), self._on_changed)

    def _tell_later(self, session: str, entry: str) -> None:
        """Say how many later questions a new version hides, and offer to show them again.

        It is said once more when the version is complete, because that may take a while.

        Args:
            session: the session ID of the chat.
            entry: the entry ID of the message that gets another version.
        """
        later = self._transcript.list_later_questions(entry)
        if not later:
            self._tell = None
            return
        show = partial(self._assistant.branches.show_entry, session, later[-1])
        self._tell = partial(
            self._notifier.toast,
            f"{plural(len(later), 'later question')} stayed with the version before.",
            (_SHOW_LATER, lambda: self._show_version(session, show)),
            is_of_chat=True,
        )
        self._tell()

    def _show_version(self, session: str, show: Callable[[], object]) -> None:
        if self._session.is_running:
            self._notifier.toast(_BUSY)
        elif self._session.session == session:
            self._start(show, self._session.load)

    def _start(self, work: Callable[[], object], done: Callable[..., object]) -> Task:
        task = self._runner.call(work)
        task.yielded.connect(done)
        task.failed.connect(self._on_failed)
        return task.start()

    def _continue_before(self, entry: str) -> None:
        """Start a new chat with the messages of the open chat that precede a log entry.

        Args:
            entry: the ID of the entry, such as that of a compaction.
        """
        session, assistant = self._session.session, self._assistant
        if session is not None:
            self._start(
                lambda: assistant.branches.fork(
                    session, assistant.history.find_entry_before(session, entry), is_exact=True
                ),
                self._on_forked,
            )

    def _show_summary(self, entry: str) -> None:
        if entry in self._summaries:
            title = "Older messages, as a summary"
            self._transcript.show_aside(title, self._summaries[entry], _SENT)

    def _summarise(self, entry: str) -> None:
        self._notifier.toast("Summarising the other version…")
        session, assistant, model = self._session.session, self._assistant, self._session.model
        if session is None:
            return
        task = self._runner.stream(
            lambda token: iter([assistant.branches.summarise_branch(session, entry, token, model)])
        )
        show = partial(self._transcript.show_aside, _OTHER_VERSION, note=_STORED)
        task.yielded.connect(show)
        task.failed.connect(self._on_failed)
        task.start()

    def _on_loaded(self, transcript: ChatTranscript, _is_new: bool) -> None:
        items = [item for item in transcript.items if isinstance(item, SummaryItem)]
        self._summaries = {item.entry: item.summary for item in items}

    def _on_forked(self, session: str) -> None:
        self._sessions.refresh()
        self._frame.navigation.open_session(session)
        self._notifier.toast("Forked into a new chat.")

    def _on_selected(self, left: AbandonedBranch) -> None:
        """Show the version that the user has selected.

        If the branch that was shown before is long, offer to summarise it.

        Args:
            left: the branch that was shown before.
        """
        self._session.load()
        if left.entry is not None and left.turns >= LONG_TURNS:
            self._notifier.toast(
                f"{left.turns} turns of the other version stay as they are.",
                (_SUMMARISE, partial(self._summarise, left.entry)),
                is_of_chat=True,
            )

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        """Say what a new version hides, or that the turn of a chat that is not open has failed."""
        if self._tell is not None and self._session.is_open(turn):
            self._tell()
            self._tell = None
        failed = turn.result is None and turn.error is not None and turn.error.code != "cancelled"
        if failed and not self._session.is_open(turn):
            show = partial(self._frame.navigation.open_session, turn.session)
            sentence = f"The answer to “{turn.ask.question[:60]}” failed."
            self._notifier.toast(sentence, (_OPEN_CHAT, show))

    def _on_changed(self) -> None:
        self._session.load()

    def _on_citation_pointed(self, entry: str, number: int) -> None:
        is_listed = self._transcript.is_last_answer(entry)
        self._frame.column.sources.mark(number if is_listed else 0)

    def _on_retry(self) -> None:
        if self._session.is_unsent:
            self._composer.submit(self._frame.composer.text())
        else:
            self.answer_again()

    def _on_failed(self, error: Exception) -> None:
        self._notifier.toast(describe(error).message)


class ErrorActionController(ChatController):
    """Performs the actions that errors offer.

    Emits `hooks_switched` after hooks have been turned on or off.
    """

    hooks_switched = Signal()

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self._notifier = self._frame.notifier
        self._log: Path = self._assistant.paths.log_file
        self._writer = SettingsWriter(self._assistant, self._runner, self)
        self._writer.changed.connect(self._on_hooks_switched)
        self._writer.refused.connect(self._on_refused)
        self._frame.transcript.maker.error_action.connect(self.perform)

    def perform(self, name: str, info: ErrorInfo) -> None:
        """Perform an action that an error offers, given its name, such as `open_log`."""
        if name in _PAGES:
            self._frame.navigation.open_settings(_PAGES[name])
        elif name == "enter_key":
            self._frame.navigation.enter_key(self._find_key_owner(info))
        elif name == "choose_folder":
            self._frame.navigation.choose_folder()
        elif name == "turn_hooks_off":
            self._turn_hooks_off()
        elif name == "open_log":
            open_file(self._notifier, self._log)
        elif name == "copy_details":
            _copy(info)

    def _find_key_owner(self, info: ErrorInfo) -> str:
        """Return the provider or address whose API key an error is about.

        An empty string means the provider of the configured model.
        """
        if info.key_owner:
            return info.key_owner
        model = self._session.model
        return "" if model is None else self._assistant.model_setup.key_provider(model) or ""

    def _turn_hooks_off(self) -> None:
        """Disable the user's hook files. Hooks of installed packages cannot be disabled here."""
        if self._writer.value(_HOOKS_KEY):
            self._writer.set(_HOOKS_KEY, False)
        else:
            self._notifier.toast(_PACKAGE_HOOK)

    def _on_hooks_switched(self, _key: str) -> None:
        if self._writer.value(_HOOKS_KEY):
            self._notifier.toast(_HOOKS_ON)
        else:
            undo = partial(self._writer.set, _HOOKS_KEY, True)
            self._notifier.toast(_HOOKS_OFF, (_HOOKS_ON_AGAIN, undo))
        self.hooks_switched.emit()

    def _on_refused(self, _key: str, sentence: str) -> None:
        self._notifier.toast(sentence)


def _copy(info: ErrorInfo) -> None:
    details = "\n".join(filter(None, (info.code, info.message, info.word_hint())))
    QGuiApplication.clipboard().setText(details)
