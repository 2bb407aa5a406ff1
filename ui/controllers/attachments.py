"""What goes along with the message that is being written: looked up, counted, shown as chips."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.config.schema import use_labels
from app.errors import describe
from context.layers import Segment
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.chips import ChipState
from ui.controllers.turns import paths_of, selections_of
from ui.tasks import Task, TaskRunner
from ui.widgets.figures import plural

__all__ = ["Attaching"]

_PAGE = re.compile(r"^# Page \d+$", re.MULTILINE)  # as the text of a PDF is headed


class Attaching(QObject):
    """The attachments of one message; `changed` when there are others, `told` when more is known.

    An attachment is looked up as soon as it is made, so that what cannot be sent says so before it
    is sent. Its tokens are those of the next request's report.
    """

    changed = Signal()
    told = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner
        self._states: dict[Attachment, ChipState] = {}
        self._found: dict[Attachment, tuple[Segment, ...]] = {}
        self._looks: dict[Task, Attachment] = {}

    @property
    def states(self) -> Mapping[Attachment, ChipState]:
        """What is attached, in order, with what is known of it."""
        return dict(self._states)

    @property
    def attached(self) -> tuple[Attachment, ...]:
        """What is attached, in order."""
        return tuple(self._states)

    @property
    def sendable(self) -> tuple[Attachment, ...]:
        """What of it can be read, as far as is known: what a preview can count."""
        return tuple(item for item, state in self._states.items() if not state.problem)

    def add(self, items: Iterable[Attachment]) -> None:
        """Attach these; what is attached already stays as it is."""
        new = [item for item in items if item not in self._states]
        for item in new:
            self._states[item] = ChipState()
        for item in new:
            self._look(item)
        if new:
            self.changed.emit()

    def remove(self, item: Attachment) -> None:
        """Take one off."""
        if self._states.pop(item, None) is not None:
            self._found.pop(item, None)
            self.changed.emit()

    def replace(self, items: Iterable[Attachment]) -> None:
        """Attach these and nothing else: another message is being written."""
        self._states, self._found = {}, {}
        self.add(items)
        self.changed.emit()

    def count(self, context: Mapping[str, Any]) -> None:
        """Take the tokens of each from the report of the next request."""
        found = {segment["id"]: segment for segment in context["segments"]}
        for item, segments in self._found.items():
            parts = [found[segment.id] for segment in segments if segment.id in found]
            if parts and item in self._states:
                self._states[item] = _counted(self._states[item], parts)
        self.told.emit()

    def tell_parts(self, parts: Mapping[str, int], is_read: bool) -> None:
        """Take what is too large to be sent.

        Args:
            parts: those that each such source would be read in.
            is_read: whether it is read; otherwise it is searched.
        """
        for item, segments in self._found.items():
            whole = (segment.source for segment in segments if segment.kind != "selection")
            large = [parts[source] for source in whole if source in parts]
            told = (sum(large) if is_read else 0) if large else None
            length = _length(item, segments) if large else ""
            self._states[item] = replace(self._states[item], parts=told, length=length)
        self.told.emit()

    def _look(self, item: Attachment) -> None:
        task = self._runner.call(
            lambda: self._assistant.attached(paths_of((item,)), selections_of((item,)))
        )
        self._looks[task] = item
        task.yielded.connect(self._on_found)
        task.failed.connect(self._on_failed)
        task.finished.connect(self._on_finished)
        task.start()

    def _on_found(self, segments: tuple[Segment, ...]) -> None:
        item = self._looked_up()
        if item is not None:
            self._found[item] = segments
            is_many = item.is_folder or item.is_tag
            self._states[item] = ChipState(notes=len(segments) if is_many else 0)
            self.changed.emit()

    def _on_failed(self, error: Exception) -> None:
        item = self._looked_up()
        if item is not None:
            self._states[item] = ChipState(problem=use_labels(describe(error).message))
            self.changed.emit()

    def _on_finished(self) -> None:
        sender = self.sender()
        if isinstance(sender, Task):
            self._looks.pop(sender, None)

    def _looked_up(self) -> Attachment | None:
        """Return what was looked up, if it is still attached."""
        sender = self.sender()
        item = self._looks.get(sender) if isinstance(sender, Task) else None
        return item if item in self._states else None


def _counted(state: ChipState, parts: list[Mapping[str, Any]]) -> ChipState:
    whole = sum(int(part["original_tokens"]) for part in parts)
    sent = sum(0 if part["state"] == "dropped" else int(part["tokens"]) for part in parts)
    return replace(state, tokens=whole, sent=sent if sent < whole else None)


def _length(item: Attachment, segments: Sequence[Segment]) -> str:
    """Return how long something is, in pages where it has any."""
    if len(segments) != 1:
        return plural(len(segments), "note")
    (segment,) = segments
    pages = _PAGE.findall(segment.content) if item.target.lower().endswith(".pdf") else []
    first, last = segment.lines or (1, 1)
    return plural(len(pages), "page") if pages else plural(last - first + 1, "line")
