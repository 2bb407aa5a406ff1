"""Judge every note by a question, in a dialog: price first, then some notes, then the others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.errors import describe
from chains.cancel import CancelToken
from chains.models import EXTRACTIVE
from resources.system.files import write_atomically
from ui.controllers.session import Collaborators, Controller, SessionController
from ui.controllers.vault import VaultController
from ui.tasks import LatestOnly, Task
from ui.widgets.buttons import ButtonText
from ui.widgets.dialogs import choose_new_file
from ui.widgets.texts import word_error

if TYPE_CHECKING:  # loaded when the dialog is opened, which the first paint does not wait for
    from app.config.models import ModelChoice
    from app.judge.judging import JudgeFinished
    from app.judge.run import PauseSwitch
    from app.judge.table import JudgeProgress, JudgeRequest, JudgeTable
    from ui.panels.judge_view import JudgeView

__all__ = ["JudgeController"]

_UNDO: Final = ButtonText("Undo", "Remove the new note")
_CSV: Final = "Tables (*.csv)"


class JudgeController(Controller):
    """Judges the notes of the open vault, or those of the open chat's project.

    Attributes:
        view: the dialog, or None before it is opened.
    """

    def __init__(
        self, shared: Collaborators, session: SessionController, vault: VaultController
    ) -> None:
        super().__init__(shared)
        self._session = session
        self.view: JudgeView | None = None
        self._task: Task | None = None
        self._switch: PauseSwitch | None = None
        self._table: JudgeTable | None = None
        self._failure = ""
        self._reads = LatestOnly(self._runner, 0, self)
        self._reads.answered.connect(self._on_table)
        self._reads.failed.connect(self._on_failed)
        self._models = LatestOnly(self._runner, 0, self)
        self._models.answered.connect(self._on_models)
        vault.opened.connect(self._on_vault_opened)
        self._frame.sidebar.judge_requested.connect(self.open)

    @property
    def is_running(self) -> bool:
        """Whether notes are being judged."""
        return self._task is not None

    def open(self) -> None:
        """Open the dialog with the question in the message box, or else that asked last."""
        if self._assistant.vault is None:
            self._frame.notifier.toast("Choose a folder of notes first.")
            return
        asked = list(self._session.user_messages.values())
        text = self._frame.composer.text().strip() or (asked[-1] if asked else "")
        view = self._make_view()
        self._models.ask(self._assistant.model_setup.list_choices, now=True)
        view.begin("" if view.question.text() and not text else text)

    def _make_view(self) -> "JudgeView":
        if self.view is None:
            from app.judge.judging import FIRST_NOTES
            from app.judge.table import DEFAULT_SAMPLE
            from ui.panels.judge_view import JudgeView

            self.view = view = JudgeView(self._frame.window, FIRST_NOTES, DEFAULT_SAMPLE)
            view.price_requested.connect(self._look)
            view.run_requested.connect(self._start)
            view.pause_requested.connect(self._pause)
            view.stop_requested.connect(self._stop)
            view.save_requested.connect(self._save)
            view.export_requested.connect(self._export)
            view.forget_requested.connect(self._delete)
            view.note_chosen.connect(self._show_note)
            view.changed.connect(self._forget)
        return self.view

    def _build_request(self) -> "JudgeRequest":
        from app.judge.table import JudgeRequest

        view, project = self._make_view(), self._session.project
        return JudgeRequest(
            view.question.text(),
            view.scope.text(),
            project,
            self._session.model,
            sample_model=view.sample_model.value or None,
            sample=view.sampled,
        )

    def _on_models(self, choices: "Sequence[ModelChoice]") -> None:
        """Offer all models for the sample but the one that judges all notes."""
        first = self._session.model or self._assistant.settings.values.chat_model
        others = [one for one in choices if one.name not in (first, EXTRACTIVE)]
        self._make_view().show_models([(one.name, one.label, one.summary) for one in others])

    def _forget(self) -> None:
        """Let go of the table of another question, also of one that is still being made."""
        self._reads.forget()
        self._table = None

    def _look(self) -> None:
        """Show what is known and what the rest costs. Nothing is sent."""
        self._make_view().begin_looking()
        request = self._build_request()
        self._reads.ask(partial(self._assistant.judging.read, request), now=True)

    def _start(self, first: int | None, retries: bool) -> None:
        if self._task is not None or self._table is None:
            return
        from app.judge.run import PauseSwitch

        # What was shown with its price, though another chat may have been opened since.
        request = replace(self._table.request, first=first, retries=retries)
        switch = self._switch = PauseSwitch()
        judging = self._assistant.judging

        def judge(cancel: CancelToken) -> "Iterator[JudgeProgress | JudgeFinished]":
            return judging.judge(request, cancel, switch)

        self._make_view().begin_run()
        self._task = task = self._runner.stream(judge)
        task.yielded.connect(self._on_event)
        task.failed.connect(self._on_run_failed)
        task.finished.connect(self._on_finished)
        task.start()

    def _pause(self, is_paused: bool) -> None:
        if self._switch is not None:
            (self._switch.pause if is_paused else self._switch.resume)()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _on_event(self, event: "JudgeProgress | JudgeFinished") -> None:
        from app.judge.table import JudgeProgress

        if isinstance(event, JudgeProgress):
            self._make_view().show_progress(event)

    def _on_run_failed(self, error: Exception) -> None:
        self._failure = word_error(describe(error))

    def _on_finished(self) -> None:
        """Show what is known now, also after a stop or a failure."""
        self._task = None
        self._make_view().end_run()
        if self._table is not None:
            request = replace(self._table.request, first=None, retries=False)
            self._reads.ask(partial(self._assistant.judging.read, request), now=True)

    def _on_table(self, table: "JudgeTable") -> None:
        self._table = table
        view = self._make_view()
        view.show_table(table)
        if self._failure:
            view.state.setText(f"{self._failure} {view.state.text()}")
            self._failure = ""

    def _on_failed(self, error: Exception) -> None:
        self._make_view().show_failure(word_error(describe(error)))

    def _on_not_written(self, error: Exception) -> None:
        """Say why the table was not written. It stays."""
        self._frame.notifier.toast(word_error(describe(error)))

    def _on_vault_opened(self) -> None:
        self._stop()
        self._forget()
        if self.view is not None:
            self.view.forget()

    def _show_note(self, path: str, first: int, last: int) -> None:
        self._frame.navigation.show_note(path, first, last)

    def _save(self) -> None:
        if self._table is None:
            return
        task = self._runner.call(partial(self._assistant.judging.save, self._table))
        task.yielded.connect(self._on_saved)
        task.failed.connect(self._on_not_written)
        task.start()

    def _on_saved(self, saved: tuple[str, str]) -> None:
        path, run = saved
        self._frame.notifier.toast(f"Saved as {path}.", (_UNDO, partial(self._undo, path, run)))
        self._frame.navigation.show_note(path, 0, 0)

    def _undo(self, path: str, run: str) -> None:
        task = self._runner.call(lambda: self._assistant.edits.undo(run=run))
        task.yielded.connect(lambda _undone: self._frame.notifier.toast(f"{path} is removed."))
        task.failed.connect(self._on_not_written)
        task.start()

    def _delete(self) -> None:
        """Delete the verdicts on the question that is shown."""
        if self._table is None:
            return
        question, kept = self._table.request.question, self._assistant.kept_verdicts
        task = self._runner.call(partial(kept.forget, question))
        task.yielded.connect(lambda _forgotten: self._look())
        task.failed.connect(self._on_not_written)
        task.start()

    def _export(self) -> None:
        if self._table is None:
            return
        start = str(Path.home() / "Judged notes.csv")
        chosen = choose_new_file(self._make_view(), "Export the table", start, _CSV)
        if not chosen:
            return
        from app.judge.table import write_csv

        content = write_csv(self._table).encode("utf-8-sig", "backslashreplace")
        task = self._runner.call(lambda: write_atomically(Path(chosen), content))
        task.yielded.connect(lambda _done: self._frame.notifier.toast(f"Written: {chosen}"))
        task.failed.connect(self._on_not_written)
        task.start()
