"""What is too large to be sent, through the window: read whole, made a file, sent in parts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Failure, ModelServer, Silence
from tests.support.models.part_reader import ANSWER, days, is_part, reads_parts
from tests.support.vaults.documents import pdf
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.composer.attachment import Attachment
from ui.tasks import TaskRunner

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
) -> WindowPage:
    (small_vault / "Log.md").write_text(days(900))
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    assistant.settings.set("autoCompactThreshold", 4_000)
    assistant.open_vault(small_vault, remember=False)
    return open_window(assistant, runner, qtbot, mode="chat", is_begun=False)


def long_text(paragraphs: int) -> str:
    return "\n\n".join(f"{number}. {PARAGRAPH}".strip() for number in range(paragraphs))


def test_what_is_too_large_is_searched_unless_it_is_wanted_whole(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.attach(LOG)
    assert window.composer.chips["Log.md"].figures == "900 lines, searched within"
    assert window.composer.offer.startswith(
        "Log.md goes in excerpts, closest to your question. Reading all of it takes up to "
    )
    assert "calls, " in window.composer.offer
    window.composer.send("How many litres did the barrel hold?")
    assert not any(map(is_part, server.bodies))
    assert window.composer.offer == ""
    (message,) = window.chat.user_messages()
    assert message.chips.chips()[0].figures.endswith("used")


def test_a_pdf_is_as_long_as_its_pages(window: WindowPage, small_vault: Path) -> None:
    (small_vault / "Report.pdf").write_bytes(pdf([days(40)] * 30))
    window.composer.attach(Attachment("Report.pdf"))
    assert window.composer.chips["Report.pdf"].figures == "30 pages, searched within"


def test_the_panel_shows_what_will_go_of_it(window: WindowPage) -> None:
    window.composer.attach(LOG)
    preview = window.assistant.preview(None, "", "chat", attach=["Log.md"])
    (segment,) = [part for part in preview["segments"] if part["source"] == "Log.md"]
    assert (segment["state"], segment["reason"]) == ("shrunk", "share")
    half = preview["budget"] // 2
    assert half * 0.9 < segment["tokens"] <= half < segment["original_tokens"]
    assert preview["fraction"] == window.composer.view.meter.fraction < 0.75


def test_it_is_read_whole_where_that_is_chosen(window: WindowPage, server: ModelServer) -> None:
    steps: list[str] = []
    window.view.controllers.session.event_arrived.connect(
        lambda _turn, event: steps.append(getattr(event, "text", ""))
    )
    window.composer.attach(LOG)
    window.press("Read it all")
    parts = window.composer.chips["Log.md"].parts
    assert window.composer.chips["Log.md"].figures == f"900 lines, read in {parts} parts"
    assert window.composer.offer.startswith("Read whole before the answer: Log.md, in up to ")
    window.composer.send(QUESTION)
    assert sum(map(is_part, server.bodies)) == parts
    assert f"Reading part {parts} of {parts}" in steps
    assert [answer.text for answer in window.chat.answers()] == [ANSWER]
    (message,) = window.chat.user_messages()
    assert message.chips.chips()[0].figures == "read whole"


def test_what_was_chosen_can_be_taken_back(window: WindowPage, server: ModelServer) -> None:
    window.composer.attach(LOG)
    window.press("Read it all")
    window.press("Search it instead")
    window.composer.send(QUESTION)
    assert not any(map(is_part, server.bodies))


def test_what_was_agreed_to_holds_for_nothing_else(
    window: WindowPage, server: ModelServer, small_vault: Path
) -> None:
    (small_vault / "More.md").write_text(days(900))
    window.composer.attach(LOG)
    window.press("Read it all")
    window.composer.attach(Attachment("More.md"))
    assert window.composer.offer.startswith(
        "2 attachments go in excerpts, closest to your question."
    )
    window.composer.send(QUESTION)
    assert not any(map(is_part, server.bodies))


def test_another_model_has_to_be_agreed_to_anew(window: WindowPage) -> None:
    window.composer.attach(LOG)
    window.press("Read it all")
    window.composer.choose_model("scripted-too")
    assert window.composer.offer.startswith("Log.md goes in excerpts")
    assert window.view.controllers.composer.read_whole.is_wanted is False


def test_what_fits_is_not_offered_to_be_read(window: WindowPage) -> None:
    window.composer.attach(Attachment("Watering.md"))
    assert window.composer.offer == ""


def test_without_a_model_reading_is_not_offered(window: WindowPage) -> None:
    window.composer.choose_model("extractive")
    window.composer.attach(LOG)
    assert window.composer.offer == ""


def test_a_reading_that_fails_gives_the_message_back_as_it_was(
    window: WindowPage, server: ModelServer
) -> None:
    server.script(Failure.saying(401, "no such key"))
    window.composer.attach(LOG)
    window.press("Read it all")
    window.composer.send(QUESTION)
    assert len(window.chat.failures()) == 1
    assert window.composer.text == QUESTION
    assert window.composer.offer.startswith("Read whole before the answer: Log.md")
    server.script(reads_parts)
    window.composer.send(QUESTION)
    assert [answer.text for answer in window.chat.answers()] == [ANSWER]


def test_a_reading_can_be_stopped_and_the_message_is_as_it_was(
    assistant: Assistant, window: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    server.script(Silence())
    waiting = open_window(assistant, None, qtbot, mode="chat", is_begun=False)
    waiting.composer.attach(LOG)
    qtbot.waitUntil(lambda: waiting.composer.offer != "")
    waiting.press("Read it all")
    waiting.composer.send(QUESTION)
    qtbot.waitUntil(lambda: len(server.bodies) > 0)
    waiting.composer.press_send()
    qtbot.waitUntil(lambda: not waiting.chat.is_running)
    assert waiting.composer.text == QUESTION
    assert [info.turns for info in assistant.list_sessions()] == [0]
    qtbot.waitUntil(lambda: waiting.composer.offer.startswith("Read whole"))


def test_what_is_chosen_comes_back_with_its_draft(
    window: WindowPage, runner: TaskRunner, qtbot: QtBot
) -> None:
    window.composer.attach(LOG)
    window.press("Read it all")
    window.close()
    again = open_window(window.assistant, runner, qtbot, mode="chat", is_begun=False)
    again.view.controllers.context.refresh()
    assert again.composer.offer.startswith("Read whole before the answer: Log.md")


def test_a_message_that_does_not_fit_says_how_large_it_is_and_may_be(window: WindowPage) -> None:
    window.composer.write(long_text(40))
    assert window.composer.error.startswith("Your message does not fit. It has ")
    assert window.composer.error.endswith(" are free for it. Nothing was sent.")


def test_a_long_text_becomes_a_file_beside_a_short_question(
    window: WindowPage, server: ModelServer, strata_home: Path
) -> None:
    text = long_text(40)
    window.composer.write(f"{text}\n\n{QUESTION}")
    window.press("Attach as a file")
    assert window.composer.text == QUESTION
    assert window.composer.error == ""
    (target,) = window.composer.chips
    file = Path(target)
    assert file.is_relative_to(strata_home / "data" / "pasted")
    assert file.name == "0 The barrel behind the shed was mended.txt"
    assert file.read_text() == text
    assert file.stat().st_mode & 0o777 == 0o600
    assert window.composer.queue.startswith("The long text goes along as a file.")
    window.composer.send(QUESTION)
    assert "mended" in str(server.bodies[-1]["messages"])
    assert window.composer.queue == ""


def test_the_file_can_be_put_back_into_the_message(window: WindowPage) -> None:
    text = f"{long_text(40)}\n\n{QUESTION}"
    window.composer.write(text)
    window.press("Attach as a file")
    window.press("Put it back")
    assert window.composer.text == text
    assert window.composer.chips == {}
    assert window.composer.queue == ""


def test_a_long_message_is_sent_in_parts_one_after_the_other(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.write(long_text(24))
    window.press("Split it")
    parts = window.view.controllers.composer.long_message.parts
    assert parts > 1
    sent = []
    for number in range(1, parts + 1):
        assert window.composer.queue.startswith(f"Part {number} of {parts}.")
        sent.append(window.composer.text)
        window.composer.press_send()
    assert [message.text for message in window.chat.user_messages()] == sent
    assert "\n\n".join(sent) == long_text(24)
    assert (window.composer.queue, window.composer.text) == ("", "")


def test_parts_can_be_joined_again(window: WindowPage) -> None:
    window.composer.write(long_text(24))
    window.press("Split it")
    window.press("Join them again")
    assert window.composer.text == long_text(24)
    assert window.composer.queue == ""


def test_parts_come_back_with_their_draft(
    window: WindowPage, runner: TaskRunner, qtbot: QtBot
) -> None:
    window.composer.write(long_text(24))
    window.press("Split it")
    said = window.composer.queue
    window.close()
    again = open_window(window.assistant, runner, qtbot, mode="chat", is_begun=False)
    assert again.composer.queue == said
    again.press("Join them again")
    assert again.composer.text == long_text(24)


def test_a_part_that_was_not_sent_stands_before_those_that_follow(
    window: WindowPage, server: ModelServer
) -> None:
    window.composer.write(long_text(24))
    window.press("Split it")
    said = window.composer.queue
    grown, waiting = (
        f"{window.composer.text}\n\n{long_text(40)}",
        window.view.controllers.composer.long_message.waiting,
    )
    window.composer.send_uncounted(grown)  # too large by now: nothing can be sent
    assert server.bodies == []
    assert (window.composer.text, window.view.controllers.composer.long_message.waiting) == (
        grown,
        waiting,
    )
    assert window.composer.queue == said
