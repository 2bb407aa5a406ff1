"""Chats of other days: found, opened, renamed, deleted, brought back, and compacted."""

import re
from collections.abc import Callable

from tests.support.models.model_server import Answer, ModelServer, Silence
from tests.support.window.remote_window import Node, Opened, RemoteWindow

BEANS = ("How deep go the beans?", "Three centimetres deep.")
PEAS = ("What about peas?", "Peas may freeze.")
SUMMARY = "The barrel: behind the shed."
LONG = "The barrel stands behind the shed, and holds two hundred litres of rain. " * 20

DOWN = 5  # the button of a mouse that its wheel presses


def dividers(window: RemoteWindow) -> list[Node]:
    """Return the dividers of compactions that are in view."""
    return [n for n in window.nodes() if n.role == "Separator" and "summarised" in n.name]


def titles(window: RemoteWindow) -> list[str]:
    """Return the rows of the list of chats: headings, and chats by their titles."""
    rows = [n.name for n in window.nodes() if n.role == "TreeItem" and "Chats" in n.above]
    return [row.split(",")[0] for row in rows]


def test_the_chat_of_yesterday_is_opened_renamed_deleted_and_brought_back(
    at_home: Opened, add_chat: Callable[..., None]
) -> None:
    add_chat("a", 1, *BEANS)
    add_chat("b", 40, *PEAS)
    window = at_home()
    window.click(BEANS[0], "TreeItem", "Chats")
    window.wait_for(BEANS[1], under="Chat")
    assert titles(window)[:2] == ["Yesterday", BEANS[0]]

    window.right_click(BEANS[0], "TreeItem", "Chats")
    window.choose("Rename")
    window.press("ctrl+a")
    window.type("Depth of beans")
    window.press("Return")
    window.wait("Chat: Depth of beans")
    assert "Depth of beans" in titles(window)

    window.right_click("Depth of beans", "TreeItem", "Chats")
    window.choose("Delete")
    window.wait_until(lambda: "Depth of beans" not in titles(window), "the chat to be gone")
    assert not window.shows(BEANS[1], under="Chat")
    window.click("Undo")
    window.click("Depth of beans", "TreeItem", "Chats")
    window.wait_for(BEANS[1], under="Chat")
    assert window.close() == 0

    window = at_home()
    window.wait_for(BEANS[1], under="Chat")
    window.press("ctrl+shift+f")
    window.wait_until(lambda: window.wait("Search chats").has_focus, "the search field")
    window.type("freeze")
    window.click("Peas may freeze.", "TreeItem", "Chats")
    window.wait_for(PEAS[0], under="Chat")
    window.wait(f"Chat: {PEAS[0]}")


def test_a_compaction_is_seen_once_with_one_pair_of_figures(
    at_home: Opened, add_chat: Callable[..., None], server: ModelServer
) -> None:
    server.script(Silence())
    add_chat("a", 1, *(text for n in range(4) for text in (f"Question {n}?", f"{n}: {LONG}")))
    window = at_home()
    window.click("Question 0?", "TreeItem", "Chats")
    window.wait_for("3: The barrel", under="Chat")
    compact(window)
    window.click("Cancel")
    window.wait_until_gone("Summarising older messages…")
    assert not window.shows("summarised")
    server.script(Answer(SUMMARY))
    compact(window)
    window.click("Use this summary")
    window.wait_until_gone("Use this summary")
    window.wait_for("6 earlier messages summarised")
    window.screen.act("mousemove", *window.find("Answer", "Document")[-1].middle)
    window.screen.act("click", "--repeat", 9, DOWN)
    window.wait_until(lambda: bool(dividers(window)), "the divider")
    (divider,) = dividers(window)
    figures = re.search(r"[\d,]+ → [\d,]+ tokens", divider.name)
    assert figures is not None
    (row,) = window.find("L4", "TreeItem", "Left out of this request")
    assert figures[0] in row.name
    window.wait_for(f"6 earlier messages summarised · {figures[0]}")
    assert SUMMARY not in "".join(n.text for n in window.nodes())

    server.script(Answer("Understood."))
    window.click("Mode: Vault")
    window.choose("Chat")
    window.click("Message")
    window.type("And now?")
    window.press("Return")
    window.wait_for("Understood.", under="Chat")
    sent = str(server.bodies[-1]["messages"])
    assert SUMMARY in sent
    assert "Question 3?" in sent
    assert "Question 1?" not in sent


def compact(window: RemoteWindow) -> None:
    """Type the command, and let the summary be made that the dialog shows."""
    window.click("Message")
    window.type("/compact")
    window.wait("/compact", "ListItem")
    window.press("Return")
    window.click("Make the summary")
