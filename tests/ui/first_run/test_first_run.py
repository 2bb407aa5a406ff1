"""The first run by mouse and keys: three steps, skipped and repeated, over a real server."""

import json
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea
from pytestqt.qtbot import QtBot

import chains.providers
from app.assistant import Assistant
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.processes.file_keyring import VARIABLE, FileKeyring, read_keys
from tests.support.window import widgets
from tests.support.window.clicks import choose_from_button, click_button
from tests.support.window.first_run_page import FirstRunPage
from tests.support.window.window_pages import WindowPage, open_window
from ui.first_run.cards import ChoiceCard
from ui.panels.index.state import IndexState
from ui.tasks import TaskRunner
from ui.theme import Theme

SERVICE = "A service with a key, or another server"
LLAMA = "llama.cpp, on this computer"
BIG = {"id": "/models/big-14b.gguf", "max_model_len": 32_768}


@pytest.fixture
def window(
    assistant: Assistant,
    small_vault: Path,
    runner: TaskRunner,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> WindowPage:
    """A window of a new user, whose folder dialog answers with the garden notes."""
    monkeypatch.setattr("ui.widgets.dialogs.ask_folder", lambda *_args: str(small_vault))
    return open_window(assistant, runner, qtbot)


@pytest.fixture
def page(window: WindowPage) -> FirstRunPage:
    window.view.offer_first_run()
    return FirstRunPage(window.view)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server at one of the usual addresses."""
    with ModelServer(models=[BIG, {"id": "/models/small.gguf"}]) as server:
        monkeypatch.setattr("chains.llm.server.LOCAL_SERVERS", {"llamafile": server.url})
        monkeypatch.setitem(chains.providers.LOCAL_BASES, "llamafile", server.url)
        yield server


def test_a_new_user_comes_from_a_folder_over_a_found_model_to_the_first_answer(
    server: ModelServer, page: FirstRunPage, window: WindowPage, small_vault: Path
) -> None:
    server.script(Answer("The barrel holds 210 litres [1]."))
    assert (page.step, page.main) == ("Notes", "Choose a folder…")
    page.press_main()
    assert window.assistant.vault == small_vault
    assert (page.step, page.chosen) == ("Model", LLAMA)
    assert page.main == "Use big-14b"
    page.press_main()
    assert window.assistant.settings.get("chat.model") == "llamafile//models/big-14b.gguf"
    assert page.step == "Ask"
    assert not page.can_go_on
    page.type("Question", "How much does the barrel hold?")
    QTest.keyClick(page.view.ask.field, Qt.Key.Key_Return)
    assert not page.is_open
    assert [said.text for said in window.chat.user_messages()] == ["How much does the barrel hold?"]
    assert window.chat.answers()[0].text == "The barrel holds 210 litres [1]."
    assert len(server.bodies) == 1


def test_another_model_of_a_found_server_can_be_chosen(
    server: ModelServer, page: FirstRunPage, window: WindowPage
) -> None:
    page.press("Skip")
    page.choose("Model: big-14b", "small")
    assert page.main == "Use small"
    page.press_main()
    assert window.assistant.settings.get("chat.model") == "llamafile//models/small.gguf"
    assert window.composer.view.models.value == "llamafile//models/small.gguf"
    window.composer.view.models.menu()  # the composer shows the new model at once


def test_each_step_can_be_skipped_and_the_dialog_is_offered_once(
    page: FirstRunPage, window: WindowPage
) -> None:
    steps = []
    while page.is_open:
        steps.append(page.step)
        page.press("Skip")
    assert steps == ["Notes", "Model", "Ask"]
    assert window.assistant.vault is None
    window.view.offer_first_run()
    assert not page.is_open


def test_who_has_a_folder_is_not_asked(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault)
    window = open_window(assistant, runner, qtbot)
    window.view.offer_first_run()
    assert not FirstRunPage(window.view).is_open


def test_who_names_a_folder_and_has_a_model_is_not_asked(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.model", "openai/some")
    assistant.open_vault(small_vault, remember=False)
    window = open_window(assistant, runner, qtbot)
    window.view.offer_first_run()
    assert not FirstRunPage(window.view).is_open


def test_who_names_only_a_folder_is_asked_for_the_model(
    assistant: Assistant, small_vault: Path, runner: TaskRunner, qtbot: QtBot
) -> None:
    assistant.open_vault(small_vault, remember=False)
    window = open_window(assistant, runner, qtbot)
    window.view.offer_first_run()
    assert FirstRunPage(window.view).step == "Model"


def test_the_steps_are_repeated_from_the_palette_and_keep_the_folder(
    window: WindowPage, small_vault: Path
) -> None:
    window.assistant.open_vault(small_vault)
    window.palette.choose("set up", "Set up Strata: notes, model, first question")
    page = FirstRunPage(window.view)
    assert page.chosen == small_vault.name
    page.press("Keep this folder")
    assert (page.step, page.chosen) == ("Model", "No model")
    page.press("Back")
    assert page.step == "Notes"


def test_the_settings_lead_to_the_steps(window: WindowPage) -> None:
    window.view.open_settings("Appearance")
    click_button(window.settings.view, "Set up again")
    page = FirstRunPage(window.view)
    assert (page.step, window.settings.is_open) == ("Notes", False)
    page.view.close()
    window.view.open_settings("Models")
    click_button(window.settings.view, "Set a model")
    assert page.step == "Model"


def test_the_list_of_models_and_a_refused_mode_lead_to_the_step_for_the_model(
    window: WindowPage, small_vault: Path
) -> None:
    window.assistant.open_vault(small_vault)
    window.composer.choose_mode("agent")
    QApplication.processEvents()  # the button was just made
    click_button(window.composer.view, "Set a model")
    page = FirstRunPage(window.view)
    assert page.step == "Model"
    page.view.close()
    window.composer.view.models.menu().actions()[-1].trigger()
    assert page.is_open


def test_a_model_set_from_the_settings_closes_the_dialog(
    server: ModelServer, window: WindowPage, qtbot: QtBot
) -> None:
    window.view.open_settings("Models")
    click_button(window.settings.view, "Set a model")
    page = FirstRunPage(window.view)
    qtbot.waitUntil(lambda: page.chosen == LLAMA)
    assert not page.view.line.isVisible()
    page.press_main()
    assert window.assistant.settings.get("chat.model") == "llamafile//models/big-14b.gguf"
    assert not page.is_open
    window.view.open_settings("Models")
    click_button(window.settings.view, "Set a model")
    page.press("Cancel")
    assert not page.is_open
    window.view.open_settings("Appearance")
    click_button(window.settings.view, "Set up again")
    page.press("Skip")
    assert (page.is_open, page.step, page.view.line.isVisible()) == (True, "Model", True)


def test_the_sample_notes_can_be_tried(page: FirstRunPage, window: WindowPage) -> None:
    page.press("The sample notes")
    page.press("Open the sample notes")
    assert page.step == "Model"
    page.press("Go on without a model")
    assert page.cards == []
    page.press("Back")
    page.press("Back")
    assert page.chosen == "The sample notes"


def test_a_click_asks_a_suggested_question(page: FirstRunPage, window: WindowPage) -> None:
    page.press("The sample notes")
    page.press("Open the sample notes")
    page.press("Go on without a model")
    page.press("When is the server backed up?")
    assert not page.is_open
    assert [asked.text for asked in window.chat.user_messages()] == [
        "When is the server backed up?"
    ]


def test_a_folder_that_cannot_be_opened_is_said_in_the_step(
    page: FirstRunPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    monkeypatch.setattr("ui.widgets.dialogs.ask_folder", lambda *_args: str(gone))
    page.press_main()
    assert page.step == "Notes"
    assert any(str(gone) in text for text in page.texts())


def test_without_a_folder_there_is_nothing_to_ask(page: FirstRunPage) -> None:
    page.press("Skip")
    page.press("Skip")
    assert any("no notes to ask" in text for text in page.texts())
    assert not page.can_go_on


def test_a_server_is_tested_before_it_is_stored(page: FirstRunPage, window: WindowPage) -> None:
    with ModelServer(models=[BIG]) as server:
        page.press("Skip")
        page.press(SERVICE)
        assert not page.can_go_on
        page.choose("Service: Anthropic", "Another server")
        page.type("Server address", server.url)
        page.press("Find its models")
        server.script(Failure(401), Answer("OK"))
        page.press("Test the connection")
        assert any("needs a key" in text for text in page.texts())
        page.type("Key", "sk-secret")
        page.press("Test the connection")
        assert any(text.startswith("It works: /models/big-14b.gguf, ") for text in page.texts())
        assert server.received[-1].headers["authorization"] == "Bearer sk-secret"
        assert window.assistant.settings.get("chat.model") == "extractive"
        assert window.assistant.settings.get("chat.apiBase") == ""


def test_an_address_without_scheme_and_path_is_completed(
    page: FirstRunPage, window: WindowPage
) -> None:
    with ModelServer(models=[BIG]) as server:
        page.press("Skip")
        page.press(SERVICE)
        page.choose("Service: Anthropic", "Another server")
        page.type("Server address", server.root.removeprefix("http://"))
        QTest.keyClick(page.view.model.form.address, Qt.Key.Key_Return)
        assert page.view.model.form.address.text() == server.url
        assert page.view.model.form.model.text() == BIG["id"]
        page.press_main()
    assert window.assistant.settings.get("chat.apiBase") == server.url


def test_a_key_goes_to_the_keyring(
    page: FirstRunPage, window: WindowPage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys.json"))
    monkeypatch.setattr(keyring.core, "_keyring_backend", FileKeyring())
    enter_key(page)
    assert read_keys(tmp_path / "keys.json") == {"openai": "sk-secret"}
    assert window.assistant.settings.get("chat.model") == "openai/gpt-4o"


def test_without_a_keyring_a_key_is_used_until_strata_is_closed(
    page: FirstRunPage, window: WindowPage
) -> None:
    enter_key(page)
    assert page.view.model.form.key.placeholderText() == "Used until Strata is closed"
    assert window.assistant.model_setup.find_key("openai") == "memory"
    assert window.assistant.settings.get("chat.model") == "openai/gpt-4o"


def enter_key(page: FirstRunPage) -> None:
    """Choose a service, enter its key, and go on."""
    page.press("Skip")
    page.press(SERVICE)
    page.choose("Service: Anthropic", "OpenAI")
    page.type("Key", "sk-secret")
    page.type("Model", "openai/gpt-4o")
    page.press_main()
    assert page.step == "Ask"
    assert page.view.model.form.key.text() == ""


def test_the_services_offer_their_models_with_prices(page: FirstRunPage) -> None:
    page.press("Skip")
    page.press(SERVICE)
    page.choose("Service: Anthropic", "OpenAI")
    menu = page.view.model.form.models.menu()
    shown = dict(action.text().split("\t") for action in menu.actions() if "\t" in action.text())
    assert "per million" in shown["openai/gpt-4o"]
    assert not any("audio" in name or "preview" in name for name in shown)
    assert all(action.data() and not action.isChecked() for action in menu.actions())
    page.choose("Models of the service: Choose", "openai/gpt-4o")
    assert page.view.model.form.model.text() == "openai/gpt-4o"
    page.type("Model", "openai/another")
    assert page.view.model.form.models.text() == "Choose", (
        "the menu names what is typed, or nothing"
    )


@pytest.mark.parametrize(
    ("service", "field"), [("Another server", "Server address"), ("OpenAI", "Key")]
)
def test_the_first_empty_field_of_a_chosen_service_has_the_focus(
    page: FirstRunPage, qtbot: QtBot, service: str, field: str
) -> None:
    page.view.activateWindow()
    qtbot.waitUntil(page.view.isActiveWindow)
    page.press("Skip")
    page.press(SERVICE)
    choose_from_button(page.view, "Service: Anthropic", service)
    focus = page.view.focusWidget()
    assert focus is not None
    assert focus.accessibleName() == field


def test_the_cards_keep_their_width_when_a_scroll_bar_appears(page: FirstRunPage) -> None:
    page.press("Skip")
    for card in ("No model", SERVICE):
        page.press(card)
        QApplication.processEvents()
    page.view.resize(page.view.width(), 900)
    widths, bars = set(), set()
    for height in (900, 320):
        page.view.resize(page.view.width(), height)
        for _ in range(5):
            QApplication.processEvents()
        card, *_ = page.view.model.cards
        widths.add(card.width())
        bars.add(page.view.model.findChild(QScrollArea).verticalScrollBar().isVisible())
    assert bars == {False, True}
    assert len(widths) == 1


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_nothing_is_cut_or_unnamed(
    server: ModelServer, page: FirstRunPage, scale: float, small_vault: Path
) -> None:
    Theme.current().apply("light", scale)
    for _ in range(3):
        assert widgets.unnamed(page.view) == []
        for _ in range(3):
            QApplication.processEvents()
        assert widgets.find_faults(page.view) == []
        assert widgets.overlapping_siblings(page.view) == []
        if page.step == "Model":
            page.press(SERVICE)
            QApplication.processEvents()
            assert widgets.find_faults(page.view) == []
        page.press("Skip")


def test_enter_a_key_leads_to_the_key_of_the_service_that_asked(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot, small_vault: Path
) -> None:
    """The chat uses another model than the one in the settings, whose key is wanted."""
    assistant.open_vault(small_vault)
    window = open_window(assistant, runner, qtbot, mode="chat")
    window.composer.choose_model("anthropic/claude-opus-5")
    window.composer.send("Hello?")
    assert "Anthropic needs a key" in window.chat.failures()[0].title.text()
    window.press("Enter a key")
    keys = window.settings.view.keys
    assert keys.isVisible()
    assert (keys.title.text(), window.settings.page) == ("Anthropic key", "Models")
    window.settings.view.close()
    window.view.open_settings("Models")
    assert not keys.isVisible()  # for no model is set


def test_enter_a_key_leads_to_the_address_of_a_server_that_refused(
    assistant: Assistant, runner: TaskRunner, qtbot: QtBot
) -> None:
    with ModelServer(Failure(401)) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        window = open_window(assistant, runner, qtbot, mode="chat")
        window.composer.send("Hello?")
        window.press("Enter a key")
        assert window.settings.view.keys.title.text() == f"Key for {server.root}"
        assert window.settings.view.keys.field.hasFocus() or not window.view.isActiveWindow()


def test_the_last_step_tells_of_indexing_only_while_it_goes_on(page: FirstRunPage) -> None:
    ask = page.view.ask
    ask.show_state(IndexState("running", 3, 27))
    assert ask.sentence.text().startswith("Indexing goes on meanwhile")
    ask.show_state(IndexState("done", notes=27))
    assert ask.sentence.text() == "Answers cite the lines they rest on."


def test_a_later_choice_of_a_model_is_not_called_the_set_up(
    window: WindowPage, small_vault: Path
) -> None:
    window.view.open_folder(small_vault)
    window.view.offer_first_run()
    window.view.set_model()
    page = FirstRunPage(window.view)
    assert page.view.windowTitle() == "Set a model"
    page.view.index.show_state(IndexState("done", notes=27))
    assert not page.view.index.isVisible()


def test_find_its_models_asks_anew_with_each_press(page: FirstRunPage) -> None:
    with ModelServer(key="right", models=[{"id": "small"}]) as server:
        page.press("Skip")
        page.press(SERVICE)
        page.choose("Service: Anthropic", "Another server")
        page.type("Server address", server.root)
        page.press("Find its models")
        assert page.view.model.form.state.text().startswith(f"{server.url} wants a key.")
        page.type("Key", "wrong")
        page.press("Find its models")
        assert page.view.model.form.state.text().startswith(f"{server.url} refused the key.")
        page.type("Key", "right")
        page.press("Find its models")
        assert page.view.model.form.model.text() == "small"
        assert page.view.model.form.key.placeholderText() == "Used until Strata is closed"
    page.press("Find its models")
    assert "does not answer. Start the server" in page.view.model.form.state.text()


def test_a_vault_that_obsidian_knows_is_offered_with_its_path_and_opened(
    window: WindowPage,
    assistant: Assistant,
    small_vault: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = tmp_path / "Other"
    other.mkdir()
    vaults = {"a": {"path": str(small_vault), "ts": 2}, "b": {"path": str(other), "ts": 1}}
    listed = tmp_path / "obsidian.json"
    listed.write_text(json.dumps({"vaults": vaults}))
    monkeypatch.setattr("app.library.known_vaults.list_obsidian_files", lambda: (listed,))
    window.view.offer_first_run()
    page = FirstRunPage(window.view)
    known = [small_vault.name, "Other"]
    assert page.cards == [*known, "A folder of notes", "The sample notes"]
    card = next(card for card in page.view.findChildren(ChoiceCard) if card.title == "Other")
    assert card.accessibleName() == f"Other, Obsidian, {other}"
    assert (page.chosen, page.main) == (small_vault.name, "Open this folder")
    page.view.grab()  # its icons are painted
    click_button(page.view, "Open this folder")
    assert (assistant.vault, page.step) == (small_vault.resolve(), "Model")
