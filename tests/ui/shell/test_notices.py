"""What the window says: toasts, and failures above the chat."""

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from app.assistant import Assistant
from app.errors import StorageFailed, describe
from chains.errors import Offline
from tests.support.window import widgets
from tests.support.window.shell_window import Make, shown_texts
from ui.widgets.texts import is_rtl


def test_a_damaged_settings_file_is_named_and_the_window_opens(
    make: Make, assistant: Assistant
) -> None:
    path = assistant.paths.settings_file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("autoCompactThreshold = [", "utf-8")
    assistant.settings.reload()
    texts = shown_texts(make())
    assert any("cannot be understood" in text for text in texts)


def test_a_toast_is_said_once_and_two_at_most(make: Make) -> None:
    window = make()
    for text in ("one", "two", "three\nlines"):
        window.notifier.toast(text)
    assert window.notifier.texts() == ["two", "three lines"]


def test_a_toast_names_settings_by_their_labels(make: Make) -> None:
    window = make()
    window.notifier.toast(describe(Offline("OpenAI")).message)
    (said,) = window.notifier.texts()
    assert said.endswith('or switch "Offline" off.')


def test_a_very_long_toast_is_cut_and_runs_from_the_left(make: Make) -> None:
    window = make(720)
    text = "הערה is not among the open notes, so it cannot be attached. " * 9
    window.notifier.toast(text)
    QApplication.processEvents()
    (line,) = (label for label in window.findChildren(QLabel) if "הערה" in label.text())
    assert line.text().endswith("…")
    assert line.toolTip() == text.strip()
    assert not is_rtl(line.text())


def test_toasts_stand_at_the_lower_edge_where_there_is_no_composer(make: Make) -> None:
    window = make()
    window.notifier.toast("Nothing was deleted.")
    (toast,) = window.notifier._toasts
    assert window.middle.height() - toast.geometry().bottom() == 17
    window.middle.show_chat(True)
    QApplication.processEvents()
    assert widgets.bottom_in(window, toast) <= widgets.rect_in(window, window.composer).top()


def test_chats_that_cannot_be_listed_are_told(
    make: Make, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise StorageFailed("The disk is full.")

    monkeypatch.setattr(assistant, "list_sessions", fail)
    assert "The disk is full." in make().notifier.texts()
