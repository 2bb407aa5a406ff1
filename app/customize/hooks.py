"""Hooks: code of installed packages and of the user that is asked about each turn.

A package offers hooks under the entry-point group `strata.hooks`. The user's own Python files lie
beside the settings and run only where the setting `hooks.enabled` allows it. Each offers
`register(registry)`. What cannot be loaded is told by its name, and the others go on.

A vault never carries code that runs: a file that lies in the open vault is refused, wherever a link
to it stands. Neither is a file run that other users of the computer may write, or whose folder they
may write.
"""

import logging
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.abc import ExecutionLoader
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import decode_source, module_from_spec
from pathlib import Path
from types import ModuleType

from context.hooks import HookRegistry

__all__ = ["GROUP", "Hooks", "LoadedHooks"]

GROUP = "strata.hooks"
_log = logging.getLogger(__name__)


class _Refused(Exception):
    """Raised when a file or an offer is not run as hooks."""


@dataclass(frozen=True)
class LoadedHooks:
    """The hooks of a turn, and what could not be loaded, one sentence each."""

    registry: HookRegistry
    problems: tuple[str, ...] = ()


class Hooks:
    """Loads hooks when they are first needed, and again when a file or the setting changed."""

    def __init__(self, folder: Path) -> None:
        """Name the folder of the user's own files; it need not exist."""
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: tuple[object, LoadedHooks] | None = None

    def load(self, is_enabled: bool, vault: Path | None = None) -> LoadedHooks:
        """Return the hooks, loaded again where a file or the setting changed.

        Args:
            is_enabled: whether the user's own files may run.
            vault: the open folder of notes, from which nothing is run.
        """
        with self._lock:
            files, problems = self._files() if is_enabled else ([], ())
            state = (vault, problems, [(file, *_versions(file)) for file in files])
            if self._loaded is None or self._loaded[0] != state:
                self._loaded = (state, _load(files, vault, problems))
            return self._loaded[1]

    def _files(self) -> tuple[list[Path], tuple[str, ...]]:
        try:
            found = [path for path in self._folder.iterdir() if path.suffix == ".py"]
        except FileNotFoundError:
            return [], ()
        except OSError as error:
            return [], (_problem(f"The folder of hooks {self._folder}", error),)
        if not found:
            return [], ()
        try:
            _refuse_if_others_write(self._folder)
        except (_Refused, OSError) as error:
            return [], (_problem(f"The folder of hooks {self._folder}", error, "is not used"),)
        return sorted(found, key=lambda path: path.name), ()


def _load(files: list[Path], vault: Path | None, problems: tuple[str, ...]) -> LoadedHooks:
    registry = HookRegistry()
    found = [*problems, *_register_offers(registry)]
    for file in files:
        try:
            _refuse_in_vault(file, vault)
            real = file.resolve()
            for written in (real.parent, real):
                _refuse_if_others_write(written)
            _register(registry, partial(_module, file))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is told by its name
            found.append(_problem(f"The hook file {file.name}", error))
    return LoadedHooks(registry, tuple(found))


def _register_offers(registry: HookRegistry) -> Iterator[str]:
    """Register the hooks of installed packages, and yield a sentence for each that fails."""
    offers: list[EntryPoint] = sorted(entry_points(group=GROUP), key=lambda offer: offer.name)
    for offer in offers:
        try:
            _register(registry, offer.load)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is told by its name
            yield _problem(f"The hook {offer.name} ({offer.value})", error)


def _register(registry: HookRegistry, load: Callable[[], object]) -> None:
    """Load an offer and register all of its hooks, or none."""
    offer = load()
    register = getattr(offer, "register", offer)
    if not callable(register):
        raise _Refused("it offers no register(registry)")
    with registry.all_or_nothing():
        register(registry)


def _refuse_in_vault(file: Path, vault: Path | None) -> None:
    if vault is not None and file.resolve().is_relative_to(vault.resolve()):
        raise _Refused("it lies in the folder of notes, and no code is run from there")


def _refuse_if_others_write(path: Path) -> None:
    """Raise `_Refused` for a file or folder that other users may write."""
    if sys.platform == "win32":  # its rights are not told by these bits
        return
    info = path.stat()
    if info.st_uid not in (os.geteuid(), 0):
        raise _Refused(f"{path} belongs to another user; only your own files are run")
    if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _Refused(f"others may write {path}; take that right away with: chmod go-w")


class _Source(ExecutionLoader):
    """Loads a source file without writing a compiled copy beside it."""

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
    sys.modules[name] = module  # dataclasses and pickles in it look themselves up there
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def _versions(file: Path) -> tuple[tuple[int, ...] | None, ...]:
    """Return what changes with a file and with the rights to write it."""
    return tuple(_version(path) for path in (file, file.resolve().parent))


def _version(path: Path) -> tuple[int, ...] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    is_file = stat.S_ISREG(info.st_mode)
    content = (info.st_mtime_ns, info.st_size) if is_file else ()
    return (*content, info.st_mode, info.st_uid)


def _problem(subject: str, error: BaseException, what: str = "does not run") -> str:
    """Build a one-line sentence about hooks that do not run, and log the error."""
    _log.warning("%s %s", subject, what, exc_info=error)
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = " ".join(said.split()).rstrip(".")
    reason = line if isinstance(error, _Refused) else f"{type(error).__name__}: {line}"
    return f"{subject} {what}: {reason.rstrip(': ')}."
