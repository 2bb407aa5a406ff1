"""What every run of the program shares: what was named for it alone, and how it ends badly."""

import argparse
import logging
import sys
from typing import TYPE_CHECKING, Any

from app.cli.output import Output
from app.errors import describe
from app.faults import log_bug

if TYPE_CHECKING:
    from app.assistant import Assistant

FAILED = 1
INTERRUPTED = 130

_log = logging.getLogger(__name__)


def run_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given for this run alone, the last one of a key winning."""
    return dict([*args.early_set, *args.middle_set, *args.late_set])


def vault_folder(args: argparse.Namespace) -> str | None:
    """Return the folder of notes that was named for this run."""
    places = (args.late_vault, args.middle_vault, args.early_vault)
    return next((str(named) for named in places if named is not None), None)


def can_ask() -> bool:
    """Return whether somebody is there who can be asked."""
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def open_vault(
    args: argparse.Namespace, assistant: "Assistant", session: str | None = None
) -> None:
    """Open the folder that was named for this run, else that of the chat, else of the settings."""
    from app.wiring import folder_of  # the window is painted before all that is loaded

    folder = folder_of(assistant, vault_folder(args), session)
    if folder is not None:
        assistant.open_vault(folder, remember=False)


def fail(output: Output, error: Exception) -> int:
    """Tell the user what went wrong, log it if it is a bug, and return the exit code."""
    info = describe(error)
    log_bug(error)
    _log.info("failed: %s", info.code)
    output.failure(info)
    return INTERRUPTED if info.code == "cancelled" else FAILED
