"""Writing and sending, on the real composer."""

import itertools
import time

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QGuiApplication
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import ModelChoice
from ui.chat.composer import Composer
from ui.theme import Theme

MODELS = (
    ModelChoice("ollama/qwen3:14b", "qwen3:14b", "this computer", 40_960, True),
    ModelChoice("openai/<b>x</b>", "<b>x</b>", "api.example.org", None, False),
)


@pytest.fixture
def place(qtbot: QtBot) -> QWidget:
    """The column that the composer stands in; it lives as long as the test."""
    place = QWidget()
    qtbot.addWidget(place)
    column = QVBoxLayout(place)
    column.setContentsMargins(0, 0, 0, 0)
    column.addStretch(1)
    column.addWidget(Composer())
    place.resize(860, 700)
    place.show()
    return place


@pytest.fixture
def composer(place: QWidget) -> Composer:
    composer = place.findChild(Composer)
    composer.set_models(MODELS)
    composer.set_model("ollama/qwen3:14b")
    return composer


def test_enter_sends_and_keeps_the_text(qtbot: QtBot, composer: Composer) -> None:
    qtbot.keyClicks(composer.input, "Where is it?")
    with qtbot.waitSignal(composer.submitted) as caught:
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
    assert caught.args == ["Where is it?"]
    assert composer.text() == "Where is it?"


def test_shift_enter_begins_a_line(qtbot: QtBot, composer: Composer) -> None:
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClicks(composer.input, "one")
        qtbot.keyClick(composer.input, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        qtbot.keyClicks(composer.input, "two")
    assert composer.text() == "one\ntwo"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_nothing_is_not_sent(qtbot: QtBot, composer: Composer, text: str) -> None:
    composer.set_text(text)
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
    assert not composer.send.isEnabled()


def test_stop_stands_where_send_was(qtbot: QtBot, composer: Composer) -> None:
    composer.set_text("x")
    before = composer.send.geometry()
    composer.set_running(True)
    QGuiApplication.processEvents()
    assert composer.send.geometry() == before
    assert composer.send.accessibleName() == "Stop"
    with qtbot.waitSignal(composer.stop_requested):
        qtbot.mouseClick(composer.send, Qt.MouseButton.LeftButton)


def test_enter_does_not_send_while_an_answer_arrives(qtbot: QtBot, composer: Composer) -> None:
    composer.set_text("x")
    composer.set_running(True)
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)


def test_it_grows_to_twelve_lines_and_then_scrolls(composer: Composer) -> None:
    line = Theme.current().line("body")
    composer.window().resize(860, 2000)
    heights = []
    for lines in (1, 3, 12, 40):
        composer.set_text("\n".join(["x"] * lines))
        heights.append(composer.input.height() // line)
    assert heights == [1, 3, 12, 12]


def test_it_takes_at_most_two_fifths_of_the_window(composer: Composer) -> None:
    composer.window().resize(860, 400)
    composer.set_text("\n".join(["x"] * 40))
    assert composer.input.height() <= 160


@pytest.mark.parametrize(
    "text", ["A line of a log.\n" * 12_500, "word " * 40_000, "x" * 200_000], ids=len
)
def test_a_long_paste_stays_responsive(composer: Composer, text: str) -> None:
    pasted = QMimeData()
    pasted.setText(text[:200_000])
    started = time.perf_counter()
    composer.input.insertFromMimeData(pasted)
    QGuiApplication.processEvents()
    assert time.perf_counter() - started < 3
    assert len(composer.text()) == len(text[:200_000])


def test_a_paste_brings_text_only(composer: Composer) -> None:
    pasted = QMimeData()
    pasted.setHtml("<h1>Big</h1>")
    pasted.setText("Big")
    composer.input.insertFromMimeData(pasted)
    assert "font-size:xx-large" not in composer.input.toHtml()
    assert composer.text() == "Big"


def test_files_are_left_to_the_window(composer: Composer) -> None:
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile("/notes")])
    event = QDragEnterEvent(
        QPoint(5, 5),
        Qt.DropAction.CopyAction,
        dropped,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    assert not composer.input.canInsertFromMimeData(dropped)
    composer.input.dragEnterEvent(event)
    assert not event.isAccepted()


def test_a_mode_is_chosen_from_the_list(qtbot: QtBot, composer: Composer) -> None:
    chat = next(a for a in composer.modes.menu().actions() if a.data() == "chat")
    with qtbot.waitSignal(composer.mode_changed) as caught:
        chat.trigger()
    assert caught.args == ["chat"]
    assert composer.mode() == "chat"


def test_a_model_is_chosen_from_the_list(qtbot: QtBot, composer: Composer) -> None:
    other = composer.models.menu().actions()[1]
    assert other.text() == "<b>x</b>\tapi.example.org"
    with qtbot.waitSignal(composer.model_changed) as caught:
        other.trigger()
    assert caught.args == ["openai/<b>x</b>"]
    assert composer.models.toolTip() == "<qt>Model: &lt;b&gt;x&lt;/b&gt;</qt>"


def test_a_model_that_is_not_listed_stands_for_itself(composer: Composer) -> None:
    composer.set_model("some/model")
    assert composer.models.text() == "some/model"


@pytest.mark.parametrize(
    ("fraction", "name", "tone"),
    [
        (0.39, "Context 39 percent", "text.secondary"),
        (0.81, "Context 81 percent", "amber.text"),
        (1.11, "Context 111 percent", "danger.text"),
        (None, "Context not known", "text.secondary"),
    ],
)
def test_the_meter_says_how_full_it_is(
    composer: Composer, fraction: float | None, name: str, tone: str
) -> None:
    composer.set_meter(fraction)
    assert composer.meter.accessibleName() == name
    assert composer.meter.tone("text") == tone


def test_a_message_that_does_not_fit_cannot_be_sent(qtbot: QtBot, composer: Composer) -> None:
    composer.set_text("x")
    composer.set_meter(1.11)
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
    assert not composer.send.isEnabled()
    assert composer.send.toolTip() == "The message does not fit. Shorten it, or raise the limit."


def test_the_meter_opens_the_panel(qtbot: QtBot, composer: Composer) -> None:
    with qtbot.waitSignal(composer.meter_clicked):
        qtbot.mouseClick(composer.meter, Qt.MouseButton.LeftButton)


def test_an_error_stands_in_place_with_its_ways_out(qtbot: QtBot, composer: Composer) -> None:
    taken = []
    composer.show_error(
        "Your message does not fit. <b>", [("Raise the limit", lambda: taken.append(1))]
    )
    (way_out,) = (b for b in composer.findChildren(QPushButton) if b.text() == "Raise the limit")
    qtbot.mouseClick(way_out, Qt.MouseButton.LeftButton)
    assert composer.error() == "Your message does not fit. <b>"
    assert taken == [1]
    composer.clear_error()
    assert composer.error() == ""


def test_the_order_of_tab_is_text_mode_model_meter_send(qtbot: QtBot, composer: Composer) -> None:
    composer.set_text("x")
    composer.setFocus()
    visited = []
    for _ in range(5):
        focused = QGuiApplication.focusObject()
        visited.append(focused.accessibleName())
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert visited == ["Message", "Mode: Vault", "Model: qwen3:14b", "Context not known", "Send"]


@pytest.mark.parametrize("width", [440, 520, 700, 900, 1200])
def test_nothing_overlaps_at_any_width(composer: Composer, width: int) -> None:
    composer.window().resize(width, 700)
    composer.set_meter(1.11)
    QGuiApplication.processEvents()
    parts = [composer.modes, composer.models, composer.meter, composer.send]
    edges = [(p.mapTo(composer, QPoint(0, 0)).x(), p.width()) for p in parts]
    for (x, part), (following, _) in itertools.pairwise(edges):
        assert x + part <= following
    assert edges[-1][0] + edges[-1][1] <= composer.width() - 8


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_send_and_stop_are_equally_wide_at_every_size(composer: Composer, scale: float) -> None:
    Theme.current().apply("light", scale)
    widths = []
    for is_running in (False, True):
        composer.set_running(is_running)
        QGuiApplication.processEvents()
        widths.append(composer.send.width())
    assert widths[0] == widths[1]
