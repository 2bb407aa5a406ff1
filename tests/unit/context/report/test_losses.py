"""Warnings about what a person would not expect to leave: a pin, the last answer, a summary."""

from context.layers import Layer
from context.log.entries import PinEntry
from context.report.report import LeftOut
from context.report.warnings import warn_of_losses
from tests.support.sessions.chats import TIME, Chat


def warnings(chat: Chat, question: str) -> str:
    return " ".join(chat.preview(question).report.warnings)


def test_the_last_answer_that_leaves_is_a_warning() -> None:
    chat = Chat(threshold=4_000)
    chat.ask("Why?", "word " * 400)
    assert warnings(chat, "And?") == ""
    assert "The last answer (about " in warnings(chat, "x" * 8_800)


def test_a_pin_that_leaves_is_a_warning() -> None:
    chat = Chat(threshold=4_000)
    chat.ask("Pinned " * 60, "Because.")
    chat.ask("Why?", "So.")
    chat.path.append(PinEntry("p1", chat.path[-1].id, TIME, chat.path[0].id, True))
    assert warnings(chat, "And?") == ""
    said = warnings(chat, "x" * 8_900)
    assert "A pin " in said
    assert "has no room" in said


def test_a_summary_that_leaves_or_is_shortened_is_a_warning() -> None:
    for reason, words in (("summary", "left out"), ("summary_shortened", "shortened")):
        (said,) = warn_of_losses([LeftOut(Layer.L4, ("c1",), 0, 120, reason)], ())
        assert "summary of the earlier turns" in said
        assert words in said


def test_what_leaves_by_design_is_no_warning() -> None:
    for reason in ("room", "tail", "work", "shortened"):
        assert warn_of_losses([LeftOut(Layer.L4, ("a",), 1, 120, reason)], ()) == ()
