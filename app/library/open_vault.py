"""The vault that is open: one at a time, with its index."""

import os
import threading
from pathlib import Path

from app.config.models import index_options
from app.config.settings_file import SettingsStore
from app.errors import VaultNotChosen, storage_errors
from app.library.library import Library
from app.paths import Paths
from vault.embedder import Embedder
from vault.paths import check_folder

__all__ = ["OpenVault"]


class OpenVault:
    """Opens and closes the vault; every method may be called from any thread."""

    def __init__(
        self, paths: Paths, settings: SettingsStore, embedder: Embedder | None = None
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._embedder = embedder
        self._library: Library | None = None
        self._lock = threading.RLock()

    @property
    def library(self) -> Library | None:
        """The open vault with its index; None while none is open."""
        return self._library

    @property
    def folder(self) -> Path | None:
        """The folder that holds the notes; None while none is open."""
        library = self._library
        return None if library is None else library.root

    def open(self, folder: Path, remember: bool) -> None:
        """Open a folder in place of the one that is open.

        Raises:
            VaultMissing: there is no folder there.
            VaultUnreadable: it may not be read.
            StorageFailed: the index or the settings cannot be written.
        """
        with self._lock:
            check_folder(folder)
            if self._library is not None and not os.path.isdir(self._library.root):
                self.close()  # it may be what has moved to the folder, which takes over its index
            with storage_errors(self._paths.data):
                library = Library.open(
                    folder,
                    self._paths,
                    self._settings.values.vault_exclude,
                    lambda: index_options(self._settings.values),
                    self._embedder,
                )
            self.close()
            self._library = library
            if remember:
                self._settings.set("vault.path", str(library.root))

    def close(self) -> None:
        """Close the vault and end its child processes."""
        with self._lock:
            if self._library is not None:
                self._library.close()
                self._library = None

    def require(self) -> Library:
        """Return the open vault with its index.

        Raises:
            VaultNotChosen: no folder is open.
        """
        if self._library is None:
            raise VaultNotChosen
        return self._library
