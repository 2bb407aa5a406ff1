"""Run reviews of the notes in the background, and show, dismiss and restore their findings."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QTimer

from app.errors import describe
from app.library.review import NoteReview, ReviewResult
from chains.cancel import CancelToken
from ui.controllers.session import Collaborators, Controller
from ui.tasks import Task
from ui.widgets.buttons import ButtonText
from ui.widgets.texts import word_hint, word_message
from vault.review.findings import Finding, FindingFilter
from vault.review.review import ReviewProgress

__all__ = ["ReviewController"]

_UNDO_DISMISS = ButtonText("Undo", "Put the finding back into the list")
_IDLE_MS = 20_000


class ReviewController(Controller):
    """Runs reviews of the notes, and shows their findings in the panel "Look after".

    A review is started when the panel is first shown, when the user asks for it, and in the
    background some time after notes have changed. The number of findings is shown in the menu of
    the vault and in the index panel.

    The panel, when it is visible, follows the project of the open chat: another project limits the
    list to it, until the user chooses another place.
    """

    def __init__(self, shared: Collaborators) -> None:
        super().__init__(shared)
        self._panel = self._frame.column.review
        self._task: Task | None = None
        self._progress: ReviewProgress | None = None
        self._dismissed: list[Finding] = []
        self._has_looked = self._has_failed = False
        self._project: str | None = None
        self._followed: str | None = None
        self._panel.looked_at.connect(self._on_looked_at)
        self._panel.start_requested.connect(self.start)
        self._panel.stop_requested.connect(self.stop)
        self._panel.note_chosen.connect(self._on_note_chosen)
        self._panel.dismiss_requested.connect(self._dismiss)
        self._panel.restore_requested.connect(self._restore_all)
        self._panel.filter_changed.connect(self._on_filter_changed)
        for entry in (self._frame.sidebar, self._frame.column.index):
            entry.review_requested.connect(self._frame.docking.show_review)
        self.idle_timer = QTimer(self)
        self.idle_timer.setSingleShot(True)
        self.idle_timer.setInterval(_IDLE_MS)
        self.idle_timer.timeout.connect(self._start_in_background)

    @property
    def is_running(self) -> bool:
        """Whether a review is running."""
        return self._task is not None

    def start(self, *, is_background: bool = False) -> None:
        """Start a review of the notes, unless one is running.

        Args:
            is_background: whether the review may be slow, because no user is waiting for it.
        """
        if self._task is not None or self._assistant.vault is None:
            return
        self._has_looked, self._has_failed, self._progress = True, False, None
        self._panel.show_progress(None)
        which = FindingFilter(self._panel.kind_filter, self._panel.folder)
        project = self._panel.project

        def find(cancel: CancelToken) -> Iterator[ReviewProgress | ReviewResult]:
            review = self._assistant.find_review(project)
            return review.find(cancel, which, is_background=is_background)

        task = self._task = self._runner.stream(find)
        task.yielded.connect(partial(self._on_yielded, task))
        task.failed.connect(partial(self._on_failed, task))
        task.finished.connect(partial(self._on_finished, task))
        task.start()

    def stop(self) -> None:
        """Stop the running review and discard its results."""
        if self._task is not None:
            self._task.cancel()

    def forget(self) -> None:
        """Forget the findings, because another vault has been opened.

        If the panel is visible, review the notes of the new vault.
        """
        self.stop()
        self._task, self._has_looked, self._dismissed = None, False, []
        self._show_number(0)
        self.idle_timer.start()
        self._panel.show_waiting(has_vault=self._assistant.vault is not None)
        if self._panel.isVisible():
            self.start()

    def set_project(self, name: str | None) -> None:
        """Limit the list to the open chat's project, if it is another than before.

        If the panel is hidden, this is done when it is shown.
        """
        self._project = name
        if self._panel.isVisible() and self._follow_project():
            self._on_filter_changed()

    def _follow_project(self) -> bool:
        """Limit the list to the open chat's project, and return whether a review is needed."""
        name = self._project
        if name == self._followed:
            return False
        self._followed = name
        title = "" if name is None else self._assistant.projects.find_title(name)
        return self._panel.choose_project(name, title)

    def note_changes(self) -> None:
        """Show in the panel that notes have changed since the last review.

        The findings stay in the list. A new review is started in the background after a pause. If
        the last review failed and the panel is visible, it is started at once.
        """
        self.idle_timer.start()
        if self._has_failed and self._panel.isVisible():
            self.start()
        elif self._has_looked and self._task is None:
            self._panel.show_changed()

    def _on_filter_changed(self) -> None:
        """Review the notes again, of which only the findings change that are shown."""
        self.stop()
        self._task = None
        self.start()

    def _list_projects(self) -> Sequence[tuple[str, str]]:
        """Return the name and title of each project."""
        return [(each.name, each.title) for each in self._assistant.projects.list()]

    def _start_in_background(self) -> None:
        library = self._assistant.library
        if self._task is not None or (library is not None and library.is_in_use):
            self.idle_timer.start()
        elif not self._panel.isVisible():  # a list that the user reads is not replaced
            if self._panel.project == self._followed:  # the number is that of all notes
                self._panel.choose_project(None)
                self._followed = None
            self.start(is_background=True)

    def _show_number(self, number: int) -> None:
        for entry in (self._frame.sidebar, self._frame.column.index):
            entry.show_findings(number)

    def _on_looked_at(self) -> None:
        if self._assistant.vault is None:
            self._panel.show_waiting(has_vault=False)
        elif self._follow_project():
            self._on_filter_changed()
        elif not self._has_looked:
            self.start()

    def _on_yielded(self, task: Task, item: ReviewProgress | ReviewResult) -> None:
        if task is not self._task:
            return
        if isinstance(item, ReviewProgress):
            self._progress = item
            self._panel.show_progress(item)
            return
        self._task = None
        self._dismissed = list(item.dismissed)
        self._panel.show_result(item)
        if not self._panel.is_limited:
            self._show_number(len(item.findings))
            self._show_places(item)

    def _show_places(self, result: ReviewResult) -> None:
        """List the folders with findings, and the projects, in the menu of places."""
        found = (*result.findings, *result.dismissed)
        paths = (note.path for finding in found for note in finding.notes)
        folders = sorted({path.partition("/")[0] for path in paths if "/" in path})
        task = self._runner.call(self._list_projects)
        task.yielded.connect(lambda projects: self._panel.set_places(folders, projects))
        task.start()

    def _on_failed(self, task: Task, error: Exception) -> None:
        if task is self._task:
            self._task, self._has_failed = None, True
            info = describe(error)
            self._panel.show_error(word_message(info), word_hint(info.hint))

    def _on_finished(self, task: Task) -> None:
        if task is self._task:  # no result arrived, so it was stopped
            self._task = None
            self._panel.show_stopped(self._progress)

    def _on_note_chosen(self, path: str, first: int, last: int) -> None:
        self._frame.navigation.show_note(self._panel.name_path(path), first, last)

    def _dismiss(self, finding: Finding) -> None:
        dismiss = partial(self._find_review().dismiss, finding)
        self._store(dismiss, partial(self._on_dismissed, finding))

    def _on_dismissed(self, finding: Finding, _none: object) -> None:
        place = self._panel.remove_finding(finding)
        self._dismissed.append(finding)
        self._show_numbers()
        undo = partial(self._restore, finding, place)
        self._frame.notifier.toast("Dismissed.", (_UNDO_DISMISS, undo))

    def _restore(self, finding: Finding, place: int) -> None:
        """Restore a dismissed finding, unless it has already been restored.

        Args:
            place: the finding's previous index in the list.
        """
        if finding in self._dismissed:
            restore = partial(self._find_review().restore, [finding])
            self._store(restore, partial(self._on_restored, finding, place))

    def _on_restored(self, finding: Finding, place: int, _none: object) -> None:
        self._dismissed.remove(finding)
        self._panel.insert_finding(finding, place)
        self._show_numbers()

    def _show_numbers(self) -> None:
        self._panel.show_dismissed(len(self._dismissed))
        if not self._panel.is_limited:
            self._show_number(len(self._panel.list_findings()))

    def _restore_all(self) -> None:
        restore = partial(self._find_review().restore, tuple(self._dismissed))
        self._store(restore, lambda _none: self.start())

    def _find_review(self) -> NoteReview:
        return self._assistant.find_review(self._panel.project)

    def _store(self, change: Callable[[], None], done: Callable[[object], None]) -> None:
        task = self._runner.call(change)
        task.yielded.connect(done)
        task.failed.connect(self._on_not_stored)
        task.start()

    def _on_not_stored(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)
