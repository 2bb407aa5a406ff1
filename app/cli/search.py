"""Run `strata search`.

A search needs no models, chats or tools, so only the settings and the vault are opened. This takes
a third of the CPU time that building the whole assistant would take.
"""

import argparse
import logging
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from app.cli import text as cli_text
from app.cli.interrupt import Interruptible, run_to_exit_code
from app.cli.output import Output, ProgressLine, complain, readable
from app.config.settings_file import SettingsStore
from app.hidden_characters import escape_text
from app.ledger import Ledger
from app.library.library import IndexFinished, Library
from app.library.open_vault import NoteSearch, OpenVault, follow_folder, parse_folder
from app.log import open_log
from app.paths import Paths
from chains.retrieval.listing_query import read_list_query
from vault.embedder import Embedder
from vault.search.hits import SearchResult

if TYPE_CHECKING:
    from app.library.project_notes import ProjectNotes
    from app.library.projects import Projects

__all__ = ["open_notes", "rebuild_if_damaged", "run_search"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenedNotes:
    """The settings and the open vault, for one search."""

    settings: SettingsStore
    vault: OpenVault
    searching: NoteSearch


def run_search(args: argparse.Namespace) -> int:
    """Run `strata search` with the parsed command line, and return its exit code."""
    output = Output(args.json)

    def work() -> int:
        paths = Paths.find()
        open_log(paths)
        _log.info("strata search")
        with ExitStack() as stack:
            _search(args, open_notes(paths, args, stack), output)
        return 0

    return run_to_exit_code(work, output)


def open_notes(
    paths: Paths, args: argparse.Namespace, stack: ExitStack, embedder: Embedder | None = None
) -> OpenedNotes:
    """Open the vault that the command line names, or else the vault in the settings.

    Args:
        paths: the folders and files of Strata itself.
        args: the parsed command line.
        stack: the exit stack that closes the vault.
        embedder: an embedder to share, or None to start one on demand.

    Raises:
        BadSetting: a setting is unknown or out of range.
        VaultNotChosen: the folder on the command line is blank.
        VaultError: the folder is missing or cannot be read.
        StorageFailed: the index cannot be written.
    """
    settings = SettingsStore(paths.settings_file, args.overrides)
    settings.require_sound()
    vault = OpenVault(paths, settings, Ledger(paths.ledger), embedder)
    stack.enter_context(closing(vault))
    stored = settings.values.vault_path
    folder = follow_folder(stored, paths) if args.vault is None else parse_folder(args.vault)
    if folder is not None:
        vault.open(folder, remember=False)

    @cache
    def open_projects() -> "Projects":
        from app.library.projects import Projects  # most searches are not about one

        return stack.enter_context(closing(Projects(paths, vault)))

    def open_project(named: str) -> "ProjectNotes":
        return open_projects().open_named(named)

    return OpenedNotes(settings, vault, NoteSearch(settings, vault, open_project))


def rebuild_if_damaged(library: Library | None) -> bool:
    """Rebuild the index if it is damaged. Return whether it was rebuilt."""
    if library is None or not library.is_mending:
        return False
    line = ProgressLine()
    with Interruptible() as run:
        for event in library.update(run.cancel):
            if not isinstance(event, IndexFinished):
                line.show_progress(event.progress)
    line.clear()
    return True


def _search(args: argparse.Namespace, notes: OpenedNotes, output: Output) -> None:
    query = readable(args.query)
    read = partial(notes.searching.read_question, project=args.project)
    listed = read_list_query(query, (), read=read)
    if listed is not None and not listed.is_tentative:
        args.all, query = True, listed.query
    result = _find(args, notes, query)
    if rebuild_if_damaged(notes.vault.library):
        result = replace(_find(args, notes, query), warnings=result.warnings)
    why_not = _explain(args, notes, query)
    if not output.is_json:
        for warning in result.warnings:
            complain(warning)
    lines = cli_text.list_notes(result, args.offset) if args.all else cli_text.search_result(result)
    reasons = [] if why_not is None else [escape_text(why_not["reason"])]
    added = {} if why_not is None else {"why_not": why_not}
    output.show(lambda: {**result.to_dict(), **added}, [*lines, *reasons])
    library = notes.vault.library
    if library is not None and (said := library.take_warning()):
        complain(said)


def _find(args: argparse.Namespace, notes: OpenedNotes, query: str) -> SearchResult:
    if args.all:
        return notes.searching.list_notes(query, args.k, args.offset, args.project)
    return notes.searching.search(query, args.k, args.project)


def _explain(args: argparse.Namespace, notes: OpenedNotes, query: str) -> dict[str, str] | None:
    """Explain why a search finds or does not find a note.

    The result is a dict with the keys "path" and "reason", or None without the option `--why-not`.
    """
    if args.why_not is None:
        return None
    path = readable(args.why_not)
    shown = args.k or notes.settings.values.retrieval_top_k
    return {"path": path, "reason": notes.vault.require().why_not(path, query, shown)}
