"""What screen readers are told a part is, where Qt's own answer would be "frame"."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QFrame, QWidget

__all__ = ["Part"]

# Qt takes the interfaces over but PySide forgets them; each lives as long as its widget.
_alive: dict[int, QAccessibleInterface] = {}
_installed: list[bool] = []


class Part(QFrame):
    """A frame with a role of its own.

    Args:
        role: such as `Document` for an answer, `AlertMessage` for an error.
        parent: as in Qt.
    """

    def __init__(
        self,
        role: QAccessible.Role = QAccessible.Role.Grouping,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.accessible_role = role
        key = id(self)
        self.destroyed.connect(lambda: _alive.pop(key, None))
        if not _installed:
            QAccessible.installFactory(_interface_of)
            _installed.append(True)


def _interface_of(_name: str, widget: QObject) -> QAccessibleInterface | None:
    if not isinstance(widget, Part):
        return None
    made = QAccessibleWidget(widget, widget.accessible_role, widget.accessibleName())
    _alive[id(widget)] = made
    return made
