"""The one column that transcript and composer share, so that all text has one left edge."""

from ui.theme import Theme

__all__ = ["OUTDENT", "column_of", "set_in"]

OUTDENT = 16


def column_of(width: int) -> tuple[int, int]:
    """Return where the column begins and how wide it is, with its outdent on both sides.

    Args:
        width: of the whole middle.
    """
    theme = Theme.current()
    gutter = int(theme.value("layout.transcript.gutter")) - OUTDENT
    measure = theme.px(theme.value("layout.transcript.measure")) + 2 * OUTDENT
    column = max(0, min(measure, width - 2 * gutter))
    return (width - column) // 2, column


def set_in(width: int) -> tuple[int, int]:
    """Return the margins left and right of the column."""
    left, column = column_of(width)
    return left, width - left - column
