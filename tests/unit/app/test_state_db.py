import hashlib
import json
import random
import sqlite3
import stat
import threading
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from app.errors import StorageFailed, describe
from app.migrations import MIGRATIONS
from app.request_images import StoredRequest
from app.state_db import StateDB
from context.envelope import EncodedJson
from resources.system.files import create_empty
from tests.support.vaults.damage import damage_file
from tests.support.vaults.read_only import forbid_writes

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


def test_a_request_may_be_text_already(db: StateDB) -> None:
    body = EncodedJson('{"messages":["ä"]}')
    db.save_request(replace(REQUEST, body=body, wire=EncodedJson('{"model":"m"}')))
    kept = db.request("s1", "t1")
    assert kept == replace(REQUEST, body={"messages": ["ä"]}, wire={"model": "m"})


def draw_image(seed: int, size: int = 90_000) -> str:
    return b64encode(random.Random(seed).randbytes(size)).decode()


def make_request(turn: str, *images: str) -> StoredRequest:
    body = {"messages": [{"type": "image", "data": image} for image in images]}
    wire = {"content": [{"url": f"data:image/png;base64,{image}"} for image in images]}
    return StoredRequest("s1", turn, 1, {"used": 3}, body, wire)


def count_images(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT count(*) FROM image").fetchone()[0])


def test_an_image_of_many_requests_is_stored_once(db: StateDB, file: Path) -> None:
    images = draw_image(1), draw_image(2)
    requests = [make_request(f"t{number}", *images) for number in range(20)]
    for request in requests:
        db.save_request(request)
    assert [db.request("s1", request.turn) for request in requests] == requests
    db.close()
    assert count_images(file) == 2
    assert file.stat().st_size < 3 * 90_000


def test_an_image_goes_with_the_last_request_that_contains_it(db: StateDB, file: Path) -> None:
    first, second = draw_image(1), draw_image(2)
    db.save_request(make_request("t1", first, second))
    db.save_request(make_request("t2", first))
    db.save_request(make_request("t1", second))
    assert count_images(file) == 2
    db.save_request(make_request("t2"))
    assert count_images(file) == 1
    other = replace(make_request("t1", second), session="s2")
    db.save_request(other)
    db.forget_chat("s1")
    assert db.request("s2", "t1") == other
    db.forget_chat("s2")
    assert count_images(file) == 0


def test_text_that_looks_like_a_reference_comes_back_as_it_was(db: StateDB) -> None:
    key = hashlib.sha256(b"x").hexdigest()
    texts = [f"\0{key}\0", f"\\u0000{key}\\u0000", "a" * 9_000, "a b" * 9_000, "/" * 9_000 + "==="]
    request = replace(REQUEST, body={"messages": texts})
    db.save_request(request)
    assert db.request("s1", "t1") == request


def test_a_request_that_was_stored_with_its_image_comes_back(db: StateDB, file: Path) -> None:
    request = make_request("t1", draw_image(1))
    file.parent.mkdir()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for step in MIGRATIONS[:4]:
            step(connection)
        connection.execute("PRAGMA user_version = 4")
        packed = [
            zlib.compress(json.dumps(value).encode())
            for value in (request.report, request.body, request.wire)
        ]
        row = ("s1", "t1", 1, *packed)
        connection.execute("INSERT INTO request VALUES (?, ?, ?, ?, ?, ?)", row)
    assert db.request("s1", "t1") == request


def test_a_report_takes_the_place_of_the_one_before(db: StateDB) -> None:
    db.save_request(REQUEST)
    assert db.save_report("s1", "t1", 1, {"used": 9})
    assert not db.save_report("s1", "t1", 2, {"used": 10})
    assert db.request("s1", "t1") == replace(REQUEST, report={"used": 9})


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
    with pytest.raises(StorageFailed, match="cannot be read or written: file exists"):
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
        assert db.find_chat_info("s1", 1, 1) is None
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


def test_the_bytes_of_a_forgotten_chat_are_gone(db: StateDB, file: Path) -> None:
    secret = "the key is under the mat " * 400
    for text in (secret, f"{secret}, left"):
        db.save_partial("s1", {"content": text})
    assert db.partial("s1") == {"content": f"{secret}, left"}
    other = StateDB(file)  # as another process has it open
    assert other.partial("s2") is None
    db.forget_chat("s1")
    assert db.partial("s1") is None
    contents = [path.read_bytes() for path in file.parent.iterdir()]
    assert not any(b"under the mat" in content for content in contents)
    other.close()


def fill(db: StateDB) -> list[str]:
    """Put something into every table; return the references of results."""
    info = {"session": "s", "title": "Grüße", "created": "", "updated": "", "turns": 1}
    for number in range(8):
        db.save_request(replace(REQUEST, session=f"s{number}"))
        db.save_chat_info(f"s{number}", 1, 2, {**info, "vault": None, "project": None})
        db.save_snapshot(f"s{number}", {"m": {"text": number}})
        db.save_partial(f"s{number}", {"content": "half"})
    return [db.keep_result("tool", f"result {number} " * 50) for number in range(8)]


@pytest.mark.parametrize("seed", range(30))
def test_whatever_bytes_are_damaged_the_database_is_usable(
    db: StateDB, file: Path, seed: int
) -> None:
    refs = fill(db)
    db.close()
    damage_file(file, seed)
    for number, ref in enumerate(refs):
        db.request(f"s{number}", "t1")
        db.list_kept_turns(f"s{number}")
        db.find_chat_info(f"s{number}", 1, 2)
        db.snapshot(f"s{number}")
        db.partial(f"s{number}")
        db.result(ref)
    assert [db.result(ref) for ref in fill(db)][-1] == "result 7 " * 50
    assert db.request("s7", "t1") == replace(REQUEST, session="s7")
    is_aside = bool(list(file.parent.glob("*.damaged*")))
    assert bool(db.take_warning()) is is_aside
    assert db.take_warning() == ""


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE request SET report = x'00'",
        "UPDATE request SET number = 'one'",
        "UPDATE request SET body = 3",
        "UPDATE chat SET info = '{'",
        "UPDATE partial_answer SET entry = '[1'",
        "UPDATE chat SET info = cast(x'ff' AS TEXT)",
        "UPDATE tool_result_blobs SET content = 'no bytes'",
        "DROP TABLE chat",
        "ALTER TABLE request RENAME COLUMN body TO bodz",
        "PRAGMA user_version = -7",
        "PRAGMA user_version = 2000000000",
        "PRAGMA user_version = 1",
    ],
)
def test_what_was_never_written_is_damage(db: StateDB, file: Path, change: str) -> None:
    refs = fill(db)
    db.close()
    connection = sqlite3.connect(file)
    connection.execute(change)
    connection.commit()
    connection.close()
    db.request("s1", "t1")
    db.find_chat_info("s1", 1, 2)
    db.partial("s1")
    db.result(refs[0])
    assert file.with_suffix(".db.damaged").exists()
    assert "Your chats are untouched." in db.take_warning()


def test_several_damaged_databases_are_kept_apart(db: StateDB, file: Path) -> None:
    file.parent.mkdir()
    for number in range(5):
        file.write_bytes(b"no database %d" % number * 100)
        assert db.request("s", "t") is None
        db.close()
    kept = {path.name: path.read_bytes()[12:13] for path in file.parent.glob("*.damaged*")}
    assert kept == {
        "state.db.damaged": b"0",
        "state.db.damaged-2": b"1",
        "state.db.damaged-3": b"4",
    }


def test_another_process_that_has_the_damaged_file_open_takes_the_new_one(file: Path) -> None:
    first, second = StateDB(file), StateDB(file)
    fill(first)
    fill(second)
    first._set_aside(ValueError("damage"))
    first.save_request(REQUEST)
    second._connection.close()  # type: ignore[union-attr]  # as any error of SQLite
    assert second.request("s1", "t1") == REQUEST
    assert len(list(file.parent.glob("*.damaged"))) == 1
    first.close()
    second.close()


def test_a_folder_in_the_place_of_the_database_is_set_aside(db: StateDB, file: Path) -> None:
    (file / "mine").mkdir(parents=True)
    assert db.request("s", "t") is None
    assert file.is_file()
    assert (file.with_name("state.db.damaged") / "mine").is_dir()


@pytest.mark.parametrize("is_new", [False, True])
def test_a_disk_that_is_only_read_is_said_with_a_way_out(
    db: StateDB, file: Path, is_new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_new:
        db.save_request(REQUEST)
        db.close()
    forbid_writes(monkeypatch, file.parent)
    monkeypatch.setattr(db, "_open", partial(open_as_on_a_read_only_disk, file, is_new))
    with pytest.raises(StorageFailed) as failed:
        db.save_request(REQUEST)
    info = describe(failed.value)
    assert info.message == f"{file} cannot be read or written: read-only file system."
    assert "Make its disk writable, and try again." in str(info.hint)


def open_as_on_a_read_only_disk(file: Path, is_new: bool) -> sqlite3.Connection:
    """Fail as SQLite does, or as the file that is to be made first."""
    if is_new:
        create_empty(file)
    raise sqlite3.OperationalError("unable to open database file")
