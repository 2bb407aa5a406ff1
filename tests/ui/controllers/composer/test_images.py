"""Images that are pasted, dropped or chosen, as a user attaches them and sees them again."""

import json
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from tests.support.models.model_server import Answer, ModelServer
from tests.support.vaults.image_files import HEIC, decode, draw
from tests.support.window.clicks import button_named
from tests.support.window.waiting import settle
from tests.support.window.window_pages import WindowPage, open_window
from ui.chat.composer.attachment import Attachment, Drops
from ui.panels.context.words import word_reason

MODELS = ({"id": "eye", "capabilities": ["vision"]}, {"id": "ear", "capabilities": ["tools"]})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Answer("A corner."), models=MODELS) as server:
        yield server


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "Plans").mkdir(parents=True)
    (folder / "Garden.md").write_text("Beans.\n")
    (folder / "Plans/plan.png").write_bytes(draw(60, 40, corner="blue"))
    return folder


@pytest.fixture
def window(
    assistant: Assistant, server: ModelServer, vault: Path, qtbot: QtBot
) -> Iterator[WindowPage]:
    assistant.open_vault(vault, remember=False)
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "openai/eye")
    page = open_window(assistant, None, qtbot, mode="chat", is_begun=False)
    yield page
    page.view.close()


def paste(window: WindowPage, data: QMimeData) -> None:
    QGuiApplication.clipboard().setMimeData(data)
    window.composer.view.input.setFocus()
    QTest.keyClick(window.composer.view.input, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    QGuiApplication.clipboard().clear()  # data of Python that is left there ends in a crash


def image_data(color: str = "red") -> QMimeData:
    data = QMimeData()
    data.setImageData(QImage.fromData(draw(80, 80, corner=color)))
    return data


def file_data(*files: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    return data


def drop(window: WindowPage, data: QMimeData) -> None:
    middle = window.view.middle
    at = QPointF(middle.mapTo(window.view, middle.rect().center()))
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDropEvent(at, Qt.DropAction.CopyAction, data, buttons, keys)
    # Qt hands drops on to a target that only a real drag can have.
    window.view.findChild(Drops).eventFilter(window.view, event)


def wait_for_chip(window: WindowPage, qtbot: QtBot) -> QWidget:
    """Wait until the only attachment was read and counted, and return its chip."""

    def is_counted() -> bool:
        states = list(window.composer.chips.values())
        return len(states) == 1 and (states[0].tokens is not None or bool(states[0].obstacle))

    qtbot.waitUntil(is_counted)
    (chip,) = window.composer.view.chips.chips()
    return chip


def shows(widget: QWidget, channel: str) -> bool:
    """Return whether a widget shows the coloured corner of an image."""
    picture = widget.grab().toImage()
    colors = (
        picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height())
    )
    others = {"red": "blue", "blue": "red"}[channel]
    return any(
        getattr(color, channel)() > 240 and color.green() < 15 and getattr(color, others)() < 15
        for color in colors
    )


def sent_image(server: ModelServer) -> QImage:
    parts = server.bodies[-1]["messages"][-1]["content"]
    (url,) = (part["image_url"]["url"] for part in parts if part["type"] == "image_url")
    return decode(b64decode(url.partition(",")[2]))


def wait_for_answer(window: WindowPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.chat.is_running and len(window.chat.answers()) == 1)


def test_a_pasted_image_is_shown_in_small_and_sent_and_shown_again_after_a_restart(
    window: WindowPage, server: ModelServer, assistant: Assistant, qtbot: QtBot
) -> None:
    paste(window, image_data())
    chip = wait_for_chip(window, qtbot)
    assert window.composer.text == ""
    assert chip.accessibleName().startswith("Attached Pasted image.png, ")
    assert shows(chip, "red")
    tokens = next(iter(window.composer.chips.values())).tokens or 0
    assert tokens > 100
    window.composer.send("What is it?")
    wait_for_answer(window, qtbot)
    assert sent_image(server).width() == 80
    (message,) = window.chat.user_messages()
    qtbot.waitUntil(lambda: shows(message.chips, "red"))
    session = window.chat.session
    window.view.close()
    again = open_window(assistant, None, qtbot, mode="chat", is_begun=False)
    again.view.controllers.session.open(session)
    qtbot.waitUntil(lambda: len(again.chat.user_messages()) == 1)
    (message,) = again.chat.user_messages()
    qtbot.waitUntil(lambda: shows(message.chips, "red"))
    again.view.close()


def test_an_image_is_attached_by_drop_by_the_dialog_and_as_a_copied_file(
    window: WindowPage, vault: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = vault / "Plans/plan.png"
    for attach in ("drop", "dialog", "paste"):
        if attach == "drop":
            drop(window, file_data(file))
        elif attach == "paste":
            paste(window, file_data(file))
        else:
            monkeypatch.setattr(
                QFileDialog, "getOpenFileNames", lambda *_args: ([str(file)], "All files")
            )
            window.composer.view.attach.menu().actions()[-1].trigger()
        chip = wait_for_chip(window, qtbot)
        assert list(window.composer.chips) == ["Plans/plan.png"]
        assert shows(chip, "blue")
        QTest.keyClick(chip, Qt.Key.Key_Delete)
        assert window.composer.chips == {}


def test_an_image_dragged_from_a_page_is_taken_and_not_its_address(
    window: WindowPage, qtbot: QtBot
) -> None:
    data = image_data("blue")
    data.setUrls([QUrl("https://example.org/picture.png")])
    drop(window, data)
    chip = wait_for_chip(window, qtbot)
    assert chip.accessibleName().startswith("Attached Pasted image.png")
    assert shows(chip, "blue")


def test_text_with_a_picture_of_itself_is_pasted_as_text(window: WindowPage) -> None:
    data = image_data()
    data.setText("A cell of a table")
    paste(window, data)
    assert window.composer.text == "A cell of a table"
    assert window.composer.chips == {}


def test_an_image_of_the_vault_is_attached_by_its_name(window: WindowPage, qtbot: QtBot) -> None:
    window.view.controllers.notes.list()
    composer = window.composer.view
    qtbot.waitUntil(lambda: bool(composer.completer._offers.images))
    composer.input.setFocus()
    QTest.keyClicks(composer.input, "@plan.p")
    QTest.keyClick(composer.input, Qt.Key.Key_Return)
    assert shows(wait_for_chip(window, qtbot), "blue")
    assert list(window.composer.chips) == ["Plans/plan.png"]


def test_a_model_that_does_not_see_gets_no_message_until_another_is_chosen(
    window: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    window.composer.choose_model("openai/ear")
    paste(window, image_data())
    qtbot.waitUntil(lambda: any(state.unseen for state in window.composer.chips.values()))
    window.composer.send("What is it?")
    assert window.composer.error == (
        "openai/ear does not see images. Choose another model, remove the image, or add the model "
        'to "Models that see images" if it does see images. Nothing was sent.'
    )
    assert window.composer.text == "What is it?"
    window.composer.choose_model("openai/eye")
    qtbot.waitUntil(lambda: not any(state.unseen for state in window.composer.chips.values()))
    assert server.bodies == []
    window.composer.send("What is it?")
    wait_for_answer(window, qtbot)
    assert "image_url" in json.dumps(server.bodies)


def test_a_model_of_which_nothing_is_known_is_not_said_to_see_no_images(
    window: WindowPage, assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    window.composer.choose_model("gemini/unheard-of")
    paste(window, image_data())
    qtbot.waitUntil(lambda: any(state.unseen for state in window.composer.chips.values()))
    window.composer.send("What is it?")
    said = "It is not known whether gemini/unheard-of sees images."
    assert window.composer.error.startswith(said)
    (image,) = window.composer.chips
    report = assistant.preview(None, "What?", "chat", "gemini/unheard-of", attach=(image,))
    (segment,) = report["segments"]
    assert word_reason(segment["reason"]) == "Not known whether the model sees images"
    assert report["warnings"][0].startswith("It is not known whether the model")


def test_an_image_is_accepted_as_soon_as_the_setting_names_its_model(
    window: WindowPage, server: ModelServer, qtbot: QtBot
) -> None:
    window.composer.choose_model("openai/ear")
    paste(window, image_data())
    qtbot.waitUntil(lambda: any(state.unseen for state in window.composer.chips.values()))
    window.view.open_settings("Models")
    dialog = window.settings.view
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    field = dialog.find_row("chat.imageModels").control
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    QTest.keyClicks(field, "openai/ear")
    with qtbot.waitSignal(dialog.changed):
        dialog.find_row("chat.apiBase").control.setFocus()
    qtbot.waitUntil(lambda: not any(state.unseen for state in window.composer.chips.values()))
    dialog.close()
    window.composer.send("What is it?")
    wait_for_answer(window, qtbot)
    assert "image_url" in json.dumps(server.bodies)


def press_offer(root: QWidget, name: str) -> None:
    """Press the button of an error, a toast or a failure without moving to it."""
    button_named(root, name).click()


def test_an_image_that_was_refused_is_sent_after_one_press_and_that_can_be_undone(
    window: WindowPage, assistant: Assistant, server: ModelServer, qtbot: QtBot
) -> None:
    window.composer.choose_model("openai/ear")
    paste(window, image_data())
    qtbot.waitUntil(lambda: any(state.unseen for state in window.composer.chips.values()))
    window.composer.send("What is it?")
    press_offer(window.composer.view, "Send images to this model")
    qtbot.waitUntil(lambda: not any(state.unseen for state in window.composer.chips.values()))
    assert assistant.settings.get("chat.imageModels") == ["openai/ear"]
    window.composer.press_send()
    wait_for_answer(window, qtbot)
    assert "image_url" in json.dumps(server.bodies)
    press_offer(window.view, "Undo")
    qtbot.waitUntil(lambda: assistant.settings.get("chat.imageModels") == [])
    window.chat.answers()
    window.view.controllers.messages.answer_again()
    qtbot.waitUntil(lambda: bool(window.chat.failures()))
    (failure,) = window.chat.failures()
    press_offer(failure, "Send images to this model")
    qtbot.waitUntil(lambda: assistant.settings.get("chat.imageModels") == ["openai/ear"])


def test_a_picture_of_a_note_that_a_blind_model_is_not_sent_is_said_with_a_way_to_send_it(
    window: WindowPage, assistant: Assistant, server: ModelServer, vault: Path, qtbot: QtBot
) -> None:
    (vault / "Garden.md").write_text("Beans.\n\n![[Plans/plan.png]]\n")
    window.composer.choose_model("openai/ear")
    window.composer.attach(Attachment("Garden.md"))
    window.composer.send("What is it?")
    said = "The model openai/ear does not see images. 1 embedded picture left out."
    qtbot.waitUntil(lambda: said in window.toasts())
    press_offer(window.view, "Send images to this model")
    qtbot.waitUntil(lambda: assistant.settings.get("chat.imageModels") == ["openai/ear"])
    wait_for_answer(window, qtbot)
    assert "image_url" not in json.dumps(server.bodies)


def test_a_heic_photo_is_refused_with_a_way_out(
    window: WindowPage, tmp_path: Path, qtbot: QtBot
) -> None:
    photo = tmp_path / "photo.heic"
    photo.write_bytes(HEIC)
    drop(window, file_data(photo))
    wait_for_chip(window, qtbot)
    (state,) = window.composer.chips.values()
    assert state.problem == (
        "photo.heic is a HEIC photo, which models do not take. It is not attached."
    )


def test_a_line_of_chips_without_an_image_is_not_as_tall_as_one_with_an_image(
    window: WindowPage, tmp_path: Path, qtbot: QtBot
) -> None:
    names = [f"A note with a rather long name {number}.md" for number in range(6)]
    for name in names:
        (tmp_path / name).write_text("Beans.\n")
    picture = tmp_path / "picture.png"
    picture.write_bytes(draw(80, 80, corner="red"))
    paste(window, file_data(picture, *(tmp_path / name for name in names)))
    chips = window.composer.view.chips
    qtbot.waitUntil(lambda: len({chip.height() for chip in chips.chips()}) == 2)
    settle()
    areas = [chip.geometry() for chip in chips.chips()]
    tall, plain = (f(area.height() for area in areas) for f in (max, min))
    first, second, *_ = sorted({area.center().y() for area in areas})
    assert areas[0].height() == tall
    assert second - first == (tall + plain) // 2 + 6
