"""Images that a note shows: decoded in a child process, with a placeholder meanwhile."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.vaults.image_files import draw, make_bomb
from tests.support.window.clicks import click_row
from tests.support.window.note_page import NotePage
from tests.support.window.window_pages import WindowPage, open_window
from ui.controllers.reading.images import open_image, read_embedded
from ui.tasks import TaskRunner

BOMB_EDGE = 5_700  # 130 MB as decoded, which Qt allows by default
MOST_GROWTH_MB = 60
NOTE = """\
# Beds

![[bed.png]]

![torn](torn.png)

![gone](gone.png)
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "notes"
    vault.mkdir()
    (vault / "Beds.md").write_text(NOTE, "utf-8")
    (vault / "Bomb.md").write_text("# Bomb\n\n![bomb](bomb.png)\n\n![huge](huge.png)\n", "utf-8")
    (vault / "bed.png").write_bytes(draw(300, 200))
    (vault / "torn.png").write_bytes(draw(300, 200)[:90])
    return vault


@pytest.fixture
def window(assistant: Assistant, vault: Path, qtbot: QtBot) -> Iterator[WindowPage]:
    assistant.open_vault(vault, remember=False)
    runner = TaskRunner()
    window = open_window(assistant, runner, qtbot)
    window.activate(1280, 900, qtbot)
    yield window
    window.close()
    runner.close()


def open_note(window: WindowPage, name: str, qtbot: QtBot) -> NotePage:
    tree = window.sidebar.view.notes
    qtbot.waitUntil(lambda: tree.model().rowCount() > 0)
    click_row(tree, name)
    note = NotePage(window.view)
    qtbot.waitUntil(lambda: note.is_open and note.path == name)
    return note


def has_red(note: NotePage) -> bool:
    image = note.view.page.viewport().grab().toImage()
    points = ((x, y) for x in range(0, image.width(), 20) for y in range(0, image.height(), 20))
    return any(image.pixelColor(x, y) == QColor("red") for x, y in points)


def read_peak_mb() -> float:
    """Return the largest memory that this process has had since the peak was last reset."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def test_an_image_is_shown_when_it_is_decoded_and_the_note_is_usable_before(
    window: WindowPage, assistant: Assistant, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, read = Event(), assistant.images.read
    monkeypatch.setattr(
        assistant.images, "read", lambda path: read(path) if may_read.wait(60) else None
    )
    note = open_note(window, "Beds.md", qtbot)
    qtbot.waitUntil(lambda: "Loading image: bed.png" in note.text)
    assert "Show image" not in note.text
    note.press_keys("Ctrl+E")
    assert note.text.startswith("# Beds")
    note.press_keys("Ctrl+E")
    assert not has_red(note)
    may_read.set()
    qtbot.waitUntil(lambda: has_red(note))
    assert "bed.png" not in note.text


def test_an_image_of_a_project_outside_the_vault_is_shown(
    window: WindowPage, assistant: Assistant, tmp_path: Path, qtbot: QtBot
) -> None:
    project = tmp_path / "project"
    (project / "images").mkdir(parents=True)
    (project / "images" / "well.png").write_bytes(draw(300, 200))
    (project / "Well.md").write_text("# Well\n\n![[well.png]]\n", "utf-8")
    assistant.projects.add(str(project))
    window.view.show_note(str(project / "Well.md"))
    note = NotePage(window.view)
    qtbot.waitUntil(lambda: note.is_open and has_red(note))
    assert "well.png" not in note.text


def test_an_image_that_cannot_be_shown_says_why(window: WindowPage, qtbot: QtBot) -> None:
    note = open_note(window, "Beds.md", qtbot)
    said = ("The image torn.png cannot be shown: it is damaged", "There is no image named gone.png")
    qtbot.waitUntil(lambda: all(text in note.text for text in said))
    assert note.text.count("Loading image") == 0
    assert note.text.count("Show image") == 0
    assert note.text.count("Open image") == 1  # only the image that is there


def test_a_hostile_image_takes_no_memory_of_the_window(
    window: WindowPage, vault: Path, qtbot: QtBot
) -> None:
    (vault / "bomb.png").write_bytes(make_bomb(BOMB_EDGE, BOMB_EDGE, is_colored=True))
    (vault / "huge.png").write_bytes(make_bomb(60_000, 2_000))
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    before = read_peak_mb()
    note = open_note(window, "Bomb.md", qtbot)
    said = "The image huge.png cannot be shown: 60,000 × 2,000 pixels; images of up to 100 million"
    qtbot.waitUntil(lambda: said in note.text)
    assert "bomb.png" not in note.text
    assert read_peak_mb() - before < MOST_GROWTH_MB


def test_an_image_is_kept_no_larger_than_the_text_column(assistant: Assistant, vault: Path) -> None:
    (vault / "wide.png").write_bytes(draw(4_000, 1_000))
    assistant.open_vault(vault, remember=False)
    shown = read_embedded(assistant.images, "wide.png", "Beds.md")
    assert isinstance(shown, QImage)
    assert shown.size().toTuple() == (1_520, 380)
    assert open_image(assistant.images, "wide.png").image.width() == 2_048
