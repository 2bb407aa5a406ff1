import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import StorageFailed
from app.migrations import MIGRATIONS
from app.state_db import StateDB, StoredRequest

REQUEST = StoredRequest("s1", "t1", 1, {"used": 3}, {"messages": ["ä\ud83e"]}, None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


@pytest.fixture
def db(file: Path) -> Iterator[StateDB]:
    db = StateDB(file)
    yield db
    db.close()


def test_a_request_comes_back_as_it_was(db: StateDB) -> None:
    db.save_request(REQUEST)
    db.close()
    assert db.request("s1", "t1") == REQUEST


def test_what_was_not_kept_is_none(db: StateDB) -> None:
    assert db.request("s1", "t1") is None


def test_the_last_request_of_a_turn_takes_the_place_of_the_one_before(db: StateDB) -> None:
    db.save_request(REQUEST)
    later = StoredRequest("s1", "t1", 2, {"used": 4}, {"messages": []}, {"model": "m"})
    db.save_request(later)
    assert db.request("s1", "t1") == later


def test_the_database_is_for_its_owner_alone(db: StateDB, file: Path) -> None:
    db.save_request(REQUEST)
    assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "damage", [b"this is no database" * 100, b"SQLite format 3\x00" + b"x" * 900]
)
def test_a_damaged_database_is_set_aside_and_begun_anew(
    db: StateDB, file: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file.parent.mkdir()
    file.write_bytes(damage)
    db.save_request(REQUEST)
    assert db.request("s1", "t1") == REQUEST
    assert file.with_suffix(".db.damaged").read_bytes() == damage
    assert "begun anew" in caplog.text


def test_damage_that_shows_later_loses_only_what_can_be_made_again(db: StateDB, file: Path) -> None:
    db.save_request(REQUEST)
    db.close()
    content = bytearray(file.read_bytes())
    content[100:] = b"\xff" * (len(content) - 100)
    file.write_bytes(bytes(content))
    assert db.request("s1", "t1") is None
    db.save_request(REQUEST)
    assert db.request("s1", "t1") == REQUEST


def test_a_place_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageFailed, match="cannot be used"):
        StateDB(tmp_path / "file" / "state.db").request("s", "t")


def test_every_step_leads_from_an_older_form_to_the_present(file: Path) -> None:
    file.parent.mkdir()
    for done in range(len(MIGRATIONS) + 1):
        file.unlink(missing_ok=True)
        connection = sqlite3.connect(file, isolation_level=None)
        for step in MIGRATIONS[:done]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {done}")
        connection.close()
        db = StateDB(file)
        db.save_request(REQUEST)
        assert db.chat_info("s1", 1, 1) is None
        db.close()


def test_two_processes_may_begin_at_once(file: Path) -> None:
    results: list[StoredRequest | None] = []

    def begin() -> None:
        db = StateDB(file)
        db.save_request(REQUEST)
        results.append(db.request("s1", "t1"))
        db.close()

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [REQUEST] * 8
