"""Load the images that the open note shows, and images that the user opens on their own."""

from base64 import b64decode
from collections.abc import Iterator

from PySide6.QtCore import QByteArray, QObject, QSize, Qt
from PySide6.QtGui import QImage

from app.assistant import Assistant
from app.errors import AppError, NotFound, describe
from app.library.images import VaultImages
from chains.cancel import CancelToken
from ui.markdown.page.images import ImageFailure, Picture
from ui.panels.notes.image import OpenImage
from ui.panels.notes.note_panel import NotePanel
from ui.tasks import Task, TaskRunner
from vault.errors import VaultError

__all__ = ["ImageController", "open_image", "read_embedded"]

# In pixels: the text column and the tallest image in it, on a screen with a pixel ratio of 2.
_LARGEST = QSize(1_520, 1_440)


class ImageController(QObject):
    """Loads the images that the open note's page requests, one after another.

    Nothing is fetched from the network: only files inside the vault are read. They are decoded in
    a child process with limited memory.
    """

    def __init__(self, assistant: Assistant, runner: TaskRunner, panel: NotePanel) -> None:
        super().__init__(panel)
        self._assistant, self._runner, self._panel = assistant, runner, panel
        self._waiting: list[str] = []
        self._loading = ""
        self._task: Task | None = None
        panel.page.image_wanted.connect(self._on_wanted)

    def _on_wanted(self, source: str) -> None:
        self._waiting.append(source)
        if self._task is not None and self._loading != self._panel.path:
            self._task.cancel()  # another note has been opened
        self._start()

    def _start(self) -> None:
        images, path = self._assistant.images, self._panel.path
        if self._task is not None or not self._waiting:
            return
        sources, self._waiting, self._loading = self._waiting, [], path
        self._task = self._runner.stream(lambda token: _load(images, sources, path, token))
        self._task.yielded.connect(self._on_loaded)
        self._task.finished.connect(self._on_finished)
        self._task.start()

    def _on_loaded(self, loaded: tuple[str, str, Picture]) -> None:
        path, source, image = loaded
        if path == self._panel.path:
            self._panel.page.show_image(source, image)

    def _on_finished(self) -> None:
        self._task = None
        self._start()


def open_image(images: VaultImages, path: str) -> OpenImage:
    """Read an image of the vault. A child process decodes it.

    Raises:
        AppError: the image cannot be shown. The message gives the reason.
        VaultError: models are not allowed to read the file, or its path leads out of the vault.
    """
    read = images.read(path)
    image = QImage.fromData(QByteArray(b64decode(read.image.data)))
    return OpenImage(path, read.version, image, read.own_size)


def read_embedded(images: VaultImages, source: str, note: str) -> Picture:
    """Read an image that a note shows, scaled down if it is larger than the note can show.

    Args:
        images: the images of the vault.
        source: the path or name of the image as written in the note.
        note: the path of the note.

    Returns:
        The image, or the reason why it cannot be shown.
    """
    try:
        path = images.find(source, note)
    except NotFound as error:
        return ImageFailure(describe(error).message, is_found=False)
    try:
        image = open_image(images, path).image
    except (AppError, VaultError) as error:
        return ImageFailure(describe(error).message, is_found=True)
    if image.width() <= _LARGEST.width() and image.height() <= _LARGEST.height():
        return image
    ratio, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    return image.scaled(_LARGEST, ratio, smooth)


def _load(
    images: VaultImages, sources: list[str], path: str, token: CancelToken
) -> Iterator[tuple[str, str, Picture]]:
    """Yield a tuple for each image: the note's path, the image's source, and the image or error."""
    for source in sources:
        token.raise_if_cancelled()
        yield path, source, read_embedded(images, source, path)
