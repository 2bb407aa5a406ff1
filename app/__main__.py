"""Where the program starts and ends: the window, or a verb of the command line.

Before anything else is imported, the import path loses what the environment added to it.
"""

import os
import sys


def _clean_import_path() -> None:
    """Remove the working folder and the entries of PYTHONPATH from the import path.

    A folder of notes may hold a `litellm.py`. What stays is the folder that holds this program and
    what belongs to the interpreter.
    """
    program = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    own = tuple(os.path.join(folder, "") for folder in (program, sys.prefix))
    named = os.environ.get("PYTHONPATH", "")
    try:
        added = {os.path.abspath(entry) for entry in ("", *named.split(os.pathsep))}
    except OSError:  # the working folder is gone, and nothing can be imported from there
        added = set(named.split(os.pathsep))
    sys.path[:] = [
        entry
        for entry in sys.path
        if entry
        and (os.path.abspath(entry) not in added or os.path.join(entry, "").startswith(own))
    ]


_clean_import_path()

import contextlib  # noqa: E402
from typing import TYPE_CHECKING, NoReturn  # noqa: E402

from app.cli.parser import run, run_window  # noqa: E402
from app.faults import install_fault_hooks  # noqa: E402

if TYPE_CHECKING:
    from app.startup import Startup


def main() -> NoReturn:
    """Run `strata` with the words of the command line, and end with its exit code."""
    install_fault_hooks()
    _end(run(sys.argv[1:], _show))


def main_window() -> NoReturn:
    """Open the window, for a desktop's menu, and end with its exit code."""
    install_fault_hooks()
    _end(run_window(sys.argv[1:], _show))


def _show(opening: "Startup") -> int:
    """Show the window until it is closed; on a trial run, until it has been painted once."""
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
