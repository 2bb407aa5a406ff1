"""An index whose catalog was damaged, in whatever way: it is made anew, and nothing fails."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.vaults.damage import damage_file
from vault.database_file import set_aside
from vault.embedder import Embedder
from vault.errors import IndexDamaged
from vault.open_index import INDEX_DAMAGED
from vault.vault import Vault

NOTES = {
    "rain.md": "---\ntags: [weather]\naliases: [Wet]\n---\n# Rain\n\nSee [[fees]].\n",
    "fees.md": "# Fees\n\n## Late\n\nA burned fee is lost. #money\n",
    **{f"n{n}.md": f"# Note {n}\n\nWords of note {n}, see [[rain]].\n" for n in range(12)},
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> tuple[Path, Path]:
    """A folder of notes and its index, which is only copied."""
    root = tmp_path_factory.mktemp("indexed")
    (root / "notes").mkdir()
    for path, text in NOTES.items():
        (root / "notes" / path).write_text(text)
    index = Vault(root / "notes", root / "index", (), embedder)
    index.update()
    index.close()
    return root / "notes", root / "index"


@pytest.fixture
def catalog(indexed: tuple[Path, Path], tmp_path: Path) -> Path:
    """A catalog of one's own."""
    shutil.copytree(indexed[1], tmp_path / "index")
    return tmp_path / "index" / "catalog.db"


@pytest.fixture
def open_index(
    indexed: tuple[Path, Path], catalog: Path, embedder: Embedder
) -> Iterator[Callable[[], Vault]]:
    made: list[Vault] = []

    def make() -> Vault:
        made.append(Vault(indexed[0], catalog.parent, (), embedder))
        return made[-1]

    yield make
    for index in made:
        index.close()


def use(index: Vault) -> None:
    """Ask everything that can be asked."""
    index.search("rain fee tag:#weather")
    index.search("burned fee", 20)
    index.excerpts("rain")
    index.list_notes("note", 10)
    index.find_related("rain.md")
    index.notes()
    index.tags()
    index.status()
    index.filter_allowed(["rain.md", "fees.md"])


@pytest.mark.parametrize("seed", range(30))
def test_whatever_bytes_are_damaged_the_notes_are_found_again(
    open_index: Callable[[], Vault], catalog: Path, seed: int
) -> None:
    damage_file(catalog, seed)
    index = open_index()
    if seed % 2:
        use(index)
    index.update()
    use(index)
    if index.is_mending:
        index.update()
    found = {hit.path for hit in index.search("burned fee").hits}
    is_aside = bool(list(catalog.parent.glob("*.damaged*")))
    assert "fees.md" in found or not is_aside


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE chunks SET heading = '{'",
        "UPDATE chunks SET text = cast(x'ff' AS TEXT)",
        "UPDATE chunks SET first_line = 'one'",
        "UPDATE notes SET aliases = '[1]'",
        "UPDATE files SET path = x'ff' WHERE id = 3",
        "UPDATE vectors SET vector = x'00' WHERE id = 3",
        "UPDATE vectors SET vector = 7",
        "ALTER TABLE notes RENAME COLUMN title TO titel",
        "DROP TABLE words",
        "PRAGMA user_version = -1",
        "PRAGMA user_version = 2000000000",
    ],
)
@pytest.mark.parametrize("is_searched_first", [True, False])
def test_what_was_never_written_is_damage(
    open_index: Callable[[], Vault], catalog: Path, change: str, is_searched_first: bool
) -> None:
    connection = sqlite3.connect(catalog)
    connection.execute(change)
    connection.commit()
    connection.close()
    index = open_index()
    if is_searched_first:
        use(index)
    index.update()
    use(index)
    if index.is_mending:
        index.update()
    assert index.search("burned fee").hits[0].path == "fees.md"
    assert len(list(catalog.parent.glob("*.damaged"))) == 1


def test_a_version_that_the_schema_belies_is_damage(
    open_index: Callable[[], Vault], catalog: Path
) -> None:
    connection = sqlite3.connect(catalog)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    index = open_index()
    index.update()
    assert index.search("burned fee").hits[0].path == "fees.md"
    assert catalog.with_name("catalog.db.damaged").exists()


def test_damage_that_a_search_finds_is_told_once_and_then_mended(
    open_index: Callable[[], Vault], catalog: Path
) -> None:
    damaged = b"no database" * 900
    catalog.write_bytes(damaged)
    index = open_index()
    result = index.search("burned fee")
    assert (result.hits, result.warnings) == ((), (INDEX_DAMAGED,))
    assert index.search("burned fee").warnings == ()
    assert index.status().was_damaged
    assert catalog.with_name("catalog.db.damaged").read_bytes() == damaged
    index.update()
    assert not index.status().was_damaged
    assert index.search("burned fee").hits[0].path == "fees.md"


def test_a_watched_index_that_turns_out_to_be_damaged_is_made_anew_at_once(
    open_index: Callable[[], Vault], catalog: Path, until: Callable[..., None]
) -> None:
    index = open_index()
    index.update()
    index.watch()
    content = catalog.read_bytes()
    catalog.with_name("catalog.db-wal").unlink(missing_ok=True)
    catalog.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    assert INDEX_DAMAGED in index.search("burned fee").warnings
    until(lambda: bool(index.search("burned fee").hits))


def test_who_only_reads_leaves_a_damaged_index_to_its_owner(
    open_index: Callable[[], Vault], catalog: Path
) -> None:
    owner = open_index()
    owner.update()
    catalog.write_bytes(b"no database" * 900)
    with pytest.raises(IndexDamaged, match="another Strata has it open"):
        open_index().search("burned fee")
    assert not list(catalog.parent.glob("*.damaged*"))


def test_a_folder_in_the_place_of_the_catalog_is_set_aside(
    open_index: Callable[[], Vault], catalog: Path
) -> None:
    catalog.unlink()
    (catalog / "mine").mkdir(parents=True)
    open_index().update()
    assert catalog.is_file()
    assert (catalog.with_name("catalog.db.damaged") / "mine").is_dir()


@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
@pytest.mark.parametrize("end", ["-wal", "-journal"])
def test_a_folder_beside_a_catalog_without_content_is_set_aside(
    open_index: Callable[[], Vault], catalog: Path, end: str, content: bytes | None
) -> None:
    catalog.unlink()
    if content is not None:
        catalog.write_bytes(content)
    place = catalog.with_name(f"catalog.db{end}")
    place.unlink(missing_ok=True)
    (place / "mine").mkdir(parents=True)
    index = open_index()
    index.update()
    assert index.search("burned fee").hits
    assert (catalog.with_name(f"catalog.db.damaged{end}") / "mine").is_dir()


@pytest.mark.parametrize("has_log", [True, False])
def test_an_older_damaged_catalog_is_replaced_with_all_its_files(
    tmp_path: Path, has_log: bool
) -> None:
    catalog = tmp_path / "catalog.db"
    for number in ("", "-2", "-3"):
        for end in ("", "-wal", "-shm", "-journal"):
            catalog.with_name(f"catalog.db.damaged{number}{end}").write_text("old")
    catalog.write_text("new")
    if has_log:
        catalog.with_name("catalog.db-wal").write_text("new")
    assert set_aside(catalog).name == "catalog.db.damaged-3"
    third = {path.name: path.read_text() for path in tmp_path.glob("*-3*")}
    log = {"catalog.db.damaged-3-wal": "new"} if has_log else {}
    assert third == {"catalog.db.damaged-3": "new", **log}


def test_without_a_file_to_set_aside_the_older_ones_are_kept(tmp_path: Path) -> None:
    for number in ("", "-2", "-3"):
        (tmp_path / f"catalog.db.damaged{number}").write_text("old")
    set_aside(tmp_path / "catalog.db")
    assert len(list(tmp_path.iterdir())) == 3
