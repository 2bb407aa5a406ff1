"""Where the program starts: the window, or a verb of the command line."""

import os
import sys
from typing import TYPE_CHECKING

from app.cli import run, window_parser

if TYPE_CHECKING:
    from app.opening import Opening


def main() -> int:
    """Run `strata` with the words of the command line, and return its exit code."""
    return run(sys.argv[1:], _show)


def main_window() -> int:
    """Open the window, for a desktop's menu, and return the exit code."""
    args = window_parser().parse_args(sys.argv[1:])
    from app.cli_window import start_window

    return start_window(args, _show)


def _show(opening: "Opening") -> int:
    from ui.main import run as run_window

    is_trial = os.environ.get("STRATA_EXIT_AFTER_SHOW") == "1"
    return run_window(opening, is_trial)


if __name__ == "__main__":
    sys.exit(main())
