"""Pictures of answers side by side, the small window, a conflict of keys, and a compaction."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from tests.support.models.model_server import Answer
from tests.support.pictures.sample_window import (
    BACKUPS,
    COFFEE,
    POWER,
    Stage,
    save,
    say,
    settle,
    wait_until,
)
from tests.support.window.window_pages import find
from ui.chat.message.blocks import SummaryDivider
from ui.chat.versions import VersionsDialog
from ui.panels.context.compaction import CompactionDialog
from ui.settings.dialog import SettingsDialog
from ui.settings.keyboard import CommandRow
from ui.theme import Mode, Theme

SUMMARY = """\
The user asked about power failures and backups of the home server. The battery lasts 22 minutes; \
the server is backed up every night at 02:30. Open: test a restore from the rented machine.
"""
BRIEF = """\
Every night at 02:30 [1].

| what | kept |
|---|---|
| daily | 7 |
| weekly | 4 |
"""


def make_dialogs(on: Stage, mode: Mode, folder: Path) -> None:
    """Save pictures of these states in one theme."""
    Theme.current().apply(mode)
    for make in (_compare, _quick_ask, _keys, _compaction):
        make(on, mode, folder)


def _compare(on: Stage, mode: Mode, folder: Path) -> None:
    on.open(BACKUPS)
    on.window.run_command("compare")
    settle(800)
    dialog = find(on.window, VersionsDialog)
    save(dialog, folder / f"compare-empty-{mode}.png")
    on.server.script(lambda _body: Answer(BRIEF, usage=None, stall_after=3))
    dialog.chosen.emit("model:openai/other")
    settle(2_500)
    save(dialog, folder / f"compare-busy-{mode}.png")
    on.stop()
    on.server.script(lambda _body: Answer(BRIEF, usage=None))
    dialog.chosen.emit("model:openai/other")
    wait_until(lambda: not on.window.controllers.session.is_running)
    settle()
    save(dialog, folder / f"compare-{mode}.png")
    dialog.close()


def _compaction(on: Stage, mode: Mode, folder: Path) -> None:
    on.play(POWER)
    for question in (BACKUPS, POWER):
        on.go_on(question)
    on.server.script(lambda _body: Answer(SUMMARY, usage=None))
    on.window.run_command("compact")
    dialog = find(on.window, CompactionDialog)
    wait_until(dialog.make.isVisible)
    save(dialog, folder / f"compaction-{mode}.png")
    dialog.make.click()
    wait_until(dialog.use.isVisible)
    save(dialog, folder / f"compaction-summary-{mode}.png")
    dialog.use.click()
    wait_until(lambda: not dialog.isVisible())
    settle(800)
    line = find(on.window, SummaryDivider)
    line.more.click()
    on.window.transcript.scroller.bar.setValue(0)
    settle()
    save(on.window, folder / f"compacted-{mode}.png")
    line.edit_requested.emit()
    settle()
    save(dialog, folder / f"compaction-edit-{mode}.png")
    dialog.reject()


def _quick_ask(on: Stage, mode: Mode, folder: Path) -> None:
    on.window.run_command("quick_ask")
    small = on.window.controllers.quick_ask.window
    settle()
    save(small, folder / f"quick-empty-{mode}.png")
    on.server.script(say)
    small.asked.emit(COFFEE)
    settle(100)
    save(small, folder / f"quick-busy-{mode}.png")
    wait_until(small.open.isEnabled)
    settle()
    save(small, folder / f"quick-{mode}.png")
    small.hide()


def _keys(on: Stage, mode: Mode, folder: Path) -> None:
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
    save(dialog, folder / f"settings-keys-{mode}.png")
    dialog.close()
