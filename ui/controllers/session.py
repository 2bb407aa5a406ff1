"""Open a chat, run turns in it, and show the events of the running turn.

`SessionController.take_event` receives every event of a turn and shows it in the transcript. The
controllers of other views receive the events through the signal `event_arrived`. Their bases are
`Controller`, and `ChatController` for those that work with the open chat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app.assistant import Assistant
from app.errors import ErrorInfo, describe
from app.sessions.transcript import AnswerItem, ChatTranscript, UserItem
from chains.citations.answer_sources import list_cited_sources
from chains.events import AskResult, MessageEnded, Mode, Warned
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from context.layers import Segment
from ui.chat.composer.attachment import Attachment
from ui.controllers.turns import (
    FIRST_STEPS,
    ChatTurn,
    StartTurn,
    attach_to,
    list_attachments,
    show_live_event,
)
from ui.frame import WindowFrame
from ui.notify import announce
from ui.panels.notes.sources import describe_no_sources
from ui.tasks import TaskRunner
from ui.widgets.texts import word_message

__all__ = ["ChatController", "Collaborators", "Controller", "SessionController"]

_NO_SOURCES_YET = "Sources appear here with the answer."
_MOST_CHECK_S: Final = 0.3


@dataclass(frozen=True)
class Collaborators:
    """What every controller of a window works with.

    Attributes:
        assistant: the application's use-cases.
        runner: runs the slow calls of the assistant.
        frame: the views of the main window.
    """

    assistant: Assistant
    runner: TaskRunner
    frame: WindowFrame


class Controller(QObject):
    """Connects views of a window to the assistant.

    Args:
        parent: the Qt parent, if it is not the window.
    """

    def __init__(self, shared: Collaborators, parent: QObject | None = None) -> None:
        super().__init__(parent or shared.frame.window)
        self._assistant, self._runner, self._frame = shared.assistant, shared.runner, shared.frame


class SessionController(Controller):
    """Runs turns in the open chat and shows them in the transcript.

    Signals:
        turn_begun: emitted with the `ChatTurn` when a turn has started.
        turn_ended: emitted with the `ChatTurn` when it has ended, even if its chat is not open.
        event_arrived: emitted with the `ChatTurn` and each of its events.
        session_changed: emitted with the open chat's new session ID, or None for a new chat.
        loaded: emitted with a loaded transcript, and whether its chat was newly opened.

    Attributes:
        project: the open chat's project, or None if the chat belongs to no project.
        user_messages: the texts of the open chat's user messages, by entry ID.
        is_unsent: whether the message of the last failed turn was put back into the composer.
    """

    turn_begun = Signal(object)
    event_arrived = Signal(object, object)
    turn_ended = Signal(object)
    session_changed = Signal(object)
    loaded = Signal(object, bool)

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self._composer, self._transcript = self._frame.composer, self._frame.transcript
        self._turns: list[ChatTurn] = []
        self._view = 1
        self.session: str | None = None
        self.mode: Mode = "vault"
        self.model: str | None = None
        self.project: str | None = None
        self.user_messages: dict[str, str] = {}
        self._empty: tuple[int, str | None, Sequence[str], bool] = (0, None, (), False)
        self.is_unsent = False
        self._unsent_edit: tuple[str, str] | None = None
        self._step = ""
        self._ticker = QTimer(self, interval=100)
        self._ticker.timeout.connect(self._show_step)

    @property
    def turn(self) -> ChatTurn | None:
        """The turn running in the open chat, or None if no turn is running there."""
        return next((turn for turn in self._turns if self.is_open(turn)), None)

    @property
    def is_running(self) -> bool:
        """Whether a turn is running in the open chat."""
        return self.turn is not None

    @property
    def is_followed(self) -> bool:
        """Whether a turn is running in the open chat and its events are shown."""
        return self.turn is not None and self._is_followed(self.turn)

    @property
    def mode_in_force(self) -> Mode:
        """The mode of the next turn.

        This is the chosen mode, except that `chat` is used if neither a vault nor a project is
        open, and `vault` is used instead of `project` if the chat has no project.
        """
        if self._assistant.vault is None and self.project is None:
            return "chat"
        return "vault" if self.mode == "project" and self.project is None else self.mode

    def address(self, ask: Ask) -> Ask:
        """Return what is asked in the open chat, with the mode and model of its next turn."""
        return replace(ask, mode=self.mode_in_force, model=self.model, session=self.session)

    def list_running(self) -> Mapping[str, str]:
        """Return the state of each running turn, by the session ID of the chat."""
        return {turn.session: turn.state for turn in self._turns if turn.session is not None}

    def is_open(self, turn: ChatTurn) -> bool:
        """Return whether a turn belongs to the open chat."""
        return self._is_followed(turn) or turn.session == self.session is not None

    def ask(self, ask: Ask) -> None:
        """Ask in the chat that `ask` names, unless a turn is running there.

        A turn in a chat that is not open runs without being shown.
        """
        self._start(ask, partial(self._assistant.ask, ask))

    def edit(self, entry: str, text: str, attached: tuple[Attachment, ...]) -> None:
        """Replace the user message `entry` with an edited one. The previous version is kept."""
        if self.session is None:
            return
        ask = attach_to(self.address(Ask(text)), attached)
        self._start(
            ask,
            partial(
                self._assistant.edit, self.session, entry, text, model=ask.model, mode=ask.mode
            ),
            instead=entry,
        )

    def regenerate(self, entry: str, model: str | None = None) -> None:
        """Regenerate the answer `entry`, optionally with another model. The old answer is kept."""
        if self.session is None:
            return
        ask = self.address(Ask(self.user_messages.get(entry, "")))
        model = model or ask.model
        start = partial(self._assistant.regenerate, self.session, entry, model=model)
        self._start(replace(ask, model=model), start, instead=entry, is_again=True)

    def continue_answer(self, entry: str) -> None:
        """Continue the last answer, which was interrupted. New text is appended to it."""
        session = self.session
        if session is None:
            return
        ask = self.address(Ask(next(reversed(self.user_messages.values()), "")))
        run = self._assistant.runner.continue_answer
        self._start(
            ask,
            lambda token: run(session, entry, ask.model, token),
            is_again=True,
            continues=entry,
        )

    def stop(self) -> None:
        """Stop the running turn. The text that has arrived is kept."""
        if self.turn is not None:
            self.turn.task.cancel()

    def open(self, session: str | None) -> None:
        """Open another chat, or a new one if `session` is None. A running turn continues."""
        self._view += 1
        self.session = session
        self.project = None
        self.user_messages = {}
        self._step = ""
        self._composer.set_running(self.is_running)
        self._frame.column.sources.show_rows((), _NO_SOURCES_YET)
        if session is None:
            self._frame.middle.set_title("")
            self._show_empty()
        self._frame.notifier.leave_chat()
        self.session_changed.emit(session)
        if session is not None:
            self.load(is_new=True)

    def load(self, *, is_new: bool = False) -> None:
        """Load the open chat. `is_new` is True if another chat was shown before."""
        session = self.session
        if session is None:
            return
        task = self._runner.call(partial(self._read, session, is_new))
        task.yielded.connect(self._on_loaded)
        task.failed.connect(self._on_load_failed)
        task.start()

    def _read(self, session: str, is_new: bool) -> tuple[str, bool, ChatTranscript]:
        """Read a chat in a worker, and check the claims of its last answers, as far as time goes.

        Those of the other answers are checked when they come into view.
        """
        found = self._assistant.history.transcript(session)
        end = monotonic() + _MOST_CHECK_S
        for item in reversed(found.items):
            if isinstance(item, AnswerItem) and monotonic() < end:
                _ = item.answer.claims
        return session, is_new, found

    def show_suggestions(
        self, notes: int, indexed: str | None, questions: Sequence[str], is_bare: bool
    ) -> None:
        """Set the content of an empty chat. The arguments are those of `Transcript.show_empty`."""
        self._empty = (notes, indexed, questions, is_bare)
        if self.session is None and not self._transcript.feed.slots():
            self._show_empty()

    def refresh_empty(self) -> None:
        """Update the page of an empty chat after its project was renamed."""
        if not self._transcript.feed.slots():
            self._show_empty()

    def _show_empty(self) -> None:
        """Show an empty chat. If it belongs to a project, show the project's name."""
        if self.project is None:
            self._transcript.show_empty(*self._empty)
        else:
            title = self._assistant.projects.find_title(self.project)
            self._transcript.show_empty_project(title)

    def _start(
        self,
        ask: Ask,
        start: StartTurn,
        *,
        instead: str = "",
        is_again: bool = False,
        continues: str = "",
    ) -> None:
        """Start a turn. The arguments are those of `ChatTurn`."""
        is_open = ask.session == self.session
        if is_open and self.is_running:
            return
        task, view = self._runner.stream(start), self._view if is_open else 0
        turn = ChatTurn(
            ask, view, task, self, instead=instead, is_again=is_again, continues=continues
        )
        self._turns.append(turn)
        task.yielded.connect(partial(self.take_event, turn))
        task.failed.connect(partial(self._on_failed, turn))
        task.finished.connect(partial(self._on_finished, turn))
        if is_open:
            self._show_start(turn)
            self.turn_begun.emit(turn)
            self._step = FIRST_STEPS[self.mode_in_force]
            self._show_step()
            self._ticker.start()
        task.start()

    def _show_start(self, turn: ChatTurn) -> None:
        if turn.session is None:
            self._frame.middle.set_title(turn.ask.question)
        self._composer.clear_error()
        self._composer.set_running(True)
        self._show_question(turn)
        self._frame.column.sources.show_rows((), _NO_SOURCES_YET)

    def _show_question(self, turn: ChatTurn) -> None:
        """Show a turn's message, with an empty answer, unless the message is already shown."""
        self._transcript.begin_turn(
            turn.ask.question,
            list_attachments(turn.ask),
            instead="" if turn.continues else turn.entry or turn.instead,
            is_again=turn.is_again or bool(turn.entry),
            continues=turn.continues,
        )

    def _is_followed(self, turn: ChatTurn) -> bool:
        return turn.view == self._view

    def take_event(self, turn: ChatTurn, event: object) -> None:
        """Show an event of a turn if its chat is open, then emit `event_arrived`."""
        if self._is_followed(turn):
            self._show_live(turn, event)
        if isinstance(event, Warned) and self.is_open(turn):
            self._show_warning(event)
        self._record(turn, event)
        self.event_arrived.emit(turn, event)

    def _show_warning(self, warned: Warned) -> None:
        is_elsewhere = warned.is_reason or warned.is_offer or bool(warned.blind_model)
        if not is_elsewhere:  # which are shown in their own places
            self._frame.notifier.show_toast_once(warned.message, warned.topic)

    def _show_live(self, turn: ChatTurn, event: object) -> None:
        step = show_live_event(event, turn, self._transcript.live)
        if step and step != self._step:
            self._show_step(step)

    def _resume(self, turn: ChatTurn) -> None:
        """Show a running turn in its reopened chat, with everything that has arrived so far."""
        self._show_question(turn)
        turn.view, self._step = self._view, FIRST_STEPS[self.mode_in_force]
        for event in turn.events:
            self._show_live(turn, event)
        self._show_step()
        self._ticker.start()

    def _record(self, turn: ChatTurn, event: object) -> None:
        """Record an event in its turn. If it stores a new chat, emit `session_changed`."""
        is_open, had_session = self.is_open(turn), turn.session is not None
        turn.record(event)
        if not is_open:
            return
        if not had_session and turn.session is not None:
            self.session = turn.session
            self.session_changed.emit(turn.session)
        if isinstance(event, MessageEnded) and event.role == "user":
            self.user_messages[event.entry_id] = turn.ask.question
            if self._is_followed(turn):
                self._transcript.live.place_question(event.entry_id)

    def _show_step(self, text: str = "") -> None:
        """Show a new step of the turn. If the text is empty, update the elapsed time only."""
        self._step = text or self._step
        turn = self.turn
        if turn is None:
            self._ticker.stop()
        elif self._step:
            step = turn.count_down(self._step)
            self._transcript.live.show_step(step, turn.elapsed_s, is_paused=turn.is_waiting)

    def _on_failed(self, turn: ChatTurn, error: Exception) -> None:
        is_open = self.is_open(turn)
        turn.record_failure(error)
        if is_open:
            self.session = self.session or turn.session

    def _on_finished(self, turn: ChatTurn) -> None:
        is_open = self.is_open(turn)
        self._turns.remove(turn)
        if is_open:
            self._ticker.stop()
            self._composer.set_running(False)
            if turn.result is not None:
                self._show_answer(turn.result, turn.sources)
            else:
                self._show_failure(turn, turn.error)
        elif turn.error is not None and turn.error.code != "cancelled":
            self._keep_unsent_edit(turn)
        self.turn_ended.emit(turn)
        if is_open:
            self.load(is_new=not self._is_followed(turn))
        turn.deleteLater()

    def _show_answer(self, result: AskResult, sources: Sequence[Segment]) -> None:
        answer, checked = result.answer, result.answer.checked
        rows = list_cited_sources(answer.citations, checked.unverified, sources)
        self._transcript.live.finish(result, sources)
        if answer.model == EXTRACTIVE:  # it came all at once, so its beginning was never in view
            self._transcript.show_question()
        self._frame.column.sources.show_rows(
            rows,
            describe_no_sources(answer.model),
            answer.searched_by,
            answer.claims.coverage.describe(),
        )
        announce(self._transcript, f"Answer finished, {len(rows)} sources")

    def _show_failure(self, turn: ChatTurn, info: ErrorInfo | None) -> None:
        """Show the error of a turn that ended without an answer, unless it was cancelled."""
        self._keep_unsent_edit(turn)
        self.is_unsent = not turn.is_stored
        if self.is_unsent and self.session is None:
            self._frame.middle.set_title("")
        live = self._transcript.live
        if info is None or info.code == "cancelled":
            live.forget()
            return
        announce(self._transcript, word_message(info), is_urgent=True)
        if info.code == "context_overflow" and not turn.is_stored:
            live.forget()  # the composer shows the error
        else:
            live.fail(info, is_stored=turn.is_stored)

    def _keep_unsent_edit(self, turn: ChatTurn) -> None:
        """Store the text of an edit that was not sent, so that the user can continue editing it."""
        if not turn.is_stored and turn.instead:
            self._unsent_edit = (turn.instead, turn.ask.question)

    def _on_loaded(self, answer: tuple[str, bool, ChatTranscript]) -> None:
        session, is_new, transcript = answer
        if session != self.session or self.is_followed:
            return
        self.project = transcript.project
        self.user_messages = {
            item.entry: item.text for item in transcript.items if isinstance(item, UserItem)
        }
        if is_new:
            self._transcript.load(transcript)
            self._frame.middle.set_title(transcript.title)
            if self.turn is None:
                self._transcript.show_unanswered(transcript)
            else:
                self.turn.find_entry(transcript)
                self._resume(self.turn)
        else:
            self._transcript.refresh(transcript)
        if not self._transcript.feed.slots():  # all user messages were returned unsent
            self._show_empty()
        if is_new or not self.is_running:
            self._show_sources(transcript)
        if self._unsent_edit is not None and not is_new:
            self._transcript.edit(*self._unsent_edit)
            self._unsent_edit = None
        self.loaded.emit(transcript, is_new)

    def _show_sources(self, transcript: ChatTranscript) -> None:
        """Show the sources of the chat's last answer, unless the welcome page hides the chat."""
        if not self._frame.middle.is_chat_shown:
            return
        if answers := [item for item in transcript.items if isinstance(item, AnswerItem)]:
            last = answers[-1].answer
            rows = list_cited_sources(last.citations, last.checked.unverified, last.sources)
            empty_text = describe_no_sources(last.model) if last.text else _NO_SOURCES_YET
            covered = last.claims.coverage.describe()
            self._frame.column.sources.show_rows(rows, empty_text, last.searched_by, covered)

    def _on_load_failed(self, error: Exception) -> None:
        self._composer.show_error(describe(error).message, ())


class ChatController(Controller):
    """A controller that works with the open chat."""

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self._session = session
