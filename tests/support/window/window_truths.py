"""What must be true of the window after each press, whatever was pressed."""

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from ui.chat.composer.chips import ChipStrip
from ui.widgets.dialogs import is_hovered
from ui.window import MainWindow


def find_untruths(window: MainWindow) -> Iterator[str]:
    """Yield a sentence for each thing in the window that is untrue or in the way."""
    yield from _find_covered_buttons(window)
    yield from _find_wrong_chat(window)
