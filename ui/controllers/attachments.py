"""Attachments of the unsent message: choosing them, reading them, and counting their tokens."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from app.assistant import Assistant
from app.config.schema import use_labels
from app.errors import describe
from context.layers import Segment
from ui.chat.composer.attachment import Attachment, Drops, attachments_at
from ui.chat.composer.chips import ChipState
from ui.controllers.turns import list_paths, list_selections
from ui.frame import WindowFrame
from ui.tasks import Task, TaskRunner
from ui.widgets.figures import plural

__all__ = ["AttachmentController", "AttachmentPicker"]

Attach = Callable[[Iterable[Attachment]], object]

_PAGE = re.compile(r"^# Page \d+$", re.MULTILINE)  # the headings of a PDF's text


class AttachmentController(QObject):
    """Reads the attachments of the unsent message and keeps the state of their chips.

    An attachment is read as soon as it is added, so its chip shows before sending whether it can be
    sent. Its token counts come from the report of the next request.

    Signals: `changed` when attachments are added, removed or read; `measured` when their sizes
    are known.
    """

    changed = Signal()
    measured = Signal()

    def __init__(self, assistant: Assistant, runner: TaskRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._assistant = assistant
        self._runner = runner
        self._states: dict[Attachment, ChipState] = {}
        self._found: dict[Attachment, tuple[Segment, ...]] = {}
        self._reads: dict[Task, Attachment] = {}

    @property
    def states(self) -> Mapping[Attachment, ChipState]:
        """The chip state of each attachment, in the order in which they were added."""
        return dict(self._states)

    @property
    def attached(self) -> tuple[Attachment, ...]:
        """The attachments of the unsent message, in the order in which they were added."""
        return tuple(self._states)

    @property
    def sendable(self) -> tuple[Attachment, ...]:
        """The attachments without a known problem, for the preview of the next request."""
        return tuple(item for item, state in self._states.items() if not state.problem)

    def add(self, items: Iterable[Attachment]) -> None:
        """Add attachments; attachments that were already added do not change."""
        new = [item for item in items if item not in self._states]
        for item in new:
            self._states[item] = ChipState()
        for item in new:
            self._read(item)
        if new:
            self.changed.emit()

    def remove(self, item: Attachment) -> None:
        """Remove an attachment."""
        if self._states.pop(item, None) is not None:
            self._found.pop(item, None)
            self.changed.emit()

    def replace(self, items: Iterable[Attachment]) -> None:
        """Replace all attachments, for example when another draft is shown."""
        self._states, self._found = {}, {}
        self.add(items)
        self.changed.emit()

    def count(self, context: Mapping[str, Any]) -> None:
        """Update each attachment's token counts from the report of the next request."""
        found = {segment["id"]: segment for segment in context["segments"]}
        for item, segments in self._found.items():
            parts = [found[segment.id] for segment in segments if segment.id in found]
            if parts and item in self._states:
                self._states[item] = _add_tokens(self._states[item], parts)
        self.measured.emit()

    def set_parts(self, parts: Mapping[str, int], is_read: bool) -> None:
        """Update the chips of attachments that are too large to be sent whole.

        Args:
            parts: the number of parts that each large source is read in, by source.
            is_read: whether large attachments are read whole; otherwise they are searched.
        """
        for item, segments in self._found.items():
            whole = (segment.source for segment in segments if segment.kind != "selection")
            large = [parts[source] for source in whole if source in parts]
            shown = (sum(large) if is_read else 0) if large else None
            length = _length(item, segments) if large else ""
            self._states[item] = replace(self._states[item], parts=shown, length=length)
        self.measured.emit()

    def _read(self, item: Attachment) -> None:
        task = self._runner.call(
            lambda: self._assistant.read_attachments(list_paths((item,)), list_selections((item,)))
        )
        self._reads[task] = item
        task.yielded.connect(self._on_found)
        task.failed.connect(self._on_failed)
        task.finished.connect(self._on_finished)
        task.start()

    def _on_found(self, segments: tuple[Segment, ...]) -> None:
        item = self._sender_item()
        if item is not None:
            self._found[item] = segments
            is_many = item.is_folder or item.is_tag
            self._states[item] = ChipState(notes=len(segments) if is_many else 0)
            self.changed.emit()

    def _on_failed(self, error: Exception) -> None:
        item = self._sender_item()
        if item is not None:
            self._states[item] = ChipState(problem=use_labels(describe(error).message))
            self.changed.emit()

    def _on_finished(self) -> None:
        sender = self.sender()
        if isinstance(sender, Task):
            self._reads.pop(sender, None)

    def _sender_item(self) -> Attachment | None:
        """Return the attachment read by the sending task, or None if it has been removed."""
        sender = self.sender()
        item = self._reads.get(sender) if isinstance(sender, Task) else None
        return item if item in self._states else None


def _add_tokens(state: ChipState, parts: list[Mapping[str, Any]]) -> ChipState:
    whole = sum(int(part["original_tokens"]) for part in parts)
    sent = sum(0 if part["state"] == "dropped" else int(part["tokens"]) for part in parts)
    return replace(state, tokens=whole, sent=sent if sent < whole else None)


def _length(item: Attachment, segments: Sequence[Segment]) -> str:
    """Describe the length of an attachment in notes, pages or lines, such as `12 pages`."""
    if len(segments) != 1:
        return plural(len(segments), "note")
    (segment,) = segments
    pages = _PAGE.findall(segment.content) if item.target.lower().endswith(".pdf") else []
    first, last = segment.lines or (1, 1)
    return plural(len(pages), "page") if pages else plural(last - first + 1, "line")


class AttachmentPicker(QObject):
    """Attaches files and notes dropped on the window, or chosen in a dialog or a list of notes."""

    def __init__(self, assistant: Assistant, frame: WindowFrame, attach: Attach) -> None:
        super().__init__(frame)
        self._assistant, self._frame = assistant, frame
        self._add = attach
        drops = Drops(frame, frame.middle, lambda: assistant.vault)
        drops.hovered.connect(frame.composer.set_drop_target)
        drops.attached.connect(self._attach)
        drops.folder_dropped.connect(frame.navigation.open_folder)
        drops.folder_refused.connect(self._on_refused)
        frame.composer.file_requested.connect(self._choose_files)
        for panel in (frame.column.note, frame.column.related, frame.sidebar.notes):
            panel.attach_requested.connect(self._attach_note)

    def _choose_files(self) -> None:
        """Show the file dialog and attach the chosen files."""
        chosen, _ = QFileDialog.getOpenFileNames(self._frame, "Attach text files")
        paths = [Path(name) for name in chosen]
        self._attach(attachments_at(paths, self._assistant.vault))

    def _attach_note(self, path: str, first: int = 0, last: int = 0) -> None:
        """Attach a note, lines of a note, or a folder, whose path ends with `/`."""
        self._add([Attachment(path, (first, last) if first else None)])

    def _attach(self, items: Sequence[Attachment]) -> None:
        """Attach files, but ask before attaching a hidden file."""
        hidden = [item for item in items if item.name.startswith(".") and not item.is_folder]
        plain = [item for item in items if item not in hidden]
        if plain:
            self._add(plain)
        for item in hidden:
            text = f"{item.name} is a hidden file, which may hold keys. It is not attached."
            self._frame.notifier.toast(text, "Attach it", partial(self._add, [item]))

    def _on_refused(self, folder: Path) -> None:
        text = f"{folder.name} is not among the open notes, so it cannot be attached."
        open_it = partial(self._frame.navigation.open_folder, folder)
        self._frame.notifier.toast(text, "Open it instead", open_it)
