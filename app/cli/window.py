"""The window's way in: what can be refused before it is shown, and what comes after it closes."""

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import closing

from app.cli.output import Output
from app.cli.run import INTERRUPTED, fail, run_settings, vault_folder
from app.errors import InvalidRequest
from app.log import open_log
from app.opening import Opening
from app.paths import Paths


def start_window(args: argparse.Namespace, open_window: Callable[[Opening], int]) -> int:
    """Open the window on the chosen folder, and return its exit code."""
    try:
        _require_display()
        paths = Paths.find()
        open_log(paths)
        with closing(Opening(paths, run_settings(args), vault_folder(args))) as opening:
            opening.refuse_early()
            return open_window(opening)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the end of the line: it is told, and logged if a bug)
        return fail(Output(is_json=False), error)


def _require_display() -> None:
    has_one = any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    )
    if sys.platform.startswith("linux") and not has_one:
        raise InvalidRequest(
            "There is no display to open a window on.",
            hint='Ask without one: strata ask "…", or see strata --help.',
        )
