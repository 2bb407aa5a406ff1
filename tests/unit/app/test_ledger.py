import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import describe
from app.ledger import Ledger
from chains.errors import LedgerFailed
from chains.ledger import OutgoingCall


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ledger.jsonl"


def call(host: str = "api.openai.com") -> OutgoingCall:
    return OutgoingCall("model", host, 120, "s1", "t1", ("Garden/Roses.md",), 30)


def hosts(path: Path) -> list[str]:
    return [listed["host"] for listed in Ledger(path).list_calls()]


def test_a_call_is_on_disk_before_it_has_a_result(path: Path) -> None:
    record = Ledger(path).record(call())
    (listed,) = Ledger(path).list_calls()
    assert listed.pop("at").endswith("Z")
    assert listed == {
        "host": "api.openai.com",
        "kind": "model",
        "session": "s1",
        "turn": "t1",
        "bytes_out": 120,
        "bytes_in": None,
        "tokens": 30,
        "notes": ["Garden/Roses.md"],
    }
    record.finish(bytes_in=900, tokens=250)
    (listed,) = Ledger(path).list_calls()
    assert (listed["bytes_in"], listed["tokens"]) == (900, 250)


def test_only_the_owner_can_read_the_ledger(path: Path) -> None:
    Ledger(path).record(call())
    assert [file.stat().st_mode & 0o077 for file in (path, path.parent)] == [0, 0]


def test_a_ledger_that_cannot_be_written_refuses_the_call(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(LedgerFailed, match=r"api\.openai\.com could not be recorded") as failed:
        Ledger(path).record(call())
    assert describe(failed.value).code == "storage"


def test_a_link_in_place_of_the_ledger_refuses_the_call(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerFailed):
        Ledger(path).record(call())
    assert not (tmp_path / "elsewhere").exists()


def test_the_ledger_keeps_the_newest_calls_within_its_size(path: Path) -> None:
    ledger = Ledger(path, max_bytes=4_000)
    for number in range(60):
        ledger.record(call(f"host{number}")).finish(1)
        assert path.stat().st_size <= 4_000
    assert hosts(path)[-1] == "host59"
    assert 5 < len(hosts(path)) < 60
    assert path.stat().st_mode & 0o077 == 0


def test_a_damaged_ledger_is_set_aside_and_its_good_lines_are_kept(path: Path) -> None:
    Ledger(path).record(call("first"))
    good = path.read_bytes()
    path.write_bytes(b"\xff\xfe no JSON\n" + good + b"[1]\n")
    Ledger(path).record(call("second"))
    assert hosts(path) == ["first", "second"]
    assert b"no JSON" in path.with_name("ledger.jsonl.damaged").read_bytes()


def test_a_line_that_a_crash_cut_off_spoils_no_other(path: Path) -> None:
    Ledger(path).record(call("first"))
    path.write_bytes(path.read_bytes() + b'{"id": "12')
    Ledger(path).record(call("second"))
    assert hosts(path) == ["first", "second"]
    assert not path.with_name("ledger.jsonl.damaged").exists()


def test_several_processes_write_whole_lines(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from app.ledger import Ledger;"
        "from chains.ledger import OutgoingCall;"
        "ledger = Ledger(Path(sys.argv[1]), max_bytes=20_000);"
        "[ledger.record(OutgoingCall('web', sys.argv[2], 1)).finish(2) for _ in range(40)]"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(path), f"host{number}"])
        for number in range(3)
    ]
    assert [one.wait(120) for one in running] == [0, 0, 0]
    for line in path.read_text("ascii").splitlines():
        json.loads(line)
    assert not path.with_name("ledger.jsonl.damaged").exists()
    assert path.stat().st_size <= 20_000


def test_a_ledger_without_calls_lists_nothing(path: Path) -> None:
    assert hosts(path) == []
