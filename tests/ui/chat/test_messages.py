"""What can be done with single messages: versions, names, other words; what an agent did."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QStyle,
    QStyleOptionFrame,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.sessions.transcript import (
    AnswerItem,
    CustomItem,
    HookChangeItem,
    SummaryItem,
    TranscriptItem,
    UserItem,
)
from app.sessions.transcript import ChatTranscript as Chat
from chains.request.ask import Selection
from chains.turn_answer import ToolStep
from context.exam import ChatFact, SummaryExam
from context.messages import ToolCallPart
from context.report.report import Compaction
from tests.support.window import widgets
from tests.support.window.clicks import click_button
from tests.support.window.transcripts import answer_item
from tests.support.window.waiting import settle
from ui.chat.composer.attachment import Attachment
from ui.chat.message.answer import Answer
from ui.chat.message.blocks import HookDivider, NoteBlock, SummaryDivider
from ui.chat.message.code import CodeBox
from ui.chat.message.step_words import describe_running_step, summary
from ui.chat.message.tools import MessageAction
from ui.chat.message.user import UserMessage
from ui.chat.transcript.transcript import Transcript
from ui.theme import Theme

TIME = "2026-05-14T14:03:00+00:00"
VERSIONS = ("u1", "u2", "u3")


def user(text: str = "Where is it?", entry: str = "u2", **fields: object) -> UserItem:
    return UserItem(entry, TIME, text, **{"siblings": (entry,), **fields})


def answer(text: str = "There.", entry: str = "a1", **fields: object) -> AnswerItem:
    return answer_item(
        text, entry, **{"siblings": (entry,), "sources": (), "seconds": 1.0, **fields}
    )


def step(id: str, name: str, status: str = "ok", text: str = "Found.", **given: object) -> ToolStep:
    return ToolStep(id, name, given, status, 0.4, None, text)


STEPS = (
    step("c1", "search_notes", query="backup"),
    step("c2", "search_notes", query="what is left out"),
    step("c3", "read_note", path="Home server.md", start=3, end=9),
    step("c4", "read_note", "error", path="Cellar.md"),
)


@pytest.fixture
def transcript(qtbot: QtBot) -> Iterator[Transcript]:
    transcript = Transcript()
    qtbot.addWidget(transcript)
    transcript.resize(900, 700)
    transcript.show()
    transcript.activateWindow()
    qtbot.waitUntil(transcript.isActiveWindow)
    return transcript


def show(transcript: Transcript, *items: TranscriptItem) -> None:
    transcript.load(Chat("A chat", items))
    settle()


def first(transcript: Transcript, kind: type) -> QWidget:
    return next(row.widget for row in transcript.feed.rows if isinstance(row.widget, kind))


def action_requested(qtbot: QtBot, transcript: Transcript, act: object) -> MessageAction:
    with qtbot.waitSignal(transcript.maker.action_requested) as caught:
        act()
    return caught.args[0]


def test_enter_asks_in_other_words(qtbot: QtBot, transcript: Transcript) -> None:
    show(transcript, user(), answer())
    message = first(transcript, UserMessage)
    message.tools.edit.click()
    field = QGuiApplication.focusObject()
    assert field is message.editor.field
    qtbot.keyClicks(field, " Exactly?")
    wish = action_requested(qtbot, transcript, lambda: qtbot.keyClick(field, Qt.Key.Key_Return))
    assert wish == MessageAction("edit", "u2", "Where is it? Exactly?")
    assert message.editor is None


def test_escape_leaves_a_message_as_it_was(qtbot: QtBot, transcript: Transcript) -> None:
    show(transcript, user(), answer())
    message = first(transcript, UserMessage)
    message.edit()
    qtbot.keyClicks(message.editor.field, "x")
    with qtbot.assertNotEmitted(transcript.maker.action_requested):
        qtbot.keyClick(message.editor.field, Qt.Key.Key_Escape)
    assert message.editor is None
    assert message.body.isVisible()
    assert message.text == "Where is it?"


def test_the_same_words_are_answered_again(qtbot: QtBot, transcript: Transcript) -> None:
    show(transcript, user())
    message = first(transcript, UserMessage)
    message.edit()
    wanted = action_requested(
        qtbot, transcript, lambda: qtbot.keyClick(message.editor.field, Qt.Key.Key_Return)
    )
    assert wanted == MessageAction("again", "u2")
    assert message.text == "Where is it?"


def test_tab_walks_the_field_and_its_buttons(qtbot: QtBot, transcript: Transcript) -> None:
    show(transcript, user())
    editor_of = first(transcript, UserMessage)
    editor_of.edit()
    visited = []
    for _ in range(2):
        qtbot.keyClick(QGuiApplication.focusObject(), Qt.Key.Key_Tab)
        visited.append(QGuiApplication.focusObject().text())
    assert visited == ["Cancel", "Ask again"]


def test_an_agent_that_failed_tells_why_when_its_chat_is_opened_again(
    transcript: Transcript,
) -> None:
    failed = answer(text="", steps=STEPS[:1], status="error", reason="the server did not answer")
    show(transcript, user(), failed)
    said = [label.text() for label in first(transcript, Answer).findChildren(QLabel)]
    assert "No answer arrived: the server did not answer." in said


def test_an_edit_is_kept_while_the_chat_is_read_anew(transcript: Transcript) -> None:
    show(transcript, user(), answer())
    message = first(transcript, UserMessage)
    message.edit()
    message.editor.field.set_text("Half a thought")
    transcript.refresh(Chat("A chat", (user(siblings=VERSIONS), answer())))
    assert message.editor.text == "Half a thought"
    assert message.tools.siblings.text == "2/3"


def test_the_last_question_is_in_view_when_it_is_edited_from_the_composer(
    transcript: Transcript,
) -> None:
    show(transcript, user(), answer("A line.\n\n" * 60))
    transcript.scroller.to_end()
    transcript.edit_last()
    for _ in range(3):
        QApplication.processEvents()
    field = first(transcript, UserMessage).editor.field
    place = widgets.rect_in(transcript.scroller.area.viewport(), field)
    assert transcript.scroller.area.viewport().rect().contains(place)


def test_versions_are_walked_with_arrows_that_have_names(
    qtbot: QtBot, transcript: Transcript
) -> None:
    show(transcript, user(siblings=VERSIONS), answer(siblings=("a0", "a1")))
    versions = first(transcript, UserMessage).tools.siblings
    answers = first(transcript, Answer).tools.siblings
    assert (versions.text, versions.accessibleName()) == ("2/3", "Version 2 of 3")
    assert (answers.text, answers.accessibleName()) == ("2/2", "Answer 2 of 2")
    assert versions.previous.accessibleName() == "Previous version, 1 of 3"
    assert action_requested(qtbot, transcript, versions.previous.click) == MessageAction(
        "select", "u1"
    )
    assert action_requested(qtbot, transcript, versions.following.click) == MessageAction(
        "select", "u3"
    )
    assert action_requested(qtbot, transcript, answers.previous.click) == MessageAction(
        "select", "a0"
    )
    assert not answers.following.isEnabled()
    assert min(versions.previous.width(), versions.previous.height()) >= 24


def test_the_arrows_are_beside_the_number_on_a_line_of_their_own(transcript: Transcript) -> None:
    transcript.resize(420, 700)
    show(transcript, user(), answer(siblings=("a0", "a1")))
    for _ in range(3):
        QApplication.processEvents()
    tools = first(transcript, Answer).tools
    assert tools.lines == 2
    arrows = (tools.siblings.previous, tools.siblings.following)
    assert arrows[1].x() - arrows[0].geometry().right() < 60


def test_a_message_without_versions_has_no_arrows(transcript: Transcript) -> None:
    show(transcript, user(), answer())
    assert not first(transcript, UserMessage).tools.siblings.isVisible()
    assert not first(transcript, Answer).tools.siblings.isVisible()


@pytest.mark.parametrize("kind", ["again", "branch", "saw"])
def test_an_answer_asks_for_what_its_buttons_say(
    qtbot: QtBot, transcript: Transcript, kind: str
) -> None:
    show(transcript, user(), answer())
    tools = first(transcript, Answer).tools
    assert action_requested(qtbot, transcript, getattr(tools, kind).click) == MessageAction(
        kind, "a1"
    )


def test_a_name_is_given_with_enter_and_left_with_escape(
    qtbot: QtBot, transcript: Transcript
) -> None:
    show(transcript, user(), answer(label="to check"))
    tools = first(transcript, Answer).tools
    assert (tools.label.text, tools.label.isVisible()) == ("to check", True)
    tools.name.click()
    tools.label.field.setText("done  <b>")
    wish = action_requested(
        qtbot, transcript, lambda: qtbot.keyClick(tools.label.field, Qt.Key.Key_Return)
    )
    assert wish == MessageAction("label", "a1", "done <b>")
    tools.name.click()
    tools.label.field.setText("never mind")
    with qtbot.assertNotEmitted(transcript.maker.action_requested):
        qtbot.keyClick(tools.label.field, Qt.Key.Key_Escape)
    assert tools.label.text == "to check"


@pytest.mark.parametrize("kind", [UserMessage, Answer])
def test_the_field_for_a_name_is_wide_enough_for_its_hint(
    transcript: Transcript, kind: type[UserMessage | Answer]
) -> None:
    show(transcript, user(), answer())
    tools = first(transcript, kind).tools
    tools.name.click()
    settle()
    field = tools.label.field
    hint = field.fontMetrics().horizontalAdvance(field.placeholderText())
    inside, option = QStyle.SubElement.SE_LineEditContents, QStyleOptionFrame()
    field.initStyleOption(option)
    room = field.style().subElementRect(inside, option, field)
    assert room.width() - 4 >= hint  # Qt keeps 2 pixels on either side


def test_the_tools_have_their_place_before_they_are_seen(transcript: Transcript) -> None:
    show(transcript, user(), answer())
    message = first(transcript, UserMessage)
    before = [row.geometry() for row in transcript.feed.rows]
    message.tools.set_seen(True)
    settle()
    assert [row.geometry() for row in transcript.feed.rows] == before


@pytest.mark.parametrize("text", ["Where is it?", "كم درجة حرارة الماء المناسبة؟"])
def test_text_reaches_from_edge_to_edge_in_both_directions(
    transcript: Transcript, text: str
) -> None:
    """No hidden button takes room beside it."""
    show(transcript, user(text))
    message = first(transcript, UserMessage)
    left = message.body.mapTo(message, QPoint(0, 0)).x()
    assert (left, message.width() - left - message.body.width()) == (16, 16)


def test_what_was_sent_along_stands_above_the_text(qtbot: QtBot, transcript: Transcript) -> None:
    item = user(attach=("Plans/", "#server"), selections=(Selection("Prices.md", 12, 30),))
    show(transcript, item)
    message = first(transcript, UserMessage)
    names = [chip.accessibleName() for chip in message.chips.chips()]
    assert names == [
        "Attached Plans",
        "Attached server",
        "Attached Prices.md, lines 12–30",
    ]
    assert message.chips.geometry().bottom() < message.body.geometry().top()
    with qtbot.waitSignal(transcript.maker.attachment_opened) as opened:
        message.chips.chips()[2].click()
    assert opened.args == [Attachment("Prices.md", (12, 30))]
    assert transcript.list_attachments("u2") == message.attached


def test_what_an_agent_did_is_one_line_that_opens(qtbot: QtBot, transcript: Transcript) -> None:
    show(transcript, user(), answer(steps=STEPS))
    steps = first(transcript, Answer).steps
    assert steps.head.text() == "Searched twice, read 1 note, 1 failed"
    assert steps.head.took == "1.6 s"
    assert steps.head.accessibleName().endswith("steps folded")
    assert not steps.is_open
    qtbot.keyClick(steps.head, Qt.Key.Key_Space)
    assert steps.is_open
    said = [row.line.accessibleName() for row in steps.rows]
    assert said == [
        "Searched “backup”, 0.4 seconds",
        "Searched “what is left out”, 0.4 seconds",
        "Read Home server.md, lines 3–9, 0.4 seconds",
        "Read Cellar.md, 0.4 seconds, failed",
    ]


def test_a_step_shows_objects_in_its_arguments_as_json(transcript: Transcript) -> None:
    given = ToolCallPart("c1", "leaves__add", {"path": {"y": [{}]}, "z": [1.5, None]}).arguments
    show(transcript, user(), answer(steps=(step("c1", "read_note", **given),)))
    steps = first(transcript, Answer).steps
    steps.head.click()
    (row,) = steps.rows
    row.line.click()
    settle()
    assert row.line.accessibleName().startswith('Read {"y":[{}]}')
    shown, _ = row.details.findChildren(QWidget, options=Qt.FindDirectChildrenOnly)
    assert json.loads(shown.text.toPlainText()) == {"path": {"y": [{}]}, "z": [1.5, None]}


def test_a_step_shows_what_went_in_and_what_came_out(transcript: Transcript) -> None:
    text = "\n".join(f"<b>line {n}</b>" for n in range(40))
    show(transcript, user(), answer(steps=(step("c1", "read_note", text=text, path="A.md"),)))
    steps = first(transcript, Answer).steps
    steps.head.click()
    (row,) = steps.rows
    row.line.click()
    settle()
    given, found = row.details.findChildren(QWidget, options=Qt.FindDirectChildrenOnly)
    assert given.text.toPlainText() == '{\n "path": "A.md"\n}'
    assert found.text.toPlainText() == text
    folded = found.text.height()
    assert found.text.document().lineCount() == 40
    found.more.click()
    assert found.text.height() > 3 * folded
    row.line.click()
    assert row.details is None


def test_steps_come_while_the_agent_works(transcript: Transcript) -> None:
    transcript.begin_turn("What is backed up?")
    transcript.live.begin_tool(ToolStep("c1", "search_notes", {"query": "backup"}))
    shown = first(transcript, Answer)
    assert shown.steps.isVisible()
    assert shown.steps.rows[0].line.accessibleName() == "Searching “backup”, running"
    transcript.live.end_tool(ToolStep("c1", "search_notes", {}, "error", 0.2))
    assert shown.steps.head.text() == "1 failed"


def test_words_between_steps_stand_above_the_step_that_followed(transcript: Transcript) -> None:
    said = ToolStep("c1", "read_note", {"path": "A.md"}, "ok", 0.1, None, "x", "First <b>A.md</b>.")
    show(transcript, user(), answer(steps=(said, step("c2", "read_note", path="B.md"))))
    steps = first(transcript, Answer).steps
    steps.head.click()
    assert [row.text_before.text() for row in steps.rows] == ["First <b>A.md</b>.", ""]
    assert [row.text_before.isVisible() for row in steps.rows] == [True, False]
    assert steps.rows[0].text_before.textFormat() == Qt.TextFormat.PlainText


def test_words_that_arrive_before_a_step_go_to_the_step(transcript: Transcript) -> None:
    transcript.begin_turn("What is backed up?")
    transcript.live.append("I look it up.")
    transcript.live.begin_tool(ToolStep("c1", "search_notes", {"query": "backup"}))
    transcript.live.begin_tool(ToolStep("c2", "search_notes", {"query": "copy"}))
    transcript.live.append("Every night.")
    shown = first(transcript, Answer)
    assert [step.text_before for step in shown.steps.steps] == ["I look it up.", ""]
    assert shown.text == "Every night."
    shown.view.flush()
    assert shown.view.toPlainText() == "Every night."


def test_an_answer_without_steps_says_nothing_of_them(transcript: Transcript) -> None:
    show(transcript, user(), answer())
    assert not first(transcript, Answer).steps.isVisible()


def test_an_agent_that_was_stopped_keeps_its_steps(transcript: Transcript) -> None:
    show(transcript, user(), answer("", status="interrupted", steps=STEPS))
    shown = first(transcript, Answer)
    assert shown.steps.head.text().startswith("Searched twice")
    assert shown.ending == "Stopped. What had arrived is kept."


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([("search_notes", "ok")], "Searched"),
        ([("search_notes", "ok")] * 3, "Searched 3 times"),
        ([("list_folder", "ok"), ("read_note", "ok")], "Listed 1 folder, read 1 note"),
        ([("read_result", "ok")] * 2, "Read on twice"),
        ([("files__grep", "denied")], "1 not allowed"),
    ],
)
def test_steps_are_summed_up_in_words(steps: list[tuple[str, str]], words: str) -> None:
    assert (
        summary(ToolStep(str(n), name, {}, status) for n, (name, status) in enumerate(steps))
        == words
    )


def test_the_present_step_is_said_in_the_present() -> None:
    given = {"path": "Home server.md"}
    assert describe_running_step(ToolStep("c1", "read_note", given)) == "Reading Home server.md…"


def test_steps_of_hostile_tools_are_plain_text(transcript: Transcript) -> None:
    hostile = step("c1", "<img src=x>", text="\x1b[31m", path="<b>")
    show(transcript, user(), answer(steps=(hostile,)))
    steps = first(transcript, Answer).steps
    assert steps.head.text() == "Used <img src=x>"
    assert "<" not in steps.head.toolTip().replace("<qt>", "").replace("</qt>", "")


def test_a_programs_message_says_where_it_is_from(transcript: Transcript) -> None:
    show(transcript, user(), CustomItem("p1", "Built **at 12**.", TIME), answer())
    aside = first(transcript, NoteBlock)
    assert aside.accessibleName() == "Added by an extension"
    assert aside.view.toPlainText() == "Built at 12."


def test_a_commands_answer_can_be_taken_away_and_stays_over_a_refresh(
    qtbot: QtBot, transcript: Transcript
) -> None:
    show(transcript, user(), answer())
    transcript.show_aside("/context", "# Context")
    transcript.refresh(Chat("A chat", (user(), answer(siblings=("a0", "a1")))))
    aside = first(transcript, NoteBlock)
    assert aside.accessibleName() == "/context · shown here only, neither stored nor sent"
    with qtbot.waitSignal(aside.dismissed):
        aside.findChildren(QWidget, "")
        next(
            b for b in aside.findChildren(QWidget) if b.accessibleName() == "Take this away"
        ).click()
    assert [type(row.widget) for row in transcript.feed.rows] == [UserMessage, Answer]


def test_the_facts_that_a_summary_lost_keep_the_focus_when_the_notes_have_been_searched(
    qtbot: QtBot,
) -> None:
    gone = tuple(
        ChatFact("figure", f"{n}.5", f"It holds {n}.5 litres.", (f"{n}.5",)) for n in range(3)
    )
    exam = SummaryExam(3, 0, gone=gone, not_checked=2)
    shown = SummaryDivider(SummaryItem(Compaction("t1", None, 900, 90, "model", exam=exam), "x"))
    qtbot.addWidget(shown)
    shown.show()
    before = shown.facts
    assert before is not None
    before.head.setFocus()
    before.head.click()
    shown.show_exam(replace(exam, not_checked=0))
    after = shown.facts
    assert after is not before
    assert after.is_open
    assert shown.focusWidget() is after.head


def test_a_summary_has_a_line_that_shows_it(qtbot: QtBot, transcript: Transcript) -> None:
    summary_item = SummaryItem(Compaction("t1", None, 96_412, 30_120, "model"), "- It rains.")
    show(transcript, user(entry="u1"), summary_item, user(), answer())
    line = first(transcript, SummaryDivider)
    assert line.text == "Earlier messages summarised · 96,412 → 30,120 tokens"
    line.more.click()
    assert line.view.toPlainText() == "It rains."
    asked = []
    transcript.maker.summary_edit_requested.connect(asked.append)
    (edit,) = (b for b in line.findChildren(QPushButton) if b.text() == "Edit the summary")
    edit.click()
    assert asked == [summary_item]
    with qtbot.waitSignal(transcript.maker.before_requested) as wanted:
        click_button(line, "Continue from before")
    assert wanted.args == ["t1"]


def test_only_the_summary_in_use_can_be_edited(transcript: Transcript) -> None:
    old = SummaryItem(Compaction("t1", None, 900, 90, "model"), "Old.", is_in_use=False)
    show(transcript, user(entry="u1"), old, user(), answer())
    line = first(transcript, SummaryDivider)
    line.more.click()
    assert not [b for b in line.findChildren(QPushButton) if b.text() == "Edit the summary"]


def test_a_summary_that_is_left_out_or_back_stays_open_and_can_be_edited(
    transcript: Transcript,
) -> None:
    item = SummaryItem(Compaction("t1", None, 900, 90, "model"), "- It rains.")
    others = user(entry="u1"), user(), answer()
    show(transcript, item, *others)
    line = first(transcript, SummaryDivider)
    line.more.click()
    told = {
        "summary": "Summary left out of the last request · 900 → 90 tokens",
        "summary_shortened": "Summary shortened in the last request · 900 → 90 tokens",
        "": "Earlier messages summarised · 900 → 90 tokens",
    }
    for change, said in told.items():
        transcript.refresh(Chat("A chat", (replace(item, change=change), *others)))
        assert first(transcript, SummaryDivider) is line
        assert (line.text, line.accessibleName()) == (said, said)
        assert line.view.isVisible()
    assert [b for b in line.findChildren(QPushButton) if b.text() == "Edit the summary"]
    compaction = replace(item.compaction, edited=True)
    edited = replace(item, compaction=compaction, summary="- It pours.")
    transcript.refresh(Chat("A chat", (edited, *others)))
    settle()
    assert first(transcript, SummaryDivider).text.endswith("tokens · edited")


def test_an_outline_says_that_no_model_made_it(transcript: Transcript) -> None:
    show(transcript, SummaryItem(Compaction("t1", None, 900, None, "outline"), "x"), user())
    assert (
        first(transcript, SummaryDivider).text == "Earlier messages became an outline · 900 tokens"
    )


def test_what_a_hook_changed_is_said_in_its_own_words(transcript: Transcript) -> None:
    shaped = HookChangeItem("t1", "redact", "<b>Redaction</b>", "2 keys removed", "- `AKIA…`")
    show(transcript, user(entry="u1"), answer(entry="a0"), shaped, user(), answer())
    line = first(transcript, HookDivider)
    assert line.text == "<b>Redaction</b> · 2 keys removed · by the hook redact"
    assert line.accessibleName() == line.text
    line.more.click()
    assert (line.more.text(), line.view.toPlainText()) == ("Hide details", "AKIA…")
    line.more.click()
    assert (line.more.text(), line.view.isVisible()) == ("Show details", False)


def test_the_data_for_a_renderer_is_listed_plainly(transcript: Transcript) -> None:
    shaped = HookChangeItem("t1", "redact", "Redaction", renderer_id="t", renderer_props={"n": 2})
    show(transcript, user(entry="u1"), answer(entry="a0"), shaped, user(), answer())
    line = first(transcript, HookDivider)
    line.more.click()
    assert "Data for the renderer t:" in line.view.toPlainText()
    assert '"n": 2' in line.view.toPlainText()


def test_a_hook_without_more_to_say_has_nothing_to_click(transcript: Transcript) -> None:
    show(transcript, user(), answer(), HookChangeItem("t1", "redact", "", "2 keys removed"))
    line = first(transcript, HookDivider)
    assert line.text == "Changed for the model · 2 keys removed · by the hook redact"
    assert not line.more.isVisible()


def test_another_branch_takes_only_the_place_of_what_differs(transcript: Transcript) -> None:
    show(
        transcript,
        user("One?", "u1"),
        answer("One.", "a1"),
        user("Two?", "u2"),
        answer("Two.", "a2"),
    )
    stays = transcript.feed.rows[:2]
    other = (user("One?", "u1"), answer("One.", "a1"), user("Deux?", "u3"), answer("Deux.", "a3"))
    transcript.refresh(Chat("A chat", other))
    assert transcript.feed.rows[:2] == stays
    assert [row.widget.text for row in transcript.feed.rows] == ["One?", "One.", "Deux?", "Deux."]


def test_an_answer_made_anew_stands_below_its_question(transcript: Transcript) -> None:
    show(transcript, user(), answer(), user("Next?", "u9"), answer("Next.", "a9"))
    transcript.begin_turn("Where is it?", instead="a1", is_again=True)
    assert [type(row.widget) for row in transcript.feed.rows] == [UserMessage, Answer]
    assert first(transcript, Answer).text == ""


def test_a_question_in_other_words_takes_the_place_of_the_old_one(transcript: Transcript) -> None:
    show(transcript, user("One?", "u1"), answer(), user("Next?", "u9"), answer("Next.", "a9"))
    transcript.begin_turn("Another?", (Attachment("A.md"),), instead="u9")
    texts = [row.widget.text for row in transcript.feed.rows]
    assert texts == ["One?", "There.", "Another?", ""]


def test_parts_have_roles(transcript: Transcript) -> None:
    show(transcript, user(), CustomItem("p", "x", TIME), answer(steps=STEPS))
    roles = {
        kind: QAccessible.queryAccessibleInterface(first(transcript, kind)).role()
        for kind in (UserMessage, NoteBlock, Answer)
    }
    assert roles == {
        UserMessage: QAccessible.Role.Grouping,
        NoteBlock: QAccessible.Role.Note,
        Answer: QAccessible.Role.Document,
    }
    assert widgets.unnamed(transcript) == []


@pytest.mark.parametrize(
    ("width", "scale"), [(440, 1.0), (440, 1.25), (660, 1.5), (660, 2.0), (900, 1.0), (900, 2.0)]
)
def test_nothing_overlaps_at_any_size(transcript: Transcript, width: int, scale: float) -> None:
    Theme.current().apply("light", scale)
    transcript.resize(width, 900)
    chips = ("Plans/", "A note with quite a long name indeed that goes on and on.md", "#server")
    show(
        transcript,
        user("A question " * 8, siblings=VERSIONS, label="to check", attach=chips),
        answer("Text.", siblings=("a0", "a1"), label="a name that is rather long", steps=STEPS),
        SummaryItem(Compaction("t1", None, 96_412, 30_120, "model"), "x"),
    )
    first(transcript, Answer).steps.head.click()
    first(transcript, UserMessage).edit()
    settle()
    assert widgets.overlapping_siblings(transcript) == []
    assert widgets.outside_their_parents(transcript.feed) == []


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.5])
@pytest.mark.parametrize("text", ["restore\n" * 30, "نسخة\nrestore\n" * 15, "コピー " * 300])
def test_the_last_line_shown_of_a_result_is_whole(qtbot: QtBot, scale: float, text: str) -> None:
    Theme.current().apply("light", scale)
    box = CodeBox(text, "Result")
    qtbot.addWidget(box)
    box.resize(500, 700)
    box.show()
    QApplication.processEvents()
    for most in (12, 0):
        lines = bottoms(box.text)[: most or None]
        assert lines[-1] <= box.text.viewport().height() <= lines[-1] + 4
        box.more.click()
        QApplication.processEvents()


def bottoms(view: QPlainTextEdit) -> list[float]:
    """Where each line of a text ends, from its upper edge."""
    found, top = [], 0.0
    block = view.document().firstBlock()
    while block.isValid():
        place = view.blockBoundingRect(block)
        layout = block.layout()
        found += [top + layout.lineAt(n).rect().bottom() for n in range(layout.lineCount())]
        top += place.height()
        block = block.next()
    return found


def test_all_actions_of_a_message_are_seen_while_one_has_the_focus(
    transcript: Transcript, qtbot: QtBot
) -> None:
    show(transcript, user(), answer())
    message = first(transcript, UserMessage)
    tools = message.tools
    actions = (tools.edit, tools.copy, tools.branch, tools.pin, tools.name)
    assert not any(map(has_ink, actions))
    transcript.step_message(-2)
    qtbot.keyClick(transcript, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is tools.edit
    assert all(map(has_ink, actions))
    qtbot.keyClick(tools.edit, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is tools.copy
    assert all(map(has_ink, actions))
    transcript.setFocus(Qt.FocusReason.OtherFocusReason)
    assert all(map(has_ink, actions))  # the message is still the current one, with its ring
    transcript.step_message(1)
    assert not any(map(has_ink, actions))


def has_ink(widget: QWidget) -> bool:
    """Return whether anything is painted on a widget."""
    image = widget.grab().toImage()
    colors = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
    return len(colors) > 1


def test_the_editor_of_a_message_has_an_edge_that_shows_the_focus(transcript: Transcript) -> None:
    show(transcript, user(), answer())
    message = first(transcript, UserMessage)
    message.edit()
    settle()
    field = message.editor.field
    assert QApplication.focusWidget() is field
    focused = find_edge_color(message, field)
    assert focused == Theme.current().color("line.focus").name()
    message.editor.cancel.setFocus()
    settle()
    assert find_edge_color(message, field) == Theme.current().color("line.control").name()
    message.close_editor()
    settle()
    image = message.grab().toImage()
    names = {image.pixelColor(image.width() // 2, y).name() for y in range(image.height())}
    assert Theme.current().color("line.control").name() not in names


def find_edge_color(message: UserMessage, field: QWidget) -> str:
    """Return the colour of the line above a field, in the middle of its width."""
    image, top = message.grab().toImage(), field.mapTo(message, QPoint()).y()
    middle = field.mapTo(message, field.rect().center()).x()
    ground = image.pixelColor(middle, top - 1).name()
    column = (image.pixelColor(middle, y).name() for y in range(top - 1, 0, -1))
    return next(name for name in column if name != ground)


def test_unfolding_steps_does_not_stop_following_the_end_while_it_is_in_view(
    transcript: Transcript,
) -> None:
    transcript.begin_turn("Where is it?")
    transcript.live.begin_tool(ToolStep("c1", "search_notes", {"query": "rain"}))
    transcript.live.end_tool(ToolStep("c1", "search_notes", {}, "ok", 0.2))
    transcript.live.append("A word. ")
    settle()
    first(transcript, Answer).steps.head.click()
    settle()
    transcript.live.append("\n\n".join(f"Paragraph {n}." for n in range(80)))
    first(transcript, Answer).view.flush()
    settle()
    bar = transcript.scroller.bar
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    assert not transcript.scroller.jump.isVisible()


def test_what_is_unfolded_beyond_the_end_stays_in_place(transcript: Transcript) -> None:
    show(transcript, user("Line\n" * 60), answer("Short."))
    message = first(transcript, UserMessage)
    before = message.mapTo(transcript, QPoint()).y()
    message.more.click()
    settle()
    assert message.mapTo(transcript, QPoint()).y() == before
    assert transcript.scroller.jump.isVisible()
    message.more.click()
    settle()
    transcript.live.begin("More?")
    settle()
    bar = transcript.scroller.bar
    assert bar.value() == bar.maximum()


def test_a_callout_that_is_opened_at_the_end_stays_in_place(transcript: Transcript) -> None:
    hidden = "\n".join(f"> Line {n}\n>" for n in range(60))
    show(transcript, user("Short."), answer(f"> [!tip]- Folded\n{hidden}\n"))
    message = first(transcript, Answer)
    before = message.mapTo(transcript, QPoint()).y()
    for _ in range(2):
        message.view.toggle("callout:1 Folded")
        settle()
        assert message.mapTo(transcript, QPoint()).y() == before
