"""Open and close the vault. Only one vault can be open at a time."""

import os
import threading
from pathlib import Path

from app.config.models import index_options
from app.config.settings_file import SettingsStore
from app.errors import VaultNotChosen, storage_errors
from app.library.library import Library
from app.paths import Paths
from chains.ledger import LedgerPort
from vault.embedder import Embedder
from vault.paths import check_folder

__all__ = ["OpenVault"]


class OpenVault:
    """The currently open vault. Thread-safe."""

    def __init__(
        self,
        paths: Paths,
        settings: SettingsStore,
        ledger: LedgerPort,
        embedder: Embedder | None = None,
    ) -> None:
        self._ledger = ledger
        self._paths = paths
        self._settings = settings
        self._embedder = embedder
        self._library: Library | None = None
        self._lock = threading.RLock()

    @property
    def library(self) -> Library | None:
        """The open vault with its index, or None."""
        return self._library

    @property
    def folder(self) -> Path | None:
        """The folder of the open vault, or None."""
        library = self._library
        return None if library is None else library.root

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
            if self._library is not None and not os.path.isdir(self._library.root):
                self.close()  # it may have been moved to `folder`, which then takes over the index
            library = self.open_library(folder)
            self.close()
            self._library = library
            if remember:
                self._settings.set("vault.path", str(library.root))

    def open_library(self, folder: Path) -> Library:
        """Open a folder and its index without making it the vault. The caller must close it.

        Raises:
            VaultMissing: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            StorageFailed: the index cannot be written.
        """
        with storage_errors(self._paths.data):
            return Library.open(
                folder,
                self._paths,
                self._settings.values.vault_exclude,
                lambda: index_options(self._settings.values, self._ledger),
                self._embedder,
            )

    def close(self) -> None:
        """Close the vault and stop its child processes."""
        with self._lock:
            if self._library is not None:
                self._library.close()
                self._library = None

    def require(self) -> Library:
        """Return the open vault with its index.

        Raises:
            VaultNotChosen: no vault is open.
        """
        if self._library is None:
            raise VaultNotChosen
        return self._library
