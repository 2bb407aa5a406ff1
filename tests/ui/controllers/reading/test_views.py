"""Bases and queries are shown in place in the open note, and a base file as its views."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.assistant import Assistant
from app.library.embedded_notes import EmbeddedNotes
from chains.cancel import CancelToken
from tests.support.models.model_server import Answer, ModelServer
from tests.support.vaults.views import write_view_vault
from tests.support.window.clicks import LEFT, NONE
from tests.support.window.note_page import NotePage
from tests.support.window.window_pages import WindowPage, open_window
from tests.unit.vault.views.conftest import NoEmbedder, update_words
from ui.chat.message.answer import Answer as AnswerMessage
from ui.chat.message.sections import AnswerView
from ui.controllers.reading.embeds import EmbedExpander
from ui.controllers.reading.images import EmbedController
from ui.controllers.reading.views import draw_block
from ui.markdown.blocks import Paragraph, TabbedPages, TableRows
from ui.markdown.embeds import EmbeddedText, EmbedFailure
from ui.markdown.inline import MORE, TASK
from ui.markdown.page.decorations import ListMarker, list_tasks
from ui.markdown.page.note_view import NoteView
from ui.markdown.page.view import MarkdownView
from ui.tasks import TaskRunner
from vault.catalog import Catalog
from vault.vault import Vault
from vault.views import blocks
from vault.views.blocks import ComputedBlock, ViewBlock, compute_block
from vault.views.compute import find_row
from vault.views.evaluate import NoteRow

NOTE = "Books/Emma.md"
Answering = Callable[[str], tuple[WindowPage, AnswerMessage]]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "notes"
    vault.mkdir()
    return write_view_vault(vault)


@pytest.fixture
def window(assistant: Assistant, vault: Path, qtbot: QtBot) -> Iterator[WindowPage]:
    assistant.open_vault(vault, remember=False)
    list(assistant.index(CancelToken()))
    runner = TaskRunner()
    window = open_window(assistant, runner, qtbot)
    window.activate(1280, 2400, qtbot)
    yield window
    window.close()
    runner.close()


def open_note(window: WindowPage, name: str, qtbot: QtBot) -> NotePage:
    window.view.show_note(name)
    note = NotePage(window.view)
    qtbot.waitUntil(lambda: note.is_open and note.path == name)
    qtbot.waitUntil(lambda: "Looking for notes" not in note.text and "Loading" not in note.text)
    return note


def find_task(window: WindowPage, text: str) -> tuple[NoteView, ListMarker]:
    for view in window.view.note.page.views():
        for mark in list_tasks(view._writer.final):
            if view.document().findBlock(mark.start).text().startswith(text):
                return view, mark
    raise LookupError(text)


def test_bases_and_queries_are_shown_in_place(window: WindowPage, qtbot: QtBot) -> None:
    note = open_note(window, "Home.md", qtbot)
    assert "Base · 2 views" in note.text
    assert "Books 2 \u2002Best 1" in note.text
    assert "Frank Herbert" in note.text
    assert "No note matches: with the tag #nothing" in note.text
    assert "GROUP BY status is not understood." in note.text
    assert "TABLE x FROM #book GROUP BY status" in note.text  # its source stays
    assert "TASK WHERE" not in note.text  # its source is folded
    assert "Secret" not in note.text
    assert " › My table\nMy table · 1 note\n" in note.text
    note.click_link("Source of the query")
    assert "TASK WHERE !completed" in note.text
    note.click_link("Best")
    note.click_link("Dune")
    qtbot.waitUntil(lambda: note.path == "Books/Dune.md")


FIELDS = """\
---
price: 12.5
due: 2026-12-01
by: '[[Emma]]'
---
size:: 4

It costs `= this.price * this.size` **`=this.due`** by `= this.by` in `= this.file.name`.

| a | b |
|---|---|
| `= this.due - date(2026-11-30)` | `= this.none` |

Stays `= price`, `=SUM(A1:A9)`, `= 5`, `== x`, `= nothing(this)`.
"""


def test_inline_queries_show_their_results(
    window: WindowPage, assistant: Assistant, vault: Path, qtbot: QtBot
) -> None:
    (vault / "Fields.md").write_text(FIELDS, "utf-8")
    (vault / "Around.md").write_text("Own `= this.file.name`.\n\n![[Fields]]\n", "utf-8")
    list(assistant.index(CancelToken()))
    note = open_note(window, "Fields.md", qtbot)
    shown = "It costs {} 2026-12-01 by Emma in Fields."
    qtbot.waitUntil(lambda: shown.format(50) in note.text)
    qtbot.waitUntil(lambda: "\n1 day\n-\n" in note.text)
    assert "Stays = price, =SUM(A1:A9), = 5, == x, = nothing(this)." in note.text
    (vault / "Fields.md").write_text(FIELDS.replace("12.5", "20"), "utf-8")
    window.view.controllers.index.start()
    qtbot.waitUntil(lambda: shown.format(80) in note.text)
    around = open_note(window, "Around.md", qtbot)
    qtbot.waitUntil(lambda: "Own Around." in around.text and shown.format(80) in around.text)


def test_many_inline_queries_read_the_index_a_few_times(
    window: WindowPage,
    assistant: Assistant,
    vault: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = "".join(f"| {n} | `= this.price + {n}` |\n" for n in range(60))
    text = f"---\nprice: 1000\n---\n| n | sum |\n|---|---|\n{rows}"
    (vault / "Sums.md").write_text(text, "utf-8")
    list(assistant.index(CancelToken()))
    reads = list[str]()

    def count(catalog: Catalog, path: str, root: Path) -> NoteRow | None:
        reads.append(path)
        return find_row(catalog, path, root)

    monkeypatch.setattr(blocks, "find_row", count)
    note = open_note(window, "Sums.md", qtbot)
    qtbot.waitUntil(lambda: "1059" in note.text and "this.price" not in note.text)
    assert 0 < reads.count("Sums.md") < 30


def test_each_task_of_a_group_links_to_its_own_note(tmp_path: Path) -> None:
    areas = ("Work", "work", "Work", "Café", "cafe", "Café")
    for number, area in enumerate(areas):
        text = f"---\narea: {area}\n---\n- [ ] task {number}\n"
        (tmp_path / f"n{number}.md").write_text(text, "utf-8")
    notes = Vault(tmp_path, tmp_path / "index", (), NoEmbedder())
    update_words(notes)
    query = "TASK GROUP BY area"
    computed = compute_block(notes, ViewBlock("dataview", query, (1, 1)), "n0.md")
    drawn = draw_block(computed, "dataview", query)
    notes.close()
    assert isinstance(drawn, EmbeddedText)
    links = {
        leaf.runs[0].text.rstrip(" ("): run.link.rpartition(":")[2]
        for leaf in drawn.leaves
        if isinstance(leaf, Paragraph)
        for run in leaf.runs
        if run.link.startswith(TASK)
    }
    assert links == {f"task {number}": f"n{number}.md" for number in range(len(areas))}


def test_columns_are_as_wide_as_all_rows_of_all_groups_need(tmp_path: Path) -> None:
    for number in range(20):
        tags = "a" if number < 15 else "a-long-name-of-a-tag"
        text = f"---\ntags: [{tags}]\ngroup: {number % 2}\nsize: {number}\n---\n"
        (tmp_path / f"n{number:02}.md").write_text(text, "utf-8")
    notes = Vault(tmp_path, tmp_path / "index", (), NoEmbedder())
    update_words(notes)
    base = "views: [{type: table, name: A, groupBy: group, order: [file.name, file.tags, size]}]"
    drawn = draw_block(
        compute_block(notes, ViewBlock("base", base, (1, 1)), "n00.md"), "base", base
    )
    notes.close()
    assert isinstance(drawn, EmbeddedText)
    (columns,) = {leaf.columns for leaf in drawn.leaves if isinstance(leaf, TableRows)}
    assert columns.letters[1] == len("#a-long-name-of-a-tag")
    assert columns.aligns == ("left", "left", "right")


def test_a_base_file_is_shown_as_its_views(window: WindowPage, qtbot: QtBot) -> None:
    text = open_note(window, "Bases/the first example.base", qtbot).text
    assert "My table · 1 note" in text
    assert "4.00" in text
    assert "summaries is not shown." in text


def test_a_listed_task_is_ticked_in_its_note_and_taken_back(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    note = open_note(window, "Home.md", qtbot)
    before = (vault / NOTE).read_text("utf-8")
    view, mark = find_task(window, "Finish Emma")
    QTest.mouseClick(view.viewport(), LEFT, NONE, view._decoration_painter.find_box(mark).center())
    qtbot.waitUntil(lambda: "- [x] Finish Emma" in (vault / NOTE).read_text("utf-8"))
    qtbot.waitUntil(lambda: window.view.notifier.texts() == ["“Finish Emma” is done."])
    qtbot.waitUntil(lambda: "Finish Emma" not in note.text)
    window.press("Undo")
    qtbot.waitUntil(lambda: (vault / NOTE).read_text("utf-8") == before)
    qtbot.waitUntil(lambda: "Finish Emma" in note.text)


@pytest.mark.parametrize(
    "name", ["Plan [draft].md", "C# notes.md", "a|b.md", "x ^y.md", "]] [[ `.md", "50% <i>.md"]
)
def test_a_listed_task_is_ticked_in_a_note_of_any_name(
    window: WindowPage, assistant: Assistant, vault: Path, name: str, qtbot: QtBot
) -> None:
    (vault / name).write_text("- [ ] Mend `the` [hose]\n", "utf-8")
    (vault / "List.md").write_text("```dataview\nTASK WHERE !completed\n```\n", "utf-8")
    list(assistant.index(CancelToken()))
    note = open_note(window, "List.md", qtbot)
    assert f"({name.removesuffix('.md')})" in note.text
    view, mark = find_task(window, "Mend the [hose]")
    QTest.mouseClick(view.viewport(), LEFT, NONE, view._decoration_painter.find_box(mark).center())
    qtbot.waitUntil(lambda: "- [x] Mend" in (vault / name).read_text("utf-8"))


def test_a_listed_task_is_ticked_by_keys_and_its_link_opens_its_line(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    note = open_note(window, "Home.md", qtbot)
    view, _ = find_task(window, "Lend it")
    view.setFocus()
    while "Lend it" not in view.accessibleName():
        QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "- [x] Lend it" in (vault / "Books/Dune.md").read_text("utf-8"))
    note.click(*note.find_words("Emma", 3))  # behind the task “Finish Emma”
    qtbot.waitUntil(lambda: note.path == NOTE)
    assert window.view.note.find_marked_lines() == (9, 9)


@pytest.mark.parametrize("query", ["not done", "path includes Rake"])
def test_the_next_task_of_a_recurring_one_never_gets_the_focus_in_its_place(
    window: WindowPage, assistant: Assistant, vault: Path, query: str, qtbot: QtBot
) -> None:
    (vault / "Rake.md").write_text("- [ ] rake 🔁 every week 📅 2026-11-27\n", "utf-8")
    (vault / "List.md").write_text(f"```tasks\n{query}\nsort by due\n```\n", "utf-8")
    list(assistant.index(CancelToken()))
    note = open_note(window, "List.md", qtbot)
    view, _ = find_task(window, "rake")
    view.setFocus()
    while "rake" not in view.accessibleName():
        QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "- [x] rake" in (vault / "Rake.md").read_text("utf-8"))
    list(assistant.index(CancelToken()))
    note.view.page.refresh_views()
    qtbot.waitUntil(lambda: "2026-12-04" in note.text)
    assert "2026-12-04" not in view.accessibleName()
    if query != "not done":
        assert view.accessibleName().startswith("Task, done: rake")


TABS = """
views:
  - {type: table, name: All books, filters: 'file.hasTag("book")', order: [file.name, author]}
  - {type: list, name: Best, filters: rating > 4}
  - {type: table, name: All books, filters: rating < 4}
  - {type: table, filters: rating == 4, order: [file.name, price]}
  - {type: table, name: Odd, filters: nothing(4)}
"""


def test_each_view_of_a_base_is_a_tab_and_the_choice_is_kept(
    window: WindowPage, assistant: Assistant, vault: Path, qtbot: QtBot
) -> None:
    (vault / "Tabs.base").write_text(TABS, "utf-8")
    note = open_note(window, "Tabs.base", qtbot)
    assert "All books 2 \u2002Best 1 \u2002All books (3) 1 \u2002View 4 1" in note.text
    assert "Odd: " in note.text  # why it is not shown is said whichever tab is chosen
    assert "Frank Herbert" in note.text
    note.click_link("Best")
    assert "Frank Herbert" not in note.text
    assert "Dune" in note.text
    view = note.view.page.views()[0]
    view.setFocus()
    view.select_link("tab:1.1 Best")
    for shown, hidden in (("Iliad", "Dune"), ("Emma", "Iliad"), ("Emma", "Iliad")):
        QTest.keyClick(view, Qt.Key.Key_Right)  # at the last tab, nothing happens
        assert shown in note.text
        assert hidden not in note.text
    (vault / "Books/Emma.md").write_text("---\nrating: 4\nprice: 99\n---\n", "utf-8")
    list(assistant.index(CancelToken()))
    note.view.page.refresh_views()
    qtbot.waitUntil(lambda: "99" in note.text)
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert "Iliad" in note.text


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ("Open, Open (2), Open", "Open, Open (2), Open (3)"),
        ("Open, Open, Open (2)", "Open, Open (3), Open (2)"),
        ("Open (3), Open, Open", "Open (3), Open, Open (4)"),
        ("View 2, ", "View 2, View 3"),
        (", , View 2", "View 1, View 3, View 2"),
        ("A, A, A", "A, A (2), A (3)"),
        ("View 2, , , View 2", "View 2, View 3, View 4, View 2 (4)"),
    ],
)
def test_no_two_tabs_have_one_name(tmp_path: Path, names: str, shown: str) -> None:
    (tmp_path / "n.md").write_text("One.\n", "utf-8")
    notes = Vault(tmp_path, tmp_path / "index", (), NoEmbedder())
    update_words(notes)
    views = "".join(f"  - {{type: table, name: '{name}'}}\n" for name in names.split(", "))
    source = f"views:\n{views}"
    computed = compute_block(notes, ViewBlock("base", source, (1, 1)), "")
    found = draw_block(computed, "base", source)
    notes.close()
    assert isinstance(found, EmbeddedText)
    (tabs,) = (leaf for leaf in found.leaves if isinstance(leaf, TabbedPages))
    assert ", ".join(page.name for page in tabs.pages) == shown


def test_more_rows_are_shown_on_a_click_and_their_total_at_once(
    window: WindowPage, assistant: Assistant, vault: Path, qtbot: QtBot
) -> None:
    tasks = "".join(f"- [ ] Step {number}.\n" for number in range(450))
    (vault / "Long.md").write_text(tasks, "utf-8")
    query = 'Before.\n\n```dataview\nTASK FROM "Long.md"\n```\n\n![[Many]]\n'
    (vault / "Many.md").write_text(query, "utf-8")
    list(assistant.index(CancelToken()))
    note = open_note(window, "Many.md", qtbot)
    assert "Query · 450 tasks" in note.text
    assert "200 of 450 tasks are shown." in note.text
    note.click_link("Show more")
    qtbot.waitUntil(lambda: "400 of 450 tasks are shown." in note.text)
    assert "Step 399." in note.text
    note.click_link("Show more")
    qtbot.waitUntil(lambda: "Step 449." in note.text)
    assert "Show more" not in note.text
    note.view.page.refresh_views()  # also when notes have changed
    (vault / "Long.md").write_text(tasks.replace("Step 449", "Step last"), "utf-8")
    list(assistant.index(CancelToken()))
    note.view.page.refresh_views()
    qtbot.waitUntil(lambda: "Step last." in note.text)


@pytest.mark.parametrize("below", ["", "\nBelow.\n" * 60])
def test_more_rows_leave_what_is_read_in_place(
    window: WindowPage, assistant: Assistant, vault: Path, qtbot: QtBot, below: str
) -> None:
    window.activate(1280, 800, qtbot)
    (vault / "Long.md").write_text("".join(f"- [ ] Step {n}.\n" for n in range(450)), "utf-8")
    (vault / "Many.md").write_text(f'```dataview\nTASK FROM "Long.md"\n```\n{below}', "utf-8")
    list(assistant.index(CancelToken()))
    note = open_note(window, "Many.md", qtbot)
    bar = window.view.note.page.verticalScrollBar()
    bar.setValue(bar.maximum() - 30 * below.count("Below"))
    place = find_y(window, note, "Step 199.")
    note.click_link("Show more")
    qtbot.waitUntil(lambda: "Step 399." in note.text)
    QApplication.processEvents()
    assert find_y(window, note, "Step 199.") == place


def find_y(window: WindowPage, note: NotePage, words: str) -> int:
    view, spot = note.find_words(words)
    return view.mapTo(window.view.note, spot).y()


def test_more_rows_in_the_last_answer_leave_it_in_place(
    scripted: Assistant, server: ModelServer, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    (vault / "Long.md").write_text("".join(f"- [ ] Step {n}.\n" for n in range(450)), "utf-8")
    (vault / "Many.md").write_text('```dataview\nTASK FROM "Long.md"\n```\n', "utf-8")
    scripted.open_vault(vault, remember=False)
    list(scripted.index(CancelToken()))
    server.script(Answer("![[Many]]\n\nDone."))
    window = open_window(scripted, runner, qtbot)
    window.activate(1280, 800, qtbot)
    window.composer.send("Which steps are there?")
    (answer,) = window.chat.answers()
    qtbot.waitUntil(lambda: "Step 199." in answer.view.toPlainText())
    scroller = window.chat.view.scroller
    qtbot.waitUntil(lambda: scroller.bar.value() == scroller.bar.maximum() > 0)
    place = answer.mapTo(window.view, QPoint()).y()
    answer.view.setFocus()
    answer.view.select_link(find_more(answer.view))
    QTest.keyClick(answer.view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Step 399." in answer.view.toPlainText())
    QApplication.processEvents()
    assert answer.mapTo(window.view, QPoint()).y() == place


def find_more(view: MarkdownView) -> str:
    return next(one for one in view._targets() if one.startswith(MORE))


ANSWER = """\
These are open:

```dataview
TASK WHERE !completed
```

```base
views:
  - {type: table, filters: file.hasTag("book"), order: [file.name, rating]}
```

```dataview
TABLE x FROM #book GROUP BY status
```

```dataview
LIST WHERE rating = this.rating
```

```python
print("this stays")
```
"""


@pytest.mark.parametrize("is_reopened", [False, True])
def test_an_answer_draws_the_queries_and_bases_that_a_model_writes(
    scripted: Assistant,
    server: ModelServer,
    vault: Path,
    runner: TaskRunner,
    qtbot: QtBot,
    is_reopened: bool,
) -> None:
    scripted.open_vault(vault, remember=False)
    list(scripted.index(CancelToken()))
    server.script(Answer(ANSWER))
    window = open_window(scripted, runner, qtbot)
    window.activate(1280, 800, qtbot)
    window.composer.send("What is open?")
    if is_reopened:
        session = window.view.controllers.session.session
        window.view.open_session(None)
        window.view.open_session(session)
    (answer,) = window.chat.answers()
    qtbot.waitUntil(lambda: "Query · 2 tasks" in answer.view.toPlainText())
    qtbot.waitUntil(lambda: "Looking for notes" not in answer.view.toPlainText())
    text = answer.view.toPlainText()
    assert "Finish Emma" in text
    assert "Base · 2 notes" in text
    assert "Secret" not in text
    assert "TASK WHERE" not in text  # its source is folded
    assert "GROUP BY status is not understood." in text
    assert "TABLE x FROM #book GROUP BY status" in text  # so it stays source
    assert '"this" outside of an indexed note is not understood.' in text
    assert 'print("this stays")' in text
    (vault / "Later.md").write_text("- [ ] Read Persuasion\n", "utf-8")
    list(scripted.index(CancelToken()))
    window.view.controllers.reading.refresh_views()  # as when notes have changed
    qtbot.waitUntil(lambda: "Read Persuasion" in answer.view.toPlainText())
    assert "Query · 3 tasks" in answer.view.toPlainText()


def list_boxes(view: AnswerView) -> dict[str, ListMarker]:
    """Return the checkboxes in an answer by the text behind them."""
    marks = list_tasks(view._writer.final)
    return {view.document().findBlock(mark.start).text(): mark for mark in marks}


def press_box(view: AnswerView, text: str) -> None:
    mark = next(mark for said, mark in list_boxes(view).items() if said.startswith(text))
    QTest.mouseClick(view.viewport(), LEFT, NONE, view._decoration_painter.find_box(mark).center())


@pytest.fixture
def answering(
    scripted: Assistant, server: ModelServer, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Answering:
    """A function that opens a window over the notes, in which a model answers with a text."""

    def ask(text: str) -> tuple[WindowPage, AnswerMessage]:
        scripted.open_vault(vault, remember=False)
        list(scripted.index(CancelToken()))
        server.script(Answer(text))
        window = open_window(scripted, runner, qtbot)
        window.activate(1280, 800, qtbot)
        window.composer.send("What is open?")
        qtbot.waitUntil(lambda: bool(window.chat.answers()))
        (answer,) = window.chat.answers()
        return window, answer

    return ask


def test_a_task_that_an_answer_lists_is_ticked_in_its_note_and_taken_back(
    answering: Answering, vault: Path, qtbot: QtBot
) -> None:
    window, answer = answering("- [ ] My own\n\n```dataview\nTASK WHERE !completed\n```\n")
    qtbot.waitUntil(lambda: "Query · 2 tasks" in answer.view.toPlainText())
    before = (vault / NOTE).read_text("utf-8")
    press_box(answer.view, "My own")  # which is in no note
    press_box(answer.view, "Finish Emma")
    qtbot.waitUntil(lambda: "- [x] Finish Emma" in (vault / NOTE).read_text("utf-8"))
    qtbot.waitUntil(lambda: "“Finish Emma” is done." in window.view.notifier.texts())
    qtbot.waitUntil(lambda: "Query · 1 task" in answer.view.toPlainText())
    window.press("Undo")
    qtbot.waitUntil(lambda: (vault / NOTE).read_text("utf-8") == before)
    qtbot.waitUntil(lambda: "Query · 2 tasks" in answer.view.toPlainText())


def test_a_task_in_an_answer_is_ticked_by_keys_unless_its_note_changed_meanwhile(
    answering: Answering, vault: Path, qtbot: QtBot
) -> None:
    window, answer = answering("```dataview\nTASK WHERE !completed\n```\n")
    qtbot.waitUntil(lambda: "Query · 2 tasks" in answer.view.toPlainText())
    named = answer.view.accessibleName()
    changed = (vault / NOTE).read_text("utf-8").replace("Finish Emma", "Finish Emma soon")
    (vault / NOTE).write_text(changed, "utf-8")
    answer.view.setFocus()
    for _ in range(2):
        if "Finish Emma" not in answer.view.accessibleName():
            QTest.keyClick(answer.view, Qt.Key.Key_Tab)
    assert answer.view.accessibleName().startswith("Task, open: Finish Emma")
    QTest.keyClick(answer.view, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: any("changed meanwhile" in one for one in window.view.notifier.texts()))
    assert (vault / NOTE).read_text("utf-8") == changed
    qtbot.waitUntil(lambda: "Finish Emma soon" in answer.view.toPlainText())
    QTest.keyClick(answer.view, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "- [x] Finish Emma soon" in (vault / NOTE).read_text("utf-8"))
    window.composer.view.setFocus()
    QTest.mouseClick(answer.view.viewport(), LEFT, NONE, answer.view.viewport().rect().topRight())
    assert answer.view.accessibleName() == named


def test_a_query_of_a_project_outside_of_the_vault_lists_and_ticks_the_tasks_of_the_project(
    scripted: Assistant,
    server: ModelServer,
    vault: Path,
    tmp_path: Path,
    runner: TaskRunner,
    qtbot: QtBot,
) -> None:
    outside = tmp_path / "Outside"
    outside.mkdir()
    (outside / "Trip.md").write_text("# Trip\n\n- [ ] Book the ferry\n", "utf-8")
    scripted.open_vault(vault, remember=False)
    list(scripted.index(CancelToken()))
    scripted.projects.add(str(outside))
    scripted.projects.open(str(outside)).update()
    server.script(Answer("```dataview\nTASK\n```\n\n```dataview\nLIST\n```\n"))
    window = open_window(scripted, runner, qtbot)
    window.activate(1280, 800, qtbot)
    window.view.open_project(str(outside))
    window.composer.send("What is open?")
    qtbot.waitUntil(lambda: bool(window.chat.answers()))
    (answer,) = window.chat.answers()
    qtbot.waitUntil(lambda: "Query · 1 task" in answer.view.toPlainText())
    qtbot.waitUntil(lambda: "Query · 1 note" in answer.view.toPlainText())
    assert "Emma" not in answer.view.toPlainText()
    press_box(answer.view, "Book the ferry")
    qtbot.waitUntil(lambda: "- [x] Book the ferry" in (outside / "Trip.md").read_text("utf-8"))
    qtbot.waitUntil(lambda: [mark.status for mark in list_boxes(answer.view).values()] == ["x"])
    window.press("Undo")
    qtbot.waitUntil(lambda: "- [ ] Book the ferry" in (outside / "Trip.md").read_text("utf-8"))
    link = next(one for one in answer.view._targets() if one.startswith(TASK))
    window.chat.view.maker.link_activated.emit(link)
    note = NotePage(window.view)
    qtbot.waitUntil(lambda: note.is_open and note.path == str(outside / "Trip.md"))


def test_a_query_of_a_file_in_no_project_says_that_nothing_is_searched(
    scripted: Assistant, vault: Path, tmp_path: Path
) -> None:
    scripted.open_vault(vault, remember=False)
    list(scripted.index(CancelToken()))
    (tmp_path / "Loose.md").write_text("```dataview\nLIST\n```\n", "utf-8")
    expander = EmbedExpander(scripted.open_embeds(), scripted.images)
    found = expander.read("```dataview\nLIST", str(tmp_path / "Loose.md"))
    assert isinstance(found, EmbedFailure)
    assert found.message == "This file is in no project, so no notes are searched for it."


def test_the_source_of_a_drawn_query_is_copied_as_the_last_code(
    scripted: Assistant, server: ModelServer, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    scripted.open_vault(vault, remember=False)
    list(scripted.index(CancelToken()))
    server.script(Answer("```sh\nls\n```\n\n```dataview\nLIST FROM #book\n```\n"))
    window = open_window(scripted, runner, qtbot)
    window.composer.send("Which books?")
    (answer,) = window.chat.answers()
    qtbot.waitUntil(lambda: "Query · 2 notes" in answer.view.toPlainText())
    window.run("copy_code")
    assert QApplication.clipboard().text() == "LIST FROM #book"


class SlowViews:
    """Counts the bases and queries that are computed, each only once `go` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go = 0, Event()
        compute = EmbeddedNotes.compute_view

        def compute_slowly(
            notes: EmbeddedNotes, language: str, text: str, path: str, most: int
        ) -> ComputedBlock | None:
            self.begun += 1
            self.go.wait(20)
            return compute(notes, language, text, path, most)

        monkeypatch.setattr(EmbeddedNotes, "compute_view", compute_slowly)


def write_queries(number: int) -> str:
    return "\n".join(f"```dataview\nLIST FROM #book LIMIT {n + 1}\n```\n" for n in range(number))


@pytest.fixture
def asked(
    scripted: Assistant, server: ModelServer, vault: Path, qtbot: QtBot
) -> Iterator[WindowPage]:
    """A window with an answer that holds six queries."""
    runner = TaskRunner()
    scripted.open_vault(vault, remember=False)
    list(scripted.index(CancelToken()))
    server.script(Answer(write_queries(6)))
    window = open_window(scripted, runner, qtbot)
    window.activate(1280, 800, qtbot)
    window.composer.send("Which books?")
    qtbot.waitUntil(lambda: bool(window.chat.answers()))
    (answer,) = window.chat.answers()
    qtbot.waitUntil(lambda: answer.view.toPlainText().count("Query · ") == 6)
    yield window
    window.close()
    runner.close()


def wait_until_idle(window: WindowPage, qtbot: QtBot) -> None:
    loader = window.view.note.findChild(EmbedController)
    assert loader is not None
    qtbot.waitUntil(lambda: loader._task is None and not loader._waiting)


def test_notes_that_change_often_leave_no_queue_of_the_same_queries(
    asked: WindowPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowViews(monkeypatch)
    for _ in range(10):
        asked.view.controllers.reading.refresh_views()
    slow.go.set()
    wait_until_idle(asked, qtbot)
    assert 6 <= slow.begun <= 12


def test_a_chat_that_is_left_computes_no_more_queries(
    asked: WindowPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowViews(monkeypatch)
    (answer,) = asked.chat.answers()
    asked.view.controllers.reading.refresh_views()
    qtbot.waitUntil(lambda: slow.begun == 1)
    asked.view.open_session(None)
    qtbot.waitUntil(lambda: not isValid(answer))
    slow.go.set()
    wait_until_idle(asked, qtbot)
    assert slow.begun <= 2


def test_an_answer_with_very_many_queries_shows_the_results_of_the_first(qtbot: QtBot) -> None:
    view = AnswerView()
    qtbot.addWidget(view)
    wanted: list[str] = []
    view.embed_wanted.connect(wanted.append)
    view.set_markdown(write_queries(300))
    assert len(wanted) == 20
    text = view.toPlainText()
    assert "LIMIT 20\n" not in text
    assert "LIMIT 21\n" in text
    assert "LIMIT 300" in text
    assert text.count("Further bases and queries stay source here.") == 1
