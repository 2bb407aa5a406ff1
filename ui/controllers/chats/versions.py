"""Compare two versions of an answer side by side, or get another version from another model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Final

from PySide6.QtCore import Signal

from app.config.models import ModelChoice, name_model
from app.errors import describe
from app.sessions.transcript import AnswerItem
from ui.chat.message.answer import Answer
from ui.chat.message.tools import MessageAction
from ui.chat.transcript.widgets import MessageMaker
from ui.chat.versions import VersionsDialog
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn, show_event
from ui.tasks import LatestOnly

__all__ = ["VersionsController"]

_VERSION, _MODEL = "version:", "model:"
_BUSY: Final = "An answer is on its way. Stop it first."
_NOTHING: Final = "There is no answer in this chat yet."


class VersionsController(ChatController):
    """Lets the user compare two versions of an answer, and activates the chosen one.

    When the user chooses another model, its answer becomes a new version, as with "Answer again".
    The answer is streamed into both the dialog and the chat behind it. It continues if the dialog
    is closed.

    Emits `kept` with the entry ID of the version that the user has kept after `ask_again`.
    """

    kept = Signal(str)

    def __init__(self, shared: Collaborators, session: SessionController) -> None:
        super().__init__(shared, session)
        self._item: AnswerItem | None = None
        self._chat: str | None = None  # the chat of the answer
        self._other = ""
        self._turn: ChatTurn | None = None
        self._kept = ""
        self._is_asked_again = False
        self._names: Mapping[str, ModelChoice] = {}
        self._writers: dict[str, str] = {}
        self._models = LatestOnly(self._runner, 0, self)
        self._models.answered.connect(self._on_models)
        self._maker = MessageMaker(self)
        self._maker.citation_activated.connect(self._on_citation)
        self._maker.link_activated.connect(self._frame.transcript.maker.link_activated)
        self._maker.embed_wanted.connect(self._frame.transcript.maker.embed_wanted)
        self._maker.task_pressed.connect(self._frame.transcript.maker.task_pressed)
        self._maker.claims_wanted.connect(self._frame.transcript.maker.claims_wanted)
        self._frame.transcript.maker.action_requested.connect(self._on_action)
        session.turn_begun.connect(self._on_turn_begun)
        session.event_arrived.connect(self._on_event)
        session.turn_ended.connect(self._on_turn_ended)

    @cached_property
    def _dialog(self) -> VersionsDialog:
        made = VersionsDialog(self._frame.window)
        made.chosen.connect(self._on_chosen)
        made.left.kept.connect(self._keep_left)
        made.right.kept.connect(self._keep_right)
        return made

    def open_last(self) -> None:
        """Open the dialog that compares versions of the open chat's last answer."""
        entry = self._frame.transcript.last_answer_entry
        if entry:
            self.open(entry)
        else:
            self._frame.notifier.toast(_NOTHING)

    def open(self, entry: str) -> None:
        """Open the dialog that compares versions of an answer, given the answer's entry ID."""
        if self._session.is_running:
            self._frame.notifier.toast(_BUSY)
        else:
            self._chat, self._is_asked_again = self._session.session, False
            self._read(entry, self._on_read)

    def ask_again(self, entry: str, user_entry: str) -> None:
        """Ask the question of an answer again, and show both answers side by side.

        Unlike a regenerated answer, the new one has the notes as they are now.

        Args:
            entry: the entry ID of the answer.
            user_entry: the entry ID of its question.
        """
        if self._session.is_running:
            self._frame.notifier.toast(_BUSY)
        else:
            self._chat, self._is_asked_again = self._session.session, True
            self._read(entry, partial(self._ask_beside, user_entry))

    def _ask_beside(self, user_entry: str, item: AnswerItem) -> None:
        self._show_left(item)
        self._dialog.show_asked(_MODEL + item.answer.model, self._maker.build_answer())
        attached = self._frame.transcript.list_attachments(user_entry)
        text = self._session.user_messages.get(user_entry, "")
        self._session.edit(user_entry, text, attached)

    def _on_action(self, action: MessageAction) -> None:
        if action.kind == "compare":
            self.open(action.entry)

    def _read(self, entry: str, use: Callable[[AnswerItem], object]) -> None:
        chat, history = self._chat, self._assistant.history
        if chat is not None:
            task = self._runner.call(lambda: (chat, history.answer(chat, entry)))
            task.yielded.connect(partial(self._use_answer, use))
            task.failed.connect(self._on_failed)
            task.start()

    def _use_answer(
        self, use: Callable[[AnswerItem], object], found: tuple[str, AnswerItem]
    ) -> None:
        """Call `use` with an answer that was read, unless another chat has been opened since."""
        if found[0] == self._session.session == self._chat:
            use(found[1])

    def _on_read(self, item: AnswerItem) -> None:
        """Open the dialog with an answer and, if it has other versions, with the newest of them."""
        self._show_left(item)
        others = [entry for entry in item.siblings if entry != item.entry]
        if others:
            self._read(others[-1], self._on_other)

    def _show_left(self, item: AnswerItem) -> None:
        """Open the dialog with an answer on the left."""
        self._item, self._other, self._turn = item, "", None
        self._writers[item.entry] = item.answer.model
        self._dialog.open_for(self._name_answer(item), self._build(item))
        self._show_choices()
        self._models.ask(self._assistant.model_setup.list_choices, now=True)

    def _on_models(self, choices: Sequence[ModelChoice]) -> None:
        self._names = {choice.name: choice for choice in choices}
        self._show_choices()

    def _show_choices(self) -> None:
        if self._item is None:
            return
        numbered = enumerate(self._item.siblings, 1)
        present = self._item.entry
        versions = [
            (_VERSION + one, self._name_version(n, one)) for n, one in numbered if one != present
        ]
        models = {
            _MODEL + name: (choice.label, choice.summary) for name, choice in self._names.items()
        }
        self._dialog.set_choices(versions, models)

    def _on_other(self, item: AnswerItem) -> None:
        """Show another version of the answer on the right of the dialog."""
        self._other = item.entry
        self._writers[item.entry] = item.answer.model
        if self._item is not None:
            self._item = replace(self._item, siblings=item.siblings)
            self._dialog.set_name(self._name_answer(self._item))
        self._show_choices()
        self._dialog.show_other(_VERSION + item.entry, self._build(item))

    def _on_chosen(self, choice: str) -> None:
        if choice.startswith(_VERSION):
            self._read(choice.removeprefix(_VERSION), self._on_other)
        elif self._session.is_running:
            self._dialog.right.clear(_BUSY)
        elif self._item is not None:
            self._dialog.show_asked(choice, self._maker.build_answer())
            self._other = ""
            self._session.regenerate(self._item.entry, choice.removeprefix(_MODEL))

    def _on_turn_begun(self, turn: ChatTurn) -> None:
        if self._item is not None and self._dialog.isVisible():  # made when it is first opened
            self._turn = turn

    def _on_event(self, turn: ChatTurn, event: object) -> None:
        if turn is self._turn and (answer := self._dialog.right.answer) is not None:
            show_event(event, turn, answer)

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        if turn is not self._turn:
            return
        self._turn = None
        if self._kept:
            self._show_kept()
        if not self._dialog.isVisible():
            return
        entry = turn.result.entry if turn.result is not None else None
        if entry:
            self._read(entry, self._on_other)
        else:
            reason = turn.error.message if turn.error is not None else "No answer arrived."
            self._dialog.right.clear(reason)

    def _keep_left(self) -> None:
        self._keep(self._item.entry if self._item is not None else "")

    def _keep_right(self) -> None:
        self._keep(self._other)

    def _keep(self, entry: str) -> None:
        """Close the dialog and show the chosen version of the answer in the chat.

        If another version is still being generated, its turn is stopped first.

        Args:
            entry: the entry ID of the chosen version.
        """
        self._kept = entry
        self._dialog.accept()
        if self._is_asked_again:
            self.kept.emit(entry)
        if self._turn is None:
            self._show_kept()
        else:
            self._turn.task.cancel()  # the version is shown when the turn has ended

    def _show_kept(self) -> None:
        entry, self._kept = self._kept, ""
        chat, branches = self._chat, self._assistant.branches
        if chat is not None and entry:
            task = self._runner.call(lambda: branches.show_entry(chat, entry))
            task.yielded.connect(lambda _none: self._session.load())
            task.failed.connect(self._on_failed)
            task.start()

    def _build(self, item: AnswerItem) -> Answer:
        made = self._maker.build_answer()
        made.set_text(item.answer.text)
        self._maker.fill_answer(made, item)
        made.show_end(item, with_error=True)
        return made

    def _name_answer(self, item: AnswerItem) -> str:
        """Return a title for the answer on the left of the dialog.

        The title is the model's name. If the answer has several versions, it also contains the
        number of this version.
        """
        if len(item.siblings) < 2:
            return self._find_name(item.answer.model)
        return self._name_version(item.siblings.index(item.entry) + 1, item.entry)

    def _name_version(self, number: int, entry: str) -> str:
        model = self._writers.get(entry)
        return f"Version {number} · {self._find_name(model)}" if model else f"Version {number}"

    def _find_name(self, model: str) -> str:
        choice = self._names.get(model)
        return name_model(model) if choice is None else choice.label

    def _on_citation(self, path: str, first: int, last: int) -> None:
        self._dialog.accept()
        self._frame.navigation.show_note(path, first, last)

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)
