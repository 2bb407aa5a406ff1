"""The ways out of an error, by their names."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QGuiApplication

from app.errors import ErrorInfo
from ui.faults import open_log_file

__all__ = ["WaysOut"]

_PAGES = {
    "enter_key": "Models",
    "choose_model": "Models",
    "privacy_settings": "Privacy",
    "raise_limit": "Context",
}


class WaysOut:
    """Takes them.

    Args:
        open_page: shows a page of the settings.
        choose_folder: asks for a folder of notes.
        turn_hooks_off: switches the user's own hooks off.
        log: where the log is.
    """

    def __init__(
        self,
        open_page: Callable[[str], object],
        choose_folder: Callable[[], object],
        turn_hooks_off: Callable[[], object],
        log: Path,
    ) -> None:
        self._open_page, self._choose_folder = open_page, choose_folder
        self._turn_hooks_off = turn_hooks_off
        self._log = log

    def take(self, name: str, info: ErrorInfo | None) -> None:
        """Take one out of an error."""
        if name in _PAGES:
            self._open_page(_PAGES[name])
        elif name == "choose_folder":
            self._choose_folder()
        elif name == "turn_hooks_off":
            self._turn_hooks_off()
        elif name == "open_log":
            open_log_file(self._log)
        elif name == "copy_details" and info is not None:
            details = "\n".join(filter(None, (info.code, info.message, info.hint)))
            QGuiApplication.clipboard().setText(details)
