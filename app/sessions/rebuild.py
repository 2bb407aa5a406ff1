"""Rebuild the request of a past turn with the vault and the project of its chat.

The open vault may be another one: a command runs in any folder, and the user may have changed the
vault since. The vault of the chat is then opened beside it, and closed again.
"""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from app.library.open_vault import OpenVault, follow_folder
from app.library.projects import Projects
from app.paths import Paths
from app.sessions.ask import TurnRunner
from app.sessions.session import Session
from app.sessions.user_messages import find_last_mode
from context.assemble.request import Request
from vault.errors import VaultError, VaultMissing, VaultUnreadable

__all__ = ["RequestRebuilder"]

_T = TypeVar("_T")
ConnectTurns = Callable[[OpenVault, Projects], TurnRunner]


class RequestRebuilder:
    """Rebuilds requests that are not stored any more. Thread-safe."""

    def __init__(
        self,
        paths: Paths,
        current: Callable[[], Path | None],
        make_vault: Callable[[], OpenVault],
        runner: TurnRunner,
        connect: ConnectTurns,
    ) -> None:
        """Keep what opens a vault and runs turns in it.

        Args:
            paths: the folders and files of Strata itself.
            current: returns the folder of the open vault, or None.
            make_vault: returns an `OpenVault` in which nothing is open.
            runner: runs turns in the open vault.
            connect: returns a runner of turns in another vault and its projects.
        """
        self._paths = paths
        self._current = current
        self._make_vault = make_vault
        self._runner = runner
        self._connect = connect

    def use(self, chat: Session, work: Callable[[TurnRunner], _T]) -> _T:
        """Call a function with what runs turns in the vault and project of a chat.

        Raises:
            VaultMissing: the folder of the vault is missing.
            VaultUnreadable: the folder cannot be read.
        """
        folder = follow_folder(chat.header.vault or "", self._paths)
        if folder is None or folder == self._current():
            return work(self._runner)
        with (
            closing(self._make_vault()) as vault,
            closing(Projects(self._paths, vault)) as projects,
        ):
            vault.open(folder, remember=False)
            return work(self._connect(vault, projects))

    def rebuild(self, chat: Session) -> Request:
        """Rebuild the first request of the last turn on a chat's active branch.

        If the folder of the chat's notes is missing, they count as unchanged, and the report has a
        warning.

        Raises:
            VaultMissing: the folder is missing, and the mode of the turn needs it.
            VaultUnreadable: the folder cannot be read, and the mode of the turn needs it.
        """
        folder = follow_folder(chat.header.vault or "", self._paths)
        if folder == self._current():
            return self._runner.rebuild_request(chat)
        with (
            closing(self._make_vault()) as vault,
            closing(Projects(self._paths, vault)) as projects,
        ):
            missing = None if folder is None else _open(vault, folder)
            if missing is not None and _needs_vault(chat):
                raise missing
            runner = self._connect(vault, projects)
            return runner.rebuild_request(chat, "" if missing is None else str(missing))


def _open(vault: OpenVault, folder: Path) -> VaultError | None:
    """Open a folder as the vault, and return the reason if this is not possible."""
    try:
        vault.open(folder, remember=False)
    except (VaultMissing, VaultUnreadable) as error:
        return error
    return None


def _needs_vault(chat: Session) -> bool:
    """Return whether the last turn of a chat cannot be rebuilt without the vault."""
    project = chat.project
    is_outside = project is not None and Path(project).is_absolute()
    return find_last_mode(chat.path()) in ("project", "agent") and not is_outside
