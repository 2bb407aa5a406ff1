"""Convert images to PNG or JPEG, in a child process.

The results are sent to models or shown to the user. The child process runs `ui.image_worker`,
because Qt decodes the images, and only `ui` may import Qt. The memory of the process is limited, so
a malicious file can only crash that process. Metadata is removed.
"""

import hashlib
import threading
from base64 import b64encode
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from app.errors import InvalidRequest
from context.layers import ImageData
from vault.errors import ChildDied, ChildRefused
from vault.workers.process import ChildOnDemand

__all__ = ["IMAGE_SUFFIXES", "ImageReader", "ReadImage", "UndecodableImage", "is_image_file"]

READ_S: Final = 20.0
MOST_IMAGES: Final = 16
_WORKER: Final = "ui.image_worker"
IMAGE_SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_OTHERS: Final = (".heic", ".heif", ".avif", ".bmp", ".tif", ".tiff")
_HEIC: Final = (b"ftypheic", b"ftypheix", b"ftyphevc", b"ftypmif1", b"ftypmsf1")
_START_BYTES: Final = 16


@dataclass(frozen=True)
class ReadImage:
    """An image as it is sent to models and shown to the user.

    Attributes:
        version: the SHA-256 hash of the original file, in hexadecimal.
        image: the media type and the data of the image.
        width: the width of the converted image, in pixels.
        height: the height of the converted image, in pixels.
        own_size: the width and height of the original image in pixels, after it is turned upright.
    """

    version: str
    image: ImageData
    width: int
    height: int
    own_size: tuple[int, int]


class UndecodableImage(Exception):
    """The bytes are not an image in a supported format, or the image is damaged.

    Attributes:
        reason: the reason as a clause, such as "it is damaged".
        has_format: whether the format of the image is supported.
    """

    def __init__(self, reason: str, *, has_format: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.has_format = has_format


class ImageReader:
    """Decodes images in a child process that is started on demand.

    Recent images are cached, so that previews do not decode them on every keystroke. Thread-safe,
    but decodes one file at a time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child = ChildOnDemand(_WORKER)
        self._known: OrderedDict[str, ReadImage] = OrderedDict()

    def read(self, name: str, data: bytes) -> ReadImage:
        """Decode the bytes of an image file to be attached.

        Args:
            name: the file name, for error messages.
            data: the content of the file.

        Raises:
            InvalidRequest: the file is damaged, too large, or in an unsupported format.
        """
        try:
            return self.decode(data)
        except UndecodableImage as error:
            if not error.has_format:
                raise _refuse_format(name, data[:_START_BYTES]) from error
            raise _describe_failure(name, error.reason) from error

    def decode(self, data: bytes) -> ReadImage:
        """Decode the bytes of an image file.

        Raises:
            UndecodableImage: the file is damaged, too large, or in an unsupported format.
        """
        form = _find_format(data[:_START_BYTES])
        if not form:
            reason = "it is not a PNG, JPEG, GIF, WebP or BMP image"
            raise UndecodableImage(reason, has_format=False)
        return self._read_once({"format": form}, data)

    def draw_page(self, data: bytes, page: int) -> ReadImage:
        """Draw a page of a PDF file.

        Args:
            data: the content of the file.
            page: the number of the page, counted from 1.

        Raises:
            UndecodableImage: the file is damaged or protected, or has no such page.
        """
        return self._read_once({"format": "pdf", "page": page}, data)

    def _read_once(self, header: dict[str, Any], data: bytes) -> ReadImage:
        version = hashlib.sha256(data).hexdigest()
        key = f"{version}#{header.get('page', '')}"
        with self._lock:
            if key not in self._known:
                self._known[key] = self._decode(version, header, data)
                while len(self._known) > MOST_IMAGES:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]

    def close(self) -> None:
        """Stop the child process that decodes images. The next image starts a new one."""
        with self._lock:
            self._child.close()

    def _decode(self, version: str, request: dict[str, Any], data: bytes) -> ReadImage:
        try:
            header, payload = self._child.request(request, data, READ_S)
        except (ChildDied, ChildRefused) as error:
            raise UndecodableImage("it is damaged, or takes too much memory") from error
        if "failure" in header:
            raise UndecodableImage(header["failure"])
        image = ImageData(header["media_type"], b64encode(payload).decode("ascii"))
        own_size = (header["own_width"], header["own_height"])
        return ReadImage(version, image, header["width"], header["height"], own_size)


def is_image_file(name: str) -> bool:
    """Return whether a file is an image, judging by its name.

    Raises:
        InvalidRequest: models do not accept this image format.
    """
    lower = name.lower()
    if lower.endswith(_OTHERS):
        raise _refuse_format(name, b"")
    return lower.endswith(IMAGE_SUFFIXES)


def _find_format(start: bytes) -> str:
    """Detect an image's format from its first bytes.

    Return an empty string if the format is not supported.
    """
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if start.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if start.startswith(b"BM"):
        return "bmp"
    return "webp" if start.startswith(b"RIFF") and start[8:12] == b"WEBP" else ""


def _describe_failure(name: str, reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"The image {name} cannot be read: {reason}. It is not attached.",
        hint="Open it in another program, save it as PNG or JPEG, and attach that.",
    )


def _refuse_format(name: str, start: bytes) -> InvalidRequest:
    is_heic = name.lower().endswith((".heic", ".heif")) or start[4:12] in _HEIC
    kind = "a HEIC photo" if is_heic else "not a PNG, JPEG, GIF or WebP image"
    which = "which models do not take" if is_heic else "and models take no others"
    return InvalidRequest(
        f"{name} is {kind}, {which}. It is not attached.",
        hint="Save it as JPEG or PNG and attach that.",
    )
