"""An answer as it is read: it streams, cites, shows what the model saw; what is sent with it."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QImage

from tests.support.models.model_server import Answer, Body, ModelServer
from tests.support.window.remote_window import Opened, RemoteWindow

QUESTION = "How much does the barrel hold?"
WORDS = "a word and another word " * 40


def ask(window: RemoteWindow, question: str) -> None:
    """Type a question and send it."""
    window.click("Message")
    window.type(question)
    window.press("Return")


def choose_chat_mode(window: RemoteWindow) -> None:
    """Ask without the notes, so that no index is needed."""
    window.click("Mode: Vault")
    window.choose("Chat")
    window.wait("Mode: Chat")


def quote(body: Body) -> Answer:
    """Quote the note about the barrel, by the number that it has in the request."""
    text = str(body["messages"][-1]["content"])
    if "Watering.md" not in text:
        return Answer("Barrels")
    number = text[: text.index('path="Watering.md"')].rpartition('<source n="')[2].split('"')[0]
    return Answer(f'The barrel holds "210 litres" [{number}].', chunk_chars=4)


def test_a_click_on_a_citation_opens_the_note_with_its_lines_lit(
    at_home: Opened, server: ModelServer, tmp_path: Path
) -> None:
    server.script(quote)
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    ask(window, QUESTION)
    window.wait("What the model saw")
    window.click_words("[1]", under="Chat")
    window.wait_for("Watering.md, line 5")
    (cited,) = window.find_words("210 litres", "Text of the note")
    (other,) = window.find_words("frost", "Text of the note")
    picture = QImage(str(window.save(tmp_path / "note.png")))
    assert background(picture, cited) != background(picture, other)
    window.click("Close the note")
    window.wait_for("The barrel holds", under="Chat")


def background(picture: QImage, rect: tuple[int, int, int, int]) -> int:
    """Return the most frequent colour in a part of a picture."""
    x, y, width, height = rect
    spots = ((x + dx, y + dy) for dx in range(width) for dy in range(height))
    return Counter(picture.pixel(*spot) for spot in spots).most_common(1)[0][0]


def test_an_answer_streams_and_can_be_stopped(at_home: Opened, server: ModelServer) -> None:
    server.script(Answer(f"First {WORDS}", stall_after=6))
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    choose_chat_mode(window)
    ask(window, "Tell me.")
    window.wait_for("First a word", under="Chat")
    window.wait("Stop")
    window.click("Message")
    window.press("Escape")
    window.wait_for("Stopped. What had arrived is kept.")
    assert window.shows("First a word", under="Chat")
    server.script(Answer("Second answer."))
    ask(window, "Go on.")
    window.wait_for("Second answer.", under="Chat")


def test_the_context_panel_shows_the_next_request_and_the_last(
    at_home: Opened, server: ModelServer
) -> None:
    server.script(Answer("Understood."))
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    choose_chat_mode(window)
    window.wait("L5 Your message", "TreeItem", "Layers")
    before = tokens(window, "L5 Your message")
    window.click("Message")
    window.type(WORDS[:200])
    window.wait_until(lambda: tokens(window, "L5 Your message") > before + 20, "a larger message")
    window.press("Return")
    window.wait("What the model saw")
    window.click("What the model saw")
    window.wait("Which request is shown: Last request")
    history = "L4 History"
    assert tokens(window, history) == 0
    window.click("Which request is shown: Last request")
    window.choose("Next request")
    window.wait_until(lambda: tokens(window, history) > 0, "the answer in the history")
    window.click("Show the request")
    window.wait_until(lambda: WORDS[:200].strip() in window.read("The request"), "the request")
    window.press("Escape")
    window.wait_until(lambda: not window.find("The request"), "the request to be closed")


def tokens(window: RemoteWindow, layer: str) -> int:
    """Return the tokens that a row of the context panel shows; -1 where there are none yet."""
    (row,) = window.find(layer, "TreeItem", "Layers")[-1:]
    figure = re.search(r"([\d,]+) tokens", row.name)
    return int(figure[1].replace(",", "")) if figure else -1


def test_notes_and_long_texts_are_attached_as_chips(
    at_home: Opened, server: ModelServer, add_settings: Callable[..., None], small_vault: Path
) -> None:
    add_settings({"autoCompactThreshold": 4_000})
    (small_vault / "Long.md").write_text("# Long\n\n" + "The hose is long. " * 1_500, "utf-8")
    server.script(Answer("Understood."))
    window = at_home()
    window.wait("Watering.md", "TreeItem", "Notes")
    choose_chat_mode(window)
    window.click("Message")
    window.type("@Water")
    window.wait("Watering", "ListItem")
    window.press("Return")
    x, y, width, height = window.wait("Attached Watering.md").rect
    window.click_at((x + width - 14, y + height // 2))  # its cross
    window.wait_until(lambda: not window.find("Attached Watering.md"), "the chip to be gone")

    window.click("Long.md", "TreeItem", "Notes")
    window.click("Show the source")
    window.click("Text of the note")
    window.press("ctrl+a", "ctrl+c")
    window.click("Close the note")
    window.click("Message")
    window.press("ctrl+v")
    window.click("Attach as a file")
    window.wait_for("The long text goes along as a file.")
    assert len(window.read("Message")) < 100
    window.click("Message")
    window.type("What is long?")
    window.press("Return")
    window.wait_for("Understood.", under="Chat")
    sent = str(server.bodies[0]["messages"][-1]["content"])
    assert "The hose is long." in sent
    assert sent.endswith("What is long?'}]")


def test_the_text_grows_and_stays_so(at_home: Opened) -> None:
    window = at_home()
    height = row_height(window)
    window.press("ctrl+plus", "ctrl+plus")
    window.wait_until(lambda: row_height(window) > height, "larger rows")
    larger = row_height(window)
    assert window.close() == 0
    window = at_home()
    window.wait_until(lambda: row_height(window) == larger, "rows as large as before")
    window.press("ctrl+0")
    window.wait_until(lambda: row_height(window) == height, "rows of the usual height")


def row_height(window: RemoteWindow) -> int:
    """Return the height of a note in the sidebar, in pixels."""
    return window.wait("Watering.md", "TreeItem", "Notes").rect[3]
