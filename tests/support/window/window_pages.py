"""Page objects: parts of the window, in which real clicks and keys reach what a user sees.

A test describes what the user does, such as `window.chat.open("Backups")` or
`window.composer.send("Where?")`. Only the page objects know which widgets that involves.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.assistant import Assistant
from app.startup import StartupInfo
from chains.tool import ApprovalRequest, Proposal
from tests.support.window.clicks import (
    choose_from_button,
    choose_from_row,
    click_button,
    click_row,
    press_keys,
    row_of,
    type_keys,
    visible_rows,
)
from ui.chat.composer.attachment import Attachment
from ui.chat.composer.attachment_state import ChipState
from ui.chat.composer.composer import Composer
from ui.chat.composer.composer_controls import ComposerLine
from ui.chat.message.answer import Answer
from ui.chat.message.approval_card import ApprovalCard
from ui.chat.message.blocks import NoteBlock
from ui.chat.message.edits_card import EditsCard
from ui.chat.message.failures import Failure
from ui.chat.message.user import UserMessage
from ui.chat.middle import Middle
from ui.chat.transcript.transcript import Transcript
from ui.palette import Palette
from ui.panels.chats.save_note import SaveNoteDialog
from ui.panels.context.compaction import CompactionDialog
from ui.panels.context.layer_tree import PinList
from ui.panels.context.notice import Act
from ui.panels.context.panel import ContextPanel
from ui.panels.request_view import RequestView
from ui.panels.sidebar import Sidebar
from ui.settings.dialog import SettingsDialog
from ui.tasks import TaskRunner
from ui.widgets.diff import DiffView
from ui.widgets.lists import ROW
from ui.window import MainWindow

__all__ = [
    "ChatPage",
    "CompactionPage",
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
    """Open a window for an assistant and close it after the test.

    Args:
        runner: runs the window's tasks; None means the window's own threads.
        mode: the mode of the chat; `chat` searches nothing, so that no index is needed.
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
    """The main window, with a page object for each of its parts."""

    def __init__(self, window: MainWindow) -> None:
        self.view = window
        self.assistant = window.assistant
        self.chat = ChatPage(window)
        self.composer = ComposerPage(window)
        self.sidebar = SidebarPage(window)
        self.context = ContextPage(window)
        self.compaction = CompactionPage(window)
        self.palette = PalettePage(window)
        self.settings = SettingsPage(window)

    def activate(self, width: int, height: int, qtbot: QtBot) -> None:
        """Give the window a size, and wait until it is the active one."""
        self.view.resize(width, height)
        self.view.activateWindow()
        qtbot.waitUntil(self.view.isActiveWindow)

    def press(self, name: str) -> None:
        """Click the only visible button with this name."""
        QApplication.processEvents()  # the layout shows a button that was just created
        click_button(self.view, name)

    def press_keys(self, keys: str) -> None:
        """Press a shortcut, such as `Ctrl+N`."""
        press_keys(self.view, keys)

    def run(self, command: str) -> None:
        """Run a window command by its name."""
        self.view.run_command(command)

    @property
    def save_dialog(self) -> SaveNoteDialog:
        """The dialog that saves a chat as a note; it must have been opened before."""
        return find(self.view, SaveNoteDialog)

    @property
    def focus_name(self) -> str:
        """The accessible name of the focused widget."""
        focused = QApplication.focusWidget()
        return "" if focused is None else focused.accessibleName()

    def toasts(self) -> list[str]:
        """Return the texts of the visible toasts."""
        return self.view.notifier.texts()

    def close(self) -> None:
        """Close the window as a user does."""
        self.view.close()


class ChatPage:
    """The open chat: its messages and the actions on them."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.view = find(window, Transcript)

    @property
    def session(self) -> str | None:
        """The id of the open chat."""
        return self._window.controllers.session.session

    @property
    def is_running(self) -> bool:
        """Whether the open chat is being answered."""
        return self._window.controllers.session.is_running

    @property
    def title(self) -> str:
        """The title in the header above the chat."""
        return find(self._window, Middle).title

    @property
    def find_marks(self) -> list[str]:
        """The words that the search in the chat has highlighted in the messages, sorted."""
        fields = [message.body for message in self.user_messages()]
        fields += [answer.view for answer in self.answers()]
        return sorted(m.cursor.selectedText() for field in fields for m in field.extraSelections())

    @property
    def in_view(self) -> list[str]:
        """The texts of the messages and answers that are at least partly visible."""
        shown = [*self.user_messages(), *self.answers()]
        return [widget.text for widget in shown if not widget.visibleRegion().isEmpty()]

    def new(self) -> None:
        """Begin a new chat with its shortcut."""
        press_keys(self._window, "Ctrl+N")

    def open(self, title: str) -> None:
        """Open a chat by its title in the sidebar."""
        click_row(find(self._window, Sidebar).chats, title)

    def reopen(self, session: str | None) -> None:
        """Open a chat by its id."""
        self._window.open_session(session)

    def user_messages(self) -> list[UserMessage]:
        """Return the user messages, oldest first."""
        return self._shown(UserMessage)

    def answers(self) -> list[Answer]:
        """Return the answers, oldest first."""
        return self._shown(Answer)

    def failures(self) -> list[Failure]:
        """Return the errors shown in the chat."""
        return self._shown(Failure)

    def asides(self) -> list[NoteBlock]:
        """Return the blocks that are shown in the chat but not sent."""
        return self._shown(NoteBlock)

    def approvals(self) -> list[ApprovalCard]:
        """Return the cards that wait for a decision."""
        return self._shown(ApprovalCard)

    def edits(self) -> list[EditsCard]:
        """Return the cards about notes that an agent has changed."""
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
        """Show an approval card for a tool, as if a turn were waiting for it."""
        proposal = Proposal("write", summary, lambda: "", session_scope=scope, **fields)
        asked = ApprovalRequest("a1", "c1", tool, arguments or {}, proposal)
        card = self.view.show_approval(asked)
        QApplication.processEvents()
        return card

    def read_diff(self, card: ApprovalCard | EditsCard) -> list[str]:
        """Return the lines of the diff that a card shows."""
        return find(card, DiffView).text.toPlainText().split("\n")

    def texts_in(self, card: ApprovalCard) -> list[str]:
        """Return the texts that a card shows."""
        fields = [field.toPlainText() for field in card.findChildren(QPlainTextEdit)]
        labels = [label.text() for label in card.findChildren(QLabel)]
        return [*fields, *labels, *(b.text() for b in card.findChildren(QPushButton))]

    def texts(self) -> list[str]:
        """Return the texts of all labels in the chat."""
        return [label.text() for label in self.view.findChildren(QLabel)]

    def edit(self, message: UserMessage, text: str) -> None:
        """Edit a message and send the new version."""
        click_button(message, "Edit message")
        assert message.editor is not None
        message.editor.field.set_text(text)
        click_button(message, "Ask again")

    def name(self, answer: Answer, name: str) -> None:
        """Give an answer a label."""
        click_button(answer, "Name this answer")
        type_keys(answer.tools.label.field, name)

    def _shown(self, kind: type[Found]) -> list[Found]:
        return [row.widget for row in self.view.feed.rows if isinstance(row.widget, kind)]


class ComposerPage:
    """The composer with the unsent message."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.view = find(window, Composer)

    @property
    def text(self) -> str:
        """The text in the field."""
        return self.view.text()

    @property
    def error(self) -> str:
        """The error that is shown; empty if there is none."""
        return self.view.error()

    @property
    def offer(self) -> str:
        """The offer about large attachments; empty if none is shown."""
        return _line(self.view.offer)

    @property
    def queue(self) -> str:
        """The line about a long message; empty if none is shown."""
        return _line(self.view.queue)

    @property
    def waiting(self) -> str:
        """The line about the queued message; empty if none is shown."""
        return _line(self.view.waiting)

    @property
    def has_hint(self) -> bool:
        """Whether the hint about keys is shown."""
        return any("Enter" in w.text() and w.isVisible() for w in self.view.findChildren(QLabel))

    @property
    def mode(self) -> str:
        """The label of the chosen mode."""
        return self.view.mode()

    @property
    def chips(self) -> dict[str, ChipState]:
        """The states of the attachments' chips, by the attachments' names."""
        return {chip.attachment.target: chip.state for chip in self.view.chips.chips()}

    @property
    def attached(self) -> tuple[Attachment, ...]:
        """The attachments in the order in which they were added."""
        return tuple(chip.attachment for chip in self.view.chips.chips())

    def write(self, text: str) -> None:
        """Replace the text, like pasting."""
        self.view.set_text(text)

    def type(self, text: str) -> None:
        """Type letters one by one."""
        QTest.keyClicks(self.view.input, text)

    def send(self, text: str) -> None:
        """Write a message and press Enter."""
        self.write(text)
        QTest.keyClick(self.view.input, Qt.Key.Key_Return)

    def send_uncounted(self, text: str) -> None:
        """Send a message that is too long before its tokens have been counted."""
        self.write(text)
        self.view.submitted.emit(text)

    def press_send(self) -> None:
        """Click the button that sends or stops."""
        QTest.mouseClick(self.view.send, Qt.MouseButton.LeftButton)

    def attach(self, *items: Attachment) -> None:
        """Attach items, like dropping them."""
        self._window.controllers.composer.attach(items)

    def choose_mode(self, mode: str) -> None:
        """Choose a mode from the list, such as `chat`."""
        self.view.set_mode(mode)
        self.view.mode_changed.emit(mode)

    def choose_model(self, model: str) -> None:
        """Choose a model from the list by its name."""
        self.view.model_changed.emit(model)


class SidebarPage:
    """The sidebar with the lists of notes and chats."""

    def __init__(self, window: MainWindow) -> None:
        self.view = find(window, Sidebar)

    @property
    def chosen_chat(self) -> str:
        """The title of the chat that is selected as the open one."""
        return str(self.view.chats.currentIndex().data())

    @property
    def chosen_note(self) -> str:
        """The name of the selected note."""
        return str(self.view.notes.currentIndex().data())

    @property
    def chats(self) -> list[str]:
        """The texts of the visible rows of chats, without headings."""
        rows = visible_rows(self.view.chats)
        return [str(index.data()) for index in rows if not index.data(ROW).head]

    @property
    def headings(self) -> list[str]:
        """The headings in the list of chats."""
        rows = visible_rows(self.view.chats)
        return [str(index.data()) for index in rows if index.data(ROW).head]

    @property
    def current_chat(self) -> str:
        """The text of the current row in the list of chats."""
        return str(self.view.chats.currentIndex().data())

    @property
    def empty_text(self) -> str:
        """The sentence shown in place of the chats; empty if chats are shown."""
        shown = [text for text in self.view.findChildren(QLabel) if text.isVisible()]
        return next((text.text() for text in shown if text.text().startswith("No chat")), "")

    def open_hit(self, text: str) -> None:
        """Click a text that a search of all chats has found."""
        view = self.view.chats
        (row,) = [
            index
            for index in visible_rows(view)
            if index.data() == text and not index.data(ROW).head
        ]
        QTest.mouseClick(
            view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(row).center()
        )

    def choose_from_chat(self, title: str, item: str) -> None:
        """Choose an item from a chat's context menu."""
        choose_from_row(self.view.chats, title, item)

    def press_on_chat(
        self, title: str, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        """Make a chat the current row and press a key on it."""
        self.view.chats.setFocus()
        self.view.chats.setCurrentIndex(row_of(self.view.chats, title))
        QTest.keyClick(self.view.chats, key, held)

    def type_title(self, title: str) -> None:
        """Type a new title into the row that is being renamed, then press Enter."""
        (field,) = self.view.chats.findChildren(QLineEdit)
        field.selectAll()
        QTest.keyClicks(field, title)
        QTest.keyClick(field, Qt.Key.Key_Return)
        QApplication.processEvents()

    def search_chats(self, words: str) -> None:
        """Type words into the field that searches all chats."""
        QTest.keyClicks(self.view.chat_search, words)

    def attach(self, note: str) -> None:
        """Attach a note by its context menu."""
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
        """The request's tokens, as the headline shows them."""
        (line,) = (w for w in self.view.findChildren(QLabel) if w.property("kind") == "h1")
        return line.text()

    @property
    def pins(self) -> list[str]:
        """The texts of the list of pins."""
        rows = find(self.view, PinList).model()
        return [str(rows.index(at, 0).data()) for at in range(rows.rowCount())]

    def unpin(self) -> None:
        """Unpin the first pinned item with its key."""
        rows = find(self.view, PinList)
        rows.setCurrentIndex(rows.model().index(0, 0))
        QTest.keyClick(rows, Qt.Key.Key_P)

    def choose(self, act: Act, entry: str = "") -> None:
        """Choose an action that the panel offers for the request or a compaction."""
        self.view.action_chosen.emit(act, entry)

    def switch(self, name: str) -> None:
        """Switch to a request, such as `Last request`."""
        choose_from_button(self._window, self.view.switch.accessibleName(), name)

    def press(self, words: str) -> None:
        """Click a button in the panel."""
        (button,) = (b for b in self.view.findChildren(QPushButton) if b.text() == words)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        QApplication.processEvents()  # the layout shows labels that were just created

    def read_request(self) -> str:
        """Open the full view of the shown request and return its text."""
        self._window.run_command("show_request")
        view = find(self._window, RequestView)
        assert view.isVisible()
        text = view.findChild(QPlainTextEdit).toPlainText()
        view.close()
        return text


class CompactionPage:
    """The dialog that shows a compaction and its summary."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    @property
    def view(self) -> CompactionDialog:
        """The dialog, which must have been opened before."""
        return find(self._window, CompactionDialog)

    @property
    def text(self) -> str:
        """The questions that would be summarised, or the summary."""
        return self.view.text.toPlainText() if self.view.text.isVisible() else ""

    def texts(self) -> list[str]:
        """Return the texts of the visible labels."""
        return [label.text() for label in self.view.findChildren(QLabel) if label.isVisible()]

    def press(self, name: str) -> None:
        """Click a button of the dialog."""
        QApplication.processEvents()
        click_button(self.view, name)
        QApplication.processEvents()

    def accept(self) -> None:
        """Make the summary, and use it as it is."""
        self.press("Make the summary")
        self.press("Use this summary")


class PalettePage:
    """The command palette."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.view = find(window, Palette)

    def choose(self, typed: str, row: str) -> None:
        """Open the palette, type a text, and click a row."""
        press_keys(self._window, "Ctrl+K")
        self.view.field.setText(typed)
        click_row(self.view.view, row)


class SettingsPage:
    """The settings dialog, which must have been opened before."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    @property
    def view(self) -> SettingsDialog:
        """The dialog."""
        return find(self._window, SettingsDialog)

    @property
    def is_open(self) -> bool:
        """Whether the dialog is visible."""
        made = self._window.findChild(SettingsDialog)
        return made is not None and made.isVisible()

    @property
    def page(self) -> str:
        """The name of the open page."""
        return str(self._pages.currentIndex().data())

    def open_page(self, name: str) -> None:
        """Open a page by its name."""
        click_row(self._pages, name)

    def press(self, name: str) -> None:
        """Click a button in the dialog."""
        click_button(self.view, name)

    @property
    def _pages(self) -> QTreeView:
        return named(self.view, QTreeView, "Pages")


def find(root: QWidget, kind: type[Found]) -> Found:
    """Return the first widget of a class."""
    found = root.findChild(kind)
    assert found is not None, f"no {kind.__name__}"
    return found


def named(root: QWidget, kind: type[Found], name: str) -> Found:
    """Return the only widget of a class with this accessible name."""
    (found,) = (w for w in root.findChildren(kind) if w.accessibleName() == name)
    return found


def words(widgets: Iterable[UserMessage | Answer]) -> list[str]:
    """Return the messages' texts."""
    return [widget.text for widget in widgets]


def clipboard() -> str:
    """Return the text on the clipboard."""
    return QGuiApplication.clipboard().text()


def _line(line: ComposerLine) -> str:
    return "" if line.isHidden() else line.text
