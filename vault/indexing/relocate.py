"""Find the index of a folder that was moved or renamed, and use it again.

Each catalog stores the current and former paths of its folder of notes, and the folder's device and
inode number. An existing index is used for a new folder if the index's own folder no longer exists,
and had mostly the same notes, or the same inode number and some of the same notes. Comparing the
notes detects moves to another drive, and new folders that got the inode number of a deleted one.

An index can be built again, so it may be taken over on few signs. What the user made may not: see
`FormerFolder`.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from resources.system.calls import remove_folder, rename_path
from resources.system.files import read_file, remove_if_there, write_atomically
from vault.catalog import CATALOG_FILE, Catalog, Row
from vault.errors import IndexBusy, IndexUnusable, NoteUnreadable, UnsafePath, VaultMissing
from vault.notes.note import read_bytes
from vault.open_index import take_lock
from vault.scan import FileStat, check_folder

__all__ = [
    "FormerFolder",
    "find_moved_folder",
    "forget_former_folders",
    "is_same_folder",
    "list_folders",
    "read_former_folders",
    "remember_folder",
    "require_folder",
    "take_over_index",
]

_FOLDERS: Final = "folders"
_ROOT: Final = "root"
_SAME_SHARE: Final = 0.8
_KNOWN_SHARE: Final = 0.2  # of the notes of a folder with the same inode number
_CARRIED_SHARE: Final = 0.5  # of the unchanged notes, to carry over more than the index
_COMPARED: Final = 200
_FORMER: Final = "former_folders.json"


@dataclass(frozen=True)
class FormerFolder:
    """A former path of a folder of notes whose index was taken over.

    Attributes:
        path: the former path.
        is_moved: whether it is surely the folder itself that has another path now. If not, it may
            be a copy, and the original comes back when its drive is there again.
    """

    path: str
    is_moved: bool


def remember_folder(catalog: Catalog, root: Path, stat: FileStat) -> None:
    """Record the path of the catalog's folder, within the current transaction.

    Args:
        catalog: the catalog of the folder.
        root: the folder of notes.
        stat: the attributes of the folder, which contain its device and inode number.
    """
    here, folders = str(root), _read_folders(catalog)
    catalog.set_meta(_ROOT, _format_id(stat))
    if folders[:1] != [here]:
        kept = [here, *(folder for folder in folders if folder != here)]
        catalog.set_meta(_FOLDERS, json.dumps(kept))


def is_same_folder(catalog: Catalog, stat: FileStat) -> bool:
    """Return whether a folder has the device and inode number that the catalog has recorded.

    Return True if the catalog has recorded none.
    """
    return catalog.meta(_ROOT) in (None, _format_id(stat))


def require_folder(root: Path, catalog: Catalog | None) -> None:
    """Check that the notes are there to be read.

    Args:
        root: the folder of notes.
        catalog: the catalog of its index, or None if there is none.

    Raises:
        VaultMissing: the folder is missing, or it is the empty mount point of a missing drive.
        VaultUnreadable: the folder cannot be read because of its permissions.
    """
    found = check_folder(root)
    is_known = catalog is None or is_same_folder(catalog, found)
    if not is_known and not any(root.iterdir()):
        raise VaultMissing(f"The folder {root} is empty and not the one that was indexed.")


def take_over_index(index_dir: Path, root: Path) -> bool:
    """Find the index of a folder that was moved to a new path, and move the index as well.

    What else is stored for the folder is the caller's to carry over: `read_former_folders` tells
    the former path until `forget_former_folders` is called, also after a crash.

    Args:
        index_dir: the path to move the index to, in the folder that contains all indexes.
        root: the new path of the folder of notes, which has no index yet.

    Returns:
        Whether an index was moved. False if none was found or another process is using it.
    """
    if (index_dir / CATALOG_FILE).exists():
        return False
    found = _find_index(root, _open_others(index_dir.parent))
    if found is None:
        return False
    with suppress(OSError):
        remove_folder(index_dir)  # fails if it is not empty, so in use
    try:
        with take_lock(found):
            _note_former(found, root)
            rename_path(found, index_dir)
            _name_root(index_dir, root)
    except (IndexBusy, IndexUnusable, OSError):
        return False
    return True


def read_former_folders(index_dir: Path) -> list[FormerFolder]:
    """Return the folders whose index was taken over and whose other stored data was not yet."""
    try:
        found = json.loads(read_file(index_dir / _FORMER))
        return [FormerFolder(str(path), is_moved is True) for path, is_moved in found]
    except (OSError, ValueError, TypeError, RecursionError):  # there is none, or it is damaged
        return []


def forget_former_folders(index_dir: Path) -> None:
    """Note that the stored data of all former folders was carried over.

    Raises:
        OSError: the note cannot be removed.
    """
    remove_if_there(index_dir / _FORMER)


def _note_former(index_dir: Path, root: Path) -> None:
    """Note the former path in the index, unless the notes are no longer those of that folder."""
    with closing(_open_catalog(index_dir)) as catalog:
        former = Path(_read_folders(catalog)[0])
        same_share = _measure_same_share(catalog, root)
        stat = check_folder(root)
        is_moved = catalog.meta(_ROOT) == _format_id(stat) and _is_on_device(former, stat)
    known = [(one.path, one.is_moved) for one in read_former_folders(index_dir)]
    if same_share >= _CARRIED_SHARE:
        known = [*(one for one in known if one[0] != str(former)), (str(former), is_moved)]
    if known:
        write_atomically(index_dir / _FORMER, json.dumps(known).encode())


def _is_on_device(former: Path, stat: FileStat) -> bool:
    """Return whether a path that no longer exists was on the device of a folder, as far as known.

    Another drive may have got the device number of one that was taken out, and its folders may have
    the same inode numbers.
    """
    around = next(folder for folder in former.parents if os.path.isdir(folder))
    return os.stat(around).st_dev == stat.device


def _name_root(index_dir: Path, root: Path) -> None:
    with suppress(IndexUnusable):  # the next update of the index names it
        catalog = Catalog(index_dir / CATALOG_FILE, is_writable=True)
        with closing(catalog), catalog.transaction():
            remember_folder(catalog, root, check_folder(root))


def find_moved_folder(folder: Path, indexes: Path) -> Path | None:
    """Return the current path of a folder that was moved, or None if no index knows it.

    Args:
        folder: a former path of the folder of notes.
        indexes: the folder that contains all indexes.
    """
    for _, catalog in _open_others(indexes):
        now, *before = _read_folders(catalog) or [""]
        if str(folder) in before and os.path.isdir(now):
            return Path(now)
    return None


def list_folders(index_dir: Path) -> list[Path]:
    """Return the last known path of an index's folder of notes, and then its former paths.

    The list is empty if there is no catalog or it cannot be read.
    """
    with suppress(IndexUnusable), closing(_open_catalog(index_dir)) as catalog:
        return [Path(folder) for folder in _read_folders(catalog)]
    return []


def _open_catalog(index_dir: Path) -> Catalog:
    return Catalog(index_dir / CATALOG_FILE, is_writable=False)


def _find_index(root: Path, others: Iterable[tuple[Path, Catalog]]) -> Path | None:
    alike = None
    for index_dir, catalog in others:
        folders = _read_folders(catalog)
        if not folders or os.path.lexists(folders[0]):
            continue
        here = _format_id(check_folder(root))
        if catalog.meta(_ROOT) == here and _has_known_notes(catalog, root):
            return index_dir
        if alike is None and _measure_same_share(catalog, root) >= _SAME_SHARE:
            alike = index_dir
    return alike


def _open_others(indexes: Path) -> Iterator[tuple[Path, Catalog]]:
    """Yield the folder and the open catalog of each readable index.

    A catalog is closed before the next one is opened.
    """
    for path in sorted(indexes.glob(f"*/{CATALOG_FILE}")):
        with suppress(IndexUnusable), closing(_open_catalog(path.parent)) as catalog:
            yield path.parent, catalog


def _has_known_notes(catalog: Catalog, root: Path) -> bool:
    """Return whether a folder has some of a catalog's notes, which may have changed.

    Return True if the catalog has no notes.
    """
    compared = _list_compared(catalog)
    known = sum(os.path.lexists(root / path) for path, _ in compared)
    return known >= _KNOWN_SHARE * len(compared)


def _measure_same_share(catalog: Catalog, root: Path) -> float:
    """Return the fraction of a catalog's notes that exist unchanged in a folder."""
    compared = _list_compared(catalog)
    same = sum(_hash_file(root, path) == version for path, version in compared)
    return same / len(compared) if compared else 0.0


def _list_compared(catalog: Catalog) -> Sequence[Row]:
    """Return the paths and versions of a catalog's notes, or of a few hundred if it has more."""
    rows = catalog.rows("SELECT path, version FROM files WHERE state = 'indexed' ORDER BY path")
    return rows[:: max(1, len(rows) // _COMPARED)]


def _hash_file(root: Path, path: str) -> str:
    try:
        return hashlib.sha256(read_bytes(root, path)).hexdigest()
    except (NoteUnreadable, UnsafePath):
        return ""


def _read_folders(catalog: Catalog) -> list[str]:
    """Return the paths that the vault of a catalog has had, the latest first."""
    try:
        found = json.loads(catalog.meta(_FOLDERS) or "[]")
    except (IndexUnusable, ValueError, RecursionError):  # damaged
        return []
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def _format_id(stat: FileStat) -> str:
    return f"{stat.device}:{stat.inode}"
