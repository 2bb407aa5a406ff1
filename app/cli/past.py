"""Show the request of an answer as it was, as today's notes would make it, or the difference."""

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from app.assistant import Assistant
from app.cli.interrupt import Interruptible
from app.cli.output import Output
from app.errors import SessionMissing
from app.hidden_characters import escape_text
from context.fixes import Command, Fix

if TYPE_CHECKING:
    from app.time_machine.difference import ComparedText
    from app.time_machine.machine import PastRequest, RequestComparison
    from app.time_machine.passages import KeptSummary
    from context.requests.layout import LayerText

__all__ = ["show_passages", "show_past"]

_EXACT: Final = "Byte for byte what was sent."
_SIGNS: Final = {"": "  ", "-": "- ", "+": "+ "}
LIVE_ON: Final = (
    "Passages of deleted notes are kept for as long as an answer rests on them. "
    "strata passages --purge removes them here; the chats still hold what their answers cite."
)
NO_CHAT: Final = "There is no chat yet."


def show_past(
    args: argparse.Namespace, assistant: Assistant, session: str | None, output: Output
) -> int:
    """Run `strata context` with `--at-the-time`, `--today` or `--diff`; return the exit code."""
    if session is None:
        raise SessionMissing(NO_CHAT, hint=Fix("Begin one with {}.", Command("ask", ("…",))))
    machine, entry = assistant.time_machine, args.entry
    with Interruptible() as run:
        if args.at_the_time:
            then = machine.show_then(session, entry)
            output.show(lambda: then.to_dict(is_full=args.full), _list_request(then))
        elif args.today:
            now = machine.show_today(session, entry, run.cancel)
            output.show(lambda: now.to_dict(is_full=args.full), _list_request(now))
        else:
            found = machine.compare(session, entry, run.cancel)
            output.show(found.to_dict, _list_differences(found))
    return run.exit_code or 0


def show_passages(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata passages`, and return the exit code."""
    texts = assistant.kept_passages
    removed = texts.remove_deleted() if args.purge else 0
    found = texts.describe()
    output.show(lambda: {**found.to_dict(), "removed": removed}, _list_passages(found, removed))
    return 0


def _list_passages(found: "KeptSummary", removed: int) -> Iterator[str]:
    if removed:
        notes = "1 deleted note" if removed == 1 else f"{removed:,} deleted notes"
        yield f"What was kept of {notes} is removed."
    yield found.sentence
    yield from (f"  deleted: {escape_text(path)}" for path in found.deleted)
    if found.deleted:
        yield LIVE_ON


def _list_request(request: "PastRequest") -> Iterator[str]:
    yield from _list_head(request)
    for text in request.texts:
        yield f"\n{escape_text(_name(text))}"
        yield from (f"  {line}" for line in escape_text(text.text).splitlines())


def _list_head(request: "PastRequest") -> Iterator[str]:
    when = "As it was" if request.when == "at-the-time" else "As it would be today"
    yield f"{when}: {request.model}, asked {request.asked}"
    if request.content.is_exact and request.content.wire is not None:
        yield _EXACT
    yield from map(escape_text, request.notes)
    yield from _list_gone(request)


def _list_gone(request: "PastRequest") -> Iterator[str]:
    for gone in request.content.gone:
        yield f"Not kept any more ({gone.reason}): {escape_text(gone.path)}"


def _list_differences(found: "RequestComparison") -> Iterator[str]:
    yield f"{found.then.model}, asked {found.then.asked}"
    yield from map(escape_text, found.then.notes)
    yield from _list_gone(found.then)
    differing = [text for text in found.texts if text.state != "same"]
    if not differing:
        yield "Today's notes would make the same request."
        return
    yield f"{len(differing)} of {len(found.texts)} texts differ."
    yield from _list_texts(differing)


def _list_texts(texts: Sequence["ComparedText"]) -> Iterator[str]:
    for text in texts:
        yield f"\n{escape_text(_name(text.shown))}: {text.state}"
        for line in text.list_near():
            if isinstance(line, int):
                yield f"  … {line:,} {'line' if line == 1 else 'lines'}"
            else:
                yield f"{_SIGNS[line.sign]}{escape_text(line.text)}"


def _name(text: "LayerText") -> str:
    return f"{text.layer} {text.label}"
