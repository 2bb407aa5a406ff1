"""States for pictures: notes beside the chat, the lists that find them, and the sidebar."""

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QAbstractButton, QApplication

from tests.support.pictures.gallery import Shot
from tests.support.pictures.sample_window import BACKUPS, Stage, settle
from tests.support.window.clicks import button_named, press_enter_on
from tests.support.window.window_pages import find
from ui.crash_notice import CrashNotice
from ui.palette import Palette
from ui.widgets.buttons import UNDO
from ui.widgets.find_bar import FindBar
from ui.widgets.menus import MenuButton

NOTES = {
    "note": "Examples/Home server.md",
    "note-cjk": "Languages/はじめに.md",
    "note-rtl": "Languages/دفتر القهوة.md",
    "note-formats": "Formats.md",
    "note-pdf": "Reading/A report with quite a long name indeed.pdf",
    "note-image": "Attachments/Plan.png",
    "note-lost": "Examples/Cellar.md",
}


def show_notes(on: Stage) -> Iterator[Shot]:
    """Show each kind of note, a note's source, and the search in it."""
    on.open(BACKUPS)
    for name, path in NOTES.items():
        on.window.show_note(path)
        settle(700)
        yield Shot(name)
    on.window.show_note(NOTES["note"], 11, 16)
    settle(700)
    yield Shot("note-cited")
    on.window.note.toggle_source()
    settle()
    yield Shot("note-source")
    on.window.note.toggle_source()
    on.window.note.open_search()
    (bar,) = (bar for bar in on.window.note.findChildren(FindBar) if bar.isVisible())
    bar.field.setText("backup")
    settle()
    yield Shot("note-finding")
    on.window.note.close_search()
    yield Shot("note-outline", lambda: on.window.run_command("note_outline"))
    on.window.controllers.reading.close()


def show_lists(on: Stage) -> Iterator[Shot]:
    """Show the palette, quick open and the search bar, each with and without a result."""
    on.open(BACKUPS)
    for name, command, words in (
        ("palette", "palette", ""),
        ("palette-comp", "palette", "comp"),
        ("palette-none", "palette", "zzz"),
        ("quick-open", "open_note", ""),
        ("quick-open-cjk", "open_note", "は"),
    ):
        yield Shot(name, partial(_open_palette, on, command, words))
    on.window.controllers.palette.close()
    on.window.run_command("find")
    (bar,) = (bar for bar in on.window.findChildren(FindBar) if bar.isVisible())
    for name, words in (("finding", "backed up"), ("finding-none", "zzz")):
        bar.field.setText(words)
        settle()
        yield Shot(name)
    bar.closed.emit()


def show_menus(on: Stage) -> Iterator[Shot]:
    """Show the menus of the composer, of the chat and of the folder, and a citation's card."""
    on.open(BACKUPS)
    on.window.composer.set_text("")
    for name, button in (
        ("menu-model", on.window.composer.models),
        ("menu-mode", on.window.composer.modes),
        ("menu-chat", button_named(on.window.middle, "Actions of this chat")),
        ("menu-vault", on.window.sidebar.switcher),
    ):
        yield Shot(name, partial(_open_menu, button))
    _close_popups()


def show_sidebar(on: Stage) -> Iterator[Shot]:
    """Show the sidebar as a drawer, and the search of chats with and without a result."""
    on.open(BACKUPS)
    yield Shot("sidebar", lambda: _open_sidebar(on))
    for name, words in (("chats-found", "backed"), ("chats-none", "zzz")):
        on.window.run_command("search_chats")
        on.window.sidebar.chat_search.setText(words)
        settle(800)
        yield Shot(name, lambda: _open_sidebar(on))
    on.window.sidebar.chat_search.setText("")


def show_bin(on: Stage) -> Iterator[Shot]:
    """Show the bin in the sidebar, the menu of a chat in it, and the question of its end."""
    sessions = on.assistant.sessions
    for chat in sessions.list()[-3:-1]:
        sessions.delete(chat.session)
    on.window.controllers.sessions.refresh()
    settle()
    press_enter_on(on.window.sidebar.chats, "Bin")
    yield Shot("bin", lambda: _open_sidebar(on))
    on.window.run_command("empty_bin")
    yield Shot("bin-question")
    QApplication.activeModalWidget().close()
    for binned in sessions.bin.list_chats():
        sessions.bin.restore(binned.info.session)
    on.window.controllers.sessions.refresh()


def show_toasts(on: Stage) -> Iterator[Shot]:
    """Show two toasts, of which one has an action and too much text."""
    on.open(BACKUPS)

    def toast() -> None:
        on.window.notifier.toast("Home server.md changed", (UNDO, settle))
        on.window.notifier.toast("No program on this computer opens /home/me/" + "notes/" * 40)

    yield Shot("toasts", toast)


def show_crash(on: Stage) -> Iterator[Shot]:
    """Show the notice at the first start after a crash."""
    on.open(BACKUPS)
    folder = on.assistant.paths.crashes
    folder.mkdir(parents=True)
    (folder / "20261126T190201Z-4711-window.txt").write_text("Fatal Python error: Aborted\n")
    CrashNotice(on.assistant, on.window.runner, on.window.frame).look()
    settle()
    yield Shot("crash")


def _open_palette(on: Stage, command: str, words: str) -> None:
    on.window.activateWindow()
    on.window.run_command(command)
    find(on.window, Palette).field.setText(words)


def _open_sidebar(on: Stage) -> None:
    if not on.window.sidebar.isVisible():
        on.window.run_command("toggle_sidebar")


def _open_menu(button: QAbstractButton) -> None:
    """Open a button's menu without waiting until it is closed."""
    _close_popups()
    if isinstance(button, MenuButton):
        menu = button.menu()
        menu.popup(button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
    else:
        button.click()


def _close_popups() -> None:
    while popup := QApplication.activePopupWidget():
        popup.close()
    settle(50)
