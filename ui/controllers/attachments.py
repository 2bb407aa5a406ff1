"""Manage the attachments of the unsent message, and the models that see images."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QImage

from app.config.schema import use_labels
from app.errors import describe
from chains.events import Warned
from context.layers import Segment, name_source
from context.report.report import ContextReport, SegmentUse
from ui.chat.composer.attachment import Attachment, Drops, sort_paths
from ui.chat.composer.attachment_state import ChipState, Omission
from ui.controllers.session import Collaborators, Controller
from ui.controllers.turns import list_paths, list_selections
from ui.settings.writer import SettingsWriter
from ui.tasks import Task
from ui.widgets.buttons import ButtonText, LabelledAction
from ui.widgets.dialogs import choose_files
from ui.widgets.formatting import plural

__all__ = ["AttachmentController", "AttachmentPicker", "ImageModelController", "encode_image"]

Attach = Callable[[Iterable[Attachment]], object]

_SEND_IMAGES = ButtonText(
    "Send images to this model", "Add it to the models that see images; this can be undone"
)
_UNDO_IMAGES = ButtonText("Undo", "Send no images to this model")
_IMAGE_MODELS = "chat.imageModels"
_ATTACH = ButtonText("Attach it", "Add the file to the next message")
_OPEN_FOLDER = ButtonText("Open it instead", "Open this folder in place of the open notes")
_WAYS_OUT = (
    "Choose another model, remove the image, or add the model to chat.imageModels if it does see "
    "images."
)
_UNSEEN = {
    "unseen": f"{{}} does not see images. {_WAYS_OUT}",
    "unsure": f"It is not known whether {{}} sees images. {_WAYS_OUT}",
}
_NO_MODEL = "No model is set, and only a model can look at an image. Set one, or remove the image."
_USER_REMOVED = (
    "The address contained a user name or password, which was removed. Try again to read the "
    "page without them."
)
_PAGE = re.compile(r"^# Page \d+$", re.MULTILINE)  # the headings of a PDF's text


def _remove_password(item: Attachment) -> Attachment:
    """Return an attachment without the user name and password of its address, which are stored."""
    if "@" not in item.target or "://" not in item.target:
        return item
    from app.library.attachments import remove_user_info  # not needed for the first paint

    return replace(item, target=remove_user_info(item.target))


class AttachmentController(Controller):
    """Reads the attachments of the unsent message, and updates their chips.

    An attachment is read as soon as it is added, so that its chip shows whether it can be sent. The
    token counts come from the report of the next request.

    Signals:
        changed: emitted when attachments have been added, removed or read.
        measured: emitted when the attachments' token counts have been updated.
    """

    changed = Signal()
    measured = Signal()

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self._states: dict[Attachment, ChipState] = {}
        self._found: dict[Attachment, tuple[Segment, ...]] = {}
        self._reads: dict[Attachment, Task] = {}  # the last read of each attachment

    @property
    def states(self) -> Mapping[Attachment, ChipState]:
        """The state that each attachment's chip shows, in the order of the attachments."""
        return dict(self._states)

    @property
    def attached(self) -> tuple[Attachment, ...]:
        """The attachments of the unsent message, in order."""
        return tuple(self._states)

    @property
    def sendable(self) -> tuple[Attachment, ...]:
        """The attachments of the unsent message that have no known problem."""
        return tuple(item for item, state in self._states.items() if not state.problem)

    @property
    def loaded(self) -> tuple[Attachment, ...]:
        """The attachments of the unsent message whose content has been read, without a problem."""
        return tuple(item for item in self.sendable if item in self._found)

    def add(self, items: Iterable[Attachment]) -> None:
        """Add attachments, unless they are already attached."""
        found = {_remove_password(item): item for item in items}
        new = [item for item in found if item not in self._states]
        for item in new:
            self._states[item] = ChipState(problem="" if found[item] == item else _USER_REMOVED)
        for item in new:
            if not self._states[item].problem:
                self._read(item)
        if new:
            self.changed.emit()

    def remove(self, item: Attachment) -> None:
        """Remove an attachment from the unsent message."""
        if self._states.pop(item, None) is not None:
            self._found.pop(item, None)
            self.changed.emit()

    def replace(self, items: Iterable[Attachment]) -> None:
        """Replace all attachments, for example with the attachments of another draft."""
        self._states, self._found = {}, {}
        self.add(items)
        self.changed.emit()

    def refresh(self) -> None:
        """Read the attachments again, because notes have changed or have been deleted."""
        for item in tuple(self._states):
            if not item.is_web_page:
                self._read(item)

    def retry(self, item: Attachment) -> None:
        """Read an attachment again that could not be read, such as a web page."""
        if item in self._states:
            self._states[item] = ChipState()
            self._read(item)
            self.measured.emit()

    def open_image(self, item: Attachment) -> None:
        """Open an image in the default image viewer."""
        vault = self._assistant.vault
        file = Path(item.path) if vault is None else vault / item.path
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))

    def count(self, context: ContextReport) -> None:
        """Update the attachments' token counts, and emit `measured`.

        Args:
            context: the report of the next request, which lists the tokens of each segment.
        """
        found = {use.segment.id: use for use in context.segments}
        sent = {part.segment.source for part in found.values() if part.state != "dropped"}
        for item, segments in self._found.items():
            parts = [found[one.id] for one in segments if one.id in found]
            if parts and item in self._states:
                state = _add_tokens(self._states[item], parts)
                reason = next((r for part in parts if (r := part.reason) in _UNSEEN), "")
                self._states[item] = _mark_unseen(state, str(context.model), reason)
            elif item in self._states:
                omitted = _find_omission(segments, self._list_others(item), sent)
                self._states[item] = replace(self._states[item], omitted=omitted)
        self.measured.emit()

    def set_parts(self, parts: Mapping[str, int], is_read: bool) -> None:
        """Show how attachments that are too large will be read.

        Args:
            parts: maps the source of each large attachment to the number of parts that it is read
                in.
            is_read: whether large attachments are read in parts instead of being searched.
        """
        for item, segments in self._found.items():
            whole = (one.source for one in segments if one.kind != "selection")
            large = [parts[source] for source in whole if source in parts]
            shown = (sum(large) if is_read else 0) if large else None
            length = _length(item, segments) if large else ""
            self._states[item] = replace(self._states[item], parts=shown, length=length)
        self.measured.emit()

    def _list_others(self, item: Attachment) -> list[Segment]:
        """Return the segments of all attachments but one."""
        return [part for other, parts in self._found.items() if other != item for part in parts]

    def _read(self, item: Attachment) -> None:
        task = self._runner.call(
            lambda: self._assistant.read_attachments(list_paths((item,)), list_selections((item,)))
        )
        self._reads[item] = task
        task.yielded.connect(self._on_found)
        task.failed.connect(self._on_failed)
        task.finished.connect(self._on_finished)
        task.start()

    def _on_found(self, segments: tuple[Segment, ...]) -> None:
        item = self._sender_item()
        if item is not None and self._found.get(item) != segments:
            self._found[item] = segments
            is_many = item.is_folder or item.is_tag
            image = next((part.image for part in segments), None)
            self._states[item] = ChipState(notes=len(segments) if is_many else 0, image=image)
            self.changed.emit()

    def _on_failed(self, error: Exception) -> None:
        item = self._sender_item()
        if item is not None:
            problem = describe(error).message.replace(item.target, name_source(item.path))
            self._found.pop(item, None)
            self._states[item] = ChipState(problem=use_labels(problem))
            self.changed.emit()

    def _on_finished(self) -> None:
        sender = self.sender()
        self._reads = {item: task for item, task in self._reads.items() if task is not sender}

    def _sender_item(self) -> Attachment | None:
        """Return the attachment that was read by the task whose signal is being handled.

        Return None if the attachment has been removed or is being read again.
        """
        sender = self.sender()
        found = (item for item, task in self._reads.items() if task is sender)
        item = next(found, None)
        return item if item in self._states else None


class ImageModelController(Controller):
    """Adds models to the setting `chat.imageModels`, and removes them again.

    The signal `changed` is emitted when the setting has changed.
    """

    changed = Signal()

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self._show_notice: Callable[[], object] | None = None
        self._writer = SettingsWriter(self._assistant, self._runner, self)
        self._writer.changed.connect(self._on_changed)
        self._writer.refused.connect(lambda _key, problem: self._frame.notifier.toast(problem))

    def show_warning(self, warned: Warned) -> None:
        """Show that a model was sent no images, with the button that lets it have them."""
        action: LabelledAction = _SEND_IMAGES, partial(self.allow, warned.blind_model)
        self._frame.notifier.show_toast_once(warned.message, warned.topic, action)

    def allow(self, model: str) -> None:
        """Send images to a model from now on, and offer to undo this."""
        undo = _UNDO_IMAGES, partial(self._remove, model)
        text = f"Images are sent to {model} from now on. Send the message again."
        self._show_notice = partial(self._frame.notifier.toast, text, undo)
        self._writer.update(_IMAGE_MODELS, lambda names: [*_list_other_names(names, model), model])

    def _remove(self, model: str) -> None:
        text = f"Images are sent to {model} only if its server says that it sees them."
        self._show_notice = partial(self._frame.notifier.toast, text)
        self._writer.update(_IMAGE_MODELS, lambda names: _list_other_names(names, model))

    def _on_changed(self) -> None:
        if self._show_notice is not None:
            self._show_notice()
        self.changed.emit()


def _list_other_names(names: object, model: str) -> list[str]:
    """Return the names in the setting but one."""
    return [str(name) for name in names if name != model] if isinstance(names, list) else []


def _mark_unseen(state: ChipState, model: str, reason: str) -> ChipState:
    """Say why a model is not sent an image. Without a reason, it is sent."""
    from chains.models import EXTRACTIVE  # not needed for the first paint

    if not reason:
        return replace(state, unseen="", blind_model="")
    if model == EXTRACTIVE:
        return replace(state, unseen=_NO_MODEL, blind_model="")
    return replace(state, unseen=use_labels(_UNSEEN[reason].format(model)), blind_model=model)


def _add_tokens(state: ChipState, parts: Sequence[SegmentUse]) -> ChipState:
    whole = sum(int(part.original_tokens) for part in parts)
    sent = sum(0 if part.state == "dropped" else int(part.tokens) for part in parts)
    return replace(state, tokens=whole, sent=sent if sent < whole else None, omitted="")


def _find_omission(
    parts: Sequence[Segment], others: Sequence[Segment], sent: Container[str]
) -> Omission:
    """Return why a request has none of an attachment's segments, if that can be told from them.

    Args:
        parts: the segments of the attachment.
        others: the segments of the other attachments.
        sent: the sources of everything in the request.
    """
    if not any(part.content.strip() for part in parts):
        return "empty"
    known = {value for other in others for value in (other.source, other.raw_content)}
    is_repeated = all(
        part.source in known or part.source in sent or part.raw_content in known for part in parts
    )
    return "repeated" if is_repeated else ""


def _length(item: Attachment, segments: Sequence[Segment]) -> str:
    """Describe an attachment's length as a number of notes, pages or lines, such as `12 pages`.

    Args:
        item: the attachment.
        segments: the segments that were read from the attachment.
    """
    if len(segments) != 1:
        return plural(len(segments), "note")
    (segment,) = segments
    pages = _PAGE.findall(segment.content) if item.target.lower().endswith(".pdf") else []
    first, last = segment.lines or (1, 1)
    return plural(len(pages), "page") if pages else plural(last - first + 1, "line")


def encode_image(image: QImage) -> bytes:
    """Encode an image as PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


class AttachmentPicker(Controller):
    """Attaches files, notes and images that are dropped, pasted or chosen in a dialog or list."""

    def __init__(self, shared: Collaborators, attach: Attach) -> None:
        super().__init__(shared)
        self._add = attach
        drops = Drops(self._frame.window, self._frame.middle, lambda: self._assistant.vault)
        drops.hovered.connect(self._frame.composer.set_drop_target)
        drops.attached.connect(self._attach)
        drops.image_dropped.connect(self._attach_image)
        drops.folder_dropped.connect(self._frame.navigation.open_folder)
        drops.folder_refused.connect(self._on_refused)
        self._frame.composer.file_requested.connect(self._choose_files)
        self._frame.composer.image_pasted.connect(self._attach_image)
        self._frame.composer.files_pasted.connect(self._attach_files)
        for panel in (self._frame.note, self._frame.column.related, self._frame.sidebar.notes):
            panel.attach_requested.connect(self._attach_note)

    def _choose_files(self) -> None:
        chosen = choose_files(self._frame.window, "Attach files and images")
        self._attach_files([Path(name) for name in chosen])

    def _attach_files(self, paths: Sequence[Path]) -> None:
        """Attach files and folders, except a folder outside the vault, which is refused."""
        found = sort_paths(paths, self._assistant.vault)
        if found.folders:
            self._on_refused(found.folders[0])
        if found.items:
            self._attach(found.items)

    def _attach_image(self, image: QImage) -> None:
        task = self._runner.call(
            lambda: self._assistant.long_texts.store_image(encode_image(image))
        )
        task.yielded.connect(self._on_image_stored)
        task.failed.connect(self._on_image_failed)
        task.start()

    def _on_image_stored(self, file: Path) -> None:
        self._add([Attachment(str(file))])

    def _on_image_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(use_labels(describe(error).message))

    def _attach_note(self, path: str, first: int = 0, last: int = 0) -> None:
        """Attach a note, some lines of a note, or a folder.

        Args:
            path: the path of the note, or of the folder with a trailing `/`.
            first: the first line to attach, or 0 for the whole note.
            last: the last line to attach.
        """
        self._add([Attachment(path, (first, last) if first else None)])

    def _attach(self, items: Sequence[Attachment]) -> None:
        """Attach files, except hidden ones.

        For each hidden file, a toast warns that the file may contain keys, and offers to attach it.
        """
        hidden = [item for item in items if item.is_hidden]
        plain = [item for item in items if not item.is_hidden]
        if plain:
            self._add(plain)
        for item in hidden:
            text = f"{item.name} is a hidden file, which may hold keys. It is not attached."
            self._frame.notifier.toast(text, (_ATTACH, partial(self._add, [item])))

    def _on_refused(self, folder: Path) -> None:
        text = f"{folder.name} is not among the open notes, so it cannot be attached."
        open_it = partial(self._frame.navigation.open_folder, folder)
        self._frame.notifier.toast(text, (_OPEN_FOLDER, open_it))
