"""Edit and send the current message."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from time import monotonic
from typing import Final, cast

from PySide6.QtCore import Signal

from app.commands import Situation
from app.config.models import ModelChoice
from app.customize.commands import MessageDraft, OpenPlace
from app.errors import ErrorInfo, describe
from app.sessions.transcript import ChatTranscript, UserItem
from chains.events import Mode, Warned
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from context.report.reader import read_report
from context.report.report import ContextReport
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.completion import Offers
from ui.chat.composer.composer_controls import ComposerLine
from ui.controllers.attachments import AttachmentController, ImageModelController
from ui.controllers.commands import CommandController, list_command_choices
from ui.controllers.drafts import Draft, DraftStore
from ui.controllers.long_message import LongMessageController
from ui.controllers.map_reduce import ReadWholeController
from ui.controllers.queue import QueueController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn, attach_to, list_attachments
from ui.widgets.buttons import ButtonText, LabelledAction
from ui.widgets.texts import word_error

__all__ = ["ComposerController"]

_OPEN_PROJECT = ButtonText("Open a project", "Open a folder as a project", "open_project")
_ASK_VAULT = ButtonText(
    "Ask in Vault mode", "Search all notes of the folder, not those of a project"
)
_SET_MODEL = ButtonText("Set a model", "Find a model on this computer, or a service with a key")
_RAISE_LIMIT = ButtonText("Raise the limit", "Open the settings of the limit")
_SEND_AS_TEXT = ButtonText("Send as text", "Send what looks like a command as a message")
_NO_PROJECT = "This chat has no project. A project is a folder with chats of its own."
_NO_COMMAND = "A command cannot wait. Send it when the answer is complete, or stop the answer."
# The process of the embedding model ends after five minutes without a call.
PREPARED_FOR_S: Final = 60.0
_NO_MODEL = "The agent needs a model that can call tools, and no model is set."


class ComposerController(ChatController):
    """Fills the composer, and sends the user's message or runs it as a slash command.

    Signals:
        changed: emitted when the next request changes, but not when a message has been sent. The
            argument is False if the preview of the request may be updated after a short pause.
        message_taken: emitted when a message is about to be sent.
    """

    changed = Signal(bool)
    message_taken = Signal()

    def __init__(
        self, shared: Collaborators, session: SessionController, drafts: DraftStore
    ) -> None:
        super().__init__(shared, session)
        self._composer, self._drafts = self._frame.composer, drafts
        session.mode = cast(Mode, self._frame.composer.mode())  # may be chosen already
        self._is_over = self._is_filling = False
        self._prepared_at = -inf
        self._project: str | None = None
        self.attachments = AttachmentController(shared)
        self.read_whole = ReadWholeController(shared)
        self.long_message = LongMessageController(shared, self._find_draft, self._model)
        self.commands = CommandController(shared)
        self.queue = QueueController(shared, session, drafts)
        self.images = ImageModelController(shared)
        self._connect_composer()
        self._connect_parts()
        session.turn_ended.connect(self._on_turn_ended)
        session.session_changed.connect(self._on_session_changed)
        session.loaded.connect(self._on_loaded)

    def next_ask(self) -> Ask:
        """Return what the current message asks, with its chat, mode and model.

        Attachments with a known problem are left out.
        """
        ask = self._session.address(Ask(self._composer.text()))
        return attach_to(ask, self.attachments.sendable)

    def move_draft(self, session: str, to: str) -> None:
        """Move the draft of a chat that is not there any more, as `DraftStore.move` does."""
        self._drafts.move(session, to)

    def open(self, session: str | None) -> None:
        """Show a chat's draft in the composer, or the new chat's draft if `session` is None."""
        self.queue.update()
        draft = self._drafts.open(session)
        self._composer.clear_error()
        self._fill(draft)  # and save nothing, because a restored draft is not a new one
        self.changed.emit(False)

    def load_models(self) -> None:
        """Load the list of models in a task, because this may query a server."""
        task = self._runner.call(self._assistant.model_setup.list_choices)
        task.yielded.connect(self._on_models)
        task.failed.connect(self._on_models_failed)
        task.start()

    def use_model(self, model: str) -> None:
        """Use a model for the next messages of this chat."""
        self._composer.set_model(model)
        self._on_model_changed(model)

    def set_offers(self, offers: Offers) -> None:
        """Set the notes, folders and tags that completion suggests in addition to commands."""
        self._composer.set_offers(replace(offers, commands=list_command_choices(self._assistant)))

    def set_mode(self, mode: Mode) -> None:
        """Set the mode of the next message and check that it can be sent."""
        self._session.mode = mode
        self._composer.set_mode(mode)
        self.check()

    def attach(self, items: Iterable[Attachment]) -> None:
        """Attach notes, files or folders to the message and focus the composer."""
        self.attachments.add(items)
        self._frame.navigation.show_chat()
        self._composer.setFocus()

    def open_attachment(self, item: Attachment) -> None:
        """Show an attached note or image. Do nothing for a folder or tag."""
        if item.is_image:
            self.attachments.open_image(item)
        elif not item.is_tag and not item.is_folder:
            self._frame.navigation.show_note(item.path, *(item.lines or (0, 0)))

    def submit(self, text: str) -> None:
        """Run the text as a slash command if it is one, otherwise send it as a message."""
        session = self._session
        note = self._frame.note
        place = OpenPlace(note.path, note.find_selected_lines() if note.path else None)
        situation = Situation(session.session, session.mode_in_force, session.model, place)
        self._composer.clear_error()
        if session.is_running:
            self._hold_back(text)
        elif not self.commands.run(text, situation):
            self.send(text)

    def send(self, text: str) -> None:
        """Send text with the attachments, unless the text is empty or a turn is running."""
        if not text.strip() or self._session.is_running:
            return
        self._send(self._take(text))

    def send_chosen(self, question: str) -> None:
        """Send a question that was chosen instead of typed, unless a turn is running.

        A message that is being written stays in the composer, with its attachments. Attachments
        without text are sent with the question.
        """
        if not self._composer.text().strip():
            self.send(question)
        elif not self._session.is_running:
            self.message_taken.emit()
            self._send(Ask(question))

    def send_early(self, text: str) -> None:
        """Send a message, or run a command, that was written before the draft could be shown.

        The draft stays in the composer, because the user has not seen it. A command would change
        it, so the command is put before it instead.
        """
        if not self._composer.text().strip():
            self.submit(text)
        elif text.lstrip().startswith("/"):
            self._put_back(Ask(text))
        elif self._session.is_running:
            self.queue.add(Ask(text))
        else:
            self.send_chosen(text)

    def _send(self, ask: Ask) -> None:
        ask = self._session.address(ask)
        self._frame.count_sent_message()
        self._session.ask(ask)

    def _hold_back(self, text: str) -> None:
        """Queue the message until the answer is complete. For a command, show an error instead."""
        if text.lstrip().startswith("/"):
            self._composer.show_error(_NO_COMMAND)
            return
        self.queue.add(self._take(text))

    def _take(self, text: str) -> Ask:
        """Take the message out of the composer, with `text` as its text.

        The composer is empty afterwards, or shows the next part of a split message. The next
        request is previewed only when the answer to this one is there.
        """
        ask = replace(self._find_draft().ask, question=text)
        self._show(self.long_message.next())
        self.message_taken.emit()
        return ask

    def restore(self, turn: ChatTurn) -> None:
        """Put the message of a failed turn back into its chat's draft, before any newer text."""
        if turn.session != self._session.session:
            self._drafts.give_back(turn.session, turn.ask)
        else:
            self._put_back(turn.ask)

    def show_budget(self, context: ContextReport | None) -> None:
        """Show the next request's share of the budget, or hide the meter if `context` is None."""
        if context is None:
            self._composer.set_meter(None)
            return
        self.attachments.count(context)
        self.long_message.measure(context)
        self.read_whole.look(self.next_ask(), context.budget)
        is_over = context.used > context.budget
        self._composer.set_meter(context.fraction, context.policy.trim_at)
        self._composer.meter.setVisible(is_over or context.model != EXTRACTIVE)
        if is_over:
            self._composer.show_error(self.long_message.problem, self._ways_to_fit())
        elif self._is_over:
            self._composer.clear_error()
        self._is_over = is_over

    def check(self) -> None:
        """Show an explanation with actions if the chosen mode and model cannot be combined."""
        model = self._composer.models.value or self._assistant.settings.values.chat_model
        if self._composer.modes.value == "project" and self._session.project is None:
            ways = (
                (_OPEN_PROJECT, lambda: self._frame.navigation.run_command("open_project")),
                (_ASK_VAULT, lambda: self._on_mode_changed("vault")),
            )
            self._composer.set_obstacle(_NO_PROJECT, ways)
        elif self._session.mode_in_force == "agent" and model == EXTRACTIVE:
            ways = (
                (_SET_MODEL, self._frame.navigation.set_model),
                (_ASK_VAULT, lambda: self._on_mode_changed("vault")),
            )
            self._composer.set_obstacle(_NO_MODEL, ways)
        else:
            self._composer.set_obstacle("")

    def _connect_composer(self) -> None:
        composer, transcript = self._composer, self._frame.transcript
        composer.submitted.connect(self.submit)
        composer.stop_requested.connect(self._session.stop)
        composer.last_requested.connect(transcript.edit_last)
        composer.text_changed.connect(self._on_text_changed)
        composer.mode_changed.connect(self._on_mode_changed)
        composer.model_changed.connect(self._on_model_changed)
        composer.offline_clicked.connect(
            lambda: self._frame.navigation.open_settings("privacy.offline")
        )
        composer.model_wanted.connect(self._frame.navigation.set_model)
        composer.attach_chosen.connect(lambda value: self.attachments.add([Attachment(value)]))
        composer.attach_retried.connect(self.attachments.retry)
        composer.attach_removed.connect(self.attachments.remove)
        composer.images_wanted.connect(self.images.allow)
        composer.attach_opened.connect(self.open_attachment)
        transcript.question_chosen.connect(self._on_question_chosen)
        transcript.maker.attachment_opened.connect(self.open_attachment)
        transcript.maker.edit_closed.connect(composer.setFocus)

    def _connect_parts(self) -> None:
        self.attachments.changed.connect(self._on_attachments_changed)
        self.attachments.measured.connect(self._show_chips)
        self.read_whole.changed.connect(self._on_read_whole_changed)
        self.long_message.replaced.connect(self._on_replaced)
        self.long_message.changed.connect(self._show_line)
        self.long_message.failed.connect(self._composer.show_error)
        self.commands.succeeded.connect(self._on_command_done)
        self._composer.is_command = self.commands.is_built_in
        self.commands.failed.connect(self._on_command_failed)
        self.commands.model_chosen.connect(self.use_model)
        self.commands.mode_chosen.connect(self._on_mode_changed)
        self.commands.message_made.connect(self._on_message_made)
        self.queue.returned.connect(self._on_returned)
        self.images.changed.connect(self._on_images_changed)
        self._session.event_arrived.connect(self._on_event)
        self._frame.transcript.maker.error_action.connect(self._on_error_action)

    def _on_question_chosen(self, text: str) -> None:
        self.send_chosen(text)
        self._composer.setFocus()  # the focused question is hidden now

    def _ways_to_fit(self) -> list[LabelledAction]:
        ways = list(self.long_message.ways)
        if not ways and (attached := self.attachments.attached):
            last = attached[-1]
            text = ButtonText(f"Remove {last.name}", "Send the message without this attachment")
            ways.append((text, lambda: self.attachments.remove(last)))
        ways.append((_RAISE_LIMIT, lambda: self._frame.navigation.open_settings("Context")))
        return ways

    def _find_draft(self) -> Draft:
        ask = Ask(self._composer.text(), reads_whole=self.read_whole.is_wanted)
        ask = attach_to(ask, self.attachments.attached)
        return Draft(ask, self.long_message.waiting, self.long_message.parts)

    def _model(self) -> str:
        return self._session.model or self._assistant.settings.values.chat_model

    def _fill(self, draft: Draft) -> None:
        """Show a draft in the composer, as one change and not as one for each of its parts."""
        self._is_filling = True
        self.long_message.keep(draft)
        self.read_whole.keep(draft.ask)
        self._composer.set_text(draft.ask.question)
        self.attachments.replace(list_attachments(draft.ask))
        self._show_line()
        self._is_filling = False

    def _show(self, draft: Draft) -> None:
        """Show and save a draft."""
        self._fill(draft)
        self._drafts.keep(self._find_draft())

    def _put_back(self, ask: Ask) -> None:
        """Put a message back into the composer, before any newer text."""
        self._show(self._find_draft().follow(ask))
        self.changed.emit(False)

    def _show_line(self) -> None:
        _show_in(self._composer.queue, *self.long_message.line)

    def _on_edited(self, *, is_now: bool) -> None:
        """Save the draft, and report that the next request has changed."""
        if not self._is_filling:
            self._drafts.keep(self._find_draft())
            self.changed.emit(is_now)

    def _on_session_changed(self, session: str | None) -> None:
        if session is not None and self._session.is_followed:
            self._drafts.begin(session)
            self.queue.update()
            self._drafts.keep(self._find_draft())
        else:
            self.open(session)
        if session is None:
            self._project = None
        if session is None and self._session.mode == "project":
            self.set_mode("vault")

    def _on_loaded(self, transcript: ChatTranscript, is_new: bool) -> None:
        """Restore the mode of the last user message after a chat has been opened.

        In a chat that was moved to a project, the next turn asks that project, and otherwise the
        vault.
        """
        is_moved = not is_new and transcript.project != self._project
        self._project = transcript.project
        user_messages = [item for item in transcript.items if isinstance(item, UserItem)]
        if is_new and user_messages and user_messages[-1].mode is not None:
            self.set_mode(user_messages[-1].mode)
        elif transcript.project is not None and (is_moved or (is_new and not user_messages)):
            self.set_mode("project")
        elif is_moved and self._session.mode == "project":
            self.set_mode("vault")
        else:
            self.check()

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        """Restore a message that was not sent. If it was too large, show why."""
        if turn.result is not None or turn.is_stored:
            return
        info = turn.error
        is_cancelled = info is None or info.code == "cancelled"
        is_open = self._session.is_open(turn)
        if not turn.instead and (is_open or not is_cancelled):
            self.restore(turn)
        if is_open and info is not None and info.code == "context_overflow":
            self._show_overflow(info)

    def _show_overflow(self, info: ErrorInfo) -> None:
        self._is_over = True
        sentence = info.message
        if info.context is not None:
            self.long_message.measure(read_report(info.context))
            sentence = self.long_message.problem
        self._composer.show_error(sentence, self._ways_to_fit())

    def _on_models(self, choices: Sequence[ModelChoice]) -> None:
        self._composer.set_offline(self._assistant.settings.values.privacy_offline)
        self._frame.transcript.set_models(choices)
        self._composer.set_models(choices)
        chosen = next((choice.name for choice in choices if choice.is_set), "")
        self._composer.set_model(self._session.model or chosen)
        self.check()

    def _on_models_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)

    def _on_text_changed(self, _text: str) -> None:
        if not self._is_over:
            self._composer.clear_error()
        self._prepare_search()
        self._on_edited(is_now=False)

    def _prepare_search(self) -> None:
        """Load the embedding model while a question is being written, at most once a minute."""
        text, now = self._composer.text().strip(), monotonic()
        is_due = now - self._prepared_at >= PREPARED_FOR_S
        if not is_due or not text or text.startswith("/") or self._is_filling:
            return
        ask = self._session.address(Ask(text, project=self._session.project))
        if self._assistant.prepare_search(ask):
            self._prepared_at = now

    def _on_returned(self, ask: Ask) -> None:
        self._put_back(ask)
        self._composer.setFocus()

    def _on_replaced(self, draft: Draft) -> None:
        self._show(draft)
        self._composer.setFocus()
        self.changed.emit(True)

    def _on_read_whole_changed(self) -> None:
        """Update the line that offers to read large attachments in parts."""
        self.attachments.set_parts(self.read_whole.parts, self.read_whole.is_wanted)
        _show_in(self._composer.offer, *self.read_whole.line)
        if not self._is_filling:
            self._drafts.keep(self._find_draft())

    def _on_attachments_changed(self) -> None:
        self._show_chips()
        self._on_edited(is_now=True)

    def _show_chips(self) -> None:
        self._composer.set_attached(self.attachments.states)

    def _on_mode_changed(self, mode: str) -> None:
        self.set_mode(cast(Mode, mode))
        self.changed.emit(True)

    def _on_model_changed(self, model: str) -> None:
        self._session.model = model
        self._runner.call(lambda: self._assistant.stop_other_models(model)).start()
        self.check()
        self.changed.emit(True)

    def _on_message_made(self, draft: MessageDraft) -> None:
        selected = (Attachment(one.path, (one.first, one.last)) for one in draft.selections)
        self._is_filling = True  # the attachments are sent at once
        self.attach([*map(Attachment, draft.attach), *selected])
        self._is_filling = False
        written = self._composer.text()  # while the command ran
        self.send(draft.text)
        if written.strip():
            self._composer.set_text(written)
        if self.attachments.attached:
            self._on_edited(is_now=True)

    def _on_event(self, turn: ChatTurn, event: object) -> None:
        if isinstance(event, Warned) and event.blind_model and self._session.is_open(turn):
            self.images.show_warning(event)

    def _on_error_action(self, name: str, info: ErrorInfo) -> None:
        if name == "send_images":
            self.images.allow(info.blind_model)

    def _on_images_changed(self) -> None:
        self._composer.clear_error()
        self.load_models()
        self.changed.emit(True)

    def _on_command_done(self, text: str) -> None:
        """Remove a command that has run from the composer, and keep what was typed meanwhile."""
        written = self._composer.text()
        if written.startswith(text):
            self._composer.set_text(written.removeprefix(text).lstrip())

    def _on_command_failed(self, text: str, info: ErrorInfo) -> None:
        message = word_error(info)
        self._composer.show_error(message, [(_SEND_AS_TEXT, lambda: self.send(text))])


def _show_in(line: ComposerLine, text: str, actions: Sequence[LabelledAction]) -> None:
    """Show a message with actions in a line of the composer. An empty text hides the line."""
    if text:
        line.say(text, actions)
    else:
        line.hide()
