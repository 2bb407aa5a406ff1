"""The composer: message text, attachments, mode, model and the context meter."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from ui.actions import Keymap
from ui.chat.composer.chips import ChipRow
from ui.chat.composer.completion import Completer, Offers
from ui.chat.composer.composer_controls import (
    AMBER_FROM,
    AttachButton,
    ComposerFrame,
    ComposerLine,
    Meter,
    SendButton,
)
from ui.chat.composer.menus import ModelMenu, ModeMenu
from ui.chat.composer.text import ComposerText
from ui.theme import Theme
from ui.widgets.buttons import ButtonText, IconButton, LabelledAction, add_shortcut
from ui.widgets.controls import make_wrapped_label, one_line
from ui.widgets.geometry import OUTDENT, Scaled, set_in
from ui.widgets.layouts import make_column, make_row, stretch

if TYPE_CHECKING:
    from app.config.models import ModelChoice
    from ui.chat.composer.attachment import Attachment
    from ui.chat.composer.attachment_state import ChipState

__all__ = ["Composer"]

_OFFLINE = "Offline: no call leaves this computer. Change it in the settings"
_SEND_IMAGES = ButtonText(
    "Send images to this model", "Add it to the models that see images; this can be undone"
)
_TAKE_BACK = ButtonText("Take it back", "Put the waiting message back into the message box")
_SHOWN_CHARS = 60
_TOO_MUCH = "The message does not fit. Shorten it, or raise the limit."


class Composer(Scaled, QWidget):
    """The composer: text field, attachment chips, mode, model, context meter and Send button.

    Signals:
        submitted: the text to send. This is also emitted while an answer is being generated. The
            receiver clears the field.
        attach_chosen: the path, tag or web address to attach.
        attach_removed: the removed `Attachment`.
        attach_opened: the clicked `Attachment`.
        attach_retried: the `Attachment` to read again, because it could not be read.
        offline_clicked: the user wants to change the setting that keeps Strata offline.
        file_requested: the user wants to choose a file.
        last_requested: the user wants to edit the last message.
        model_wanted: the user wants to set up a model.
        images_wanted: the model that the user wants to send images to, which is said to be blind.
        file_model_wanted: the user wants to open a model file.
        image_pasted: a `QImage` from the clipboard.
        files_pasted: the paths of files from the clipboard.

    Attributes:
        offer: a line that asks whether to read large attachments in parts or to search them.
        waiting: a line about a message that will be sent when the current answer is complete, or
            when the vault is open.
        queue: a line about a long message that was split or was attached as a file.
        is_command: returns whether a text is a command that sends nothing, and so can always run.
    """

    submitted = Signal(str)
    stop_requested = Signal()
    mode_changed = Signal(str)
    model_changed = Signal(str)
    text_changed = Signal(str)
    meter_clicked = Signal()
    offline_clicked = Signal()
    attach_chosen = Signal(str)
    attach_removed = Signal(object)
    attach_opened = Signal(object)
    attach_retried = Signal(object)
    file_requested = Signal()
    last_requested = Signal()
    model_wanted = Signal()
    images_wanted = Signal(str)
    file_model_wanted = Signal()
    image_pasted = Signal(object)
    files_pasted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_running = self._has_words = False
        self._is_unmeasured = self._sends_later = False
        self._obstacle = ""
        self.is_command: Callable[[str], bool] = lambda _text: False
        self.chips = ChipRow()
        self.input = ComposerText()
        self.completer = Completer(self.input)
        self.attach = AttachButton()
        self.send = SendButton()
        self.meter = Meter()
        self.modes, self.models = ModeMenu(), ModelMenu()
        self.offline = IconButton("wifi-slash", _OFFLINE)
        self.offline.hide()
        self._error, self._note = ComposerLine("danger"), ComposerLine("info")
        self.offer, self.queue, self.waiting = (ComposerLine("info") for _ in range(3))
        self._hint = make_wrapped_label("", "caption", "tertiary")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._frame = ComposerFrame()
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.input)
        self.set_mode("vault")
        Keymap.current().changed.connect(self._name_keys)
        self._name_keys()

    def text(self) -> str:
        """Return the message text in the field."""
        return self.input.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace the message text in the field."""
        self.input.set_text(text)

    def mode(self) -> str:
        """Return the chosen mode: `chat`, `vault`, `project` or `agent`."""
        return self.modes.value

    def set_mode(self, mode: str) -> None:
        """Select a mode, without emitting `mode_changed`."""
        self.modes.set_mode(mode)
        self._show_mode_hint()

    def set_models(self, choices: "Sequence[ModelChoice]") -> None:
        """Fill the list of models."""
        self.models.set_models(choices)

    def set_model(self, name: str) -> None:
        """Select a model by its name, without emitting `model_changed`."""
        self.models.set_model(name)

    def set_offers(self, offers: Offers) -> None:
        """Set the notes, folders, tags and commands that completion suggests."""
        self.completer.set_offers(offers)

    def set_attached(self, states: "Mapping[Attachment, ChipState]") -> None:
        """Show the message's attachments and their states as chips."""
        self.chips.show_states(states)
        self._chip_room.setContentsMargins(10, 10 if states else 0, 10, 0)

    def open_modes(self) -> None:
        """Open the list of modes."""
        self.modes.open()

    def set_offline(self, is_offline: bool) -> None:
        """Show beside the model whether calls to other computers are refused."""
        self.offline.setVisible(is_offline)

    def open_models(self) -> None:
        """Open the list of models."""
        self.models.open()

    def set_running(self, is_running: bool) -> None:
        """Show Stop instead of Send while an answer is being generated."""
        self._is_running = is_running
        self.send.set_stop(is_running)
        self._update_send()

    def set_meter(self, fraction: float | None, amber_from: float = AMBER_FROM) -> None:
        """Show how much of the token budget the next request uses.

        If the user pressed Send before this was known, submit the message now.

        Args:
            fraction: the used fraction, where 1.0 is the whole budget, or None if it is unknown.
            amber_from: the fraction above which the meter has the warning colour.
        """
        self.meter.set_fraction(fraction, amber_from)
        self._is_unmeasured = False
        self._update_send()
        if self._sends_later:
            self._sends_later = False
            self._submit()

    def set_obstacle(self, text: str, actions: Sequence[LabelledAction] = ()) -> None:
        """Show why no message can be sent, or remove this notice if `text` is empty.

        Args:
            text: the reason as a sentence.
            actions: the buttons beside the sentence.
        """
        self._obstacle = text
        if text:
            self._note.say(text, actions)
        else:
            self._note.hide()
        self._update_send()

    def show_error(self, message: str, actions: Sequence[LabelledAction] = ()) -> None:
        """Show an error below the message text, with a red border around the composer.

        Args:
            message: why the message was not sent.
            actions: the buttons beside the error.
        """
        self._error.say(message, actions)
        self._frame.set_error(True)

    def clear_error(self) -> None:
        """Hide the error below the message text."""
        self._error.hide()
        self._frame.set_error(False)

    def error(self) -> str:
        """Return the error shown below the message text, or an empty string if none is shown."""
        return "" if self._error.isHidden() else self._error.text

    def show_waiting(self, when: str, text: str, take_back: Callable[[], None]) -> None:
        """Show a message that is sent later, with a button that puts it back.

        Args:
            when: when it is sent, as the start of a sentence.
            text: the message.
            take_back: called when the button is pressed.
        """
        text = one_line(text)
        text = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS].rstrip()}…"
        self.waiting.say(f"{when}: {text}", [(_TAKE_BACK, take_back)])

    def set_drop_target(self, is_target: bool) -> None:
        """Highlight the composer while the user drags something that can be attached."""
        self._frame.set_target(is_target)

    def set_hint_visible(self, is_visible: bool) -> None:
        """Show or hide the hint about keys below the text field."""
        self._hint.setVisible(is_visible)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Align the composer with the transcript's column."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Start watching the window's height, because it limits the text field's height."""
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the maximum height of the text field when the window is resized."""
        if event.type() == QEvent.Type.Resize and watched is self.window():
            self._fit()
        return False

    def _lay_out(self) -> None:
        # Qt restyles everything below a widget that gets a parent, so the outer widgets come first.
        self._column = make_column(
            self._frame, self._hint, margins=(0, 0, 0, 10), spacing=6, parent=self
        )
        tools = make_row(
            self.attach,
            self.modes,
            self.models,
            self.offline,
            stretch(),
            self.meter,
            self.send,
            margins=(8, 0, 8, 8),
            spacing=4,
        )
        self._chip_room = make_column(self.chips, margins=(10, 0, 10, 0))
        written = make_column(self.input, margins=(OUTDENT, 12, 10, 8))
        notices = make_column(
            self._error,
            self._note,
            self.waiting,
            self.queue,
            self.offer,
            margins=(8, 0, 8, 8),
            spacing=4,
        )
        make_column(
            self._chip_room, written, notices, tools, margins=0, spacing=0, parent=self._frame
        )

    def _connect(self) -> None:
        self.input.sent.connect(self._submit)
        self.input.textChanged.connect(self._on_text_changed)
        self.input.focus_changed.connect(self._frame.set_focused)
        self.input.left_back.connect(self.chips.focus_last)
        self.input.left_up.connect(self.last_requested)
        self.input.image_pasted.connect(self.image_pasted)
        self.input.files_pasted.connect(self.files_pasted)
        self.completer.attached.connect(self.attach_chosen)
        self.chips.removed.connect(self._on_chip_removed)
        self.chips.opened.connect(self.attach_opened)
        self.chips.left.connect(self.input.setFocus)
        self.attach.chosen.connect(self._on_attach)
        self.send.clicked.connect(self._on_send_clicked)
        self.meter.clicked.connect(lambda _checked=False: self.meter_clicked.emit())
        self.modes.chosen.connect(self._on_mode_chosen)
        self.models.model_chosen.connect(self.model_changed)
        self.models.setup_wanted.connect(self.model_wanted)
        self.models.file_wanted.connect(self.file_model_wanted)
        self.offline.clicked.connect(lambda _checked=False: self.offline_clicked.emit())

    def _fit(self) -> None:
        left, right = set_in(self.width())
        self._column.setContentsMargins(left, 0, right, 10)
        window = self.window()
        share = float(Theme.current().value("layout.composer.max_fraction"))
        if window is not self:
            self.input.set_most_height(int(window.height() * share))

    def _name_keys(self) -> None:
        keymap = Keymap.current()
        enter = f"{keymap.send_key} sends, {keymap.line_key} starts a line."
        self._hint.setText(f"{enter}  @ note  # tag  / command")
        self._update_send()

    def _is_too_much(self) -> bool:
        return self.meter.fraction is not None and self.meter.fraction > 1

    def _can_submit(self) -> bool:
        if self.is_command(self.text()):
            return True
        return self._has_words and not self._is_too_much() and not self._obstacle

    def _can_send(self) -> bool:
        return self._can_submit() and not self._is_running

    def _update_send(self) -> None:
        self.send.setEnabled(self._is_running or self._can_send())
        self.send.setToolTip(self._send_tip())

    def _send_tip(self) -> str:
        if self._is_running:
            keys = Keymap.current().send_key
            return f"{add_shortcut('Stop', 'stop')}. {keys} sends the message after this answer."
        if self._can_send():
            return f"Send ({Keymap.current().send_key})"
        if self._obstacle:
            return self._obstacle
        return _TOO_MUCH if self._has_words else "Write a message first."

    def _submit(self) -> None:
        self._sends_later = self._is_too_much() and self._is_unmeasured and self._has_words
        if not self._can_submit():
            return
        chips = [] if self.is_command(self.text()) else self.chips.chips()
        for chip in chips:
            if chip.state is not None and chip.state.obstacle:
                self._refuse(chip.attachment, chip.state)
                return
        self.submitted.emit(self.text())

    def _refuse(self, attachment: "Attachment", state: "ChipState") -> None:
        """Show why an attachment cannot be sent, with buttons that help."""
        text = ButtonText(f"Remove {attachment.name}", "Send the message without this attachment")
        remove = (text, lambda: self._on_chip_removed(attachment))
        retry_text = ButtonText("Try again", "Read the attachment again, then send the message")
        retry = (retry_text, lambda: self._on_retry(attachment))
        see = (_SEND_IMAGES, lambda: self.images_wanted.emit(state.blind_model))
        others = (see, remove) if state.blind_model else (remove,)
        actions = (retry, remove) if state.problem else others
        self.show_error(f"{state.obstacle} Nothing was sent.", actions)

    def _on_retry(self, attachment: "Attachment") -> None:
        """Let an attachment be read again. The message is sent once that has succeeded."""
        self.clear_error()
        self.input.setFocus()
        self._sends_later = True
        self.attach_retried.emit(attachment)

    def _on_send_clicked(self) -> None:
        if self._is_running:
            self.stop_requested.emit()
        else:
            self._submit()

    def _on_text_changed(self) -> None:
        text = self.text()
        self._has_words = bool(text.strip())
        self._is_unmeasured, self._sends_later = True, False
        self._update_send()
        self.text_changed.emit(text)

    def _on_attach(self, value: str) -> None:
        if value == "file":
            self.file_requested.emit()
        else:
            self.completer.begin(value)

    def _on_chip_removed(self, attachment: "Attachment") -> None:
        self.clear_error()
        self.attach_removed.emit(attachment)
        self.input.setFocus()

    def _on_mode_chosen(self, mode: str) -> None:
        self._show_mode_hint()
        self.mode_changed.emit(mode)

    def _show_mode_hint(self) -> None:
        self.input.set_hint(self.modes.hint)
