"""Notes, images and pages of documents that notes and answers embed are shown in place."""

from collections.abc import Iterator
from logging import ERROR
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.library.embedded_notes import EmbeddedNotes
from tests.support.models.model_server import Answer, ModelServer
from tests.support.vaults.documents import pdf
from tests.support.vaults.obsidian import write_obsidian_vault
from tests.support.window.note_page import NotePage
from tests.support.window.window_pages import WindowPage, open_window
from ui.controllers.reading.embeds import EmbedExpander
from ui.controllers.reading.images import read_embedded
from ui.markdown.blocks import QuietRow
from ui.markdown.embeds import EmbeddedText, EmbedFailure
from ui.markdown.page.images import ImageFailure
from ui.tasks import TaskRunner

PICTURE = "\N{OBJECT REPLACEMENT CHARACTER}"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "notes"
    vault.mkdir()
    return write_obsidian_vault(vault)


@pytest.fixture
def window(assistant: Assistant, vault: Path, qtbot: QtBot) -> Iterator[WindowPage]:
    assistant.open_vault(vault, remember=False)
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
    qtbot.waitUntil(lambda: "Loading" not in note.text)
    return note


def test_each_kind_of_embed_is_shown_in_place(window: WindowPage, qtbot: QtBot) -> None:
    text = open_note(window, "Embeds.md", qtbot).text
    assert "The pump runs at six o'clock. See Frost and its limit." in text
    assert "The valve closes below the pump." in text
    assert "Deep below." not in text  # three deep
    assert "A section,\nFrost › Before the first night\n" in text
    assert "Drain the hose.\nClose the tap.\nin the middle of a line." in text
    assert text.count("The guard starts at 4 °C.") == 2  # in an item, and in a callout
    assert text.count(PICTURE) == 4  # one of them in the embedded note, one of the document
    assert "[[" not in text
    assert "tags:" not in text  # of the embedded note


def test_what_is_not_shown_is_said_in_a_quiet_row(window: WindowPage, qtbot: QtBot) -> None:
    text = open_note(window, "Embeds.md", qtbot).text
    assert "There is no note named Nowhere." in text
    assert "Diary is private, so it is not shown here.   Open note" in text
    assert "Nobody reads this" not in text
    assert "Pump has no heading No such heading.   Open note" in text
    assert "Loop embeds itself here.   Open note" in text
    assert "Embeds embeds itself here.   Open note" in text


def test_the_title_opens_the_note_at_its_part_by_mouse(window: WindowPage, qtbot: QtBot) -> None:
    note = open_note(window, "Embeds.md", qtbot)
    note.click_link("Frost › Before the first night")
    qtbot.waitUntil(lambda: note.path == "Frost.md")
    assert note.view.find_marked_lines() == (5, 5)


def test_the_title_opens_the_note_by_keyboard(window: WindowPage, qtbot: QtBot) -> None:
    note = open_note(window, "Embeds.md", qtbot)
    view, _ = note.find_words("Pump")
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert view.textCursor().selectedText() == "Pump"
    QTest.keyClick(view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: note.path == "Garden/Pump.md")


def test_links_in_an_embedded_note_lead_from_there(window: WindowPage, qtbot: QtBot) -> None:
    note = open_note(window, "Embeds.md", qtbot)
    note.click_link("its limit")  # written as a path from the folder of the embedded note
    qtbot.waitUntil(lambda: note.path == "Frost.md")


def test_an_image_has_the_width_that_the_note_sets(window: WindowPage, qtbot: QtBot) -> None:
    note = open_note(window, "Embeds.md", qtbot)
    document = note.view.page.views()[0].document()
    widths = []
    block = document.begin()
    while block.isValid():
        found = block.begin()
        if not found.atEnd() and found.fragment().charFormat().isImageFormat():
            widths.append(found.fragment().charFormat().toImageFormat().width())
        block = block.next()
    assert widths[:3] == [60, 300, 120]


def test_an_answer_shows_what_it_embeds(
    scripted: Assistant, server: ModelServer, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    scripted.open_vault(vault, remember=False)
    server.script(Answer("See ![[Frost#^limit]] and\n\n![[bed.png|120]]\n\n![[Diary]]\n\nDone."))
    window = open_window(scripted, runner, qtbot)
    window.composer.send("What do I know about frost?")
    (answer,) = window.chat.answers()
    qtbot.waitUntil(lambda: "Loading" not in answer.view.toPlainText())
    text = answer.view.toPlainText()
    assert "The guard starts at 4 °C." in text
    assert PICTURE in text
    assert "Diary is private, so it is not shown here." in text
    assert text.endswith("Done.")


def test_ten_thousand_embeds_are_read_within_limits(assistant: Assistant, vault: Path) -> None:
    lines = "\n\n".join(f"![[Many {n % 7}]] and ![[Long]]" for n in range(5_000))
    for n in range(7):
        (vault / f"Many {n}.md").write_text(lines, "utf-8")
    (vault / "Long.md").write_text("word " * 50_000, "utf-8")
    assistant.open_vault(vault, remember=False)
    expander = EmbedExpander(assistant.open_embeds(), assistant.images)
    found = expander.read("Many 1", "Other.md")
    assert isinstance(found, EmbeddedText)
    assert str(found.leaves).count("Further embedded notes are not opened here.") == 1
    assert len([leaf for leaf in found.leaves if isinstance(leaf, QuietRow)]) <= 50
    assert sum(len(str(leaf)) for leaf in found.leaves) < 1_000_000


def test_a_heading_within_the_note_itself_is_embedded(assistant: Assistant, vault: Path) -> None:
    (vault / "Self.md").write_text("![[#Part]]\n\n# Part\n\nInner.\n\n![[#Part]]\n", "utf-8")
    assistant.open_vault(vault, remember=False)
    expander = EmbedExpander(assistant.open_embeds(), assistant.images)
    found = expander.read("#Part", "Self.md")
    assert isinstance(found, EmbeddedText)
    assert found.title == "Self › Part"
    assert "Self › Part embeds itself here." in str(found.leaves[-1])


def test_in_an_embedded_base_this_is_the_note_that_embeds_it(
    assistant: Assistant, vault: Path
) -> None:
    (vault / "Own.base").write_text("filters: file.hasLink(this.file)\n", "utf-8")
    (vault / "Guest.md").write_text("![[Own.base]]", "utf-8")
    (vault / "Friend.md").write_text("See [[Guest]].", "utf-8")
    (vault / "Own friend.md").write_text("See [[Own.base]].", "utf-8")
    assistant.open_vault(vault, remember=False)
    assert assistant.library is not None
    assistant.library.vault.update()
    expander = EmbedExpander(assistant.open_embeds(), assistant.images)
    for source, named in (("Guest.md", "Friend"), ("", "Own friend")):
        found = expander.read("Own.base", source)
        assert isinstance(found, EmbeddedText)
        texts = str(found.leaves)
        assert [name for name in ("Friend.md", "Own friend.md") if name in texts] == [f"{named}.md"]


def test_a_note_outside_of_the_vault_embeds_its_neighbour(
    assistant: Assistant, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "One.md").write_text("![[Two]]\n", "utf-8")
    (folder / "Two.md").write_text("Of the neighbour.\n", "utf-8")
    (folder / "Hidden.md").write_text("---\nprivate: true\n---\nNo.\n", "utf-8")
    expander = EmbedExpander(EmbeddedNotes(None, assistant.projects), assistant.images)
    found = expander.read("Two", str(folder / "One.md"))
    assert isinstance(found, EmbeddedText)
    assert "Of the neighbour." in str(found.leaves)
    hidden = expander.read("Hidden", str(folder / "One.md"))
    assert isinstance(hidden, EmbedFailure)
    assert "is private" in hidden.message


def test_a_page_that_a_document_does_not_have_is_named(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    (vault / "Page.md").write_text("![[Manual.pdf#page=9]]\n\n![[None.pdf]]\n", "utf-8")
    text = open_note(window, "Page.md", qtbot).text
    assert "Manual.pdf cannot be shown: it has no page 9, but 2 pages." in text
    assert "There is no file named None.pdf." in text


def test_a_missing_page_is_said_in_numbers(window: WindowPage, vault: Path, qtbot: QtBot) -> None:
    (vault / "one.pdf").write_bytes(pdf(["Alone."]))
    names = ("Manual.pdf#page=0", "one.pdf#page=9", "one.pdf#page=99999999")
    (vault / "Page.md").write_text("\n\n".join(f"![[{name}]]" for name in names), "utf-8")
    text = open_note(window, "Page.md", qtbot).text
    assert "Manual.pdf cannot be shown: it has no page 0, but 2 pages." in text
    assert "one.pdf cannot be shown: it has no page 9, but 1 page." in text
    assert "it has no page 99,999,999, but 1 page." in text


@pytest.mark.parametrize("name", ["x" * 300, "y" * 300 + ".png", "f/" * 3_000 + "z", "ä" * 200])
def test_a_name_too_long_for_a_file_leaves_the_other_embeds(
    window: WindowPage, vault: Path, qtbot: QtBot, name: str
) -> None:
    source = f"![[{name}]]\n\n![]({name}.png)\n\n![[{name}.pdf]]\n\n![[Frost#^limit]]\n"
    (vault / "Long name.md").write_text(source, "utf-8")
    text = open_note(window, "Long name.md", qtbot).text
    assert "The guard starts at 4 °C." in text
    assert text.count(f"named {name[:100]}") == 3
    assert text.count(name) <= 1  # as the title of the document


def test_a_failure_of_one_embed_leaves_the_others(
    window: WindowPage,
    vault: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    resolve = EmbeddedNotes.resolve

    def fail(self: EmbeddedNotes, target: str, source: str) -> str | None:
        if target in {"Disk", "Bug"}:
            raise OSError("is ill") if target == "Disk" else LookupError("is odd")
        return resolve(self, target, source)

    monkeypatch.setattr(EmbeddedNotes, "resolve", fail)
    names = ("Disk", "Bug", "Frost#^limit", "Nowhere")
    (vault / "Ill.md").write_text("\n\n".join(f"![[{name}]]" for name in names), "utf-8")
    text = open_note(window, "Ill.md", qtbot).text
    assert "The guard starts at 4 °C." in text
    assert "There is no note named Nowhere." in text
    assert "is ill" in text
    assert [record.getMessage() for record in caplog.records if record.levelno >= ERROR] == [
        "A bug"
    ]
    caplog.clear()


def test_a_rule_keeps_files_from_models_and_not_from_their_reader(
    window: WindowPage, assistant: Assistant, vault: Path, qtbot: QtBot
) -> None:
    (vault / "Secret" / "s.pdf").write_bytes(pdf(["Sums."]))
    (vault / "Secret" / "s.png").write_bytes((vault / "Attachments" / "bed.png").read_bytes())
    names = ("Codes", "s.pdf", "s.png")
    source = "\n\n".join(f"![[Secret/{name}]]" for name in names)
    (vault / "Own.md").write_text(source, "utf-8")
    assistant.settings.set("vault.exclude", ["Secret/"])
    text = open_note(window, "Own.md", qtbot).text
    assert "4711" in text
    assert text.count(PICTURE) == 2
    assert "exclude" not in text


def test_an_excluded_file_outside_of_the_vault_says_why(
    assistant: Assistant, vault: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "app.json").write_text('{"userIgnoreFilters": ["/s[.]/"]}', "utf-8")
    (folder / "s.pdf").write_bytes(pdf(["Sums."]))
    (folder / "s.png").write_bytes((vault / "Attachments" / "bed.png").read_bytes())
    rule = "Obsidian's excluded files"
    for name in ("s.pdf", "s.png"):
        found = read_embedded(assistant.images, name, str(folder / "One.md"))
        assert isinstance(found, ImageFailure)
        assert found.message == f"{name} is not shown: it is excluded by the rule {rule}: /s[.]/."
