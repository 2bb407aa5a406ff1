"""Changes of a folder as they happen, gathered so that a flood of them is one call.

Names are told, not what happened to them: whoever is called looks at the files. What goes on while
it looks is gathered for the next call.
"""

import logging
import threading
from collections.abc import Callable, Collection
from pathlib import Path

from vault.errors import VaultError

__all__ = ["Watcher"]

_log = logging.getLogger(__name__)

# A change is told when nothing more came for a step, at the latest after the other time.
_STEP_MS = 50
_MOST_MS = 1_000
_MANY = 200
_CLOSE_S = 5.0

Changed = Callable[[Collection[str] | None], None]
Failed = Callable[[VaultError], None]


class Watcher:
    """Watches one folder, in a thread of its own, from `start` to `close`."""

    def __init__(self, root: Path, changed: Changed, failed: Failed = lambda _error: None):
        """Watch nothing yet.

        Args:
            root: the vault's folder.
            changed: told the paths that changed; None where they are too many to be named.
            failed: told why `changed` could not take something up.
        """
        self._root = root.resolve()
        self._changed = changed
        self._failed = failed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Tell whether changes are still told; not after the folder itself has gone."""
        return self._thread.is_alive()

    def close(self) -> None:
        """End, after the call that is under way."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        import watchfiles

        try:
            for changes in watchfiles.watch(
                self._root,
                watch_filter=None,
                step=_STEP_MS,
                debounce=_MOST_MS,
                stop_event=self._stop,
                raise_interrupt=False,
                recursive=True,
            ):
                self._tell({path for _, path in changes})
        except (
            OSError,
            RuntimeError,
        ) as error:  # the folder is gone, or the system's limit reached
            _log.warning("The folder is not watched any more: %s", error)

    def _tell(self, paths: Collection[str]) -> None:
        named = {name for path in paths if (name := self._relative(path)) is not None}
        if not named or self._stop.is_set():
            return
        try:
            self._changed(named if len(named) <= _MANY else None)
        except VaultError as error:  # the next change or the next start tries again
            _log.warning("What changed could not be taken up: %s", error)
            self._failed(error)

    def _relative(self, path: str) -> str | None:
        """Give a path as the vault names it; nothing for what lies in dot-folders."""
        try:
            parts = Path(path).relative_to(self._root).parts
        except ValueError:
            return None
        is_hidden = any(part.startswith(".") for part in parts[:-1])
        return None if is_hidden or not parts else "/".join(parts)
