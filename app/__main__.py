"""The program's entry points: open the window, or run a command-line verb.

The import path is cleaned first: directories that come from the environment are removed from it.
"""

import os
import signal
import sys

# Until `main` handles it, Ctrl+C ends the program without printing a trace.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _clean_import_path() -> None:
    """Remove the working directory and PYTHONPATH entries from the import path.

    If they stayed, starting Strata in a vault with a file `litellm.py` would import that file.
    """
    program = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    own = tuple(os.path.join(folder, "") for folder in (program, sys.prefix))
    named = os.environ.get("PYTHONPATH", "")
    try:
        added = {os.path.abspath(entry) for entry in ("", *named.split(os.pathsep))}
    except OSError:  # the working folder was deleted, so nothing is imported from it
        added = set(named.split(os.pathsep))
    sys.path[:] = [
        entry
        for entry in sys.path
        if entry
        and (os.path.abspath(entry) not in added or os.path.join(entry, "").startswith(own))
    ]


def _open_missing_streams() -> None:
    """Redirect standard streams to the null device if they were closed before the start.

    For example, a shell closes standard output with `>&-`. The next file that is opened, such as a
    chat's file, could then get the closed stream's file descriptor, and a library that prints would
    write into this file. Commands still report that a closed standard output cannot be written.
    """
    flags = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags[number])  # the lowest free number
            stream = os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)


_clean_import_path()
_open_missing_streams()

from app.crashes.recorder import (  # noqa: E402
    start_recording,
    stop_recording,
    write_to_terminal,
)

write_to_terminal()  # what follows may crash already

from typing import TYPE_CHECKING, NoReturn  # noqa: E402

from app.cli.arguments import INTERRUPTED  # noqa: E402
from app.cli.parser import run, run_window  # noqa: E402
from app.faults import install_fault_hooks  # noqa: E402

if TYPE_CHECKING:
    from app.startup import Startup


def main() -> NoReturn:
    """Run `strata` with the command-line arguments and exit with its exit code."""
    _handle_interrupts()
    install_fault_hooks()
    try:
        code = run(sys.argv[1:], _show, _record_crashes)
    except SystemExit as end:  # after --help, --version or wrong arguments
        code = int(end.code or 0)
    except KeyboardInterrupt:  # while an earlier one was being reported
        code = INTERRUPTED
    _end(code)


def main_window() -> NoReturn:
    """Run `strata-gui`, which opens the window from a desktop menu."""
    _handle_interrupts()
    install_fault_hooks()
    _end(run_window(sys.argv[1:], _show, _record_crashes))


def _record_crashes(kind: str) -> None:
    """Let a crash leave a file in the state folder, once the command line was understood."""
    from app.paths import Paths  # not needed for `strata --version`

    start_recording(Paths.find().crashes, kind)


def _handle_interrupts() -> None:
    """Raise `KeyboardInterrupt` on Ctrl+C, unless the program was started with SIGINT ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _show(opening: "Startup") -> int:
    """Show the window until it is closed, and return the exit code.

    If the environment variable STRATA_EXIT_AFTER_SHOW is "1", the window is closed after it was
    painted for the first time. This is used to test an installation.
    """
    from ui.main import run as run_window

    is_trial = os.environ.get("STRATA_EXIT_AFTER_SHOW") == "1"
    return run_window(opening, is_trial)


def _end(code: int) -> NoReturn:
    """Exit the process immediately with an exit code. Everything has already been saved and closed.

    The interpreter's normal exit could deadlock, because an abandoned thread may hold an import
    lock that a library's exit handler waits for.
    """
    import logging

    logging.shutdown()
    stop_recording()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # `strata-gui` has none on Windows
            try:
                stream.flush()
            except (OSError, ValueError):  # closed, or the disk is full: part of --help is lost
                code = code or int(stream is sys.stdout)
    os._exit(code)


if __name__ == "__main__":
    main()
