"""The child process that decodes images and encodes them again, for models and for the window.

Run as `python -P -m ui.image_worker`. A request consists of the header `{format}` and the bytes of
a file. For a page of a PDF file, the header is `{format, page}`. The answer consists of the header
`{media_type, width, height, own_width, own_height}` and the bytes of a PNG or JPEG file.
`own_width` and `own_height` are the size of the original image. If the image cannot be converted,
the answer is only the header `{failure}`.

Only the pixels are kept. The result contains no location, time or other metadata of a photo, and
the photo is rotated upright. The child process has limited memory and no window. It ends when no
request has arrived for a while.
"""

from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QColorSpace,
    QImage,
    QImageIOHandler,
    QImageReader,
    QPainter,
)

from resources.system.processes import limit_memory
from vault.workers.frames import Answer, Frame, Requests

MAX_MEMORY_BYTES: Final = 1536 * 1024**2
MAX_IMAGE_MB: Final = 512
IDLE_S: Final = 30.0
MOST_PIXELS: Final = 100_000_000
# All providers accept images of this size. Most of them scale larger ones down themselves.
LONGEST_EDGE: Final = 2_048
_PAGE_WIDTH: Final = 1_520  # the text column on a screen with a pixel ratio of 2
MOST_BYTES: Final = 3_750_000  # 5 MB as base64, the smallest limit of a provider
JPEG_QUALITY: Final = 90
SMALLER: Final = 0.75


def main() -> None:
    """Answer requests until the parent process ends or no request has arrived for a while."""
    limit_memory(MAX_MEMORY_BYTES)
    QImageReader.setAllocationLimit(MAX_IMAGE_MB)
    Requests(ends_at_once=True, idle_s=IDLE_S).serve(_convert)


def _convert(frame: Frame) -> Answer:
    try:
        if frame.header["format"] == "pdf":
            return draw_page(frame.payload, frame.header["page"])
        return convert_image(frame.payload, frame.header["format"])
    except MemoryError:
        return {"failure": "decoding it takes too much memory"}, b""


def convert_image(data: bytes, form: str) -> Answer:
    """Decode an image, scale it down to the size that models accept, and encode its pixels.

    Args:
        data: the bytes of the file.
        form: the format of the file: `png`, `jpeg`, `gif`, `webp` or `bmp`. Other formats are not
            decoded.

    Returns:
        The header and the bytes of the answer, as described in the module's docstring.
    """
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(form.encode()))
    reader.setAutoDetectImageFormat(False)
    reader.setAutoTransform(True)
    size = reader.size()
    if size.width() * size.height() > MOST_PIXELS:
        most = f"{MOST_PIXELS // 1_000_000} million"
        pixels = f"{size.width():,} × {size.height():,} pixels"
        return {"failure": f"{pixels}; images of up to {most} pixels are read"}, b""
    if size.isValid():
        reader.setScaledSize(_fit(size, LONGEST_EDGE))
    image = reader.read()
    if image.isNull():
        return {"failure": f"it is damaged ({reader.errorString().rstrip('.').lower()})"}, b""
    answer, encoded = _encode(_keep_pixels(image), "jpeg" if form == "jpeg" else "png")
    own = _turn_upright(reader, size if size.isValid() else image.size())
    return {**answer, "own_width": own.width(), "own_height": own.height()}, encoded


def draw_page(data: bytes, number: int) -> Answer:
    """Draw a page of a PDF file, and encode its pixels.

    Args:
        data: the bytes of the file.
        number: the number of the page, counted from 1.

    Returns:
        The header and the bytes of the answer, as described in the module's docstring.
    """
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(data)
        if not 1 <= number <= len(document):
            pages = "1 page" if len(document) == 1 else f"{len(document):,} pages"
            return {"failure": f"it has no page {number:,}, but {pages}"}, b""
        page = document[number - 1]
        scale = min(_PAGE_WIDTH / page.get_width(), LONGEST_EDGE / page.get_height())
        drawn = page.render(scale=scale, prefer_bgrx=True)
    except (PdfiumError, ValueError, ZeroDivisionError):
        return {"failure": "it is damaged or protected by a password"}, b""
    form = QImage.Format.Format_RGB32
    image = QImage(bytes(drawn.buffer), drawn.width, drawn.height, drawn.stride, form)
    answer, encoded = _encode(image, "png")
    return {**answer, "own_width": image.width(), "own_height": image.height()}, encoded


def _turn_upright(reader: QImageReader, size: QSize) -> QSize:
    """Return the size of an image after it has been rotated upright.

    Args:
        reader: the reader of the image, which knows the rotation.
        size: the size of the image as stored in the file.
    """
    is_turned = reader.transformation() & QImageIOHandler.Transformation.TransformationRotate90
    return size.transposed() if is_turned else size


def _fit(size: QSize, edge: int) -> QSize:
    if max(size.width(), size.height()) <= edge:
        return size
    fitted = size.scaled(edge, edge, Qt.AspectRatioMode.KeepAspectRatio)
    return fitted.expandedTo(QSize(1, 1))


def _keep_pixels(image: QImage) -> QImage:
    """Return a copy of an image in sRGB, without its metadata and colour profile."""
    if image.colorSpace().isValid():
        image.convertToColorSpace(QColorSpace(QColorSpace.NamedColorSpace.SRgb))
    has_alpha = image.hasAlphaChannel()
    form = QImage.Format.Format_ARGB32 if has_alpha else QImage.Format.Format_RGB32
    bare = QImage(image.size(), form)
    bare.fill(Qt.GlobalColor.transparent if has_alpha else Qt.GlobalColor.white)
    _draw(image, bare)
    return bare


def _draw(image: QImage, onto: QImage) -> None:
    painter = QPainter(onto)
    painter.drawImage(0, 0, image)
    painter.end()


def _encode(image: QImage, form: str) -> Answer:
    """Encode an image as PNG or JPEG, and keep the result below the maximum file size.

    A PNG that is too large is encoded as JPEG instead. A JPEG that is too large is scaled down
    until it fits.

    Args:
        form: the preferred format: `png` or `jpeg`.

    Returns:
        A dict with the media type, width and height of the result, and its bytes.
    """
    data = _save(image, form)
    while len(data) > MOST_BYTES:
        if form == "jpeg":
            size = _fit(image.size(), round(max(image.width(), image.height()) * SMALLER))
            smooth = Qt.TransformationMode.SmoothTransformation
            image = image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
        form = "jpeg"
        data = _save(image, form)
    media_type = f"image/{form}"
    return {"media_type": media_type, "width": image.width(), "height": image.height()}, data


def _save(image: QImage, form: str) -> bytes:
    if form == "jpeg" and image.hasAlphaChannel():
        opaque = QImage(image.size(), QImage.Format.Format_RGB32)
        opaque.fill(QColor(Qt.GlobalColor.white))
        _draw(image, opaque)
        image = opaque
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, form, JPEG_QUALITY if form == "jpeg" else -1)  # type: ignore[call-overload]
    return bytes(buffer.data().data())


if __name__ == "__main__":
    main()
