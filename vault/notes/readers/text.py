"""Plain text: its lines are those of the file, a paragraph ends with a blank line."""

from vault.notes.encodings import decode_text, lines_joined
from vault.notes.readers.parts import Extract, Part


def read(data: bytes) -> Extract:
    """Read plain text.

    Raises:
        ReadingFailed: it is no text, or in an encoding that cannot be told.
    """
    return Extract([Part("text", lines_joined(decode_text(data).text))])
