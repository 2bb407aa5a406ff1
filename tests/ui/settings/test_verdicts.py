"""The settings say how many verdicts on notes are stored, and delete them after a question."""

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.judge.kept import KeptVerdicts
from app.judge.store import VerdictStore
from chains.judge.calls import JudgedPieces
from chains.judge.verdicts import Verdict
from tests.support.window.clicks import click_button
from ui.settings.sections import VerdictsSection
from ui.tasks import TaskRunner
from ui.widgets.dialogs import QuestionDialog


@pytest.fixture
def section(assistant: Assistant, qtbot: QtBot) -> Iterator[VerdictsSection]:
    """The section, whose tasks run in threads."""
    store = VerdictStore.locate(assistant.paths.judged, "Where did it rain?", "a-model", "prompt")
    store.add(JudgedPieces({"a": Verdict("yes"), "b": Verdict("no"), "c": Verdict("failed")}, 1.0))
    runner = TaskRunner()
    section = VerdictsSection(assistant, runner)
    qtbot.addWidget(section)
    section.show()
    yield section
    runner.close()
    runner.deleteLater()


def test_all_verdicts_are_deleted_after_a_question(
    section: VerdictsSection, assistant: Assistant, qtbot: QtBot
) -> None:
    section.refresh()
    qtbot.waitUntil(lambda: section.state.text() == "2 verdicts and 1 failure on 1 question.")
    for act in ("Cancel", "Delete"):
        click_button(section, "Delete all verdicts…")
        (question,) = (one for one in section.findChildren(QuestionDialog) if one.isVisible())
        click_button(question, act)
    qtbot.waitUntil(lambda: section.state.text() == "No verdicts are stored.")
    assert not section.forget.isEnabled()
    assert not assistant.kept_verdicts.list_questions()


def test_the_modules_of_verdicts_are_imported_in_a_thread(
    section: VerdictsSection, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    threads: list[int] = []

    def find(assistant: Assistant) -> KeptVerdicts:
        threads.append(threading.get_ident())
        return KeptVerdicts(assistant.paths.judged)

    monkeypatch.setattr(Assistant, "kept_verdicts", property(find))
    section.refresh()
    qtbot.waitUntil(lambda: "2 verdicts" in section.state.text())
    assert threads
    assert threading.get_ident() not in threads
