"""Write the log file, which never contains API keys or the text of notes.

Only Strata's own packages write to it, since log messages of libraries may contain whole requests.
"""

import logging
import os
import re
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from app.paths import Paths
from resources.system.files import make_private_folder, open_file

PACKAGES = ("app", "chains", "context", "ui", "vault")
_MAX_BYTES = 1_000_000
_OLDER_FILES = 3
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_log = logging.getLogger(__name__)


def open_log(paths: Paths) -> None:
    """Start logging. If the file cannot be written, the program runs without a log."""
    # Without a handler, Python would print warnings to the terminal, even those of libraries.
    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(logging.NullHandler())
    try:
        start_log(paths.log_file)
    except OSError as error:
        _log.warning("There is no log: %s", error)


def start_log(path: Path) -> None:
    """Write the log to a file that only its owner can read.

    Existing entries are kept. A second call switches to another file.

    Raises:
        OSError: the file cannot be written, or is a link.
    """
    stop_log()
    make_private_folder(path.parent)
    handler = _PrivateFile(path, maxBytes=_MAX_BYTES, backupCount=_OLDER_FILES, encoding="utf-8")
    handler.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in PACKAGES:
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)


def stop_log() -> None:
    """Close the log file."""
    for name in PACKAGES:
        logger = logging.getLogger(name)
        for handler in [h for h in logger.handlers if isinstance(h, _PrivateFile)]:
            logger.removeHandler(handler)
            handler.close()


class _PrivateFile(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        handle = open_file(Path(self.baseFilename), flags)
        return TextIOWrapper(os.fdopen(handle, "ab"), self.encoding, errors="replace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (the overridden name)
        """Discard a log message that cannot be written, without printing a stack trace."""


class _Formatter(logging.Formatter):
    default_msec_format = "%s.%03d"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the name it overrides)
        # A path may contain a line break: without this, it could forge a message of its own.
        record.message = record.message.replace("\n", "\\n")
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        from app.secret_text import redact  # late: it delays the first paint

        text = redact(super().format(record))
        return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
