"""A folder of notes that was moved or renamed keeps its index, and nothing is embedded anew."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vault.catalog import CATALOG_FILE, Catalog
from vault.embedder import Embedder
from vault.indexing.relocate import find_moved_folder, take_over_index
from vault.open_index import take_lock
from vault.vault import Vault

Open = Callable[[Path], Vault]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "old"
    folder.mkdir()
    for number in range(10):
        (folder / f"Note {number}.md").write_text(f"# Note {number}\n\nIt says {number * 7}.\n")
    return folder


@pytest.fixture
def indexes(tmp_path: Path) -> Path:
    return tmp_path / "indexes"


@pytest.fixture
def index_of(indexes: Path, embedder: Embedder) -> Iterator[Open]:
    """Opens the index of a folder, taking over that of one that has moved there."""
    made: list[Vault] = []

    def open_index(folder: Path) -> Vault:
        take_over_index(indexes / folder.name, folder)
        made.append(Vault(folder, indexes / folder.name, (), embedder))
        return made[-1]

    yield open_index
    for index in made:
        index.close()


@pytest.fixture
def indexed(old: Path, index_of: Open) -> Path:
    """The old folder, with an index that nobody has open."""
    index = index_of(old)
    index.update()
    index.close()
    return old


def test_a_renamed_folder_keeps_its_index(indexed: Path, index_of: Open, indexes: Path) -> None:
    new = indexed.rename(indexed.with_name("new"))
    index = index_of(new)
    assert index.search("It says 49", 1).hits[0].path == "Note 7.md"
    report = index.update()
    assert (report.notes, report.embedded_chunks, report.added) == (10, 0, 0)
    assert [folder.name for folder in indexes.iterdir()] == ["new"]


def test_a_folder_on_another_drive_is_known_by_four_fifths_of_its_notes(
    indexed: Path, index_of: Open
) -> None:
    new = indexed.with_name("new")
    shutil.copytree(indexed, new)  # other inodes, as on another drive
    shutil.rmtree(indexed)
    for number in range(2):
        (new / f"Note {number}.md").write_text("Changed meanwhile.\n")
    assert index_of(new).update().embedded_chunks == 2


def test_a_folder_with_other_notes_is_another_one(
    indexed: Path, index_of: Open, indexes: Path
) -> None:
    new = indexed.with_name("new")
    shutil.copytree(indexed, new)
    shutil.rmtree(indexed)
    for number in range(3):
        (new / f"Note {number}.md").write_text(f"Changed {number}.\n")
    assert index_of(new).update().embedded_chunks == 10
    assert sorted(folder.name for folder in indexes.iterdir()) == ["new", "old"]


def test_a_new_folder_with_the_inode_of_a_deleted_one_is_another_one(
    indexed: Path, index_of: Open, indexes: Path
) -> None:
    new = indexed.rename(indexed.with_name("new"))  # has the inode, as one that is made anew may
    for number in range(10):
        (new / f"Note {number}.md").rename(new / f"Recipe {number}.md")
        (new / f"Recipe {number}.md").write_text(f"Bread {number}.\n")
    assert not take_over_index(indexes / "new", new)
    assert index_of(new).update().embedded_chunks == 10
    assert (indexes / "old" / CATALOG_FILE).exists()


def test_a_renamed_folder_whose_notes_were_edited_and_mostly_deleted_keeps_its_index(
    indexed: Path, indexes: Path
) -> None:
    new = indexed.rename(indexed.with_name("new"))
    for number in range(10):
        if number < 2:
            (new / f"Note {number}.md").write_text("Changed meanwhile.\n")
        else:
            (new / f"Note {number}.md").unlink()
    assert take_over_index(indexes / "new", new)


def test_a_copy_has_an_index_of_its_own(indexed: Path, index_of: Open) -> None:
    new = indexed.with_name("new")
    shutil.copytree(indexed, new)
    assert index_of(new).update().embedded_chunks == 10
    assert index_of(indexed).update().embedded_chunks == 0


def test_an_index_that_is_in_use_is_left_where_it_is(indexed: Path, indexes: Path) -> None:
    new = indexed.rename(indexed.with_name("new"))
    with take_lock(indexes / "old"):
        assert not take_over_index(indexes / "new", new)
    assert (indexes / "old" / CATALOG_FILE).exists()
    assert take_over_index(indexes / "new", new)


def test_a_folder_that_has_an_index_takes_no_other(indexed: Path, indexes: Path) -> None:
    assert not take_over_index(indexes / "old", indexed)


def test_a_damaged_index_is_nobodys(indexed: Path, indexes: Path) -> None:
    (indexes / "old" / CATALOG_FILE).write_bytes(b"no database" * 100)
    new = indexed.rename(indexed.with_name("new"))
    assert not take_over_index(indexes / "new", new)


def test_where_a_folder_went_is_known_once_it_was_indexed_there(
    indexed: Path, index_of: Open, indexes: Path
) -> None:
    new = indexed.rename(indexed.with_name("new"))
    assert find_moved_folder(indexed, indexes) is None
    index = index_of(new)
    index.update()
    index.close()
    newest = new.rename(new.with_name("newest"))
    index_of(newest).update()
    assert find_moved_folder(indexed, indexes) == find_moved_folder(new, indexes) == newest
    assert find_moved_folder(newest, indexes) is None
    shutil.rmtree(newest)
    assert find_moved_folder(indexed, indexes) is None


def test_a_folder_that_comes_back_is_known_by_its_old_name(
    indexed: Path, index_of: Open, indexes: Path
) -> None:
    new = indexed.rename(indexed.with_name("new"))
    index = index_of(new)
    index.update()
    index.close()
    assert index_of(new.rename(indexed)).update().embedded_chunks == 0
    catalog = Catalog(indexes / "old" / CATALOG_FILE, is_writable=False)
    assert catalog.meta("folders") == f'["{indexed}", "{new}"]'
    catalog.close()
