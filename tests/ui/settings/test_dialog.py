"""The settings: made from the schema, in force at once, refused with what they take."""

import math
import threading
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import keyring
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSlider,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.config.schema import schema, use_labels
from app.config.secrets import name_key
from app.config.settings import SECTIONS
from context.report.reader import read_report
from context.report.report import ContextReport
from tests.support.processes.file_keyring import VARIABLE, FileKeyring
from tests.support.sessions.contexts import make_context, make_segment
from tests.support.window import widgets
from tests.support.window.clicks import button_named, click_button
from tests.support.window.settings_dialog import open_settings
from ui.panels.context.bar import ContextBar
from ui.settings.dialog import SettingsDialog
from ui.settings.fields import NumberField, parse_number
from ui.settings.limit import LimitRow, describe_effect, to_limit, to_slider_position
from ui.tasks import TaskRunner
from ui.theme import Theme

LIMIT = "autoCompactThreshold"


@pytest.fixture
def dialog(assistant: Assistant, runner: TaskRunner, qtbot: QtBot) -> Iterator[SettingsDialog]:
    with open_settings(assistant, runner, qtbot) as dialog:
        yield dialog


def field_of(dialog: SettingsDialog, key: str) -> QLineEdit:
    control = dialog.find_row(key).control
    return control if isinstance(control, QLineEdit) else control.findChildren(QLineEdit)[0]


def enter(qtbot: QtBot, field: QLineEdit, text: str) -> None:
    field.setText("")
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def shown(dialog: SettingsDialog) -> list[str]:
    return [label.text() for label in dialog.findChildren(QLabel) if label.isVisible()]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_page_scrolls_no_further_than_its_content(
    dialog: SettingsDialog, qtbot: QtBot, section: str
) -> None:
    dialog.show_page(section)
    area = dialog.stack.currentWidget().findChild(QScrollArea)
    assert area is not None
    page = area.widget()
    qtbot.waitUntil(lambda: page.height() >= area.viewport().height())
    rows = page.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert rows
    needed = max(row.geometry().bottom() + 1 for row in rows if row.isVisible()) + 16
    assert page.height() == max(area.viewport().height(), needed)


def test_every_setting_has_its_row_with_name_and_help(dialog: SettingsDialog) -> None:
    for key in schema():
        row = dialog.find_row(key)
        assert row.spec.key == key
        texts = [label.text() for label in row.findChildren(QLabel)]
        assert schema()[key].label in texts
        assert use_labels(schema()[key].help) in texts


def test_no_page_has_anything_cut_or_unnamed(dialog: SettingsDialog) -> None:
    for section in SECTIONS:
        dialog.show_page(section)
        assert widgets.find_faults(dialog) == [], section
        assert widgets.outside_their_parents(dialog) == [], section
        assert widgets.unnamed(dialog) == [], section


def test_an_open_dialog_grows_with_the_text(dialog: SettingsDialog) -> None:
    for section in SECTIONS:
        Theme.current().apply("light", 1.0)
        dialog.show_page(section)
        Theme.current().apply("light", 2.0)
        for _ in range(3):
            QApplication.processEvents()
        assert widgets.find_faults(dialog) == [], section
        assert widgets.outside_their_parents(dialog) == [], section
        assert widgets.overlapping_siblings(dialog) == [], section
        for button in dialog.findChildren(QPushButton):
            assert not button.isVisible() or button.width() >= button.sizeHint().width(), section
        assert dialog.pages.width() == 416, section
        assert {field.width() for field in dialog.findChildren(NumberField)} <= {264}, section
    assert dialog.findChildren(NumberField)


@pytest.mark.parametrize("section", ["Appearance", "Context", "Keyboard"])
def test_tab_goes_through_the_page_before_the_buttons_below_it(
    dialog: SettingsDialog, section: str
) -> None:
    dialog.show_page("Models")
    dialog.show_page(section)
    order, widget = [], dialog.search.nextInFocusChain()
    while widget is not dialog.search:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            order.append(widget)
        widget = widget.nextInFocusChain()
    assert order[0] is dialog.pages
    assert [widget.text() for widget in order[-2:]] == ["Reset this page", "Done"]
    row = next(dialog.find_row(key) for key, spec in schema().items() if spec.section == section)
    assert any(row.isAncestorOf(widget) for widget in order[1:-2])


def test_the_foot_of_the_pages_stands_on_their_edge_and_on_the_line_of_the_other_foot(
    dialog: SettingsDialog,
) -> None:
    found = {button.text(): button for button in dialog.findChildren(QPushButton)}
    shown = (label for label in dialog.findChildren(QLabel) if label.isVisible())
    (title,) = (label for label in shown if label.text() == "Settings")
    file = widgets.rect_in(dialog, found["Open settings.toml"])
    text_of_title = widgets.rect_in(dialog, title).left() + title.contentsMargins().left()
    assert file.left() + 8 == text_of_title  # its ring and what is free inside it
    done = widgets.rect_in(dialog, found["Done"])
    assert abs(file.center().y() - done.center().y()) <= 1


def test_a_number_holds_at_once(dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot) -> None:
    dialog.show_page("Context")
    with qtbot.waitSignal(dialog.changed) as changed:
        enter(qtbot, field_of(dialog, LIMIT), "64,000")
    assert changed.args == [LIMIT]
    assert assistant.settings.get(LIMIT) == 64_000
    assert field_of(dialog, LIMIT).text() == "64,000"


def test_models_that_see_images_are_named_one_a_line(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot
) -> None:
    dialog.show_page("Models")
    field = dialog.find_row("chat.imageModels").control
    assert isinstance(field, QPlainTextEdit)
    assert field.placeholderText() == "One model a line, such as openai/NAME"
    field.setFocus()
    qtbot.keyClicks(field, "local")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.keyClicks(field, " openai/eye ")
    with qtbot.waitSignal(dialog.changed) as changed:
        field_of(dialog, "chat.apiBase").setFocus()
    assert changed.args == ["chat.imageModels"]
    assert assistant.settings.get("chat.imageModels") == ["local", "openai/eye"]


@pytest.mark.parametrize("text", ["3999", "2000001", "many", "", "12.5"])
def test_a_limit_out_of_range_is_refused_with_the_range(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot, text: str
) -> None:
    dialog.show_page("Context")
    field = field_of(dialog, LIMIT)
    field.setText("")
    qtbot.keyClicks(field, text or " ")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert field.property("invalid")
    problem = "4,000 to 2,000,000. Default 128,000. It stays at 128,000."
    assert problem in shown(dialog)
    assert assistant.settings.get(LIMIT) == 128_000


def test_a_changed_setting_can_be_reset(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot
) -> None:
    dialog.show_page("Context")
    row = dialog.find_row(LIMIT)
    assert not row.reset_button.isVisible()
    enter(qtbot, field_of(dialog, LIMIT), "64000")
    assert row.reset_button.isVisible()
    row.reset_button.click()
    assert assistant.settings.get(LIMIT) == 128_000
    assert not row.reset_button.isVisible()


def test_the_slider_sets_the_limit(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot
) -> None:
    dialog.show_page("Context")
    slider = dialog.find_row(LIMIT).findChild(QSlider)
    slider.setValue(to_slider_position(32_000))
    assert assistant.settings.get(LIMIT) == 32_000


def test_the_slider_gives_each_doubling_the_same_way() -> None:
    steps = [to_slider_position(limit) for limit in (4_000, 8_000, 16_000, 32_000, 64_000, 128_000)]
    ways = [right - left for left, right in pairwise(steps)]
    assert max(ways) - min(ways) <= 1
    assert (to_limit(0), to_limit(1_000)) == (4_000, 2_000_000)
    assert all(
        math.isclose(to_limit(to_slider_position(n)), n, rel_tol=0.03) for n in (5_000, 777_000)
    )


def test_the_effect_of_another_limit_is_shown_before_and_after(
    dialog: SettingsDialog, qtbot: QtBot
) -> None:
    dialog.show_page("Context")
    field = field_of(dialog, LIMIT)
    field.setText("")
    qtbot.keyClicks(field, "64000")
    texts = shown(dialog)
    assert "128,000 now" in texts
    assert "64,000 new" in texts
    assert "Nothing would be left out." in texts


def test_a_limit_that_is_refused_previews_the_limit_that_stays(
    dialog: SettingsDialog, qtbot: QtBot
) -> None:
    dialog.show_page("Context")
    field, slider = field_of(dialog, LIMIT), dialog.find_row(LIMIT).findChild(QSlider)
    field.setText("")
    qtbot.keyClicks(field, "64000")
    assert "64,000 new" in shown(dialog)
    for _ in "000":
        qtbot.keyClick(field, Qt.Key.Key_Backspace)
    assert field.property("invalid")
    assert "128,000 new" in shown(dialog)
    assert "This is the limit in force." in shown(dialog)
    assert slider.value() == to_slider_position(128_000)


def with_turns(turns: int, **fields: int) -> ContextReport:
    left_out = {"layer": "L4", "entries": [], "turns": turns, "tokens": 9, "reason": "room"}
    return make_context(None, dropped=[left_out] if turns else [], **fields)


def with_passages(*states: str, **fields: int) -> ContextReport:
    passages = [make_segment(state=state) for state in states]
    return make_context(None, segments=passages, **fields)


def starting(action: str) -> ContextReport:
    actions = {"trim": False, "compact": False, "block": False, "guard": [], action: True}
    return make_context(None, window=60_000, actions=actions)


@pytest.mark.parametrize(
    ("now", "new", "sentence"),
    [
        (with_turns(0), with_turns(0), "This is the limit in force."),
        (
            with_turns(0),
            with_turns(2, window=60_000),
            "2 more turns would be left out of your next request, the oldest first.",
        ),
        (
            with_turns(3, window=60_000),
            with_turns(1),
            "2 turns that are left out now would be sent again.",
        ),
        (with_turns(1), with_turns(1, window=90_000), "1 turn would be left out, as now."),
        (
            with_passages("full", "full", "shrunk"),
            with_passages("dropped", "shrunk", "shrunk", window=60_000),
            "2 more passages would be left out of your next request or shortened.",
        ),
        (
            with_turns(0),
            starting("trim"),
            "Trimming would start with your next message. Nothing would be dropped.",
        ),
        (
            with_turns(0),
            starting("compact"),
            "Older messages would become a summary before your next message goes.",
        ),
    ],
)
def test_the_effect_is_told_in_one_sentence(
    now: ContextReport, new: ContextReport, sentence: str
) -> None:
    assert describe_effect(now, new)[0] == sentence


def test_a_model_that_takes_less_makes_the_limit_void() -> None:
    now = make_context(None, window=32_000, threshold=128_000)
    new = make_context(None, window=32_000, threshold=64_000)
    assert describe_effect(now, new)[0].startswith(
        "Nothing changes: the model itself takes no more"
    )


def test_the_preview_of_the_limit_says_that_it_is_loading(
    assistant: Assistant, qtbot: QtBot
) -> None:
    gate = threading.Event()

    def preview_late(changes: Mapping[str, object]) -> ContextReport:
        assert gate.wait(60)
        return read_report(assistant.preview(None, "hello", "chat", None, changes))

    with open_settings(assistant, TaskRunner(), qtbot) as dialog:
        dialog.set_preview(preview_late)
        dialog.show_page("Context")
        assert "Loading…" in shown(dialog)
        gate.set()
        qtbot.waitUntil(lambda: "Loading…" not in shown(dialog))
        assert "128,000 now" in shown(dialog)


def test_a_limit_under_which_the_message_does_not_fit_says_so(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot
) -> None:
    question = "word " * 8_000
    dialog.set_preview(
        lambda changes: read_report(assistant.preview(None, question, "chat", None, changes))
    )
    dialog.show_page("Context")
    field = field_of(dialog, LIMIT)
    field.setText("")
    qtbot.keyClicks(field, "4000")
    assert "Your message would not fit." in shown(dialog)


@pytest.mark.parametrize("typed", ["128000", "128,000", "128 000", "128'000", "128\u202f000"])
def test_figures_may_be_typed_with_separators(typed: str) -> None:
    assert parse_number(typed, schema()[LIMIT]) == 128_000


def test_a_temperature_can_be_emptied_and_entered_again(
    assistant: Assistant, dialog: SettingsDialog
) -> None:
    field = dialog.find_row("chat.temperature").control
    assert isinstance(field, NumberField)
    for typed, value in (("", ""), ("0.5", 0.5), ("3", 0.5)):
        field.setText(typed)
        field.editingFinished.emit()
        assert assistant.settings.get("chat.temperature") == value
    assert parse_number("", schema()[LIMIT]) is None


def test_a_folder_that_does_not_exist_is_refused_at_its_row(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot
) -> None:
    dialog.show_page("Vault and index")
    enter(qtbot, field_of(dialog, "vault.path"), "/nowhere/at/all")
    assert "There is no folder at /nowhere/at/all." in shown(dialog)
    assert assistant.settings.get("vault.path") == ""


def test_without_a_keyring_the_key_is_used_until_strata_is_closed(
    dialog: SettingsDialog, assistant: Assistant, qtbot: QtBot
) -> None:
    assistant.settings.set("chat.model", "openai/gpt-4o-mini")
    dialog.show_page("Models")
    keys = dialog.keys
    assert keys.isVisible()
    enter(qtbot, keys.field, "sk-secret")
    said = [label.text() for label in keys.findChildren(QLabel)]
    assert any("until Strata is closed: no keyring" in text for text in said)
    assert "sk-secret" not in " ".join(said)
    assert assistant.model_setup.find_key("openai") == "memory"


def test_a_key_for_an_unencrypted_server_is_saved_only_after_a_question(
    dialog: SettingsDialog,
    assistant: Assistant,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys.json"))
    monkeypatch.setattr(keyring.core, "_keyring_backend", FileKeyring())
    assistant.settings.set("chat.apiBase", "http://box.example:8000/v1")
    assistant.settings.set("chat.model", "llama")
    dialog.show_page("Models")
    keys, owner = dialog.keys, "http://box.example:8000"
    qtbot.waitUntil(lambda: keys.title.text() == name_key(owner))
    enter(qtbot, keys.field, "sk-secret")
    assert "whoever is on the way there can read the key" in keys.state.text()
    assert keys.refuse.isVisible()
    assert not keys.save.isVisible()
    assert not assistant.model_setup.has_key(owner)
    qtbot.mouseClick(keys.refuse, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not keys.refuse.isVisible())
    assert keys.field.text() == ""
    assert not assistant.model_setup.has_key(owner)
    enter(qtbot, keys.field, "sk-secret")
    qtbot.mouseClick(keys.agree, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: assistant.model_setup.has_key(owner))
    qtbot.waitUntil(lambda: "There is a key." in keys.state.text())


def test_a_model_without_a_service_asks_for_no_key(dialog: SettingsDialog) -> None:
    dialog.show_page("Models")
    assert not dialog.keys.isVisible()


def test_the_unit_stands_inside_the_field(dialog: SettingsDialog) -> None:
    dialog.show_page("Context")
    row = dialog.find_row(LIMIT)
    assert isinstance(row, LimitRow)
    assert isinstance(row.control, NumberField)
    assert row.control.unit.text() == "tokens"
    assert row.control.rect().contains(row.control.unit.geometry())


def test_another_share_is_shown_while_it_is_typed(dialog: SettingsDialog, qtbot: QtBot) -> None:
    dialog.show_page("Context")
    field = field_of(dialog, "context.trimAt")
    field.setText("")
    qtbot.keyClicks(field, "60")
    now, new = dialog.find_row(LIMIT).findChildren(ContextBar)
    assert [mark.text for mark in now.marks()] == ["trim 80", "95", "98"]
    assert [mark.text for mark in new.marks()] == ["trim 60", "95", "98"]


def test_what_is_kept_for_the_answer_is_shown_on_the_bar(
    dialog: SettingsDialog, qtbot: QtBot
) -> None:
    dialog.show_page("Context")
    enter(qtbot, field_of(dialog, "maxOutputTokens"), "16000")
    now, new = dialog.find_row(LIMIT).findChildren(ContextBar)
    kept = [next(p.tokens for p, *_ in bar.slots() if p.code == "reserve") for bar in (now, new)]
    assert kept == [4_096, 16_000]


def test_shares_out_of_their_order_say_so_at_once(dialog: SettingsDialog, qtbot: QtBot) -> None:
    dialog.show_page("Context")
    field = field_of(dialog, "context.trimAt")
    field.setText("")
    qtbot.keyClicks(field, "100")
    said = '"Compact at" (95 %) must not be below "Trim at" (100 %).'
    assert said in [text.replace("\N{NO-BREAK SPACE}", " ") for text in shown(dialog)]


def test_the_window_names_settings_by_their_labels(dialog: SettingsDialog, qtbot: QtBot) -> None:
    dialog.show_page("Context")
    assert any(text.endswith('Not below "Trim at".') for text in shown(dialog))
    keys = [key for key in schema() if "." in key]
    assert not any(key in text for text in shown(dialog) for key in keys)
    enter(qtbot, field_of(dialog, "context.trimAt"), "100")
    said = '"Compact at" (95 %) must not be below "Trim at" (100 %). It stays at 80 %.'
    assert said in [text.replace("\N{NO-BREAK SPACE}", " ") for text in shown(dialog)]
    assert use_labels("`strata settings set chat.model NAME`") == (
        "`strata settings set chat.model NAME`"
    )


def test_a_page_is_reset_only_after_its_changed_settings_were_named(
    dialog: SettingsDialog, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault)
    assistant.settings.set("vault.exclude", ["drafts/"])
    dialog.show_page("Vault and index")
    click_button(dialog, "Reset this page")
    assert assistant.settings.get("vault.path") == str(small_vault)
    assert "Reset 2 settings of this page?" in shown(dialog)
    assert "Changed: “Folder of notes”, “Left out of the index”." in shown(dialog)
    focused = dialog.focusWidget()
    assert isinstance(focused, QPushButton)
    assert focused.text() == "Keep them"
    assert widgets.find_faults(dialog) == []
    click_button(dialog, "Keep them")
    assert assistant.settings.get("vault.path") == str(small_vault)
    assert dialog.focusWidget() is button_named(dialog, "Reset this page")
    click_button(dialog, "Reset this page")
    click_button(dialog, "Reset them")
    assert assistant.settings.get("vault.path") == ""
    assert assistant.settings.get("vault.exclude") == []


def test_enter_answers_the_question_about_a_page(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    assistant.settings.set("vault.exclude", ["drafts/"])
    dialog.show_page("Vault and index")
    for word, left in (("Keep them", ["drafts/"]), ("Reset them", [])):
        reset = button_named(dialog, "Reset this page")
        reset.setFocus()
        QTest.keyClick(reset, Qt.Key.Key_Return)
        answer = button_named(dialog, word)
        answer.setFocus()
        QTest.keyClick(answer, Qt.Key.Key_Return)
        assert assistant.settings.get("vault.exclude") == left
        assert "Reset 1 setting of this page?" not in shown(dialog)
    assert dialog.isVisible()


def test_the_question_about_a_page_ends_when_another_page_is_shown(
    dialog: SettingsDialog, assistant: Assistant
) -> None:
    assistant.settings.set("vault.exclude", ["drafts/"])
    dialog.show_page("Vault and index")
    click_button(dialog, "Reset this page")
    assert "Reset 1 setting of this page?" in shown(dialog)
    dialog.show_page("Privacy")
    assert "Reset 1 setting of this page?" not in shown(dialog)
