"""Ask the user about calls to models that may pass a spending limit, one after the other.

The turn of a call waits in its own thread until its `LimitQuestion` is answered.
"""

from collections import deque
from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.spending import LimitQuestion, LimitVerdict
from chains.errors import UnpricedCallHeld, format_dollars
from ui.controllers.session import Collaborators, Controller
from ui.settings.writer import SettingsWriter
from ui.theme import Theme
from ui.widgets.buttons import ButtonText, make_button
from ui.widgets.controls import make_wrapped_label, one_line
from ui.widgets.layouts import make_column, make_row, stretch

__all__ = ["LimitDialog", "SpendingController"]

_WIDTH: Final = 480
_DAYS: Final = {"day": "today", "month": "this month"}
_STOP = ButtonText("Stop", "Send nothing; your message is kept (Esc)")
_STOP_CALLS = ButtonText("Stop", "Send nothing (Esc)")
_SEND = ButtonText("Send once", "Let this answer pass the limit, which stays as it is")
_SEND_CALLS = ButtonText("Send once", "Let these calls pass the limit, which stays as it is")


class LimitDialog(QDialog):
    """Asks whether a call may pass a spending limit. Escape and Enter send nothing.

    Attributes:
        verdict: the user's decision, when the dialog has closed.

    Args:
        parent: the window.
    """

    def __init__(self, parent: QWidget, question: LimitQuestion) -> None:
        super().__init__(parent)
        self.verdict: LimitVerdict = "stop"
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Spending limit")
        has_message = question.passed.calls is None
        stop = make_button(_STOP if has_message else _STOP_CALLS, "", self.reject)
        stop.setDefault(True)
        send_text = _SEND if has_message else _SEND_CALLS
        send = make_button(send_text, "", lambda: self._decide("send"))
        make_column(
            make_wrapped_label(_describe_question(question), "ui"),
            make_row(stretch(), stop, *self._make_raise_button(question), send, spacing=8),
            margins=(24, 20, 24, 16),
            spacing=16,
            parent=self,
        )
        self.setFixedWidth(Theme.current().px(_WIDTH))
        stop.setFocus()

    def _make_raise_button(self, question: LimitQuestion) -> tuple[QWidget, ...]:
        if question.new_limit is None:
            return ()
        new, period = format_dollars(question.new_limit), question.passed.period
        text = ButtonText(f"Raise to {new}", f"Let the limit for a {period} be {new} from now on")
        return (make_button(text, "", lambda: self._decide("raised")),)

    def _decide(self, verdict: LimitVerdict) -> None:
        self.verdict = verdict
        self.accept()


class SpendingController(Controller):
    """Shows a dialog for each call that may pass a spending limit."""

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self._waiting: deque[LimitQuestion] = deque()
        self._writer = SettingsWriter(self._assistant, self._runner, self)
        self._writer.changed.connect(self._on_raised)
        self._writer.refused.connect(self._on_refused)
        mail = self._runner.mailbox()
        mail.arrived.connect(self._on_asked)
        self._assistant.spending.connect(mail.put)

    def _on_asked(self, question: LimitQuestion) -> None:
        self._waiting.append(question)
        if len(self._waiting) == 1:
            self._show()

    def _show(self) -> None:
        question = self._waiting[0]
        dialog = LimitDialog(QApplication.activeWindow() or self._frame.window, question)
        dialog.finished.connect(partial(self._on_closed, dialog, question))
        self._frame.dialogs.watch(dialog)
        QApplication.alert(self._frame.window)
        dialog.open()

    def _on_closed(self, dialog: LimitDialog, question: LimitQuestion, _code: int) -> None:
        if dialog.verdict == "raised":
            self._writer.set(question.key, question.new_limit)
            return
        self._waiting.popleft().answer(dialog.verdict)
        if self._waiting:
            self._show()

    def _on_raised(self) -> None:
        """Let all calls that wait be compared with the new limit."""
        while self._waiting:
            self._waiting.popleft().answer("raised")

    def _on_refused(self, _key: str, problem: str) -> None:
        self._frame.notifier.toast(problem)
        self._show()


def _describe_question(question: LimitQuestion) -> str:
    passed = question.passed
    if isinstance(passed, UnpricedCallHeld):
        return (
            f"The price of {one_line(passed.model)} is not known, so your limit of "
            f"{format_dollars(passed.limit)} cannot hold what the next call costs."
        )
    calls = "The next call" if (passed.calls or 1) == 1 else f"Up to {passed.calls} calls"
    return (
        f"{calls} to {one_line(passed.service)} may cost {format_dollars(passed.most)}. "
        f"{format_dollars(passed.spent)} of {format_dollars(passed.limit)} were spent "
        f"{_DAYS[passed.period]}, so it may pass your limit."
    )
