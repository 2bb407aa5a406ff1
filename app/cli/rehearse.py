"""Run the verb `rehearse`: ask an answer's question again, without some of what the model saw."""

import argparse
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from app.assistant import Assistant
from app.cli.interrupt import FAILED, Interruptible
from app.cli.output import Output, ProgressLine, can_ask, complain, confirm
from app.errors import SessionMissing
from app.hidden_characters import escape_text
from context.fixes import Command, Fix

if TYPE_CHECKING:
    from app.rehearsal.result import (
        EachResult,
        RehearsalEvent,
        RehearsalOffer,
        RehearsalProgress,
        RehearsalResult,
    )
    from chains.rehearsal.table import RankedSource

__all__ = ["rehearse"]

NO_CHAT: Final = "There is no chat yet."
_NOTHING_SENT: Final = "Nothing was sent. With --yes, it is asked without this question."
_HOW: Final = (
    "--without KEYS leaves out some of these, and --each every source in turn. "
    "Nothing is sent before you agree to the price."
)


def rehearse(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Run `strata rehearse`, and return the exit code."""
    session = args.session or assistant.sessions.newest()
    if session is None:
        raise SessionMissing(NO_CHAT, hint=Fix("Begin one with {}.", Command("ask", ("…",))))
    keys, rehearser = args.without or (), assistant.rehearser
    offer = rehearser.offer(session, args.entry, keys, each=args.each)
    if not (args.each or keys):
        output.show(lambda: {**offer.to_dict(), "asked": False}, _list_offer(offer))
        return 0
    if not _is_agreed(args, output, offer):
        output.show(lambda: {**offer.to_dict(), "asked": False}, [])
        complain(_NOTHING_SENT)
        return FAILED
    line = ProgressLine()
    with Interruptible() as run:
        entry, cancel = offer.answer, run.cancel
        events: Iterator[RehearsalEvent | RehearsalResult | EachResult]
        if args.each:
            events = rehearser.ask_each(session, entry, cancel)
        else:
            events = rehearser.ask(session, entry, keys, cancel)
        _follow(events, line, output)
    return run.exit_code or 0


def _is_agreed(args: argparse.Namespace, output: Output, offer: "RehearsalOffer") -> bool:
    """Show the price, and return whether the user agrees. Without a terminal, `--yes` does."""
    if not offer.cost.calls:
        return True
    for sentence in (*offer.notes, f"{offer.price}."):
        complain(sentence)
    if args.yes:
        return True
    return not output.is_json and can_ask() and confirm("Ask again?")


def _follow(
    events: "Iterator[RehearsalEvent | RehearsalResult | EachResult]",
    line: ProgressLine,
    output: Output,
) -> None:
    """Show the progress, and print the result, which is the last event."""
    from app.rehearsal.result import EachResult, RehearsalProgress, RehearsalResult

    for event in events:
        if isinstance(event, RehearsalProgress):
            line.show(_describe_progress(event))
        if not isinstance(event, RehearsalResult | EachResult):
            continue  # the text is printed once it is compared
        line.clear()
        lines = (
            _list_difference(event) if isinstance(event, RehearsalResult) else _list_table(event)
        )
        output.show(partial(_describe_result, event), lines)


def _describe_result(found: "RehearsalResult | EachResult") -> dict[str, Any]:
    return {**found.to_dict(), "asked": True}


def _describe_progress(at: "RehearsalProgress") -> str:
    what = f"without {', '.join(at.left_out)}" if at.left_out else "unchanged"
    return f"Asking {at.done + 1} of up to {at.most}, {what}…"


def _list_offer(offer: "RehearsalOffer") -> Iterator[str]:
    yield f"{offer.model} ({offer.where}) saw:"
    for part in offer.parts:
        indent = "" if part.kind == "layer" else "  "
        yield escape_text(f"{indent}{part.key:<7} {part.label}")
    yield from offer.notes
    yield f"Asking again: {offer.price}."
    yield _HOW
    for one in offer.stored:
        yield f"Asked before: {_name_keys(one.left_out)} ({one.at[:16].replace('T', ' ')})"


def _name_keys(keys: tuple[str, ...]) -> str:
    return f"without {', '.join(keys)}" if keys else "unchanged"


def _list_difference(found: "RehearsalResult") -> Iterator[str]:
    rehearsal = found.rehearsal
    yield from found.remarks
    if found.is_known:
        yield "Asked before with the same request: nothing was sent."
    yield f"The answer {_name_keys(rehearsal.left_out)}:"
    yield escape_text(rehearsal.text)
    if rehearsal.note:
        yield rehearsal.note
    difference = found.difference
    if difference.is_none:
        yield "\nThe same sentences as the answer in the chat."
        return
    same, reworded = difference.same, len(difference.reworded)
    also = f", {reworded:,} worded differently" if reworded else ""
    yield f"\nCompared with the answer in the chat, {same:,} {_plural(same)} the same{also}:"
    yield from (f"- {_flatten(text)}" for text in difference.gone)
    yield from (f"+ {_flatten(text)}" for text in difference.new)
    for one in difference.reworded:
        yield f"~ {_flatten(one.before)}"
        yield f"  {_flatten(one.after)}"


def _flatten(text: str) -> str:
    return escape_text(" ".join(text.split()))


def _plural(count: int) -> str:
    return "sentence is" if count == 1 else "sentences are"


def _list_table(found: "EachResult") -> Iterator[str]:
    table = found.table
    yield from found.remarks
    yield f"{table.calls} answers of {found.model}, {found.sent} of them asked now."
    if table.note:
        yield table.note
        return
    yield table.describe_noise()
    if not table.ranking:
        yield table.describe_no_ranking()
    for place, ranked in enumerate(table.ranking, start=1):
        yield f"\n{place}. {escape_text(_name_ranked(ranked))}"
        yield from (f"   - {_flatten(text)}" for text in ranked.fallen)
    yield "\nWhich source carried which sentence:"
    for sentence in table.sentences:
        yield f"  {sentence.name_carriers():<14} {_flatten(sentence.text)}"
    if table.untested:
        yield f"\nNot left out on their own: {escape_text(', '.join(table.untested))}"


def _name_ranked(ranked: "RankedSource") -> str:
    keys = ", ".join(f"[{key}]" for key in ranked.keys)
    return f"{ranked.name()}  {keys}"
