"""Attached images are decoded in a child process and sent without their metadata."""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing

import pytest
from PySide6.QtGui import QImage

from app.errors import InvalidRequest
from app.library.image_reader import ImageReader, is_image_file
from tests.support.vaults.image_files import (
    GIF,
    HEIC,
    PLACE,
    decode,
    draw,
    draw_noise,
    make_bomb,
    take_photo,
)

MOST_BASE64 = 5_000_000


def is_red(image: QImage, x: int, y: int) -> bool:
    color = image.pixelColor(x, y)
    return color.red() > 240 and color.green() < 20


@pytest.fixture(scope="module")
def reader() -> Iterator[ImageReader]:
    with closing(ImageReader()) as reader:
        yield reader


@pytest.mark.parametrize(
    ("data", "media_type", "size"),
    [
        (draw(40, 30), "image/png", (40, 30)),
        (draw(40, 30, "jpeg"), "image/jpeg", (40, 30)),
        (draw(40, 30, "webp"), "image/png", (40, 30)),
        (GIF, "image/png", (1, 1)),
    ],
)
def test_each_format_becomes_one_that_all_providers_take(
    reader: ImageReader, data: bytes, media_type: str, size: tuple[int, int]
) -> None:
    read = reader.read("a file", data)
    sent = decode(b64decode(read.image.data))
    assert (read.image.media_type, (read.width, read.height)) == (media_type, size)
    assert (sent.width(), sent.height()) == size
    assert is_red(sent, 0, 0)
    assert sent.textKeys() == []


def test_a_photo_is_turned_upright_and_loses_its_place(reader: ImageReader) -> None:
    photo = take_photo(64, 32)
    assert PLACE.encode() in photo
    read = reader.read("photo.jpg", photo)
    assert (read.width, read.height) == (32, 64)
    assert read.own_size == (32, 64)
    data = b64decode(read.image.data)
    assert PLACE.encode() not in data
    assert b"Exif" not in data
    assert is_red(decode(data), 24, 16)  # the red corner is on the right now


def test_a_large_image_is_scaled_down(reader: ImageReader) -> None:
    read = reader.read("wide.png", draw(5_000, 2_500))
    assert (read.width, read.height) == (2_048, 1_024)
    assert read.own_size == (5_000, 2_500)
    assert reader.read("thin.png", draw(6_000, 1)).height == 1


def test_an_image_that_is_large_in_bytes_is_sent_as_a_smaller_jpeg(reader: ImageReader) -> None:
    read = reader.read("noise.png", draw_noise(2_000, 2_000))
    assert read.image.media_type == "image/jpeg"
    assert len(read.image.data) <= MOST_BASE64


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make_bomb(20_000, 20_000), "20,000 × 20,000 pixels; images of up to 100 million"),
        (draw(400, 300)[:200], "it is damaged"),
        (draw(400, 300, "jpeg")[:30], "it is damaged"),
    ],
)
def test_a_hostile_or_damaged_image_is_refused_and_the_next_one_is_read(
    reader: ImageReader, data: bytes, reason: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"The image a.png cannot be read: .*{reason}"):
        reader.read("a.png", data)
    assert reader.read("b.png", draw(3, 3)).width == 3


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("photo.jpg", HEIC, "photo.jpg is a HEIC photo, which models do not take"),
        ("a.png", b"<svg/>", "a.png is not a PNG, JPEG, GIF or WebP image"),
        ("a.gif", b"", "a.gif is not a PNG, JPEG, GIF or WebP image"),
    ],
)
def test_other_formats_are_refused_by_their_content(
    reader: ImageReader, name: str, data: bytes, said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        reader.read(name, data)


def test_an_image_is_known_by_its_name() -> None:
    assert is_image_file("Photo.JPG")
    assert not is_image_file("drawing.svg")
    with pytest.raises(InvalidRequest, match=r"Photo.HEIC is a HEIC photo.* It is not attached"):
        is_image_file("Photo.HEIC")


def test_an_image_is_decoded_once_and_a_killed_child_is_replaced() -> None:
    with closing(ImageReader()) as reader:
        first = reader.read("a.png", draw(8, 8))
        assert reader._child.child is not None
        reader._child.child.kill("the test ends it")
        assert reader.read("b.png", draw(8, 8)) is first
        assert reader.read("c.png", draw(9, 9)).width == 9
