"""`BENCHMARKS.md` holds what was measured, and keeps what other runs measured."""

from pathlib import Path

import pytest

from tests.benchmarks.__main__ import BENCHES, main
from tests.benchmarks.measure import Ratio
from tests.benchmarks.missed import UNEXPLAINED, explain_missed
from tests.benchmarks.page import PAGE, SECTIONS, BenchPage, Run
from tests.benchmarks.rows import HEAD, parse_rows, write_row
from tests.benchmarks.top_lines import TOP_LINES

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
    assert "| search: p50 / raw parts | **1.500** | ≤ 1.3 | **missed** | 15 ms / 10 ms |" in text
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
    assert "Of other runs, named below: `search`." in text
    assert text.index(SECOND.sentence) < text.index("12 ms") < text.index(FIRST.sentence)


def test_a_page_of_one_run_has_one_date_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    page = BenchPage(path, FIRST)
    page.write_bench("search", [FAST])
    page.write_bench("start", [START])
    assert path.read_text("utf-8").count("Measured on") == 1
    BenchPage(path, SECOND).write_bench("price", [Ratio("price", 1.0)])
    text = path.read_text("utf-8")
    assert text.count(FIRST.sentence) == text.count(SECOND.sentence) == 1
    assert "Of other runs, named below: `price`." in text


def test_a_page_with_a_date_below_each_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    table = f"{HEAD}\n{write_row(FAST)}\n\n{FIRST.sentence}\n"
    path.write_text(f"# Benchmarks\n\n<!-- bench search -->\n{table}<!-- end -->\n", "utf-8")
    BenchPage(path, SECOND).write_bench("start", [START])
    text = path.read_text("utf-8")
    assert text.count(FIRST.sentence) == 1
    assert "12 ms against 10 ms" in text


def test_a_missed_goal_is_explained_below_its_table(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    missed = Ratio("index: throughput / bare model", 0.9, at_least=1.0)
    for _ in range(2):  # the sentence is written anew, not added
        BenchPage(path, FIRST).write_bench("index", [missed])
    text = path.read_text("utf-8")
    assert text.count(f"Missed: {missed.name}. {explain_missed(missed.name)}") == 1
    assert explain_missed(missed.name) != UNEXPLAINED


def test_every_missed_goal_of_the_page_is_explained() -> None:
    missed = [row.name for row in parse_rows(PAGE.read_text("utf-8")).values() if row.is_missed]
    assert [name for name in missed if explain_missed(name) == UNEXPLAINED] == []


def test_each_row_is_read_as_it_was_written() -> None:
    ratios = [FAST, SLOW, START, Ratio("many | bars", 1234.5678, at_least=-1.0, detail="a | b")]
    rows = parse_rows("\n".join([HEAD, *map(write_row, ratios[1:])])).values()
    assert [row.is_missed for row in rows] == [True, False, False]
    assert [row.value for row in rows] == [1.5, 2.0, 1234.568]
    assert [row.goal for row in rows] == ["≤ 1.3", "", "≥ -1"]
    assert [row.detail for row in rows] == ["15 ms / 10 ms", "", "a / b"]


def test_the_ten_lines_on_top_take_their_figures_from_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    page = BenchPage(path, FIRST)
    window = "start: window / bare Qt window"
    page.write_bench("start", [Ratio(window, 2.87, at_most=2.5, detail="0.35 s against 0.12 s")])
    chat = "chat 230 a turn, 0 of passages, 32,000: price"
    page.write_bench(
        "price", [Ratio(chat, 0.9, at_most=1.05), Ratio(f"{chat} of a sliding window", 7.2)]
    )
    top, _, _ = path.read_text("utf-8").partition("## Relevance")
    assert (
        "| **0.35 s** | ≤ 2.5 × an empty window, **missed** | 0.12 s, an empty Qt window |" in top
    )
    assert "| 0.12 | ≤ 1.05 × dropping whole turns | 1 |" in top
    assert top.count("not measured yet") == len(TOP_LINES) - 2 == 8


def test_the_ten_lines_know_rows_that_the_page_has() -> None:
    blocks = parse_rows(PAGE.read_text("utf-8"))
    measured = [line for line in TOP_LINES if line.row in blocks]
    assert {line.bench for line in TOP_LINES} <= set(BENCHES)
    for line in measured:
        assert "?" not in line.write(blocks)


def test_a_bench_that_runs_again_replaces_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    BenchPage(path, FIRST).write_bench("search", [FAST])
    BenchPage(path, SECOND).write_bench("search", [SLOW])
    text = path.read_text("utf-8")
    assert "12 ms against" not in text
    assert FIRST.sentence not in text


def test_every_bench_has_a_section() -> None:
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(BENCHES)


@pytest.mark.parametrize("argument", ["--help", "--pages", "serach"])
def test_an_unknown_argument_runs_no_bench(
    argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument]) == 1
    assert f"No such bench: {argument}. There are: start, " in capsys.readouterr().out
