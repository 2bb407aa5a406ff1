"""Run `strata search`.

A search needs no models, chats or tools, so only the settings and the vault are opened. This takes
a third of the CPU time that building the whole assistant would take.
"""

import argparse
import logging
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from app.cli import text as cli_text
from app.cli.interrupt import ExitStatus, Interruptible
from app.cli.output import Output, ProgressLine, complain, readable
from app.config.settings_file import SettingsStore
from app.hidden_characters import escape_text
from app.library.library import IndexFinished, Library
from app.library.open_vault import (
    PAGE_NOTES,
    OpenVault,
    follow_folder,
    parse_folder,
    search_notes,
)
from app.log import open_log
from app.paths import Paths
from chains.retrieval.listing_query import read_list_query
from context.json_codec import encode
from vault.embedder import Embedder
from vault.search.hits import SearchResult
from vault.vault import Vault

if TYPE_CHECKING:
    from app.ledger import Ledger
    from app.library.projects import Projects

__all__ = ["open_notes", "rebuild_if_damaged", "run_search"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenedNotes:
    """The settings and the open vault, for one search.

    Attributes:
        open_project: opens the part of a vault that holds the notes of a project.
    """

    settings: SettingsStore
    vault: OpenVault
    open_project: Callable[[str], Vault]


def run_search(args: argparse.Namespace) -> int:
    """Run `strata search` with the parsed command line, and return its exit code."""
    output = Output(args.json)
    with ExitStatus(output) as status:
        paths = Paths.find()
        open_log(paths)
        _log.info("strata search")
        with ExitStack() as stack:
            _search(args, open_notes(paths, args, stack), output)
    return status.code


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

    @cache
    def open_ledger() -> "Ledger":
        from app.ledger import Ledger  # most searches ask no server

        return Ledger(paths.ledger)

    vault = OpenVault(paths, settings, open_ledger, embedder)
    stack.enter_context(closing(vault))
    stored = settings.values.vault_path
    folder = follow_folder(stored, paths) if args.vault is None else parse_folder(args.vault)
    if folder is not None:
        vault.open(folder, remember=False)

    @cache
    def open_projects() -> "Projects":
        from app.library.projects import Projects  # most searches are not about one

        return stack.enter_context(closing(Projects(paths, vault)))

    def open_project(named: str) -> Vault:
        return open_projects().open_named(named)

    return OpenedNotes(settings, vault, open_project)


def rebuild_if_damaged(library: Library | None) -> bool:
    """Rebuild the index if it is damaged. Return whether it was rebuilt."""
    if library is None or not library.vault.is_mending:
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
    listed = read_list_query(query, (), read=_select(args, notes).read_question)
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
    output.show(lambda: {**encode(result), **added}, [*lines, *reasons])
    library = notes.vault.library
    if library is not None and (vault_warning := library.vault.take_warning()):
        complain(vault_warning)


def _select(args: argparse.Namespace, notes: OpenedNotes) -> Vault:
    """Return the open vault, or the part of a vault that the project consists of."""
    if args.project is None:
        return notes.vault.require_vault()
    return notes.open_project(args.project)


def _find(args: argparse.Namespace, notes: OpenedNotes, query: str) -> SearchResult:
    vault = _select(args, notes)
    if args.all:
        rebuilds = args.project is not None
        return vault.list_notes(query, args.k or PAGE_NOTES, args.offset, rebuilds=rebuilds)
    return search_notes(vault, query, args.k or notes.settings.values.retrieval_top_k)


def _explain(args: argparse.Namespace, notes: OpenedNotes, query: str) -> dict[str, str] | None:
    """Explain why a search finds or does not find a note.

    The result is a dict with the keys "path" and "reason", or None without the option `--why-not`.
    """
    if args.why_not is None:
        return None
    path = readable(args.why_not)
    shown = args.k or notes.settings.values.retrieval_top_k
    vault = notes.vault.require_vault()
    reason = vault.why_not(query, path, vault.excerpts(query, shown).hits)
    return {"path": path, "reason": reason}
