"""The transcript: a chat's messages in one column."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QPushButton, QStackedLayout, QWidget

from app.config.models import ModelChoice
from app.sessions.transcript import AnswerItem, UserItem
from app.sessions.transcript import ChatTranscript as Chat
from chains.events import RunEdits
from chains.models import EXTRACTIVE
from chains.tool import ApprovalRequest
from ui.chat.composer.attachment import Attachment
from ui.chat.message.answer import Answer
from ui.chat.message.approval_card import ApprovalCard
from ui.chat.message.blocks import ONLY_HERE, NoteBlock
from ui.chat.message.edits_card import EditsCard
from ui.chat.message.user import UserMessage
from ui.chat.transcript.empty_state import EmptyState
from ui.chat.transcript.feed import Feed, Slot
from ui.chat.transcript.live import LiveTurn
from ui.chat.transcript.navigation import KeyboardNavigation
from ui.chat.transcript.scroller import Scroller
from ui.chat.transcript.widgets import (
    MessageMaker,
    add_loose,
    build_key,
    hide_told_errors,
    take_failure,
)
from ui.theme import Theme

__all__ = ["Transcript"]

_TWO_TOASTS = 120
_ABOVE_QUESTION = 16  # pixels
_UNANSWERED = "This message has no answer yet."


class Transcript(QWidget):
    """The transcript of one chat, or the empty state if the chat has no messages.

    Emits `question_chosen` with a suggested question that was clicked.

    Attributes:
        maker: builds the messages' widgets, and forwards the signals of their actions.
        live: shows the running turn.
        feed: the column of messages.
        scroller: the scroll area around the feed.
        empty: the page that is shown while the chat has no messages.
    """

    question_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.maker = MessageMaker(self)
        self.empty = EmptyState()
        self.empty.question_chosen.connect(self.question_chosen)
        self.feed = Feed()
        self.live = LiveTurn(self.feed, self.maker)
        self.scroller = Scroller(self.feed)
        self._walker = KeyboardNavigation(self, self.scroller)
        self._saved_place: tuple[int, int, bool] | None = None
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.scroller)
        self.setAccessibleName("Chat")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        Theme.current().changed.connect(self._on_theme_changed)
        if isinstance(app := QApplication.instance(), QApplication):
            app.focusChanged.connect(self._on_focus_changed)

    def show_empty(
        self,
        note_count: int,
        indexed: str | None,
        questions: Sequence[str],
        is_bare: bool = False,
    ) -> None:
        """Show a chat without messages.

        Args:
            note_count: the number of notes in the vault.
            indexed: when the notes were indexed, in ISO 8601, or None if they never were.
            questions: suggested questions, of which at most three are shown.
            is_bare: whether the folder is known to hold no notes.
        """
        self.live.forget()
        self.feed.reset([])
        self.empty.show_state(note_count, indexed, questions, is_bare)
        self._stack.setCurrentWidget(self.empty)

    def show_empty_project(self, name: str) -> None:
        """Show a project's chat that has no messages yet."""
        self.live.forget()
        self.feed.reset([])
        self.empty.show_project(name)
        self._stack.setCurrentWidget(self.empty)

    def set_models(self, choices: Sequence[ModelChoice]) -> None:
        """Set the label and the location of each model, as shown below the model's answers."""
        self.maker.set_models(choices, self.feed.rows)

    def mark_missing(self, is_missing: Callable[[str], bool]) -> None:
        """Show links in answers to notes that do not exist in a quiet colour.

        Args:
            is_missing: returns whether the target of a link, as written, does not exist.
        """
        self.maker.is_missing = is_missing
        for row in self.feed.rows:
            if isinstance(row.widget, Answer):
                row.widget.view.mark_missing(is_missing)

    def refresh_views(self) -> None:
        """Compute the bases and queries in answers again, because notes have changed."""
        for row in self.feed.rows:
            if isinstance(row.widget, Answer):
                row.widget.view.refresh_views()

    def load(self, chat: Chat) -> None:
        """Show another chat, scrolled to the end."""
        self.live.forget()
        self.feed.reset([self.maker.make_slot(item) for item in chat.items])
        self._stack.setCurrentWidget(self.scroller)
        self.scroller.to_end()
        last = chat.items[-1] if chat.items else None
        if isinstance(last, AnswerItem) and last.answer.model == EXTRACTIVE:
            self.show_question()

    def show_unanswered(self, chat: Chat) -> None:
        """If the last message has no answer and no error, show a button that asks for one."""
        last = chat.items[-1] if chat.items else None
        if isinstance(last, UserItem):
            retry = partial(self.maker.build_stored_failure, _UNANSWERED, last.entry)
            self.feed.append(self.maker.make_loose_slot("failure", retry))
            self.scroller.to_end()

    def refresh(self, chat: Chat) -> None:
        """Update the chat that is shown. The widgets of unchanged messages are kept."""
        known = {slot.key: slot for slot in self.feed.slots() if slot.key}
        slots = []
        for item in chat.items:
            slot = known.get(build_key(item)) or take_failure(item, self.feed.slots())
            if slot is None:
                slot = self.maker.make_slot(item)
            elif not self.maker.update_slot(slot, item):
                self.feed.make_again(slot)
            slots.append(slot)
        self.feed.arrange(add_loose(slots, self.feed.slots()))
        hide_told_errors(self.feed.slots())
        self._restore_place()

    def hold_versions(self, entry: str) -> None:
        """Keep a message in place while the user switches to another version of the message.

        If a widget in the message has the focus, the version switcher of the new version receives
        it.

        Args:
            entry: the entry ID of any version of the message.
        """
        for at, slot in enumerate(self.feed.slots()):
            if slot.row is not None and entry in getattr(slot.item, "siblings", ()):
                focused = QApplication.focusWidget()
                is_focused = focused is not None and slot.row.isAncestorOf(focused)
                self._saved_place = (at, slot.row.y() - self.scroller.bar.value(), is_focused)
                return

    def begin_turn(
        self,
        question: str,
        attached: Sequence[Attachment] = (),
        *,
        instead: str = "",
        is_again: bool = False,
        continues: str = "",
    ) -> None:
        """Show a new turn and scroll to it. The arguments are those of `LiveTurn.begin`."""
        self._stack.setCurrentWidget(self.scroller)
        self.live.begin(question, attached, instead=instead, is_again=is_again, continues=continues)
        self.scroller.to_end()

    def show_aside(self, title: str, text: str, note: str = ONLY_HERE) -> None:
        """Append a block of Markdown that is no message. The note says what becomes of its text."""
        self._stack.setCurrentWidget(self.scroller)
        self.feed.append(
            self.maker.make_loose_slot("aside", lambda: self._aside(title, text, note))
        )
        self.scroller.to_end()

    def show_approval(self, request: ApprovalRequest) -> ApprovalCard:
        """Append an approval card without moving the visible messages, and return the card."""
        card = ApprovalCard(request)
        slot = self.maker.make_loose_slot("approval", lambda: card)
        slot.is_kept = True
        self._stack.setCurrentWidget(self.scroller)
        self.feed.append(slot)
        return card

    def remove_approval(self, card: ApprovalCard) -> None:
        """Remove an approval card after a decision or at the end of the turn."""
        if slot := self._find_slot(card):
            slot.is_kept = False
            self.feed.remove(slot)

    def reveal(self, widget: QWidget) -> None:
        """Scroll to the message that a widget belongs to, if it is not in view."""
        if slot := self._find_slot(widget):
            if slot.row is None:
                self.scroller.reveal(slot)
            if slot.row is not None:
                self.scroller.show_row(slot.row)

    def _find_slot(self, widget: QWidget) -> Slot | None:
        """Return the slot of the message that a widget shows, or that it is part of."""
        for slot in self.feed.slots():
            shown = slot.widget
            if shown is not None and (shown is widget or shown.isAncestorOf(widget)):
                return slot
        return None

    def list_guarded_buttons(self) -> list[QWidget]:
        """Return the buttons that toasts must not cover.

        These are those of all approval cards, those below the last answer, and "Jump to latest". A
        card with room for two toasts above it is not covered at all.
        """
        cards, room = self._list_cards(), Theme.current().px(_TWO_TOASTS)
        free = [card for card in cards if card.mapTo(self, QPoint()).y() > room]
        tight = [card for card in cards if card not in free]
        buttons = [button for card in tight for button in card.findChildren(QPushButton)]
        last = self._last_answer()
        tools = [last.tools] if last is not None and last.tools.isVisible() else []
        return [*free, *buttons, *tools, self.scroller.jump]

    def _list_cards(self) -> list[ApprovalCard]:
        return [row.widget for row in self.feed.rows if isinstance(row.widget, ApprovalCard)]

    def show_edits(self, edits: RunEdits) -> EditsCard:
        """Append a card with the notes that an agent changed in a turn, and return the card.

        Args:
            edits: the changes as recorded in the turn's result: the ID of the agent run and the
                notes.
        """
        card = EditsCard(edits)
        slot = self.maker.make_loose_slot("edits", lambda: card)
        slot.is_kept = True
        self.feed.append(slot)
        return card

    def list_edits(self) -> list[EditsCard]:
        """Return the cards of agent runs that changed notes, oldest first."""
        return [row.widget for row in self.feed.rows if isinstance(row.widget, EditsCard)]

    def edit(self, entry: str, text: str) -> None:
        """Open the editor of a user message, filled with the given text.

        Args:
            entry: the entry ID of the message.
            text: the text to edit.
        """
        if message := self._question(entry):
            message.edit(text)

    def edit_last(self) -> None:
        """Open the editor of the last user message and scroll to it."""
        for row in reversed(self.feed.rows):
            if isinstance(row.widget, UserMessage):
                row.widget.edit()
                self.scroller.show_row(row)
                return

    def list_attachments(self, entry: str) -> tuple[Attachment, ...]:
        """Return the attachments of the user message with the given entry ID."""
        message = self._question(entry)
        return () if message is None else message.attached

    def mark_source(self, number: int) -> None:
        """Highlight the last answer's citations with the given number, or none if it is 0."""
        if answer := self._last_answer():
            answer.view.mark(number)

    def is_last_answer(self, entry: str) -> bool:
        """Return whether an entry ID belongs to the last answer in the chat."""
        return bool(entry) and entry == self.last_answer_entry

    def list_later_questions(self, entry: str) -> list[str]:
        """Return the entry IDs of the user messages behind a message or answer."""
        slots = self.feed.slots()
        place = next((at for at, slot in enumerate(slots) if slot.key[1:2] == (entry,)), len(slots))
        return [str(slot.key[1]) for slot in slots[place + 1 :] if slot.key[:1] == ("user",)]

    def show_question(self) -> None:
        """Scroll to the last question, unless the user has scrolled away from the chat's end."""
        asked = next((slot for slot in reversed(self.feed.slots()) if slot.kind == "user"), None)
        if asked is not None and asked.row is not None and self.scroller.is_following:
            self.scroller.hold(asked.row, _ABOVE_QUESTION)

    def find_broken_answer(self) -> str:
        """Return the entry ID of the last answer if it can be continued, or an empty string."""
        items = [slot.item for slot in self.feed.slots() if isinstance(slot.item, AnswerItem)]
        return items[-1].entry if items and items[-1].can_continue else ""

    @property
    def last_answer_entry(self) -> str:
        """The entry ID of the last answer, or an empty string if the chat has no answer."""
        return answer.entry if (answer := self._last_answer()) else ""

    def copy_last_answer(self) -> None:
        """Copy the last answer to the clipboard."""
        if answer := self._last_answer():
            answer.copy()

    def copy_last_code(self) -> None:
        """Copy the last code block of the last answer to the clipboard."""
        if answer := self._last_answer():
            answer.view.copy_last_code()

    def step_message(self, by: int) -> None:
        """Move to the next message, or to the previous one if `by` is negative."""
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._walker.step(by)

    def hasHeightForWidth(self) -> bool:
        """Return False, so that the layout gives the composer its height first."""
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Align the empty state with the text column."""
        super().resizeEvent(event)
        self.empty.fit(self.width())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between messages with Up and Down. Scroll with Page Up, Page Down, Home and End."""
        bar = self.scroller.bar
        match event.key():
            case Qt.Key.Key_Up:
                self._walker.step(-1)
            case Qt.Key.Key_Down:
                self._walker.step(1)
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown:
                down = event.key() == Qt.Key.Key_PageDown
                bar.setValue(bar.value() + (bar.pageStep() if down else -bar.pageStep()))
            case Qt.Key.Key_Home:
                bar.setValue(bar.minimum())
            case Qt.Key.Key_End:
                self.scroller.to_end()
            case _:
                super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring of the current message, unless a mouse click set the focus."""
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self._walker.show()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the focus ring of the current message when the transcript loses the focus.

        The ring stays after Tab, because Tab may have moved the focus to a widget in the message.
        """
        super().focusOutEvent(event)
        if event.reason() not in {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason}:
            self._walker.forget()

    def _on_focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to an approval card that receives the focus.

        Remove the focus ring when the focus leaves the chat.
        """
        if now is not None and any(card.isAncestorOf(now) for card in self._list_cards()):
            self.reveal(now)
        was_inside = before is not None and self.isAncestorOf(before)
        if was_inside and now is not None and now is not self and not self.isAncestorOf(now):
            self._walker.forget()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus with Tab or Shift+Tab. The whole chat is one tab stop.

        From the chat, Tab moves into the current message and through its widgets. After the last
        one, the focus leaves the chat. Return whether a widget received the focus.
        """
        if self._stack.currentWidget() is self.scroller:
            if self._walker.tab(forward):
                return True
            # Qt continues from the focused widget, and a message's widgets have no fixed order.
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        return super().focusNextPrevChild(forward)

    def _restore_place(self) -> None:
        saved_place, self._saved_place = self._saved_place, None
        slots = self.feed.slots()
        if saved_place is None or saved_place[0] >= len(slots):
            return
        at, above, is_focused = saved_place
        self.feed.reveal(slots[at])
        row = slots[at].row
        if row is None:
            return
        self.scroller.hold(row, above)
        if is_focused and isinstance(row.widget, UserMessage | Answer):
            row.widget.tools.siblings.take_focus()

    def _aside(self, title: str, text: str, note: str) -> NoteBlock:
        made = NoteBlock(title, text, note=note)
        made.dismissed.connect(self._on_dismissed)
        return made

    def _on_dismissed(self) -> None:
        aside = self.sender()
        if isinstance(aside, QWidget) and (slot := self._find_slot(aside)):
            self.feed.remove(slot)
        if not self.feed.slots():
            self._stack.setCurrentWidget(self.empty)

    def _question(self, entry: str) -> UserMessage | None:
        for row in self.feed.rows:
            if isinstance(row.widget, UserMessage) and row.widget.entry == entry:
                return row.widget
        return None

    def _last_answer(self) -> Answer | None:
        answers = [row.widget for row in self.feed.rows if isinstance(row.widget, Answer)]
        return answers[-1] if answers else None

    def _on_theme_changed(self) -> None:
        self.empty.fit(self.width())
