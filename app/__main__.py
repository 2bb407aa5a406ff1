"""Where the program starts and ends: the window, or a verb of the command line."""

import contextlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from app.cli import run, window_parser

if TYPE_CHECKING:
    from app.opening import Opening


def main() -> NoReturn:
    """Run `strata` with the words of the command line, and end with its exit code."""
    _end(run(sys.argv[1:], _show))


def main_window() -> NoReturn:
    """Open the window, for a desktop's menu, and end with its exit code."""
    args = window_parser().parse_args(sys.argv[1:])
    from app.cli_window import start_window

    _end(start_window(args, _show))


def _show(opening: "Opening") -> int:
    from ui.main import run as run_window

    is_trial = os.environ.get("STRATA_EXIT_AFTER_SHOW") == "1"
    return run_window(opening, is_trial)


def _end(code: int) -> NoReturn:
    """End the program at once; everything is saved and closed by now.

    The interpreter's own end may wait for ever: the thread of a call that was abandoned is stopped
    there for good, perhaps within an import, and a library that tidies up asks for the same import.
    """
    import logging

    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # `strata-gui` has none on Windows
            with contextlib.suppress(OSError, ValueError):  # whoever read it has gone
                stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
