"""Encode requests for the database, so that each image is stored only once.

```
request ──> report, body and wire as compressed JSON, with the hash of each image in its place
        └─> the images by their hashes
```

Images are stored separately, because each later request of a chat contains them again, both in the
body and in the data sent. Any long base64 text counts as an image, because each provider uses
another field for images.
"""

import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from context.envelope import EncodedJson

__all__ = [
    "StoredRequest",
    "compress_text",
    "decode_json",
    "decode_request",
    "decompress_text",
    "encode_json",
    "encode_request",
]

_IMAGE: Final = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{4096,}+={0,2}")
# The hash of an image in its place. The text of a JSON document contains no NUL.
_REFERENCE: Final = re.compile("\0([0-9a-f]{64})\0")


@dataclass(frozen=True)
class StoredRequest:
    """A request as sent to a model.

    Attributes:
        session: the chat id.
        turn: the turn id.
        number: the number of the request within its turn, counted from 1.
        report: the context report.
        body: the request in provider-neutral form.
        wire: the data sent to the provider, or None.
    """

    session: str
    turn: str
    number: int
    report: Mapping[str, Any]
    body: Mapping[str, Any]
    wire: Mapping[str, Any] | None


def encode_request(request: StoredRequest) -> tuple[tuple[Any, ...], dict[str, str]]:
    """Encode a request for the database.

    Returns:
        The request's row in the database, and its images in base64, by hash.
    """
    images: dict[str, str] = {}
    row = (
        request.session,
        request.turn,
        request.number,
        encode_json(request.report),
        encode_json(request.body, images),
        None if request.wire is None else encode_json(request.wire, images),
    )
    return row, images


def decode_request(session: str, turn: str, rows: Sequence[Sequence[Any]]) -> StoredRequest:
    """Decode a stored request.

    Args:
        session: the id of the chat.
        turn: the id of the turn.
        rows: one row for each image of the request, or a single row if it has none. A row contains
            the request's number, report, body and wire, then the image's hash and the image.

    Raises:
        LookupError: an image is missing.
        ValueError, TypeError, zlib.error: `encode_request` did not encode the rows.
    """
    images = {key: decompress_text(image) for *_, key, image in rows if image is not None}
    number, report, body, wire, *_ = rows[0]
    if not isinstance(number, int):
        raise TypeError(f"{number!r:.40} is not the number of a request")
    return StoredRequest(
        session=session,
        turn=turn,
        number=number,
        report=decode_json(report),
        body=decode_json(body, images),
        wire=None if wire is None else decode_json(wire, images),
    )


def encode_json(value: Mapping[str, Any], images: dict[str, str] | None = None) -> bytes:
    """Encode and compress a JSON object.

    Args:
        value: the object.
        images: a dictionary to which the images are added by hash. In the JSON, each image is
            replaced with its hash. If None, the images stay in the JSON.
    """
    text = value.text if isinstance(value, EncodedJson) else _dump(value)
    return compress_text(text if images is None else _IMAGE.sub(partial(_take_image, images), text))


def decode_json(data: bytes, images: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Decode a JSON object that was encoded with `encode_json`.

    Args:
        data: the compressed JSON.
        images: the images by hash, which replace the hashes in the JSON. If None, hashes are kept.
    """
    text = decompress_text(data)
    if images is not None:
        text = _REFERENCE.sub(lambda found: images[found[1]], text)
    return dict(json.loads(text))


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _take_image(images: dict[str, str], found: re.Match[str]) -> str:
    key = hashlib.sha256(found[0].encode()).hexdigest()
    images[key] = found[0]
    return f"\0{key}\0"


def compress_text(text: str) -> bytes:
    """Compress text, which may contain lone surrogates."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def decompress_text(data: bytes) -> str:
    """Decompress text that was compressed with `compress_text`."""
    return zlib.decompress(data).decode("utf-8", "surrogatepass")
