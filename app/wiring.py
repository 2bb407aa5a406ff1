"""Put the parts of the program together, and open the folder of notes of a run."""

import os
from collections.abc import Mapping
from pathlib import Path

from app.assistant import Assistant
from app.config.settings_file import SettingsStore
from app.durable import remove_leftovers
from app.paths import Paths
from app.sessions.store import SessionStore
from app.state_db import StateDB
from vault.embedder import Embedder
from vault.indexing.relocate import find_moved_folder


def build(
    paths: Paths,
    overrides: Mapping[str, object] | None = None,
    embedder: Embedder | None = None,
) -> Assistant:
    """Return an assistant with nothing open yet; its folders need not exist.

    Temporary files that a killed process left in them are removed.

    Args:
        paths: where Strata's own files lie.
        overrides: settings for this run alone, by key.
        embedder: one of the packaged model to share with other assistants, which outlives this one;
            None starts one of its own when it is first needed.

    Raises:
        BadSetting: an override names no setting or is out of its range.
    """
    written = Path(os.path.realpath(paths.settings_file))  # it may be a link to where it is kept
    remove_leftovers(written.parent, frozenset({written.name}))
    for folder in (paths.state, paths.instructions):
        remove_leftovers(folder)
    settings = SettingsStore(paths.settings_file, overrides)
    sessions = SessionStore(paths.sessions, StateDB(paths.state_db))
    return Assistant(paths, settings, sessions, embedder)


def open_vault(assistant: Assistant, named: str | None, session: str | None = None) -> None:
    """Open the folder that was named for this run, else that of the chat, else of the settings.

    Nothing is opened where none of them names a folder; the settings stay as they are.

    Raises:
        VaultError: the folder is missing, or it may not be read.
        StorageFailed: the index cannot be written.
    """
    folder = find_vault(assistant, named, session)
    if folder is not None:
        assistant.open_vault(folder, remember=False)


def find_vault(assistant: Assistant, named: str | None, session: str | None = None) -> Path | None:
    """Return the folder of notes to open; where it has moved and was opened there since, that one.

    Args:
        assistant: knows the settings and the chats.
        named: what this run was told; it comes first.
        session: the chat to go on with, whose own folder comes before the setting's.
    """
    if named is not None:
        return Path(named)
    own = None if session is None else assistant.sessions.read(session).header.vault
    chosen = own or assistant.settings.values.vault_path
    if not chosen:
        return None
    folder = Path(chosen)
    is_there = os.path.isdir(folder)  # also false where its parent may not be looked into
    return folder if is_there else find_moved_folder(folder, assistant.paths.indexes) or folder
