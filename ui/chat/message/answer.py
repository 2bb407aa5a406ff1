"""An answer: the steps, the text, and the actions below it.

`Answer` keeps the text and passes it on to `AnswerView` in `ui/chat/message/sections.py`, the
widget that draws it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QWidget

from app.config.schema import use_labels
from app.sessions.transcript import AnswerItem
from chains.citations.answer_sources import Source
from chains.citations.changes import ChangedSource
from chains.citations.sections import ShownSection
from chains.retrieval.listing_query import FilterPart
from chains.turn_answer import ToolStep, describe_ending
from ui.chat.message.answer_status import EndingLine, StepLine, UnverifiedNotice
from ui.chat.message.answer_tools import AnswerTools
from ui.chat.message.claims import ClaimCheck
from ui.chat.message.filter_row import FilterRow
from ui.chat.message.sections import AnswerView
from ui.chat.message.steps import Steps
from ui.chat.message.thinking import ThinkingPanel
from ui.chat.message.tools import MessageAction
from ui.markdown.inline import FOLD, SECTION
from ui.markdown.parser import CITATION
from ui.theme import Theme
from ui.widgets.controls import make_wrapped_label
from ui.widgets.diff import DiffView
from ui.widgets.drags import DragSource, pack_markdown
from ui.widgets.formatting import format_minutes, plural
from ui.widgets.geometry import OUTDENT
from ui.widgets.layouts import make_column, make_row
from ui.widgets.surfaces import AccessibleFrame

__all__ = ["Answer"]

_NUMBER = re.compile(r"\d+")


KEPT: Final = "What had arrived is kept."


class Answer(AccessibleFrame):
    """The widget of one answer. Its `view`, an `AnswerView`, draws the text.

    Signals:
        citation_activated: the path and line range of the source of a clicked citation.
        citation_pointed: the answer's entry ID and the number of the hovered citation, which is 0
            when the pointer leaves it.
        action_requested: a `MessageAction`.

    Attributes:
        claims: the line that says what of it is in what was sent, hidden if nothing was checked.
        changed: the cited notes that have changed since the answer was written.
        doubts: the callout that lists unverified citations, or None if all are verified.
        ending: why the answer is incomplete, or an empty string if it is complete.
        filter: the filter of a list, part by part, or None for other answers.
        sources_sentence: a sentence which says that Strata found the sources by itself, or an empty
            string if the model cited its sources.
        model: the name of the model that wrote the answer, or an empty string until it is finished.
        seconds: the duration of the answer so far, in seconds, or None if it is unknown.
        steps: the list of the agent's steps.
        step: the line with the current step, visible while the answer streams.
        thinking: what the model thought, folded.
        tools: the actions below a finished answer.
        view: the widget that draws the text.
    """

    citation_activated = Signal(str, int, int)
    citation_pointed = Signal(str, int)
    link_activated = Signal(str)
    action_requested = Signal(object)
    retry_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QAccessible.Role.Document, parent)
        self._text = ""
        self._entry = self._clock = ""
        self.model = self.where = ""
        self.seconds: float | None = None
        self.cost: float | None = None
        self._sources: Mapping[int, Source] = {}
        self.view = AnswerView()
        self.view.source_opened.connect(self._on_source_opened)
        self.view.citation_pointed.connect(self._on_pointed)
        self.view.link_clicked.connect(self._on_link_clicked)
        self.steps = Steps()
        self.thinking = ThinkingPanel()
        self._thought_s: float | None = None  # while thoughts arrive
        self.step = StepLine()
        self.tools = AnswerTools()
        self.tools.copied.connect(self.copy)
        DragSource(self.tools.copy, lambda _spot: pack_markdown(self._text))
        self.tools.action_requested.connect(self.action_requested)
        self.filter: FilterRow | None = None
        self.doubts: UnverifiedNotice | None = None
        self.changed: tuple[ChangedSource, ...] = ()
        self._changes: list[DiffView] = []
        self.claims = ClaimCheck()
        self.claims.place_chosen.connect(self.citation_activated)
        self.ending = self.sources_sentence = ""
        self._found = make_wrapped_label("", "caption", "secondary")
        self._found.setContentsMargins(OUTDENT, 8, OUTDENT, 0)
        self._found.hide()
        self._lay_out()
        self._say()

    @property
    def text(self) -> str:
        """The answer's Markdown text that has arrived so far."""
        return self._text

    @property
    def entry(self) -> str:
        """The ID of the answer's log entry, or an empty string until it is stored."""
        return self._entry

    def show_step(self, text: str, seconds: float, *, is_paused: bool = False) -> None:
        """Show the current step of the turn, and its duration so far.

        Args:
            text: describes the step.
            seconds: the duration, without the time in which the turn waited for the user.
            is_paused: whether the turn waits for the user now, so that the duration stays.
        """
        self.seconds = seconds
        self.step.show_step(text, seconds, is_paused=is_paused)

    def append_thought(self, text: str, seconds: float) -> None:
        """Append newly arrived thinking of the model. It is no part of the answer's text.

        Args:
            text: the piece of thinking.
            seconds: how long the model has been thinking.
        """
        self.thinking.append(text)
        self._thought_s = seconds

    def append(self, text: str) -> None:
        """Append newly arrived text to the answer."""
        if text.strip() and self._thought_s is not None:
            self.thinking.end(self._thought_s)
            self._thought_s = None
        self._text += text
        if text:
            self.view.show()
        self.view.append(text)

    def begin_step(self, step: ToolStep) -> None:
        """Add a step that the agent has started.

        Text that the model wrote before the step is moved from the answer into the row of the step.
        """
        self.steps.begin_step(replace(step, text_before=self._text.strip()))
        if self._text:
            self.set_text("")

    def set_text(self, text: str) -> None:
        """Replace the streamed text of the answer with the complete text."""
        self._text = text
        self.view.set_markdown(text)
        self.view.setVisible(bool(text))

    def show_sections(self, sections: Sequence[ShownSection]) -> None:
        """Show the sections of notes that an answer without a model consists of."""
        if sections and self.view.sections != tuple(sections):
            self.view.show_sections(self._text.split("\n", 1)[0], sections)

    def set_sources(self, sources: Mapping[int, Source]) -> None:
        """Set the source of each citation number in the answer."""
        self._sources = sources
        self.view.set_sources(sources)
        self._say()

    def finish(self, entry: str | None, time: str = "", text: str | None = None) -> None:
        """Stop streaming, and show the action buttons in place of the current step.

        Args:
            entry: the ID of the answer's entry in the log, or None if it is not stored.
            time: when the answer was written, in ISO 8601, or an empty string if it is unknown.
            text: the complete answer, or None if it is the same as the streamed text.
        """
        self.view.finish()
        text = self._text if text is None else text
        if text != self._text or self.view.has_view_source:
            self.set_text(text)  # a base or query is drawn once it is complete
        self.set_entry(entry or "")
        self._slot.setCurrentWidget(self.tools)
        self._clock = format_minutes(time) if time else ""
        self._say()

    def set_entry(self, entry: str, siblings: Sequence[str] = (), label: str = "") -> None:
        """Set the ID of the answer's log entry, and its versions and label.

        Args:
            entry: the ID of the answer's log entry.
            siblings: the entry IDs of all versions of the answer.
            label: the user's label for the answer, or an empty string.
        """
        self._entry = entry
        self.tools.set_entry(entry, siblings, label)

    def show_pin(self, is_pinned: bool) -> None:
        """Show whether the answer is pinned."""
        self.tools.show_pin(is_pinned)

    def show_steps(self, steps: Sequence[ToolStep]) -> None:
        """Show the steps that an agent took for this answer."""
        self.steps.set_steps(steps)

    def show_doubts(self, sentences: Sequence[str]) -> None:
        """List the unverified citations in a callout below the text."""
        if tuple(sentences) == (self.doubts.sentences if self.doubts else ()):
            return
        if self.doubts is not None:
            self.doubts.hide()
            self.doubts.deleteLater()
        self.doubts = UnverifiedNotice(sentences)
        self._extras.insertLayout(0, _outdent(self.doubts))

    def show_changes(self, changed: Sequence[ChangedSource]) -> None:
        """Show below the text which cited notes have changed since the answer was written."""
        if self.changed == tuple(changed):
            return
        for view in self._changes:
            view.hide()
            view.deleteLater()
        self.changed = tuple(changed)
        self._changes = [DiffView(one.diff, one.sentence) for one in changed if one.diff]
        for place, view in enumerate(self._changes):
            self._extras.insertLayout(place + bool(self.doubts), _outdent(view))

    def show_found_sources(self, sentence: str) -> None:
        """Show a sentence below the text, saying that Strata and not the model found the sources.

        An empty string hides the sentence.
        """
        if sentence == self.sources_sentence:
            return
        self.sources_sentence = sentence
        self._found.setText(sentence)
        self._found.setVisible(bool(sentence))

    def show_filter(self, parts: Sequence[FilterPart]) -> None:
        """Show below the text which filter a list has. Each of its parts can be taken away."""
        if self.filter is None and parts:
            self.filter = FilterRow()
            self.filter.asked.connect(self._ask)
            self._extras.insertLayout(0, _outdent(self.filter))
        if self.filter is not None:
            self.filter.show_parts(parts)

    def show_end(self, item: AnswerItem, *, with_error: bool = False) -> None:
        """Show why the answer is incomplete, in a line that is hidden if the answer is complete.

        Args:
            item: the answer.
            with_error: whether the line includes the error of a failed answer. False if another
                widget shows the error, with a button to try again.
        """
        status, answer = item.answer.end.status, item.answer
        is_broken, has_failed = status == "interrupted", status == "error"
        sentence = use_labels(answer.ending)
        is_empty = status in {"complete", "limit"} and not answer.text.strip()
        if has_failed and not with_error:
            sentence, has_failed = KEPT if item.can_continue else "", False
        if is_broken and not answer.end.reason:
            sentence = describe_ending("", bool(self._text.strip() or self.steps.steps))
        self.ending = sentence
        self.tools.set_has_text(bool(self._text.strip()))
        self._end.show_ending(
            sentence,
            can_continue=item.can_continue,
            can_retry=is_broken or has_failed or (is_empty and bool(sentence)),
        )

    def hide_actions(self) -> None:
        """Hide the action buttons, including those of the line below an incomplete answer."""
        self.tools.hide()
        self._end.hide_actions()

    def copy(self) -> None:
        """Copy the answer to the clipboard as Markdown."""
        QGuiApplication.clipboard().setText(self._text)

    def _lay_out(self) -> None:
        slot = QWidget()
        self._slot = QStackedLayout(slot)
        self._slot.addWidget(self.step)
        self._slot.addWidget(self.tools)
        self._end = EndingLine()
        self._end.continue_requested.connect(self._continue)
        self._end.retry_requested.connect(self._retry)
        self._extras = make_column(spacing=0)
        make_column(
            self.thinking,
            self.steps,
            self.view,
            self._found,
            self._extras,
            self.claims,
            self._end,
            4,
            slot,
            margins=0,
            spacing=0,
            parent=self,
        )
        slot.setFixedHeight(Theme.current().px(28))
        self._slot_widget = slot
        Theme.current().changed.connect(self._fit)
        self.tools.lines_changed.connect(self._fit)
        self.view.hide()

    def _fit(self) -> None:
        self._slot_widget.setFixedHeight(Theme.current().px(28) * self.tools.lines)

    def _say(self) -> None:
        marks = "".join(CITATION.findall(self._text))
        cited = {int(number) for number in _NUMBER.findall(marks)}
        known = [number for number, source in self._sources.items() if source.path]
        words = ["Answer", self._clock, plural(len(cited.intersection(known)), "source")]
        name = ", ".join(part for part in words if part)
        self.setAccessibleName(name)
        self.view.setAccessibleName(name)

    def _ask(self, text: str) -> None:
        self.action_requested.emit(MessageAction("ask", self._entry, text))

    def _continue(self) -> None:
        self.action_requested.emit(MessageAction("continue", self._entry))

    def _retry(self) -> None:
        if self._entry:
            self.action_requested.emit(MessageAction("again", self._entry))
        else:
            self.retry_requested.emit()

    def _on_pointed(self, number: int) -> None:
        self.citation_pointed.emit(self._entry, number)

    def _on_link_clicked(self, address: str) -> None:
        if address.startswith(FOLD):
            self.view.toggle_fold(address)
        elif address.startswith(SECTION):
            section = self.view.sections[int(address.removeprefix(SECTION))]
            self.citation_activated.emit(section.path, *section.lines)
        else:
            self.link_activated.emit(address)

    def _on_source_opened(self, source: Source) -> None:
        if source.path:
            first, last = source.lines or (1, 1)
            self.citation_activated.emit(source.path, first, last)


def _outdent(widget: QWidget) -> QHBoxLayout:
    return make_row(widget, margins=(OUTDENT, 12, OUTDENT, 4))
