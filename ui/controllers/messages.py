"""Actions of messages: edit, regenerate, fork, select a version, pin, label, summarise."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from app.assistant import Assistant
from app.errors import describe
from app.sessions.branches import AbandonedBranch
from app.sessions.transcript import ChatTranscript, SummaryItem
from chains.events import CompactionEnded
from ui.chat.message.tools import MessageAction
from ui.controllers.composer import ComposerController
from ui.controllers.context import ContextController
from ui.controllers.navigation import SessionListController
from ui.controllers.session import SessionController
from ui.frame import WindowFrame
from ui.tasks import Task, TaskRunner
from ui.widgets.figures import count, plural

__all__ = ["CompactionController", "MessageController"]

LONG_TURNS = 3  # the fewest turns of an abandoned branch for which a summary is offered
_BUSY = "An answer is on its way. Stop it first."
_NOTHING = "Nothing has been asked in this chat yet."
_BEGUN = "Summarising older messages…"
_OTHER_VERSION = "What the other version came to, as a summary"


class MessageController(QObject):
    """Performs the message actions in the open chat; none of them deletes anything."""

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        session: SessionController,
        sessions: SessionListController,
        composer: ComposerController,
        context: ContextController,
    ) -> None:
        super().__init__(session)
        self._assistant, self._runner = assistant, runner
        self._frame = frame
        self._transcript, self._notifier = frame.transcript, frame.notifier
        self._session, self._sessions = session, sessions
        self._composer, self._context = composer, context
        self._summaries: dict[str, str] = {}
        session.loaded.connect(self._on_loaded)
        context.add_action("summary", self._show_summary)
        context.add_action("before", self._continue_before)
        self._connect()

    def answer_again(self) -> None:
        """Regenerate the answer to the last user message."""
        if self._session.user_messages:
            last = list(self._session.user_messages)[-1]
            self.perform(MessageAction("again", last))

    def perform(self, action: MessageAction) -> None:
        """Perform an action of a message."""
        session = self._session.session
        if action.kind == "saw":
            self._context.show_request_for(action.entry)
        elif session is None:
            return
        elif action.kind == "branch":
            self._start(
                partial(self._assistant.branches.fork, session, action.entry), self._on_forked
            )
        elif self._session.is_running:
            self._notifier.toast(_BUSY)
        else:
            self._change(session, action)

    def _connect(self) -> None:
        maker, sources = self._transcript.maker, self._frame.column.sources
        maker.citation_activated.connect(self._frame.navigation.show_note)
        maker.citation_pointed.connect(self._on_citation_pointed)
        maker.action_requested.connect(self.perform)
        maker.retry_requested.connect(self._on_retry)
        sources.place_chosen.connect(self._frame.navigation.show_note)
        sources.hovered.connect(self._transcript.mark_source)

    def _change(self, session: str, action: MessageAction) -> None:
        branches, entry = self._assistant.branches, action.entry
        match action.kind:
            case "edit":
                self._session.edit(entry, action.text, self._transcript.list_attachments(entry))
            case "again":
                self._session.regenerate(entry)
            case "select":
                self._start(partial(branches.select_leaf, session, entry), self._on_selected)
            case "pin" | "unpin":
                is_on = action.kind == "pin"
                self._start(partial(branches.pin, session, entry, is_on), self._on_changed)
            case "label":
                self._start(partial(branches.label, session, entry, action.text), self._on_changed)

    def _start(self, work: Callable[[], object], done: Callable[..., object]) -> Task:
        task = self._runner.call(work)
        task.yielded.connect(done)
        task.failed.connect(self._on_failed)
        return task.start()

    def _continue_before(self, entry: str) -> None:
        """Fork a new chat that ends before an entry, such as a compaction."""
        session, assistant = self._session.session, self._assistant
        if session is not None:
            self._start(
                lambda: assistant.branches.fork(
                    session, assistant.history.entry_before(session, entry)
                ),
                self._on_forked,
            )

    def _show_summary(self, entry: str) -> None:
        """Show the summary written by a compaction in the transcript."""
        if entry in self._summaries:
            title = "Older messages, as a summary"
            self._transcript.show_aside(title, self._summaries[entry])

    def _summarise(self, entry: str) -> None:
        """Summarise the abandoned branch that an entry belongs to, and show the summary."""
        self._notifier.toast("Summarising the other version…")
        session, assistant, model = self._session.session, self._assistant, self._session.model
        if session is None:
            return
        task = self._runner.stream(
            lambda token: iter([assistant.branches.summarise_branch(session, entry, token, model)])
        )
        task.yielded.connect(partial(self._transcript.show_aside, _OTHER_VERSION))
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
        """Show the selected version, and offer to summarise the abandoned branch if it is long."""
        self._session.load()
        if left.turns >= LONG_TURNS:
            self._notifier.toast(
                f"{left.turns} turns of the other version stay as they are.",
                "Summarise them",
                partial(self._summarise, left.entry),
            )

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


class CompactionController(QObject):
    """Compacts the open chat on request and shows the result in a toast."""

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        session: SessionController,
        composer: ComposerController,
        context: ContextController,
    ) -> None:
        super().__init__(session)
        self._assistant, self._runner, self._session = assistant, runner, session
        self._notifier = frame.notifier
        self._task: Task | None = None
        composer.commands.compact_requested.connect(self.compact)
        context.add_action("compact", lambda _entry: self.compact())

    def compact(self, instructions: str = "") -> None:
        """Compact all turns of the open chat except the last one.

        Args:
            instructions: the user's instructions for the summary, such as a topic to keep.
        """
        session = self._session.session
        if self._task is not None:
            return
        if session is None or self._session.is_running:
            self._notifier.toast(_NOTHING if session is None else _BUSY)
            return
        compact, model = self._assistant.compact, self._session.model
        self._task = self._runner.stream(lambda token: compact(session, token, instructions, model))
        self._task.yielded.connect(self._on_event)
        self._task.failed.connect(self._on_failed)
        self._task.finished.connect(self._on_finished)
        self._notifier.toast(_BEGUN)
        self._task.start()

    def _on_event(self, event: object) -> None:
        if isinstance(event, CompactionEnded):
            self._notifier.toast(_describe_compaction(event.result))

    def _on_failed(self, error: Exception) -> None:
        self._notifier.toast(describe(error).message)

    def _on_finished(self) -> None:
        self._task = None
        self._session.load()


def _describe_compaction(result: Mapping[str, Any]) -> str:
    """Describe the result of a compaction in one sentence."""
    if result["entry"] is None:
        return "There is nothing to summarise before the last message."
    before, after = result["before_tokens"], result["after_tokens"]
    # The summary itself is one of the messages after the compaction.
    gone = plural(result["before_messages"] - result["after_messages"] + 1, "earlier message")
    if result["by"] == "outline":
        return f"{gone} became an outline, made without a model."
    return f"{gone} summarised · {count(before)} → {count(after)} tokens"
