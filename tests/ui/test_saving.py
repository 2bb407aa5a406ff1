"""What the window saves is written in a thread; the latest version is never lost."""

import threading

import pytest

from ui.tasks import LatestWriter


def test_a_slow_disk_blocks_nobody_and_the_latest_version_is_written() -> None:
    written, may_write, is_writing = list[int](), threading.Event(), threading.Event()

    def write(value: int) -> bool:
        is_writing.set()
        may_write.wait()
        written.append(value)
        return True

    writer = LatestWriter(write)
    writer.put(1)
    is_writing.wait()
    for value in (2, 3, 4):
        writer.put(value)
    assert written == []
    may_write.set()
    writer.flush()
    assert written == [1, 4]


def test_an_unchanged_value_is_not_written_again() -> None:
    written = list[str]()

    def write(value: str) -> bool:
        written.append(value)
        return True

    writer = LatestWriter(write)
    for value in ("a", "a", "b", "b"):
        writer.put(value)
        writer.flush()
    assert written == ["a", "b"]


def test_a_value_that_could_not_be_written_is_written_when_it_is_put_again() -> None:
    tried, outcomes = list[str](), iter([False, True])

    def write(value: str) -> bool:
        tried.append(value)
        return next(outcomes)

    writer = LatestWriter(write)
    for _ in range(3):
        writer.put("draft")
        writer.flush()
    assert tried == ["draft", "draft"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_one_write_does_not_end_the_writing() -> None:
    written = list[str]()

    def write(value: str) -> bool:
        if value == "bad":
            raise TypeError(value)
        written.append(value)
        return True

    writer = LatestWriter(write)
    for value in ("bad", "good", "better"):
        writer.put(value)
        writer.flush()
    assert written == ["good", "better"]
