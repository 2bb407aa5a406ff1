"""What is too large to be sent, through the window: read whole, made a file, sent in parts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from tests.ui.test_shell_drafts import ask, chips, open_window, press, said_to_the_model, shown

from app.assistant import Assistant
from tests.support.documents import pdf
from tests.support.model_server import Failure, ModelServer, Silence
from tests.support.part_reader import ANSWER, days, is_part, reads_parts
from ui.chat.composer.attachment import Attachment
from ui.chat.message.answer import Answer as AnswerWidget
from ui.chat.message.failure import Failure as FailureCard
from ui.chat.message.user import UserMessage
from ui.tasks import TaskRunner
from ui.window import MainWindow

LOG = Attachment("Log.md")
QUESTION = "What follows from all this?"
PARAGRAPH = "The barrel behind the shed was mended and then it held water again. " * 8


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(reads_parts) as server:
        yield server


@pytest.fixture
def window(
    assistant: Assistant,
    server: ModelServer,
    small_vault: Path,
    runner: TaskRunner,
    qtbot: QtBot,
) -> MainWindow:
    (small_vault / "Log.md").write_text(days(900))
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    assistant.settings.set("autoCompactThreshold", 4_000)
    assistant.open_vault(small_vault, remember=False)
    return open_window(assistant, runner, qtbot)


def offer(window: MainWindow) -> str:
    line = window._composer.offer
    return "" if line.isHidden() else line.text


def queue(window: MainWindow) -> str:
    line = window._composer.queue
    return "" if line.isHidden() else line.text


def long_text(paragraphs: int) -> str:
    return "\n\n".join(f"{number}. {PARAGRAPH}".strip() for number in range(paragraphs))


def test_what_is_too_large_is_searched_unless_it_is_wanted_whole(
    window: MainWindow, server: ModelServer
) -> None:
    window._presenter.drafting.attach([LOG])
    assert chips(window)["Log.md"].figures == "900 lines, searched within"
    assert offer(window).startswith(
        "Log.md goes in excerpts, closest to your question. Reading all of it takes up to "
    )
    assert "calls, " in offer(window)
    ask(window, "How many litres did the barrel hold?")
    assert not any(map(is_part, server.bodies))
    assert offer(window) == ""
    (message,) = shown(window, UserMessage)
    assert message.chips.chips()[0].figures.endswith("used")


def test_a_pdf_is_as_long_as_its_pages(window: MainWindow, small_vault: Path) -> None:
    (small_vault / "Report.pdf").write_bytes(pdf([days(40)] * 30))
    window._presenter.drafting.attach([Attachment("Report.pdf")])
    assert chips(window)["Report.pdf"].figures == "30 pages, searched within"


def test_the_panel_shows_what_will_go_of_it(window: MainWindow) -> None:
    window._presenter.drafting.attach([LOG])
    preview = window._assistant.preview(None, "", "chat", attach=["Log.md"])
    (segment,) = [part for part in preview["segments"] if part["source"] == "Log.md"]
    assert (segment["state"], segment["reason"]) == ("shrunk", "share")
    half = preview["budget"] // 2
    assert half * 0.9 < segment["tokens"] <= half < segment["original_tokens"]
    assert preview["fraction"] == window._composer.meter.fraction < 0.75


def test_it_is_read_whole_where_that_is_chosen(window: MainWindow, server: ModelServer) -> None:
    steps: list[str] = []
    window._talk.step_begun.connect(lambda text, _seconds: steps.append(text))
    window._presenter.drafting.attach([LOG])
    press(window, "Read it all")
    parts = chips(window)["Log.md"].parts
    assert chips(window)["Log.md"].figures == f"900 lines, read in {parts} parts"
    assert offer(window).startswith("Read whole before the answer: Log.md, in up to ")
    ask(window, QUESTION)
    assert sum(map(is_part, server.bodies)) == parts
    assert f"Reading part {parts} of {parts}" in steps
    assert [answer.text for answer in shown(window, AnswerWidget)] == [ANSWER]
    (message,) = shown(window, UserMessage)
    assert message.chips.chips()[0].figures == "read whole"


def test_what_was_chosen_can_be_taken_back(window: MainWindow, server: ModelServer) -> None:
    window._presenter.drafting.attach([LOG])
    press(window, "Read it all")
    press(window, "Search it instead")
    ask(window, QUESTION)
    assert not any(map(is_part, server.bodies))


def test_what_was_agreed_to_holds_for_nothing_else(
    window: MainWindow, server: ModelServer, small_vault: Path
) -> None:
    (small_vault / "More.md").write_text(days(900))
    window._presenter.drafting.attach([LOG])
    press(window, "Read it all")
    window._presenter.drafting.attach([Attachment("More.md")])
    assert offer(window).startswith("2 attachments go in excerpts, closest to your question.")
    ask(window, QUESTION)
    assert not any(map(is_part, server.bodies))


def test_another_model_has_to_be_agreed_to_anew(window: MainWindow) -> None:
    window._presenter.drafting.attach([LOG])
    press(window, "Read it all")
    window._presenter.drafting._on_model_changed("scripted-too")
    assert offer(window).startswith("Log.md goes in excerpts")
    assert window._presenter.drafting.reading.is_wanted is False


def test_what_fits_is_not_offered_to_be_read(window: MainWindow) -> None:
    window._presenter.drafting.attach([Attachment("Watering.md")])
    assert offer(window) == ""


def test_without_a_model_reading_is_not_offered(window: MainWindow) -> None:
    window._presenter.drafting._on_model_changed("extractive")
    window._presenter.drafting.attach([LOG])
    assert offer(window) == ""


def test_a_reading_that_fails_gives_the_message_back_as_it_was(
    window: MainWindow, server: ModelServer
) -> None:
    server.script(Failure.saying(401, "no such key"))
    window._presenter.drafting.attach([LOG])
    press(window, "Read it all")
    ask(window, QUESTION)
    assert len(shown(window, FailureCard)) == 1
    assert window._composer.text() == QUESTION
    assert offer(window).startswith("Read whole before the answer: Log.md")
    server.script(reads_parts)
    ask(window, QUESTION)
    assert [answer.text for answer in shown(window, AnswerWidget)] == [ANSWER]


def test_a_reading_can_be_stopped_and_the_message_is_as_it_was(
    assistant: Assistant, window: MainWindow, server: ModelServer, qtbot: QtBot
) -> None:
    server.script(Silence())
    waiting = open_window(assistant, None, qtbot)
    waiting._presenter.drafting.attach([LOG])
    qtbot.waitUntil(lambda: offer(waiting) != "", timeout=20_000)
    press(waiting, "Read it all")
    waiting._composer.set_text(QUESTION)
    waiting._composer.submitted.emit(QUESTION)
    qtbot.waitUntil(lambda: len(server.bodies) > 0, timeout=20_000)
    waiting._composer.send.click()
    qtbot.waitUntil(lambda: not waiting._talk.is_running, timeout=5_000)
    assert waiting._composer.text() == QUESTION
    assert [info.turns for info in assistant.list_sessions()] == [0]
    qtbot.waitUntil(lambda: offer(waiting).startswith("Read whole"), timeout=20_000)


def test_what_is_chosen_comes_back_with_its_draft(
    window: MainWindow, runner: TaskRunner, qtbot: QtBot
) -> None:
    window._presenter.drafting.attach([LOG])
    press(window, "Read it all")
    window.close()
    again = open_window(window._assistant, runner, qtbot)
    again._presenter.contexts.refresh()
    assert offer(again).startswith("Read whole before the answer: Log.md")


def test_a_message_that_does_not_fit_says_how_large_it_is_and_may_be(window: MainWindow) -> None:
    window._composer.set_text(long_text(40))
    assert window._composer.error().startswith("Your message does not fit. It has ")
    assert window._composer.error().endswith(" are free for it. Nothing was sent.")


def test_a_long_text_becomes_a_file_beside_a_short_question(
    window: MainWindow, server: ModelServer, strata_home: Path
) -> None:
    text = long_text(40)
    window._composer.set_text(f"{text}\n\n{QUESTION}")
    press(window, "Attach as a file")
    assert window._composer.text() == QUESTION
    assert window._composer.error() == ""
    (target,) = chips(window)
    file = Path(target)
    assert file.is_relative_to(strata_home / "data" / "pasted")
    assert file.name == "0 The barrel behind the shed was mended.txt"
    assert file.read_text() == text
    assert file.stat().st_mode & 0o777 == 0o600
    assert queue(window).startswith("The long text goes along as a file.")
    ask(window, QUESTION)
    assert "mended" in said_to_the_model(server)
    assert queue(window) == ""


def test_the_file_can_be_put_back_into_the_message(window: MainWindow) -> None:
    text = f"{long_text(40)}\n\n{QUESTION}"
    window._composer.set_text(text)
    press(window, "Attach as a file")
    press(window, "Put it back")
    assert window._composer.text() == text
    assert chips(window) == {}
    assert queue(window) == ""


def test_a_long_message_is_sent_in_parts_one_after_the_other(
    window: MainWindow, server: ModelServer
) -> None:
    window._composer.set_text(long_text(24))
    press(window, "Split it")
    parts = window._presenter.drafting.overlong.parts
    assert parts > 1
    sent = []
    for number in range(1, parts + 1):
        assert queue(window).startswith(f"Part {number} of {parts}.")
        sent.append(window._composer.text())
        window._composer.send.click()
    assert [message.text for message in shown(window, UserMessage)] == sent
    assert "\n\n".join(sent) == long_text(24)
    assert (queue(window), window._composer.text()) == ("", "")


def test_parts_can_be_joined_again(window: MainWindow) -> None:
    window._composer.set_text(long_text(24))
    press(window, "Split it")
    press(window, "Join them again")
    assert window._composer.text() == long_text(24)
    assert queue(window) == ""


def test_parts_come_back_with_their_draft(
    window: MainWindow, runner: TaskRunner, qtbot: QtBot
) -> None:
    window._composer.set_text(long_text(24))
    press(window, "Split it")
    said = queue(window)
    window.close()
    again = open_window(window._assistant, runner, qtbot)
    assert queue(again) == said
    press(again, "Join them again")
    assert again._composer.text() == long_text(24)


def test_a_part_that_was_not_sent_stands_before_those_that_follow(
    window: MainWindow, server: ModelServer
) -> None:
    window._composer.set_text(long_text(24))
    press(window, "Split it")
    said = queue(window)
    drafting = window._presenter.drafting
    grown, waiting = f"{window._composer.text()}\n\n{long_text(40)}", drafting.overlong.waiting
    window._composer.submitted.emit(grown)  # too large by now: nothing can be sent
    assert server.bodies == []
    assert (window._composer.text(), drafting.overlong.waiting) == (grown, waiting)
    assert queue(window) == said
