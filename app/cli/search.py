"""Searching from the command line: the best passages, whole lists, and what is near a note."""

import argparse
from dataclasses import replace

from app.assistant import Assistant
from app.cli import text as cli_text
from app.cli.output import Interruptible, Output, complain
from app.cli.run import open_vault
from app.errors import NotFound, VaultNotChosen
from app.library.library import IndexFinished, Library
from vault.search.hits import SearchResult

__all__ = ["PAGE_NOTES", "related", "search"]

PAGE_NOTES = 100


def search(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Show what `strata search` was asked for, and return the exit code."""
    open_vault(args, assistant)
    query = readable(args.query)
    result = _found(args, assistant, query)
    if _is_rebuilt(assistant):
        result = replace(_found(args, assistant, query), warnings=result.warnings)
    why_not = None
    if args.why_not is not None:
        path = readable(args.why_not)
        shown = args.k or assistant.settings.values.retrieval_top_k
        why_not = {"path": path, "reason": _library(assistant).why_not(path, query, shown)}
    if not output.is_json:
        for warning in result.warnings:
            complain(warning)
    added = {} if why_not is None else {"why_not": why_not}
    lines = cli_text.listing(result, args.offset) if args.all else cli_text.search_result(result)
    output.show(
        lambda: {**result.to_dict(), **added},
        [*lines, *([] if why_not is None else [cli_text.plain(why_not["reason"])])],
    )
    return 0


def related(args: argparse.Namespace, assistant: Assistant, output: Output) -> int:
    """Show the notes near a note, and return the exit code."""
    open_vault(args, assistant)
    library, path = _library(assistant), readable(args.path)
    library.notes()
    _is_rebuilt(assistant)
    if all(note.path != path or note.state != "indexed" for note in library.notes()):
        raise NotFound(
            f"There is no note {path} in the index.",
            hint="Give its path from the folder of notes on, as strata search prints it.",
        )
    found = library.related(path, args.k)
    output.show(
        lambda: {"path": path, "notes": [note.to_dict() for note in found]},
        cli_text.related_notes(found),
    )
    return 0


def readable(text: str) -> str:
    """Return an argument as text; bytes that are no UTF-8 become the sign for that."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _found(args: argparse.Namespace, assistant: Assistant, query: str) -> SearchResult:
    if args.all:
        return _library(assistant).list_notes(query, args.k or PAGE_NOTES, args.offset)
    return assistant.search(query, args.k)


def _is_rebuilt(assistant: Assistant) -> bool:
    """Make the index anew where it turned out to be damaged; say whether it was."""
    if not _library(assistant).is_mending:
        return False
    line = cli_text.ProgressLine()
    with Interruptible() as run:
        for event in assistant.index(run.cancel):
            if not isinstance(event, IndexFinished):
                line.show(cli_text.progress(event.progress))
    line.clear()
    return True


def _library(assistant: Assistant) -> Library:
    if assistant.library is None:
        raise VaultNotChosen
    return assistant.library
