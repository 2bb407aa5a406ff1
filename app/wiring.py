"""Build the assistant from its components, and open the vault for one run of the program."""

import logging
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from app.assistant import Assistant
from app.backup.contents import list_folders
from app.backup.text_copies import merge_text_copies
from app.config.settings_file import SettingsStore
from app.library.open_vault import follow_folder, parse_folder
from app.migrations import keep_newer_home
from app.paths import Paths
from app.relocation.folders import follow_moves
from app.requests.store import SentStore
from app.sessions.store import SessionStore
from app.state_db import StateDB
from chains.web.client import WebClient
from resources.system.files import remove_leftovers
from vault.embedder import Embedder
from vault.errors import VaultError
from vault.workers.process import OFFLINE_ENVIRONMENT

_log = logging.getLogger(__name__)


def build(
    paths: Paths,
    overrides: Mapping[str, object] | None = None,
    embedder: Embedder | None = None,
    web: WebClient | None = None,
) -> Assistant:
    """Build an assistant without an open vault. The folders in `paths` need not exist.

    Temporary files left by killed processes are removed, and the copies of settings and memories
    that a sync program made are merged. A home that a newer version of Strata has written is only
    read.

    Args:
        paths: the folders and files of Strata itself.
        overrides: settings for this run only, by key.
        embedder: an embedder that other assistants may share, and that this one does not close. If
            None, one is started on demand.
        web: the client that fetches web pages. If None, a client with the usual rules for addresses
            is used.

    Raises:
        BadSetting: a setting is unknown or out of range.
    """
    os.environ.update(OFFLINE_ENVIRONMENT)
    folders = (paths.config, paths.data, paths.state, paths.sessions)
    is_newer = keep_newer_home(paths.state_db, folders, but=paths.crashes)
    written = Path(os.path.realpath(paths.settings_file))  # it may be a symbolic link
    remove_leftovers(written.parent, frozenset({written.name}))
    remove_leftovers(paths.config, frozenset({paths.memories.name, paths.user_instructions.name}))
    for folder in (paths.state, paths.instructions, *list_folders(paths)):
        remove_leftovers(folder)
    settings = SettingsStore(paths.settings_file, overrides)
    merged = merge_text_copies(paths, settings)
    sessions = SessionStore(
        paths.sessions, StateDB(paths.state_db), SentStore(paths.sent), partial(follow_moves, paths)
    )
    assistant = Assistant(paths, settings, sessions, embedder, web, is_read_only=is_newer)
    assistant.runner.unsaid.extend(merged)
    try:
        assistant.edits.remove_leftovers()
    except VaultError as error:  # the journal cannot be read; only edits and undo need it
        _log.warning("Leftovers of edits were not removed: %s", error)
    return assistant


def open_vault(assistant: Assistant, named: str | None, session: str | None = None) -> None:
    """Open the vault given on the command line, or else that of the chat or the settings.

    The settings are not changed.

    Args:
        assistant: opens the vault.
        named: the folder from the command line, or None.
        session: the chat to continue, or None for a new chat.

    Raises:
        VaultError: the folder is missing or cannot be read.
        StorageFailed: the index cannot be written.
    """
    folder = find_vault(assistant, named, session)
    if folder is not None:
        assistant.open_vault(folder, remember=False)


def find_vault(assistant: Assistant, named: str | None, session: str | None = None) -> Path | None:
    """Return the folder to open as the vault, or None if there is none.

    This is the folder `named`, else the vault of the chat, else the vault in the settings. If a
    stored folder was moved and then opened as a vault, its new path is returned.

    Args:
        assistant: provides the settings and chats.
        named: the folder from the command line, or None.
        session: the chat to continue, or None.
    """
    if named is not None:
        return parse_folder(named)
    own = None if session is None else assistant.sessions.read(session).header.vault
    return follow_folder(own or assistant.settings.values.vault_path, assistant.paths)
