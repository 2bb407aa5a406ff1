"""Every class of dialog takes the keys when it opens, and gives them back when it closes.

The classes are found, not listed: a new one fails here until `OPENERS` says how it is opened.
"""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

import ui
from app.customize.skills import Skill
from app.spending import LimitQuestion
from chains.errors import SpendingLimitReached
from chains.tool import ApprovalRequest, Proposal
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage
from ui.chat.message.approval_card import ApprovalDialog
from ui.chat.quick_ask import QuickAskWindow
from ui.controllers.agent.spending import LimitDialog
from ui.panels.notes.comparison import ComparisonDialog
from ui.panels.pinned_question import PinQuestionDialog
from ui.settings.skills import SkillDialog
from ui.widgets.buttons import UNDO
from ui.widgets.dialogs import QuestionDialog
from vault.review.comparison import compare_texts
from vault.review.findings import Finding, FindingNote

Opener = Callable[[WindowPage], object]
LIMIT = SpendingLimitReached("m", period="day", most=1, spent=1, limit=1)


def open_skill(window: WindowPage) -> None:
    window.run("settings")
    below = find_front()
    assert below is not None
    SkillDialog(below, Skill("tidy", "own", Path("tidy"), text="Look.")).open()


def open_question(window: WindowPage) -> None:
    window.run("settings")
    below = find_front()
    assert below is not None
    QuestionDialog(below, "Delete all of it?", UNDO).open()


def open_approval(window: WindowPage) -> None:
    proposal = Proposal("write", "A note is written.", lambda: "", "+ a line")
    ApprovalDialog(ApprovalRequest("", "", "edit_note", {}, proposal), window.view).open()


def open_comparison(window: WindowPage) -> None:
    notes = FindingNote("a.md", "a"), FindingNote("b.md", "b")
    finding = Finding("duplicate", notes, "Nearly the same.", "", 1.0)
    rows = compare_texts("one\n", "two\n", None)
    ComparisonDialog(finding, rows, can_fix=True, parent=window.view).open()


def run(command: str) -> Opener:
    return lambda window: window.run(command)


OPENERS: dict[str, Opener] = {
    "ApprovalDialog": open_approval,
    "ComparisonDialog": open_comparison,
    "CompactionDialog": run("compact"),
    "FirstRunDialog": run("first_run"),
    "JudgeView": run("judge_notes"),
    "LimitDialog": lambda window: LimitDialog(window.view, LimitQuestion(LIMIT)).open(),
    "PastView": run("then_and_today"),
    "PinQuestionDialog": lambda window: PinQuestionDialog(window.view).ask(),
    "QFileDialog": lambda window: QFileDialog(window.view).open(),
    "QuestionDialog": open_question,
    "RehearsalDialog": run("rehearse"),
    "RequestView": run("show_request"),
    "SaveNoteDialog": run("save_note"),
    "SettingsDialog": run("settings"),
    "ShortcutsDialog": run("shortcuts"),
    "SkillDialog": open_skill,
    "VersionsDialog": run("compare"),
}


def list_dialog_classes() -> set[str]:
    """Return the names of all classes of dialogs in the window, with that of Qt's file chooser."""
    for module in pkgutil.walk_packages(ui.__path__, "ui."):
        importlib.import_module(module.name)
    waiting, found = QDialog.__subclasses__(), set[type]()
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        found.add(one)
    return {one.__name__ for one in found if one.__module__.startswith("ui.")} | {"QFileDialog"}


def find_front() -> QDialog | None:
    """Return the dialog in front, which has no dialog above it."""
    dialogs = [one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog)]
    shown = [one for one in dialogs if one.isVisible()]
    below = [one.parentWidget() for one in shown]
    return next((one for one in shown if one not in below), None)


def wait_for_dialog(name: str, qtbot: QtBot) -> QDialog:
    """Wait until a dialog of a class is in front, since some are opened by a task."""
    qtbot.waitUntil(lambda: type(find_front()).__name__ == name)
    settle()
    front = find_front()
    assert front is not None
    return front


def test_it_is_known_how_each_class_of_dialog_is_opened() -> None:
    assert set(OPENERS) == list_dialog_classes()


@pytest.mark.parametrize("has_field", [False, True])
def test_each_dialog_takes_the_keys_and_gives_them_back(
    window: WindowPage, has_field: bool, qtbot: QtBot
) -> None:
    before = window.view.sidebar.chat_search if has_field else window.view.composer
    for name, open_dialog in OPENERS.items():
        before.setFocus()
        focused = window.view.focusWidget()
        open_dialog(window)
        dialog: QWidget = wait_for_dialog(name, qtbot)
        qtbot.waitUntil(dialog.isActiveWindow)
        while dialog is not window.view:
            below = dialog.parentWidget()
            assert below is not None
            QTest.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Escape)
            qtbot.waitUntil(below.isActiveWindow)
            dialog = below
        assert QApplication.focusWidget() is focused, name


def test_a_dialog_is_deleted_with_the_one_above_it(window: WindowPage, qtbot: QtBot) -> None:
    """Qt hides both while it deletes them, when no code may look at them any more."""
    window.view.sidebar.chat_search.setFocus()
    open_question(window)
    upper = wait_for_dialog("QuestionDialog", qtbot)
    lower = upper.parentWidget()
    assert lower is not None
    lower.deleteLater()
    qtbot.waitUntil(lambda: not isValid(upper))
    qtbot.waitUntil(window.view.isActiveWindow)


def test_the_small_window_gives_the_keys_back(window: WindowPage, qtbot: QtBot) -> None:
    window.view.sidebar.chat_search.setFocus()
    window.run("quick_ask")
    (small,) = (one for one in QApplication.topLevelWidgets() if isinstance(one, QuickAskWindow))
    qtbot.waitUntil(small.isActiveWindow)
    QTest.keyClick(small.field, Qt.Key.Key_Escape)
    qtbot.waitUntil(window.view.isActiveWindow)
    assert window.view.sidebar.chat_search.hasFocus()


def test_undo_in_a_dialog_leaves_a_toast_behind_it_alone(window: WindowPage, qtbot: QtBot) -> None:
    pressed: list[str] = []
    for name, open_dialog in OPENERS.items():
        window.view.notifier.toast("A note changed", (UNDO, lambda name=name: pressed.append(name)))
        open_dialog(window)
        dialog = wait_for_dialog(name, qtbot)
        press_undo(dialog)
        assert pressed == [], name
        while (front := find_front()) is not None:  # such as the settings below a question
            front.close()
            settle()
        window.view.sidebar.notes.setFocus()
        press_undo(window.view)
        assert pressed == [name]
        pressed.clear()


def press_undo(window: QWidget) -> None:
    """Press Ctrl+Z in the widget of a window that has the focus."""
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(window.focusWidget() or window, Qt.Key.Key_Z, control)
