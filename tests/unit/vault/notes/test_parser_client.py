import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.vaults.documents import docx, paragraph, pdf
from tests.support.vaults.hostile_files import HOSTILE
from vault.errors import ReadingFailed
from vault.notes import parser_client as foreign
from vault.notes.kinds import DOCX, HTML, PDF, find_kind
from vault.notes.parser_client import ParserClient
from vault.notes.readers.extract import ExtractPart
from vault.workers.process import Child


@pytest.fixture
def reader() -> Iterator[ParserClient]:
    with ParserClient() as made:
        yield made


def test_files_of_all_kinds_are_read_by_one_process(reader: ParserClient) -> None:
    assert reader.read(PDF, pdf(["a"], title="T")).aliases == ("T",)
    first = reader.pid
    assert reader.read(HTML, b"<title>t</title><p>b").title == "t"
    assert reader.read(DOCX, docx(paragraph("c"))).parts == (ExtractPart("paragraph", "c"),)
    assert reader.pid == first


def test_a_failure_comes_back_with_its_reason_and_the_next_file_is_read(
    reader: ParserClient,
) -> None:
    with pytest.raises(ReadingFailed, match="protected by a password"):
        reader.read(PDF, pdf(["a"], is_encrypted=True))
    assert reader.read(PDF, pdf(["a"])).is_paged


def test_a_file_whose_reader_is_killed_from_outside_is_read_once_more(
    reader: ParserClient,
) -> None:
    reader.read(HTML, b"<p>x")
    victim = reader.pid
    assert victim is not None
    os.kill(victim, signal.SIGSTOP)
    killer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
    killer.start()
    assert reader.read(HTML, b"<p>y").parts == (ExtractPart("paragraph", "y"),)
    killer.join()
    assert reader.pid != victim


def test_a_file_whose_reader_is_killed_each_time_is_one_failure(
    reader: ParserClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Doomed(Child):
        def submit(self, *arguments: Any, **options: Any) -> int:
            os.kill(self.pid, signal.SIGSTOP)
            number = super().submit(*arguments, **options)
            os.kill(self.pid, signal.SIGKILL)
            return number

    with monkeypatch.context() as patch:
        patch.setattr(foreign, "Child", Doomed)
        with pytest.raises(ReadingFailed, match="its reader broke off: it ended with signal 9"):
            reader.read(HTML, b"<p>y")
    assert reader.read(HTML, b"<p>z").parts == (ExtractPart("paragraph", "z"),)


def test_a_file_that_takes_too_long_is_given_up(
    reader: ParserClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.read(HTML, b"<p>x")
    assert reader.pid is not None
    os.kill(reader.pid, signal.SIGSTOP)
    monkeypatch.setattr(foreign, "READ_S", 0.3)
    with pytest.raises(ReadingFailed, match="it did not answer within"):
        reader.read(HTML, b"<p>y")
    assert reader.pid is None


def test_a_reading_that_is_cancelled_ends_its_process(reader: ParserClient) -> None:
    class Cancelled(Exception):
        pass

    def cancel() -> None:
        raise Cancelled

    reader.read(HTML, b"<p>x")
    assert reader.pid is not None
    os.kill(reader.pid, signal.SIGSTOP)
    with pytest.raises(Cancelled):
        reader.read(HTML, b"<p>y", cancel)
    assert reader.pid is None


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_that_swells_is_given_up_within_its_bounds(
    reader: ParserClient, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    reader.read(HTML, b"<p>x")
    data = HOSTILE[name]()
    seconds = 20.0 if name == "swelling.pdf" else 3.0
    monkeypatch.setattr(foreign, "READ_S", min(foreign.READ_S, seconds))
    peak_kb = 0

    def look() -> None:
        nonlocal peak_kb
        peak_kb = max(peak_kb, memory_of(reader.pid))

    began = time.monotonic()
    with pytest.raises(ReadingFailed) as caught:
        reader.read(find_kind(name), data, look)
    assert caught.value.reason
    assert peak_kb <= 1024**2
    assert time.monotonic() - began < seconds + 10
    assert reader.read(HTML, b"<p>z").parts == (ExtractPart("paragraph", "z"),)


def test_a_reader_that_runs_out_of_memory_says_so(reader: ParserClient) -> None:
    with pytest.raises(ReadingFailed, match=r"takes more than 1 GB|more memory than"):
        reader.read(PDF, HOSTILE["swelling.pdf"]())


def memory_of(pid: int | None) -> int:
    """Return the most memory in KB that a process has taken; 0 for one that is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
