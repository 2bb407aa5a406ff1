"""The notice after a crash: its words, its buttons, and the check of the chats before it."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from app.assistant import Assistant
from app.crashes.recorder import count_crashes
from app.crashes.reports import CrashReport, find_reports
from app.migrations import HOME_IS_NEWER
from tests.support.window.shell_window import Make
from ui.crash_notice import CrashNotice, describe_check, describe_crashes, show_read_only
from ui.state import WindowState, load_state, save_state
from ui.tasks import TaskRunner
from ui.widgets.surfaces import Notice

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
TRACE = "Fatal Python error: Segmentation fault\n"


def report(kind: str, hours_ago: int) -> CrashReport:
    crashed = NOW.replace(hour=NOW.hour - hours_ago)
    return CrashReport(Path("x.txt"), kind, crashed, crashed, TRACE)


def clock(hours_ago: int) -> str:
    return NOW.replace(hour=NOW.hour - hours_ago).astimezone().strftime("%H:%M")


def test_the_title_names_the_time_what_closed_and_how_often() -> None:
    window, search = report("window", 1), report("search", 2)
    at = f"closed unexpectedly at {clock(1)}"
    assert describe_crashes([window], NOW) == f"Strata {at}"
    assert describe_crashes([search], NOW).startswith("The command strata search closed")
    twice = f"Strata closed unexpectedly 2 times, the last time at {clock(1)}"
    assert describe_crashes([window, search], NOW) == twice
    later = NOW.replace(year=2027)
    assert describe_crashes([window], later).endswith(f" at {clock(1)}")
    assert "2026" in describe_crashes([window], later) or "26" in describe_crashes([window], later)


def test_damaged_chats_are_named_three_at_most() -> None:
    assert describe_check(()) == "All that was stored is here."
    assert describe_check(None) == "The chats could not be checked."
    assert describe_check(["Beds"]).startswith("“Beds”: some lines cannot be read.")
    assert "“c” and 2 more: some lines" in describe_check(list("abcde"))


@pytest.fixture
def crashes(assistant: Assistant) -> Path:
    folder = assistant.paths.crashes
    folder.mkdir(parents=True)
    (folder / "20261126T190201Z-4711-window.txt").write_text(TRACE)
    return folder


def write_chat(sessions: Path, name: str, end: str = "") -> None:
    """Write a chat of one question, and then a text such as a damaged line."""
    sessions.mkdir(parents=True, exist_ok=True)
    when = '"timestamp": "2026-11-26T19:00:00Z"'
    head = f'{{"type": "session", "version": 2, "id": "{name}", {when}}}'
    said = (
        '{"type": "message", "id": "00000001", "parentId": null, "role": "user",'
        f' {when}, "content": "Beds?", "turnId": "t1"}}'
    )
    (sessions / f"{name}.jsonl").write_text(f"{head}\n{said}\n{end}", "utf-8")


def look(window: object, assistant: Assistant, runner: TaskRunner) -> Notice | None:
    notice = CrashNotice(assistant, runner, window.frame)
    notice.look()
    return notice.notice


def test_the_notice_copies_and_closes_and_comes_once(
    make: Make, assistant: Assistant, runner: TaskRunner, crashes: Path
) -> None:
    window = make()
    window.middle.show_chat(True)
    notice = look(window, assistant, runner)
    assert notice.isVisible()
    assert notice.accessibleName().endswith(". All that was stored is here.")
    copy, dismiss = notice.findChildren(QPushButton)
    assert all(button.toolTip() and button.text() for button in (copy, dismiss))
    copy.click()
    assert TRACE.strip() in QGuiApplication.clipboard().text()
    assert window.notifier.texts() == ["The details are copied."]
    height = window.middle._notice_room.contentsMargins().top()
    dismiss.click()
    assert not notice.isVisible()
    assert window.middle._notice_room.contentsMargins().top() < height
    assert look(window, assistant, runner) is None


def test_a_chat_with_a_damaged_line_is_named(
    make: Make, assistant: Assistant, runner: TaskRunner, crashes: Path
) -> None:
    sessions = assistant.paths.sessions
    write_chat(sessions, "aaaa", "\0\0\0\n")
    write_chat(sessions, "bbbb")
    (crashes / "20000101T000000Z-1-ask.txt").write_text(TRACE)
    notice = look(make(), assistant, runner)
    assert "“Beds?”: some lines cannot be read." in notice.accessibleName()
    assert "2 times" in notice.accessibleName()
    assert find_reports(crashes) == ()


def test_a_chat_that_is_deleted_during_the_check_is_not_damaged(
    make: Make,
    assistant: Assistant,
    runner: TaskRunner,
    crashes: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions = assistant.paths.sessions
    for name in ("aaaa", "bbbb"):
        write_chat(sessions, name)
    chats = assistant.list_sessions()
    assert len(chats) == 2
    (sessions / "aaaa.jsonl").unlink()
    monkeypatch.setattr(assistant, "list_sessions", lambda: chats)
    notice = look(make(), assistant, runner)
    assert notice.accessibleName().endswith(". All that was stored is here.")


def test_a_crash_is_told_even_if_the_chats_cannot_be_listed(
    make: Make, assistant: Assistant, runner: TaskRunner, crashes: Path
) -> None:
    window = make()
    sessions = assistant.paths.sessions
    sessions.parent.mkdir(parents=True, exist_ok=True)
    sessions.write_text("a file in the place of the folder")
    notice = look(window, assistant, runner)
    assert notice.accessibleName().endswith(". The chats could not be checked.")
    assert find_reports(crashes) == ()


def test_without_a_crash_nothing_is_shown(
    make: Make, assistant: Assistant, runner: TaskRunner
) -> None:
    assert look(make(), assistant, runner) is None


def test_a_home_that_is_only_read_is_named_until_the_notice_is_dismissed(make: Make) -> None:
    window = make()
    window.middle.show_chat(True)
    notice = show_read_only(window.frame, HOME_IS_NEWER)
    assert notice.isVisible()
    assert notice.accessibleName() == f"Nothing is stored in this window. {HOME_IS_NEWER}"
    (dismiss,) = notice.findChildren(QPushButton)
    dismiss.click()
    assert not notice.isVisible()


@pytest.mark.parametrize("is_reset", [False, True])
def test_what_was_open_is_not_opened_again_after_two_crashes_in_a_row(
    make: Make, assistant: Assistant, runner: TaskRunner, crashes: Path, is_reset: bool
) -> None:
    if is_reset:
        (crashes / "20261126T190100Z-99-window-told.txt").write_text(TRACE)
    state = WindowState(session="aaaa", columns=[300, 400], font_scale=1.25)
    save_state(assistant.paths.state / "window.json", state)
    window = make()
    assert window.places.state.find_last_chat(None) == ("" if is_reset else "aaaa")
    assert window.places.state.font_scale == 1.25
    notice = look(window, assistant, runner)
    assert ("several times in a row" in notice.accessibleName()) is is_reset
    window.close()
    closed = load_state(assistant.paths.state / "window.json").closed
    assert count_crashes(crashes, "window", closed) == 0


def test_only_crashes_of_the_window_since_it_was_closed_count(tmp_path: Path) -> None:
    for name, text in (
        ("20261126T190100Z-99-window.txt", TRACE),
        ("20261126T190200Z-99-window-told.txt", TRACE),
        ("20261126T190300Z-99-ask.txt", TRACE),
        ("20261126T190400Z-99-window.txt", ""),  # it was killed, and did not crash
        ("20260101T190500Z-99-window.txt", TRACE),
    ):
        (tmp_path / name).write_text(text)
    os.utime(tmp_path / "20260101T190500Z-99-window.txt", (1_000, 1_000))
    assert count_crashes(tmp_path, "window", 2_000) == 2
    assert count_crashes(tmp_path, "window", 0) == 3
    assert count_crashes(tmp_path / "none", "window", 0) == 0
