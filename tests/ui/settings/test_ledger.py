"""The calls that left Strata, as the settings list them."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from chains.ledger import OutgoingCall
from tests.support.window.clicks import button_named, click_button, click_row
from tests.support.window.settings_dialog import open_settings
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner


@pytest.fixture
def dialog(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[SettingsDialog]:
    with open_settings(assistant, runner, qtbot) as dialog:
        click_row(dialog.pages, "Ledger")
        yield dialog


def test_without_calls_the_page_says_so(dialog: SettingsDialog) -> None:
    assert dialog.ledger.state.text() == "No call has left Strata yet."
    assert dialog.ledger.texts() == []


def test_the_newest_call_is_listed_first_with_its_host_size_and_notes(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    first = OutgoingCall("model", "api.openai.com", 1_200, "s", "t", ("a.md", "b.md"), 300)
    assistant.ledger.record(first).finish(500, 450)
    assistant.ledger.record(OutgoingCall("web", "example.org"))
    click_button(dialog, "Show new calls")
    assert dialog.ledger.state.text().startswith("2 calls to api.openai.com (1), example.org (1).")
    web, model = (text.split(" · ", 1)[1] for text in dialog.ledger.texts())
    assert web == "web page at example.org · 0 bytes out, no answer"
    assert model == ("model at api.openai.com · 1,200 bytes out, 500 in, 450 tokens · a, b")


def test_questions_for_models_in_a_row_are_one_line(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    probes = [OutgoingCall("model", host, 0) for host in ("localhost", "127.0.0.1") * 3]
    sent = OutgoingCall("model", "127.0.0.1", 500, "s", "t", ("Garden/Roses.md",), 30)
    for call in (*probes, sent, *probes[:2], OutgoingCall("model", "127.0.0.1")):
        assistant.ledger.record(call).finish(10)
    click_button(dialog, "Show new calls")
    assert [text.split(" · ", 1)[1] for text in dialog.ledger.texts()] == [
        "3 questions for models at 127.0.0.1, localhost · 0 bytes out, 30 in",
        "model at 127.0.0.1 · 500 bytes out, 10 in, 30 tokens · Roses",
        "6 questions for models at 127.0.0.1, localhost · 0 bytes out, 60 in",
    ]
    assert dialog.ledger.state.text().startswith("10 calls to ")


def test_calls_that_were_made_meanwhile_are_listed_when_the_page_is_opened(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    click_row(dialog.pages, "Privacy")
    assistant.ledger.record(OutgoingCall("web", "example.org"))
    click_row(dialog.pages, "Ledger")
    assert dialog.ledger.state.text().startswith("1 call to example.org.")


def test_no_figure_of_a_call_is_cut_at_the_dialogs_usual_width(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    call = OutgoingCall("model", "api.openai.com", 113_771, "s", "t", ("a.md",) * 12, 300)
    for _ in range(40):  # with a scroll bar beside them
        assistant.ledger.record(call).finish(14_679, 13_606)
    click_button(dialog, "Show new calls")
    QApplication.processEvents()
    cut = [text.text() for text in dialog.ledger.findChildren(QLabel) if "…" in text.text()]
    assert cut == []


def test_a_page_without_settings_offers_no_reset(dialog: SettingsDialog) -> None:
    with pytest.raises(LookupError):
        button_named(dialog, "Reset this page")
    click_row(dialog.pages, "Privacy")
    assert button_named(dialog, "Reset this page").isVisible()


def test_a_ledger_that_cannot_be_read_is_named(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    assistant.paths.ledger.mkdir(parents=True)
    click_button(dialog, "Show new calls")
    assert str(assistant.paths.ledger) in dialog.ledger.state.text()
