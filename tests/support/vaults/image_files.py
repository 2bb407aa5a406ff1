"""Image files: real ones of every format, with the place of a photo in them, and hostile ones."""

import math
import struct
import zlib

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QColor, QImage, QPainter

PLACE = "52.5163 N, 13.3777 E"
# One red pixel. Qt reads GIF files, but does not write them.
GIF = (
    b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\xff\xff\xff!\xfe\x0b" + b"52.5163 N, " + b"\0"
    b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
)
HEIC = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(64)
_ADLER_BASE = 65_521


def draw(width: int, height: int, form: str = "png", *, corner: str = "red") -> bytes:
    """Draw a white image with a coloured quarter in its upper left corner."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.fillRect(0, 0, width // 2, height // 2, QColor(corner))
    painter.end()
    image.setText("Location", PLACE)
    return encode(image, form)


def draw_noise(width: int, height: int) -> bytes:
    """Draw an image that cannot be compressed, as PNG."""
    from random import Random

    data = Random(7).randbytes(width * height * 3)
    return encode(QImage(data, width, height, width * 3, QImage.Format.Format_RGB888), "png")


def encode(image: QImage, form: str) -> bytes:
    """Encode an image as the bytes of a file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, form.upper())  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def take_photo(width: int, height: int) -> bytes:
    """Return a JPEG file as a camera writes it: with its place, and lying on its side."""
    text = PLACE.encode() + b"\0"
    entries = struct.pack("<HHII", 0x010E, 2, len(text), 38)
    entries += struct.pack("<HHIHH", 0x0112, 3, 1, 6, 0)
    tiff = b"II*\0\x08\0\0\0" + struct.pack("<H", 2) + entries + bytes(4) + text
    exif = b"Exif\0\0" + tiff
    bare = draw(width, height, "jpeg")
    return bare[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + bare[2:]


def make_bomb(width: int, height: int, *, is_colored: bool = False) -> bytes:
    """Return a small PNG file with a huge number of black pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if is_colored else 0, 0, 0, 0)
    size = width * (3 if is_colored else 1) + 1
    at_once = math.gcd(height, 100)
    packed = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = packed.compress(bytes(size * at_once)) + packed.flush(zlib.Z_FULL_FLUSH)
    checksum = struct.pack(">HH", size * height % _ADLER_BASE, 1)  # Adler-32 of zeros
    rows = b"\x78\xda" + block * (height // at_once) + packed.flush() + checksum
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(*chunk) for chunk in ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def decode(data: bytes) -> QImage:
    """Decode the bytes of a PNG or JPEG file."""
    image = QImage.fromData(data)
    assert not image.isNull()
    return image
