"""The message that is being written: its text, what goes along, how it is asked, and sending it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.commands import Situation
from app.config.models import ModelChoice
from app.errors import ErrorInfo
from chains.events import Mode
from chains.models import EXTRACTIVE
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.completion import Offers
from ui.chat.composer.composer import Composer
from ui.chat.composer.parts import Action, ComposerLine
from ui.controllers.attachments import Attaching
from ui.controllers.context import Draft, over_sentence
from ui.controllers.drafts import Drafts, Written
from ui.controllers.map_reduce import Reading
from ui.controllers.overlong import Overlong
from ui.controllers.session import Conversation
from ui.controllers.slash_commands import Commanding, command_choices
from ui.controllers.turns import Turn
from ui.tasks import TaskRunner

__all__ = ["Drafting"]

_NO_MODEL = "The agent needs a model that can call tools, and no model is set."


class Drafting(QObject):
    """Keeps the composer, its attachments and the drafts of all chats in step.

    `changed` is emitted when the next request would be another one, with whether that is to be
    shown at once; `asked` when a question was sent; `place_chosen` carries path and lines of
    something attached; `settings_requested` a page.
    """

    changed = Signal(bool)
    asked = Signal()
    place_chosen = Signal(str, int, int)
    settings_requested = Signal(str)

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        talk: Conversation,
        composer: Composer,
        drafts: Drafts,
    ) -> None:
        super().__init__(talk)
        self._assistant = assistant
        self._talk, self._composer, self._drafts = talk, composer, drafts
        self._is_over = self._is_opening = False
        self.attaching = Attaching(assistant, runner, self)
        self.reading = Reading(assistant, runner, self)
        self.overlong = Overlong(assistant, runner, self._written, self._model, self)
        self.commanding = Commanding(assistant, runner, self)
        self._connect()

    def draft(self) -> Draft:
        """Return what would be sent now."""
        talk, sendable = self._talk, self.attaching.sendable
        text = self._composer.text()
        return Draft(talk.session, text, talk.mode_in_force, talk.model, sendable)

    def open(self, session: str | None) -> None:
        """Show what was written in a chat and not sent."""
        written = self._drafts.open(session)
        self._is_opening = True  # what is shown now is not what was written in the chat before
        self._composer.clear_error()
        self._show(written)
        self._is_opening = False

    def begun(self, session: str) -> None:
        """Take what is being written over into the chat that has just begun."""
        self._drafts.begun(session)
        self._note()

    def set_models(self, choices: Sequence[ModelChoice]) -> None:
        """Offer these models."""
        self._composer.set_models(choices)
        chosen = next((choice.name for choice in choices if choice.is_set), "")
        self._composer.set_model(self._talk.model or chosen)
        self.check()

    def set_offers(self, offers: Offers) -> None:
        """Complete these notes and tags, and the commands."""
        whole = Offers(offers.notes, offers.folders, offers.tags, command_choices())
        self._composer.set_offers(whole)

    def set_mode(self, mode: Mode) -> None:
        """Ask in this mode from now on."""
        self._talk.mode = mode
        self._composer.set_mode(mode)
        self.check()

    def attach(self, items: Iterable[Attachment]) -> None:
        """Send these along with the message."""
        self.attaching.add(items)
        self._composer.setFocus()

    def submit(self, text: str) -> None:
        """Send what is written, or do what it commands."""
        talk = self._talk
        situation = Situation(talk.session, talk.mode_in_force, talk.model)
        self._composer.clear_error()
        if not self.commanding.take(text, situation):
            self.send(text)

    def send(self, text: str) -> None:
        """Send a text with what is attached."""
        if not text.strip() or self._talk.is_running:
            return
        attached, is_read = self.attaching.attached, self.reading.is_wanted
        self.clear()
        self.asked.emit()
        self._talk.ask(text, attached, is_read)

    def clear(self) -> None:
        """Begin with an empty message, or with the next part of a long one."""
        self._show(self.overlong.next())

    def restore(self, turn: Turn) -> None:
        """Give a message back that was not sent, before what was written meanwhile."""
        asked = turn.asked
        written = Written(asked.question, asked.attached, asked.reads_whole)
        if turn.session != self._talk.session:
            self._drafts.give_back(turn.session, written)
        else:
            self._show(written.before(self._written()))

    def take_context(self, context: Mapping[str, Any]) -> None:
        """Show how full the next request is, and what of the attachments fits into it."""
        self.attaching.count(context)
        self.overlong.measure(context)
        self.reading.look(self.draft(), context["budget"])
        self._composer.set_meter(context["fraction"], context["policy"]["trim_at"])
        is_over = context["used"] > context["budget"]
        if is_over:
            self._composer.show_error(over_sentence(context), self._ways_to_fit())
        elif self._is_over:
            self._composer.clear_error()
        self._is_over = is_over

    def show_overflow(self, sentence: str, context: Mapping[str, Any] | None) -> None:
        """Say that what was to be sent did not fit."""
        self._is_over = True
        if context is not None:
            self.overlong.measure(context)
        self._composer.show_error(sentence, self._ways_to_fit())

    def check(self) -> None:
        """Say what keeps a message from being sent as things are chosen."""
        model = self._composer.models.value or self._assistant.settings.values.chat_model
        if self._talk.mode_in_force == "agent" and model == EXTRACTIVE:
            ways = (
                ("Set a model", lambda: self.settings_requested.emit("Models")),
                ("Ask in Vault mode", lambda: self._on_mode_changed("vault")),
            )
            self._composer.set_obstacle(_NO_MODEL, ways)
        else:
            self._composer.set_obstacle("")

    def _connect(self) -> None:
        composer = self._composer
        composer.submitted.connect(self.submit)
        composer.stop_requested.connect(self._talk.stop)
        composer.text_changed.connect(self._on_text_changed)
        composer.mode_changed.connect(self._on_mode_changed)
        composer.model_changed.connect(self._on_model_changed)
        composer.attach_chosen.connect(self._on_attach_chosen)
        composer.attach_removed.connect(self.attaching.remove)
        composer.attach_opened.connect(self.open_attachment)
        self.attaching.changed.connect(self._on_attached)
        self.attaching.told.connect(self._show_chips)
        self.reading.changed.connect(self._on_reading)
        self.overlong.replaced.connect(self._on_replaced)
        self.overlong.changed.connect(self._show_line)
        self.overlong.failed.connect(composer.show_error)
        self.commanding.shown.connect(self.clear)
        self.commanding.new_chat_requested.connect(self.clear)
        self.commanding.compact_requested.connect(self.clear)
        self.commanding.failed.connect(self._on_command_failed)

    def open_attachment(self, item: Attachment) -> None:
        """Show a note that is attached, at its lines."""
        if not item.is_tag and not item.is_folder:
            self.place_chosen.emit(item.target, *(item.lines or (0, 0)))

    def _ways_to_fit(self) -> list[tuple[str, Any]]:
        ways: list[tuple[str, Any]] = list(self.overlong.ways)
        if not ways and (attached := self.attaching.attached):
            last = attached[-1]
            ways.append((f"Remove {last.name}", lambda: self.attaching.remove(last)))
        ways.append(("Raise the limit", lambda: self.settings_requested.emit("Context")))
        return ways

    def _written(self) -> Written:
        parts = self.overlong
        return Written(
            self._composer.text(),
            self.attaching.attached,
            self.reading.is_wanted,
            parts.waiting,
            parts.parts,
        )

    def _model(self) -> str:
        return self._talk.model or self._assistant.settings.values.chat_model

    def _show(self, written: Written) -> None:
        """Let this be what is written."""
        self.overlong.keep(written)
        self.reading.keep(written.attached if written.reads_whole else ())
        self._composer.set_text(written.text)
        self.attaching.replace(written.attached)
        self._show_line()

    def _show_line(self) -> None:
        _say(self._composer.queue, *self.overlong.line)

    def _note(self) -> None:
        if not self._is_opening:
            self._drafts.note(self._written())

    def _on_text_changed(self, _text: str) -> None:
        if not self._is_over:
            self._composer.clear_error()
        self._note()
        self.changed.emit(False)

    def _on_replaced(self, written: Written) -> None:
        self._show(written)
        self._composer.setFocus()

    def _on_reading(self) -> None:
        """Show what is read, or could be."""
        reading = self.reading
        is_wanted = reading.is_wanted
        self.attaching.tell_parts(reading.parts, is_wanted)
        word = "Search it instead" if is_wanted else "Read it all"
        way = (word, lambda: reading.want(not is_wanted))
        _say(self._composer.offer, reading.sentence, [way] if reading.is_offered else [])
        self._note()

    def _on_attached(self) -> None:
        self._show_chips()
        self._note()
        self.changed.emit(True)

    def _show_chips(self) -> None:
        self._composer.set_attached(self.attaching.states)

    def _on_attach_chosen(self, value: str) -> None:
        self.attaching.add([Attachment(value)])

    def _on_mode_changed(self, mode: str) -> None:
        self.set_mode(cast(Mode, mode))
        self.changed.emit(True)

    def _on_model_changed(self, model: str) -> None:
        self._talk.model = model
        self.check()
        self.changed.emit(True)

    def _on_command_failed(self, text: str, info: ErrorInfo) -> None:
        said = f"{info.message} {info.hint or ''}".strip()
        self._composer.show_error(said, [("Send as text", lambda: self.send(text))])


def _say(line: ComposerLine, text: str, actions: Sequence[Action]) -> None:
    """Say something in a line, or take it away where that is nothing."""
    if text:
        line.say(text, actions)
    else:
        line.hide()
