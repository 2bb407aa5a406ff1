"""Load hooks from installed packages and from the user's own Python files.

Packages provide hooks through the entry-point group `strata.hooks`. The user's files are in a
folder next to the settings, and run only if the setting `hooks.enabled` is on. Each package or file
provides a function `register(registry)`. If a hook cannot be loaded, this is reported, and the
others are still loaded.

Copies of hook files that a sync program made are not run: the user did not put them there.
Code from a vault is never run: files in the open vault are rejected, even through a symbolic link.
Files that other users of the computer can write to are rejected too.
"""

import logging
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.abc import ExecutionLoader
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import decode_source, module_from_spec
from pathlib import Path
from types import ModuleType

from context.hooks import HookRegistry
from resources.system.copies import is_copy_name
from resources.system.processes import is_owned_by_others, is_writable_by_others

__all__ = ["GROUP", "Hooks", "LoadedHooks"]

GROUP = "strata.hooks"
_log = logging.getLogger(__name__)


class _Refused(Exception):
    """A file or entry point was rejected as a source of hooks."""


@dataclass(frozen=True)
class LoadedHooks:
    """The loaded hooks, and one sentence for each problem."""

    registry: HookRegistry
    problems: tuple[str, ...] = ()


class Hooks:
    """Loads hooks, and caches them until a file or setting changes."""

    def __init__(self, folder: Path) -> None:
        """Create a loader for the hook files in a folder, which need not exist."""
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: tuple[object, LoadedHooks] | None = None

    def load(self, is_enabled: bool, vault: Path | None = None) -> LoadedHooks:
        """Return the hooks, reloading them if a file, the vault or the setting has changed.

        Args:
            is_enabled: whether the user's files may run.
            vault: the open vault, from which no code is run, or None.
        """
        with self._lock:
            files, problems = self._files() if is_enabled else ([], ())
            state = (vault, problems, [(file, *_read_versions(file)) for file in files])
            if self._loaded is None or self._loaded[0] != state:
                self._loaded = (state, _load(files, vault, problems))
            return self._loaded[1]

    def _files(self) -> tuple[list[Path], tuple[str, ...]]:
        try:
            found = [path for path in self._folder.iterdir() if path.suffix == ".py"]
        except FileNotFoundError:
            return [], ()
        except OSError as error:
            return [], (_describe_problem(f"The folder of hooks {self._folder}", error),)
        if not found:
            return [], ()
        try:
            _refuse_if_others_write(self._folder)
        except (_Refused, OSError) as error:
            return [], (
                _describe_problem(f"The folder of hooks {self._folder}", error, "is not used"),
            )
        return sorted(found, key=lambda path: path.name), ()


def _load(files: list[Path], vault: Path | None, problems: tuple[str, ...]) -> LoadedHooks:
    registry = HookRegistry()
    found = [*problems, *_register_offers(registry)]
    for file in files:
        try:
            _refuse_copy(file, files)
            _refuse_in_vault(file, vault)
            real = file.resolve()
            for written in (real.parent, real):
                _refuse_if_others_write(written)
            _register(registry, partial(_module, file))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - reported by the name of the file
            found.append(_describe_problem(f"The hook file {file.name}", error))
    return LoadedHooks(registry, tuple(found))


def _register_offers(registry: HookRegistry) -> Iterator[str]:
    for offer in _find_offers(tuple(sys.path)):
        try:
            _register(registry, offer.load)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - reported by the hook's name
            yield _describe_problem(f"The hook {offer.name} ({offer.value})", error)


@lru_cache(maxsize=1)
def _find_offers(_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return what the packages on Python's path offer, which takes long to look through."""
    return tuple(sorted(entry_points(group=GROUP), key=lambda offer: offer.name))


def _register(registry: HookRegistry, load: Callable[[], object]) -> None:
    offer = load()
    register = getattr(offer, "register", offer)
    if not callable(register):
        raise _Refused("it offers no register(registry)")
    with registry.all_or_nothing():
        register(registry)


def _refuse_copy(file: Path, files: list[Path]) -> None:
    """Raise `_Refused` if a sync program may have made a file, even if its original is gone."""
    first = re.split(r"[ .(\[~,]", file.stem)[0]
    if any(is_copy_name(file.stem, name) for name in (first, *(one.stem for one in files))):
        raise _Refused("a sync program may have made it; if it is yours, give it another name")


def _refuse_in_vault(file: Path, vault: Path | None) -> None:
    if vault is not None and file.resolve().is_relative_to(vault.resolve()):
        raise _Refused("it lies in the folder of notes, and no code is run from there")


def _refuse_if_others_write(path: Path) -> None:
    """Raise `_Refused` if other users can write to a file or folder."""
    info = path.stat()
    if is_owned_by_others(info):
        raise _Refused(f"{path} belongs to another user; only your own files are run")
    if is_writable_by_others(info):
        raise _Refused(f"others may write {path}; take that right away with: chmod go-w")


class _Source(ExecutionLoader):
    """Loads a Python source file as a module, without writing a bytecode cache."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def get_filename(self, _fullname: str) -> str:
        return str(self._file)

    def get_source(self, _fullname: str) -> str:
        return decode_source(self._file.read_bytes())


def _module(file: Path) -> ModuleType:
    name = f"strata_hooks_{file.stem}"
    spec = ModuleSpec(name, _Source(file), origin=str(file))
    spec.has_location = True
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles in the file look up their module there
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def _read_versions(file: Path) -> tuple[tuple[int, ...] | None, ...]:
    """Return the state of a file and the permissions of its folder, to detect changes."""
    return tuple(_version(path) for path in (file, file.resolve().parent))


def _version(path: Path) -> tuple[int, ...] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    is_file = stat.S_ISREG(info.st_mode)
    content = (info.st_mtime_ns, info.st_size) if is_file else ()
    return (*content, info.st_mode, info.st_uid)


def _describe_problem(subject: str, error: BaseException, what: str = "does not run") -> str:
    """Log an error about hooks, and return a sentence that describes the error to the user.

    Args:
        subject: the name of the hook or file, which starts the sentence.
        error: the error, which ends the sentence.
        what: the phrase after the subject, such as "does not run".
    """
    _log.warning("%s %s", subject, what, exc_info=error)
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = " ".join(message.split()).rstrip(".")
    reason = line if isinstance(error, _Refused) else f"{type(error).__name__}: {line}"
    return f"{subject} {what}: {reason.rstrip(': ')}."
