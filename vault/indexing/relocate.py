"""Find the index of a folder that was moved or renamed, and use it again.

Each catalog stores the current and former paths of its folder of notes, and the folder's device and
inode number. An existing index is used for a new folder if the index's own folder no longer exists,
and had mostly the same notes, or the same inode number and some of the same notes. Comparing the
notes detects moves to another drive, and new folders that got the inode number of a deleted one.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from resources.system.calls import remove_folder, rename_path
from vault.catalog import CATALOG_FILE, Catalog, Row
from vault.errors import IndexBusy, IndexUnusable, NoteUnreadable, UnsafePath, VaultMissing
from vault.notes.note import read_bytes
from vault.open_index import take_lock
from vault.scan import FileStat, check_folder

__all__ = [
    "find_moved_folder",
    "is_same_folder",
    "list_folders",
    "remember_folder",
    "require_folder",
    "take_over_index",
]

_FOLDERS: Final = "folders"
_ROOT: Final = "root"
_SAME_SHARE: Final = 0.8
_KNOWN_SHARE: Final = 0.2  # of the notes of a folder with the same inode number
_COMPARED: Final = 200


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


def take_over_index(
    index_dir: Path, root: Path, before: Callable[[Path], object] = lambda _former: None
) -> bool:
    """Find the index of a folder that was moved to a new path, and move the index as well.

    Args:
        index_dir: the path to move the index to, in the folder that contains all indexes.
        root: the new path of the folder of notes, which has no index yet.
        before: called with the former path of the folder, before the index is moved.

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
            before(list_folders(found)[0])
            catalog = Catalog(found / CATALOG_FILE, is_writable=True)
            with closing(catalog), catalog.transaction():
                remember_folder(catalog, root, check_folder(root))
            rename_path(found, index_dir)
    except (IndexBusy, IndexUnusable, OSError):
        return False
    return True


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
    stat, alike = check_folder(root), None
    for index_dir, catalog in others:
        folders = _read_folders(catalog)
        if not folders or os.path.lexists(folders[0]):
            continue
        if catalog.meta(_ROOT) == _format_id(stat) and _has_known_notes(catalog, root):
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
