"""Find the folders that stored data is about and that this computer does not have.

After a restore on another computer, notes lie in other folders. Chats, settings and projects still
name the former ones, until the user says where a folder is now.
"""

import os
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from app.config.settings_file import SettingsStore
from app.errors import InvalidRequest, NotFound
from app.library.open_vault import follow_folder
from app.paths import Paths
from app.relocation.files import carry_stored, is_stored
from app.relocation.folders import clean_path, find_inside, follow_moves
from app.sessions.session_info import SessionInfo
from resources.system.files import read_file
from vault.edits.journal import EditJournal
from vault.errors import EditFailed

__all__ = ["MissingFolder", "find_missing_folders", "place_folder", "require_absent"]

FolderUse = Literal["vault", "project", "model"]
_MODELS: Final = ("retrieval.rerankModel",)


@dataclass(frozen=True)
class MissingFolder:
    """A folder that is not on this computer.

    Attributes:
        path: where it was on the other one.
        use: what it holds: a vault, a project outside of the vaults, or a model.
        chats: how many chats are about it.
    """

    path: str
    use: FolderUse
    chats: int = 0

    @property
    def can_be_placed(self) -> bool:
        """Whether what is stored for the folder can be given its present path."""
        return self.use != "model"

    def to_dict(self) -> dict[str, Any]:
        """Return the folder as a JSON object."""
        return asdict(self)

    def describe(self) -> str:
        """Return a sentence that says what the folder was for, and how to go on."""
        chats = "1 chat is" if self.chats == 1 else f"{self.chats:,} chats are"
        about = f" {chats} about it." if self.chats else ""
        if self.use == "model":
            return f"The model in {self.path} is not on this computer. Choose it in the settings."
        name = "project" if self.use == "project" else "folder of notes"
        return (
            f"The {name} {self.path} is not on this computer.{about} Put it there, or say where it "
            "is now."
        )


def find_missing_folders(
    paths: Paths, settings: SettingsStore, chats: list[SessionInfo]
) -> tuple[MissingFolder, ...]:
    """Return the folders that are missing, vaults first.

    Args:
        paths: the folders of Strata.
        settings: the settings, which name a vault and folders of models.
        chats: the chats, which name their vaults and projects.
    """
    vaults = Counter(chat.vault for chat in chats if chat.vault)
    if vault := settings.get("vault.path"):
        vaults.setdefault(vault, 0)
    gone = [MissingFolder(one, "vault", number) for one, number in vaults.items()]
    own = Counter(str(chat.project_folder) for chat in chats if chat.project_folder)
    for project in {*own, *_list_projects(paths)}:
        if not any(Path(project).is_relative_to(vault) for vault in vaults):
            gone.append(MissingFolder(project, "project", own[project]))
    models = (settings.get(key) for key in _MODELS)
    gone += [MissingFolder(one, "model") for one in models if one and os.path.isabs(one)]
    found = (one for one in gone if not _is_there(one, paths))
    order: tuple[FolderUse, ...] = ("vault", "project", "model")
    return tuple(sorted(found, key=lambda one: (order.index(one.use), -one.chats, one.path)))


def place_folder(
    paths: Paths, settings: SettingsStore, chats: list[SessionInfo], old: str, new: Path
) -> None:
    """Find what is stored for a folder at its present path.

    Args:
        paths: the folders of Strata.
        settings: the settings. If they name the folder, or one in it, as the vault, they get the
            present path.
        chats: the chats, which name their vaults and projects.
        old: the former path of the folder of notes or of the project, or of one around them.
        new: the present path, which is absolute.

    Raises:
        InvalidRequest: the former path is a folder of this computer.
        NotFound: nothing that is stored names the folder.
        StorageFailed: the move cannot be recorded, or the settings cannot be written.
    """
    require_absent(old, new)
    vault = SettingsStore(settings.path).get("vault.path")
    named = [vault, *(chat.vault for chat in chats), *_list_projects(paths), *_list_edited(paths)]
    named += [str(chat.project_folder) for chat in chats if chat.project_folder]
    named = [one for one in named if one]
    # The user may write it in another way, such as with a small letter for the drive.
    known = next((one for one in named if find_inside(one, old) == ()), clean_path(old))
    is_named = any(find_inside(one, known) is not None for one in named)
    if not (is_named or is_stored(paths, known) or follow_moves(paths, known) == str(new)):
        raise NotFound(f"Nothing is stored for a folder {old}.")
    carry_stored(paths, known, new, named=named)
    inside = find_inside(vault, known) if vault else None
    if inside is not None:
        settings.set("vault.path", str(new.joinpath(*inside)))


def require_absent(old: str, new: Path) -> None:
    """Check that a former path is not a folder of this computer, whose stored data is its own.

    Raises:
        InvalidRequest: it is one, and not the present folder itself.
    """
    if os.path.isdir(old) and not os.path.samefile(old, new):
        raise InvalidRequest(
            f"The folder {old} is on this computer, and what is stored for it stays with it.",
            hint="Name only folders that are not here.",
        )


def _is_there(folder: MissingFolder, paths: Paths) -> bool:
    """Return whether a folder exists, where it was or where it was opened since."""
    found = follow_folder(folder.path, paths)
    return found is not None and os.path.isdir(os.path.expanduser(found))


def _list_edited(paths: Paths) -> set[str]:
    """Return the folders of notes in which edits can be undone."""
    with suppress(EditFailed):
        return {step.root for step in EditJournal(paths.edits).read()}
    return set()


def _list_projects(paths: Paths) -> Iterator[str]:
    for file in sorted(paths.projects.glob("*/project.toml")):
        with suppress(OSError, ValueError, RecursionError):
            folder = tomllib.loads(read_file(file).decode()).get("folder")
            if isinstance(folder, str) and folder:
                yield folder
