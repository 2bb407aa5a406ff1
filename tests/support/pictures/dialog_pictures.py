"""Pictures of answers side by side, the small window, a conflict of keys, and a compaction."""

import re
from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.config.settings import SECTIONS
from chains.cancel import CancelToken
from tests.support.models.model_server import Answer, Body
from tests.support.models.note_judge import answer_with, list_shown
from tests.support.pictures.gallery import Shot
from tests.support.pictures.sample_window import (
    BACKUPS,
    COFFEE,
    POWER,
    Stage,
    say,
    settle,
    wait_until,
)
from tests.support.window.window_pages import find
from ui.chat.message.answer import Answer as AnswerWidget
from ui.chat.message.blocks import SummaryDivider
from ui.chat.versions import VersionsDialog
from ui.panels.chats.save_note import SaveNoteDialog
from ui.panels.context.compaction import CompactionDialog
from ui.panels.judge_view import JudgeView
from ui.panels.past_view import PastView
from ui.panels.pinned_question import PinQuestionDialog
from ui.panels.rehearsal.dialog import RehearsalDialog
from ui.settings.dialog import SettingsDialog
from ui.settings.keyboard import CommandRow
from ui.settings.project import ProjectView
from ui.shortcuts import ShortcutsDialog

SUMMARY = """\
The user asked about power failures and backups of the home server. The battery lasts 22 minutes; \
the server is backed up every night at 02:30. Open: test a restore from the rented machine.
"""
_FACTS = {
    "22 minutes": "The battery carries the server for 22 minutes.",
    "shuts itself down": "After ten minutes without mains it shuts itself down.",
    "Test a restore": "A restore from the rented machine is still to be tested.",
}
CHECKED = """\
The server is backed up every night at 02:30. The garage keeps 7 daily and 4 weekly copies, and \
the last restore test was on 2 March 2026. The films take 2.4 TB.
"""
SHELVES: Final = [
    f"Shelf {number} came on {number % 28 + 1} May 2026 and cost {number * 3}.50 €."
    for number in range(40, 66)
]
BRIEF = """\
Every night at 02:30 [1].

| what | kept |
|---|---|
| daily | 7 |
| weekly | 4 |
"""


def show_compare(on: Stage) -> Iterator[Shot]:
    """Show two answers side by side, before, while and after the second arrives."""
    on.open(BACKUPS)
    on.window.run_command("compare")
    settle(800)
    dialog = find(on.window, VersionsDialog)
    yield Shot("compare-empty")
    on.server.script(lambda _body: Answer(BRIEF, usage=None, stall_after=3))
    dialog.chosen.emit("model:scripted")
    settle(2_500)
    yield Shot("compare-busy")
    on.stop()
    on.server.script(lambda _body: Answer(BRIEF, usage=None))
    dialog.chosen.emit("model:scripted")
    wait_until(lambda: not on.window.controllers.session.is_running)
    settle()
    yield Shot("compare")
    dialog.close()


def show_rehearsal(on: Stage) -> Iterator[Shot]:
    """Show the dialog that asks again: the switches, both answers, and what each source carried."""
    dialog = open_rehearsal(on)
    yield Shot("rehearsal-parts")
    leave_out_source(dialog)
    yield Shot("rehearsal")
    dialog.each_requested.emit()
    wait_until(lambda: "answers of" in dialog.state.text())
    settle()
    yield Shot("rehearsal-each")
    dialog.close()


def open_rehearsal(on: Stage) -> RehearsalDialog:
    """Open the dialog for an answer whose sentences rest on several notes."""
    on.server.script(_tell_facts)
    on.window.open_session(None)
    on.ask(POWER)
    wait_until(lambda: not on.window.controllers.session.is_running)
    settle()
    on.window.run_command("rehearse")
    dialog = on.window.controllers.rehearsal.dialog
    wait_until(dialog.ask.isEnabled)
    settle()
    return dialog


def leave_out_source(dialog: RehearsalDialog) -> None:
    """Turn off the first source, and ask again without it."""
    key = next(key for key, one in dialog.parts.switches.items() if key.isdigit())
    dialog.parts.switches[key].click()
    settle()
    dialog.ask.click()
    wait_until(lambda: "same" in dialog.state.text())
    settle()


def _tell_facts(body: Body) -> Answer:
    """Answer with the facts whose words stand in the request."""
    seen = str(body["messages"])
    said = " ".join(fact for words, fact in _FACTS.items() if words in seen)
    return Answer(said or "Your notes do not say it.", usage=None)


def show_judge(on: Stage) -> Iterator[Shot]:
    """Show the dialog that judges every note: empty, with the price, busy, done, and refused."""
    dialog = open_judging(on)
    yield Shot("judge-empty")
    look_at_price(dialog)
    yield Shot("judge-price")
    on.server.script(_judge_backups, lambda _body: Answer("[", stall_after=0))
    dialog.all.click()
    wait_until(lambda: "judged" in dialog.state.text())
    settle(800)
    yield Shot("judge-busy")
    dialog.stop.click()
    wait_until(dialog.all.isVisible)
    judge_all(on, dialog)
    yield Shot("judge")
    dialog.scope.setText("no filter")
    dialog.price.click()
    wait_until(lambda: "not a filter" in dialog.state.text())
    yield Shot("judge-refused")
    dialog.close()


def open_judging(on: Stage) -> JudgeView:
    """Open the dialog that judges every note."""
    on.window.run_command("judge_notes")
    settle()
    return find(on.window, JudgeView)


def look_at_price(dialog: JudgeView) -> None:
    """Write a question, and show what judging the notes by it takes."""
    dialog.question.setText("Which notes speak of backups?")
    dialog.price.click()
    wait_until(dialog.all.isVisible)


def judge_all(on: Stage, dialog: JudgeView) -> None:
    """Judge all notes, and wait for the table."""
    on.server.script(_judge_backups)
    dialog.all.click()
    wait_until(lambda: dialog.save.isVisible() and not dialog.all.isVisible())
    settle()


# From a capital letter on, without marks of Markdown.
_BACKUP: Final = re.compile(r"[A-Z][^.|`*\[\]#\n]*\b(?:backup|backed up)\b[^.|`*\[\]#\n]*")


def _judge_backups(body: Body) -> Answer:
    """Say yes where a note speaks of backups, with the words, and leave open where it asks."""
    entries: list[dict[str, object]] = []
    for note in list_shown(body):
        said = _BACKUP.search(note.text)
        other = "cannot tell" if "?" in note.text[:400] else "no"
        found = {"verdict": "yes", "quote": said[0]} if said else {"verdict": other}
        entries.append({"n": note.number, **found})
    return answer_with(entries)


def unfold_claims(on: Stage) -> AnswerWidget:
    """Return an answer with the check of its claims unfolded, in a new chat."""
    on.server.script(lambda _body: Answer(CHECKED, usage=None))
    on.window.open_session(None)
    on.ask(BACKUPS)
    wait_until(lambda: not on.window.controllers.session.is_running)
    answer = find(on.window, AnswerWidget)
    wait_until(answer.claims.isVisible)
    answer.claims.head.click()
    settle(800)
    return answer


def open_past(on: Stage) -> PastView:
    """Compare the request of the last answer with that of today's notes."""
    on.window.run_command("then_and_today")
    dialog = on.window.controllers.context.past_view
    wait_until(dialog.next.isEnabled)
    settle(800)
    return dialog


def unfold_exam(on: Stage) -> SummaryDivider:
    """Return the divider of a summary that has lost facts, with these unfolded."""
    told = "\n".join(("The shelves, one by one:", "", *(f"- {shelf}" for shelf in SHELVES)))
    on.server.script(lambda _body: Answer(told, usage=None))
    on.window.open_session(None)
    on.ask("What did the shelves cost?")
    wait_until(lambda: not on.window.controllers.session.is_running)
    on.go_on(POWER)
    on.server.script(lambda _body: Answer(SUMMARY, usage=None))
    session = on.window.controllers.session
    list(on.assistant.compact(str(session.session), CancelToken()))
    session.load()
    settle(1_500)
    line = find(on.window, SummaryDivider)
    wait_until(lambda: line.facts is not None and line.facts.head.isEnabled())
    if line.facts is not None:
        line.facts.head.click()
    settle(800)
    return line


def show_compaction(on: Stage) -> Iterator[Shot]:
    """Show the preview of a compaction, its summary, the divider and the editor."""
    on.play(POWER)
    for question in (BACKUPS, POWER):
        on.go_on(question)
    on.server.script(lambda _body: Answer(SUMMARY, usage=None))
    on.window.run_command("compact")
    dialog = find(on.window, CompactionDialog)
    wait_until(dialog.make.isVisible)
    yield Shot("compaction")
    dialog.make.click()
    wait_until(dialog.use.isVisible)
    yield Shot("compaction-summary")
    dialog.use.click()
    wait_until(lambda: not dialog.isVisible())
    settle(800)
    line = find(on.window, SummaryDivider)
    line.more.click()
    on.window.transcript.scroller.bar.setValue(0)
    settle()
    yield Shot("compacted")
    line.edit_requested.emit()
    settle()
    yield Shot("compaction-edit")
    dialog.reject()


def show_quick_ask(on: Stage) -> Iterator[Shot]:
    """Show the small window, before, while and after it answers."""
    on.window.run_command("quick_ask")
    small = on.window.controllers.quick_ask.window
    settle()
    yield Shot("quick-empty")
    on.server.script(say)
    small.asked.emit(COFFEE)
    settle(100)
    yield Shot("quick-busy")
    wait_until(small.open.isEnabled)
    settle()
    yield Shot("quick")
    small.hide()


def show_keys(on: Stage) -> Iterator[Shot]:
    """Show a conflict of shortcuts in the settings."""
    on.window.open_settings("Keyboard")
    settle(500)
    dialog = find(on.window, SettingsDialog)
    shown = {
        label.text(): row
        for row in dialog.findChildren(CommandRow)
        for label in row.findChildren(QLabel)
    }
    QTest.mouseClick(shown["Next chat"].field, Qt.MouseButton.LeftButton)
    QTest.keyClick(shown["Next chat"].field, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    QTest.mouseClick(shown["New chat"].field, Qt.MouseButton.LeftButton)
    settle(300)
    yield Shot("settings-keys")
    dialog.close()


def show_settings(on: Stage) -> Iterator[Shot]:
    """Show each page of the settings, the settings of a project, and the list of shortcuts."""
    on.open(BACKUPS)
    for page in SECTIONS:
        on.window.open_settings(page)
        settle(500)
        yield Shot(f"settings-{page.split()[0].lower()}")
    dialog = find(on.window, SettingsDialog)
    dialog.search.setText("limit")
    settle()
    yield Shot("settings-found")
    dialog.close()
    window = on.window
    project = ProjectView(on.assistant, "Guide", window.runner, window)
    project.refresh()
    window.middle.show_page(project, f"Project {project.title}")
    settle(500)
    yield Shot("settings-project")
    window.middle.close_page()
    shortcuts = ShortcutsDialog(window)
    shortcuts.show()
    settle(500)
    yield Shot("shortcuts")
    shortcuts.close()
    on.window.run_command("save_note")
    settle(500)
    yield Shot("save-note")
    find(on.window, SaveNoteDialog).reject()
    on.window.open_session(None)
    settle()
    on.window.controllers.pinned.pin_question()
    settle(500)
    yield Shot("pin-question")
    find(on.window, PinQuestionDialog).reject()
