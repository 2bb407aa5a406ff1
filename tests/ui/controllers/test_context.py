"""The context panel in the window: what is pinned, previewed and counted reaches it."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.model import LiteLLMModel
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.message.blocks import FoldedDivider, SummaryDivider
from ui.chat.message.user import UserMessage
from ui.tasks import TaskRunner


@pytest.fixture
def window(
    scripted: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> WindowPage:
    """A window with one answered question, whose work is done at once."""
    window = open_window(scripted, runner, qtbot)
    others = "leaves and stones and " * 450  # in one sentence, which is checked once
    server.script(Answer(f"The barrel holds 210 litres. In it are {others}water."))
    window.composer.send("How much does the barrel hold?")
    return window


def question(window: WindowPage) -> UserMessage:
    return window.chat.user_messages()[0]


def compactions(window: WindowPage) -> list:
    """Return the compactions of the next request."""
    return window.assistant.preview(window.chat.session, "", "chat")["compactions"]


def test_a_message_is_pinned_where_it_stands_and_listed_in_the_panel(
    window: WindowPage, qtbot: QtBot
) -> None:
    qtbot.mouseClick(question(window).tools.pin, Qt.MouseButton.LeftButton)
    assert question(window).tools.pin.accessibleName() == "Unpin message"
    window.context.switch("Next request")
    assert window.context.pins == ["“How much does the barrel hold?”"]


def test_a_pin_taken_off_in_the_panel_is_gone_from_the_message(
    window: WindowPage, qtbot: QtBot
) -> None:
    qtbot.mouseClick(question(window).tools.pin, Qt.MouseButton.LeftButton)
    window.context.switch("Next request")
    window.context.unpin()
    assert window.context.pins == []
    assert question(window).tools.pin.accessibleName() == "Pin message"


def test_a_pin_over_its_bound_is_refused_with_the_figures(window: WindowPage, qtbot: QtBot) -> None:
    window.assistant.settings.set("autoCompactThreshold", 4_000)
    (answer,) = window.chat.answers()
    qtbot.mouseClick(answer.tools.pin, Qt.MouseButton.LeftButton)
    (told,) = window.toasts()
    assert "Nothing was pinned." in told
    assert answer.tools.pin.accessibleName() == "Pin answer"


@pytest.mark.parametrize(
    ("is_offline", "title"),
    [(True, "This request was not sent"), (False, "No answer came to this request")],
)
def test_a_request_without_an_answer_has_no_price(
    window: WindowPage, server: ModelServer, is_offline: bool, title: str
) -> None:
    server.script(Failure.saying(401, "no such key"))
    window.composer.choose_model("gpt-4o")
    if is_offline:
        window.assistant.settings.set("chat.apiBase", "https://api.example.org/v1")
        window.assistant.settings.set("privacy.offline", True)
    window.composer.send("What does it cost?")
    assert window.chat.failures()
    for _ in range(2):
        window.context.switch("Last request")
        texts = window.context.texts()
        assert title in texts
        assert not any("to read" in text for text in texts)
        session = window.chat.session
        window.chat.new()
        window.chat.reopen(session)


def test_an_opened_chat_tells_what_the_service_counted_then(window: WindowPage) -> None:
    session = window.chat.session
    window.chat.new()
    window.chat.reopen(session)
    window.context.switch("Last request")
    assert any("The service counted 100" in text for text in window.context.texts())


def test_passages_still_to_be_found_make_the_next_request_an_estimate(
    window: WindowPage,
) -> None:
    window.composer.choose_mode("chat")
    window.composer.write("And the second one?")
    window.view.controllers.context.refresh()
    assert not window.context.used.startswith("≈")
    window.assistant.open_vault(window.assistant.paths.data, remember=False)
    window.composer.choose_mode("vault")
    window.view.controllers.context.refresh()
    assert window.context.used.startswith("≈")


def test_an_empty_message_has_no_tokens(window: WindowPage) -> None:
    window.context.switch("Next request")
    window.composer.choose_mode("chat")
    used = []
    for text, is_empty in (("", True), ("Why?", False), ("", True)):
        window.composer.write(text)
        window.view.controllers.context.refresh()
        preview = window.assistant.preview(window.chat.session, text, "chat")
        assert (preview["layers"]["L5"]["tokens"] == 0) == is_empty
        used.append(read_figure(window))
    assert used[0] == used[2] < used[1]


def test_a_preview_counts_the_passages_that_will_be_sent(
    scripted: Assistant, server: ModelServer, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    scripted.open_vault(small_vault, remember=False)
    list(scripted.index(CancelToken()))
    window = open_window(scripted, runner, qtbot, mode="vault")
    for question in ("How much does the barrel hold?", "When do the tomatoes ripen?"):
        window.composer.write(question)
        window.view.controllers.context.refresh()
        window.context.switch("Next request")
        about = read_figure(window)
        window.composer.send(question)
        window.context.switch("Last request")
        sent = read_figure(window)
    assert abs(about - sent) < 0.25 * sent


def read_figure(window: WindowPage) -> int:
    return int(window.context.used.removeprefix("≈").strip().replace(",", ""))


def test_past_a_mark_the_limit_can_be_raised_from_the_panel(
    window: WindowPage, qtbot: QtBot
) -> None:
    window.assistant.settings.set("autoCompactThreshold", 4_000)
    window.composer.write("word " * 2_000)
    window.view.controllers.context.refresh()
    window.context.press("Raise the limit")
    assert window.settings.is_open
    assert window.settings.page == "Context"


def test_compacting_from_the_panel_tells_what_it_came_to(
    window: WindowPage, server: ModelServer
) -> None:
    window.assistant.settings.set("chat.model", "extractive")
    window.composer.send("And the second one?")
    window.context.choose("compact")
    window.compaction.accept()
    (ended,) = window.toasts()
    assert ended == "2 earlier messages became an outline, made without a model."
    assert compactions(window)


def test_a_compaction_has_one_line_in_the_chat(window: WindowPage) -> None:
    window.assistant.settings.set("chat.model", "extractive")
    window.composer.send("And the second one?")
    window.composer.send("/compact")
    window.compaction.accept()
    (line,) = window.chat.view.findChildren(FoldedDivider)
    assert isinstance(line, SummaryDivider)


def test_a_summary_is_shown_at_the_end_of_the_chat(window: WindowPage) -> None:
    window.composer.send("And the second one?")
    window.composer.send("/compact")
    window.compaction.accept()
    (compaction,) = compactions(window)
    window.context.choose("summary", compaction["entry"])
    assert len(window.chat.asides()) == 1


def test_without_a_turn_before_the_last_there_is_nothing_to_compact(window: WindowPage) -> None:
    window.composer.send("/compact")
    assert "There is nothing to summarise before the last question." in window.compaction.texts()
    assert not window.compaction.view.make.isVisible()


def test_a_chat_goes_on_from_before_a_compaction_as_one_of_its_own(window: WindowPage) -> None:
    window.composer.send("And the second one?")
    first = window.chat.session
    window.composer.send("/compact")
    window.compaction.accept()
    (compaction,) = compactions(window)
    window.context.choose("before", compaction["entry"])
    assert window.chat.session not in {None, first}
    assert compactions(window) == []
    assert window.chat.user_messages()[-1].text == "And the second one?"


def test_the_price_of_an_answer_and_of_the_chat_is_shown_and_stays(
    window: WindowPage, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiteLLMModel, "_price", lambda _self, _counted: 0.0042)
    assert "$" not in window.chat.answers()[0].tools.about.whole  # it runs on this computer
    server.script(Answer("In November."))
    window.composer.send("When is it emptied?")
    said = window.chat.answers()[-1].tools.about.whole
    assert said.endswith(" · $0.0042")
    assert "This chat has cost $0.0042 so far." in window.context.texts()
    session = window.chat.session
    window.chat.reopen(None)
    assert not any("has cost" in text for text in window.context.texts())
    window.chat.reopen(session)
    assert window.chat.answers()[-1].tools.about.whole == said
    assert "This chat has cost $0.0042 so far." in window.context.texts()
    server.script(Answer("Yes.", usage=None))
    window.composer.send("Surely?")
    assert "This chat has cost about $0.0042 so far." in window.context.texts()


def test_the_first_preview_is_near_what_is_sent(
    scripted: Assistant, server: ModelServer, runner: TaskRunner, qtbot: QtBot
) -> None:
    window = open_window(scripted, runner, qtbot)
    server.script(Answer("The barrel holds 210 litres."))
    window.composer.write("How much does the barrel hold?")
    expected = read_tokens(window.context.used)
    window.composer.press_send()
    assert window.context.which == "last"
    assert expected == pytest.approx(read_tokens(window.context.used), rel=0.15)


def read_tokens(headline: str) -> int:
    """Return the first figure of a headline such as `≈ 1,023 of 4,000 tokens`."""
    figure = re.search(r"\d[\d,]*", headline)
    assert figure is not None
    return int(figure.group().replace(",", ""))
