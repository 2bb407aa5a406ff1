"""What the window saves is written in a thread; the latest version is never lost."""

import threading

from ui.tasks import LatestWriter


def test_a_slow_disk_blocks_nobody_and_the_latest_version_is_written() -> None:
    written, may_write, is_writing = list[int](), threading.Event(), threading.Event()

    def write(value: int) -> None:
        is_writing.set()
        may_write.wait()
        written.append(value)

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
    writer = LatestWriter(written.append)
    for value in ("a", "a", "b", "b"):
        writer.put(value)
        writer.flush()
    assert written == ["a", "b"]
