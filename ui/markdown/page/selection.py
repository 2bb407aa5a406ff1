"""What copying gives: the text as it is read, without looks and without Qt's inner marks."""

from PySide6.QtGui import QTextCursor

__all__ = ["END_ISOLATE", "ISOLATE", "selected_text"]

# Keep a citation together between letters that run from right to left.
ISOLATE = "\N{LEFT-TO-RIGHT ISOLATE}"
END_ISOLATE = "\N{POP DIRECTIONAL ISOLATE}"

# Qt parts blocks, lines and cells with characters that mean nothing to other programs.
_INNER = str.maketrans(
    {
        "\N{PARAGRAPH SEPARATOR}": "\n",
        "\N{LINE SEPARATOR}": "\n",
        "\N{NO-BREAK SPACE}": " ",
        "\N{OBJECT REPLACEMENT CHARACTER}": "",
        ISOLATE: "",
        END_ISOLATE: "",
        "\ufdd0": "\n",
        "\ufdd1": "\n",
    }
)


def selected_text(cursor: QTextCursor) -> str:
    """Return the selection of a cursor as plain text; citations stay `[1]`."""
    return cursor.selectedText().translate(_INNER)
