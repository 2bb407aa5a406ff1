"""List the notes in a folder by file names and attributes.

No file is opened, so a FIFO, device or dead network link cannot block the scan.
"""

import hashlib
import os
import stat
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from vault.errors import VaultMissing, VaultUnreadable
from vault.exclude.rules import ExcludeRules
from vault.notes.kinds import find_kind, is_readable_kind, is_small_enough
from vault.paths import is_text_name, printable


class FileStat(NamedTuple):
    """The attributes of a file that show whether it has changed.

    Attributes:
        ctime_ns: the time of the last change of the file or its attributes. Unlike `mtime_ns`, no
            program can set it, so that it tells a change that left time and size as they were.
    """

    mtime_ns: int
    size: int
    device: int
    inode: int
    ctime_ns: int = -1

    def differs(self, seen: "FileStat") -> bool:
        """Return whether a file may have changed between two readings of its attributes.

        The device number is not compared, because it can change when a drive is mounted again.

        Args:
            seen: the other reading.
        """
        own, other = (each._replace(device=0) for each in (self, seen))
        return own != other


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The notes found by a scan, and the files that were left out.

    Attributes:
        root: the attributes of the vault's folder.
        files: the attributes of every readable note, keyed by path.
        excluded: the excluded files, as pairs of path and rule.
        failed: the files that cannot be read, as pairs of path and reason.
        unreadable_folders: folders that could not be listed. Their notes may still exist.
    """

    root: FileStat
    files: dict[str, FileStat] = field(default_factory=dict)
    excluded: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    unreadable_folders: list[str] = field(default_factory=list)

    def fingerprint(self) -> str:
        """Return a hash that changes whenever a file is added, edited, moved or removed.

        It may also change when a folder is listed in another order, which only causes a full
        comparison.
        """
        names = [
            *self.files,
            *chain.from_iterable((*self.excluded, *self.failed)),
            *self.unreadable_folders,
        ]
        numbers = array(
            "q", chain.from_iterable(stat[:2] + stat[3:] for stat in self.files.values())
        )
        text = "\0".join(names).encode("utf-8", "surrogatepass")
        return hashlib.sha256(text + numbers.tobytes()).hexdigest()


def scan(
    root: Path,
    exclude: Sequence[str] = (),
    seen: Callable[[int], None] = lambda _count: None,
) -> ScanResult:
    """List the notes in a folder and its subfolders.

    Hidden files and folders (such as `.trash`) and files that cannot be notes are skipped.

    Args:
        root: the vault's folder.
        exclude: patterns as in a `.gitignore`.
        seen: called after each folder with the number of notes found so far.

    Raises:
        VaultMissing: the folder does not exist.
        VaultUnreadable: the folder cannot be read because of its permissions.
    """
    result = ScanResult(root=check_folder(root))
    rules = ExcludeRules.load(root, exclude)
    rules_if_any = rules if rules else None  # decided once instead of for thousands of files
    pending = [""]
    while pending:
        folder = pending.pop()
        for entry, path in _list_entries(root, folder, result):
            if entry.is_dir(follow_symlinks=False):
                if _should_enter(entry, path, rules, result):
                    pending.append(path)
            elif is_readable_kind(entry.name) or _is_folder_link(entry):
                _add_note(root, entry, path, rules_if_any, result)
        seen(len(result.files))
    result.failed.extend(rules.list_problems())
    return result


def scan_paths(root: Path, exclude: Sequence[str], paths: Iterable[str]) -> ScanResult | None:
    """Scan only the given paths, which is faster than a full scan.

    Args:
        root: the vault's folder.
        exclude: patterns as in a `.gitignore`.
        paths: the paths to check, relative to the vault.

    Returns:
        The notes found, as in `scan`, or None if a full scan is needed because a path may have been
        a folder or is below a symbolic link.

    Raises:
        VaultMissing: the folder does not exist.
        VaultUnreadable: the folder cannot be read because of its permissions.
    """
    result = ScanResult(root=check_folder(root))
    rules = ExcludeRules.load(root, exclude)
    base = os.path.realpath(root)
    by_folder: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        by_folder.setdefault(folder, set()).add(name)
    for folder, names in by_folder.items():
        if not _is_entered(folder, rules):
            continue
        if os.path.realpath(root / folder) != os.path.join(base, *folder.split("/")).rstrip("/"):
            return None
        entries = {e.name: (e, path) for e, path in _list_entries(root, folder, result)}
        for name in names:
            if name.startswith("."):
                continue
            entry, path = entries.get(name, (None, ""))
            if not is_readable_kind(name) or (entry is not None and entry.is_dir()):
                return None
            if entry is not None:
                _add_note(root, entry, path, rules, result)
    return result


def _is_entered(folder: str, rules: ExcludeRules) -> bool:
    parts = folder.split("/") if folder else []
    above = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    is_shown = not any(part.startswith(".") for part in parts)
    return is_shown and all(rules.find_rule(path, is_folder=True) is None for path in above)


def check_folder(root: Path) -> FileStat:
    """Return the attributes of the vault's folder.

    Raises:
        VaultMissing: the vault's folder does not exist.
        VaultUnreadable: the folder cannot be read because of its permissions.
    """
    try:
        info = root.stat()
    except PermissionError as error:
        raise VaultUnreadable(
            f"Permission denied: {root}. Change its permissions or choose another folder."
        ) from error
    except (OSError, ValueError) as error:
        raise VaultMissing(
            f"The folder {root} is not there; mount its drive or choose another folder."
        ) from error
    if not stat.S_ISDIR(info.st_mode):
        raise VaultMissing(f"{root} is not a folder; choose the folder that holds the notes.")
    return _file_stat(info)


def read_stat(root: Path, path: str) -> FileStat | None:
    """Return a note's attributes, or None if it is not a regular file."""
    try:
        info = (root / path).stat(follow_symlinks=False)
    except (OSError, ValueError):
        return None
    return _file_stat(info) if stat.S_ISREG(info.st_mode) else None


def _list_entries(
    root: Path, folder: str, result: ScanResult
) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Yield the entries of a folder with their paths in the vault. Skip hidden entries.

    A subfolder that cannot be listed is added to `result`.

    Raises:
        VaultMissing: the vault's folder was removed during the scan.
        VaultUnreadable: the vault's folder cannot be listed.
    """
    try:
        with os.scandir(root / folder) as listing:
            entries = list(listing)
    except FileNotFoundError:
        if not folder:
            raise VaultMissing(f"The folder {root} went away while it was read.") from None
        return  # removed since its parent was listed
    except OSError as error:
        if not folder:
            raise VaultUnreadable(
                f"{error.strerror}: {root}. Change its permissions or choose another folder."
            ) from error
        result.failed.append((folder, f"the folder cannot be read ({error.strerror})"))
        result.unreadable_folders.append(folder)
        return
    prefix = f"{folder}/" if folder else ""
    for entry in entries:
        if not entry.name.startswith("."):
            yield entry, prefix + entry.name


def _is_folder_link(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() and os.path.isdir(entry.path)


def _should_enter(
    entry: os.DirEntry[str], path: str, rules: ExcludeRules, result: ScanResult
) -> bool:
    if not is_text_name(entry.name):
        result.failed.append((printable(path), "the folder's name is not valid UTF-8; rename it"))
        return False
    rule = rules.find_rule(path, is_folder=True)
    if rule is not None:
        result.excluded.append((path, rule))
    return rule is None


def _add_note(
    root: Path, entry: os.DirEntry[str], path: str, rules: ExcludeRules | None, result: ScanResult
) -> None:
    if not entry.name.isascii() and not is_text_name(entry.name):
        result.failed.append((printable(path), "the name is not valid UTF-8; rename the file"))
        return
    rule = None if rules is None else rules.find_rule(path, is_folder=False)
    if rule is not None:
        result.excluded.append((path, rule))
        return
    if entry.is_symlink():
        _add_link(root, entry, path, result)
        return
    try:
        info = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return  # removed since the folder was listed
    except OSError as error:
        result.failed.append((path, f"it cannot be looked at ({error.strerror})"))
        return
    if stat.S_ISREG(info.st_mode) and is_small_enough(path, info.st_size):
        result.files[path] = _file_stat(info)
    else:
        result.failed.append((path, _explain_exclusion(path, info)))


def _add_link(root: Path, entry: os.DirEntry[str], path: str, result: ScanResult) -> None:
    """Add a symbolic link to the result of a scan: as failed if it is broken, else as excluded.

    Links are never indexed, because the note that a link leads to is indexed under its own path.
    """
    base = os.path.realpath(root)
    target = os.path.realpath(entry.path)
    if not os.path.exists(target):
        result.failed.append((path, "it is a link that leads nowhere"))
    elif os.path.commonpath((base, target)) != base:
        result.excluded.append((path, "a link to outside the vault"))
    else:
        result.excluded.append((path, "a link to another place in the vault"))


def _explain_exclusion(path: str, info: os.stat_result) -> str:
    others = {
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    if not stat.S_ISREG(info.st_mode):
        kind = others.get(stat.S_IFMT(info.st_mode), "something else")
        return f"it is {kind}, not a file"
    return find_kind(path).explain_size(info.st_size)


def _file_stat(info: os.stat_result) -> FileStat:
    return FileStat(info.st_mtime_ns, info.st_size, info.st_dev, info.st_ino, info.st_ctime_ns)
