"""One chat as it is led: what is asked goes out, what is answered comes in, the panels follow.

This is the window's side of `Assistant.ask`, `edit` and `regenerate`: it starts the work and hands
each event to the view that it concerns.
"""

from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal

from app.assistant import Assistant
from app.errors import describe
from app.sessions.ask import AskRequest
from app.sessions.transcript import Transcript, UserItem
from chains.events import (
    ContextPrepared,
    IndexProgressed,
    MessageEnded,
    Mode,
    ReadingPart,
    Retrieved,
    Step,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Warned,
)
from ui.chat.composer.attachment import Attachment
from ui.chat.message.step_words import StepView, doing
from ui.controllers.turns import Asked, Begin, Turn, paths_of, selections_of
from ui.tasks import TaskRunner

__all__ = ["Conversation"]

_FIRST_STEPS = {"vault": "Searching…", "agent": "Thinking…", "chat": "Writing…"}


class Conversation(QObject):
    """The open chat.

    Signals name what happened; whoever shows it decides how.
    """

    turn_begun = Signal(object)
    question_stored = Signal(str)
    step_begun = Signal(str, float)
    sources_found = Signal(object)
    context_prepared = Signal(object)
    text_arrived = Signal(str)
    tool_begun = Signal(object)
    tool_ended = Signal(object)
    warned = Signal(str)
    index_progressed = Signal(object)
    turn_ended = Signal(object)
    loaded = Signal(object)
    refreshed = Signal(object)
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

    @property
    def mode_in_force(self) -> Mode:
        """How the next question is asked; without notes a model can only be talked to."""
        return self.mode if self._assistant.vault is not None else "chat"

    def ask(
        self, question: str, attached: tuple[Attachment, ...] = (), reads_whole: bool = False
    ) -> None:
        """Send a question, unless one is being answered here."""
        request = AskRequest(
            question,
            self.mode_in_force,
            self.model,
            self.session,
            attach=paths_of(attached),
            selections=selections_of(attached),
            reads_whole=reads_whole,
        )
        asked = Asked(question, attached, reads_whole=reads_whole)
        self._begin(asked, lambda token: self._assistant.ask(request, token))

    def edit(self, entry: str, question: str, attached: tuple[Attachment, ...]) -> None:
        """Ask a question of the open chat in other words; the first ones are kept beside them."""
        session, model, mode = self.session, self.model, self.mode_in_force
        if session is not None:
            self._begin(
                Asked(question, attached, instead=entry),
                lambda token: self._assistant.edit(
                    session, entry, question, token, model=model, mode=mode
                ),
            )

    def regenerate(self, entry: str) -> None:
        """Answer a question of the open chat once more; the first answer is kept beside the new."""
        session, model = self.session, self.model
        if session is not None:
            self._begin(
                Asked(self.questions.get(entry, ""), instead=entry, is_again=True),
                lambda token: self._assistant.regenerate(session, entry, token, model=model),
            )

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
            self.load(is_new=True)

    def load(self, *, is_new: bool = False) -> None:
        """Read the open chat; `is_new` where it was not shown before."""
        session = self.session
        if session is None:
            return
        task = self._runner.call(lambda: (session, is_new, self._assistant.transcript(session)))
        task.yielded.connect(self._on_loaded)
        task.failed.connect(self._on_load_failed)
        task.start()

    def _begin(self, asked: Asked, begin: Begin) -> None:
        if self.is_running:
            return
        task = self._runner.stream(begin)
        turn = Turn(asked, self.session, self._view, task, self)
        self._turns.append(turn)
        for signal, slot in (
            (task.yielded, self._on_yielded),
            (task.failed, self._on_failed),
            (task.finished, self._on_finished),
        ):
            signal.connect(slot)
        self._step = _FIRST_STEPS[self.mode_in_force]
        self.turn_begun.emit(turn)
        self._on_tick()
        self._ticker.start()
        task.start()

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

    def _note_entry(self, turn: Turn, event: MessageEnded) -> None:
        if event.role != "user":
            return
        turn.is_stored = True
        is_shown = self._is_shown(turn)
        if turn.session is None:
            turn.session = event.session
            if is_shown:
                self.session = event.session
                self.session_changed.emit(event.session)
        if is_shown:
            self.questions[event.entry_id] = turn.question
            if self._is_whole(turn):
                self.question_stored.emit(event.entry_id)

    def _show(self, event: object, turn: Turn) -> None:
        match event:
            case Step() | ReadingPart():
                self._say(event.text)
            case Retrieved():
                self.sources_found.emit(event.segments)
            case ContextPrepared():
                self.context_prepared.emit(turn.context)
            case Warned():
                self.warned.emit(event.message)
            case TextDelta() | ToolStarted() | ToolEnded() if self._is_whole(turn):
                self._show_growth(event)

    def _show_growth(self, event: TextDelta | ToolStarted | ToolEnded) -> None:
        """Show what only who has seen the turn from its start can put together."""
        if isinstance(event, TextDelta):
            self.text_arrived.emit(event.text)
        elif isinstance(event, ToolStarted):
            self.tool_begun.emit(event)
            self._say(doing(StepView(event.id, event.name, event.arguments)))
        else:
            self.tool_ended.emit(event)

    def _say(self, step: str) -> None:
        self._step = step
        self._on_tick()

    def _on_failed(self, error: Exception) -> None:
        turn = self._turn_of_sender()
        if turn is not None:
            turn.error = describe(error)
            turn.is_stored = turn.is_stored and not turn.error.is_taken_back
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
            self.load(is_new=not self._is_whole(turn))
        else:
            self.ended_elsewhere.emit(turn)
        turn.deleteLater()

    def _on_tick(self) -> None:
        turn = self.turn
        if turn is None:
            self._ticker.stop()
        elif self._step:
            self.step_begun.emit(self._step, monotonic() - turn.started_s)

    def _on_loaded(self, answer: tuple[str, bool, Transcript]) -> None:
        session, is_new, transcript = answer
        if session != self.session or self.is_whole:
            return
        self.questions = {
            item.entry: item.text for item in transcript.items if isinstance(item, UserItem)
        }
        (self.loaded if is_new else self.refreshed).emit(transcript)

    def _on_load_failed(self, error: Exception) -> None:
        self.load_failed.emit(describe(error))
