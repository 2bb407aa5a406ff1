"""The line below an answer that says what of it is somewhere in what was sent."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.sessions.transcript import ChatTranscript
from chains.claims.evidence import ClaimEvidence
from chains.turn_answer import TurnAnswer
from tests.support.sessions.sent_text import send_text
from tests.support.window.transcripts import answer_item, widgets
from tests.support.window.waiting import settle
from ui.chat.message.answer import Answer
from ui.chat.transcript.transcript import Transcript

SENT = ClaimEvidence(
    (send_text("Borg keeps 90 days.\nThe disk has 4 TB.", "Backups.md", 1, line=15),),
    changes=(),
    sources=(1,),
)
MIXED = "The disk has 4 TB. The roof costs 1,900 €. 4 + 90 = 95. It might be 5 kg."


def show(transcript: Transcript, text: str, evidence: ClaimEvidence | None = SENT) -> Answer:
    item = answer_item(text, evidence=evidence)
    _ = item.answer.claims  # as a worker does
    transcript.load(ChatTranscript("x", (item,)))
    settle()
    (answer,) = widgets(transcript, Answer)
    return answer


def test_one_quiet_line_unfolds_to_a_row_for_each_claim(
    qtbot: QtBot, transcript: Transcript
) -> None:
    check = show(transcript, MIXED).claims
    assert check.isVisible()
    assert not check.is_open
    assert check.rows == []
    assert check.head.accessibleName() == (
        "3 of 4 figures are somewhere in what was sent · 0 of 1 sum is right · "
        "the answer cites no source, 1 contradicted, claims folded"
    )
    QTest.keyClick(check.head, Qt.Key.Key_Return)
    assert check.is_open
    assert [(row.claim.text, row.claim.verdict) for row in check.rows] == [
        ("95", "contradicted"),
        ("1,900 €", "unsupported"),
        ("5 kg", "unchecked"),
        ("4 TB", "supported"),
        ("4", "supported"),
        ("90", "supported"),
    ]
    assert any("only a reader sees" in label.text() for label in check.findChildren(QLabel))
    assert check.rows[3].accessibleName() == "4 TB, supported, in Backups, line 16"
    QTest.mouseClick(check.head, Qt.MouseButton.LeftButton)
    assert not check.is_open


def test_claims_are_not_checked_on_the_thread_of_the_window(
    qtbot: QtBot, transcript: Transcript
) -> None:
    wanted: list[tuple[Answer, TurnAnswer]] = []
    transcript.maker.claims_wanted.connect(lambda *each: wanted.append(each))
    item = answer_item(MIXED, evidence=SENT)
    transcript.load(ChatTranscript("x", (item,)))
    settle()
    ((shown, answer),) = wanted
    assert (answer.has_claims, shown.claims.isVisible()) == (False, False)
    shown.claims.show_report(answer.claims)
    assert shown.claims.isVisible()


def test_a_row_opens_the_place_of_its_claim(qtbot: QtBot, transcript: Transcript) -> None:
    check = show(transcript, MIXED).claims
    check.head.click()
    row = next(row for row in check.rows if row.claim.text == "4 TB")
    with qtbot.waitSignal(transcript.maker.citation_activated) as caught:
        QTest.keyClick(row, Qt.Key.Key_Return)
    assert caught.args == ["Backups.md", 16, 16]


@pytest.mark.parametrize(("text", "sent"), [("All is well.", SENT), ("4 TB.", None)])
def test_nothing_is_said_where_nothing_can_be_checked(
    transcript: Transcript, text: str, sent: ClaimEvidence | None
) -> None:
    assert show(transcript, text, sent).claims.isHidden()
