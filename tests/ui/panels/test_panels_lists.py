"""Notes, chats, sources, the note itself and the foot of the sidebar."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.library.projects import Project
from app.pinned.answer import AnswerRow, ModelAnswer, PinnedAnswer
from app.pinned.answers import ShownAnswer
from app.pinned.changes import RowChanges
from app.sessions.search import ChatHit
from app.sessions.session_info import SessionInfo
from chains.citations.answer_sources import Source, list_cited_sources
from chains.citations.check import Citation, Unverified
from chains.events import CITES_NOTHING
from context.layers import Layer, Segment
from ui.panels.chats.projects import ProjectList
from ui.panels.chats.sessions import ChatList
from ui.panels.index.footer import IndexFooter
from ui.panels.index.state import IndexState
from ui.panels.notes.folders import Folders
from ui.panels.notes.note_panel import NotePanel
from ui.panels.notes.note_tree import NoteTree
from ui.panels.notes.sources import SourcesPanel, choose_mark, describe_place, name_source
from ui.panels.pinned import PinnedList
from ui.panels.sidebar import Sidebar
from ui.theme import Theme
from ui.widgets.controls import ElidedLabel
from ui.widgets.lists import elide_path
from vault.notes.note import Note
from vault.notes.text import markup
from vault.records import NoteState

NOTES = (
    NoteState("Daily/2026-05-14.md", "14 May", "indexed"),
    NoteState("Daily/2026-05-15.md", "15 May", "indexed"),
    NoteState("Inbox.md", "Inbox", "indexed"),
    NoteState("Reading/Broken.md", "Broken", "failed", "It is not UTF-8."),
    NoteState("Reading/deep/Private.md", "Private", "excluded", "#private"),
)


def row_texts(view: NoteTree | ChatList) -> list[str]:
    texts, index = [], view.model().index(0, 0)
    while index.isValid():
        texts.append(index.data())
        index = view.indexBelow(index)
    return texts


@pytest.fixture
def tree(qtbot: QtBot) -> NoteTree:
    tree = NoteTree()
    qtbot.addWidget(tree)
    tree.resize(248, 300)
    tree.show_folders(Folders(NOTES))
    tree.show()
    return tree


def child(tree: NoteTree, *places: int) -> QModelIndex:
    index = QModelIndex()
    for place in places:
        index = tree.model().index(place, 0, index)
    return index


def test_folders_stand_before_notes_and_carry_their_count(tree: NoteTree) -> None:
    assert row_texts(tree) == ["Daily", "Reading", "Inbox.md"]
    assert child(tree, 0).data(Qt.ItemDataRole.AccessibleTextRole) == "Daily, 2 notes"


def test_numbers_in_names_are_sorted_by_their_value(tree: NoteTree) -> None:
    names = ("Chapter 10.md", "chapter 2.md", "Chapter 1.md", "9.md", "10 a.md", "Appendix.md")
    tree.show_folders(Folders(tuple(NoteState(name, "", "indexed") for name in names)))
    in_order = ["9.md", "10 a.md", "Appendix.md", "Chapter 1.md", "chapter 2.md", "Chapter 10.md"]
    assert row_texts(tree) == in_order


def test_the_tree_is_as_high_as_its_rows(tree: NoteTree) -> None:
    assert tree.height() == 3 * 28
    tree.expand(child(tree, 0))
    assert tree.height() == 5 * 28
    tree.set_limit(100)
    assert tree.height() == 100


def test_a_click_opens_a_folder_and_chooses_a_note(tree: NoteTree, qtbot: QtBot) -> None:
    chosen: list[str] = []
    tree.note_chosen.connect(chosen.append)
    for place in ((0,), (0, 1)):
        spot = tree.visualRect(child(tree, *place)).center()
        qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert chosen == ["Daily/2026-05-15.md"]


def test_enter_does_what_a_click_does(tree: NoteTree, qtbot: QtBot) -> None:
    tree.setCurrentIndex(child(tree, 2))
    with qtbot.waitSignal(tree.note_chosen) as chosen:
        qtbot.keyClick(tree, Qt.Key.Key_Return)
    assert chosen.args == ["Inbox.md"]


def test_a_note_that_could_not_be_read_says_why(tree: NoteTree) -> None:
    tip = child(tree, 1, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == "Reading/Broken.md\nIt is not UTF-8."
    said = child(tree, 1, 1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "Broken.md, could not be read: It is not UTF-8."
    assert child(tree, 1).data(Qt.ItemDataRole.ToolTipRole) == "1 note could not be read"


def test_a_note_that_is_left_out_says_by_which_rule(tree: NoteTree) -> None:
    tip = child(tree, 1, 0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == "Reading/deep/Private.md\nLeft out of the index: #private"


def test_open_folders_stay_open_when_the_notes_are_listed_anew(tree: NoteTree) -> None:
    tree.expand(child(tree, 0))
    tree.show_folders(Folders((*NOTES, NoteState("New.md", "New", "indexed"))))
    assert tree.open_folders() == ["Daily"]


def test_the_chosen_note_stays_chosen_and_in_view_when_others_come(tree: NoteTree) -> None:
    notes = tuple(NoteState(f"Note {n:03}.md", "", "indexed") for n in range(90))
    tree.set_limit(200)
    tree.show_folders(Folders(notes))
    tree.select("Note 080.md")
    at = tree.verticalScrollBar().value()
    tree.show_folders(Folders((*notes, NoteState("Note 999.md", "", "failed"))))
    assert tree.currentIndex().data() == "Note 080.md"
    assert tree.verticalScrollBar().value() == at > 0


def test_a_large_vault_is_listed_within_a_frame_or_three(tree: NoteTree) -> None:
    many = tuple(NoteState(f"f{n % 200}/note {n}.md", f"note {n}", "indexed") for n in range(5_000))
    tree.show_folders(Folders(many))
    assert tree.model().rowCount() == 200


def chat(title: str, days: int) -> SessionInfo:
    at = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    return SessionInfo(f"s{days}{title}", title, at, at, None, None, 2)


@pytest.fixture
def chats(qtbot: QtBot) -> ChatList:
    chats = ChatList()
    qtbot.addWidget(chats)
    chats.resize(248, 400)
    listed = [chat("a", 0), chat("b", 0), chat("c", 1), chat("d", 4), chat("", 400)]
    chats.set_chats(listed, "s0a")
    chats.show()
    return chats


def test_chats_are_grouped_by_when_they_were_used(chats: ChatList) -> None:
    texts = row_texts(chats)
    assert texts[:6] == ["Today", "a", "b", "Yesterday", "c", "Last week"]
    assert texts[-1] == "New chat"


def test_the_open_chat_is_marked(chats: ChatList) -> None:
    assert chats.currentIndex().data() == "a"
    chats.select(None)
    assert not chats.currentIndex().isValid()


def test_no_found_text_is_chosen_until_the_user_chooses_one(chats: ChatList, qtbot: QtBot) -> None:
    titles = {"s0a": "a", "s0b": "b", "s1c": "c"}
    hits = [ChatHit(one, f"e {one}", "user", "peas", "2026-07-01") for one in ("s1c", "s0b", "s0a")]
    for found in (hits[1:2], hits[:2], hits):
        chats.set_hits(found, titles)
        assert not chats.currentIndex().isValid()
        assert not chats.selectedIndexes()
    chats.setCurrentIndex(chats.model().index(3, 0))
    chats.set_hits(hits[1:], titles)
    with qtbot.waitSignal(chats.hit_chosen) as opened:
        QTest.keyClick(chats, Qt.Key.Key_Return)
    assert opened.args == [hits[1]]


def choose(menu: QMenu, words: str) -> None:
    next(action for action in menu.actions() if action.text() == words).trigger()


def read_edited(view: QWidget) -> list[str]:
    """Return the texts of the editors that are open in a list."""
    return [field.text() for field in view.findChildren(QLineEdit)]


def test_a_menu_renames_the_chat_it_was_opened_for_although_it_has_moved(chats: ChatList) -> None:
    menu = chats.build_menu(chats.model().index(2, 0))
    chats.set_chats([chat("b", 0), chat("a", 0), chat("c", 1)], "s0a")
    choose(menu, "Rename")
    assert read_edited(chats) == ["b"]


def test_a_menu_renames_the_project_or_chat_it_was_opened_for_although_it_has_moved(
    chats: ChatList, qtbot: QtBot
) -> None:
    tea, peas = (Project(name, Path(name), True, name) for name in ("Tea", "Peas"))
    inside = {tea.folder: [chat("a", 0), chat("b", 0)]}
    projects = ProjectList(chats)
    qtbot.addWidget(projects)
    projects.set_projects([tea], inside, {})
    projects.expand(top := projects.model().index(0, 0))
    menus = [projects.build_menu(one) for one in (top, projects.model().index(1, 0, top))]
    projects.set_projects([peas, tea], inside | {tea.folder: inside[tea.folder][::-1]}, {})
    projects.show()
    for menu, words in zip(menus, ("Tea", "b"), strict=True):
        choose(menu, "Rename")
        assert read_edited(projects)[-1:] == [words]
        QTest.keyClick(projects.findChildren(QLineEdit)[-1], Qt.Key.Key_Escape)


def test_a_menu_changes_the_pinned_answer_it_was_opened_for_although_it_has_moved(
    qtbot: QtBot,
) -> None:
    a, b, c = (
        ShownAnswer(PinnedAnswer(one, one, one, "count", total=1), RowChanges()) for one in "abc"
    )
    shown = PinnedList()
    qtbot.addWidget(shown)
    shown.set_answers([a, b, c])
    shown.show()
    menu = shown.build_menu(shown.model().index(1, 0))
    shown.set_answers([c, a, b])
    with qtbot.waitSignal(shown.move_requested) as moved:
        choose(menu, "Move up")
    assert moved.args == ["b", 1]
    choose(menu, "Rename")
    assert read_edited(shown) == ["b"]


def test_the_next_chat_is_the_one_below_across_headings(qtbot: QtBot) -> None:
    sidebar = Sidebar()
    qtbot.addWidget(sidebar)
    sidebar.show_chats([chat("a", 0), chat("b", 0), chat("c", 1)], "s0a")
    assert sidebar.find_neighbour("s0b", 1) == "s1c"
    assert sidebar.find_neighbour("s1c", -1) == "s0b"
    assert sidebar.find_neighbour("s0a", -1) is None
    assert sidebar.find_neighbour(None, 1) == "s0a"


def source(number: int, title: str) -> Segment:
    return Segment.build(
        id=f"s{number}",
        layer=Layer.L3,
        kind="passage",
        source="garden/Tomatoes.md",
        text="Matina ripens in July.",
        lines=(3, 9),
        title=title,
        number=number,
    )


def test_a_source_is_named_by_title_heading_and_lines() -> None:
    cited = Citation(1, "garden/Tomatoes.md", ("Tomatoes", "Sorts"), (3, 9), None, True)
    (row,) = list_cited_sources([cited], [], [source(1, "Tomatoes")])
    assert (row.number, row.title) == (1, "Tomatoes — Sorts")
    assert describe_place(row) == "garden/Tomatoes.md, lines 3–9"
    assert name_source(row).startswith("Source 1, Tomatoes")


def test_a_source_in_a_pdf_is_named_by_its_page() -> None:
    cited = Citation(1, "Boiler.pdf", ("Page 12",), (301, 309), None, True)
    (row,) = list_cited_sources([cited], [], [source(1, "Boiler")])
    assert (row.title, describe_place(row)) == ("Boiler — Page 12", "Boiler.pdf, page 12")


def test_a_place_cited_twice_has_one_row() -> None:
    cited = Citation(1, "a.md", (), (3, 9), None, True)
    assert len(list_cited_sources([cited, cited], [], [])) == 1


def test_several_quotations_of_a_source_have_one_row_that_opens_the_first_of_them() -> None:
    plain = Citation(1, "garden/Tomatoes.md", (), (3, 9), None, True)
    first = Citation(1, "garden/Tomatoes.md", (), (4, 4), "x", True)
    second = Citation(1, "garden/Tomatoes.md", (), (9, 9), "y", True)
    for cited in ([first, second], [plain, first], [first, plain]):
        (row,) = list_cited_sources(cited, [], [source(1, "Tomatoes")])
        assert (row.lines, row.shown_lines) == ((3, 9), (4, 4))
    (row,) = list_cited_sources([plain], [], [source(1, "Tomatoes")])
    assert row.shown_lines == (3, 9)


def test_a_quotation_that_was_not_found_is_not_ticked() -> None:
    claim = Unverified(1, "verified weekly", "not in the source")
    doubtful = Citation(1, "garden/Tomatoes.md", (), (3, 9), "verified weekly", False)
    (row,) = list_cited_sources([doubtful], [claim], [source(1, "Tomatoes")])
    assert row.title == "“verified weekly”"
    assert describe_place(row) == "Not found in garden/Tomatoes.md, lines 3–9"
    assert not row.is_verified


def test_a_tick_stands_only_where_something_was_compared(sources: SourcesPanel) -> None:
    plain = Citation(1, "garden/Tomatoes.md", (), (3, 9), None, False)
    rows = [
        *list_cited_sources([plain], [], [source(1, "Tomatoes")]),
        *list_cited_sources([replace(plain, found=("July",))], [], [source(1, "Tomatoes")]),
        *list_cited_sources([replace(plain, quote="x", verified=True)], [], []),
        *list_cited_sources([replace(plain, sentence="x", found_by="strata")], [], []),
        *list_cited_sources([replace(plain, quote="x")], [], []),
    ]
    icons = [choose_mark(row)[0] for row in rows]
    assert icons == ["circle", "check-circle", "check-circle", "check-circle", "warning"]
    sources.show_rows(rows)
    model = sources.list.model()
    names, tips = (
        [model.index(at, 0).data(role) for at in range(len(rows))]
        for role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole)
    )
    lacks = "Not compared: the passage has no quotation, figure, date or name of"
    assert f", {lacks}" in names[0]
    assert lacks in tips[0]
    assert names[1].endswith(", verified")
    assert "In the passage: July." in tips[1]
    assert "The quotation is in the passage." in tips[2]
    assert "Strata found the words of the sentence in the passage." in tips[3]
    assert names[4].endswith(", not verified")
    assert "A quotation was not found in garden/Tomatoes.md, lines 3–9" in tips[4]


def test_a_number_without_a_source_says_so() -> None:
    said = "[7] is not the number of a passage. There are 3 sources."
    (row,) = list_cited_sources([], [Unverified(7, None, said)], [])
    assert row.title == "[7] is not the number of a passage."
    assert describe_place(row) == "There are 3 sources."
    (row,) = list_cited_sources([], [Unverified(7, None, "[7] has no source.")], [])
    assert describe_place(row) == "No passage with this number was sent."


@pytest.fixture
def sources(qtbot: QtBot) -> SourcesPanel:
    panel = SourcesPanel()
    qtbot.addWidget(panel)
    panel.resize(344, 240)
    panel.show()
    return panel


def test_a_click_on_a_source_names_its_lines(sources: SourcesPanel, qtbot: QtBot) -> None:
    sources.show_rows([Source("Tomatoes", "garden/Tomatoes.md", (3, 9), 1, is_verified=True)])
    tree = sources.list
    assert tree.height() == 44
    with qtbot.waitSignal(sources.place_chosen) as chosen:
        spot = tree.visualRect(tree.model().index(0, 0)).center()
        qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert chosen.args == ["garden/Tomatoes.md", 3, 9]


def test_without_a_source_the_panel_says_so(sources: SourcesPanel) -> None:
    sources.show_rows([], CITES_NOTHING)
    assert list_labels(sources) == ["This answer cites no note."]


def test_the_panel_tells_how_much_rests_on_the_sources(sources: SourcesPanel) -> None:
    told = "2 of 3 sentences have a source; 1 source sent and not used."
    sources.show_rows([Source("Tomatoes", "Tomatoes.md", (3, 9), 1)], coverage=told)
    assert list_labels(sources) == [told]
    sources.show_rows([])
    assert told not in list_labels(sources)


def list_labels(panel: SourcesPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


@pytest.fixture
def note(qtbot: QtBot) -> NotePanel:
    panel = NotePanel()
    qtbot.addWidget(panel)
    panel.resize(344, 260)
    panel.show()
    return panel


def long_note(lines: int) -> Note:
    text = "\n".join(f"Line {n} of the note." for n in range(1, lines + 1)) + "\n"
    return Note("deep/Long.md", "Long", text, "v")


def test_the_cited_lines_are_marked_and_in_view(note: NotePanel) -> None:
    note.show_note(long_note(400), 211, 213)
    note.toggle_source()
    assert note.find_marked_lines() == (211, 213)
    first = note.source.find_first_visible_line()
    assert first <= 211 <= first + 10
    marked = Theme.current().color("diff.mark_bg")
    image = note.source.viewport().grab().toImage()
    rows = [y for y in range(image.height()) if image.pixelColor(image.width() - 4, y) == marked]
    assert len(rows) == pytest.approx(3 * note.source.fontMetrics().lineSpacing(), abs=6)


def test_a_marked_line_that_wraps_is_marked_whole(note: NotePanel) -> None:
    text = "short\n" + "a long line that wraps " * 12 + "\nshort\n"
    note.show_note(Note("a.md", "a", text, "v"), 2, 2)
    note.toggle_source()
    marked = Theme.current().color("diff.mark_bg")
    image = note.source.viewport().grab().toImage()
    rows = [y for y in range(image.height()) if image.pixelColor(image.width() - 4, y) == marked]
    assert len(rows) > 4 * note.source.fontMetrics().lineSpacing()


def test_a_very_large_note_is_shown_around_its_lines(note: NotePanel) -> None:
    note.show_note(long_note(30_000), 20_000, 20_001)
    note.toggle_source()
    assert note.source.blockCount() == 4_000
    assert note.source.find_first_visible_line() <= 20_000
    shown = [label.text() for label in note.findChildren(QLabel) if label.isVisible()]
    assert any("of 30,000 are shown here" in text for text in shown)


def test_a_very_long_line_is_shortened_in_the_source_and_this_is_said(note: NotePanel) -> None:
    note.show_note(Note("a.md", "a", f"{'word ' * 600_000}\nThe end.\n", "v"))
    note.toggle_source()
    lines = note.source.toPlainText().split("\n")
    assert [len(line) for line in lines] == [10_000, len("The end.")]
    shown = [label.text() for label in note.findChildren(QLabel) if label.isVisible()]
    assert any("first 10,000 characters of a line are shown" in text for text in shown)


def test_a_line_far_down_in_a_note_of_long_lines_is_shown(note: NotePanel) -> None:
    text = "".join(f"{number} {'word ' * 100}\n" for number in range(1, 2_001))
    note.show_note(Note("a.md", "a", text, "v"), 1_900, 1_900)
    note.toggle_source()
    assert note.source.find_marked_lines() == (1_900, 1_900)
    assert "\n1900 word" in note.source.toPlainText()


def test_markup_in_a_title_is_shown_as_text(note: NotePanel) -> None:
    note.show_note(Note("a.md", "<b>bold</b>\nsecond", "x", "v"))
    title = note.head.findChildren(ElidedLabel)[0]
    assert title.whole == "<b>bold</b> second"
    assert title.textFormat() == Qt.TextFormat.PlainText


def test_a_note_that_cannot_be_read_says_why_in_place(note: NotePanel) -> None:
    note.show_error("gone.md", "There is no note gone.md.", "")
    shown = [label.text() for label in note.findChildren(QLabel) if label.isVisible()]
    assert "There is no note gone.md." in shown
    assert not note.page.isVisible()
    assert not note.source.isVisible()


def test_a_cut_label_has_the_whole_text_as_its_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel("A title that is far too long for its place")
    qtbot.addWidget(label)
    label.show()
    label.resize(80, 20)
    assert label.text() != label.whole
    assert label.toolTip() == label.whole
    label.resize(800, 20)
    assert label.toolTip() == ""


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (IndexState("running", 214, 349), "Indexing: 214 of 349 notes"),
        (IndexState("done", notes=349), "349 notes indexed"),
        (IndexState("done", notes=1), "1 note indexed"),
        (IndexState("done", notes=349, failed=3), "349 notes indexed, 3 could not be read"),
        (
            IndexState("stopped", 214, 349),
            "Indexing stopped at 214 of 349 notes. Search covers what is done.",
        ),
    ],
)
def test_the_foot_says_how_the_index_stands(state: IndexState, text: str) -> None:
    assert state.text == text


def test_a_running_index_can_be_stopped_and_a_stopped_one_continued(qtbot: QtBot) -> None:
    footer = IndexFooter()
    qtbot.addWidget(footer)
    footer.show()
    footer.show_state(IndexState("running", 1, 9))
    with qtbot.waitSignal(footer.cancel_requested):
        qtbot.mouseClick(footer.cancel, Qt.MouseButton.LeftButton)
    footer.show_state(IndexState("stopped", 1, 9))
    assert not footer.cancel.isVisible()
    with qtbot.waitSignal(footer.continue_requested):
        qtbot.mouseClick(footer.act, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def test_a_narrow_source_keeps_its_lines_and_shortens_its_path(qtbot: QtBot, share: float) -> None:
    path = "Guide/Search and index of all your notes.md"
    text = f"{path}, line 126"
    metrics = QFontMetrics(Theme.current().font("caption"))
    width = int(metrics.horizontalAdvance(text) * share)
    shown = elide_path(text, path, metrics, width)
    assert shown.endswith("notes.md, line 126")
    assert "…" in shown
    assert metrics.horizontalAdvance(shown) <= width


def test_a_source_is_cut_as_a_whole_if_its_lines_alone_fill_the_row(qtbot: QtBot) -> None:
    metrics = QFontMetrics(Theme.current().font("caption"))
    text = "Guide/Search.md, line 126 · found by Strata"
    width = metrics.horizontalAdvance(", line 126 · found by Strata")
    shown = elide_path(text, "Guide/Search.md", metrics, width)
    assert metrics.horizontalAdvance(shown) <= width
    assert elide_path(text, "Guide/Search.md", metrics, 2_000) == text


def test_a_long_pinned_answer_shows_more_rows_on_a_click_or_a_key(qtbot: QtBot) -> None:
    rows = tuple(AnswerRow("Long.md", number, f"- [ ] Step {number}.") for number in range(1, 501))
    answer = PinnedAnswer("a", "Steps", "steps", "list", total=700, rows=rows, seen=rows)
    shown = PinnedList()
    qtbot.addWidget(shown)
    shown.set_answers([ShownAnswer(answer, RowChanges())])
    shown.open("a")
    model, card = shown.model(), shown.model().index(0, 0)

    def read_last() -> str:
        return str(model.index(model.rowCount(card) - 1, 0, card).data())

    assert read_last() == "Show more (500 left)"
    shown.chosen.emit(model.index(200, 0, card))
    card = model.index(0, 0)
    assert read_last() == "Show more (300 left)"
    assert shown.currentIndex().data() == "Step 201."
    shown.setCurrentIndex(model.index(400, 0, card))
    QTest.keyClick(shown, Qt.Key.Key_Return)
    card = model.index(0, 0)
    assert model.rowCount(card) == 501
    assert read_last() == "200 more"  # which the file of pinned answers does not keep
    assert shown.list_open() == ["a"]


def test_all_of_thousands_of_rows_are_shown_in_the_end_and_only_those_in_view_are_made(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    remove = markup.remove_markup
    monkeypatch.setattr(markup, "remove_markup", lambda text: made.append(text) or remove(text))
    rows = tuple(AnswerRow("Long.md", number, f"- [ ] Step {number}.") for number in range(5_000))
    answer = PinnedAnswer("a", "Steps", "steps", "list", total=5_000, rows=rows, seen=rows)
    shown = PinnedList()
    qtbot.addWidget(shown)
    shown.set_limit(400)
    shown.resize(300, 400)
    shown.set_answers([ShownAnswer(answer, RowChanges())])
    shown.show()
    shown.open("a")
    model, presses = shown.model(), 0
    while (rows_now := model.rowCount(model.index(0, 0))) < 5_000:
        shown.chosen.emit(model.index(rows_now - 1, 0, model.index(0, 0)))
        presses += 1
    assert presses < 6
    last = model.index(4_999, 0, model.index(0, 0))
    assert last.data() == "Step 4999."
    assert len(set(made)) < 500


def test_all_changed_lines_of_a_models_answer_can_be_seen(qtbot: QtBot) -> None:
    lines = [f"+Step {number}." for number in range(1, 500)]
    diff = "\n".join(["--- a/Long.md", "+++ b/Long.md", *lines])
    answer = PinnedAnswer(
        "a",
        "Steps",
        "What are the steps?",
        "model",
        summary="1 of its 2 sources changed.",
        total=1,
        rows=(AnswerRow("Long.md", 1, diff, "Long"),),
        answer=ModelAnswer("There are many.", "small", sources=2),
    )
    shown = PinnedList()
    qtbot.addWidget(shown)
    shown.set_answers([ShownAnswer(answer, RowChanges())])
    shown.open("a")
    model = shown.model()

    def read_texts() -> list[str]:
        card = model.index(0, 0)
        return [str(model.index(row, 0, card).data()) for row in range(model.rowCount(card))]

    assert read_texts()[:3] == ["1 of its 2 sources changed.", "Long", "Step 1."]
    assert read_texts()[-2:] == ["Step 198.", "Show more (301 left)"]
    shown.setCurrentIndex(model.index(200, 0, model.index(0, 0)))
    QTest.keyClick(shown, Qt.Key.Key_Return)
    assert shown.currentIndex().data() == "Step 199."
    assert read_texts()[-1] == "Show more (101 left)"
    shown.chosen.emit(model.index(400, 0, model.index(0, 0)))
    assert read_texts()[-1] == "Step 499."
