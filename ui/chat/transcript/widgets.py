"""Build the widgets of messages from transcript items, and forward their signals."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.config.models import ModelChoice, name_model
from app.errors import ErrorInfo
from app.sessions.transcript import (
    AnswerItem,
    CustomItem,
    DroppedItem,
    HookChangeItem,
    SummaryItem,
    TranscriptItem,
    UserItem,
)
from chains.citations.answer_sources import describe_unverified, list_sources
from chains.models import EXTRACTIVE, HERE
from ui.chat.composer.attachment import Attachment, describe_uses, find_images
from ui.chat.message.answer import Answer
from ui.chat.message.blocks import Divider, HookDivider, NoteBlock, SummaryDivider
from ui.chat.message.failures import Failure
from ui.chat.message.tools import MessageAction
from ui.chat.message.user import UserMessage
from ui.chat.transcript.feed import MessageRow, Slot
from ui.widgets.controls import one_line

__all__ = [
    "MessageMaker",
    "add_loose",
    "build_key",
    "hide_told_errors",
    "list_attachments",
    "take_failure",
]

_ABOVE = {"user": 28, "divider": 24, "aside": 16, "failure": 8, "approval": 8, "edits": 8}
_LOOSE = frozenset({"failure", "aside", "approval", "edits"})


class MessageMaker(QObject):
    """Builds the widgets of a chat's messages, and forwards their signals.

    Signals:
        citation_activated: the path and line range of a source.
        citation_pointed: an answer's entry ID and the number of the hovered citation, which is 0
            when the pointer leaves it.
        link_activated: a permitted address.
        embed_wanted: a view of an answer, and the source of an image or note that it embeds.
        task_pressed: a view of an answer, and the link to a task in it that the user wants to tick.
        claims_wanted: the widget of an answer, and the answer, whose claims are to be
            checked in the background.
        action_requested: a `MessageAction`.
        attachment_opened: the clicked `Attachment`.
        summary_edit_requested: the `SummaryItem` to edit.
        facts_wanted: the `SummaryDivider` and the exam of its summary, for whose facts the notes
            are to be searched in the background.
        summary_mend_requested: the `SummaryItem`, and the fact to keep or to take out of it.
        before_requested: the entry ID of the summary before which the user wants to continue.
        error_action: the name of an action offered by an error, and the error.
        edit_closed: a message's editor was closed.

    Attributes:
        is_missing: returns whether a link in an answer leads to a note that does not exist.
    """

    citation_activated = Signal(str, int, int)
    citation_pointed = Signal(str, int)
    link_activated = Signal(str)
    embed_wanted = Signal(object, str)
    task_pressed = Signal(object, str)
    claims_wanted = Signal(object, object)
    action_requested = Signal(object)
    attachment_opened = Signal(object)
    facts_wanted = Signal(object, object)
    summary_edit_requested = Signal(object)
    summary_mend_requested = Signal(object, object)
    before_requested = Signal(str)
    retry_requested = Signal()
    error_action = Signal(str, object)
    edit_closed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._places: dict[str, tuple[str, str]] = {}
        self.is_missing: Callable[[str], bool] = lambda _target: False
        self._open_thinking: set[str] = set()  # the entries of answers whose thinking is shown

    def set_models(self, choices: Sequence[ModelChoice], rows: Sequence[MessageRow]) -> None:
        """Set the label and the location of each model, and update the answers that show them.

        Args:
            choices: the models that the user can choose.
            rows: the rows of the messages that currently have a widget.
        """
        self._places = {choice.name: (choice.label, choice.where) for choice in choices}
        for row in rows:
            if isinstance(row.widget, Answer):
                self._show_model(row.widget)

    def make_slot(self, item: TranscriptItem) -> Slot:
        """Create a message slot for a transcript item. The slot builds the widget when needed."""
        made = self.make_loose_slot(_find_kind(item), self._choose_maker(item))
        made.key = build_key(item)
        made.item = item
        return made

    def make_loose_slot(self, kind: str, make: Callable[[], QWidget]) -> Slot:
        """Create a message slot whose content is not in the log, such as an error.

        Args:
            kind: the kind of the slot, such as `failure`.
            make: builds the widget.
        """
        return Slot(make, _ABOVE.get(kind, 0), kind)

    def update_slot(self, slot: Slot, item: TranscriptItem) -> bool:
        """Update a message slot, and its widget if there is one, after its item has changed.

        Return False if the widget cannot be updated and must be rebuilt.
        """
        is_same, slot.item = slot.item == item, item
        slot.make = self._choose_maker(item)
        widget = slot.row.widget if slot.row else None
        if is_same or widget is None:
            return True
        match item, widget:
            case UserItem(), UserMessage() if widget.text == item.text:
                widget.set_entry(item.entry, item.siblings, item.label)
                widget.show_pin(item.is_pinned)
                _show_sent(widget, item)
            case AnswerItem(), Answer() if widget.text == item.answer.shown_text:
                self._show_sources(widget, item)
                self._show_entry(widget, item)
                widget.show_end(item, with_error=True)
                if (widget.cost, widget.where) != (item.cost, item.where):  # known from the log on
                    widget.cost, widget.where = item.cost, item.where
                    self._show_model(widget)
            case SummaryItem(), SummaryDivider():
                return widget.show_change(item)
            case _:
                return False
        return True

    def build_user_message(
        self, text: str, time: str, attached: Sequence[Attachment], item: UserItem | None = None
    ) -> UserMessage:
        """Build the widget of a user message.

        Args:
            text: the text that was sent.
            time: when the text was sent, in ISO 8601, or an empty string if it is unknown.
            attached: the attachments of the message.
            item: the stored message, or None if the message is not stored yet.
        """
        made = UserMessage(text, time, attached)
        made.action_requested.connect(self.action_requested)
        made.attachment_opened.connect(self.attachment_opened)
        made.edit_closed.connect(self.edit_closed)
        if item is not None:
            made.set_entry(item.entry, item.siblings, item.label)
            made.show_pin(item.is_pinned)
            _show_sent(made, item)
        return made

    def build_answer(self, broken: AnswerItem | None = None) -> Answer:
        """Build an answer widget, to which text can be appended.

        It is empty, or begins with the text of an interrupted answer that is being continued.
        """
        made = Answer()
        made.citation_activated.connect(self.citation_activated)
        made.citation_pointed.connect(self.citation_pointed)
        made.link_activated.connect(self.link_activated)
        made.view.embed_wanted.connect(partial(self.embed_wanted.emit, made.view))
        made.view.listed_task_pressed.connect(partial(self.task_pressed.emit, made.view))
        made.view.mark_missing(self.is_missing)
        made.action_requested.connect(self.action_requested)
        made.retry_requested.connect(self.retry_requested)
        made.thinking.toggled.connect(lambda _is_open: self.note_thinking(made))
        if broken is not None:
            made.append(broken.answer.text)
            made.set_sources(list_sources(broken.answer.sources))
            made.show_steps(broken.answer.steps)
        return made

    def note_thinking(self, answer: Answer) -> None:
        """Remember whether an answer's thinking is shown, for when its widget is built again."""
        if answer.thinking.is_open:
            self._open_thinking.add(answer.entry)
        else:
            self._open_thinking.discard(answer.entry)

    def build_failure(self, info: ErrorInfo) -> Failure:
        """Build an error widget, to be shown in place of an answer."""
        made = Failure(info)
        made.chosen.connect(lambda way: self._on_action_chosen(way, info))
        return made

    def fill_answer(self, answer: Answer, item: AnswerItem) -> None:
        """Show a stored answer in an answer widget: text, sources, model, duration and price.

        Args:
            answer: the widget, which may contain streamed text of the same answer.
            item: the stored answer.
        """
        found = item.answer
        answer.finish(item.entry, item.time, found.shown_text)
        answer.show_sections(found.sections)
        answer.thinking.show_thinking(found.thinking)
        self._show_sources(answer, item)
        answer.model, answer.seconds, answer.cost = found.model, found.seconds, item.cost
        answer.where = item.where
        answer.tools.set_model_used(found.model != EXTRACTIVE)
        self._show_model(answer)

    def _choose_maker(self, item: TranscriptItem) -> Callable[[], QWidget]:
        match item:
            case UserItem():
                return lambda: self.build_user_message(
                    item.text, item.time, list_attachments(item), item
                )
            case AnswerItem():
                return lambda: self._build_stored_answer(item)
            case CustomItem():
                return lambda: NoteBlock("Added by an extension", item.text)
            case SummaryItem():
                return lambda: self._build_summary(item)
            case HookChangeItem():
                return lambda: HookDivider(item.hook, item.title, item.summary, item.details)
            case DroppedItem():
                return lambda: Divider(item.turns, item.tokens, item.reason)

    def _build_summary(self, item: SummaryItem) -> QWidget:
        made = SummaryDivider(item)
        made.edit_requested.connect(lambda: self.summary_edit_requested.emit(made.item))
        made.mend_requested.connect(lambda fact: self.summary_mend_requested.emit(made.item, fact))
        made.place_chosen.connect(self.citation_activated)
        made.continue_requested.connect(lambda: self.before_requested.emit(item.entry))
        if item.is_searchable:
            self.facts_wanted.emit(made, item.exam)
        return made

    def _build_stored_answer(self, item: AnswerItem) -> QWidget:
        if _is_failure(item):
            reason = one_line(item.answer.end.reason).rstrip(".")
            message = f"No answer arrived: {reason}." if reason else "No answer arrived."
            return self.build_stored_failure(message, item.entry, item.answer.end.error_code)
        made = self.build_answer()
        made.set_text(item.answer.shown_text)
        self.fill_answer(made, item)
        made.thinking.set_open(item.entry in self._open_thinking)
        self._show_entry(made, item)
        made.show_end(item, with_error=True)
        return made

    def build_stored_failure(self, message: str, entry: str, code: str = "") -> Failure:
        """Build the widget of an error that was stored in the log, with the buttons for its code.

        Args:
            message: the text to show.
            entry: the ID of the entry that "Try again" regenerates.
            code: the error's code, or an empty string if it is not known.
        """
        info = ErrorInfo(code, message)
        made, retry_action = Failure(info), MessageAction("again", entry)

        def act(way: str) -> None:
            if way == "retry":
                self.action_requested.emit(retry_action)
            else:
                self.error_action.emit(way, info)

        made.chosen.connect(act)
        return made

    def _show_sources(self, answer: Answer, item: AnswerItem) -> None:
        found, checked = item.answer, item.answer.checked
        sources = list_sources(found.sources, checked.citations, checked.unverified)
        answer.set_sources(sources)
        sentences = (one.sentence for one in item.changed)
        answer.show_doubts([*describe_unverified(checked.unverified, sources), *sentences])
        answer.show_changes(item.changed)
        answer.show_found_sources(found.sources_sentence)
        answer.show_filter(item.filter_parts)
        if found.has_claims or found.evidence is None:
            answer.claims.show_report(found.claims)
        else:
            self.claims_wanted.emit(answer, found)

    def _show_entry(self, answer: Answer, item: AnswerItem) -> None:
        answer.set_entry(item.entry, item.siblings, item.label)
        answer.show_pin(item.is_pinned)
        if item.answer.steps:
            answer.show_steps(item.answer.steps)

    def _show_model(self, answer: Answer) -> None:
        """Show who answered, and where. Where was stored with the answer, if it is in the log."""
        name, where = self._places.get(answer.model, (name_model(answer.model), ""))
        where = answer.where or where
        place = f"on {where}" if where == HERE else f"at {where}" if where else ""
        answer.tools.show_about(name, place, answer.seconds, answer.cost)

    def _on_action_chosen(self, way: str, info: ErrorInfo) -> None:
        if way == "retry":
            self.retry_requested.emit()
        else:
            self.error_action.emit(way, info)


def build_key(item: TranscriptItem) -> tuple[object, ...]:
    """Return a key that identifies a transcript item within its chat.

    The key contains the kind and the entry ID of the item. A divider for dropped turns has no
    entry, so its key contains its numbers and its reason.
    """
    if isinstance(item, DroppedItem):
        return ("divider", item.turns, item.tokens, item.reason)
    return (_find_kind(item), item.entry)


def add_loose(slots: Sequence[Slot], shown: Sequence[Slot]) -> list[Slot]:
    """Return the messages of the log together with shown messages that are not in the log.

    A message that is not in the log stays above the message that follows it. It can be an error, an
    approval card, a card of edits, or a block of text that is only displayed.

    Args:
        slots: the slots of all messages in the log, in order.
        shown: the slots that the chat shows now.
    """
    present, found = {id(slot) for slot in slots}, list(slots)
    after: Slot | None = None
    for slot in reversed(shown):
        if id(slot) in present:
            after = slot
        elif not slot.key and slot.kind in _LOOSE:
            found.insert(found.index(after) if after else len(found), slot)
            after = slot
    return found


def take_failure(item: TranscriptItem, slots: Sequence[Slot]) -> Slot | None:
    """Return the message slot that already shows the error of a failed answer, or None.

    The error was shown before the answer was stored, so its slot has no key yet. This function sets
    the key and the item of the slot.
    """
    loose = [slot for slot in slots if slot.kind == "failure" and not slot.key]
    if not loose or not _is_failure(item):
        return None
    loose[-1].key, loose[-1].item = build_key(item), item
    return loose[-1]


def hide_told_errors(slots: Sequence[Slot]) -> None:
    """Hide the error of a failed answer where a widget below the answer already shows it."""
    for slot, below in pairwise(slots):
        is_told = below.kind == "failure" and not below.key
        if is_told and isinstance(slot.item, AnswerItem) and isinstance(slot.widget, Answer):
            slot.widget.show_end(slot.item)


def _is_failure(item: TranscriptItem) -> bool:
    """Return whether an item is a failed answer without text or steps."""
    if not isinstance(item, AnswerItem) or item.answer.end.status != "error":
        return False
    return not item.answer.text and not item.answer.steps


def list_attachments(item: UserItem) -> list[Attachment]:
    """Return a user message's attachments, including selected lines."""
    lines = [Attachment(s.path, (s.first, s.last)) for s in item.selections]
    return [*map(Attachment, item.attach), *lines]


def _find_kind(item: TranscriptItem) -> str:
    match item:
        case UserItem():
            return "user"
        case AnswerItem():
            return "answer"
        case CustomItem():
            return "aside"
        case _:
            return "divider"


def _show_sent(message: UserMessage, item: UserItem) -> None:
    attached = message.attached
    message.show_uses(describe_uses(attached, item.sent), find_images(attached, item.sent))
