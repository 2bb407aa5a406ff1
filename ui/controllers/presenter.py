"""Between the conversation and what is seen of it: transcript, context, sources.

The message that is being written is the business of `drafting`, which request the context panel
shows that of `contexts`, what is wanted of single messages that of `branches`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from app.assistant import Assistant
from app.config.models import ModelChoice
from app.errors import ErrorInfo, describe
from app.sessions.transcript import AnswerItem, SummaryItem, Transcript, UserItem
from chains.events import CITES_NOTHING, AskResult
from context.layers import Segment
from ui.chat.composer.composer import Composer
from ui.chat.message.action import Wish
from ui.chat.transcript.transcript import Transcript as TranscriptView
from ui.controllers.compact import Compacting
from ui.controllers.composer import Drafting
from ui.controllers.context import Contexts, too_long
from ui.controllers.drafts import Drafts
from ui.controllers.error_actions import WaysOut
from ui.controllers.explain import Explaining
from ui.controllers.hook_switch import HookSwitch
from ui.controllers.messages import Branches
from ui.controllers.session import Conversation
from ui.controllers.turns import Turn
from ui.notify import Notifier, announce
from ui.panels.notes.sources import source_rows
from ui.panels.right_column import RightColumn
from ui.tasks import TaskRunner

__all__ = ["Presenter", "Views"]

_NO_SOURCES_YET = "Sources appear here with the answer."
_OTHER_VERSION = "What the other version came to, as a summary"


@dataclass(frozen=True)
class Views:
    """What shows a conversation."""

    composer: Composer
    transcript: TranscriptView
    column: RightColumn
    notifier: Notifier


class Presenter(QObject):
    """Keeps the views and one `Conversation` in step.

    Signals carry what the window has to do: `place_chosen` path and lines of a note,
    `link_chosen` a note's name, `settings_requested` a page, `panel_requested` to have the right
    column in sight, `chat_requested` a chat to open, None for a new one.
    """

    place_chosen = Signal(str, int, int)
    link_chosen = Signal(str)
    settings_requested = Signal(str)
    folder_requested = Signal()
    panel_requested = Signal()
    chats_changed = Signal()
    chat_requested = Signal(object)

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        talk: Conversation,
        views: Views,
        drafts: Drafts,
    ) -> None:
        super().__init__(talk)
        self._assistant = assistant
        self._runner = runner
        self._talk = talk
        self._views = views
        self._empty: tuple[int, str | None, Sequence[str]] = (0, None, ())
        self._failure: ErrorInfo | None = None
        self._is_unsent = False
        self._to_edit: tuple[str, str] | None = None
        self.drafting = Drafting(assistant, runner, talk, views.composer, drafts)
        self.contexts = Contexts(
            assistant,
            runner,
            views.column.context,
            self.drafting.draft,
            lambda: self._talk.questions,
        )
        self._branches = Branches(assistant, runner, talk)
        self.compacting = Compacting(assistant, runner, talk)
        self.explaining = Explaining(assistant, runner, talk, views.column.sources)
        self._summaries: dict[str, str] = {}
        hooks = HookSwitch(assistant, runner, views.notifier)
        hooks.switched.connect(self.contexts.refresh)
        self._ways_out = WaysOut(
            self.settings_requested.emit,
            self.folder_requested.emit,
            hooks.turn_off,
            assistant.paths.log_file,
        )
        self._connect_views()
        self._connect_talk()

    def set_empty(self, notes: int, indexed: str | None, questions: Sequence[str]) -> None:
        """Say what a chat that has not begun shows."""
        self._empty = (notes, indexed, questions)
        if self._talk.session is None and not self._views.transcript.feed.slots():
            self._views.transcript.show_empty(*self._empty)

    def load_models(self) -> None:
        """Fill the list of models; a server may be asked, so it happens in a task."""
        task = self._runner.call(self._assistant.model_choices)
        task.yielded.connect(self._on_models)
        task.failed.connect(self._on_quiet_failure)
        task.start()

    def answer_again(self) -> None:
        """Answer the last question once more."""
        if self._talk.questions:
            self._branches.grant(Wish("again", list(self._talk.questions)[-1]))

    def show_last_request(self) -> None:
        """Show what the model saw last."""
        self.contexts.show("last")
        self.panel_requested.emit()

    def _connect_views(self) -> None:
        transcript, column = self._views.transcript, self._views.column
        maker = transcript.maker
        maker.citation_activated.connect(self.place_chosen)
        maker.citation_pointed.connect(self._on_pointed)
        maker.link_activated.connect(self._on_link)
        maker.wished.connect(self._on_wished)
        maker.attachment_opened.connect(self.drafting.open_attachment)
        maker.retry_requested.connect(self._on_retry)
        maker.error_action.connect(self._on_error_action)
        maker.edit_closed.connect(self._views.composer.setFocus)
        transcript.question_chosen.connect(self.drafting.send)
        self._views.composer.last_requested.connect(transcript.edit_last)
        column.context.place_chosen.connect(self.place_chosen)
        column.sources.place_chosen.connect(self.place_chosen)
        column.sources.hovered.connect(transcript.mark_source)
        drafting, contexts, branches = self.drafting, self.contexts, self._branches
        drafting.changed.connect(self._on_draft_changed)
        drafting.place_chosen.connect(self.place_chosen)
        drafting.settings_requested.connect(self.settings_requested)
        drafting.commanding.shown.connect(transcript.show_aside)
        drafting.commanding.new_chat_requested.connect(self._on_new_chat)
        drafting.commanding.compact_requested.connect(self.compacting.start)
        contexts.prepared.connect(drafting.take_context)
        contexts.unknown.connect(lambda: self._views.composer.set_meter(None))
        contexts.grant("raise", lambda _entry: self.settings_requested.emit("Context"))
        contexts.grant("compact", lambda _entry: self.compacting.start())
        contexts.grant("summary", self._show_summary)
        contexts.grant("before", self._branches.continue_before)
        branches.left.connect(self._on_left)
        branches.summarised.connect(partial(transcript.show_aside, _OTHER_VERSION))
        self.compacting.said.connect(self._views.notifier.toast)
        self.compacting.done.connect(self._talk.load)
        contexts.pins_changed.connect(self._talk.load)
        contexts.failed.connect(self._views.notifier.toast)
        branches.branched.connect(self._on_branched)
        branches.saw_requested.connect(self._on_saw)
        branches.failed.connect(self._views.notifier.toast)

    def _connect_talk(self) -> None:
        talk, live = self._talk, self._views.transcript.live
        talk.turn_begun.connect(self._on_turn_begun)
        talk.question_stored.connect(live.place_question)
        talk.step_begun.connect(live.show_step)
        talk.tool_begun.connect(live.begin_tool)
        talk.tool_ended.connect(live.end_tool)
        talk.sources_found.connect(live.show_sources)
        talk.context_prepared.connect(self.contexts.show_sent)
        talk.text_arrived.connect(live.append)
        talk.warned.connect(self._views.notifier.toast)
        talk.turn_ended.connect(self._on_turn_ended)
        talk.session_changed.connect(self._on_session_changed)
        talk.loaded.connect(self._on_loaded)
        talk.refreshed.connect(self._on_refreshed)
        talk.load_failed.connect(self._on_load_failed)
        talk.ended_elsewhere.connect(self._on_ended_elsewhere)

    def _on_draft_changed(self, is_now: bool) -> None:
        if self._views.composer.text().strip() and self._views.column.context.which != "next":
            self.contexts.show("next")
        self.contexts.refresh(now=is_now)

    def _on_models(self, choices: Sequence[ModelChoice]) -> None:
        self._views.transcript.set_models(choices)
        self.drafting.set_models(choices)

    def _on_turn_begun(self, turn: Turn) -> None:
        asked = turn.asked
        self._views.composer.clear_error()
        self._views.composer.set_running(True)
        self._views.transcript.begin_turn(
            asked.question, asked.attached, instead=asked.instead, is_again=asked.is_again
        )
        self._views.column.sources.show_rows((), _NO_SOURCES_YET)

    def _on_turn_ended(self, turn: Turn) -> None:
        self._views.composer.set_running(False)
        if turn.result is not None:
            self._show_answer(turn.result, turn.sources)
        else:
            self._show_failure(turn, turn.error)
        self.chats_changed.emit()
        self.contexts.refresh()

    def _show_answer(self, result: AskResult, sources: Sequence[Segment]) -> None:
        rows = source_rows(result.citations, result.unverified, sources)
        self._views.transcript.live.finish(result, sources)
        self._views.column.sources.show_rows(rows, CITES_NOTHING)
        self.contexts.show_sent(result.context)
        announce(self._views.transcript, f"Answer finished, {len(rows)} sources")

    def _show_failure(self, turn: Turn, info: ErrorInfo | None) -> None:
        """Say why there is no answer; what was not sent comes back to where it was written."""
        is_cancelled = info is None or info.code == "cancelled"
        self._is_unsent = not turn.is_stored
        if not turn.is_stored:
            self._give_back(turn)
        if info is not None and not is_cancelled:
            self._failure = info
            announce(self._views.transcript, info.message, is_urgent=True)
        if info is not None and info.code == "context_overflow" and not turn.is_stored:
            self.drafting.show_overflow(too_long(info), info.context)
        elif info is not None and not is_cancelled:
            self._views.transcript.live.fail(info, is_stored=turn.is_stored)
            return
        self._views.transcript.live.forget()

    def _give_back(self, turn: Turn) -> None:
        if turn.asked.instead:
            self._to_edit = (turn.asked.instead, turn.question)
        else:
            self.drafting.restore(turn)

    def _on_session_changed(self, session: str | None) -> None:
        if self._talk.is_running and self._talk.is_whole:
            if session is not None:
                self.drafting.begun(session)
            return
        self._views.composer.set_running(self._talk.is_running)
        self._views.column.sources.show_rows((), _NO_SOURCES_YET)
        self.drafting.open(session)
        self.contexts.forget()
        if session is None:
            self._views.transcript.show_empty(*self._empty)
        self.contexts.refresh()

    def _on_loaded(self, transcript: Transcript) -> None:
        self._views.transcript.load(transcript)
        self._show_empty()
        asked = [item for item in transcript.items if isinstance(item, UserItem)]
        if asked and asked[-1].mode is not None:
            self.drafting.set_mode(asked[-1].mode)
        self._show_path(transcript)
        self.contexts.refresh()

    def _on_refreshed(self, transcript: Transcript) -> None:
        self._views.transcript.refresh(transcript)
        self._show_empty()
        if not self._talk.is_running:
            self._show_path(transcript)
            self.contexts.refresh()
        if self._to_edit is not None:
            self._views.transcript.edit(*self._to_edit)
            self._to_edit = None

    def _show_empty(self) -> None:
        """Show the empty state for a chat whose questions all came back unsent."""
        if not self._views.transcript.feed.slots():
            self._views.transcript.show_empty(*self._empty)

    def _show_path(self, transcript: Transcript) -> None:
        """Show what belongs to the last answer of the path that is open."""
        summed = [item for item in transcript.items if isinstance(item, SummaryItem)]
        self._summaries = {item.entry: item.summary for item in summed}
        answers = [item for item in transcript.items if isinstance(item, AnswerItem)]
        if answers:
            last = answers[-1]
            rows = source_rows(last.citations, last.unverified, last.sources)
            self._views.column.sources.show_rows(rows, CITES_NOTHING)
        if self._talk.session is not None:
            self.contexts.look_back(self._talk.session)

    def _show_summary(self, entry: str) -> None:
        if entry in self._summaries:
            self._views.transcript.show_aside(
                "Older messages, as a summary", self._summaries[entry]
            )

    def _on_left(self, entry: str, turns: int) -> None:
        """Offer a summary of a long branch that was just left."""
        self._views.notifier.toast(
            f"{turns} turns of the other version stay as they are.",
            "Summarise them",
            partial(self._summarise, entry),
        )

    def _summarise(self, entry: str) -> None:
        self._views.notifier.toast("Summarising the other version…")
        self._branches.summarise(entry)

    def _on_load_failed(self, info: ErrorInfo) -> None:
        self._views.composer.show_error(info.message, ())

    def _on_ended_elsewhere(self, turn: Turn) -> None:
        self.chats_changed.emit()
        if turn.error is not None and turn.error.code != "cancelled":
            if not turn.is_stored:
                self._give_back(turn)
            self._views.notifier.toast(f"The answer to “{turn.question[:60]}” failed.")

    def _on_wished(self, wish: Wish) -> None:
        self._branches.grant(wish, self._views.transcript.attached_to(wish.entry))

    def _on_branched(self, session: str) -> None:
        self.chats_changed.emit()
        self.chat_requested.emit(session)
        self._views.notifier.toast("This is a chat of its own now. The first one is as it was.")

    def _on_saw(self, entry: str) -> None:
        if self._talk.session is None:
            return
        if self._views.transcript.is_last_answer(entry):
            self.contexts.show("last")
        else:
            self.contexts.look_back(self._talk.session, entry)
        self.panel_requested.emit()

    def _on_new_chat(self) -> None:
        self.chat_requested.emit(None)

    def _on_pointed(self, entry: str, number: int) -> None:
        is_listed = self._views.transcript.is_last_answer(entry)
        self._views.column.sources.mark(number if is_listed else 0)

    def _on_retry(self) -> None:
        if self._is_unsent:
            self.drafting.submit(self._views.composer.text())
        else:
            self.answer_again()

    def _on_link(self, address: str) -> None:
        if address.startswith("note:"):
            self.link_chosen.emit(address.removeprefix("note:"))
        else:
            QDesktopServices.openUrl(QUrl(address))

    def _on_error_action(self, name: str) -> None:
        self._ways_out.take(name, self._failure)

    def _on_quiet_failure(self, error: Exception) -> None:
        self._views.notifier.toast(describe(error).message)
