"""Threads meet Qt in one place: in order, joined, and never after the end."""

import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QThread
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import delete, isValid

from chains.cancel import CancelToken
from chains.events import Step, TextDelta
from ui.tasks import LatestOnly, TaskRunner


@pytest.fixture
def threads(qtbot: QtBot) -> Iterator[TaskRunner]:
    runner = TaskRunner()
    yield runner
    assert runner.close()


def test_items_arrive_in_order_in_the_threads_of_the_interface(
    threads: TaskRunner, qtbot: QtBot
) -> None:
    seen: list[object] = []
    where: list[object] = []
    task = threads.stream(lambda _token: iter((1, 2, 3)))
    task.yielded.connect(seen.append)
    task.yielded.connect(lambda _item: where.append(QThread.currentThread()))
    with qtbot.waitSignal(task.finished):
        task.start()
    assert seen == [1, 2, 3]
    assert set(where) == {QCoreApplication.instance().thread()}


def test_pieces_of_text_that_come_together_are_joined(threads: TaskRunner, qtbot: QtBot) -> None:
    seen: list[object] = []
    items = [*(TextDelta(char) for char in "several"), Step("write", "x"), TextDelta("!")]
    task = threads.stream(lambda _token: iter(items))
    task.yielded.connect(seen.append)
    with qtbot.waitSignal(task.finished):
        task.start()
    texts = [item.text for item in seen if isinstance(item, TextDelta)]
    assert "".join(texts) == "several!"
    assert len(texts) < len("several!")
    assert Step("write", "x") in seen


def test_a_failure_comes_before_the_end_and_once_and_a_bug_is_logged(
    threads: TaskRunner, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    def work(_token: CancelToken) -> Iterator[int]:
        yield 1
        raise ValueError("no")

    order: list[str] = []
    task = threads.stream(work)
    task.failed.connect(lambda error: order.append(str(error)))
    task.finished.connect(lambda: order.append("end"))
    with qtbot.waitSignal(task.finished):
        task.start()
    assert order == ["no", "end"]
    assert "ValueError: no" in caplog.text
    caplog.clear()


def test_being_cancelled_is_no_failure(threads: TaskRunner, qtbot: QtBot) -> None:
    begun = threading.Event()

    def work(token: CancelToken) -> Iterator[int]:
        begun.set()
        token.wait(30)
        token.raise_if_cancelled()
        yield 1

    failures: list[object] = []
    task = threads.stream(work)
    task.failed.connect(failures.append)
    task.start()
    assert begun.wait(60)
    with qtbot.waitSignal(task.finished):
        task.cancel()
    assert failures == []


def test_after_close_nothing_arrives_and_no_thread_is_left(qtbot: QtBot) -> None:
    runner = TaskRunner()
    begun = threading.Event()

    def work(token: CancelToken) -> Iterator[int]:
        begun.set()
        token.wait(30)
        yield 1

    seen: list[object] = []
    task = runner.stream(work)
    task.yielded.connect(seen.append)
    task.finished.connect(lambda: seen.append("end"))
    task.start()
    assert begun.wait(60)
    assert runner.close()
    QCoreApplication.processEvents()
    assert seen == []
    assert not [thread for thread in threading.enumerate() if thread.name == "strata-task"]


def test_a_synchronous_runner_works_inside_start(runner: TaskRunner) -> None:
    seen: list[object] = []
    task = runner.call(lambda: 42)
    task.yielded.connect(seen.append)
    task.finished.connect(lambda: seen.append("end"))
    task.start()
    assert seen == [42, "end"]


def test_of_many_questions_only_the_last_is_answered(threads: TaskRunner, qtbot: QtBot) -> None:
    latest = LatestOnly(threads, 20)
    asked: list[int] = []
    for number in range(5):
        latest.ask(lambda number=number: asked.append(number) or number)  # type: ignore[misc]
    with qtbot.waitSignal(latest.answered) as answer:
        pass
    assert answer.args == [4]
    assert asked == [4]


@pytest.mark.parametrize("now", [True, False])
def test_questions_that_are_held_wait_for_the_end_of_the_block(
    threads: TaskRunner, qtbot: QtBot, now: bool
) -> None:
    latest, asked = LatestOnly(threads, 0), list[int]()
    with qtbot.waitSignal(latest.answered) as answer, latest.hold():
        for number in range(3):
            with latest.hold():
                latest.ask(lambda number=number: asked.append(number) or number, now=now)  # type: ignore[misc]
        QCoreApplication.processEvents()
        assert latest._task is None
    assert (answer.args, asked) == ([2], [2])


def test_a_question_that_may_wait_also_waits_after_the_block(threads: TaskRunner) -> None:
    latest, asked = LatestOnly(threads, 600_000), list[int]()
    with latest.hold():
        latest.ask(lambda: asked.append(1))
    assert latest._task is None
    with latest.hold():
        latest.forget()
    assert latest._task is None
    assert asked == []


def test_the_answer_to_a_question_that_was_replaced_is_dropped(
    threads: TaskRunner, qtbot: QtBot
) -> None:
    latest, may_end, answers = LatestOnly(threads, 0), threading.Event(), list[object]()
    latest.answered.connect(answers.append)
    latest.ask(lambda: may_end.wait(60) and "old", now=True)
    latest.ask(lambda: "new", now=True)
    with qtbot.waitSignal(latest.answered):
        may_end.set()
    assert answers == ["new"]


def test_what_another_thread_puts_in_arrives_in_the_thread_of_the_interface(
    runner: TaskRunner, qtbot: QtBot
) -> None:
    mail, seen, where = runner.mailbox(), list[object](), list[object]()
    mail.arrived.connect(seen.append)
    mail.arrived.connect(lambda _item: where.append(QThread.currentThread()))
    putting = threading.Thread(target=lambda: [mail.put(n) for n in range(3)])
    putting.start()
    putting.join()
    assert seen == []
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == [0, 1, 2]
    assert set(where) == {QCoreApplication.instance().thread()}


def test_after_the_runner_is_closed_nothing_put_in_arrives(runner: TaskRunner) -> None:
    mail, seen = runner.mailbox(), list[object]()
    mail.arrived.connect(seen.append)
    mail.put("before")
    runner.close()
    mail.put("after")
    QCoreApplication.processEvents()
    assert seen == []


def test_what_is_put_into_a_deleted_mailbox_is_dropped(qapp: QApplication) -> None:
    def fill(put: Callable[[object], None], starts: threading.Barrier) -> None:
        starts.wait()
        for number in range(20):
            put(number)

    seen: list[object] = []
    for _ in range(300):
        runner, starts = TaskRunner(), threading.Barrier(2)
        mailbox = runner.mailbox()
        mailbox.arrived.connect(seen.append)
        thread = threading.Thread(target=fill, args=(mailbox.put, starts))
        thread.start()
        starts.wait()
        delete(runner)  # as with the window that owns it
        thread.join()
        assert not isValid(mailbox)
    QCoreApplication.processEvents()
    assert seen == []
