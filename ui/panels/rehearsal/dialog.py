"""The dialog that asks again without some of what the model saw."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QDialog, QWidget

from ui.panels.rehearsal.result_text import ArrivingAnswer, ResultText
from ui.panels.rehearsal.switches import PartSwitches
from ui.theme import Theme, tokens
from ui.widgets.buttons import DONE, ButtonText, make_button
from ui.widgets.controls import label, make_wrapped_label
from ui.widgets.dialogs import QuestionDialog
from ui.widgets.formatting import count, plural
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.surfaces import Hairline, Pane

if TYPE_CHECKING:
    from app.rehearsal.result import EachResult, RehearsalOffer, RehearsalProgress, RehearsalResult

__all__ = ["RehearsalDialog"]

_WIDTH: Final = 1_160
_LIST_PX: Final = 320
_MARGIN: Final = 64
_LOADING: Final = "Reading what the model saw…"
_EMPTY: Final = (
    "Turn off what is to be left out, and ask again: the new answer is compared with the one in "
    "the chat, which stays as it is."
)
_STOPPED_EARLY: Final = "Stopped before anything arrived."
_STOPPED: Final = "Stopped. What had arrived of this answer is shown, and is not kept."
_KEPT: Final = "The whole answers before are kept, and are not asked again."
_ASK = ButtonText("Ask again so", "Ask again without what is turned off")
_EACH = ButtonText(
    "Leave out each source", "Find out which source carries which sentence, in at most 12 calls"
)
_AGREE = ButtonText("Ask", "Agree to the price, and ask")
_STOP = ButtonText("Stop", "Stop asking, and keep what was asked until then")
_NEXT = ButtonText("Next difference", "Scroll to the next sentence that differs (F7)")
_BEFORE = ButtonText("Previous difference", "Scroll to the sentence before (Shift+F7)")


class RehearsalDialog(QDialog):
    """A dialog with a switch for each part of a request, and with what came of asking again.

    Signals:
        parts_changed: emitted with the keys of what is to be left out.
        ask_requested: emitted with these keys, when the user wants to ask again without them.
        each_requested: emitted when the user has agreed to leave out each source in turn.
        price_requested: emitted when the user wants to know what that costs.
        stop_requested: emitted when the user wants to stop.
        left: emitted when the dialog closes.

    Attributes:
        parts: the switches.
        outcome: what came of it.
        state: the sentence that says what is shown, or why nothing is.
        price: what it costs to ask again.
    """

    parts_changed = Signal(list)
    ask_requested = Signal(list)
    each_requested = Signal()
    price_requested = Signal()
    stop_requested = Signal()
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Ask again without…")
        self.setModal(True)
        self._below = parent.window()
        self._at, self._is_asking, self._done = -1, False, 0
        self.parts, self.outcome = PartSwitches(), ResultText()
        self.parts.changed.connect(lambda: self.parts_changed.emit(self.parts.left_out))
        self.state = make_wrapped_label(_LOADING, "ui", "secondary")
        self.price = make_wrapped_label("", "caption", "secondary")
        self.place = label("", "caption", "secondary", numbers=True)
        self.ask = make_button(_ASK, "", lambda: self.ask_requested.emit(self.parts.left_out))
        self.each = make_button(_EACH, "", self.price_requested.emit)
        self.stop = make_button(_STOP, "", self.stop_requested.emit)
        self.next = make_button(_NEXT, "", lambda: self.step(1))
        self.before = make_button(_BEFORE, "", lambda: self.step(-1))
        for key, by in (("F7", 1), ("Shift+F7", -1)):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.activated.connect(lambda by=by: self.step(by))
        self._lay_out()
        self.finished.connect(lambda _result: self.left.emit())

    def begin(self) -> None:
        """Open the dialog, and say that the request is being read."""
        self.state.setText(_LOADING)
        self.price.setText("")
        self.parts.show_parts(())
        self.outcome.show_result(None)
        self._is_asking = False
        self._update(can_ask=False)
        self.show()
        self.raise_()
        self.activateWindow()

    def show_offer(self, offer: "RehearsalOffer") -> None:
        """Show what can be left out, and what it costs. Switches that are off stay off."""
        if not self.parts.switches:
            self.parts.show_parts(offer.parts)
            self.state.setText(" ".join((_EMPTY, *offer.notes)))
        self.price.setText(f"{offer.price}.")
        self.ask.setToolTip(f"{_ASK.tip}: {offer.price}")
        self._update(can_ask=not self._is_asking)

    def confirm_each(self, offer: "RehearsalOffer") -> None:
        """Show what it costs to leave out each source in turn, and ask whether to do so."""
        if not offer.cost.calls:
            self.each_requested.emit()
            return
        question = QuestionDialog(self, f"Leave out each source in turn: {offer.price}?", _AGREE)
        question.accepted.connect(self.each_requested.emit)
        question.open()

    def show_progress(self, at: "RehearsalProgress") -> None:
        """Say how far it is, and offer to stop."""
        what = f"without {', '.join(at.left_out)}" if at.left_out else "unchanged"
        of = f" {count(at.done + 1)} of up to {count(at.most)}" if at.most > 1 else ""
        self.state.setText(f"Asking{of}, {what}…")
        self._is_asking, self._done = True, at.done
        self.outcome.begin_answer(ArrivingAnswer(at.before, at.left_out))
        self._at = -1
        self.place.setText("")
        self._update(can_ask=False)

    def add_text(self, text: str) -> None:
        """Show text of the answer as it arrives."""
        self.outcome.add_text(text)

    def take_back(self) -> None:
        """Show no more of the answer so far, because it was thinking."""
        self.outcome.take_back()

    def show_answer(self, found: "RehearsalResult") -> None:
        """Show an answer beside that of the chat."""
        difference = found.difference
        known = "Asked before: nothing was sent. " if found.is_known else ""
        if difference.is_none:
            summary = "The same sentences as in the chat."
        else:
            gone, new = plural(len(difference.gone), "sentence"), count(len(difference.new))
            reworded = len(difference.reworded)
            also = f", {count(reworded)} worded differently" if reworded else ""
            summary = f"{gone} fell or changed, {new} new{also}, {count(difference.same)} the same."
        self._show(found, f"{known}{summary}")

    def show_table(self, found: "EachResult") -> None:
        """Show which source carried which sentence."""
        asked = plural(found.table.calls, "answer")
        self._show(found, f"{asked} of {found.model}, {count(found.sent)} of them asked now.")

    def show_failure(self, sentence: str) -> None:
        """Say why nothing came of it. What is shown stays."""
        if self._is_asking:
            arriving = self.outcome.arriving
            has_text = arriving is not None and bool(arriving.text)
            self.outcome.mark("broke off" if has_text else "no answer arrived")
        self._is_asking = False
        self.state.setText(sentence)

    def end(self) -> None:
        """Say that nothing is asked any more."""
        if self._is_asking:  # neither an answer nor a failure has come
            arriving = self.outcome.arriving
            sentence = _STOPPED if arriving is not None and arriving.text else _STOPPED_EARLY
            self.state.setText(f"{sentence} {_KEPT}" if self._done else sentence)
            self.outcome.mark("stopped")
        self._is_asking = False
        self._update(can_ask=bool(self.parts.switches))

    def step(self, by: int) -> None:
        """Scroll to the next or previous sentence that differs.

        Args:
            by: 1 for the next one, or -1 for the previous one.
        """
        places = self.outcome.differences
        if not places:
            return
        self._at = (self._at + by) % len(places)
        self.place.setText(f"{count(self._at + 1)} of {count(len(places))}")
        cursor = QTextCursor(self.outcome.document())
        cursor.setPosition(places[self._at])
        self.outcome.setTextCursor(cursor)
        self.outcome.ensureCursorVisible()

    def _show(self, found: "RehearsalResult | EachResult", sentence: str) -> None:
        self._is_asking = False
        self.state.setText(" ".join((sentence, *found.remarks)))
        self.outcome.show_result(found)
        self._at = -1
        self.place.setText("")
        self._update(can_ask=False)
        self.outcome.setFocus()

    def _update(self, *, can_ask: bool) -> None:
        for widget in (self.ask, self.each, self.parts):
            widget.setEnabled(can_ask)
        self.stop.setVisible(self._is_asking)
        for button in (self.before, self.next):
            button.setEnabled(bool(self.outcome.differences))

    def _lay_out(self) -> None:
        ground = Pane("content")
        make_column(ground, margins=0, parent=self)
        side = QWidget()
        side.setFixedWidth(Theme.current().px(_LIST_PX))
        act = make_row(self.ask, self.each, stretch(), margins=0, spacing=8)
        make_column(grow(self.parts), self.price, act, margins=0, spacing=8, parent=side)
        both = make_row(side, Hairline(is_vertical=True), grow(self.outcome), spacing=16)
        foot = make_row(self.before, self.next, self.place, stretch(), self.stop, spacing=8)
        foot.addWidget(make_button(DONE, "primary", self.accept))
        title = label("Ask again without…", "h2")
        make_column(title, self.state, grow(both), foot, margins=24, spacing=12, parent=ground)
        theme, usual = Theme.current(), tokens()["layout"]["dialog_settings"]
        room = self._below.size() - QSize(_MARGIN, _MARGIN)
        self.resize(QSize(theme.px(_WIDTH), theme.px(usual[1])).boundedTo(room))
