"""AGENTS.md of the notes on the command line: read it, take it on or refuse it."""

import argparse
import sys
from collections.abc import Iterator

from app.assistant import Assistant
from app.cli_output import Output
from app.cli_run import can_ask
from app.errors import NotFound
from app.instructions import Instructions
from vault.errors import NoteUnreadable

__all__ = ["ask_once", "run"]


def run(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Do what `strata instructions` was told to do, and return the exit code."""
    found = assistant.instructions()
    if found is None:
        raise NotFound(
            "These notes have no AGENTS.md that a model may be given.",
            hint="Write one into the uppermost folder of the notes; a private or excluded one "
            "does not count.",
        )
    if args.action == "accept":
        assistant.accept_instructions(found.digest)
    elif args.action == "refuse":
        assistant.refuse_instructions(found.digest)
    found = assistant.instructions() or found
    is_shown = args.action == "show"
    lines = _shown(found) if is_shown else [f"{found.path} is {_state(found)}."]
    text = {"text": found.text} if is_shown else {}
    output.show(
        lambda: {
            "path": found.path,
            "digest": found.digest,
            "state": found.decision or "undecided",
            **text,
        },
        lines,
    )
    return 0


def ask_once(assistant: Assistant) -> None:
    """Show an AGENTS.md that nobody decided about, and ask; only where somebody can answer."""
    if not can_ask():
        return
    try:
        found = assistant.instructions()
    except NoteUnreadable:
        return  # the turn itself says so
    if found is None or found.decision is not None:
        return
    sys.stderr.write("".join(f"{line}\n" for line in _shown(found)))
    sys.stderr.write("Give these instructions to models that work on these notes? [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        sys.stderr.write("\n")
    elif answer.strip().lower() in ("y", "yes"):
        assistant.accept_instructions(found.digest)
    else:
        assistant.refuse_instructions(found.digest)
        sys.stderr.write("They are left out. `strata instructions accept` takes them on.\n")


def _shown(found: Instructions) -> Iterator[str]:
    yield f"{found.path} of these notes, {_state(found)}:"
    yield ""
    yield from (f"    {line}" for line in found.visible_text.split("\n"))
    yield ""


def _state(found: Instructions) -> str:
    states = {"accepted": "used", "refused": "refused and not used"}
    return states.get(found.decision or "", "not used until you have taken it on")
