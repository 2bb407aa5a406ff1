"""A link to a note that does not exist looks so in answers too, and offers to create the note."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.markdown.page.view import MarkdownView
from ui.palette import Palette
from ui.tasks import TaskRunner

NOTES = {
    "Rain.md": "# Rain\n\n[[Barrel]], [[Wells]], [[sub/Deep]], [x](../up.md), [[plan.png]].\n",
    "sub/Barrel.md": "# Barrel\n\n[[Rain]] and [y](./Near.md).\n",
}
SAID = (
    "See [[Barrel]], [[Wells|the wells]], [Rain](Rain.md), [[Rain#Heading]], [web](https://a.de)."
)
KNOWN, MISSING = ("Barrel", "Rain", "web"), ("the wells",)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes", NOTES)


@pytest.fixture
def window(
    scripted: Assistant, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    scripted.open_vault(vault, remember=False)
    window = open_window(scripted, runner, qtbot, mode="chat")
    window.activate(1280, 900, qtbot)
    yield window
    window.close()


def is_dashed(view: MarkdownView, words: str) -> bool:
    cursor = view.document().find(words)
    assert not cursor.isNull(), words
    dash = QTextCharFormat.UnderlineStyle.DashUnderline
    return cursor.charFormat().underlineStyle() == dash


def find_palette(window: WindowPage) -> Palette:
    (palette,) = window.view.findChildren(Palette)
    return palette


def ask(window: WindowPage, server: ModelServer, said: str = SAID) -> MarkdownView:
    server.script(Answer(said, chunk_chars=7))
    window.composer.send("What is there?")
    settle()
    return window.chat.answers()[-1].view


def test_links_in_an_answer_look_as_in_a_note(window: WindowPage, server: ModelServer) -> None:
    view = ask(window, server)
    assert [words for words in KNOWN if is_dashed(view, words)] == []
    assert [words for words in MISSING if not is_dashed(view, words)] == []


def test_a_link_looks_so_while_the_answer_arrives(window: WindowPage) -> None:
    answer = window.view.transcript.maker.build_answer()
    for piece in ("See [[Barrel]], ", "[[Wells]]", " and more"):
        answer.append(piece)
        answer.view.flush()
    assert is_dashed(answer.view, "Wells")
    assert not is_dashed(answer.view, "Barrel")
    answer.deleteLater()


def test_a_new_note_changes_the_look(window: WindowPage, server: ModelServer, vault: Path) -> None:
    view = ask(window, server)
    (vault / "Wells.md").write_text("# Wells\n")
    list(window.assistant.index(CancelToken()))
    window.view.controllers.notes.list()
    settle()
    assert not is_dashed(view, "the wells")


def test_the_tooltip_says_what_it_is(
    window: WindowPage, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, _view: shown.append(text))
    view = ask(window, server)
    for words in ("the wells", "Barrel"):
        view.point_at(view.document().find(words).charFormat().anchorHref())
    assert "There is no note named Wells." in shown[0]
    assert shown[-1] == "<qt>note:Barrel</qt>"


def test_a_click_offers_to_create_the_note_and_undo_removes_it(
    window: WindowPage, server: ModelServer, vault: Path
) -> None:
    view = ask(window, server)
    view.setFocus()
    view.select_link("note:Wells")
    QTest.keyClick(view, Qt.Key.Key_Return)
    settle()
    palette = find_palette(window)
    assert palette.isVisible()
    assert palette.field.text() == "Wells"
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    settle()
    assert (vault / "Wells.md").read_text() == "# Wells\n"
    assert NotePage(window.view).path == "Wells.md"
    window.press("Undo")
    settle()
    assert not (vault / "Wells.md").exists()


def test_another_note_can_be_found_instead(window: WindowPage, server: ModelServer) -> None:
    view = ask(window, server)
    view.link_clicked.emit("note:Wells")
    settle()
    palette = find_palette(window)
    QTest.keyClicks(palette.field, "Barrel")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    settle()
    assert NotePage(window.view).path == "sub/Barrel.md"


def test_the_note_is_created_where_the_link_says(window: WindowPage, vault: Path) -> None:
    for source, link, path in (
        ("Rain.md", "Wells#Deep", "Wells.md"),
        ("Rain.md", "sub/Deep", "sub/Deep.md"),
        ("sub/Barrel.md", "./Near.md", "sub/Near.md"),
        ("sub/Barrel.md", "../Up", "Up.md"),
        ("Rain.md", "Ein Ölfaß", "Ein Ölfaß.md"),
    ):
        window.view.controllers.reading.follow_link(f"note:{link}", source)
        settle()
        QTest.keyClick(find_palette(window).field, Qt.Key.Key_Return)
        settle()
        assert (vault / path).exists()


def test_a_place_outside_is_refused_with_its_reason(window: WindowPage, vault: Path) -> None:
    window.view.controllers.reading.follow_link("note:../../outside", "Rain.md")
    settle()
    QTest.keyClick(find_palette(window).field, Qt.Key.Key_Return)
    settle()
    assert window.view.notifier.texts()
    assert not (vault.parent.parent / "outside.md").exists()
