"""Queries of the Tasks plugin, from their text to the tasks that they show."""

from datetime import datetime

import pytest

from tests.unit.vault.views.conftest import WordIndexer
from vault.vault import Vault
from vault.views.blocks import BLOCK_KINDS, ViewBlock, compute_block, write_markdown
from vault.views.expressions import list_inner
from vault.views.tasks import read_tasks_query
from vault.views.view import ComputedView, View

NOTES = {
    "Garden/Beds.md": "---\ndue: 2026-01-01\n---\n# Beds\n\n## Spring\n\n"
    "- [ ] Dig 📅 2026-11-20 ⏫\n- [ ] Sow 📅 2026-12-02 🔁 every year #herb\n"
    "- [/] Fence ⏳ 2026-11-27\n",
    "Garden/Shed.md": "## Autumn\n\n- [x] Paint 📅 2026-11-01 ✅ 2026-11-03\n- [-] Sell 🔽\n",
    "House.md": "- [ ] Call 🛫 2026-12-10 #phone/roof\n\n```tasks\nnot done\n```\n",
}
NOW = datetime(2026, 11, 27, 12, 0)
TODO = ["Dig", "Sow", "Fence", "Call"]
ALL = ["Dig", "Sow", "Fence", "Paint", "Sell", "Call"]


@pytest.fixture(scope="module")
def vault(index_words: WordIndexer) -> Vault:
    return index_words(NOTES)


def run(vault: Vault, text: str, path: str = "Garden/Shed.md") -> ComputedView | str:
    block = ViewBlock(BLOCK_KINDS["tasks"], text, (1, 1))
    (view,) = compute_block(vault, block, path, now=NOW).views
    return view


def list_tasks(vault: Vault, text: str) -> list[str]:
    view = run(vault, text)
    assert isinstance(view, ComputedView), view
    return [row.task.text.split()[0] for row in view.rows if row.task]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ALL),
        ("not done", TODO),
        ("done", ["Paint", "Sell"]),
        ("DONE", ["Paint", "Sell"]),
        ("status.type is in_progress", ["Fence"]),
        ("status.type is not TODO", ["Fence", "Paint", "Sell"]),
        ("status.type is cancelled", ["Sell"]),
        ("due before today", ["Dig", "Paint"]),
        ("due before 2026-11-20", ["Paint"]),
        ("due on or before 2026-11-20", ["Dig", "Paint"]),
        ("due after today", ["Sow"]),
        ("due 2026-11-20", ["Dig"]),
        ("due on 2026-11-20", ["Dig"]),
        ("due 2026-11-20 2026-12-02", ["Dig", "Sow"]),
        ("due next week", ["Sow"]),
        ("due in or before 2026-12-02", ["Dig", "Sow", "Paint"]),
        ("scheduled today", ["Fence"]),
        ("starts after 2026-12-01", ALL),
        ("starts before 2026-12-01", ["Dig", "Sow", "Fence", "Paint", "Sell"]),
        ("done after 2026-11-02", ["Paint"]),
        ("happens on 2026-11-27", ["Fence"]),
        ("has due date", ["Dig", "Sow", "Paint"]),
        ("no due date", ["Fence", "Sell", "Call"]),
        ("has happens date", ["Dig", "Sow", "Fence", "Paint", "Call"]),
        ("description includes DIG", ["Dig"]),
        ("description does not include i", ["Sow", "Fence", "Sell", "Call"]),
        ("path includes garden", ["Dig", "Sow", "Fence", "Paint", "Sell"]),
        ("filename includes house", ["Call"]),
        ("folder includes {{query.file.folder}}", ["Dig", "Sow", "Fence", "Paint", "Sell"]),
        ("path includes {{query.file.path}}", ["Paint", "Sell"]),
        ("filename does not include {{query.file.filenameWithoutExtension}}", TODO),
        ("heading includes spring", ["Dig", "Sow", "Fence"]),
        ("tags include phone", ["Call"]),
        ("tag does not include #herb", ["Dig", "Fence", "Paint", "Sell", "Call"]),
        ("priority is high", ["Dig"]),
        ("priority is above none", ["Dig"]),
        ("priority is below none", ["Sell"]),
        ("priority is not none", ["Dig", "Sell"]),
        ("is recurring", ["Sow"]),
        ("is not recurring\nnot done", ["Dig", "Fence", "Call"]),
        ("(not done) AND (due before tomorrow)", ["Dig"]),
        ("(done) OR ((is recurring) OR (priority is high))", ["Dig", "Sow", "Paint", "Sell"]),
        ("NOT (not done)", ["Paint", "Sell"]),
        ("(not done) AND NOT (has due date)", ["Fence", "Call"]),
        ("(done) XOR (has due date)", ["Dig", "Sow", "Sell"]),
        ("(done) XOR (has due date) XOR (is recurring)", ["Dig", "Sell"]),
        ("(done)", ["Paint", "Sell"]),
        ("not done\n# a comment\nhide edit button\nshort mode\nexplain\nignore global query", TODO),
        ("not \\\n  done", TODO),
    ],
)
def test_filters_choose_tasks(vault: Vault, query: str, found: list[str]) -> None:
    assert sorted(list_tasks(vault, query)) == sorted(found)


def test_filters_joined_with_xor_take_no_more_work_than_their_number() -> None:
    (view,) = read_tasks_query(" XOR ".join(["(done)"] * 14), None, NOW)
    assert isinstance(view, View)
    assert sum(1 for _ in list_inner(view.task_tests[0])) < 200


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("not done", ["Dig", "Sow", "Fence", "Call"]),
        ("not done\nsort by due reverse", ["Sow", "Dig", "Fence", "Call"]),
        ("sort by description\nlimit 3", ["Call", "Dig", "Fence"]),
        ("sort by priority\nlimit to 1 task", ["Dig"]),
        ("sort by path reverse\nlimit to 1 tasks", ["Call"]),
        ("sort by status\nlimit 2", ["Paint", "Sell"]),
    ],
)
def test_tasks_are_sorted_and_limited(vault: Vault, query: str, found: list[str]) -> None:
    assert list_tasks(vault, query) == found


def test_a_query_without_a_result_is_not_called_a_formula(vault: Vault) -> None:
    view = run(vault, "description includes nowhere")
    assert isinstance(view, ComputedView)
    assert write_markdown(view) == "No task matches this query."


def test_tasks_are_grouped(vault: Vault) -> None:
    view = run(vault, "not done\npath includes Garden\ngroup by heading")
    assert isinstance(view, ComputedView)
    assert write_markdown(view).splitlines()[0] == "**Spring**"
    view = run(vault, "has due date\ngroup by status.type\ngroup by due")
    assert isinstance(view, ComputedView)
    assert {row.group for row in view.rows} == {"Done", "Todo"}
    assert view.view.problems == ("Only the first of its groups is shown.",)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("not done\nfilter by function task.due", "filter by function task.due"),
        ("description regex matches /a/", "description regex matches /a/"),
        ("due before whenever", "due before whenever"),
        ("is blocked", "is blocked"),
        ("sort by urgency", "sort by urgency"),
        ("preset this_folder", "preset this_folder"),
        ("path includes {{query.file.property('x')}}", "query.file.property"),
        ("(not done) AND", "(not done) AND"),
        ("(not done) (done)", "(not done) (done)"),
        ("(" * 60 + "done" + ")" * 60, "(done)"),
        ("(" * 5_000, "((("),
        ("path includes " + "{{" * 20_000, "A query that long"),
        (" AND ".join(["(not done)"] * 20_000), "A query that long"),
        ("not done\n" * 101, "A query with so many lines"),
    ],
)
def test_what_is_not_understood_is_named(vault: Vault, query: str, said: str) -> None:
    view = run(vault, query)
    assert isinstance(view, str)
    assert said in view
    assert "not understood" in view
