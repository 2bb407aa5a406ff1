"""The section of a project's page for the web pages and transcripts that the project keeps."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.assistant import Assistant
from app.errors import describe
from app.library.project_pages import ProjectPage
from app.project_overview import KeptPage
from chains.cancel import CancelToken
from ui.tasks import LatestOnly, Task, TaskRunner
from ui.theme import dress
from ui.widgets.buttons import ButtonText, IconButton, make_button
from ui.widgets.controls import ElidedLabel, IconLabel, escape_tooltip, label, make_wrapped_label
from ui.widgets.dialogs import choose_file
from ui.widgets.formatting import ago, count, size
from ui.widgets.geometry import clear_layout
from ui.widgets.layouts import grow, make_column, make_row, stretch
from ui.widgets.texts import word_error

__all__ = ["KeptPages"]

_HELP = (
    "A page is fetched when you add it and when you refresh it, never by itself. Strata keeps its "
    "text with its own data. It goes to the model with each message of this project."
)
_HINT = "https://… or the path of a .vtt, .srt, .sbv or .txt file"
_ADD = ButtonText("Add", "Fetch the page, or read the transcript, and keep its text")
_FILE = ButtonText("Choose a file…", "Choose the file of a transcript")
_CANCEL = ButtonText("Cancel", "Stop fetching; what is kept stays as it is")
_REFRESH = ButtonText("Refresh all", "Fetch every page again, and show which have changed")
_STOPPED = "Stopped. What was not fetched is as it was."
_UNDO = ButtonText("Undo", "Keep the page again")
_KINDS = "Transcripts (*.vtt *.srt *.sbv *.txt)"


class KeptPages(QWidget):
    """Lists, adds, refreshes and removes the web pages and transcripts of a project.

    The signal `changed` is emitted when one was added, refreshed or removed.

    Args:
        assistant: fetches and stores the pages.
        name: the name of the project.
        runner: runs the tasks that fetch pages.
    """

    changed = Signal()

    def __init__(self, assistant: Assistant, name: str, runner: TaskRunner) -> None:
        super().__init__()
        self._fetcher, self._store = assistant.pages, assistant.projects.pages(name)
        self._runner = runner
        self._reads = LatestOnly(runner, 0, self)
        self._reads.answered.connect(self._on_read)
        self._task: Task | None = None
        self._has_ended = True
        self._removed: ProjectPage | None = None
        self._tokens: dict[str, KeptPage] = {}
        self.address = QLineEdit()
        self.address.setPlaceholderText(_HINT)
        self.address.setAccessibleName("Address of a web page or transcript")
        self.address.setToolTip(escape_tooltip(_HINT))
        dress(self.address, "ui", "")
        self.add = make_button(_ADD, "", self._on_add)
        self.choose = make_button(_FILE, "", self._on_choose)
        self.cancel = make_button(_CANCEL, "", self._on_cancel)
        self.refresh_all = make_button(_REFRESH, "text", lambda: self._on_refresh(self._pages))
        self.undo = make_button(_UNDO, "text", self._on_undo)
        self.state = make_wrapped_label("", "caption", "secondary")
        self._pages: Sequence[ProjectPage] = ()
        self._rows = QVBoxLayout()
        self.address.textChanged.connect(self._show_buttons)
        self.address.returnPressed.connect(self._on_add)
        self._lay_out()
        self.undo.hide()
        self._show_buttons()

    def refresh(self) -> None:
        """Read the pages that are kept now, and show them."""
        self._reads.ask(self._store.list, now=True)

    def _on_read(self, pages: Sequence[ProjectPage]) -> None:
        self._pages = pages
        self._show_pages()

    def _show_pages(self) -> None:
        clear_layout(self._rows)
        for page in self._pages:
            self._rows.addWidget(self._make_row(page))
        if not self._pages:
            self._rows.addWidget(label("None yet.", "caption", "tertiary"))
        self._show_buttons()

    def show_tokens(self, pages: Sequence[KeptPage]) -> None:
        """Show how many tokens each page has, and how many of them go to the model."""
        self._tokens = {kept.page.id: kept for kept in pages}
        self._show_pages()

    def _make_row(self, page: ProjectPage) -> QWidget:
        row = QWidget()
        title, details = ElidedLabel(page.title or page.address), ElidedLabel(is_ours=True)
        dress(title, "ui", "primary")
        title.setToolTip(escape_tooltip(page.address))
        description = page.problem or " · ".join(self._describe(page))
        details.set_text(description)
        tone = "danger" if page.problem else "amber" if page.is_changed else "secondary"
        dress(details, "caption", tone)
        name = page.title or page.address
        refresh_button = IconButton("arrow-clockwise", f"Refresh {name}", size=24)
        refresh_button.clicked.connect(partial(self._on_refresh, (page,)))
        refresh_button.setEnabled(self._task is None)
        remove = IconButton("x", f"Remove {name}", size=24)
        remove.clicked.connect(partial(self._on_remove, page))
        remove.setEnabled(self._task is None)
        icon = "chat" if page.kind == "transcript" else "globe"
        texts = make_column(title, details, spacing=0)
        make_row(
            IconLabel(icon), grow(texts), refresh_button, remove, margins=0, spacing=8, parent=row
        )
        row.setAccessibleName(f"{name}: {description}")
        return row

    def _describe(self, page: ProjectPage) -> Iterator[str]:
        yield f"fetched {ago(page.fetched)}"
        yield size(page.size)
        kept = self._tokens.get(page.id)
        if kept is not None and kept.page.version == page.version:
            is_cut = kept.l1_tokens < kept.tokens
            sent = f", {count(kept.l1_tokens)} of them sent" if is_cut else ""
            yield f"{count(kept.tokens)} tokens{sent}"
        if page.is_changed:
            yield "changed since it was fetched before"

    def _on_add(self) -> None:
        named = os.path.expanduser(self.address.text().strip())
        if named and self._task is None:
            host = urlsplit(named).hostname or Path(named).name
            add = partial(self._add, named)
            self._start(f"Fetching {host}…", add, self.address.clear)

    def _add(self, named: str, token: CancelToken) -> str:
        page = self._fetcher.add(self._store, named, token)
        return f"{page.title} is kept."

    def _on_choose(self) -> None:
        if chosen := choose_file(self, "Choose a transcript", str(Path.home()), _KINDS):
            self.address.setText(chosen)
            self._on_add()

    def _on_refresh(self, pages: Sequence[ProjectPage]) -> None:
        def refresh(token: CancelToken) -> str:
            found = list(self._fetcher.refresh_all(self._store, pages, token))
            changed = sum(page.is_changed for page in found)
            failed = sum(bool(page.problem) for page in found)
            summary = f"{count(changed)} changed" if changed else "Nothing has changed"
            return f"{summary}, {count(failed)} could not be fetched." if failed else f"{summary}."

        if pages and self._task is None:
            self._start("Fetching again…", refresh)

    def _on_remove(self, page: ProjectPage) -> None:
        name = page.title or page.address

        def remove(_token: CancelToken) -> str:
            self._store.remove(page)
            return f"{name} is not kept any more."

        if self._task is None:
            self._start(f"Removing {name}…", remove, partial(self._offer_undo, page))
            self.address.setFocus()

    def _offer_undo(self, removed: ProjectPage) -> None:
        self._removed = removed
        self.undo.show()

    def _on_undo(self) -> None:
        page = self._removed
        if page is None or self._task is not None:
            return

        def put(_token: CancelToken) -> str:
            self._store.put(page)
            return f"{page.title or page.address} is kept again."

        self._start("Keeping it again…", put, failed=partial(self._offer_undo, page))
        self.address.setFocus()

    def _on_cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _start(
        self,
        busy: str,
        work: Callable[[CancelToken], str],
        done: Callable[[], None] | None = None,
        failed: Callable[[], None] | None = None,
    ) -> None:
        """Run a task that fetches or changes pages. Meanwhile, it can be cancelled.

        Args:
            busy: what is said while it runs.
            work: the task, which returns what is said afterwards.
            done: called when it has succeeded, or None.
            failed: called when it has failed or was stopped, or None.
        """
        self._task = self._runner.stream(lambda token: iter((work(token),)))
        self._task.yielded.connect(partial(self._on_done, done))
        self._task.failed.connect(partial(self._on_failed, failed))
        self._task.finished.connect(partial(self._on_finished, failed))
        self._has_ended = False
        self.undo.hide()
        self._say(busy, "secondary")
        self._show_pages()
        self._task.start()

    def _on_done(self, done: Callable[[], None] | None, message: str) -> None:
        self._has_ended = True
        self._say(message, "secondary")
        if done is not None:
            done()

    def _on_failed(self, failed: Callable[[], None] | None, error: Exception) -> None:
        self._has_ended = True
        if failed is not None:
            failed()
        self._say(word_error(describe(error)), "danger")

    def _on_finished(self, failed: Callable[[], None] | None) -> None:
        if not self._has_ended:  # it was stopped, which is no failure
            if failed is not None:
                failed()
            self._say(_STOPPED, "secondary")
        self._task = None
        self.refresh()
        self.changed.emit()

    def _say(self, text: str, tone: str) -> None:
        self.state.setText(text)
        dress(self.state, "caption", tone)

    def _show_buttons(self) -> None:
        is_busy = self._task is not None
        self.add.setEnabled(not is_busy and bool(self.address.text().strip()))
        self.choose.setEnabled(not is_busy)
        self.cancel.setVisible(is_busy)
        self.refresh_all.setVisible(bool(self._pages) and not is_busy)

    def _lay_out(self) -> None:
        head = make_row(label("Web pages and transcripts", "ui_strong"), stretch(), margins=0)
        head.addWidget(self.refresh_all)
        self._rows.setSpacing(6)
        make_column(
            head,
            make_wrapped_label(_HELP, "caption", "secondary"),
            make_row(grow(self.address), self.add, self.choose, self.cancel, spacing=8),
            make_row(grow(self.state), self.undo, spacing=8),
            self._rows,
            margins=(0, 10, 0, 10),
            spacing=6,
            parent=self,
        )
        self.state.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
