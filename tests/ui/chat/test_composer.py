"""Writing and sending, on the real composer."""

import itertools
import time

import pytest
from PySide6.QtCore import QMimeData, QPoint, QRect, QSize, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.config.models import ModelChoice
from chains.models import look_up_model
from ui.actions import Keymap
from ui.chat.composer.attachment import Attachment, read_drop
from ui.chat.composer.attachment_state import ChipState
from ui.chat.composer.chips import Chip
from ui.chat.composer.completion import Offers, find_trigger
from ui.chat.composer.composer import Composer
from ui.theme import Theme
from ui.widgets.buttons import ButtonText
from ui.widgets.completion_list import Choice

RAISE_LIMIT = ButtonText("Raise the limit", "Open the settings of the limit")

ELSEWHERE = look_up_model("openai/<b>x</b>", "https://api.example.org/v1")
MODELS = (
    ModelChoice(look_up_model("ollama/qwen3:14b"), "qwen3:14b", is_set=True),
    ModelChoice(
        look_up_model("openai/<b>x</b>", "https://api.example.org/v1"), "<b>x</b>", is_set=False
    ),
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


def test_ctrl_enter_sends_and_enter_begins_a_line_if_so_chosen(
    qtbot: QtBot, composer: Composer
) -> None:
    Keymap.current().apply({}, "Ctrl+Enter")
    texts = {label.text() for label in composer.findChildren(QLabel)}
    assert "Ctrl+Enter sends, Enter starts a line.  @ note  # tag  / command" in texts
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClicks(composer.input, "one")
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
        qtbot.keyClicks(composer.input, "two")
    assert composer.send.toolTip() == "Send (Ctrl+Enter)"
    with qtbot.waitSignal(composer.submitted) as caught:
        qtbot.keyClick(composer.input, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert caught.args == ["one\ntwo"]


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


def test_enter_submits_while_an_answer_arrives_and_the_button_stops_it(
    qtbot: QtBot, composer: Composer
) -> None:
    composer.set_text("x")
    composer.set_running(True)
    with qtbot.waitSignal(composer.submitted) as submitted:  # its owner lets the message wait
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
    assert submitted.args == ["x"]
    assert composer.text() == "x"
    with qtbot.waitSignal(composer.stop_requested):
        qtbot.mouseClick(composer.send, Qt.MouseButton.LeftButton)


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
    started = time.thread_time()
    composer.input.insertFromMimeData(pasted)
    QGuiApplication.processEvents()
    assert time.thread_time() - started < 3
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


def test_the_meter_turns_amber_where_trimming_begins(composer: Composer) -> None:
    composer.set_meter(0.65, 0.6)
    assert composer.meter.tone("text") == "amber.text"


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


@pytest.mark.parametrize(("width", "is_below"), [(1_000, False), (480, True)])
def test_the_ways_out_of_an_error_stand_below_it_where_there_is_no_room_beside_it(
    qtbot: QtBot, composer: Composer, width: int, is_below: bool
) -> None:
    composer.window().resize(width, 400)
    words = ("Attach as a file", "Split it", "Raise the limit")
    composer.show_error(
        "Your message does not fit.",
        [(ButtonText(word, "Send it"), lambda: None) for word in words],
    )
    line = composer._error
    qtbot.waitUntil(lambda: line.width() > 0 and line.isVisible())
    ways = [b for b in line.findChildren(QPushButton) if b.text() in words]
    text = line._text.geometry()
    qtbot.waitUntil(lambda: (ways[0].y() > line._text.geometry().bottom()) is is_below)
    for way in ways:
        assert way.width() >= way.sizeHint().width()
    assert text.height() >= line._text.heightForWidth(text.width())


def test_an_error_stands_in_place_with_its_ways_out(qtbot: QtBot, composer: Composer) -> None:
    taken = []
    composer.show_error("Your message does not fit. <b>", [(RAISE_LIMIT, lambda: taken.append(1))])
    (way_out,) = (b for b in composer.findChildren(QPushButton) if b.text() == "Raise the limit")
    qtbot.mouseClick(way_out, Qt.MouseButton.LeftButton)
    assert composer.error() == "Your message does not fit. <b>"
    assert taken == [1]
    composer.clear_error()
    assert composer.error() == ""


def test_tab_walks_chips_text_attach_mode_model_meter_send(
    qtbot: QtBot, composer: Composer
) -> None:
    composer.set_text("x")
    composer.set_attached({Attachment("Backups.md"): ChipState(tokens=2306)})
    composer.chips.focus_last()
    visited = []
    for _ in range(7):
        focused = QGuiApplication.focusObject()
        visited.append(focused.accessibleName())
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert visited == [
        "Attached Backups.md, 2,306 tokens",
        "Message",
        "Attach",
        "Mode: Vault",
        "Model: qwen3:14b",
        "Context not known",
        "Send",
    ]


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.5])
def test_a_chip_takes_the_room_that_its_whole_name_needs(qtbot: QtBot, scale: float) -> None:
    Theme.current().apply("light", scale)
    chip = Chip(Attachment("Garden log.md", (3, 112)), ChipState(tokens=115))
    qtbot.addWidget(chip)
    looks = []
    usual = chip.sizeHint()
    for more in (0, 60):  # where more room changes nothing, nothing was cut
        chip.resize(usual + QSize(more, 0))
        upto = Theme.current().px(130)
        looks.append(chip.grab(QRect(4, 4, upto, usual.height() - 8)).toImage())
    assert looks[0] == looks[1]


@pytest.mark.parametrize("width", [440, 520, 700, 900, 1200])
def test_nothing_overlaps_at_any_width(composer: Composer, width: int) -> None:
    composer.window().resize(width, 700)
    composer.set_meter(1.11)
    QGuiApplication.processEvents()
    parts = [composer.attach, composer.modes, composer.models, composer.meter, composer.send]
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


NOTES = [
    Choice("Home server/Backups.md", "Backups", detail="Home server"),
    Choice("Prices.md", "Prices"),
    Choice("Pears.md", "Pears"),
]
OFFERS = Offers(
    notes=NOTES,
    folders=[Choice("Home server/", "Home server")],
    tags=[Choice("#server", "server"), Choice("#garden/tools", "garden/tools")],
    commands=[Choice("context", "/context"), Choice("new", "/new")],
)
SERVER = Attachment("#server")
BACKUPS = Attachment("Home server/Backups.md")
LINES = Attachment("Prices.md", (12, 30))


@pytest.fixture
def offering(composer: Composer, qtbot: QtBot) -> Composer:
    """The composer with the focus, and notes to offer."""
    composer.set_offers(OFFERS)
    composer.window().activateWindow()
    qtbot.waitUntil(composer.window().isActiveWindow)
    composer.setFocus()
    return composer


def offered(composer: Composer) -> list[str]:
    popup = composer.completer.popup
    return [match.choice.value for match in popup.view.matches] if popup.isVisible() else []


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("@", ["Home server/Backups.md", "Prices.md", "Pears.md", "Home server/"]),
        ("See @p", ["Pears.md", "Prices.md", "Home server/Backups.md"]),
        ("@home server", ["Home server/", "Home server/Backups.md"]),
        ("me@p", []),
        ("[[pri", ["Prices.md"]),
        ("[[home", ["Home server/Backups.md"]),
        ("about #gar", ["#garden/tools"]),
        ("# Heading", []),
        ("/c", ["context"]),
        ("/", ["context", "new"]),
        ("and /c", []),
        ("@nothing like that", []),
    ],
)
def test_what_is_written_opens_the_list_that_fits(
    qtbot: QtBot, offering: Composer, written: str, found: list[str]
) -> None:
    qtbot.keyClicks(offering.input, written)
    assert sorted(offered(offering)) == sorted(found)


def test_a_note_that_is_chosen_is_attached(qtbot: QtBot, offering: Composer) -> None:
    qtbot.keyClicks(offering.input, "Compare @back")
    with qtbot.waitSignal(offering.attach_chosen) as chosen:
        qtbot.keyClick(offering.input, Qt.Key.Key_Return)
    assert chosen.args == ["Home server/Backups.md"]
    assert offering.text() == "Compare Backups"
    assert offered(offering) == []


def test_the_address_of_a_page_is_attached_by_choosing_it(qtbot: QtBot, offering: Composer) -> None:
    address = "https://example.org/oak/leaves.html?a=1"
    qtbot.keyClicks(offering.input, f"Sum up @{address}")
    assert offered(offering) == [address]
    with qtbot.waitSignal(offering.attach_chosen) as chosen:
        qtbot.keyClick(offering.input, Qt.Key.Key_Return)
    assert chosen.args == [address]
    assert offering.text() == f"Sum up {address}"
    qtbot.keyClicks(offering.input, f" or {address}")
    assert offered(offering) == []  # without the mark an address is only text


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://example.org/", "example.org"),
        ("https://example.org/oak/", "example.org/oak"),
        ("http://example.org/a/b/guide.html?x=1", "example.org/…/guide.html"),
    ],
)
def test_a_page_is_named_by_its_host_and_is_no_folder(address: str, name: str) -> None:
    page = Attachment(address)
    assert (page.name, page.whole_name, page.icon) == (name, address, "globe")
    assert not page.is_folder


def test_a_link_that_is_dropped_is_a_page_and_other_schemes_are_nothing() -> None:
    data = QMimeData()
    addresses = ("https://example.org/oak", "ftp://example.org/", "javascript:alert(1)")
    data.setUrls([QUrl(address) for address in addresses])
    assert read_drop(data, None).items == (Attachment("https://example.org/oak"),)


def test_a_link_stays_in_the_sentence_and_attaches_its_note(
    qtbot: QtBot, offering: Composer
) -> None:
    attached = []
    offering.attach_chosen.connect(attached.append)
    qtbot.keyClicks(offering.input, "Is [[pric")
    qtbot.keyClick(offering.input, Qt.Key.Key_Tab)
    qtbot.keyClicks(offering.input, " up to date, and [[home server/backups]]")
    assert offering.text() == "Is [[Prices]] up to date, and [[home server/backups]]"
    assert attached == ["Prices.md", "Home server/Backups.md"]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("@pric", "\t", " up to date?"), " up to date?"),
        (("🌲 Are the @pric", "\t", " right?"), "🌲 Are the Prices right?"),
        (("Compare @pric", "\t", " with @back", "\t"), "Compare Prices with Backups"),
        (("What is in @home server", "\t", "?"), "What is in Home server?"),
        (("List the notes with #garden/t", "\t", "."), "List the notes with #garden/tools."),
        (("#garden/t", "\t", " list them"), " list them"),
        (("  @pric", "\t", "@back", "\t"), "  "),
    ],
)
def test_what_is_attached_stays_a_word_of_its_sentence(
    qtbot: QtBot, offering: Composer, keys: tuple[str, ...], text: str
) -> None:
    with qtbot.waitSignal(offering.attach_chosen):
        for typed in keys:
            if typed == "\t":
                qtbot.keyClick(offering.input, Qt.Key.Key_Tab)
            else:
                offering.input.insertPlainText(typed)
    assert offering.text() == text


def test_the_arrows_walk_the_list_and_its_ends_meet(qtbot: QtBot, offering: Composer) -> None:
    qtbot.keyClicks(offering.input, "@")
    view = offering.completer.popup.view
    values = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Up):
        qtbot.keyClick(offering.input, key)
        values.append(view.current.value)
    assert values == ["Prices.md", "Home server/Backups.md", "Home server/"]


def test_escape_closes_the_list_and_it_stays_closed_for_that_word(
    qtbot: QtBot, offering: Composer
) -> None:
    qtbot.keyClicks(offering.input, "@p")
    qtbot.keyClick(offering.input, Qt.Key.Key_Escape)
    qtbot.keyClicks(offering.input, "r")
    assert offered(offering) == []
    qtbot.keyClicks(offering.input, " @p")
    assert offered(offering) != []


def test_a_command_is_written_out(qtbot: QtBot, offering: Composer) -> None:
    qtbot.keyClicks(offering.input, "/con")
    qtbot.keyClick(offering.input, Qt.Key.Key_Return)
    assert offering.text() == "/context "


def test_a_click_on_the_list_chooses(qtbot: QtBot, offering: Composer) -> None:
    qtbot.keyClicks(offering.input, "#")
    view = offering.completer.popup.view
    spot = view.visualRect(view.model().index(1, 0)).center()
    with qtbot.waitSignal(offering.attach_chosen) as chosen:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert chosen.args == ["#garden/tools"]


@pytest.mark.parametrize("width", [440, 900])
def test_the_list_stands_within_the_window(qtbot: QtBot, offering: Composer, width: int) -> None:
    offering.window().resize(width, 500)
    qtbot.keyClicks(offering.input, "a word or two and then @")
    popup = offering.completer.popup
    assert offering.window().rect().contains(popup.geometry())
    below = offering.input.mapTo(offering.window(), QPoint(0, 0)).y()
    assert popup.geometry().bottom() < below


def test_the_list_covers_no_attachment(qtbot: QtBot, offering: Composer) -> None:
    offering.window().resize(900, 700)
    offering.set_attached({Attachment(f"Note {n}.md"): ChipState(tokens=9) for n in range(4)})
    qtbot.keyClicks(offering.input, "@")
    popup = offering.completer.popup
    assert popup.isVisible()
    top = offering.mapTo(offering.window(), QPoint(0, 0)).y()
    assert popup.geometry().bottom() < top


def test_the_list_follows_the_field_when_the_window_is_resized(
    qtbot: QtBot, offering: Composer
) -> None:
    window, popup = offering.window(), offering.completer.popup
    window.resize(900, 700)
    qtbot.keyClicks(offering.input, "@")
    height = popup.geometry().bottom()
    window.resize(900, 500)
    qtbot.waitUntil(lambda: popup.isVisible() and popup.geometry().bottom() == height - 200)


@pytest.mark.parametrize(("before", "start"), [("x @no", 12), ("@", 10)])
def test_a_place_is_counted_in_the_whole_text(before: str, start: int) -> None:
    found = find_trigger(before, 10)
    assert found is not None
    assert found.start == start


def test_chips_say_what_goes_along_and_how_much(composer: Composer) -> None:
    composer.set_attached(
        {
            BACKUPS: ChipState(tokens=2306),
            LINES: ChipState(),
            SERVER: ChipState(notes=11, tokens=3120),
        }
    )
    names = [chip.accessibleName() for chip in composer.chips.chips()]
    assert names == [
        "Attached Backups.md, 2,306 tokens",
        "Attached Prices.md, lines 12–30, counting",
        "Attached server, 11 notes, 3,120 tokens",
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("👩\u200d👩\u200d👧 Family.md", "👩\u200d👩\u200d👧 Family.md"),
        ("می\u200cخواهم.md", "می\u200cخواهم.md"),
        ("A\u200dB.md", r"A\u{200d}B.md"),
        ("photo\u202egpj.md", r"photo\u{202e}gpj.md"),
        ("bell\x07.md", r"bell\x07.md"),
        ("byte\udcff.md", r"byte\udcff.md"),
    ],
)
def test_names_keep_the_joiners_that_scripts_and_emoji_need(
    composer: Composer, name: str, shown: str
) -> None:
    composer.set_attached({Attachment(name): ChipState(tokens=1)})
    (chip,) = composer.chips.chips()
    assert chip.accessibleName() == f"Attached {shown}, 1 tokens"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (ChipState(tokens=40_000, sent=3_120), "3,120 of its 40,000 tokens fit"),
        (ChipState(tokens=40_000, sent=0), "nothing of it fits"),
        (ChipState(problem="Secret.md is private."), "Secret.md is private."),
    ],
)
def test_a_chip_that_cannot_go_whole_says_why(
    composer: Composer, state: ChipState, said: str
) -> None:
    composer.set_attached({BACKUPS: state})
    (chip,) = composer.chips.chips()
    assert said in chip.accessibleName()
    assert said in chip.toolTip()


def test_what_cannot_be_attached_is_not_sent_without_it(qtbot: QtBot, composer: Composer) -> None:
    composer.set_attached({BACKUPS: ChipState(problem="Backups.md is private.")})
    composer.set_text("What is missing?")
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
    assert composer.error() == "Backups.md is private. Nothing was sent."
    (way_out,) = (b for b in composer.findChildren(QPushButton) if b.text().startswith("Remove"))
    with qtbot.waitSignal(composer.attach_removed) as removed:
        way_out.click()
    assert removed.args == [BACKUPS]
    assert composer.error() == ""


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Backspace])
def test_a_chip_is_taken_off_by_key(qtbot: QtBot, offering: Composer, key: Qt.Key) -> None:
    offering.set_attached({BACKUPS: ChipState(), LINES: ChipState()})
    qtbot.keyClick(offering.input, Qt.Key.Key_Backspace)
    chip = QGuiApplication.focusObject()
    assert isinstance(chip, Chip)
    assert chip.attachment == LINES
    with qtbot.waitSignal(offering.attach_removed) as removed:
        qtbot.keyClick(chip, key)
    assert removed.args == [LINES]


def test_a_chip_is_taken_off_by_its_cross_and_opened_elsewhere(
    qtbot: QtBot, composer: Composer
) -> None:
    composer.set_attached({BACKUPS: ChipState(tokens=1)})
    (chip,) = composer.chips.chips()
    assert chip.cross_rect().width() >= 24
    with qtbot.waitSignal(composer.attach_opened) as opened:
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton, pos=QPoint(10, 12))
    with qtbot.waitSignal(composer.attach_removed):
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton, pos=chip.cross_rect().center())
    assert opened.args == [BACKUPS]


def test_the_arrows_walk_the_chips_and_lead_back_to_the_text(
    qtbot: QtBot, offering: Composer
) -> None:
    offering.set_attached({BACKUPS: ChipState(), LINES: ChipState()})
    offering.chips.focus_last()
    qtbot.keyClick(QGuiApplication.focusObject(), Qt.Key.Key_Left)
    assert QGuiApplication.focusObject().attachment == BACKUPS
    for _ in range(2):
        qtbot.keyClick(QGuiApplication.focusObject(), Qt.Key.Key_Right)
    assert QGuiApplication.focusObject() is offering.input


def test_many_chips_take_three_lines_and_then_scroll(composer: Composer) -> None:
    many = {Attachment(f"Folder/A note with a name {n}.md"): ChipState(tokens=n) for n in range(40)}
    composer.set_attached(many)
    QGuiApplication.processEvents()
    assert composer.chips.height() == 3 * 24 + 2 * 6
    rights = [chip.geometry().right() for chip in composer.chips.chips()]
    assert max(rights) < composer.chips.viewport().width()


def shows_whole(chip: Chip) -> bool:
    """Return whether nothing of a chip is scrolled away."""
    return chip.visibleRegion().boundingRect() == chip.rect()


def test_what_is_attached_later_is_scrolled_to(qtbot: QtBot, composer: Composer) -> None:
    states: dict[Attachment, ChipState] = {}
    for n in range(20):
        states[Attachment(f"Folder/A note with a name {n}.md")] = ChipState(tokens=n)
        composer.set_attached(states)
    qtbot.waitUntil(lambda: shows_whole(composer.chips.chips()[-1]))
    assert composer.chips.verticalScrollBar().isVisible()
    assert not shows_whole(composer.chips.chips()[0])


def test_a_chip_that_takes_the_focus_is_scrolled_to(qtbot: QtBot, offering: Composer) -> None:
    many = {Attachment(f"Folder/A note with a name {n}.md"): ChipState(tokens=n) for n in range(20)}
    offering.set_attached(many)
    offering.input.setFocus()
    qtbot.keyClick(offering.input, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: shows_whole(offering.chips.chips()[-1]))
    for _ in range(19):
        qtbot.keyClick(QGuiApplication.focusObject(), Qt.Key.Key_Left)
    assert shows_whole(offering.chips.chips()[0])


def test_up_in_an_empty_field_asks_for_the_last_message(qtbot: QtBot, composer: Composer) -> None:
    with qtbot.waitSignal(composer.last_requested):
        qtbot.keyClick(composer.input, Qt.Key.Key_Up)
    composer.set_text("x")
    with qtbot.assertNotEmitted(composer.last_requested):
        qtbot.keyClick(composer.input, Qt.Key.Key_Up)


def test_an_obstacle_is_said_and_nothing_is_sent(qtbot: QtBot, composer: Composer) -> None:
    composer.set_text("x")
    composer.set_obstacle(
        "No model is set.", [(ButtonText("Set a model", "Find one"), lambda: None)]
    )
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
    assert composer.send.toolTip() == "No model is set."
    composer.set_obstacle("")
    assert composer.send.isEnabled()


@pytest.mark.parametrize("mode", ["chat", "vault", "agent"])
def test_every_mode_says_what_it_does(composer: Composer, mode: str) -> None:
    action = next(a for a in composer.modes.menu().actions() if a.data() == mode)
    _word, _, explained = action.text().partition("\t")
    assert len(explained.split()) > 2


def test_enter_waits_until_the_size_of_a_changed_message_is_known(
    qtbot: QtBot, composer: Composer
) -> None:
    qtbot.keyClicks(composer.input, "Far too long")
    composer.set_meter(1.4)
    composer.set_text("Short")
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
    with qtbot.waitSignal(composer.submitted) as caught:
        composer.set_meter(0.2)
    assert caught.args == ["Short"]
    with qtbot.assertNotEmitted(composer.submitted):
        composer.set_meter(0.1)


def test_enter_is_forgotten_when_the_message_is_still_too_long_or_written_on(
    qtbot: QtBot, composer: Composer
) -> None:
    composer.set_meter(1.4)
    qtbot.keyClicks(composer.input, "Long")
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
        composer.set_meter(1.2)
        composer.set_meter(0.9)
        composer.set_meter(1.2)
        qtbot.keyClicks(composer.input, "er")
        qtbot.keyClick(composer.input, Qt.Key.Key_Return)
        qtbot.keyClicks(composer.input, " still")
        composer.set_meter(0.9)
    assert composer.text() == "Longer still"


@pytest.mark.parametrize("changed", ["size", "theme", "both"])
def test_what_was_written_can_be_undone_after_the_look_has_changed(
    qtbot: QtBot, composer: Composer, changed: str
) -> None:
    field = composer.input
    qtbot.keyClicks(field, "one")
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(field, "two")
    Theme.current().apply(
        "light" if changed == "size" else "dark", scale=1.0 if changed == "theme" else 1.5
    )
    assert read_line_heights(composer) == {Theme.current().line("body")}
    while composer.text():
        before = composer.text()
        qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert composer.text() != before
    while composer.text() != "one\ntwo":
        before = composer.text()
        redo = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        qtbot.keyClick(field, Qt.Key.Key_Z, redo)
        assert composer.text() != before
    qtbot.keyClicks(field, "!")
    qtbot.waitUntil(lambda: read_line_heights(composer) == {Theme.current().line("body")})


def read_line_heights(composer: Composer) -> set[float]:
    """Return the heights that are set for the lines of the text."""
    document, found = composer.input.document(), set()
    for number in range(document.blockCount()):
        found.add(document.findBlockByNumber(number).blockFormat().lineHeight())
    return found
