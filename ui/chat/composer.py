"""Where a message is written, with what it is sent to and how full the request is."""

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from ui.chat.composer_parts import Chooser, ComposerError, Meter, SendButton
from ui.chat.composer_text import ComposerText
from ui.chat.measure import OUTDENT, set_in
from ui.kit.controls import label
from ui.theme import Theme

__all__ = ["Composer"]

_MODES = {
    "chat": ("Chat", "chat", "Ask the model"),
    "vault": ("Vault", "books", "Ask about your notes"),
}
_TOO_MUCH = "The message does not fit. Shorten it, or raise the limit."


class Choice(Protocol):
    """A model that can be chosen, as the assistant lists them."""

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def where(self) -> str: ...


class Composer(QWidget):
    """Text, mode, model, meter, Send.

    `submitted` carries the text, which stays until the owner clears it; `mode_changed` is `chat`
    or `vault`.
    """

    submitted = Signal(str)
    stop_requested = Signal()
    mode_changed = Signal(str)
    model_changed = Signal(str)
    text_changed = Signal(str)
    meter_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_running = self._has_words = False
        self.input = ComposerText()
        self.send = SendButton()
        self.meter = Meter()
        self.modes = Chooser("Mode", "books")
        self.models = Chooser("Model", "cpu")
        self._error = ComposerError()
        self._hint = label("Enter sends, Shift+Enter starts a line.", "caption", "tertiary")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._frame = _Frame()
        self.modes.set_choices([(value, words[0], "") for value, words in _MODES.items()])
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.input)
        self.set_mode("vault")
        self._update_send()

    def text(self) -> str:
        """Return what is written."""
        return self.input.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is written."""
        self.input.set_text(text)

    def mode(self) -> str:
        """Return `chat` or `vault`."""
        return self.modes.value

    def set_mode(self, mode: str) -> None:
        """Show a mode as chosen."""
        self.modes.set_value(mode)
        self._dress_mode()

    def set_models(self, choices: Sequence[Choice]) -> None:
        """Offer these models."""
        self.models.set_choices([(choice.name, choice.label, choice.where) for choice in choices])

    def set_model(self, name: str) -> None:
        """Show a model as chosen."""
        self.models.set_value(name)

    def open_modes(self) -> None:
        """Open the list of modes."""
        self.modes.open()

    def open_models(self) -> None:
        """Open the list of models."""
        self.models.open()

    def set_running(self, is_running: bool) -> None:
        """Offer to stop while an answer is on its way."""
        self._is_running = is_running
        self.send.set_stop(is_running)
        self._update_send()

    def set_meter(self, fraction: float | None) -> None:
        """Show how full the next request is; None where that is not known."""
        self.meter.set_fraction(fraction)
        self._update_send()

    def show_error(
        self, message: str, actions: Sequence[tuple[str, Callable[[], object]]] = ()
    ) -> None:
        """Say in place why the message was not sent; `actions` are words and what they do."""
        self._error.say(message, actions)
        self._frame.set_error(True)

    def clear_error(self) -> None:
        """Take the error away."""
        self._error.hide()
        self._frame.set_error(False)

    def error(self) -> str:
        """Return what is said to be wrong, or nothing."""
        return "" if self._error.isHidden() else self._error.text

    def set_hint_visible(self, is_visible: bool) -> None:
        """Show the line about the keys, or take it away for good."""
        self._hint.setVisible(is_visible)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stand in the transcript's column."""
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the window's height: the text takes at most a share of it."""
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take less of a lower window."""
        if event.type() == QEvent.Type.Resize and watched is self.window():
            self._fit()
        return False

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font scale."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._fit()

    def _lay_out(self) -> None:
        tools = QHBoxLayout()
        tools.setContentsMargins(8, 0, 8, 8)
        tools.setSpacing(4)
        tools.addWidget(self.modes)
        tools.addWidget(self.models)
        tools.addStretch(1)
        tools.addWidget(self.meter)
        tools.addWidget(self.send)
        written = QVBoxLayout()
        written.setContentsMargins(OUTDENT, 12, 10, 8)
        written.addWidget(self.input)
        said = QVBoxLayout()
        said.setContentsMargins(8, 0, 8, 8)
        said.addWidget(self._error)
        inner = QVBoxLayout(self._frame)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addLayout(written)
        inner.addLayout(said)
        inner.addLayout(tools)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(6)
        self._column.addWidget(self._frame)
        self._column.addWidget(self._hint)
        self._column.setContentsMargins(0, 0, 0, 10)

    def _connect(self) -> None:
        self.input.sent.connect(self._submit)
        self.input.textChanged.connect(self._on_text_changed)
        self.input.focus_changed.connect(self._frame.set_focused)
        self.send.clicked.connect(self._on_send_clicked)
        self.meter.clicked.connect(lambda _checked=False: self.meter_clicked.emit())
        self.modes.chosen.connect(self._on_mode_chosen)
        self.models.chosen.connect(self.model_changed)

    def _fit(self) -> None:
        left, right = set_in(self.width())
        self._column.setContentsMargins(left, 0, right, 10)
        window = self.window()
        share = float(Theme.current().value("layout.composer.max_fraction"))
        if window is not self:
            self.input.set_most_height(int(window.height() * share))

    def _can_send(self) -> bool:
        is_too_much = self.meter.fraction is not None and self.meter.fraction > 1
        return self._has_words and not is_too_much and not self._is_running

    def _update_send(self) -> None:
        self.send.setEnabled(self._is_running or self._can_send())
        self.send.setToolTip(self._send_tip())

    def _send_tip(self) -> str:
        if self._is_running:
            return "Stop (Esc)"
        if self._can_send():
            return "Send (Enter)"
        return _TOO_MUCH if self._has_words else "Write a message first."

    def _submit(self) -> None:
        if self._can_send():
            self.submitted.emit(self.text())

    def _on_send_clicked(self) -> None:
        if self._is_running:
            self.stop_requested.emit()
        else:
            self._submit()

    def _on_text_changed(self) -> None:
        text = self.text()
        self._has_words = bool(text.strip())
        self._update_send()
        self.text_changed.emit(text)

    def _on_mode_chosen(self, mode: str) -> None:
        self._dress_mode()
        self.mode_changed.emit(mode)

    def _dress_mode(self) -> None:
        _word, icon_name, hint = _MODES.get(self.modes.value, _MODES["vault"])
        self.modes.set_icon(icon_name)
        self.input.set_hint(hint)


class _Frame(QFrame):
    """The composer's edge: quiet, in focus, or in error."""

    def __init__(self) -> None:
        super().__init__()
        self._is_focused = self._is_error = False

    def set_focused(self, is_focused: bool) -> None:
        self._is_focused = is_focused
        self.update()

    def set_error(self, is_error: bool) -> None:
        self._is_error = is_error
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = "line.focus" if self._is_focused else "line.control"
        painter.setPen(theme.color("danger.graphic" if self._is_error else edge))
        painter.setBrush(theme.color("bg.input"))
        rect = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(rect, theme.radius("xl"), theme.radius("xl"))
