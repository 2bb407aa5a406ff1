"""Open and close the vault. Only one vault can be open at a time."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from app.config.settings import Settings
from app.config.settings_file import SettingsStore
from app.errors import InvalidRequest, VaultNotChosen, storage_errors
from app.library.library import Library
from app.paths import Paths
from app.relocation.folders import follow_moves
from chains.errors import LedgerFailed
from chains.ledger import LedgerPort, OutgoingCall
from vault.embedder import Embedder
from vault.errors import VectorStoreFailed
from vault.indexing.relocate import find_moved_folder
from vault.options import IndexOptions, RecordCall, VectorServer
from vault.paths import check_folder
from vault.search.hits import SearchResult
from vault.vault import Vault

__all__ = [
    "PAGE_NOTES",
    "OpenVault",
    "follow_folder",
    "index_options",
    "parse_folder",
    "search_notes",
]

PAGE_NOTES: Final = 100
_VECTOR_SERVER: Final = "chroma"  # the owner of its key in the keyring


def parse_folder(named: str) -> Path:
    """Return the path of a vault that was named on the command line.

    Raises:
        VaultNotChosen: the name is blank.
    """
    if not named.strip():  # as with `--vault "$UNSET"`, which must not mean the current folder
        raise VaultNotChosen
    return Path(named)


def follow_folder(stored: str, paths: Paths) -> Path | None:
    """Return the folder of a vault whose path was stored, or None if the path is an empty string.

    If the folder was moved, and has been opened as a vault since or was named when a backup was
    restored, its new path is returned.

    Args:
        stored: the path in the settings or in a chat.
        paths: the folders and files of Strata itself.
    """
    if not stored:
        return None
    folder = Path(stored)
    if os.path.isdir(folder):  # also False if its parent may not be read
        return folder
    followed = Path(follow_moves(paths, stored))
    return followed if followed != folder else find_moved_folder(folder, paths.indexes) or folder


def index_options(values: Settings, ledger: Callable[[], LedgerPort] | None = None) -> IndexOptions:
    """Build the options of the index: embedding model, vector server and reranker.

    If `privacy.offline` is on, a vector server on another computer is refused.

    Args:
        values: the settings.
        ledger: returns the ledger, which records each call to the vector server. If None, the calls
            are not recorded.
    """
    url, model = values.vector_store_url, values.retrieval_rerank_model
    folder = str(Path(model).expanduser()) if model else ""
    reranker = folder if values.retrieval_rerank else None
    if not url:
        return IndexOptions(values.embedding_model, reranker=reranker)
    # A vault without a server is searched sooner without these.
    from app.config import secrets
    from chains.llm.urls import is_loopback, parse_host, parse_origin

    server = VectorServer(
        url,
        token=secrets.key_for(parse_origin(url)) or secrets.key_for(_VECTOR_SERVER) or "",
        is_refused=values.privacy_offline and not is_loopback(parse_host(url)),
        record=None if ledger is None else _build_recorder(ledger(), parse_host(url)),
    )
    return IndexOptions(values.embedding_model, server, reranker)


def _build_recorder(ledger: LedgerPort, host: str) -> RecordCall:
    def record(bytes_out: int) -> Callable[[int], None]:
        try:
            return ledger.record(OutgoingCall("vectorstore", host, bytes_out)).finish
        except LedgerFailed as error:
            raise VectorStoreFailed(f"{error} Search goes on without it.") from error

    return record


class OpenVault:
    """The currently open vault. Thread-safe.

    Attributes:
        library: the open vault with its index, or None.
        after_change: called when an index update has found changes, in the thread of the update.
    """

    def __init__(
        self,
        paths: Paths,
        settings: SettingsStore,
        ledger: Callable[[], LedgerPort],
        embedder: Embedder | None = None,
    ) -> None:
        """Create the object. No vault is open yet.

        Args:
            paths: the folders and files of Strata itself.
            settings: the settings, for the vault and its index.
            ledger: returns the list of outgoing calls. It is called only for a vector server.
            embedder: an embedder to share, or None to start one on demand.
        """
        self._ledger = ledger
        self._paths = paths
        self._settings = settings
        self._embedder = embedder
        self.library: Library | None = None
        self.after_change: Callable[[], object] = lambda: None
        self._lock = threading.RLock()

    @property
    def vault(self) -> Vault | None:
        """The open vault, or None."""
        library = self.library
        return None if library is None else library.vault

    @property
    def folder(self) -> Path | None:
        """The folder of the open vault, or None."""
        vault = self.vault
        return None if vault is None else vault.root

    def open(self, folder: Path, remember: bool) -> None:
        """Open a folder as the vault, and close the current one.

        Args:
            folder: the folder that holds the notes.
            remember: whether to store the folder in the setting `vault.path`.

        Raises:
            VaultMissing: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            StorageFailed: the index or the settings cannot be written.
        """
        with self._lock:
            check_folder(folder)
            if self.library is not None and not os.path.isdir(self.library.vault.root):
                self.close()  # it may have been moved to `folder`, which then takes over the index
            library = self.open_library(folder)
            self.close()
            self.library = library
            if remember:
                self._settings.set("vault.path", str(library.vault.root))

    def open_library(self, folder: Path) -> Library:
        """Open a folder and its index without making it the vault. The caller must close it.

        Raises:
            VaultMissing: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            StorageFailed: the index cannot be written.
        """
        with storage_errors(self._paths.data):
            library = Library.open(
                folder,
                self._paths,
                lambda: self._settings.values.vault_exclude,
                lambda: index_options(self._settings.values, self._ledger),
                self._embedder,
            )
        library.after_change = self.after_change
        return library

    def require_vault(self) -> Vault:
        """Return the open vault.

        Raises:
            VaultNotChosen: no vault is open.
        """
        return self.require().vault

    def close(self) -> None:
        """Close the vault and stop its child processes."""
        with self._lock:
            if self.library is not None:
                self.library.close()
                self.library = None

    def require(self) -> Library:
        """Return the open vault with its index.

        Raises:
            VaultNotChosen: no vault is open.
        """
        if self.library is None:
            raise VaultNotChosen
        return self.library


def search_notes(vault: Vault, query: str, k: int) -> SearchResult:
    """Return the `k` passages that best match a query, each shortened to what matches.

    Raises:
        InvalidRequest: the query is blank.
        VaultError: the index cannot be searched.
    """
    if not query.strip():
        raise InvalidRequest("There is nothing to search for.")
    return vault.excerpts(query, k)
