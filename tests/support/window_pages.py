"""Page objects: the window as its user sees it, found by kind, name and words, pressed for real.

A test says what it does in the words of the interface, such as `window.chat.open("Backups")` or
`window.composer.send("Where?")`. Only this module knows which widgets that takes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton, QTreeView, QWidget
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from chains.events import ApprovalRequested
from tests.support.clicks import (
    choose_from_button,
    choose_from_row,
    click_button,
    click_row,
    press_keys,
    type_keys,
)
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.chips import ChipState
from ui.chat.composer.composer import Composer
from ui.chat.composer.parts import ComposerLine
from ui.chat.message.answer import Answer
from ui.chat.message.approvals import ApprovalCard
from ui.chat.message.blocks import NoteBlock
from ui.chat.message.edits import EditsCard
from ui.chat.message.failures import Failure
from ui.chat.message.user import UserMessage
from ui.chat.middle import Middle
from ui.chat.transcript.transcript import Transcript
from ui.palette import Palette
from ui.panels.context.notice import Act
from ui.panels.context.panel import ContextPanel
from ui.panels.context.rows import PinList
from ui.panels.request_view import RequestView
from ui.panels.sidebar import Sidebar
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner
from ui.widgets.diff import DiffView
from ui.window import MainWindow

__all__ = [
    "ChatPage",
    "ComposerPage",
    "ContextPage",
    "PalettePage",
    "SettingsPage",
    "SidebarPage",
    "WindowPage",
    "open_window",
]

Found = TypeVar("Found", bound=QObject)


def open_window(
    assistant: Assistant,
    runner: TaskRunner | None,
    qtbot: QtBot,
    *,
    mode: str = "",
    is_begun: bool = True,
) -> "WindowPage":
    """Open a window over an assistant, and close it after the test.

    Args:
        runner: does the work; None for threads of its own.
        mode: what to ask in; `chat` searches nothing, so that no index has to be made.
        is_begun: whether the last session is restored and the index updated.
    """
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault), runner)
    window.attach(assistant)
    qtbot.addWidget(window, before_close_func=lambda window: window.close())
    page = WindowPage(window)
    find(window, Middle).show_chat(True)
    window.resize(1440, 900)
    window.show()
    if mode:
        page.composer.choose_mode(mode)
    if is_begun:
        window.begin()
    else:
        window.controllers.composer.open(None)
    return page


class WindowPage:
    """The main window and what stands in it."""

    def __init__(self, window: MainWindow) -> None:
        self.view = window
        self.assistant = window.assistant
        self.chat = ChatPage(window)
        self.composer = ComposerPage(window)
        self.sidebar = SidebarPage(window)
        self.context = ContextPage(window)
        self.palette = PalettePage(window)
        self.settings = SettingsPage(window)

    def press(self, name: str) -> None:
        """Click the one visible button of this name."""
        QApplication.processEvents()  # a button that was just made is shown by the layout
        click_button(self.view, name)

    def press_keys(self, keys: str) -> None:
        """Press a shortcut, such as `Ctrl+N`."""
        press_keys(self.view, keys)

    def run(self, command: str) -> None:
        """Run a command of the palette by its name in code."""
        self.view.run_command(command)

    def toasts(self) -> list[str]:
        """Return the short messages over the chat."""
        return self.view.notifier.texts()

    def close(self) -> None:
        """Close the window, as at the end of the day."""
        self.view.close()


class ChatPage:
    """The open chat: its messages, and what can be done with them."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.view = find(window, Transcript)

    @property
    def session(self) -> str | None:
        """The id of the open chat."""
        return self._window.controllers.session.session

    @property
    def is_running(self) -> bool:
        """Whether an answer is on its way."""
        return self._window.controllers.session.is_running

    @property
    def title(self) -> str:
        """The title above the chat."""
        return find(self._window, Middle).title

    def new(self) -> None:
        """Begin a new chat by its shortcut."""
        press_keys(self._window, "Ctrl+N")

    def open(self, title: str) -> None:
        """Open a chat of the sidebar by its title."""
        click_row(find(self._window, Sidebar).chats, title)

    def reopen(self, session: str | None) -> None:
        """Open a chat by its id."""
        self._window.open_session(session)

    def user_messages(self) -> list[UserMessage]:
        """Return the user's messages, from the oldest on."""
        return self._shown(UserMessage)

    def answers(self) -> list[Answer]:
        """Return the answers, from the oldest on."""
        return self._shown(Answer)

    def failures(self) -> list[Failure]:
        """Return the errors that stand in the chat."""
        return self._shown(Failure)

    def asides(self) -> list[NoteBlock]:
        """Return what is shown in the chat and not sent."""
        return self._shown(NoteBlock)

    def approvals(self) -> list[ApprovalCard]:
        """Return the cards that wait for a decision."""
        return self._shown(ApprovalCard)

    def edits(self) -> list[EditsCard]:
        """Return the cards about notes that an agent changed."""
        return self._shown(EditsCard)

    def show_approval(
        self,
        tool: str,
        summary: str,
        *,
        scope: str = "",
        arguments: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> ApprovalCard:
        """Show a card of any tool, as if its turn were waiting."""
        asked = ApprovalRequested(
            "a1", "c1", tool, arguments or {}, fields.pop("diff", ""), summary, **fields
        )
        card = self.view.show_approval(replace(asked, session_scope=scope))
        QApplication.processEvents()
        return card

    def read_diff(self, card: ApprovalCard | EditsCard) -> list[str]:
        """Return the lines of the change that a card shows."""
        return find(card, DiffView).text.toPlainText().split("\n")

    def texts_in(self, card: ApprovalCard) -> list[str]:
        """Return the texts that a card shows."""
        fields = [field.toPlainText() for field in card.findChildren(QPlainTextEdit)]
        labels = [label.text() for label in card.findChildren(QLabel)]
        return [*fields, *labels, *(b.text() for b in card.findChildren(QPushButton))]

    def texts(self) -> list[str]:
        """Return the texts of all labels of the chat."""
        return [label.text() for label in self.view.findChildren(QLabel)]

    def edit(self, message: UserMessage, text: str) -> None:
        """Send another version of a message."""
        click_button(message, "Edit message")
        assert message.editor is not None
        message.editor.field.set_text(text)
        click_button(message, "Ask again")

    def name(self, answer: Answer, name: str) -> None:
        """Give an answer a name."""
        click_button(answer, "Name this answer")
        type_keys(answer.tools.label.field, name)

    def _shown(self, kind: type[Found]) -> list[Found]:
        return [row.widget for row in self.view.feed.rows if isinstance(row.widget, kind)]


class ComposerPage:
    """The message that is being written."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.view = find(window, Composer)

    @property
    def text(self) -> str:
        """The text that is written."""
        return self.view.text()

    @property
    def error(self) -> str:
        """What is said to be wrong; empty where nothing is."""
        return self.view.error()

    @property
    def offer(self) -> str:
        """What can be done with large attachments; empty where nothing is said."""
        return _line(self.view.offer)

    @property
    def queue(self) -> str:
        """What is said of a long message; empty where nothing is."""
        return _line(self.view.queue)

    @property
    def has_hint(self) -> bool:
        """Whether the line about the keys is shown."""
        return any("Enter" in w.text() and w.isVisible() for w in self.view.findChildren(QLabel))

    @property
    def mode(self) -> str:
        """The mode that is shown as chosen."""
        return self.view.mode()

    @property
    def chips(self) -> dict[str, ChipState]:
        """The attachments and what their chips say."""
        return {chip.attachment.target: chip.state for chip in self.view.chips.chips()}

    @property
    def attached(self) -> tuple[Attachment, ...]:
        """The attachments, in order."""
        return tuple(chip.attachment for chip in self.view.chips.chips())

    def write(self, text: str) -> None:
        """Replace the text, as by pasting."""
        self.view.set_text(text)

    def type(self, text: str) -> None:
        """Type letters, one by one."""
        QTest.keyClicks(self.view.input, text)

    def send(self, text: str) -> None:
        """Write a message and press Enter."""
        self.write(text)
        QTest.keyClick(self.view.input, Qt.Key.Key_Return)

    def send_uncounted(self, text: str) -> None:
        """Send a message that is too long so soon that its tokens are not counted yet."""
        self.write(text)
        self.view.submitted.emit(text)

    def press_send(self) -> None:
        """Click the button that sends, or stops."""
        QTest.mouseClick(self.view.send, Qt.MouseButton.LeftButton)

    def attach(self, *items: Attachment) -> None:
        """Attach something, as by dropping it."""
        self._window.controllers.composer.attach(items)

    def choose_mode(self, mode: str) -> None:
        """Choose a mode of the list, such as `chat`."""
        self.view.set_mode(mode)
        self.view.mode_changed.emit(mode)

    def choose_model(self, model: str) -> None:
        """Choose a model of the list, by its name."""
        self.view.model_changed.emit(model)


class SidebarPage:
    """The notes and chats at the left."""

    def __init__(self, window: MainWindow) -> None:
        self.view = find(window, Sidebar)

    @property
    def chosen_chat(self) -> str:
        """The title of the chat that is marked as open."""
        return str(self.view.chats.currentIndex().data())

    @property
    def chosen_note(self) -> str:
        """The name of the note that is marked."""
        return str(self.view.notes.currentIndex().data())

    def attach(self, note: str) -> None:
        """Attach a note from its menu."""
        choose_from_row(self.view.notes, note, "Attach to the message")


class ContextPage:
    """The context panel."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.view = find(window, ContextPanel)

    @property
    def which(self) -> str:
        """Which request is shown: `next`, `last` or `chosen`."""
        return self.view.which

    def texts(self) -> list[str]:
        """Return the texts of the labels that are not hidden."""
        labels = self.view.findChildren(QLabel)
        return [label.text() for label in labels if not label.isHidden()]

    @property
    def used(self) -> str:
        """The tokens of the request, as the headline says."""
        (line,) = (w for w in self.view.findChildren(QLabel) if w.property("kind") == "h1")
        return line.text()

    @property
    def pins(self) -> list[str]:
        """What the list of pins says."""
        rows = find(self.view, PinList).model()
        return [str(rows.index(at, 0).data()) for at in range(rows.rowCount())]

    def unpin(self) -> None:
        """Take the first pin off by its key."""
        rows = find(self.view, PinList)
        rows.setCurrentIndex(rows.model().index(0, 0))
        QTest.keyClick(rows, Qt.Key.Key_P)

    def choose(self, act: Act, entry: str = "") -> None:
        """Choose an action that the panel offers for the request or for a compaction."""
        self.view.action_chosen.emit(act, entry)

    def switch(self, name: str) -> None:
        """Switch to a request, such as `Last request`."""
        choose_from_button(self._window, self.view.switch.accessibleName(), name)

    def press(self, words: str) -> None:
        """Click a button of the panel."""
        (button,) = (b for b in self.view.findChildren(QPushButton) if b.text() == words)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        QApplication.processEvents()  # labels that were just made are shown by the layout

    def read_request(self) -> str:
        """Open the request that is shown, and return its text."""
        self._window.run_command("show_request")
        view = find(self._window, RequestView)
        assert view.isVisible()
        text = view.findChild(QPlainTextEdit).toPlainText()
        view.close()
        return text


class PalettePage:
    """The palette over the window."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.view = find(window, Palette)

    def choose(self, typed: str, row: str) -> None:
        """Open the palette, type, and click a row."""
        press_keys(self._window, "Ctrl+K")
        self.view.field.setText(typed)
        click_row(self.view.view, row)


class SettingsPage:
    """The settings dialog, once it was opened."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    @property
    def view(self) -> SettingsDialog:
        """The dialog."""
        return find(self._window, SettingsDialog)

    @property
    def is_open(self) -> bool:
        """Whether the dialog is in sight."""
        made = self._window.findChild(SettingsDialog)
        return made is not None and made.isVisible()

    @property
    def page(self) -> str:
        """The name of the page that is open."""
        return str(self._pages.currentIndex().data())

    def open_page(self, name: str) -> None:
        """Turn to a page."""
        click_row(self._pages, name)

    def press(self, name: str) -> None:
        """Click a button of the dialog."""
        click_button(self.view, name)

    @property
    def _pages(self) -> QTreeView:
        return named(self.view, QTreeView, "Pages")


def find(root: QWidget, kind: type[Found]) -> Found:
    """Return the first widget of a kind."""
    found = root.findChild(kind)
    assert found is not None, f"no {kind.__name__}"
    return found


def named(root: QWidget, kind: type[Found], name: str) -> Found:
    """Return the one widget of a kind with this accessible name."""
    (found,) = (w for w in root.findChildren(kind) if w.accessibleName() == name)
    return found


def words(widgets: Iterable[UserMessage | Answer]) -> list[str]:
    """Return the texts of messages."""
    return [widget.text for widget in widgets]


def clipboard() -> str:
    """Return the text on the clipboard."""
    return QGuiApplication.clipboard().text()


def _line(line: ComposerLine) -> str:
    return "" if line.isHidden() else line.text
