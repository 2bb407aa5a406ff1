"""Load the local images of the open note in the background, and open single images."""

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QSize, Qt
from PySide6.QtGui import QImage, QImageReader

from app.assistant import Assistant
from app.library.images import VaultImages, read_image
from chains.cancel import CancelToken
from ui.panels.notes.image import OpenImage
from ui.panels.notes.note_panel import NotePanel
from ui.tasks import Task, TaskRunner

__all__ = ["ImageController", "decode_image", "open_image"]

_MOST_WIDTH = 1_520  # in pixels: the text column on a screen with a pixel ratio of 2
_MOST_HEIGHT = 4_000
_MOST_MB = 128


class ImageController(QObject):
    """Loads the images that the open note's page requests, one after another.

    Nothing is fetched from the network: only files inside the vault are read.
    """

    def __init__(self, assistant: Assistant, runner: TaskRunner, panel: NotePanel) -> None:
        super().__init__(panel)
        self._assistant, self._runner, self._panel = assistant, runner, panel
        self._waiting: list[str] = []
        self._task: Task | None = None
        panel.page.image_wanted.connect(self._on_wanted)

    def _on_wanted(self, source: str) -> None:
        self._waiting.append(source)
        self._start()

    def _start(self) -> None:
        root, path = self._assistant.vault, self._panel.path
        if self._task is not None or not self._waiting or root is None:
            return
        sources, self._waiting = self._waiting, []
        self._task = self._runner.stream(lambda token: _load(root, sources, path, token))
        self._task.yielded.connect(self._on_loaded)
        self._task.finished.connect(self._on_finished)
        self._task.start()

    def _on_loaded(self, loaded: tuple[str, str, QImage]) -> None:
        path, source, image = loaded
        if path == self._panel.path and not image.isNull():
            self._panel.page.show_image(source, image)

    def _on_finished(self) -> None:
        self._task = None
        self._start()


def open_image(images: VaultImages, path: str) -> OpenImage:
    """Read an image of the vault, decoded in a child process.

    Raises:
        AppError: the image cannot be shown. The message gives the reason.
        VaultError: models may not read the file, or its path leads out of the vault.
    """
    read = images.read(path)
    image = QImage.fromData(QByteArray(b64decode(read.image.data)))
    return OpenImage(path, read.version, image, read.own_size)


def decode_image(data: bytes) -> QImage:
    """Decode an image, scaled down to the text column. Return a null image on failure."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    reader.setDecideFormatFromContent(True)
    if bytes(reader.format().data()) in {b"svg", b"svgz", b"pdf"}:
        return QImage()
    size = reader.size()
    if size.width() > _MOST_WIDTH or size.height() > _MOST_HEIGHT:
        most = QSize(_MOST_WIDTH, _MOST_HEIGHT)
        reader.setScaledSize(size.scaled(most, Qt.AspectRatioMode.KeepAspectRatio))
    return reader.read()


def _load(
    root: Path, sources: list[str], path: str, token: CancelToken
) -> Iterator[tuple[str, str, QImage]]:
    """Yield a tuple for each image: the note's path, the image's source, and the image.

    An image that is missing or cannot be decoded is null.
    """
    QImageReader.setAllocationLimit(_MOST_MB)
    for source in sources:
        token.raise_if_cancelled()
        data = read_image(root, source, path)
        yield path, source, decode_image(data) if data else QImage()
