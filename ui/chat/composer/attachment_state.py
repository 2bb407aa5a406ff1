"""The state of an attachment in an unsent message, and image thumbnails."""

from base64 import b64decode
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader

from ui.widgets.formatting import count, plural

if TYPE_CHECKING:
    from context.layers import ImageData

__all__ = ["ChipState", "Omission", "read_thumbnail"]

Omission = Literal["", "empty", "repeated"]

_COUNTING = "…"
_OMITTED = {"empty": "empty", "repeated": "already attached"}
_WHY_OMITTED = {
    "empty": "It is empty, so there is nothing of it to send.",
    "repeated": "Another attachment contains it, so it is sent once.",
}


@dataclass(frozen=True)
class ChipState:
    """The state of an attachment in an unsent message.

    Attributes:
        notes: the number of notes in a folder or with a tag, or 0 for a single file.
        tokens: the number of tokens, or None while they are being counted.
        sent: the number of tokens that fit into the next request, or None if everything fits.
        problem: why the attachment cannot be sent to any model, or an empty string.
        length: the length of a document, such as `412 pages`.
        parts: the number of parts in which the model reads a large attachment. This is 0 if the
            attachment is searched instead, and None if it is small enough to be sent whole.
        image: the image that is sent, or None.
        unseen: why the chosen model cannot receive the image, or an empty string.
        blind_model: that model, or an empty string if none is set.
        omitted: why the message is sent without the attachment: "empty", or "repeated" if another
            attachment contains it.
    """

    notes: int = 0
    tokens: int | None = None
    sent: int | None = None
    problem: str = ""
    length: str = ""
    parts: int | None = None
    image: "ImageData | None" = None
    unseen: str = ""
    blind_model: str = ""
    omitted: Omission = ""

    @property
    def obstacle(self) -> str:
        """Why the attachment prevents the message from being sent, or an empty string."""
        return self.problem or self.unseen

    @property
    def is_amber(self) -> bool:
        """Whether the chip has the warning colour, as a sign that it cannot be sent completely."""
        if self.obstacle or self.omitted:
            return bool(self.obstacle) or self.omitted == "empty"
        return self.sent is not None and self.parts is None

    @property
    def figures(self) -> str:
        """A short text after the attachment's name, such as `11 notes, 3,120` for 3,120 tokens.

        For a large attachment, it says how the attachment is used, such as `read in 4 parts`. If
        the attachment cannot be sent, it says so.
        """
        if self.obstacle:
            return "cannot be sent"
        if self.omitted:
            return _OMITTED[self.omitted]
        if self.parts is not None:
            how = f"read in {plural(self.parts, 'part')}" if self.parts else "searched within"
            return f"{self.length}, {how}" if self.length else how
        amount = _COUNTING if self.tokens is None else count(self.tokens)
        if self.sent is not None:
            amount = f"{count(self.sent)} of {amount}"
        return f"{plural(self.notes, 'note')}, {amount}" if self.notes else amount

    @property
    def sentence(self) -> str:
        """The chip's tooltip: the number of tokens and their use, or why nothing is sent."""
        if self.obstacle:
            return self.obstacle
        if self.omitted:
            return _WHY_OMITTED[self.omitted]
        if self.tokens is None:
            return "Its tokens are being counted."
        if self.parts:
            return f"All of its {count(self.tokens)} tokens are read before the answer."
        if self.parts == 0:
            return f"Too large to go whole ({count(self.tokens)} tokens): what is closest goes."
        if self.sent == 0:
            return "Too large: nothing of it fits into the next message."
        if self.sent is not None:
            sent, all_ = count(self.sent), count(self.tokens)
            return f"Too large to go whole: {sent} of its {all_} tokens fit, what is closest goes."
        return f"{count(self.tokens)} tokens"


@lru_cache(maxsize=64)
def read_thumbnail(image: "ImageData", side: int) -> QImage:
    """Decode an image, scaled to fit a square of `side` pixels. Return a null image on failure."""
    buffer = QBuffer()
    buffer.setData(QByteArray(b64decode(image.data)))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setScaledSize(
        reader.size().scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))
    )
    return reader.read()
