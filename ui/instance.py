"""One window per user: starting Strata again opens the folder or note in the existing window.

    second start ── {"folder": …} ──> local socket ──> InstanceServer ──signal──> window
                 <──── "ok" ─────────

The socket belongs to the state folder, so each state folder has a window of its own. Qt's library
for sockets is loaded only where there is a socket, or after the first paint, which it would delay.
"""

import json
import locale
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from resources.system.calls import SYSTEM
from resources.system.files import make_private_folder
from resources.system.processes import allow_foreground

__all__ = ["Application", "InstanceServer", "hand_over"]

_CONNECT_MS, _ANSWER_MS = 500, 3_000
_MOST_PATH_BYTES = 100  # a local socket's path may have up to 107 bytes
_MOST_BYTES = 65_536
_DONE = b"ok\n"


class Application(QApplication):
    """The Qt application. On macOS, the desktop tells it by an event which file to open.

    Emits `file_opened` with the path of the file or folder.
    """

    file_opened = Signal(str)

    def __init__(self, arguments: Sequence[str]) -> None:
        """Start Qt. Python keeps writing and reading the names of days and months in English."""
        super().__init__(arguments)
        # Qt has set the locale of the desktop, also for `calendar` and `strftime`.
        locale.setlocale(locale.LC_TIME, "C")

    def event(self, event: QEvent) -> bool:
        """Report a file that the desktop asks to open."""
        if isinstance(event, QFileOpenEvent):
            self.file_opened.emit(event.file())
            return True
        return super().event(event)


class InstanceServer(QObject):
    """Listens for attempts to start the program again while it has a window.

    Emits `called` with the folder or note that the new process was asked to open, or "".

    Args:
        state: the state folder of Strata, which contains the socket.
        parent: the Qt parent.
    """

    called = Signal(str)

    def __init__(self, state: Path, parent: QObject) -> None:
        from PySide6.QtNetwork import QLocalServer

        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)
        name = _name_socket(state)
        if not self._server.listen(name):
            QLocalServer.removeServer(name)  # a killed process may have left its socket
            self._server.listen(name)

    def close(self) -> None:
        """Stop listening. If the program is started again, it opens its own window."""
        self._server.close()

    def _on_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(self._on_ready)
            socket.disconnected.connect(socket.deleteLater)

    def _on_ready(self) -> None:
        from PySide6.QtNetwork import QLocalSocket

        socket = self.sender()
        if not isinstance(socket, QLocalSocket) or not socket.canReadLine():
            return
        folder = _read_folder(bytes(socket.readLine(_MOST_BYTES).data()))
        if folder is not None:
            socket.write(_DONE)
            socket.waitForBytesWritten(_CONNECT_MS)  # never blocks, because three bytes always fit
            self.called.emit(folder)


def hand_over(state: Path, folder: str | None) -> bool:
    """Ask the existing window to come to the front. Return False if there is no such window.

    Args:
        state: the state folder of Strata, which contains the socket.
        folder: the vault or note that the existing window should open, or None for none.
    """
    name = _name_socket(state)
    if SYSTEM != "windows" and not os.path.exists(name):
        return False
    from PySide6.QtNetwork import QLocalSocket

    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_CONNECT_MS):
        return False
    allow_foreground()
    named = "" if folder is None else os.path.abspath(Path(folder).expanduser())
    socket.write(json.dumps({"folder": named}).encode() + b"\n")
    return socket.waitForReadyRead(_ANSWER_MS) and bytes(socket.readAll().data()) == _DONE


def _read_folder(line: bytes) -> str | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    folder = found.get("folder") if isinstance(found, dict) else None
    return folder if isinstance(folder, str) else None


def _name_socket(state: Path) -> str:
    """Return the name of the local socket on which the existing window listens.

    On POSIX systems, this is a path in the state folder, or in a temporary folder if the path would
    be too long. On Windows, it is the name of a pipe.
    """
    make_private_folder(state)
    path = os.path.normcase(state / "window.socket")
    if SYSTEM != "windows" and len(os.fsencode(path)) <= _MOST_PATH_BYTES:
        return path
    import hashlib  # late: it delays the first paint

    mark = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return f"strata-{mark}" if SYSTEM == "windows" else f"{tempfile.gettempdir()}/strata-{mark}"
