"""`BENCHMARKS.md` holds what was measured, and keeps what other runs measured."""

from pathlib import Path

from tests.benchmarks.__main__ import BENCHES
from tests.benchmarks.measure import Ratio
from tests.benchmarks.page import SECTIONS, BenchPage, Run

FIRST = Run("2026-01-02 03:04 UTC", "commit aaa", "2 cores", "Python 3.11")
SECOND = Run("2026-05-06 07:08 UTC", "commit bbb", "4 cores", "Python 3.12")
FAST = Ratio("search: p50 / raw parts", 1.2, at_most=1.3, detail="12 ms against 10 ms")
SLOW = Ratio("search: p50 / raw parts", 1.5, at_most=1.3, detail="15 ms | 10 ms")
START = Ratio("start: window / bare Qt window", 2.0)


def test_a_bench_has_its_rows_its_run_and_its_section(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    BenchPage(path, FIRST).write_bench("search", [FAST, SLOW])
    text = path.read_text("utf-8")
    assert "| search: p50 / raw parts | 1.200 | ≤ 1.3 | met | 12 ms against 10 ms |" in text
    assert "| search: p50 / raw parts | 1.500 | ≤ 1.3 | **missed** | 15 ms / 10 ms |" in text
    assert FIRST.sentence in text
    assert text.index("## Search latency") < text.index("12 ms") < text.index("## Cold and warm")
    assert "Not measured yet: `price`." in text


def test_what_a_run_did_not_measure_keeps_its_rows_and_their_run(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    first = BenchPage(path, FIRST)
    first.write_bench("search", [FAST])
    first.write_bench("start", [START])
    BenchPage(path, SECOND).write_bench("start", [START])
    text = path.read_text("utf-8")
    assert text.count(FIRST.sentence) == text.count(SECOND.sentence) == 1
    assert "12 ms against 10 ms" in text
    assert "Last run: 2026-05-06 07:08 UTC, with `start`." in text
    assert "Not measured in it, so of earlier runs: `search`." in text


def test_a_bench_that_runs_again_replaces_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    BenchPage(path, FIRST).write_bench("search", [FAST])
    BenchPage(path, SECOND).write_bench("search", [SLOW])
    text = path.read_text("utf-8")
    assert "12 ms against" not in text
    assert FIRST.sentence not in text


def test_every_bench_has_a_section() -> None:
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(BENCHES)
