"""Manage projects: folders with their own instructions, patterns, model and memory.

The settings of a project are stored next to Strata's own, never in the project's folder:
`project.toml` (folder, include, exclude, model, title), `instructions.md` and `memory.md`. The web
pages and transcripts that it keeps are in Strata's data, see `app.library.project_pages`. When a
project is removed from the list, these files are kept, because its chats remain, and its patterns
may exclude notes from models.

Chats name a project by its folder. So a project that is renamed gets another title, and its folder
keeps its name.
"""

import logging
import os
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.errors import BadSetting, InvalidRequest, NotFound, storage_errors
from app.library.forgotten import ForgottenLines
from app.library.library import Library
from app.library.open_vault import OpenVault
from app.library.project_pages import PageStore
from app.library.user_texts import UserText, UserTextFile, UserTextKind
from app.paths import Paths
from app.relocation.folders import follow_moves
from context.fixes import Command, Fix, Option
from context.json_codec import Record
from resources.system.files import flush_file, make_private_folder, read_file, write_atomically
from vault.access import find_excluded, list_names
from vault.errors import VaultMissing
from vault.notes.kinds import MARKDOWN
from vault.notes.links import LinkResolver
from vault.notes.note import SourceText
from vault.paths import check_folder
from vault.scope import Scope
from vault.search.adhoc import KeptTexts
from vault.vault import Vault

__all__ = ["PROJECT_MEMORY", "Project", "ProjectSettings", "Projects", "find_project_folder"]

_log = logging.getLogger(__name__)
_FILE = "project.toml"
_KEYS = ("include", "exclude", "model")
_MOST_TITLE_CHARS = 100
_MOST_KEPT = 3  # projects whose pages stay ready to be searched, in memory
_INSTRUCTIONS = UserTextKind("project_instructions", "instructions for the project")
PROJECT_MEMORY = UserTextKind("project_memory", "memories of the project")


@dataclass(frozen=True)
class ProjectSettings:
    """The settings of a project.

    Attributes:
        include: patterns in `.gitignore` syntax for the notes to use. If there are none, all notes
            are used.
        exclude: patterns in `.gitignore` syntax for notes that are never used.
        model: the model of the project's chats, or an empty string for the setting `chat.model`.
        is_listed: whether the project is in the list of projects.
        title: the name that the user gave the project, or an empty string for its folder's name.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    model: str = ""
    is_listed: bool = True
    title: str = ""


@dataclass(frozen=True)
class Project(Record):
    """A project that has been opened before.

    Attributes:
        name: the name in chats: the path relative to the open vault, or the absolute path.
        folder: the folder of the project.
        is_there: whether the folder exists.
        title: the name that is shown: the one that the user gave, or the name of the folder.
        is_listed: whether the project is in the list of projects.
    """

    name: str
    folder: Path
    is_there: bool
    title: str
    is_listed: bool = True

    json_shape = (
        "project = name",
        "title",
        "folder",
        "is_there",
    )


class Projects:
    """The projects with their settings and notes. Thread-safe."""

    def __init__(self, paths: Paths, vault: OpenVault) -> None:
        self._paths = paths
        self._vault = vault
        self._outside: Library | None = None  # the last used project outside the vault
        self._kept: dict[Path, KeptTexts] = {}  # of the projects searched last, by their folders
        self._lock = threading.RLock()

    def find_name(self, named: str) -> str:
        """Return the project name of a folder.

        The name is the folder's path relative to the vault, or the absolute path of a folder
        outside the vault.

        Args:
            named: an absolute path, or a path relative to the vault or working directory.

        Raises:
            InvalidRequest: the path is blank.
            NotFound: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
        """
        if not named.strip():
            raise InvalidRequest("The project has no name.", hint="Give its folder.")
        vault = self._vault.folder
        inside = None if vault is None else vault / os.path.expanduser(named)
        folder = _check_project(inside if inside is not None and inside.is_dir() else Path(named))
        return self._name(folder)

    def name_for_chat(self, named: str, vault: str | None) -> str:
        """Return the name that a chat with another vault, or none, uses for a project.

        Args:
            named: an absolute path, or a path relative to the open vault or working directory.
            vault: the folder of the chat's vault, or None.

        Raises:
            NotFound: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
        """
        folder = self.find_folder(self.find_name(named))
        is_inside = vault is not None and folder.is_relative_to(vault)
        return folder.relative_to(vault).as_posix() if vault and is_inside else str(folder)

    def find_folder(self, name: str) -> Path:
        """Return the present folder of a project. The folder need not exist."""
        vault = self._vault.folder
        folder = find_project_folder(None if vault is None else str(vault), name)
        return Path(follow_moves(self._paths, str(folder)))

    def check_chat(self, named: str | None, project: str | None, *, is_needed: bool) -> None:
        """Check that a turn uses the project of its chat, and that the project's folder exists.

        Args:
            named: the project folder given for the turn, or None.
            project: the project of the chat, or None.
            is_needed: whether the mode needs a project. If not, the folder is not checked.

        Raises:
            InvalidRequest: the chat belongs to another project or to none.
            NotFound: the folder of the project does not exist.
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
                hint=(
                    Fix("Begin a chat in a project."),
                    Fix("`{}` does it.", Option("--project DIR")),
                ),
            )
        _check_project(self.find_folder(project))

    def list(self) -> tuple[Project, ...]:
        """Return the listed projects, sorted by title."""
        found = map(self._describe, self._list_folders())
        return tuple(sorted(found, key=lambda one: (one.title.casefold(), one.name)))

    def find(self, named: str) -> Project:
        """Return a project by its folder or name, or else by its title.

        Folders are resolved as in `find_name`. The folder of a listed project may be gone, and a
        folder that is there need not be listed.

        Raises:
            InvalidRequest: the name is blank, or several projects have it as their title.
            NotFound: there is no such project or folder.
            VaultUnreadable: the folder cannot be read.
        """
        listed = self.list()
        for folder in self._resolve(named):
            if known := next((one for one in listed if one.folder == folder), None):
                return known
            if folder.is_dir():
                return replace(self._describe(_check_project(folder)), is_listed=False)
        title = " ".join(named.split())
        found = [one for one in listed if one.title == title]
        if len(found) > 1:
            folders = ", ".join(str(one.folder) for one in found)
            raise InvalidRequest(
                f"{len(found)} projects have the title {title}.",
                hint=f"Give the folder of the one that is meant: {folders}.",
            )
        if not found:
            raise NotFound(
                f"There is no project {named}.",
                hint=Fix("{} lists the projects.", Command("project list")),
            )
        return found[0]

    def find_listed(self, named: str) -> Project:
        """Return a listed project by its folder, name or title, as `find` does.

        Raises the exceptions of `find`, and `NotFound` also if the project is not listed.
        """
        found = self.find(named)
        if not found.is_listed:
            raise NotFound(
                f"The folder {found.name} is not in the list of projects.",
                hint=Fix("{} adds it.", Command("project add", (found.name,))),
            )
        return found

    def find_title(self, name: str) -> str:
        """Return the name under which a project is shown."""
        folder = self.find_folder(name)
        try:
            given = self.settings(name).title
        except InvalidRequest:  # damaged, which each use of the project reports
            given = ""
        return given or folder.name or str(folder)

    def rename(self, name: str, title: str) -> None:
        """Give a project another title. Its folder, its settings and its chats stay as they are.

        Args:
            name: the project.
            title: the new title. A blank one restores the name of the folder.

        Raises:
            InvalidRequest: the project's settings file is damaged.
            StorageFailed: the settings cannot be written.
        """
        known, title = self.settings(name), " ".join(title.split())[:_MOST_TITLE_CHARS]
        is_own = title == self.find_folder(name).name
        self._write(name, replace(known, title="" if is_own else title))

    def add(self, named: str) -> str:
        """Add a folder to the list of projects, and return its project name.

        Raises:
            InvalidRequest: the path is blank, or the project's settings file is damaged.
            NotFound: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            StorageFailed: the settings cannot be written.
        """
        name = self.find_name(named)
        settings = self.settings(name)
        if not settings.is_listed:
            self._write(name, replace(settings, is_listed=True))
        else:
            with storage_errors(file := self._settings_file(name)):
                flush_file(file)  # a process that was killed may have written it
        return name

    def remove(self, name: str) -> None:
        """Remove a project from the list, keeping its settings, notes and chats.

        Raises:
            InvalidRequest: the project's settings file is damaged.
            StorageFailed: the settings cannot be written.
        """
        self._write(name, replace(self.settings(name), is_listed=False))

    def settings(self, name: str) -> ProjectSettings:
        """Return the settings of a project.

        Raises:
            InvalidRequest: the settings file is damaged. Nothing may then be sent to models,
                because the file may exclude notes.
        """
        file = self._settings_file(name)
        try:
            return _read_settings(tomllib.loads(read_file(file).decode()))
        except FileNotFoundError:
            return ProjectSettings(is_listed=False)
        except (OSError, ValueError, RecursionError, BadSetting) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InvalidRequest(
                f"The settings of the project {name} cannot be read: {reason}.",
                hint=f"Repair or delete the file {file}.",
            ) from error

    def change(self, name: str, key: str, value: object) -> ProjectSettings:
        """Change a setting of a project: `include`, `exclude` or `model`.

        Raises:
            BadSetting: the setting is unknown, or the value is invalid.
            InvalidRequest: the project's settings file is damaged.
            StorageFailed: the settings cannot be written.
        """
        if key not in _KEYS:
            raise BadSetting(f"A project has no setting {key}: it has include, exclude and model.")
        known = self.settings(name)
        read = _read_settings({**_to_dict(known), key: value})
        changed = replace(read, is_listed=known.is_listed)
        self._write(name, changed)
        return changed

    def instructions(self, name: str) -> UserTextFile:
        """Return the file with the user's instructions for a project."""
        return UserTextFile(self._settings_file(name).with_name("instructions.md"), _INSTRUCTIONS)

    def memory(self, name: str) -> UserTextFile:
        """Return the file with the long-term memories of a project."""
        path = self._settings_file(name).with_name("memory.md")
        return UserTextFile(path, PROJECT_MEMORY, ForgottenLines(path, self._paths.computer))

    def pages(self, name: str) -> PageStore:
        """Return the web pages and transcripts that a project keeps."""
        return PageStore(self._paths.project_pages(self.find_folder(name)))

    def read_user_texts(self, name: str) -> tuple[UserText, UserText]:
        """Read the user's instructions and the memories of a project."""
        return self.instructions(name).read(), self.memory(name).read()

    def open(self, name: str) -> Vault:
        """Open the part of a vault that holds the notes of a project.

        Projects in the vault use the vault's index. Others have their own.

        Raises:
            NotFound: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            InvalidRequest: the project's settings file is damaged.
            StorageFailed: the index cannot be written.
        """
        folder = _check_project(self.find_folder(name))
        settings, inside = self.settings(name), self._find_inside(folder)
        scope = Scope(inside or "", settings.include, settings.exclude, inside is None)
        vault = self._find_library(folder).vault
        return vault.limit(scope, lambda: self._read_kept(folder, vault))

    def open_library(self, name: str) -> Library:
        """Open the library that a project belongs to: that of the vault, or its own.

        Raises:
            NotFound: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            StorageFailed: the index cannot be written.
        """
        return self._find_library(_check_project(self.find_folder(name)))

    def open_named(self, named: str) -> Vault:
        """Open the notes of a project, given the path of its folder.

        The path is resolved as in `find_name`. The exceptions are those of `find_name` and `open`.
        """
        return self.open(self.find_name(named))

    def find_folder_around(self, file: Path) -> Path | None:
        """Return the innermost project that contains a file, or a folder itself, or else None."""
        folders = (folder for folder in self._list_folders() if file.is_relative_to(folder))
        default = file if file.is_dir() else None
        return max(folders, key=lambda folder: len(folder.parts), default=default)

    def resolve_link(self, target: str, source: str) -> str | None:
        """Return the absolute path of the note that a link outside the vault leads to, or None.

        A link in a project leads to a note of the project, and any other link to a note in the
        folder of its file.

        Args:
            target: the name or path in the link, without heading.
            source: the absolute path of the file with the link. For a link in an answer, this is
                the folder of the project.
        """
        file = Path(source)
        root = self.find_folder_around(file)
        if root is not None:
            names = [note.path for note in list_names(root)]
        else:
            root = file.parent
            names = _list_reachable(root, target)
        resolver = LinkResolver((name, ()) for name in names)
        found = resolver.resolve(target, file.relative_to(root).as_posix())
        return None if found is None else str(root / found)

    def close(self) -> None:
        """Close the index of a project outside of the vault."""
        with self._lock:
            if self._outside is not None:
                self._outside.close()
                self._outside = None

    def _read_kept(self, folder: Path, vault: Vault) -> KeptTexts:
        """Return the texts of the pages that a project keeps, and that models may read now."""
        pages = [page for page in self.pages(str(folder)).list() if page.text]
        files = frozenset(page.source for page in pages if page.is_file)
        roots = {vault.root, self._vault.folder or vault.root}
        hidden = [find_excluded(root, files, vault.exclude) for root in roots if files]
        texts = tuple(
            SourceText(page.source, page.dated_title, page.text, page.version)
            for page in pages
            if not any(page.source in found for found in hidden)
        )
        with self._lock:
            kept = self._kept.pop(folder) if folder in self._kept else KeptTexts()
            self._kept[folder] = kept
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        kept.replace(texts)
        return kept

    def _open_outside(self, folder: Path) -> Library:
        with self._lock:
            if self._outside is None or self._outside.vault.root != folder:
                self.close()
                self._outside = self._vault.open_library(folder)
            return self._outside

    def _find_inside(self, folder: Path) -> str | None:
        """Return the path of a project's folder in the vault, or None if it is outside of it."""
        vault = self._vault.folder
        if vault is None or not folder.is_relative_to(vault):
            return None
        return folder.relative_to(vault).as_posix()

    def _find_library(self, folder: Path) -> Library:
        library = self._vault.library
        if library is not None and folder.is_relative_to(library.vault.root):
            return library
        return self._open_outside(folder)

    def _name(self, folder: Path) -> str:
        vault = self._vault.folder
        if vault is not None and folder.is_relative_to(vault):
            return folder.relative_to(vault).as_posix()
        return str(folder)

    def _resolve(self, named: str) -> Iterator[Path]:
        """Yield the folders that a path may mean: in the vault, then in the working directory."""
        if not named.strip():
            raise InvalidRequest("The project has no name.", hint="Give its folder.")
        vault, path = self._vault.folder, Path(os.path.expanduser(named))
        for folder in (path,) if vault is None else (vault / path, path):
            with suppress(OSError, RuntimeError, ValueError):  # a loop, or a NUL in the name
                yield folder.resolve()

    def _describe(self, folder: Path) -> Project:
        title = self.find_title(str(folder))
        return Project(self._name(folder), folder, folder.is_dir(), title)

    def _settings_file(self, name: str) -> Path:
        return self._paths.project_folder(self.find_folder(name)) / _FILE

    def _list_folders(self) -> Iterator[Path]:
        for file in sorted(self._paths.projects.glob(f"*/{_FILE}")):
            try:
                found = tomllib.loads(read_file(file).decode())
            except (OSError, ValueError, RecursionError) as error:
                _log.warning("The project file %s cannot be read: %s", file, error)
                continue
            folder, is_listed = found.get("folder"), found.get("is_listed", True)
            if not (is_listed and isinstance(folder, str) and Path(folder).is_absolute()):
                continue
            if follow_moves(self._paths, folder) == folder:  # else it is listed where it is now
                yield Path(folder)

    def _write(self, name: str, settings: ProjectSettings) -> None:
        import tomlkit

        folder, file = self.find_folder(name), self._settings_file(name)
        listed = {} if settings.is_listed else {"is_listed": False}
        text = tomlkit.dumps({"folder": str(folder.resolve()), **_to_dict(settings), **listed})
        with storage_errors(file):
            make_private_folder(file.parent)
            write_atomically(file, text.encode("utf-8", "surrogateescape"))


def _check_project(folder: Path) -> Path:
    """Return the absolute path of a project's folder, and check that it is readable."""
    try:
        return check_folder(folder)
    except VaultMissing as error:
        raise NotFound(
            str(error), hint="Give the project's folder from the folder of notes on, or in full."
        ) from error


def _list_reachable(folder: Path, target: str) -> list[str]:
    """List the files directly in a folder, and the files below it that a link's path may name."""
    try:
        names = [name for name in os.listdir(folder) if not name.startswith(".")]
    except OSError:  # deleted meanwhile
        return []
    path = os.path.normpath(target)
    if "/" in path and not path.startswith((".", "/")) and "/." not in path:
        names += [path, *(path + suffix for suffix in MARKDOWN.suffixes)]
    return sorted(name for name in names if (folder / name).is_file())


def find_project_folder(vault: str | None, name: str) -> Path:
    """Return the folder of a project, given the project name stored in a chat.

    Args:
        vault: the folder of the chat's vault, or None.
        name: the path of the project, relative to the vault or absolute.
    """
    return Path(name) if vault is None else Path(vault) / name


def _to_dict(settings: ProjectSettings) -> dict[str, Any]:
    include, exclude = list(settings.include), list(settings.exclude)
    title = {"title": settings.title} if settings.title else {}
    return {"include": include, "exclude": exclude, "model": settings.model, **title}


def _read_settings(found: Mapping[str, object]) -> ProjectSettings:
    """Convert the values of a project's settings file to `ProjectSettings`.

    Raises:
        BadSetting: a value has the wrong type.
    """
    model, title = found.get("model", ""), found.get("title", "")
    if not isinstance(model, str):
        raise BadSetting("The model of a project is the name of a model.")
    if not isinstance(title, str):
        raise BadSetting("The title of a project is a text.")
    include, exclude = _read_list(found, "include"), _read_list(found, "exclude")
    is_listed = bool(found.get("is_listed", True))
    return ProjectSettings(include, exclude, model.strip(), is_listed, " ".join(title.split()))


def _read_list(found: Mapping[str, object], key: str) -> tuple[str, ...]:
    listed = found.get(key, ())
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise BadSetting(f"{key} of a project is a list of patterns.")
    return tuple(pattern.strip() for pattern in listed if pattern.strip())
