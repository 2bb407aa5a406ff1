"""Notes beside the one that is read, or beside the one that was cited last."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from ui.controllers.related import RelatedController
from ui.panels.docks import RightColumn
from ui.panels.notes.related import RelatedPanel
from ui.tasks import TaskRunner
from ui.widgets.lists import ROW
from vault.errors import IndexUnusable
from vault.search.related import RelatedNote

BACKUPS = RelatedNote("Server/Backups.md", "Backups", 0.8, is_linked=True, is_link_target=True)
ROUTER = RelatedNote("Server/Router.md", "The router", 0.4, is_linked=False)


@pytest.fixture
def panel(qtbot: QtBot) -> RelatedPanel:
    panel = RelatedPanel()
    qtbot.addWidget(panel)
    panel.resize(344, 300)
    panel.show()
    return panel


def said(panel: RelatedPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_without_a_note_the_panel_says_what_will_appear(panel: RelatedPanel) -> None:
    assert said(panel) == ["Open a note, or ask: what is related to it appears here."]


def test_a_linked_note_is_marked_with_an_icon_and_a_word(panel: RelatedPanel) -> None:
    panel.show_notes("Server/Overview.md", [BACKUPS, ROUTER])
    rows = [panel.list.model().index(place, 0) for place in range(2)]
    assert [row.data(ROW).mark for row in rows] == [("link-simple", "linked"), ("", "")]
    spoken = rows[0].data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Backups, linked, Server/Backups.md, It is linked from this note."
    assert said(panel) == ["Related to Server/Overview.md"]


def test_the_tags_that_both_notes_have_are_named(panel: RelatedPanel) -> None:
    tagged = RelatedNote("Server/Power.md", "Power", 0.5, is_linked=False, tags=("server", "todo"))
    panel.show_notes("Server/Overview.md", [tagged])
    row = panel.list.model().index(0, 0)
    assert row.data(ROW).detail == "Server/Power.md · shares #server #todo"
    assert "shares #server #todo" in row.data(Qt.ItemDataRole.ToolTipRole)


def test_a_row_says_why_its_note_is_related(panel: RelatedPanel) -> None:
    near = RelatedNote("Power.md", "Power", 0.5, False, tags=("ups",), similarity=0.58)
    panel.show_notes("Server/Overview.md", [near])
    row = panel.list.model().index(0, 0)
    for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
        assert near.why in row.data(role)
    assert near.why == "It is 58 % alike in meaning and has the tag #ups too."


def test_a_click_opens_a_note_and_the_menu_attaches_it(panel: RelatedPanel, qtbot: QtBot) -> None:
    panel.show_notes("Server/Overview.md", [BACKUPS, ROUTER])
    with qtbot.waitSignal(panel.note_chosen) as chosen:
        spot = panel.list.visualRect(panel.list.model().index(1, 0)).center()
        qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert chosen.args == ["Server/Router.md"]
    menu = panel.list.build_menu(panel.list.model().index(0, 0))
    with qtbot.waitSignal(panel.attach_requested) as attached:
        menu.actions()[1].trigger()
    assert attached.args == ["Server/Backups.md"]


def test_a_slow_answer_shows_its_outline_first(panel: RelatedPanel, qtbot: QtBot) -> None:
    panel.show_notes("Before.md", [ROUTER])
    panel.begin("Server/Overview.md")
    assert said(panel) == ["Related to Before.md"]
    qtbot.waitUntil(panel.skeleton.isVisible)
    assert said(panel) == ["Related to Server/Overview.md"]
    assert not panel.list.isVisible()
    panel.show_notes("Server/Overview.md", [])
    assert not panel.skeleton.isVisible()
    assert "No note is near this one, and none is linked with it." in said(panel)


class Notes:
    """A library that knows what is related, or fails."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: Exception | None = None
        self.vault = self  # the library and its vault in one

    def find_related(self, path: str) -> list[RelatedNote]:
        self.asked.append(path)
        if self.error is not None:
            raise self.error
        return [BACKUPS]


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def column(qtbot: QtBot) -> RightColumn:
    """The right column with related notes in front."""
    column = RightColumn()
    column.fill()
    column.add_late_panels()
    qtbot.addWidget(column)
    column.resize(344, 900)
    column.show()
    column.show_dock(column.related_dock)
    return column


@pytest.fixture
def related(notes: Notes, runner: TaskRunner, column: RightColumn) -> RelatedController:
    assistant: Any = SimpleNamespace(library=notes)
    return RelatedController(assistant, runner, column)


Step = Callable[[RelatedController], None]


@pytest.mark.parametrize(
    ("steps", "asked"),
    [
        ([lambda r: r.set_cited("c.md")], ["c.md"]),
        ([lambda r: r.set_open("r.md"), lambda r: r.set_cited("c.md")], ["r.md"]),
        ([lambda r: r.set_cited("c.md"), lambda r: r.set_open("r.md")], ["c.md", "r.md"]),
        ([lambda r: r.set_open("r.md"), lambda r: r.refresh()], ["r.md", "r.md"]),
        ([lambda r: r.set_open("r.md"), lambda r: r.set_open("r.md")], ["r.md"]),
    ],
)
def test_the_note_that_is_read_comes_before_the_one_that_was_cited(
    related: RelatedController, notes: Notes, steps: list[Step], asked: list[str]
) -> None:
    for step in steps:
        step(related)
    assert notes.asked == asked


def test_nothing_is_looked_up_for_a_panel_out_of_sight(
    related: RelatedController, notes: Notes, column: RightColumn
) -> None:
    column.related.hide()
    related.set_open("r.md")
    assert notes.asked == []
    column.related.show()
    assert notes.asked == ["r.md"]


def test_when_the_note_is_closed_the_cited_one_is_shown_and_then_none(
    related: RelatedController, notes: Notes, column: RightColumn
) -> None:
    related.set_cited("c.md")
    related.set_open("r.md")
    related.set_open("")
    assert notes.asked == ["c.md", "r.md", "c.md"]
    related.forget()
    assert column.related.rows() == ()


def test_an_index_that_cannot_be_read_says_so_in_place(
    related: RelatedController, notes: Notes, column: RightColumn
) -> None:
    notes.error = IndexUnusable("The index cannot be read.")
    related.set_open("r.md")
    assert said(column.related) == ["Related to r.md", "The index cannot be read."]


def test_what_is_related_to_a_note_of_the_open_project_stays_in_it(
    notes: Notes, runner: TaskRunner, column: RightColumn
) -> None:
    inside = Notes()
    listed = SimpleNamespace(notes=lambda: [SimpleNamespace(path="p.md")], name_path=str)
    listed.find_related = inside.find_related
    projects = SimpleNamespace(open=lambda _name: listed, find_title=lambda _name: "Thesis")
    assistant: Any = SimpleNamespace(library=notes, projects=projects)
    related = RelatedController(assistant, runner, column)
    related.set_project("Thesis")
    related.set_open("p.md")
    assert (inside.asked, notes.asked) == (["p.md"], [])
    assert said(column.related) == ["Related to p.md, in the project Thesis"]
    related.set_open("beside.md")
    assert notes.asked == ["beside.md"]
    assert said(column.related) == ["Related to beside.md"]
    related.set_open("p.md")
    related.set_project(None)
    assert notes.asked[-1] == "p.md"
