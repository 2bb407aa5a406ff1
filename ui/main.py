"""Start the window: create the Qt application, paint the window, and then open the vault."""

import builtins
import gc
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.startup import sweep_files
from resources.system.calls import SYSTEM, System
from resources.system.processes import connect_locally, has_library
from vault.errors import VaultError

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.assistant import Assistant
    from app.startup import Startup
    from ui.idle_work import IdleTimer
    from ui.panels.notes.folders import Folders
    from ui.window import MainWindow

_DISPLAY_S: Final = 2.0
__all__ = ["display_problem", "restore_import", "run"]

_NAMES_MS = 1_000  # after this time, the vault is opened although its notes are not listed yet


def run(opening: "Startup", exit_after_show: bool = False) -> int:
    """Show the window until it is closed, and return the exit code.

    If another process has already opened a window for the same state folder, that window comes to
    the front instead and opens the folder given to this process.

    Args:
        opening: reads the start-up settings, and opens the vault after the first paint.
        exit_after_show: whether to quit right after the first paint, to measure the start-up time.

    Raises:
        Exception: the vault could not be opened. The window has been closed by then.
    """
    problem = display_problem(os.environ)
    if problem is not None:
        sys.stderr.write(f"{problem}\n")
        return 1
    gc.disable()  # `GarbageCollector` takes over; what is loaded until then is kept anyway
    from PySide6.QtCore import QTimer

    restore_import()
    from ui.idle_work import GarbageCollector, IdleTimer
    from ui.instance import Application, hand_over
    from ui.notify import watch_faults
    from ui.tasks import SWITCH_INTERVAL_S
    from ui.theme import Theme
    from ui.window import MainWindow

    app = create_app()
    if not exit_after_show and hand_over(opening.look.state, opening.asked):
        return 0
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    idle_timer = IdleTimer(app)
    GarbageCollector(app, idle_timer)
    window = MainWindow(opening.look)
    watch_faults(window.notifier, opening.log_file)
    Theme.current().apply(opening.look.theme, window.places.state.font_scale)
    start = _Start(opening, window, idle_timer)
    if isinstance(app, Application):
        app.file_opened.connect(start.call)
    after_paint = app.quit if exit_after_show else start.begin
    window.first_painted.connect(lambda: QTimer.singleShot(0, after_paint))
    window.open_on_screen()
    code = app.exec()
    window.close()
    if start.failure is not None:
        raise start.failure
    return code


def restore_import() -> None:
    """Restore Python's own import function, which PySide6 replaces when it is loaded.

    PySide6 reads the source code of each module that is imported later, to find out whether the
    module uses PySide6's optional features, which Strata does not use. Python keeps the lines in
    memory. As a result, importing the library that calls models takes a fifth longer, and the
    program uses 66 MB more memory.
    """
    original = getattr(builtins, "__orig_import__", None)
    if original is not None:
        builtins.__import__ = original


def create_app() -> "QApplication":
    """Return the Qt application. The first call creates it."""
    from PySide6.QtWidgets import QApplication

    from ui.icons import load_app_icon
    from ui.instance import Application

    app = QApplication.instance() or Application(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Strata")
    app.setDesktopFileName("strata")
    app.setWindowIcon(load_app_icon())
    return app


class _Start:
    """Opens the vault in the background after the first paint, then attaches the window to it.

    The names of the notes are listed first, because loading the rest of the program takes longer.
    """

    def __init__(self, opening: "Startup", window: "MainWindow", idle_timer: "IdleTimer") -> None:
        self.failure: Exception | None = None
        self._is_opening = self._is_open = False
        self._waiting = ""
        self._opening = opening
        self._window = window
        self._idle_timer = idle_timer

    def begin(self) -> None:
        """Fill the painted window, list the notes, and open the vault."""
        from PySide6.QtCore import QTimer

        from ui.instance import InstanceServer

        self._window.fill_column()
        InstanceServer(self._opening.look.state, self._window).called.connect(self.call)
        names = self._window.runner.call(self._list_names)
        names.yielded.connect(self._window.show_names)
        names.finished.connect(self._begin_opening)
        names.start()
        QTimer.singleShot(_NAMES_MS, self._window, self._begin_opening)

    def _list_names(self) -> "Folders":
        from ui.panels.notes.folders import Folders

        with suppress(VaultError, OSError):  # reported when the vault is opened
            return Folders(*self._opening.list_files())
        return Folders()

    def _begin_opening(self) -> None:
        if self._is_opening:
            return
        self._is_opening = True
        task = self._window.runner.call(self._open)
        task.yielded.connect(self._on_opened)
        task.failed.connect(self._on_failed)
        task.start()

    def call(self, path: str) -> None:
        """Bring the window to the front and open a path, because the program was started again.

        Args:
            path: the folder or note to open, or an empty string to keep the open vault.
        """
        self._window.come_to_front()
        if path and self._is_open:
            self._window.open_path(Path(path))
        elif path:
            self._waiting = path

    def _open(self) -> "Assistant":
        # The task also imports the assistant, so that `attach` only has to create the controllers.
        return self._opening.open()

    def _on_opened(self, assistant: "Assistant") -> None:
        from ui.crash_notice import CrashNotice, show_read_only
        from ui.idle_work import call_when_idle

        self._window.attach(assistant)
        self._window.begin()
        self._is_open = True
        if self._waiting:
            self._window.open_path(Path(self._waiting))
        elif self._opening.note:
            self._window.show_note(self._opening.note)
        if assistant.why_read_only:
            show_read_only(self._window.frame, assistant.why_read_only)
        CrashNotice(assistant, self._window.runner, self._window.frame).look()
        sweep = self._window.runner.call(lambda: sweep_files(assistant))
        sweep.yielded.connect(self._window.controllers.bin.forget)
        sweep.start()
        self._window.offer_first_run()
        call_when_idle(assistant.model_setup.warm_up, self._idle_timer)
        self._window.run_early_command()

    def _on_failed(self, error: Exception) -> None:
        self.failure = error
        self._window.close()


def display_problem(environ: Mapping[str, str], system: System = SYSTEM) -> str | None:
    """Return a sentence that explains why no window can be shown, or None if one can be shown.

    Qt aborts the process if it finds no display, so the display is checked before Qt starts. On
    systems other than Linux, nothing is checked.

    Args:
        environ: the environment variables.
        system: the operating system.
    """
    if system != "linux" or environ.get("QT_QPA_PLATFORM"):
        return None
    wayland, display = _wayland_address(environ), environ.get("DISPLAY")
    if wayland is not None and connect_locally(wayland, _DISPLAY_S):
        return None
    if not display:
        return "There is no display to show a window on. Use the commands: strata --help."
    if not _has_x11_server(display):
        return f"The display {display} does not answer. Use the commands: strata --help."
    if not has_library("libxcb-cursor.so.0"):
        return "The library libxcb-cursor is missing: sudo apt install libxcb-cursor0"
    return None


def _wayland_address(environ: Mapping[str, str]) -> str | None:
    name, folder = environ.get("WAYLAND_DISPLAY"), environ.get("XDG_RUNTIME_DIR")
    return str(Path(folder, name)) if name and folder else None


def _has_x11_server(display: str) -> bool:
    """Return whether an X server answers on one of the addresses where it may listen.

    Args:
        display: the value of the environment variable `DISPLAY`, such as `:0`.
    """
    host, _, rest = display.rpartition(":")
    number = rest.partition(".")[0]
    if host not in {"", "unix"}:
        return number.isdigit() and _answers(host, 6000 + int(number))
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - where every X server has it
    return any(connect_locally(address, _DISPLAY_S) for address in (path, f"\0{path}"))


def _answers(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), _DISPLAY_S):
        return True
    return False
