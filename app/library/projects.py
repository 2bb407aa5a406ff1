"""Projects: folders with their own instructions, patterns, model and memory.

The settings of a project are files in a folder of their own beside Strata's settings, never in the
project: `project.toml` (folder, include, exclude, model), `instructions.md` and `memory.md`.
"""

import logging
import os
import shutil
import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from app.durable import write_atomically
from app.errors import BadSetting, InvalidRequest, storage_errors
from app.library.library import Library
from app.library.open_vault import OpenVault
from app.library.project_notes import ProjectNotes
from app.library.user_texts import UserText, UserTextFile, UserTextKind
from app.paths import Paths, make_private_folder
from vault.paths import check_folder

__all__ = ["PROJECT_MEMORY", "Project", "ProjectSettings", "Projects", "find_project_folder"]

_log = logging.getLogger(__name__)
_FILE = "project.toml"
_INSTRUCTIONS = UserTextKind("project_instructions", "instructions for the project")
PROJECT_MEMORY = UserTextKind("project_memory", "memories of the project")


@dataclass(frozen=True)
class ProjectSettings:
    """The settings of a project.

    Attributes:
        include: patterns as in a `.gitignore`; if there are any, only matching notes are used.
        exclude: patterns as in a `.gitignore` of notes that are never used.
        model: the model of the project's chats; empty for the setting `chat.model`.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    model: str = ""


@dataclass(frozen=True)
class Project:
    """A project that was opened once.

    Attributes:
        name: the name in chats: the path relative to the open vault, or the full path.
        folder: the folder of the project.
        is_there: whether the folder exists.
    """

    name: str
    folder: Path
    is_there: bool


class Projects:
    """The projects with their settings and notes. The class is thread-safe."""

    def __init__(self, paths: Paths, vault: OpenVault) -> None:
        self._paths = paths
        self._vault = vault
        self._outside: Library | None = None  # of the project outside the vault used last
        self._lock = threading.RLock()

    def find_name(self, named: str) -> str:
        """Return the name of a project: relative to the vault if it lies in it, else the full path.

        Args:
            named: a folder, relative to the vault or the working directory, or its full path.

        Raises:
            VaultMissing: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
        """
        if not named.strip():
            raise InvalidRequest("The project has no name.", hint="Give its folder.")
        vault = self._vault.folder
        inside = None if vault is None else vault / Path(named).expanduser()
        folder = check_folder(inside if inside is not None and inside.is_dir() else Path(named))
        return self._name(folder)

    def find_folder(self, name: str) -> Path:
        """Return the folder of a project by its name, which need not exist."""
        vault = self._vault.folder
        return find_project_folder(None if vault is None else str(vault), name)

    def check_chat(self, named: str | None, project: str | None, *, is_needed: bool) -> None:
        """Check that a project named for a turn is the one of its chat, and that it is there.

        Args:
            named: the folder of the project; None if none is named.
            project: the project of the chat.
            is_needed: whether the mode of the turn needs a project.

        Raises:
            InvalidRequest: the chat belongs to another project or to none.
            VaultMissing: the folder of the project does not exist.
        """
        if named is not None and self.find_name(named) != project:
            belongs = "no project" if project is None else f"the project {project}"
            raise InvalidRequest(
                f"This chat belongs to {belongs}.", hint="Begin a new chat for another project."
            )
        if not is_needed:
            return
        if project is None:
            raise InvalidRequest(
                "This chat has no project.",
                hint="Begin a chat in one, with --project DIR or in the sidebar.",
            )
        check_folder(self.find_folder(project))

    def list(self) -> tuple[Project, ...]:
        """Return the projects that were opened and not removed, by the names of their folders."""
        found = [
            Project(self._name(folder), folder, os.path.isdir(folder))
            for folder in self._list_folders()
        ]
        return tuple(sorted(found, key=lambda one: (one.folder.name.casefold(), one.name)))

    def add(self, named: str) -> str:
        """Add a folder to the list of projects, and return its name; raises as `find_name` does."""
        name = self.find_name(named)
        if not self._settings_file(name).exists():
            self._write(name, ProjectSettings())
        return name

    def remove(self, name: str) -> None:
        """Remove a project from the list, with its settings; its notes and chats stay.

        Raises:
            StorageFailed: the settings cannot be deleted.
        """
        folder = self._settings_file(name).parent
        with storage_errors(folder):
            if folder.exists():
                shutil.rmtree(folder)

    def settings(self, name: str) -> ProjectSettings:
        """Return the settings of a project.

        Raises:
            InvalidRequest: the file of the settings is damaged. Its patterns may keep notes from
                models, so nothing is sent without them.
        """
        file = self._settings_file(name)
        try:
            return _read_settings(tomllib.loads(file.read_text("utf-8")))
        except FileNotFoundError:
            return ProjectSettings()
        except (OSError, ValueError, BadSetting) as error:
            raise InvalidRequest(
                f"The settings of the project {name} cannot be read: {error}.",
                hint=f"Repair or delete the file {file}.",
            ) from error

    def change(self, name: str, key: str, value: object) -> ProjectSettings:
        """Change a setting of a project: `include`, `exclude` or `model`.

        Raises:
            BadSetting: there is no such setting, or the value does not fit.
            StorageFailed: the settings cannot be written.
        """
        if key not in {field.name for field in fields(ProjectSettings)}:
            raise BadSetting(f"A project has no setting {key}: it has include, exclude and model.")
        changed = _read_settings({**_to_dict(self.settings(name)), key: value})
        self._write(name, changed)
        return changed

    def instructions(self, name: str) -> UserTextFile:
        """Return the file with the user's own instructions for a project."""
        return UserTextFile(self._settings_file(name).with_name("instructions.md"), _INSTRUCTIONS)

    def memory(self, name: str) -> UserTextFile:
        """Return the file with the long-term memories of a project."""
        return UserTextFile(self._settings_file(name).with_name("memory.md"), PROJECT_MEMORY)

    def read_texts(self, name: str) -> tuple[UserText, UserText]:
        """Return the instructions and the memories of a project."""
        return self.instructions(name).read(), self.memory(name).read()

    def open(self, name: str) -> ProjectNotes:
        """Open the notes of a project.

        A project in the vault shares the vault's index; one outside has an index of its own.

        Raises:
            VaultMissing: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            InvalidRequest: the settings of the project are damaged.
            StorageFailed: the index cannot be written.
        """
        folder = check_folder(self.find_folder(name))
        settings, vault = self.settings(name), self._vault.library
        if vault is not None and folder.is_relative_to(vault.root):
            inside = folder.relative_to(vault.root).as_posix()
            return ProjectNotes(vault, inside, settings.include, settings.exclude)
        return ProjectNotes(self._open_outside(folder), None, settings.include, settings.exclude)

    def close(self) -> None:
        """Close the index of the project outside the vault."""
        with self._lock:
            if self._outside is not None:
                self._outside.close()
                self._outside = None

    def _open_outside(self, folder: Path) -> Library:
        with self._lock:
            if self._outside is None or self._outside.root != folder:
                self.close()
                self._outside = self._vault.open_library(folder)
            return self._outside

    def _name(self, folder: Path) -> str:
        vault = self._vault.folder
        if vault is not None and folder.is_relative_to(vault):
            return folder.relative_to(vault).as_posix()
        return str(folder)

    def _settings_file(self, name: str) -> Path:
        return self._paths.project_folder(self.find_folder(name)) / _FILE

    def _list_folders(self) -> Iterator[Path]:
        for file in sorted(self._paths.projects.glob(f"*/{_FILE}")):
            try:
                folder = tomllib.loads(file.read_text("utf-8")).get("folder")
            except (OSError, ValueError) as error:
                _log.warning("The project file %s cannot be read: %s", file, error)
                continue
            if isinstance(folder, str) and Path(folder).is_absolute():
                yield Path(folder)

    def _write(self, name: str, settings: ProjectSettings) -> None:
        import tomlkit

        folder, file = self.find_folder(name), self._settings_file(name)
        text = tomlkit.dumps({"folder": str(folder.resolve()), **_to_dict(settings)})
        with storage_errors(file):
            make_private_folder(file.parent)
            write_atomically(file, text.encode("utf-8", "surrogateescape"))


def find_project_folder(vault: str | None, name: str) -> Path:
    """Return the folder of a project as a chat names it.

    Args:
        vault: the vault of the chat.
        name: the path of the project, relative to the vault or absolute.
    """
    return Path(name) if vault is None else Path(vault) / name


def _to_dict(settings: ProjectSettings) -> dict[str, Any]:
    include, exclude = list(settings.include), list(settings.exclude)
    return {"include": include, "exclude": exclude, "model": settings.model}


def _read_settings(found: Mapping[str, object]) -> ProjectSettings:
    """Return checked settings.

    Raises:
        BadSetting: a value is of another type.
    """
    model = found.get("model", "")
    if not isinstance(model, str):
        raise BadSetting("The model of a project is the name of a model.")
    include, exclude = _read_list(found, "include"), _read_list(found, "exclude")
    return ProjectSettings(include, exclude, model.strip())


def _read_list(found: Mapping[str, object], key: str) -> tuple[str, ...]:
    listed = found.get(key, ())
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise BadSetting(f"{key} of a project is a list of patterns.")
    return tuple(pattern.strip() for pattern in listed if pattern.strip())
