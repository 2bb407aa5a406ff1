"""The base of the controllers, and what all of them work with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.assistant import Assistant
from ui.frame import WindowFrame
from ui.tasks import TaskRunner

if TYPE_CHECKING:
    from ui.controllers.session import SessionController

__all__ = ["ChatController", "Collaborators", "Controller"]


@dataclass(frozen=True)
class Collaborators:
    """What every controller of a window works with.

    Attributes:
        assistant: the application's use-cases.
        runner: runs the slow calls of the assistant.
        frame: the main window.
    """

    assistant: Assistant
    runner: TaskRunner
    frame: WindowFrame


class Controller(QObject):
    """Connects views of a window to the assistant.

    Args:
        parent: the Qt parent, if it is not the window.
    """

    def __init__(self, shared: Collaborators, parent: QObject | None = None) -> None:
        super().__init__(parent or shared.frame)
        self._assistant, self._runner, self._frame = shared.assistant, shared.runner, shared.frame


class ChatController(Controller):
    """A controller that works with the open chat."""

    def __init__(self, shared: Collaborators, session: "SessionController") -> None:
        super().__init__(shared, session)
        self._session = session
