import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.vaults.old_catalogs import create_old_catalog
from vault.catalog import Catalog
from vault.embedding.chunking import chunk_note
from vault.embedding.models import DIMENSION, EMBEDDER, MODEL_NAME, PACKAGED
from vault.embedding_versions import choose_vector_table, read_used_model
from vault.errors import IndexUnusable
from vault.migrations import MIGRATIONS, migrate, read_schema_version
from vault.notes.note import parse_note
from vault.records import NEVER_SEEN, NoteState, Records
from vault.scan import FileStat

STAT = FileStat(1, 2, 3, 4)
VECTOR = bytes(4 * DIMENSION)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    made = Catalog(tmp_path / "catalog.db", is_writable=True)
    yield made
    made.close()


def put(catalog: Catalog, path: str, text: str) -> None:
    note, document = parse_note(path, text.encode())
    with catalog.transaction():
        Records(catalog).put_note(STAT, note, chunk_note(note, document))


def found(catalog: Catalog, word: str) -> list[str]:
    rows = catalog.rows(
        "SELECT path FROM words JOIN chunks ON chunks.id = words.rowid"
        " JOIN files ON files.id = file_id WHERE words MATCH ? ORDER BY path",
        (word,),
    )
    return [row[0] for row in rows]


def test_what_was_put_is_read_back(catalog: Catalog) -> None:
    put(catalog, "a/b.md", "---\naliases: [Other]\n---\n# Title\n\nfirst words [[Link]] #tag\n")
    records = Records(catalog)
    row = records.files()["a/b.md"]
    assert (row.stat, row.state) == (STAT, "indexed")
    assert records.counts() == (1, 1)
    assert records.list_states() == [NoteState("a/b.md", "Title", "indexed")]
    assert catalog.rows("SELECT target FROM links") == [("Link",)]
    assert catalog.rows("SELECT tag FROM tags") == [("tag",)]
    for word in ("title", "b", "other", "first"):
        assert found(catalog, word) == ["a/b.md"]


def test_a_removed_note_leaves_nothing_but_its_vectors(catalog: Catalog) -> None:
    put(catalog, "a.md", "# Title\n\nsecret words [[Link]] #tag\n")
    with catalog.transaction():
        Records(catalog).put_state("a.md", NEVER_SEEN, "excluded", "private")
    assert found(catalog, "secret") == []
    for table in ("notes", "chunks", "links", "tags"):
        assert catalog.rows(f"SELECT count(*) FROM {table}") == [(0,)]
    assert Records(catalog).list_by_state("excluded") == (("a.md", "private"),)


def test_a_rename_keeps_passages_and_changes_the_words_of_the_title(catalog: Catalog) -> None:
    put(catalog, "old.md", "some text\n")
    before = catalog.rows("SELECT id, hash FROM chunks")
    note, _ = parse_note("new.md", b"some text\n")
    with catalog.transaction():
        Records(catalog).rename("old.md", STAT, note)
    assert catalog.rows("SELECT id, hash FROM chunks") == before
    assert found(catalog, "new") == ["new.md"]
    assert found(catalog, "old") == []


def test_a_failed_transaction_changes_nothing(catalog: Catalog) -> None:
    put(catalog, "a.md", "text\n")

    def half() -> None:
        with catalog.transaction():
            Records(catalog).remove("a.md")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert found(catalog, "text") == ["a.md"]


def test_equal_texts_wait_for_one_vector(catalog: Catalog) -> None:
    put(catalog, "x/a.md", "# T\n\nsame text\n")
    put(catalog, "y/a.md", "# T\n\nsame text\n")
    put(catalog, "b.md", "a much longer text than the other one is, by far\n")
    waiting = catalog.list_unembedded()
    assert len({note_id for _, _, note_id in waiting}) == 2
    texts = catalog.texts([chunk_id for chunk_id, _, _ in waiting])
    assert len(texts) == 2
    with catalog.transaction():
        catalog.add_vectors([text_hash for text_hash, _ in texts], [VECTOR] * 2)
    assert catalog.list_unembedded() == []
    assert catalog.vector(texts[0][0]) == VECTOR


def test_vectors_without_a_passage_are_dropped(catalog: Catalog) -> None:
    put(catalog, "a.md", "text\n")
    (used,) = [text_hash for text_hash, _ in catalog.texts([catalog.list_unembedded()[0][0]])]
    with catalog.transaction():
        catalog.add_vectors([used, b"unused"], [VECTOR, VECTOR])
        assert catalog.drop_unused_vectors() == 1
    assert catalog.read_vector_hashes() == {used}


def test_readers_see_what_is_committed_while_another_thread_writes(catalog: Catalog) -> None:
    put(catalog, "a.md", "text\n")
    counts: list[int] = []
    with catalog.transaction():
        Records(catalog).remove("a.md")
        reader = threading.Thread(target=lambda: counts.append(Records(catalog).counts()[0]))
        reader.start()
        reader.join(60)
    assert counts == [1]
    assert Records(catalog).counts() == (0, 0)


def test_a_read_only_catalog_reads_and_refuses_to_write(catalog: Catalog) -> None:
    put(catalog, "a.md", "text\n")
    reader = Catalog(catalog.path, is_writable=False)
    try:
        assert found(reader, "text") == ["a.md"]
        with pytest.raises(IndexUnusable, match="reading only"), reader.transaction():
            pass
    finally:
        reader.close()


def test_a_damaged_catalog_is_kept_aside_and_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.write_bytes(b"this is no database" * 1000)
    catalog = Catalog(path, is_writable=True)
    assert Records(catalog).counts() == (0, 0)
    catalog.close()
    assert path.with_name("catalog.db.damaged").read_bytes().startswith(b"this is no database")


def test_a_newer_catalog_is_refused_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(IndexUnusable, match="newer version of Strata"):
        Catalog(path, is_writable=True)


def test_another_chunker_means_reading_again_and_keeping_vectors(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    catalog = Catalog(path, is_writable=True)
    put(catalog, "a.md", "text\n")
    with catalog.transaction():
        catalog.add_vectors([b"hash"], [VECTOR])
        catalog.set_meta("chunker", "0")
    catalog.close()
    catalog = Catalog(path, is_writable=True)
    assert Records(catalog).files() == {}
    assert found(catalog, "text") == []
    assert catalog.read_vector_hashes() == {b"hash"}
    catalog.close()


def test_a_catalog_of_the_first_version_keeps_all_that_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    file = "(1, 'a.md', 1, 2, 3, 4, 'indexed', '', 'version')"
    with create_old_catalog(path, 1) as connection:
        connection.execute("INSERT INTO meta VALUES ('embedder', ?)", (EMBEDDER,))
        connection.execute("INSERT INTO vectors (hash, vector) VALUES (?, ?)", (b"hash", VECTOR))
        connection.execute(f"INSERT INTO files VALUES {file}")
    catalog = Catalog(path, is_writable=True)
    assert catalog.read_vector_hashes() == {b"hash"}
    assert list(Records(catalog).files()) == ["a.md"]
    assert read_used_model(catalog) == (MODEL_NAME, EMBEDDER)
    assert choose_vector_table(catalog, PACKAGED) == "vectors"
    catalog.close()


def test_notes_of_an_older_catalog_get_the_names_that_links_use(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with create_old_catalog(path, 3) as connection:
        for number, aliases in enumerate(('["Tonne", "x/Fass"]', "no list"), start=1):
            file = (number, f"a/Rain {number}.md")
            connection.execute(
                "INSERT INTO files VALUES (?, ?, 1, 2, 3, 4, 'indexed', '', 'version')", file
            )
            connection.execute("INSERT INTO notes VALUES (?, 'Rain', ?)", (number, aliases))
    catalog = Catalog(path, is_writable=True)
    assert Records(catalog).list_names("a/Rain 1.md") == {"rain 1", "tonne", "fass"}
    assert Records(catalog).list_names("a/Rain 2.md") == {"rain 2"}
    catalog.close()


def test_a_moved_note_is_linked_by_its_new_name(catalog: Catalog) -> None:
    put(catalog, "Old.md", "---\naliases: [Alias]\n---\ntext\n")
    note, _ = parse_note("New.md", b"---\naliases: [Alias]\n---\ntext\n")
    with catalog.transaction():
        Records(catalog).rename("Old.md", STAT, note)
    resolver = Records(catalog).resolve_links_among({"old", "new", "alias"}, "/")
    assert [resolver.resolve(name) for name in ("Old", "new", "ALIAS")] == [
        None,
        "New.md",
        "New.md",
    ]


def test_a_closed_catalog_says_so(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "catalog.db", is_writable=True)
    catalog.close()
    with pytest.raises(IndexUnusable, match="closed"):
        catalog.rows("SELECT 1")


def test_migrations_run_once_and_a_failing_one_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    migrate(connection)
    assert read_schema_version(connection) == len(MIGRATIONS)

    def m999_broken(target: sqlite3.Connection) -> None:
        target.execute("CREATE TABLE half (x)")
        target.execute("no such statement")

    monkeypatch.setattr("vault.migrations.MIGRATIONS", (*MIGRATIONS, m999_broken))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection)
    assert read_schema_version(connection) == len(MIGRATIONS)
    assert connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchall() == []
    connection.close()
