import os
import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.support.documents import docx, paragraph, pdf
from vault import foreign
from vault.errors import ReadingFailed
from vault.foreign import ForeignReader
from vault.kinds import DOCX, HTML, PDF
from vault.readers.parts import Part


@pytest.fixture
def reader() -> Iterator[ForeignReader]:
    with ForeignReader() as made:
        yield made


def test_files_of_all_kinds_are_read_by_one_process(reader: ForeignReader) -> None:
    assert reader.read(PDF, pdf(["a"], title="T")).aliases == ("T",)
    first = reader.pid
    assert reader.read(HTML, b"<title>t</title><p>b").title == "t"
    assert reader.read(DOCX, docx(paragraph("c"))).parts == (Part("paragraph", "c"),)
    assert reader.pid == first


def test_a_failure_comes_back_with_its_reason_and_the_next_file_is_read(
    reader: ForeignReader,
) -> None:
    with pytest.raises(ReadingFailed, match="protected by a password"):
        reader.read(PDF, pdf(["a"], is_encrypted=True))
    assert reader.read(PDF, pdf(["a"])).is_paged


def test_a_file_that_crashes_its_reader_is_one_failure(
    reader: ForeignReader, until: Callable[[Callable[[], bool]], None]
) -> None:
    reader.read(HTML, b"<p>x")
    victim = reader.pid
    assert victim is not None
    os.kill(victim, signal.SIGSTOP)
    killer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
    killer.start()
    with pytest.raises(ReadingFailed, match="its reader broke off: it ended with signal 9"):
        reader.read(HTML, b"<p>y")
    killer.join()
    assert reader.read(HTML, b"<p>z").parts == (Part("paragraph", "z"),)


def test_a_file_that_takes_too_long_is_given_up(
    reader: ForeignReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.read(HTML, b"<p>x")
    assert reader.pid is not None
    os.kill(reader.pid, signal.SIGSTOP)
    monkeypatch.setattr(foreign, "READ_S", 0.3)
    with pytest.raises(ReadingFailed, match="it did not answer within"):
        reader.read(HTML, b"<p>y")
    assert reader.pid is None


def test_a_reading_that_is_cancelled_ends_its_process(reader: ForeignReader) -> None:
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
