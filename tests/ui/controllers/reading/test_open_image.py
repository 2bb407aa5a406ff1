"""An image of the vault that is opened: from links, embeds and the tree; and what cannot be."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QColor, QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.support.window.clicks import choose_from_row, click_row, row_of
from tests.support.window.desktop import Desktop
from tests.support.window.note_page import NotePage
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.markdown.page.note_view import NoteView
from ui.panels.notes.image import ImagePage
from ui.tasks import TaskRunner

INK = QColor("#c04090")
NOTE = """\
# Beds

See [the bed](beds/bed.png), [[plan.png]] and [a drawing](beds/drawing.svg).

Nothing is known of [a pond](pond.png).

![[bed.png]]

![far](https://example.org/far.png)

![torn](beds/torn.png)

Inline ![bed](beds/bed.png) it is.
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "notes"
    (vault / "beds").mkdir(parents=True)
    (vault / "Beds.md").write_text(NOTE, "utf-8")
    draw(vault / "beds" / "bed.png", 300, 200)
    draw(vault / "plan.png", 3_000, 1_000)
    (vault / "beds" / "torn.png").write_bytes((vault / "plan.png").read_bytes()[:90])
    (vault / "beds" / "drawing.svg").write_text("<svg/>", "utf-8")
    return vault


@pytest.fixture
def window(
    assistant: Assistant, vault: Path, runner: TaskRunner, qtbot: QtBot
) -> Iterator[WindowPage]:
    assistant.open_vault(vault, remember=False)
    for _ in assistant.index(CancelToken()):
        pass
    window = open_window(assistant, runner, qtbot)
    window.activate(1280, 900, qtbot)
    settle()
    yield window
    window.close()


@pytest.fixture
def note(window: WindowPage) -> NotePage:
    click_row(window.sidebar.view.notes, "Beds.md")
    settle()
    return NotePage(window.view)


def draw(path: Path, width: int, height: int) -> None:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(INK)
    image.save(str(path))


def find_page(note: NotePage) -> ImagePage:
    assert note.view.image.isVisible()
    return note.view.image


def has_ink(page: ImagePage) -> bool:
    middle = page.find_picture_rect().center()
    return page.viewport().grab().toImage().pixelColor(middle) == INK


def find_picture(note: NotePage) -> tuple[NoteView, QPoint]:
    """Return the view with the first image of the note that is drawn, and a point of the image."""
    for view in note.view.page.views():
        picture = view.viewport().grab().toImage()
        for y in range(0, picture.height(), 20):
            if picture.pixelColor(60, y) == INK:
                return view, QPoint(60, y)
    raise LookupError("no image is drawn")


@pytest.mark.parametrize(
    ("click", "path", "pixels"),
    [
        (lambda note: note.click_link("the bed"), "beds/bed.png", "300 × 200 pixels"),
        (lambda note: note.click_link("plan.png"), "plan.png", "3,000 × 1,000 pixels"),
        (lambda note: note.click(*find_picture(note)), "beds/bed.png", "300 × 200 pixels"),
    ],
    ids=["link", "wikilink", "embed"],
)
def test_an_image_of_the_vault_is_opened_from_a_note(
    note: NotePage, click: Callable[[NotePage], None], path: str, pixels: str
) -> None:
    click(note)
    settle()
    page = find_page(note)
    assert has_ink(page)
    assert note.path == path
    name = path.rpartition("/")[2]
    assert {name, f"{path} · {pixels}"} <= set(note.texts())
    accessible = QAccessible.queryAccessibleInterface(page)
    assert accessible.text(QAccessible.Text.Name) == f"Image {name}, {pixels}"
    assert note.has_focus
    note.press("Back")
    settle()
    assert "Nothing is known of" in note.text


def test_an_image_is_fitted_to_the_width_but_never_enlarged(
    window: WindowPage, note: NotePage
) -> None:
    note.click_link("plan.png")
    settle()
    page = find_page(note)
    for width in (1280, 1000):
        window.view.resize(width, 900)
        settle()
        rect = page.find_picture_rect()
        assert rect.width() == page.viewport().width() - 40
        assert rect.height() == pytest.approx(rect.width() / 3, abs=1)
    note.press("Back")
    settle()
    note.click_link("the bed")
    settle()
    assert page.find_picture_rect().size().toTuple() == (300, 200)


def test_an_image_is_opened_and_attached_from_the_tree(window: WindowPage, note: NotePage) -> None:
    tree = window.sidebar.view.notes
    click_row(tree, "beds")
    click_row(tree, "bed.png")
    settle()
    assert has_ink(find_page(note))
    assert window.sidebar.chosen_note == "bed.png"
    assert row_of(tree, "bed.png").data(Qt.ItemDataRole.AccessibleTextRole) == "bed.png, image"
    note.press("Attach this image")
    assert [item.target for item in window.composer.attached] == ["beds/bed.png"]
    choose_from_row(tree, "plan.png", "Attach to the message")
    assert [item.target for item in window.composer.attached] == ["beds/bed.png", "plan.png"]


def test_the_source_and_the_headings_are_not_offered_for_an_image(
    window: WindowPage, note: NotePage
) -> None:
    note.press_keys("Ctrl+E")
    assert note.text.startswith("# Beds")
    click_row(window.sidebar.view.notes, "plan.png")
    settle()
    find_page(note)
    note.press_keys("Ctrl+E")
    note.press_keys("Ctrl+F")
    find_page(note)
    for part in (note.view.head.outline, note.view.head.switch, note.view.head.related):
        assert not part.isVisible()
    note.press("Back")
    settle()
    assert note.text.startswith("# Beds")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "a drawing",
            "The image drawing.svg cannot be shown: it is not a PNG, JPEG, GIF, WebP or ",
        ),
        ("Open image", "The image torn.png cannot be shown: it is damaged ("),
    ],
)
def test_what_cannot_be_shown_says_why_and_is_opened_elsewhere(
    note: NotePage, vault: Path, desktop: Desktop, words: str, said: str
) -> None:
    note.click_link(words)
    settle()
    assert not note.view.image.isVisible()
    assert [text for text in note.texts() if text.startswith(said)]
    note.choose("Actions of this image", "Open in the default program")
    note.choose("Actions of this image", "Reveal in the file manager")
    assert desktop.opened == [str(vault / note.path), str(vault / "beds")]
    note.press("Back")
    settle()
    assert "Nothing is known of" in note.text


def test_an_image_that_is_not_there_is_named_and_the_note_stays(
    window: WindowPage, note: NotePage
) -> None:
    note.click_link("a pond")
    settle()
    assert window.toasts()[-1] == "There is no image named pond.png."
    assert note.path == "Beds.md"


def test_an_image_of_the_web_is_not_offered(note: NotePage) -> None:
    assert "Image not loaded: example.org   Open in browser" in note.text
    assert note.text.count("Open image") == 1
    assert "Show image" not in note.text


def test_an_image_within_a_line_is_shown_and_leads_to_itself(note: NotePage) -> None:
    view, spot = note.find_words("Inline")
    shown = view.document().find("Inline").block().next()
    assert shown.text() == "\N{OBJECT REPLACEMENT CHARACTER}"
    assert shown.next().text() == "it is."
    note.click(view, spot + QPoint(0, 60))
    settle()
    assert has_ink(find_page(note))


def test_another_version_of_an_open_image_is_shown_and_a_lost_one_stays(
    window: WindowPage, note: NotePage, vault: Path
) -> None:
    note.click_link("the bed")
    settle()
    draw(vault / "beds" / "bed.png", 120, 90)
    window.view.controllers.reading.reread()
    assert "beds/bed.png · 120 × 90 pixels" in note.texts()
    (vault / "beds" / "bed.png").unlink()
    window.view.controllers.reading.reread()
    assert "This image is not there any more." in note.texts()
    assert has_ink(find_page(note))


def test_the_image_scrolls_by_keys(window: WindowPage, note: NotePage, vault: Path) -> None:
    draw(vault / "plan.png", 200, 4_000)
    click_row(window.sidebar.view.notes, "plan.png")
    settle()
    page = find_page(note)
    focus = window.view.focusWidget()
    assert focus is not None
    QTest.keyClick(focus, Qt.Key.Key_PageDown)
    assert page.verticalScrollBar().value() > 0
