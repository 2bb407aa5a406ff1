"""One chat as it is led: what is asked goes out, what is answered comes in, the panels follow.

This is the window's side of `Assistant.ask`: it starts the work, hands each event to the view that
it concerns, and asks for a new preview whenever something changed that the next request rests on.
"""

from collections.abc import Mapping
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.assistant import AskRequest, Assistant, Transcript, UserItem
from app.errors import ErrorInfo, describe
from chains.cancel import CancelToken
from chains.events import (
    AskResult,
    ContextPrepared,
    IndexProgressed,
    MessageEnded,
    Mode,
    Retrieved,
    Step,
    TextDelta,
    TurnEnded,
    Warned,
)
from context.layers import Segment
from ui.tasks import Task, TaskRunner

__all__ = ["Conversation", "Turn"]


class Turn(QObject):
    """One question on its way to its answer; it goes on when the user looks elsewhere.

    Attributes:
        view: which showing of a chat it was asked in; in a later one its text is not complete.
    """

    def __init__(
        self, question: str, session: str | None, view: int, task: Task, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.question = question
        self.session = session
        self.view = view
        self.task = task
        self.started_s = monotonic()
        self.result: AskResult | None = None
        self.error: ErrorInfo | None = None
        self.sources: tuple[Segment, ...] = ()
        self.context: Mapping[str, Any] | None = None


class Conversation(QObject):
    """The open chat.

    Signals name what happened; whoever shows it decides how.
    """

    turn_begun = Signal(object)
    step_begun = Signal(str, float)
    sources_found = Signal(object)
    context_prepared = Signal(object)
    text_arrived = Signal(str)
    warned = Signal(str)
    index_progressed = Signal(object)
    turn_ended = Signal(object)
    loaded = Signal(object)
    load_failed = Signal(object)
    session_changed = Signal(object)
    ended_elsewhere = Signal(object)

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner
        self._turns: list[Turn] = []
        self._view = 0
        self.session: str | None = None
        self.mode: Mode = "vault"
        self.model: str | None = None
        self.questions: dict[str, str] = {}
        self._step = ""
        self._ticker = QTimer(self, interval=100)
        self._ticker.timeout.connect(self._on_tick)

    @property
    def turn(self) -> Turn | None:
        """The turn that runs in the open chat."""
        return next((turn for turn in self._turns if self._is_shown(turn)), None)

    @property
    def is_whole(self) -> bool:
        """Whether the running turn was begun in this showing, so that its text can be followed."""
        return self.turn is not None and self._is_whole(self.turn)

    @property
    def is_running(self) -> bool:
        """Whether an answer is on its way in the open chat."""
        return self.turn is not None

    def ask(self, question: str) -> None:
        """Send a question, unless one is being answered here."""
        if self.is_running:
            return
        mode: Mode = self.mode if self._assistant.vault is not None else "chat"
        request = AskRequest(question, mode, self.model, self.session)
        task = self._runner.stream(lambda token: self._run(request, token))
        turn = Turn(question, self.session, self._view, task, self)
        self._turns.append(turn)
        for signal, slot in (
            (task.yielded, self._on_yielded),
            (task.failed, self._on_failed),
            (task.finished, self._on_finished),
        ):
            signal.connect(slot)
        self._step = "Searching…" if mode == "vault" else "Writing…"
        self.turn_begun.emit(turn)
        self._on_tick()
        self._ticker.start()
        task.start()

    def stop(self) -> None:
        """Stop the answer that is on its way here; what has arrived is kept."""
        if self.turn is not None:
            self.turn.task.cancel()

    def open(self, session: str | None) -> None:
        """Show another chat; None for one that has not begun.

        An answer that is on its way in the present chat goes on.
        """
        self._view += 1
        self.session = session
        self.questions = {}
        self._step = ""
        self.session_changed.emit(session)
        if session is not None:
            self.load()

    def load(self) -> None:
        """Read the open chat again."""
        session = self.session
        if session is None:
            return
        task = self._runner.call(lambda: (session, self._assistant.transcript(session)))
        task.yielded.connect(self._on_loaded)
        task.failed.connect(self._on_load_failed)
        task.start()

    def _run(self, request: AskRequest, token: CancelToken) -> Any:
        return self._assistant.ask(request, token)

    def _is_shown(self, turn: Turn) -> bool:
        return self._is_whole(turn) or turn.session == self.session is not None

    def _is_whole(self, turn: Turn) -> bool:
        return turn.view == self._view

    def _turn_of_sender(self) -> Turn | None:
        sender = self.sender()
        return next((turn for turn in self._turns if turn.task is sender), None)

    def _on_yielded(self, event: object) -> None:
        turn = self._turn_of_sender()
        if turn is None:
            return
        if isinstance(event, IndexProgressed):
            self.index_progressed.emit(event.progress)
        elif isinstance(event, TurnEnded):
            turn.result = event.result
        elif isinstance(event, Retrieved):
            turn.sources = event.segments
        elif isinstance(event, MessageEnded):
            self._note_entry(turn, event)
        elif isinstance(event, ContextPrepared):
            self._note_context(turn, event)
        if self._is_shown(turn):
            self._show(event, turn)

    def _note_context(self, turn: Turn, event: ContextPrepared) -> None:
        turn.context = event.report.to_dict()
        session = event.report.session
        if turn.session is None and session is not None:
            is_shown = self._is_shown(turn)
            turn.session = session
            if is_shown:
                self.session = session
                self.session_changed.emit(session)

    def _note_entry(self, turn: Turn, event: MessageEnded) -> None:
        if event.role == "user" and self._is_shown(turn):
            self.questions[event.entry_id] = turn.question

    def _show(self, event: object, turn: Turn) -> None:
        if isinstance(event, Step):
            self._step = event.text
            self._on_tick()
        elif isinstance(event, Retrieved):
            self.sources_found.emit(event.segments)
        elif isinstance(event, ContextPrepared):
            self.context_prepared.emit(turn.context)
        elif isinstance(event, TextDelta) and self._is_whole(turn):
            self.text_arrived.emit(event.text)
        elif isinstance(event, Warned):
            self.warned.emit(event.message)

    def _on_failed(self, error: Exception) -> None:
        turn = self._turn_of_sender()
        if turn is not None:
            turn.error = describe(error)
            if turn.session is None and turn.error.session is not None and self._is_shown(turn):
                self.session = turn.error.session
            turn.session = turn.session or turn.error.session

    def _on_finished(self) -> None:
        turn = self._turn_of_sender()
        if turn is None:
            return
        is_shown = self._is_shown(turn)
        self._turns.remove(turn)
        if turn.result is not None and turn.session is None:
            turn.session = turn.result.session
            if is_shown:
                self.session = turn.session
        if is_shown:
            self._ticker.stop()
            self.turn_ended.emit(turn)
            if not self._is_whole(turn):
                self.load()
        else:
            self.ended_elsewhere.emit(turn)
        turn.deleteLater()

    def _on_tick(self) -> None:
        turn = self.turn
        if turn is None:
            self._ticker.stop()
        elif self._step:
            self.step_begun.emit(self._step, monotonic() - turn.started_s)

    def _on_loaded(self, answer: tuple[str, Transcript]) -> None:
        session, transcript = answer
        if session != self.session:
            return
        self.questions = {
            item.entry: item.text for item in transcript.items if isinstance(item, UserItem)
        }
        self.loaded.emit(transcript)

    def _on_load_failed(self, error: Exception) -> None:
        self.load_failed.emit(describe(error))
