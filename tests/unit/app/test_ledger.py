import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from app.config.settings import Settings
from app.errors import StorageFailed, TurnFailed, describe
from app.ledger import Ledger
from app.library.open_vault import index_options
from chains.cancel import CancelToken
from chains.errors import LedgerFailed
from chains.ledger import OutgoingCall
from resources.system.line_chain import encode_chain
from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.intruder import Intruder
from tests.support.sessions.turns import ask, result_of
from tests.support.vaults.read_only import forbid_writes
from vault.errors import VectorStoreFailed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ledger.log"


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


def test_a_lock_file_that_cannot_be_opened_is_named(path: Path) -> None:
    lock = path.with_suffix(".lock")
    lock.mkdir(parents=True)
    with pytest.raises(LedgerFailed, match=r"ledger\.lock is a folder"):
        Ledger(path).record(call())
    assert Ledger(path).list_calls() == []
    path.touch()
    with pytest.raises(StorageFailed, match=r"ledger\.lock is a folder"):
        Ledger(path).list_calls()


def test_a_link_in_place_of_the_ledger_refuses_the_call(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerFailed):
        Ledger(path).record(call())
    assert not (tmp_path / "elsewhere").exists()
    path.unlink()
    path.with_suffix(".lock").unlink()
    path.with_suffix(".lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerFailed, match=r"ledger\.lock cannot be"):
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
    assert b"no JSON" in path.with_name("ledger.log.damaged").read_bytes()


def test_a_line_behind_zeros_for_one_that_was_never_written_is_listed(path: Path) -> None:
    Ledger(path).record(call("first"))
    path.write_bytes(b"\0" * 100 + path.read_bytes())
    assert hosts(path) == ["first"]
    assert not path.with_name("ledger.log.damaged").exists()


def test_fields_of_a_wrong_type_are_listed_as_unknown(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(
        '{"id": "a", "host": 3, "bytes_out": "many", "tokens": [], "notes": 5}\n'
        '{"id": "a", "bytes_in": "lots"}\n'
    )
    (listed,) = Ledger(path).list_calls()
    assert (listed["host"], listed["notes"]) == ("3", [])
    assert [listed[key] for key in ("bytes_out", "bytes_in", "tokens")] == [None] * 3


def test_a_line_that_a_crash_cut_off_spoils_no_other(path: Path) -> None:
    Ledger(path).record(call("first"))
    path.write_bytes(path.read_bytes() + b'{"id": "12')
    Ledger(path).record(call("second"))
    assert hosts(path) == ["first", "second"]
    assert not path.with_name("ledger.log.damaged").exists()


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
    assert not path.with_name("ledger.log.damaged").exists()
    assert path.stat().st_size <= 20_000


def test_a_line_that_another_process_adds_at_the_same_moment_breaks_no_chain(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = Ledger(path), Ledger(path)
    here.record(call("first"))
    intruder = Intruder(monkeypatch, lambda: there.record(call("third")))

    def encode_later(*arguments: Any, **options: Any) -> bytes:
        content = encode_chain(*arguments, **options)
        intruder.intrude()
        return content

    monkeypatch.setattr("app.line_file.encode_chain", encode_later)
    here.record(call("second"))
    intruder.finish()
    assert hosts(path) == ["first", "second", "third"]
    assert here.find_breaks() == []


def test_a_ledger_without_calls_lists_nothing(path: Path) -> None:
    assert hosts(path) == []


def test_an_answer_is_listed_with_its_chat_and_its_notes(
    reading: Assistant, server: ModelServer
) -> None:
    result = result_of(ask(reading, "How many litres does the barrel hold?"))
    listed = [call for call in reading.ledger.list_calls() if call["session"]]
    assert [call["session"] for call in listed] == [result.session]
    (call,) = listed
    assert (call["kind"], call["host"], call["turn"]) == ("model", "127.0.0.1", result.turn)
    assert "Watering.md" in call["notes"]
    (sent,) = [one for one in server.received if one.path.endswith("/chat/completions")]
    assert call["bytes_out"] == len(sent.raw)
    assert (call["bytes_in"] > 0, call["tokens"]) == (True, 110)
    others = [call for call in reading.ledger.list_calls() if not call["session"]]
    assert len(others) == len(server.received) - 1  # the server's models and context lengths


def test_no_model_is_called_where_the_ledger_cannot_be_written(
    reading: Assistant, server: ModelServer
) -> None:
    reading.paths.ledger.mkdir(parents=True)
    with pytest.raises(TurnFailed) as failed:
        ask(reading, "How many litres does the barrel hold?")
    assert describe(failed.value).code == "storage"
    assert "could not be recorded, so it was not made" in str(failed.value)
    assert server.received == []


def test_a_compaction_is_listed_too(reading: Assistant, server: ModelServer) -> None:
    server.script(Answer("The garden has a barrel, and its tomatoes ripen in July. " * 20))
    first = result_of(ask(reading, "How many litres does the barrel hold?"))
    result_of(ask(reading, "And the tomatoes?", session=first.session))
    assert first.session is not None
    before = len(reading.ledger.list_calls())
    list(reading.compact(first.session, CancelToken()))
    made = [call for call in reading.ledger.list_calls()[before:] if call["session"]]
    assert [call["session"] for call in made] == [first.session]


def test_a_vector_server_is_listed_and_refused_without_a_record(path: Path, tmp_path: Path) -> None:
    values = Settings.model_validate({"vectorStore.url": "http://127.0.0.1:8000"})
    server = index_options(values, lambda: Ledger(path)).server
    assert server is not None
    assert server.record is not None
    server.record(12)(30)
    (listed,) = Ledger(path).list_calls()
    assert (listed["kind"], listed["host"]) == ("vectorstore", "127.0.0.1")
    assert (listed["bytes_out"], listed["bytes_in"]) == (12, 30)
    refused = index_options(values, lambda: Ledger(tmp_path)).server
    assert refused is not None
    assert refused.record is not None
    with pytest.raises(VectorStoreFailed, match="could not be recorded"):
        refused.record(12)


def test_the_command_line_lists_the_calls(
    reading: Assistant, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ledger"], lambda _: 0) == 0
    assert capsys.readouterr().out == "No call has left Strata yet.\n"
    result_of(ask(reading, "How many litres does the barrel hold?"))
    assert run(["ledger", "--json"], lambda _: 0) == 0
    calls = json.loads(capsys.readouterr().out)["calls"]
    fields = "at, host, kind, session, turn, bytes_out, bytes_in, tokens, notes"
    assert ", ".join(calls[-1]) == fields
    assert run(["ledger"], lambda _: 0) == 0
    shown = capsys.readouterr().out
    assert "  model  127.0.0.1  " in shown
    assert "    Watering.md\n" in shown


@pytest.mark.parametrize("has_lock", [False, True])
def test_a_ledger_on_a_disk_that_is_only_read_is_listed(
    path: Path, has_lock: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ledger(path).record(call())
    if not has_lock:
        path.with_suffix(".lock").unlink()
    with path.open("ab") as file:
        file.write(b'{"id": "cut off')
    before = path.read_bytes()
    forbid_writes(monkeypatch, path.parent)
    assert [one["host"] for one in Ledger(path).list_calls()] == ["api.openai.com"]
    assert path.read_bytes() == before


def test_without_a_ledger_there_are_no_calls_on_a_disk_that_is_only_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_writes(monkeypatch, path.parent.parent)
    assert Ledger(path).list_calls() == []
