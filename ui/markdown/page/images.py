"""Insert images into a document, at most as wide as the text.

Each image is added to the document as a resource with a unique name, so that Qt never loads a file
by name.
"""

from dataclasses import dataclass

from PySide6.QtCore import QSizeF, QUrl
from PySide6.QtGui import QImage, QTextBlockFormat, QTextCursor, QTextDocument, QTextImageFormat

from ui.markdown.blocks import Missing, Run
from ui.markdown.embeds import EmbeddedText, EmbedFailure
from ui.markdown.inline import NOTE
from ui.markdown.page.spacing import compute_inset

__all__ = ["Embedded", "ImageFailure", "Picture", "find_action", "fit_picture", "insert_picture"]

_LEAST_WIDTH = 24
_MOST_HEIGHT = 720
_SINGLE = QTextBlockFormat.LineHeightTypes.SingleHeight.value


@dataclass(frozen=True, slots=True)
class ImageFailure:
    """The reason why an image cannot be shown.

    Attributes:
        message: the reason, as a sentence.
        is_found: whether the file exists, so that the user can open it with another program.
    """

    message: str
    is_found: bool


Picture = QImage | ImageFailure
Embedded = Picture | EmbeddedText | EmbedFailure


def insert_picture(
    cursor: QTextCursor, leaf: Missing, image: QImage, width: int, href: str = ""
) -> None:
    """Insert an image into the empty block at the cursor.

    Args:
        cursor: a cursor in the document.
        leaf: the image as written in the note. As in Obsidian, the description can be a number,
            which sets the width in pixels.
        image: the decoded image.
        width: the width of the text in pixels.
        href: the anchor that a click on the image reports, or an empty string for none.
    """
    block = cursor.blockFormat()
    block.setLineHeight(0, _SINGLE)
    cursor.setBlockFormat(block)
    inset = compute_inset(leaf.boxes)
    size = fit_picture(image, round(width - inset.start - inset.end), _find_wanted_width(leaf))
    made = QTextImageFormat()
    made.setName(_add_resource(cursor.document(), leaf.source, image))
    made.setWidth(size.width())
    made.setHeight(size.height())
    made.setProperty(QTextImageFormat.Property.ImageAltText, _describe(leaf))
    made.setToolTip(_describe(leaf))
    if href:
        made.setAnchor(True)
        made.setAnchorHref(href)
    cursor.insertImage(made)


def fit_picture(image: QImage, width: int, wanted: int = 0) -> QSizeF:
    """Return the size at which an image is shown: no wider than the text, at most 720 pixels high.

    Args:
        width: the width of the text in pixels.
        wanted: the width in pixels that is set in the note, or 0 for the image's own width.
    """
    own = image.width() / image.devicePixelRatio()
    shown = max(1.0, min(wanted or own, max(_LEAST_WIDTH, width)))
    height = image.height() / image.devicePixelRatio() * shown / max(1.0, own)
    if height > _MOST_HEIGHT:
        shown, height = shown * _MOST_HEIGHT / height, _MOST_HEIGHT
    return QSizeF(round(shown), round(height))


def find_action(leaf: Missing, failure: ImageFailure | None) -> Run | None:
    """Return the link to show beside an image's placeholder, or None if nothing can be opened.

    Args:
        leaf: the image.
        failure: why loading the image failed, or None if Strata did not try to load it.
    """
    if leaf.link:
        return Run("Open in browser", link=leaf.link)
    if not leaf.source or (failure is not None and not failure.is_found):
        return None
    return Run("Open image" if failure else "Show image", link=NOTE + leaf.source)


def _add_resource(document: QTextDocument, source: str, image: QImage) -> str:
    """Add an image to a document and return the image's name in the document.

    The name begins with `picture:`. The address of an image in Markdown cannot have this scheme.
    """
    url = QUrl("picture:")
    url.setPath(source)
    document.addResource(QTextDocument.ResourceType.ImageResource.value, url, image)
    return url.toString()


def _find_wanted_width(leaf: Missing) -> int:
    """Return the width that the note sets, as in `![[plan.png|300]]`, or 0 if it sets none."""
    number = leaf.alt.partition("x")[0].strip()
    return int(number) if number.isdecimal() and len(number) < 5 else 0


def _describe(leaf: Missing) -> str:
    """Return an image's description for its tooltip and for screen readers.

    If the note gives no description, or only a width, the file name is returned.
    """
    is_width = bool(_find_wanted_width(leaf))
    return leaf.where if is_width or not leaf.alt else leaf.alt
