"""Instructions for models on the command line: show all; accept or refuse those of the notes."""

import argparse
import sys
from collections.abc import Iterator

from app.assistant import Assistant
from app.cli.output import Output
from app.cli.run import can_ask
from app.errors import AppError, NotFound, VaultNotChosen
from app.library.instructions import Instructions, UserInstructions, visible_text
from vault.errors import NoteUnreadable

__all__ = ["ask_once", "run"]


def run(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Do what `strata instructions` was told to do, and return the exit code."""
    if args.action == "show":
        return _show(assistant, output)
    found = assistant.instructions()
    if found is None:
        raise _none(assistant)
    if args.action == "accept":
        assistant.accept_instructions(found.digest)
    else:
        assistant.refuse_instructions(found.digest)
    found = assistant.instructions() or found
    output.show(lambda: _document(found), [f"{found.path} is {_state(found)}."])
    return 0


def _show(assistant: Assistant, output: Output) -> int:
    """Show the user's own instructions and those of the notes."""
    own, found = assistant.user_instructions.read(), assistant.instructions()
    has_own = bool(own.text.strip() or own.problem)
    if found is None and not has_own:
        raise _none(assistant)
    document = _document(found) | {"text": "" if found is None else found.text}
    user = {"path": str(own.path), "text": own.text, "problem": own.problem or None}
    lines = [*(_own_lines(own) if has_own else ()), *(() if found is None else _shown(found))]
    output.show(lambda: document | {"user": user}, lines)
    return 0


def _none(assistant: Assistant) -> AppError:
    if assistant.library is None:
        return VaultNotChosen()
    return NotFound(
        "These notes have no AGENTS.md that a model may be given.",
        hint="Write one into the uppermost folder of the notes; a private or excluded one "
        "does not count.",
    )


def _document(found: Instructions | None) -> dict[str, str | None]:
    if found is None:
        return {"path": None, "digest": None, "state": None}
    state = found.decision or "undecided"
    return {"path": found.path, "digest": found.digest, "state": state}


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


def _own_lines(own: UserInstructions) -> Iterator[str]:
    yield own.problem or f"Your instructions, in {own.path}:"
    yield ""
    yield from (f"    {line}" for line in visible_text(own.text).split("\n"))
    yield ""


def _shown(found: Instructions) -> Iterator[str]:
    yield f"{found.path} of these notes, {_state(found)}:"
    yield ""
    yield from (f"    {line}" for line in found.visible_text.split("\n"))
    yield ""


def _state(found: Instructions) -> str:
    states = {"accepted": "used", "refused": "refused and not used"}
    return states.get(found.decision or "", "not used until you have taken it on")
