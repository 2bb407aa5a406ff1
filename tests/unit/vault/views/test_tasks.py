"""Queries of the Tasks plugin, from their text to the tasks that they show."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from tests.conftest import write_notes
from tests.unit.vault.views.conftest import NoEmbedder, WordIndexer, update_words
from vault.vault import Vault
from vault.views import evaluate
from vault.views.blocks import BLOCK_KINDS, ViewBlock, compute_block, write_markdown
from vault.views.expressions import list_inner
from vault.views.tasks import TasksSettings, read_tasks_query, read_tasks_settings
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
        ("(priority is high) OR (has due date) AND (done)", ["Dig", "Paint"]),
        ("(has due date) AND (done) OR (priority is high)", ["Dig", "Paint"]),
        ("(done) OR (is recurring) XOR (is recurring)", ["Paint", "Sell"]),
        ("(done) XOR (done) AND NOT (is recurring)", []),
        ("description includes 2026", []),
        ("description regex matches /^Dig$/", ["Dig"]),
        ("tags include roof", ["Call"]),
        ("tags include #roof", []),
        ("not\\\ndone", TODO),
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
    assert [row.group for row in view.rows] == [
        "Done › 2026-11-01",
        "Todo › 2026-11-20",
        "Todo › 2026-12-02",
    ]
    view = run(vault, "group by status.type\nlimit groups to 1 task")
    assert isinstance(view, ComputedView)
    assert (len(view.rows), view.total) == (4, 4)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("not done\nfilter by function task.due", "filter by function task.due"),
        ("not done\nfilter by function hello", "filter by function hello"),
        ("filter by function task.tags.map(t => t)", "filter by function task.tags.map"),
        ("filter by function const x = 1; return x", "filter by function const x"),
        ("group by function task.nothing", "group by function task.nothing"),
        ("sort by function task.description.nothing()", "task.description.nothing"),
        ("filter by function task.description.title() === 'A'", "task.description.title"),
        ("filter by function task.description.matches('(a+)+$', '')", "task.description.matches"),
        ("filter by function task.description.includes('a', 5)", "task.description.includes"),
        ("filter by function task.description.startsWith('a', 5)", "task.description.startsWith"),
        ("description regex matches a", "description regex matches a"),
        ("description regex matches /[a/", "/[a/"),
        ("description regex matches /a/x", "/a/x"),
        ("description regex matches /(a+)+/", "/(a+)+/"),
        ("due before whenever", "due before whenever"),
        ("is late", "is late"),
        ("sort by magic", "sort by magic"),
        ("preset none_of_them", "preset none_of_them"),
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


WAITING = {
    "Sub/Steps.md": "---\nproject: Attic\nstep: not done\n---\n## Now\n\n"
    "- [ ] Buy #task 🆔 a 📅 2026-11-26\n- [ ] Build #task ⛔ a, b 🔺\n"
    "- [x] Draw #task 🆔 b\n- [ ] Paint #task #Colour [dependsOn:: c]\n",
    "Other.md": "- [ ] Clean [id:: c] 🔁 every week\n",
    "Deep/Er/Last.md": "- [ ] Rest #task ⏳ 2026-11-20\n\nSee [[Other]].\n",
}


@pytest.fixture(scope="module")
def waiting(index_words: WordIndexer) -> Vault:
    return index_words(WAITING)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("is blocked", "Build Paint"),
        ("is not blocked\nview columns by priority", "Buy Draw Clean Rest"),
        ("filter by function task.file.outlinks.length > 0", "Rest"),
        ("is blocking", "Buy Clean"),
        ("has id", "Buy Draw Clean"),
        ("no depends on", "Buy Draw Clean Rest"),
        ("id is b", "Draw"),
        ("no tags", "Clean"),
        ("root includes sub", "Buy Build Draw Paint"),
        ("recurrence includes week", "Clean"),
        ("description regex matches /^b/i", "Buy Build"),
        ("description regex does not match /B|R/", "Draw Paint Clean"),
        ("tags regex matches /#colour/i", "Paint"),
        ("path regex matches /^[^/]+$/", "Clean"),
        ("[is blocked] AND {tags include colour}", "Paint"),
        ('"is blocked" OR "id is b"', "Build Draw Paint"),
        ("filter by function task.isDone", "Draw"),
        ("filter by function task.file.folder === query.file.folder", "Buy Build Draw Paint"),
        ("filter by function return task.tags.includes('#Colour');", "Paint"),
        ("filter by function task.description.includes('buy')", ""),
        ("filter by function task.description === 'Buy #task'", "Buy"),
        ("filter by function task.description === 'buy #task'", ""),
        ("filter by function task.description.startsWith('Bu')", "Buy Build"),
        ("filter by function task.description.startsWith('bu')", ""),
        ("filter by function task.description.endsWith('#Colour')", "Paint"),
        ("filter by function task.description.endsWith('#colour')", ""),
        ("filter by function task.heading === null", "Clean Rest"),
        ("filter by function task.hasHeading", "Buy Build Draw Paint"),
        ("filter by function task.file.property('none').includes('one')", ""),
        ("filter by function task.descriptionWithoutTags === 'Buy'", "Buy"),
        ("filter by function task.tags.length > 1", "Paint"),
        ("filter by function !task.due.moment && task.scheduled.moment", "Rest"),
        (
            "filter by function task.priorityName === 'Highest' ? true : task.id === 'b'",
            "Build Draw",
        ),
        ("filter by function task.heading === 'Now' && task.isRecurring", ""),
        ("filter by function task.file.property('project') === 'Attic'", "Buy Build Draw Paint"),
        ("filter by function task.file.hasProperty('project')", "Buy Build Draw Paint"),
        ("filter by function task.due.category.groupText === 'Overdue'", "Buy"),
        ("(filter by function task.isDone) OR (id is c)", "Draw Clean"),
        ("preset this_folder_only", "Buy Build Draw Paint"),
        ("preset this_root\npreset hide_everything", "Buy Build Draw Paint"),
        ("{{preset.this_file}}", "Buy Build Draw Paint"),
        ("{{query.file.property('step')}}\nroot includes Sub", "Buy Build Paint"),
        ("path includes {{query.file.path.toUpperCase()}}", "Buy Build Draw Paint"),
    ],
)
def test_more_filters_choose_tasks(waiting: Vault, query: str, found: str) -> None:
    view = run(waiting, query, "Sub/Steps.md")
    assert isinstance(view, ComputedView), view
    names = [row.task.text.split()[0] for row in view.rows if row.task]
    assert sorted(names) == sorted(found.split())


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("sort by urgency", "Buy Build Rest Clean Draw Paint"),
        ("sort by function task.lineNumber\nroot includes Sub", "Buy Build Draw Paint"),
        ("sort by function reverse task.lineNumber\nroot includes Sub", "Paint Draw Build Buy"),
        ("sort by root reverse\nlimit 1", "Buy"),
        ("sort by tag 1 reverse\nlimit 1", "Paint"),
    ],
)
def test_tasks_are_sorted_by_what_the_plugin_computes(
    waiting: Vault, query: str, found: str
) -> None:
    view = run(waiting, query, "Sub/Steps.md")
    assert isinstance(view, ComputedView), view
    assert [row.task.text.split()[0] for row in view.rows if row.task] == found.split()


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        ("group by function task.file.filename", "Last.md Other.md Steps.md"),
        ("group by function task.due.format('YYYY-MM', 'never')", "2026-11 never"),
        ("group by function task.status.type.toLowerCase()", "done todo"),
        ("group by function task.id ? task.id : 'none'", "a b c none"),
        ("group by function task.file.property('project') ?? 'none'", "Attic none"),
        ("group by function task.file.folder.slice(0, 3)", "/ Dee Sub"),
        ("group by function task.heading || 'none'", "Now none"),
        ("group by function task.heading && task.heading.toUpperCase()", " NOW"),
        ("group by function task.file.folder.replace('e', 'i')", "/ Diep/Er/ Sub/"),
        ("group by function task.file.folder.substring(3, 0).toLocaleUpperCase()", "/ DEE SUB"),
        ("group by function task.tags.join()", " #task #task,#Colour"),
        ("group by folder\nroot includes deep", "Deep/Er/"),
    ],
)
def test_tasks_are_grouped_by_functions(waiting: Vault, query: str, groups: str) -> None:
    view = run(waiting, query)
    assert isinstance(view, ComputedView), view
    assert sorted({row.group for row in view.rows}) == groups.split(" ")


def test_a_pattern_that_takes_too_long_is_said_to(index_words: WordIndexer) -> None:
    slow = index_words({"a.md": f"- [ ] {'a' * 5_000}!\n"})
    view = run(slow, "description regex matches /a*a*a*a*a*[bc]/", "a.md")
    assert view == "This takes too much work, so it is not shown. Filter it, or use fewer formulas."


def test_patterns_that_take_too_long_together_are_stopped(
    index_words: WordIndexer, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = index_words({"a.md": f"- [ ] {'a' * 60}!\n" * 40})
    query = "description regex matches /a*a*a*a*a*[bc]/"
    assert isinstance(run(slow, query, "a.md"), ComputedView)
    monkeypatch.setattr(evaluate, "_MOST_MATCHING_S", 0.01)
    assert str(run(slow, query, "a.md")).startswith("This takes too much work")


@pytest.mark.parametrize("preset", ["{{preset.a}}" * 6, "x" * 20_000])
def test_a_preset_that_grows_without_end_is_named(preset: str) -> None:
    settings = TasksSettings({"a": f"path includes {preset}"})
    (said,) = read_tasks_query("preset a", None, NOW, settings)
    assert said == "A query that long is not understood."


def test_a_preset_with_half_a_character_is_named_by_text_that_can_be_written() -> None:
    (said,) = read_tasks_query("preset a", None, NOW, TasksSettings({"a": "half \ud800"}))
    assert said == "half ? is not understood."


def test_huge_settings_are_as_none(tmp_path: Path) -> None:
    plugin = tmp_path / ".obsidian" / "plugins" / "obsidian-tasks-plugin"
    plugin.mkdir(parents=True)
    for size, query in ((10, "done"), (1_000_000, "")):
        settings = {"globalQuery": "done", "more": "x" * size}
        (plugin / "data.json").write_text(json.dumps(settings), "utf-8")
        assert read_tasks_settings(tmp_path).query == query


def test_the_global_filter_holds_in_its_own_case(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", {"a.md": "- [ ] Dig #task\n- [ ] Sow #Task\n"})
    plugin = folder / ".obsidian" / "plugins" / "obsidian-tasks-plugin"
    plugin.mkdir(parents=True)
    (plugin / "data.json").write_text('{"globalFilter": "#task"}', "utf-8")
    vault = Vault(folder, tmp_path / "index", (), NoEmbedder())
    update_words(vault)
    view = run(vault, "", "a.md")
    vault.close()
    assert isinstance(view, ComputedView)
    assert [row.task.text for row in view.rows if row.task] == ["Dig #task"]


def test_a_rule_makes_a_task_recur_and_a_sign_alone_does_not(tmp_path: Path) -> None:
    tasks = "Dig 🔁 every day", "Sow `🔁 every day`", "Nap 🔁 often", "Air (repeat:: every day)"
    notes = {"a.md": "".join(f"- [ ] {task}\n" for task in tasks)}
    folder = write_notes(tmp_path / "notes", notes)
    vault = Vault(folder, tmp_path / "index", (), NoEmbedder())
    update_words(vault)
    view = run(vault, "is recurring", "a.md")
    vault.close()
    assert isinstance(view, ComputedView)
    assert [row.task.text.split()[0] for row in view.rows if row.task] == ["Dig", "Air"]


def test_the_settings_of_the_plugin_are_part_of_its_queries(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes", WAITING)
    plugin = folder / ".obsidian" / "plugins" / "obsidian-tasks-plugin"
    plugin.mkdir(parents=True)
    settings = {
        "presets": {"mine": "not done\nroot includes {{query.file.root}}", "self": "preset self"},
        "globalQuery": "description does not include Rest",
        "globalFilter": "#task",
    }
    (plugin / "data.json").write_text(json.dumps(settings), "utf-8")
    vault = Vault(folder, tmp_path / "index", (), NoEmbedder())
    update_words(vault)
    found = {
        query: [row.task.text.split()[0] for row in view.rows if row.task]
        for query in ("", "preset mine", "ignore global query\nnot done")
        if isinstance(view := run(vault, query, "Sub/Steps.md"), ComputedView)
    }
    endless = run(vault, "preset self", "Sub/Steps.md")
    vault.close()
    assert {query: sorted(names) for query, names in found.items()} == {
        "": ["Build", "Buy", "Draw", "Paint"],
        "preset mine": ["Build", "Buy", "Paint"],
        "ignore global query\nnot done": ["Build", "Buy", "Paint", "Rest"],
    }
    assert endless == "preset self is not understood."
