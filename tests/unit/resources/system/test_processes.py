import os
import sys
from pathlib import Path

import pytest

from resources.system.processes import is_process_running, read_free_memory, read_process_memory


def test_the_free_memory_is_what_linux_reports(tmp_path: Path) -> None:
    assert (read_free_memory() or 0) > 10_000_000
    file = tmp_path / "meminfo"
    assert read_free_memory(file) is None
    file.write_text("MemTotal: 9 kB\nMemAvailable:    2048 kB\n", "ascii")
    assert read_free_memory(file) == 2 * 1_048_576
    file.write_text("MemAvailable:\n\nnothing\n", "ascii")
    assert read_free_memory(file) is None


def test_other_systems_report_the_total_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert (read_free_memory() or 0) > 10_000_000
    monkeypatch.setattr(sys, "platform", "win32")
    assert read_free_memory() is None


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_memory_of_a_process_is_measured(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert read_process_memory(os.getpid()) > 10_000_000
    assert read_process_memory(2**22 + 1) == 0  # above the largest process id


def test_a_process_is_running_until_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_process_running(os.getpid())
    assert not is_process_running(2**22 + 1)
    assert not is_process_running(2**80)
    monkeypatch.setattr(sys, "platform", "win32")
    assert not is_process_running(os.getpid())
