import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from vault.catalog import CATALOG_FILE, Catalog
from vault.embedder import Embedder
from vault.errors import IndexBusy, IndexUnusable, VaultError
from vault.indexing.progress import IndexProgress
from vault.indexing.status import IndexStatus
from vault.migrations import MIGRATIONS
from vault.scope import Scope
from vault.vault import Vault

Write = Callable[[str, str | bytes], Path]
MakeIndex = Callable[..., Vault]
Until = Callable[[Callable[[], bool]], None]


@pytest.fixture
def notes(write: Write) -> Path:
    write("a.md", "# Rain\n\nThe barrel holds rain.\n")
    return write("b.md", "# Fees\n\nThe base fee is burned.\n").parent


def test_before_the_first_update_there_is_nothing_and_nothing_is_made(
    make_index: MakeIndex, notes: Path, tmp_path: Path
) -> None:
    index = make_index(notes)
    assert index.search("rain").hits == ()
    assert (index.note_count, index.indexed_at, index.notes()) == (0, None, ())
    assert not (tmp_path / "index").exists()


def test_one_owner_updates_and_everybody_else_searches(make_index: MakeIndex, notes: Path) -> None:
    owner, second = make_index(notes), make_index(notes)
    owner.update()
    with pytest.raises(IndexBusy, match="Another Strata"):
        second.update()
    assert second.search("rain").hits[0].path == "a.md"
    owner.close()
    assert second.update().notes == 2
    assert second.search("burned fee").hits[0].path == "b.md"


def set_back(index_dir: Path) -> None:
    """Let an earlier version of Strata have made an index: its last migration is not done."""
    with closing(sqlite3.connect(index_dir / CATALOG_FILE)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) - 1}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_an_index_of_an_earlier_version_is_searched_at_once(
    make_index: MakeIndex, notes: Path, tmp_path: Path
) -> None:
    with closing(make_index(notes)) as owner:
        owner.update()
    set_back(tmp_path / "index")
    assert make_index(notes).search("rain").hits[0].path == "a.md"


def test_an_index_of_an_earlier_version_is_not_changed_below_its_owner(
    make_index: MakeIndex, notes: Path, tmp_path: Path
) -> None:
    make_index(notes).update()
    set_back(tmp_path / "index")
    with pytest.raises(IndexUnusable, match="another version of Strata"):
        make_index(notes).search("rain")


@pytest.mark.parametrize("pattern", ["a.md", "*.md", "kept out/"])
def test_a_note_excluded_since_the_last_update_is_not_found(
    make_index: MakeIndex, write: Write, pattern: str
) -> None:
    write("a.md", "# Rain\n\nThe barrel holds rain.\n")
    root = write("kept out/deep/c.md", "# Snow\n\nSnow is a slow rain.\n").parents[2]
    make_index(root).update()
    before = {hit.path for hit in make_index(root).search("rain").hits}
    assert before == {"a.md", "kept out/deep/c.md"}
    after = {hit.path for hit in make_index(root, exclude=[pattern]).search("rain").hits}
    out = {"a.md": {"a.md"}, "*.md": before, "kept out/": {"kept out/deep/c.md"}}
    assert after == before - out[pattern]


def test_a_reader_sees_what_the_owner_adds(
    make_index: MakeIndex, notes: Path, write: Write
) -> None:
    owner, reader = make_index(notes), make_index(notes)
    owner.update()
    assert reader.search("zebra crossing", 1).hits[0].path != "c.md"
    write("c.md", "# Zebra\n\nA zebra crossing.\n")
    owner.update()
    assert reader.search("zebra crossing", 1).hits[0].path == "c.md"


def test_a_model_is_loaded_before_a_search_only_where_something_was_embedded(
    make_index: MakeIndex, notes: Path, tmp_path: Path
) -> None:
    own = Embedder()
    index = Vault(notes, tmp_path / "index", (), own)
    try:
        index.load_model()
        assert own.pid is None
        make_index(notes).update()
        index.load_model()
        assert own.pid is not None
    finally:
        index.close()
        own.close()


def test_chroma_is_started_by_a_search_and_not_waited_for(
    embedder: Embedder, notes: Path, tmp_path: Path, until: Until
) -> None:
    before = Vault(notes, tmp_path / "index", (), embedder)
    before.update()
    before.close()
    index = Vault(notes, tmp_path / "index", (), embedder)
    try:
        index.update()
        store = index._handle.store
        assert store is not None
        assert store.pid is None
        assert index.search("rain").hits[0].path == "a.md"
        until(lambda: store.is_ready)
        assert index.search("rain").hits[0].path == "a.md"
    finally:
        index.close()


@pytest.mark.parametrize("is_many", [False, True])
def test_chroma_is_asked_where_it_is_quicker_than_a_scan(
    make_index: MakeIndex, notes: Path, until: Until, monkeypatch: pytest.MonkeyPatch, is_many: bool
) -> None:
    index = make_index(notes)
    index.update()
    store = index._handle.store
    assert store is not None
    index.search("rain")
    until(lambda: store.is_ready)
    if is_many:
        monkeypatch.setattr("vault.open_index._FEW_VECTORS", 1)
    asked: list[int] = []
    query = store.query
    monkeypatch.setattr(store, "query", lambda vector, k: asked.append(k) or query(vector, k))
    assert index.search("rain").hits[0].path == "a.md"
    assert bool(asked) == is_many


def test_search_goes_on_while_an_update_runs(
    make_index: MakeIndex, notes: Path, write: Write
) -> None:
    for number in range(150):
        write(f"n{number}.md", f"Note {number} about the number {number * 7}.\n")
    index = make_index(notes)
    found: list[int] = []
    started = threading.Event()

    def ask() -> None:
        started.wait(60)
        found.append(len(index.search("rain barrel").hits))

    asking = threading.Thread(target=ask)
    asking.start()
    index.update(lambda p: started.set() if p.phase == "embed" and p.done else None)
    asking.join()
    assert found[0] > 0


def test_the_states_of_all_notes_are_listed(
    make_index: MakeIndex, notes: Path, write: Write
) -> None:
    write("c.md", b"\xff\xff")
    write("d.md", "x #private\n")
    index = make_index(notes)
    index.update()
    assert [(note.path, note.title, note.state) for note in index.notes()] == [
        ("a.md", "Rain", "indexed"),
        ("b.md", "Fees", "indexed"),
        ("c.md", "", "failed"),
        ("d.md", "", "excluded"),
    ]
    assert index.note_count == 2
    assert index.indexed_at is not None
    assert index.indexed_at.endswith("Z")


def test_the_tags_are_listed_with_their_notes(make_index: MakeIndex, write: Write) -> None:
    write("a.md", "---\ntags: [Water]\n---\n# Rain\n\nIt rains #water/rain here.\n")
    root = write("b.md", "# Fees\n\n#Water\n").parent
    index = make_index(root)
    index.update()
    assert index.tags() == {"Water": ("a.md", "b.md"), "water/rain": ("a.md",)}


def test_health_tries_every_part(make_index: MakeIndex, notes: Path, tmp_path: Path) -> None:
    index = make_index(notes)
    index.update()
    checks = {name: (ok, detail) for name, ok, detail in index.health()}
    assert [ok for ok, _ in checks.values()] == [True] * 5
    assert checks["catalog"][1].startswith("2 notes in 2 passages")
    assert "all-MiniLM-L6-v2" in checks["embedding model"][1]
    assert checks["vector store"][1].startswith("2 vectors")
    missing = make_index(tmp_path / "nowhere", name="other")
    assert [ok for _, ok, _ in missing.health()] == [False, True, True, True, True]


def test_a_closed_index_says_so(make_index: MakeIndex, notes: Path) -> None:
    index = make_index(notes)
    index.update()
    index.close()
    index.close()
    with pytest.raises(IndexUnusable, match="closed"):
        index.search("rain")
    with pytest.raises(IndexUnusable, match="closed"):
        index.update()


def test_closing_during_an_update_ends_it_with_an_error_of_ours(
    notes: Path, write: Write, tmp_path: Path
) -> None:
    for number in range(60):
        write(f"n{number}.md", f"Note {number}.\n")
    index = Vault(notes, tmp_path / "index")
    errors: list[Exception] = []
    reading = threading.Event()

    def run() -> None:
        try:
            index.update(lambda p: reading.set() if p.phase == "embed" else None)
        except VaultError as error:
            errors.append(error)

    running = threading.Thread(target=run)
    running.start()
    reading.wait(60)
    index.close()
    running.join(60)
    assert len(errors) == 1


def test_an_index_folder_that_cannot_be_written_says_so(
    make_index: MakeIndex, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "index").write_text("a file in the way")
    with pytest.raises(IndexUnusable, match="cannot be written"):
        make_index(notes).update()


def test_the_index_is_for_its_owner_alone(
    make_index: MakeIndex, notes: Path, tmp_path: Path
) -> None:
    make_index(notes).update()
    folder = tmp_path / "index"
    assert folder.stat().st_mode & 0o077 == 0
    assert not any(path.stat().st_mode & 0o077 for path in folder.rglob("*"))


def test_nothing_is_written_into_the_vault(make_index: MakeIndex, notes: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in [notes, *notes.rglob("*")]}
    index = make_index(notes)
    index.update()
    index.search("rain")
    assert {path: path.stat().st_mtime_ns for path in [notes, *notes.rglob("*")]} == before


def test_a_vaults_own_modules_are_never_imported(
    make_index: MakeIndex, notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("chromadb", "numpy", "vault"):
        write(f"{name}.py", "raise SystemExit('imported from the vault')")
    monkeypatch.chdir(notes)
    index = make_index(notes)
    assert index.update().embedded_chunks == 2
    assert ("vector store", True) in [(name, ok) for name, ok, _ in index.health()]


PROGRAM = """
import sys
from pathlib import Path
from vault.vault import Vault

index = Vault(Path(sys.argv[1]), Path(sys.argv[2]))

def tell(progress):
    store = index._handle.store
    print(progress.phase, progress.done, index._embedders.pids[0], store and store.pid,
          not {"torch", "chromadb"} & sys.modules.keys(), flush=True)

index.update(tell)
"""


def test_a_killed_program_loses_nothing_that_was_committed(
    make_index: MakeIndex, notes: Path, write: Write, tmp_path: Path, until: Until
) -> None:
    for number in range(200):
        write(f"n{number}.md", f"Note {number} about the number {number * 7}.\n")
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(notes), str(tmp_path / "index")],
        stdout=subprocess.PIPE,
        text=True,
    )
    children: list[int] = []
    with program:
        assert program.stdout is not None
        for line in program.stdout:
            phase, done, embedder, store, is_light = line.split()
            assert is_light == "True"
            if phase == "embed" and int(done) >= 32:
                children = [int(embedder), int(store)]
                program.send_signal(signal.SIGKILL)
                break
    until(lambda: not any(_is_running(pid) for pid in children))
    catalog = Catalog(tmp_path / "index" / "catalog.db", is_writable=False)
    committed = len(catalog.read_vector_hashes())
    catalog.close()
    assert committed >= 32
    index = make_index(notes)
    report = index.update()
    assert report.embedded_chunks == 202 - committed
    assert (report.added, report.notes) == (0, 202)
    assert index.search("rain barrel").hits[0].path == "a.md"


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def test_a_paused_update_says_so_and_goes_on_where_it_stood(
    make_index: MakeIndex, write: Write
) -> None:
    for number in range(40):
        root = write(f"n{number}.md", f"Note {number}.\n").parent
    index = make_index(root)
    index.throttle.pause()
    told: list[IndexProgress] = []

    def tell(progress: IndexProgress) -> None:
        told.append(progress)
        if progress.throttle == "paused":
            index.throttle.resume()

    report = index.update(tell)
    assert (report.is_complete, report.embedded_chunks) == (True, 40)
    assert {progress.throttle for progress in told} == {"", "paused"}
    assert told[-1].throttle == ""


def test_a_paused_update_can_be_cancelled(make_index: MakeIndex, notes: Path) -> None:
    index = make_index(notes)
    index.throttle.pause()
    is_cancelled = threading.Event()

    def told(progress: IndexProgress) -> None:
        if progress.throttle == "paused":
            is_cancelled.set()

    assert not index.update(told, is_cancelled.is_set).is_complete


def test_closing_ends_a_paused_update(notes: Path, tmp_path: Path) -> None:
    index = Vault(notes, tmp_path / "index")
    index.throttle.pause()
    is_paused, errors = threading.Event(), []

    def told(progress: IndexProgress) -> None:
        if progress.throttle == "paused":
            is_paused.set()

    def run() -> None:
        try:
            index.update(told)
        except VaultError as error:
            errors.append(error)

    running = threading.Thread(target=run)
    running.start()
    assert is_paused.wait(60)
    index.close()
    running.join(60)
    assert not running.is_alive()


def test_the_status_tells_what_there_is_and_what_is_left_out(
    make_index: MakeIndex, notes: Path, write: Write
) -> None:
    write("c.md", b"\xff\xff")
    write("d.md", "x #private\n")
    index = make_index(notes)
    assert index.status() == IndexStatus(embedder="all-MiniLM-L6-v2")
    index.update()
    status = index.status()
    assert (status.notes, status.chunks, status.owner) == (2, 2, True)
    assert status.indexed_at == index.indexed_at
    assert [path for path, _ in status.failed] == ["c.md"]
    assert [path for path, _ in status.excluded] == ["d.md"]
    assert status.size_bytes > 100_000
    assert make_index(notes).status().owner is False


def test_a_failed_note_is_looked_at_again_when_it_is_asked_for(
    make_index: MakeIndex, notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("c.md", "d.md"):
        write(name, b"\xff\xff")
    index = make_index(notes)
    index.update()
    read: list[str] = []

    def reading(root: Path, path: str) -> bytes:
        read.append(path)
        return b"Mended.\n"

    monkeypatch.setattr("vault.indexing.indexer.read_bytes", reading)
    assert index.update().notes == 2
    index.retry(["c.md"])
    assert index.update().notes == 3
    index.retry()
    assert index.update().notes == 4
    assert read == ["c.md", "d.md"]


def test_rebuilding_throws_all_away_and_the_next_update_makes_it_again(
    make_index: MakeIndex, notes: Path
) -> None:
    index = make_index(notes)
    index.update()
    assert ("vector store", True) in [(name, ok) for name, ok, _ in index.health()]
    index.rebuild()
    assert (index.status().chunks, index.search("rain").hits) == (0, ())
    report = index.update()
    assert (report.added, report.embedded_chunks) == (2, 2)
    assert index.search("burned fee").hits[0].path == "b.md"
    assert {name: detail for name, _, detail in index.health()}["vector store"].startswith("2 ")


def test_rebuilding_ends_an_update_that_stands_still(make_index: MakeIndex, notes: Path) -> None:
    index = make_index(notes)
    index.throttle.pause()
    is_paused, reports = threading.Event(), []

    def told(progress: IndexProgress) -> None:
        if progress.throttle == "paused":
            is_paused.set()

    running = threading.Thread(target=lambda: reports.append(index.update(told)))
    running.start()
    assert is_paused.wait(60)
    index.rebuild()
    running.join(60)
    assert [report.is_complete for report in reports] == [False]


def test_only_the_owner_may_rebuild_or_retry(make_index: MakeIndex, notes: Path) -> None:
    owner, second = make_index(notes), make_index(notes)
    owner.update()
    for act in (second.rebuild, second.retry):
        with pytest.raises(IndexBusy):
            act()
    assert owner.search("rain").hits


def test_a_damaged_index_says_so_until_it_is_made_anew(
    make_index: MakeIndex, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "catalog.db").write_bytes(b"no database" * 900)
    index = make_index(notes)
    seen: list[bool] = []
    index.update(lambda _progress: seen.append(index.status().was_damaged))
    assert seen[0] is True
    assert index.status().was_damaged is False
    assert index.search("rain").hits[0].path == "a.md"


def test_an_update_that_waits_for_another_can_be_cancelled(
    make_index: MakeIndex, notes: Path
) -> None:
    index = make_index(notes)
    index.update()
    index.throttle.pause()
    is_paused, is_over = threading.Event(), threading.Event()

    def told(progress: IndexProgress) -> None:
        if progress.throttle == "paused":
            is_paused.set()

    running = threading.Thread(target=index.update, args=(told, is_over.is_set))
    running.start()
    assert is_paused.wait(60)
    report = index.update(is_cancelled=lambda: True)
    assert (report.is_complete, report.notes) == (False, 2)
    is_over.set()
    running.join(60)


def test_a_note_of_one_line_is_indexed_and_found(make_index: MakeIndex, write: Write) -> None:
    line = " ".join(f"word{number}" for number in range(40_000))
    index = make_index(write("line.md", f"{line} zebra {line}").parent)
    report = index.update(is_cancelled=lambda: index.note_count == 1)  # embedding takes long
    assert report.notes == 1
    hit = index.search("zebra").hits[0]
    assert "zebra" in hit.text
    assert hit.lines == (1, 1)


def test_a_search_builds_nothing_that_only_updates_and_questions_need(
    make_index: MakeIndex, notes: Path
) -> None:
    first = make_index(notes)
    first.update()
    first.close()
    index = make_index(notes)
    limited = index.limit(Scope("", ("a.md",)))
    assert index.search("rain").hits
    assert index.read_question("rain") is None
    parts = {"throttle", "updates", "idle", "names", "reranker"}
    assert not parts & vars(index._parts).keys()
    assert limited.throttle is index.throttle
    assert limited.updates is index.updates
