"""Reading a chat while it grows, on the real transcript."""

import itertools

import pytest
from PySide6.QtCore import QRect, Qt, QUrl
from PySide6.QtGui import QAccessible, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.errors import ErrorInfo, describe
from app.sessions.transcript import ChatTranscript as Chat
from app.sessions.transcript import DroppedItem, UserItem
from chains.citations.answer_sources import list_sources
from chains.citations.check import Citation, Unverified
from chains.errors import Offline
from chains.turn_answer import ToolStep
from context.errors import ContextHookError
from tests.support.window.transcripts import (
    HERE,
    RICH,
    TIME,
    Place,
    answer_item,
    chat,
    left_of,
    passage,
    result,
    text_left,
    widgets,
)
from tests.support.window.waiting import settle
from ui.chat.message.answer import Answer
from ui.chat.message.blocks import Divider
from ui.chat.message.failures import Failure
from ui.chat.message.tools import MessageAction
from ui.chat.message.user import UserMessage
from ui.chat.transcript.empty_state import EmptyState
from ui.chat.transcript.transcript import Transcript
from ui.markdown.page.card import describe_source
from ui.theme import Theme


@pytest.mark.parametrize("width", [440, 600, 820, 900, 1200, 1600])
def test_all_text_has_one_left_edge(place: Place, width: int) -> None:
    place.resize(width, 700)
    place.transcript.begin_turn("A question?")
    place.transcript.live.show_step("Searching…", 0.3)
    place.transcript.live.append("The answer.")
    (answer,) = widgets(place.transcript, Answer)
    answer.view.flush()
    settle()
    (user,) = widgets(place.transcript, UserMessage)
    edges = [
        left_of(user.body.viewport(), 0, place),
        text_left(answer, place),
        left_of(answer.step.layout().itemAt(0).widget(), 0, place),
        left_of(place.composer.input.viewport(), 0, place),
    ]
    assert max(edges) - min(edges) <= 1


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_the_measure_is_kept(place: Place, scale: float) -> None:
    Theme.current().apply("light", scale)
    place.resize(2000, 800)
    place.transcript.load(chat(1))
    settle()
    (answer,) = widgets(place.transcript, Answer)
    assert answer.view.width() - 32 <= 760 * scale


@pytest.mark.parametrize("width", [440, 520, 700, 900, 1200])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_nothing_overlaps_or_is_cut(place: Place, width: int, scale: float) -> None:
    Theme.current().apply("dark", scale)
    place.resize(width, 900)
    unverified = (Unverified(1, "verified weekly", "Not there."), Unverified(9, None, "None."))
    items = (
        UserItem("u", TIME, "A question " * 20),
        DroppedItem(2, 5108, "room"),
        answer_item(RICH, unverified=unverified),
        answer_item("", "b", status="error"),
    )
    place.transcript.load(Chat("x", items))
    settle()
    rows = place.transcript.feed.rows
    for row, following in itertools.pairwise(rows):
        assert row.geometry().bottom() < following.geometry().top()
    for row in rows:
        for text in row.findChildren(QLabel):
            assert not text.wordWrap() or text.height() >= text.heightForWidth(text.width())
        for child in row.findChildren(QWidget):
            if child.isVisible() and child.parentWidget() is not None:
                outer = child.parentWidget().rect().adjusted(-1, -1, 1, 1)
                assert outer.contains(child.geometry()), (child, child.geometry(), outer)


def test_the_actions_take_the_place_of_the_step(transcript: Transcript) -> None:
    transcript.begin_turn("A question?")
    transcript.live.append("The answer.")
    (answer,) = widgets(transcript, Answer)
    answer.view.flush()
    settle()
    before = answer.height()
    assert answer.step.isVisible()
    assert not answer.tools.isVisible()
    transcript.live.finish(result("The answer."), ())
    settle()
    assert answer.tools.isVisible()
    assert answer.height() == before


def test_who_answered_stands_below(transcript: Transcript) -> None:
    transcript.load(chat(1))
    (answer,) = widgets(transcript, Answer)
    assert answer.tools.about.whole == "model, on this computer · 6.8 s"


def test_where_a_model_runs_may_be_known_later(transcript: Transcript) -> None:
    transcript.set_models(())
    transcript.load(chat(1))
    (answer,) = widgets(transcript, Answer)
    assert answer.tools.about.whole == "test/model · 6.8 s"
    transcript.set_models(HERE)
    assert answer.tools.about.whole == "model, on this computer · 6.8 s"


def test_a_model_file_that_is_no_longer_offered_is_named_without_its_folders(
    transcript: Transcript,
) -> None:
    transcript.set_models(())
    transcript.load(Chat("x", (answer_item("Rain.", model="/srv/models/small-q4.gguf"),)))
    (answer,) = widgets(transcript, Answer)
    assert answer.tools.about.whole == "small-q4 · 6.8 s"


def test_what_the_model_saw_names_the_answer(qtbot: QtBot, transcript: Transcript) -> None:
    transcript.begin_turn("A question?")
    transcript.live.append("The answer.")
    transcript.live.finish(result("The answer."), ())
    (answer,) = widgets(transcript, Answer)
    with qtbot.waitSignal(transcript.maker.action_requested) as caught:
        qtbot.mouseClick(answer.tools.saw, Qt.MouseButton.LeftButton)
    assert caught.args == [MessageAction("saw", "e9")]


def test_sources_that_strata_found_are_numbered_and_said(transcript: Transcript) -> None:
    found = Citation(
        1, "Home server/Backups.md", (), (12, 12), None, False, "Borg runs each night."
    )
    answered = result("Borg runs each night. It is fast.", citations=(found,), sentences=2)
    transcript.begin_turn("A question?")
    transcript.live.append(answered.answer.text)
    transcript.live.finish(answered, [passage(1)])
    settle()
    (answer,) = widgets(transcript, Answer)
    said = "The model cited no note. Strata found sources for 1 of 2 sentences."
    assert answer.text == "Borg runs each night. [1] It is fast."
    assert said in [label.text() for label in answer.findChildren(QLabel) if label.isVisible()]
    shown = list_sources([passage(1)], (found,))[1]
    assert describe_source(shown).endswith("Found by Strata, not cited by the model")
    assert not answer.doubts or not answer.doubts.sentences


def test_an_answer_is_copied_in_markdown(qtbot: QtBot, transcript: Transcript) -> None:
    transcript.load(Chat("x", (answer_item("**Bold** [1]"),)))
    (answer,) = widgets(transcript, Answer)
    qtbot.mouseClick(answer.tools.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "**Bold** [1]"


def test_the_last_code_is_copied(transcript: Transcript) -> None:
    transcript.load(Chat("x", (answer_item("```\none\n```\n\n```\ntwo\n```"),)))
    transcript.copy_last_code()
    assert QGuiApplication.clipboard().text() == "two"


def test_a_citation_opens_its_lines(qtbot: QtBot, transcript: Transcript) -> None:
    cited = Citation(1, "Home server/Backups.md", (), (14, 15), "Borg runs", True)
    transcript.load(Chat("x", (answer_item("Rain [1].", citations=(cited,)),)))
    settle()
    (answer,) = widgets(transcript, Answer)
    with qtbot.waitSignal(transcript.maker.citation_activated) as caught:
        spot = answer.view.find_place(1).center()
        qtbot.mouseClick(answer.view.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert caught.args == ["Home server/Backups.md", 14, 15]


def test_a_click_on_a_citation_ends_the_mark_of_its_source(transcript: Transcript) -> None:
    transcript.load(chat(1, "Borg runs [1]."))
    settle()
    (answer,) = widgets(transcript, Answer)
    pointed: list[int] = []
    answer.citation_pointed.connect(lambda _entry, number: pointed.append(number))
    answer.view.point_at("cite:1")
    answer.view.anchorClicked.emit(QUrl("cite:1"))
    assert pointed == [1, 0]


def test_what_is_not_borne_out_is_said_below(transcript: Transcript) -> None:
    claims = (
        Unverified(1, "verified weekly", "Not there."),
        Unverified(9, None, "[9] has no source."),
        Unverified(None, "three words more", "Not in any of the sources."),
    )
    transcript.load(Chat("x", (answer_item("“verified weekly” [1] [9]", unverified=claims),)))
    (answer,) = widgets(transcript, Answer)
    assert answer.doubts is not None
    assert answer.doubts.sentences == (
        "“verified weekly” is not in Backups.md as it was sent. Open the note to check.",
        "[9] has no source.",
        "“three words more” is not in any note as it was sent. Open the note to check.",
    )


def test_a_verified_number_stays_blue_beside_a_doubtful_quotation(transcript: Transcript) -> None:
    item = answer_item(
        "Rain [1].",
        citations=(Citation(1, "Home server/Backups.md", (), (12, 12), "Rain", True),),
        unverified=(Unverified(1, "snow", "Not there."),),
    )
    transcript.load(Chat("x", (item,)))
    (answer,) = widgets(transcript, Answer)
    color = answer.view.document().find("1").charFormat().foreground().color()
    assert color == Theme.current().color("accent.soft_text")


def test_only_the_citation_beside_a_wrong_quotation_is_in_doubt(transcript: Transcript) -> None:
    """One number may bear out one quotation and not the next."""
    text = "It runs “every night” [1]. It is “verified weekly” [1].\n\n- Once more [1]"
    item = answer_item(
        text,
        citations=(Citation(1, "Home server/Backups.md", (), (12, 12), "every night", True),),
        unverified=(Unverified(1, "verified weekly", "Not there."),),
    )
    transcript.load(Chat("x", (item,)))
    settle()
    (answer,) = widgets(transcript, Answer)
    plain, amber = (Theme.current().color(tone) for tone in ("accent.soft_text", "amber.text"))
    assert [number_color(answer, nth) for nth in range(3)] == [plain, amber, plain]
    answer.view.refresh()
    Theme.current().apply("dark")
    settle()
    amber = Theme.current().color("amber.text")
    assert number_color(answer, 1) == amber


def test_a_card_tells_of_the_doubt_where_it_belongs(qtbot: QtBot, transcript: Transcript) -> None:
    item = answer_item(
        "It runs “every night” [1]. It is “verified weekly” [1].",
        citations=(Citation(1, "Home server/Backups.md", (), (12, 12), "every night", True),),
        unverified=(Unverified(1, "verified weekly", "Not there."),),
    )
    transcript.load(Chat("x", (item,)))
    settle()
    (answer,) = widgets(transcript, Answer)
    told = []
    for href in ("cite:1", "cite:1!"):
        answer.view.point_at(href)
        qtbot.waitUntil(lambda: answer.view.card is not None and answer.view.card.isVisible())
        told.append(answer.view.card.shown()[3])
        answer.view.point_at("")
    assert told[0] == ""
    assert "“verified weekly” is not in Backups.md" in told[1]


def number_color(answer: Answer, nth: int) -> object:
    """The colour of the n-th number in brackets, from 0."""
    place = QTextCursor(answer.view.document())
    for _ in range(nth + 1):
        place = answer.view.document().find("[1", place)
    return place.charFormat().foreground().color()


def test_the_limit_of_steps_is_told_before_the_chat_is_read_again(transcript: Transcript) -> None:
    transcript.begin_turn("What is there?")
    step = ToolStep("c1", "list_tags", {}, "ok")
    transcript.live.finish(result("A garden.", "limit", steps=(step,)), ())
    (answer,) = widgets(transcript, Answer)
    assert answer.ending == "Stopped after 1 step. This is the answer from what was found."


def test_a_stopped_answer_says_so(transcript: Transcript) -> None:
    transcript.begin_turn("A question?")
    transcript.live.append("Half an ans")
    transcript.live.finish(result("Half an ans", "interrupted"), ())
    (answer,) = widgets(transcript, Answer)
    assert answer.ending == "Stopped. What had arrived is kept."
    assert answer.text == "Half an ans"


def test_an_answer_that_broke_off_can_be_tried_again(qtbot: QtBot, transcript: Transcript) -> None:
    transcript.begin_turn("A question?")
    transcript.live.append("Half")
    transcript.live.finish(result("Half", "interrupted", reason="it ended too early"), ())
    (answer,) = widgets(transcript, Answer)
    assert answer.ending == "The answer broke off: it ended too early. What had arrived is kept."
    (again,) = (b for b in answer.findChildren(QPushButton) if b.text() == "Try again")
    with qtbot.waitSignal(transcript.maker.action_requested):
        qtbot.mouseClick(again, Qt.MouseButton.LeftButton)


def test_an_error_stands_where_the_answer_would_have_stood(
    qtbot: QtBot, transcript: Transcript
) -> None:
    transcript.begin_turn("A question?")
    transcript.live.fail(
        ErrorInfo("model_unavailable", "The model at <b>x</b> does not answer. It is kept.")
    )
    assert not widgets(transcript, Answer)
    (failure,) = widgets(transcript, Failure)
    assert failure.title.text() == "The model at <b>x</b> does not answer"
    assert failure.title.textFormat() == Qt.TextFormat.PlainText
    assert [button.text() for button in failure.buttons] == ["Choose a model", "Try again"]
    with qtbot.waitSignal(transcript.maker.error_action) as caught:
        qtbot.mouseClick(failure.buttons[0], Qt.MouseButton.LeftButton)
    assert caught.args[0] == "choose_model"
    assert caught.args[1].code == "model_unavailable"
    with qtbot.waitSignal(transcript.maker.retry_requested):
        qtbot.mouseClick(failure.buttons[1], Qt.MouseButton.LeftButton)


def test_an_error_names_settings_by_their_labels_and_no_commands(transcript: Transcript) -> None:
    transcript.begin_turn("A question?")
    transcript.live.fail(describe(Offline("OpenAI")))
    (offline,) = widgets(transcript, Failure)
    transcript.begin_turn("Another question?")
    transcript.live.fail(describe(ContextHookError("marker", "before_request", "no")))
    _, hook = widgets(transcript, Failure)
    assert offline.detail.text().endswith('or switch "Offline" off.')
    assert hook.detail.text() == "Nothing was sent. Mend or remove the hook."


def test_an_error_after_some_text_keeps_the_text(transcript: Transcript) -> None:
    transcript.begin_turn("A question?")
    transcript.live.append("Half an ans")
    transcript.live.fail(ErrorInfo("internal", "Something in Strata failed."))
    (answer,) = widgets(transcript, Answer)
    assert answer.view.toPlainText() == "Half an ans"
    assert len(widgets(transcript, Failure)) == 1


def test_parts_have_names_and_roles(transcript: Transcript) -> None:
    transcript.load(Chat("x", (UserItem("u", TIME, "Q?"), answer_item("Rain [1]."))))
    transcript.begin_turn("A question?")
    transcript.live.fail(ErrorInfo("offline", "Offline is on."))
    found = []
    for row in transcript.feed.rows:
        interface = QAccessible.queryAccessibleInterface(row.widget)
        found.append((interface.role(), interface.text(QAccessible.Text.Name).split(",")[0]))
    assert found[0] == (QAccessible.Role.Grouping, "You")
    assert found[1] == (QAccessible.Role.Document, "Answer")
    assert found[3] == (QAccessible.Role.AlertMessage, "Offline is on.")
    assert transcript.feed.rows[1].widget.accessibleName().endswith(", 1 source")


def test_only_cited_sources_are_counted_in_the_name(transcript: Transcript) -> None:
    transcript.load(Chat("x", (UserItem("u", TIME, "Q?"), answer_item("Rain falls."))))
    assert transcript.feed.rows[1].widget.accessibleName().endswith(", 0 sources")


def test_a_name_that_changes_is_said_anew(transcript: Transcript) -> None:
    transcript.load(Chat("x", (UserItem("u", TIME, "Q?"), answer_item("Rain [1]."))))
    answer = transcript.feed.rows[1].widget
    interface = QAccessible.queryAccessibleInterface(answer)
    before = interface.text(QAccessible.Text.Name)
    assert before.endswith(", 1 source")
    answer.set_sources({})
    assert interface.text(QAccessible.Text.Name) == answer.accessibleName() != before


def test_dropped_turns_have_a_line(transcript: Transcript) -> None:
    items = (*chat(2).items, DroppedItem(2, 5108, "room"), *chat(1).items)
    transcript.load(Chat("x", items))
    (line,) = widgets(transcript, Divider)
    assert line.text == (
        "2 oldest turns are not sent any more · 5,108 tokens · Dropped: history over its budget"
    )


def test_the_line_moves_when_more_turns_are_dropped(transcript: Transcript) -> None:
    items = chat(5).items
    transcript.load(Chat("x", (*items[:2], DroppedItem(1, 900, "room"), *items[2:])))
    settle()
    stays = transcript.feed.rows[-1]
    transcript.refresh(Chat("x", (*items[:6], DroppedItem(3, 2700, "room"), *items[6:])))
    kinds = [type(row.widget).__name__ for row in transcript.feed.rows]
    assert kinds.count("Divider") == 1
    assert kinds.index("Divider") == 6
    assert transcript.feed.rows[-1] is stays


def test_an_empty_chat_offers_questions(qtbot: QtBot, transcript: Transcript) -> None:
    transcript.show_empty(349, None, ["What about <b>x</b>?", "b", "c", "d"])
    empty = transcript.empty
    assert empty.sentence == "349 notes. Answers cite the lines they rest on."
    assert [row.question for row in empty.questions] == ["What about <b>x</b>?", "b", "c"]
    with qtbot.waitSignal(transcript.question_chosen) as caught:
        qtbot.mouseClick(empty.questions[0], Qt.MouseButton.LeftButton)
    assert caught.args == ["What about <b>x</b>?"]


def test_an_empty_chat_counts_no_notes_before_they_are_known(transcript: Transcript) -> None:
    empty = transcript.empty
    empty.show_state(0, None, ())
    assert empty.sentence == "Answers cite the lines they rest on."
    empty.show_state(1, None, ())
    assert empty.sentence == "1 note. Answers cite the lines they rest on."


def test_a_low_window_offers_as_many_questions_as_have_room(qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    empty = EmptyState(around)
    empty.fit(900)
    empty.show_state(349, None, ["a", "b", "c"])
    around.show()
    for height, count in ((900, 3), (230, 2), (120, 0), (900, 3)):
        empty.resize(900, height)
        assert sum(row.isVisible() for row in empty.questions) == count


def test_light_and_dark_recolour_all_that_is_seen(place: Place) -> None:
    place.transcript.load(chat(2, RICH))
    Theme.current().apply("dark")
    settle()
    place.grab()
    settle()
    answer = widgets(place.transcript, Answer)[-1]
    color = answer.view.document().find("Text").charFormat().foreground().color()
    assert color == Theme.current().color("text.primary")
    picture = place.grab().toImage()
    assert (
        picture.pixelColor(2, 2) == Theme.current().color("bg.content")
        or picture.pixelColor(2, 2).lightness() < 128
    )


def test_text_of_another_chat_does_not_reach_this_one(transcript: Transcript) -> None:
    transcript.begin_turn("A question?")
    transcript.live.append("Half")
    transcript.load(chat(1, "Other."))
    transcript.live.append(" an answer")
    transcript.live.finish(result("Half an answer"), ())
    settle()
    assert [a.text for a in widgets(transcript, Answer)] == ["Other."]


def test_the_visible_rectangle_of_a_card_is_near_its_citation(transcript: Transcript) -> None:
    transcript.load(Chat("x", (answer_item("Rain [1] and rain [1]."),)))
    settle()
    (answer,) = widgets(transcript, Answer)
    places = answer.view.find_places(1)
    assert len(places) == 2
    assert all(isinstance(spot, QRect) and not spot.isEmpty() for spot in places)


@pytest.mark.parametrize(
    ("message", "is_beside"),
    [
        ("The limit is reached.", True),
        ("The price of openai/gpt-4o-mini is not known, so no limit can hold the call.", False),
        (f"The limit is reached. {'Nothing was sent, and your message is kept. ' * 3}", False),
    ],
)
def test_the_buttons_of_an_error_are_beside_it_only_if_it_needs_few_lines_there(
    qtbot: QtBot, message: str, is_beside: bool
) -> None:
    card = Failure(ErrorInfo("spending_limit", message))
    qtbot.addWidget(card)
    card.resize(640, 200)
    card.show()
    qtbot.wait(1)
    button = card.buttons[0]
    texts = [label for label in (card.title, card.detail) if label.isVisible()]
    below_text = max(label.geometry().bottom() for label in texts)
    assert (button.geometry().top() <= below_text) == is_beside
    assert (card.title.width() > 500) == (not is_beside)
