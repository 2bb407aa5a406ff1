"""Show a note or an image, follow links in notes and answers, and go back and forward."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from posixpath import dirname, join, normpath
from typing import Any

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtWidgets import QApplication

from app.errors import ErrorInfo, NotFound, describe
from app.library.attachments import is_web_address
from app.library.images import is_image_link
from app.sessions.session_info import one_line
from chains.cancel import CancelToken
from chains.errors import Cancelled
from ui.controllers.notes import NotesController
from ui.controllers.reading.images import EmbedController, FormulaController, open_image
from ui.controllers.reading.menu import NoteMenuController, reveal_file
from ui.controllers.reading.outline import OutlineController
from ui.controllers.reading.views import split_task_link
from ui.controllers.reading.visit_history import NoteVisit, VisitHistory
from ui.controllers.related import RelatedController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.markdown.inline import TAG, is_file_address
from ui.markdown.note_parts import cut_parts
from ui.notify import open_address
from ui.panels.notes.image import OpenImage
from ui.tasks import LatestOnly
from ui.widgets.buttons import ButtonText
from ui.widgets.texts import word_hint, word_message
from vault.notes.links import LinkResolver, split_link_target
from vault.notes.note import Note, ReadOptions

__all__ = ["ReadingController"]

_SLOW_MS = 1_000
_MOST_PATH_CHARS = 80
_REVEAL = ButtonText("Reveal", "Show the file in the file manager")

Shown = Note | OpenImage


@dataclass(frozen=True)
class _MissingNote:
    """A note that a clicked link names and that does not exist. It can be created at its path."""

    path: str


class ReadingController(ChatController):
    """Shows one note or image at a time, beside the chat or in place of it.

    Emits `tag_clicked` with the name of a tag that was clicked in the note, and `missing_clicked`
    with the path that a note would have to which a clicked link leads, but which does not exist.

    Attributes:
        slow_timer: started when a note is about to be read. If reading takes longer than the
            timer's interval, a toast shows the name of the note.
    """

    tag_clicked = Signal(str)
    missing_clicked = Signal(str)

    def __init__(
        self,
        shared: Collaborators,
        session: SessionController,
        notes: NotesController,
        related: RelatedController,
    ) -> None:
        super().__init__(shared, session)
        self._panel = self._frame.note
        self._notes, self._related = notes, related
        self._visits = VisitHistory()
        self._shown: Shown | None = None
        self._reads = LatestOnly(self._runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._reading = CancelToken()
        self._outline = OutlineController(self._assistant, self._runner, self._frame)
        self._slow_message = ""
        self.slow_timer = QTimer(self, singleShot=True, interval=_SLOW_MS)
        self.slow_timer.timeout.connect(self._show_slow)
        self._rereads = LatestOnly(self._runner, 0, self)
        self._rereads.answered.connect(self._on_reread)
        EmbedController(
            self._assistant,
            self._runner,
            self._frame.note,
            self._frame.transcript.maker,
            self._find_answer_origin,
        )
        FormulaController(self._assistant.formulas, self._runner, self._frame.window)
        self._menu = NoteMenuController(shared)
        notes.listed.connect(self._mark_missing_links)
        self._panel.head.closed.connect(self.close)
        for part in (self._panel, self._panel.head):
            part.step_requested.connect(self.step)
        self._panel.head.related_requested.connect(self._frame.docking.show_related)
        self._panel.link_clicked.connect(self._on_link_clicked)
        self._frame.transcript.maker.link_activated.connect(self._follow_answer_link)
        for view in (
            self._frame.sidebar,
            self._frame.column.related,
            self._frame.column.index.lists,
        ):
            view.note_chosen.connect(self.show)

    def list_commands(self) -> dict[str, Callable[[], object]]:
        """Return the functions that run this controller's window commands, by command name."""
        return {
            "attach_note": self._panel.attach_selection,
            "toggle_source": self._panel.toggle_source,
            "note_outline": self._outline.open,
            **self._menu.list_commands(),
            "note_back": lambda: self.step(-1),
            "note_forward": lambda: self.step(1),
        }

    def show(self, path: str, first: int = 0, last: int = 0) -> None:
        """Show a note or an image in the window, or a web page in the browser.

        Args:
            path: the path of the note or image, or the address of the web page.
            first: the first line to highlight, or 0 to highlight no lines.
            last: the last line to highlight.
        """
        if is_web_address(path):
            open_address(self._frame.notifier, path)
            return
        self._open(NoteVisit(path, first, last))

    def follow_link(self, address: str, source: str = "") -> None:
        """Open a link's target: a note, an image or an external address. Report a tag as clicked.

        Args:
            address: an allowed address, which begins with `note:` for a note or an image, with
                `task:` for a task of a note, and with `tag:` for a tag. A heading or block of a
                note follows after `#`.
            source: the path of the note that contains the link. For a link in an answer, this is
                the folder of the chat's project if it is outside the vault, or an empty string.
        """
        if (task := split_task_link(address)) is not None:
            self._open(NoteVisit(task[0], task[2], task[2]))
            return
        if address.startswith(TAG):
            self.tag_clicked.emit(address.removeprefix(TAG))
            return
        if is_file_address(address):
            self._follow_file(Path(QUrl(address).toLocalFile()))
            return
        if not address.startswith("note:"):
            open_address(self._frame.notifier, address)
            return
        link = address.removeprefix("note:")
        name, heading = split_link_target(link)
        is_outside = bool(name) and PurePath(source).is_absolute()
        path = None if is_outside else self._notes.listing.links.resolve(name, source)
        if path is not None:
            self._open(NoteVisit(path, heading=heading))
        else:
            find = self._read_linked_image if is_image_link(name) else self._read_new_note
            token = self._begin_reading(f"Opening {NoteVisit(name).name}…")
            self._reads.ask(lambda: find(link, source, token), now=True)

    def _follow_file(self, file: Path) -> None:
        """Open a note or image of the vault by its full path. Another file is only revealed.

        A note may come from someone else, and the file may be a program.
        """
        root = self._assistant.vault
        if not os.path.exists(file):  # unlike that of `Path`, it is also False if none may look
            self._frame.notifier.toast(f"There is no file {one_line(str(file), _MOST_PATH_CHARS)}.")
        elif root is not None and file.is_relative_to(root) and os.path.isfile(file):
            self._open(NoteVisit(file.relative_to(root).as_posix()))
        else:
            failed = partial(self._frame.notifier.toast, f"No program shows {file.parent}.")
            reveal = partial(reveal_file, file, failed, self)
            message = f"{one_line(file.name, _MOST_PATH_CHARS)} is not one of your notes."
            self._frame.notifier.toast(message, (_REVEAL, reveal))

    def step(self, step: int) -> None:
        """Show an earlier or later note of the history. Do nothing if there is no such note.

        Args:
            step: the number of notes to go forward, or back if negative. If no note is open, going
                back reopens the note that was closed last.
        """
        if step < 0 and not self._frame.middle.is_reading:
            step = 0
        visit = self._visits.find(step)
        if visit is not None:
            self._open(visit, step)

    def reread(self) -> None:
        """Reload the open note or image, because its file may have changed."""
        shown = self._shown
        if shown is not None:
            visit = NoteVisit(shown.path)
            self._rereads.ask(lambda: self._read(visit, None, CancelToken()), now=True)

    def close(self) -> bool:
        """Close the open note and focus the composer. Return False if no note is open."""
        if not self._frame.middle.is_reading:
            return False
        self._visits.leave(self._panel.find_top_line())
        self._frame.middle.close_note()
        self._forget()
        self._related.set_open("")
        self._frame.sidebar.notes.select("")
        self._frame.composer.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def find(self) -> bool:
        """Open the note's search if the note has the focus or covers the chat.

        Return whether the search was opened.
        """
        focus = QApplication.focusWidget()
        has_focus = focus is not None and self._panel.isAncestorOf(focus)
        if not self._frame.middle.is_reading:
            return False
        if has_focus or self._frame.middle.is_chat_covered:
            self._panel.open_search()
            return True
        return False

    def show_chat(self) -> None:
        """Show the chat by closing the note, if the note is shown in place of the chat."""
        if self._frame.middle.is_chat_covered:
            self.close()

    def close_focused(self) -> bool:
        """Close the note or its search, if the note has the focus or covers the chat.

        Return whether anything was closed.
        """
        focus = QApplication.focusWidget()
        has_focus = focus is not None and self._panel.isAncestorOf(focus)
        is_meant = self._frame.middle.is_chat_covered or has_focus
        return is_meant and (self._panel.close_search() or self.close())

    def clear(self) -> None:
        """Close the note and clear the history after another vault has been opened."""
        self.close()
        self._forget()
        self._stop_reading()
        self._reads.forget()
        self._visits.clear()
        self._panel.clear()
        self._related.forget()

    def refresh_related(self) -> None:
        """Search for related notes again, because notes have changed."""
        self._related.refresh()

    def refresh_views(self) -> None:
        """Compute bases and queries again, because notes have changed.

        They are those of the open note and of the answers in the open chat.
        """
        self._panel.page.refresh_views()
        self._frame.transcript.refresh_views()

    def _forget(self) -> None:
        self._shown = None
        self._outline.set_note(None)
        self._rereads.forget()

    def _open(self, visit: NoteVisit, step: int | None = None) -> None:
        """Read a note in a task and then show it.

        Args:
            visit: the note and the position to show in it.
            step: the position of the visit in the history relative to the current one, or None if
                the visit is not in the history yet.
        """
        token = self._begin_reading(f"Opening {visit.name}…")
        self._reads.ask(lambda: self._read(visit, step, token), now=True)

    def _begin_reading(self, message: str) -> CancelToken:
        """Cancel the current reading of a note, and prepare a new one.

        Return the token that cancels the new reading. `message` is shown if the reading is slow.
        """
        self._stop_reading()
        self._reading, self._slow_message = CancelToken(), message
        self.slow_timer.start()
        return self._reading

    def _stop_reading(self) -> None:
        self._reading.cancel()
        self.slow_timer.stop()

    def _show_slow(self) -> None:
        """Show which note is being read, because the reading takes longer than usual."""
        self._frame.notifier.toast(self._slow_message)

    def _read_new_note(self, link: str, source: str, token: CancelToken) -> tuple[Any, ...]:
        """Read a linked note that is not in the list of notes.

        Such a note is new, or it is outside the vault, as is the note with the link.
        """
        name, heading = split_link_target(link)
        found = (self._find_on_disk(name, place) for place in _list_sources(source))
        path = next(filter(None, found), None)
        if path is None:
            can_create = self._notes.listing.is_missing(link, source)
            missing = _MissingNote(_choose_new_path(name, source)) if can_create else None
            return missing or f"There is no note named {link}.", NoteVisit(link), None
        return self._read(NoteVisit(path, heading=heading), None, token)

    def _find_on_disk(self, name: str, source: str) -> str | None:
        if PurePath(source).is_absolute():
            return self._assistant.projects.resolve_link(name, source)
        library = self._assistant.library
        names = () if library is None else library.vault.list_names()
        return LinkResolver((note.path, ()) for note in names).resolve(name, source)

    def _read_linked_image(self, link: str, source: str, token: CancelToken) -> tuple[Any, ...]:
        target, problem = split_link_target(link)[0], ""
        for place in _list_sources(source):
            try:
                path = self._assistant.images.find(target, place)
            except NotFound as error:
                problem = problem or str(error)
            else:
                return self._read(NoteVisit(path), None, token)
        return problem, NoteVisit(target), None

    def _read(self, visit: NoteVisit, step: int | None, token: CancelToken) -> tuple[Any, ...]:
        """Read a note or an image. The headings of a large note are read only if they are needed.

        Return a tuple: the note, image or error; the visit, with the lines of its heading; and
        `step`.
        """
        options = ReadOptions(token.raise_if_cancelled, is_for_reading=not visit.heading)
        try:
            if is_image_link(visit.path):
                return open_image(self._assistant.images, visit.path), visit, step
            note = self._assistant.read_note(visit.path, options)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - the panel shows the error
            return describe(error), visit, step
        if visit.heading:
            first, last = note.find_lines(visit.heading) or (0, 0)
            visit = replace(visit, first=first, last=last)
        cut_parts(note.text, note.kinds)  # fills the cache outside the GUI thread
        return note, visit, step

    def _on_read(
        self, answer: tuple[Shown | ErrorInfo | str | _MissingNote, NoteVisit, int | None]
    ) -> None:
        found, visit, step = answer
        self.slow_timer.stop()
        if isinstance(found, _MissingNote):
            self.missing_clicked.emit(found.path)
            return
        if isinstance(found, str):
            self._frame.notifier.toast(found)
            return
        self._note_visit(visit, step)
        self._forget()
        self._frame.columns.close_drawer()
        self._frame.middle.show_note()
        if isinstance(found, Note):
            self._show(found, visit)
        elif isinstance(found, OpenImage):
            self._show_image(found)
        else:
            self._related.set_open("")
            is_image = is_image_link(visit.path)
            self._panel.show_error(
                visit.path, word_message(found), word_hint(found.hint), is_image=is_image
            )
        self._panel.head.show_steps(
            has_back=self._visits.can_go_back,
            has_forward=self._visits.can_go_forward,
        )
        self._panel.setFocus(Qt.FocusReason.OtherFocusReason)

    def _note_visit(self, visit: NoteVisit, step: int | None) -> None:
        if self._frame.middle.is_reading:
            self._visits.leave(self._panel.find_top_line())
        if step is None:
            self._visits.add(visit)
        else:
            self._visits.go(step)

    def _is_missing_in_answers(self, link: str) -> bool:
        return self._notes.listing.is_missing(link, self._find_answer_origin())

    def _mark_missing_links(self) -> None:
        self._frame.transcript.mark_missing(self._is_missing_in_answers)
        shown = self._shown
        if isinstance(shown, Note):
            listing = self._notes.listing
            self._panel.page.mark_missing(partial(listing.is_missing, source=shown.path))

    def _show(self, note: Note, visit: NoteVisit) -> None:
        self._shown = note
        self._mark_missing_links()
        self._panel.show_note(note, visit.first, visit.last)
        if visit.top:
            self._panel.show_line(visit.top)
        self._outline.set_note(note)
        self._related.set_open(note.path)
        self._frame.sidebar.notes.select(note.path)
        if visit.heading and not visit.first:
            self._frame.notifier.toast(f"{note.title} has no heading {visit.heading}.")

    def _show_image(self, image: OpenImage) -> None:
        self._shown = image
        self._panel.show_image(image)
        self._related.set_open("")
        self._frame.sidebar.notes.select(image.path)

    def _on_reread(self, answer: tuple[Shown | ErrorInfo, NoteVisit, int | None]) -> None:
        found, shown = answer[0], self._shown
        if shown is None:
            return
        if isinstance(found, ErrorInfo):
            self._panel.show_lost(shown.path)
        elif found.path == shown.path:
            self._shown = found
            self._panel.show_changed(found)
            self._outline.set_note(found if isinstance(found, Note) else None)

    def _on_link_clicked(self, address: str) -> None:
        self.follow_link(address, self._panel.path)

    def _follow_answer_link(self, address: str) -> None:
        self.follow_link(address, self._find_answer_origin())

    def _find_answer_origin(self) -> str:
        """Return the folder of the chat's project if it is outside the vault, or ""."""
        project = self._session.project or ""
        return project if PurePath(project).is_absolute() else ""


def _choose_new_path(name: str, source: str) -> str:
    """Return where to create a note that a link names: relative to the vault, as the link is."""
    place = join(dirname(source), name) if name.startswith(".") else name
    path = normpath(place).lstrip("/")
    return path if path.lower().endswith(".md") else f"{path}.md"


def _list_sources(source: str) -> tuple[str, ...]:
    """Return the places whose links are like a link in `source`, as for `follow_link`, in order.

    The link of an answer leads to a note of the chat's project or else of the vault.
    """
    return (source, "") if Path(source).is_dir() else (source,)
