"""Between the conversation and what is seen of it: transcript, composer, panels.

Nothing here decides what a request holds; it shows what the assistant reports and carries the
user's choices to it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication

from app.assistant import AnswerItem, Assistant, ModelChoice, Transcript
from app.errors import ErrorInfo, describe
from chains.events import AskResult
from context.layers import Segment
from ui.chat.composer import Composer
from ui.chat.transcript import Transcript as TranscriptView
from ui.flow.conversation import Conversation, Turn
from ui.kit.figures import count
from ui.notify import Notifier, announce
from ui.panels.column import RightColumn
from ui.panels.sources import source_rows
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme

__all__ = ["Presenter", "Views"]

_NO_SOURCES_YET = "Sources appear here with the answer."


@dataclass(frozen=True)
class Views:
    """What shows a conversation."""

    composer: Composer
    transcript: TranscriptView
    column: RightColumn
    notifier: Notifier


class Presenter(QObject):
    """Keeps the views and one `Conversation` in step.

    Signals carry what the window has to do: `place_chosen` path and lines of a note,
    `link_chosen` a note's name, `settings_requested` a page, `panel_requested` to have the right
    column in sight.
    """

    place_chosen = Signal(str, int, int)
    link_chosen = Signal(str)
    settings_requested = Signal(str)
    folder_requested = Signal()
    panel_requested = Signal()
    chats_changed = Signal()
    asked = Signal()

    def __init__(
        self, assistant: Assistant, runner: TaskRunner, talk: Conversation, views: Views
    ) -> None:
        super().__init__(talk)
        self._assistant = assistant
        self._runner = runner
        self._talk = talk
        self._views = views
        self._next: Mapping[str, Any] | None = None
        self._last: Mapping[str, Any] | None = None
        self._service_count: int | None = None
        self._empty: tuple[int, str | None, Sequence[str]] = (0, None, ())
        self._dropped_turns = 0
        self._failure: ErrorInfo | None = None
        self._previews = LatestOnly(runner, Theme.current().duration("preview_debounce"), self)
        self._lasts = LatestOnly(runner, 0, self)
        self._connect_views()
        self._connect_talk()

    def set_empty(self, notes: int, indexed: str | None, questions: Sequence[str]) -> None:
        """Say what a chat that has not begun shows."""
        self._empty = (notes, indexed, questions)
        if self._talk.session is None and not self._talk.is_running:
            self._views.transcript.show_empty(*self._empty)

    def load_models(self) -> None:
        """Fill the list of models; a server may be asked, so it happens in a task."""
        task = self._runner.call(self._assistant.model_choices)
        task.yielded.connect(self._on_models)
        task.failed.connect(self._on_quiet_failure)
        task.start()

    def refresh_preview(self, *, now: bool = True) -> None:
        """Ask anew what the next request would hold."""
        session, text = self._talk.session, self._views.composer.text()
        mode, model = self._mode(), self._talk.model
        self._previews.ask(lambda: self._assistant.preview(session, text, mode, model), now=now)

    def preview_call(self) -> Callable[[int], Mapping[str, Any]]:
        """Return what answers "and with another limit?" for the open chat, in any thread."""
        session, text = self._talk.session, self._views.composer.text()
        mode, model = self._mode(), self._talk.model
        return lambda limit: self._assistant.preview(session, text, mode, model, limit)

    def _mode(self) -> Any:
        return self._talk.mode if self._assistant.vault is not None else "chat"

    def _connect_views(self) -> None:
        composer, transcript = self._views.composer, self._views.transcript
        composer.submitted.connect(self._on_submitted)
        composer.stop_requested.connect(self._talk.stop)
        composer.text_changed.connect(self._on_text_changed)
        composer.mode_changed.connect(self._on_mode_changed)
        composer.model_changed.connect(self._on_model_changed)
        composer.meter_clicked.connect(self.panel_requested)
        transcript.citation_activated.connect(self.place_chosen)
        transcript.link_activated.connect(self._on_link)
        transcript.question_chosen.connect(self._on_submitted)
        transcript.retry_requested.connect(self._on_retry)
        transcript.saw_requested.connect(self._on_saw)
        transcript.error_action.connect(self._on_error_action)
        self._views.column.context.which_chosen.connect(self._show_context)
        self._views.column.context.place_chosen.connect(self.place_chosen)
        self._views.column.sources.place_chosen.connect(self.place_chosen)
        self._previews.answered.connect(self._on_preview)
        self._previews.failed.connect(self._on_preview_failed)
        self._lasts.answered.connect(self._on_last)
        self._lasts.failed.connect(self._on_quiet_failure)

    def _connect_talk(self) -> None:
        talk, transcript = self._talk, self._views.transcript
        talk.turn_begun.connect(self._on_turn_begun)
        talk.step_begun.connect(transcript.set_step)
        talk.sources_found.connect(transcript.set_sources)
        talk.context_prepared.connect(self._on_context_prepared)
        talk.text_arrived.connect(transcript.append_delta)
        talk.warned.connect(self._views.notifier.toast)
        talk.turn_ended.connect(self._on_turn_ended)
        talk.session_changed.connect(self._on_session_changed)
        talk.loaded.connect(self._on_loaded)
        talk.load_failed.connect(self._on_load_failed)
        talk.ended_elsewhere.connect(self._on_ended_elsewhere)

    def _on_submitted(self, text: str) -> None:
        if text.strip() and not self._talk.is_running:
            self._views.composer.set_text("")
            self.asked.emit()
            self._talk.ask(text)

    def _on_text_changed(self, text: str) -> None:
        if text.strip() and self._views.column.context.which == "last":
            self._switch("next")
        self.refresh_preview(now=False)

    def _on_mode_changed(self, mode: str) -> None:
        self._talk.mode = "chat" if mode == "chat" else "vault"
        self.refresh_preview()

    def _on_model_changed(self, model: str) -> None:
        self._talk.model = model
        self.refresh_preview()

    def _on_models(self, choices: Sequence[ModelChoice]) -> None:
        self._views.composer.set_models(choices)
        self._views.transcript.set_models(choices)
        chosen = next((choice.name for choice in choices if choice.is_set), "")
        self._views.composer.set_model(self._talk.model or chosen)

    def _on_turn_begun(self, turn: Turn) -> None:
        self._views.composer.clear_error()
        self._views.composer.set_running(True)
        self._views.transcript.begin_turn(turn.question)
        self._views.column.sources.show_rows((), _NO_SOURCES_YET)

    def _on_context_prepared(self, context: Mapping[str, Any]) -> None:
        self._last, self._service_count = context, None
        self._switch("last")

    def _on_turn_ended(self, turn: Turn) -> None:
        self._views.composer.set_running(False)
        if turn.result is not None:
            self._show_answer(turn.result, turn.sources)
        elif turn.error is not None and turn.error.code != "cancelled":
            self._show_failure(turn, turn.error)
        elif self._talk.session is None:
            self._views.transcript.show_empty(*self._empty)
        else:
            self._talk.load()
        self.chats_changed.emit()
        self.refresh_preview()

    def _show_answer(self, result: AskResult, sources: Sequence[Segment]) -> None:
        rows = source_rows(result.citations, result.unverified, sources)
        self._views.transcript.finish_turn(result, sources)
        self._views.column.sources.show_rows(rows)
        self._last = result.context
        self._service_count = result.usage.prompt_tokens if result.usage else None
        self._show_context()
        announce(self._views.transcript, f"Answer finished, {len(rows)} sources")
        self._show_cut(result.context)

    def _show_cut(self, context: Mapping[str, Any]) -> None:
        """Draw the line above the oldest turn that is still sent where it belongs now."""
        cuts = [dropped for dropped in context["dropped"] if dropped["turns"]]
        turns = sum(int(dropped["turns"]) for dropped in cuts)
        if turns != self._dropped_turns:
            self._dropped_turns = turns
            tokens = sum(int(dropped["tokens"]) for dropped in cuts)
            reason = str(cuts[-1]["reason"]) if cuts else ""
            self._views.transcript.add_divider(turns, tokens, reason)

    def _show_failure(self, turn: Turn, info: ErrorInfo) -> None:
        self._failure = info
        announce(self._views.transcript, info.message, is_urgent=True)
        if info.code != "context_overflow":
            self._views.transcript.fail_turn(info)
            return
        self._views.composer.set_text(turn.question)
        self._views.composer.show_error(_too_long(info), self._limit_actions())
        if self._talk.session is None:
            self._views.transcript.show_empty(*self._empty)
        else:
            self._talk.load()

    def _on_session_changed(self, session: str | None) -> None:
        if self._talk.is_running and self._talk.is_whole:
            return
        self._views.composer.clear_error()
        self._views.composer.set_running(self._talk.is_running)
        self._views.column.sources.show_rows((), _NO_SOURCES_YET)
        self._last, self._service_count, self._dropped_turns = None, None, 0
        self._switch("next")
        if session is None:
            self._views.transcript.show_empty(*self._empty)
        self.refresh_preview()

    def _on_loaded(self, transcript: Transcript) -> None:
        self._views.transcript.load(transcript)
        answers = [item for item in transcript.items if isinstance(item, AnswerItem)]
        if answers:
            last = answers[-1]
            rows = source_rows(last.citations, last.unverified, last.sources)
            self._views.column.sources.show_rows(rows)
        session = self._talk.session
        if session is not None:
            self._lasts.ask(lambda: (session, self._assistant.last_context(session)), now=True)
        self.refresh_preview()

    def _on_load_failed(self, info: ErrorInfo) -> None:
        self._views.composer.show_error(info.message, ())

    def _on_ended_elsewhere(self, turn: Turn) -> None:
        self.chats_changed.emit()
        if turn.error is not None and turn.error.code != "cancelled":
            self._views.notifier.toast(f"The answer to “{turn.question[:60]}” failed.")

    def _on_last(self, answer: tuple[str, Mapping[str, Any] | None]) -> None:
        session, context = answer
        if session == self._talk.session and context is not None:
            self._last = context
            self._dropped_turns = _dropped_turns(context)
            self._show_context()

    def _on_preview(self, context: Mapping[str, Any]) -> None:
        self._next = context
        self._views.composer.set_meter(context["fraction"])
        self._views.composer.clear_error()
        self._views.column.context.clear_notice()
        self._show_context()

    def _on_preview_failed(self, error: Exception) -> None:
        info = describe(error)
        if info.code != "context_overflow" or info.context is None:
            self._views.composer.set_meter(None)
            return
        self._next = info.context
        self._views.composer.set_meter(info.context["fraction"])
        self._views.composer.show_error(_too_long(info), self._limit_actions())
        self._switch("next")

    def _show_context(self) -> None:
        panel = self._views.column.context
        shown = self._next if panel.which == "next" else self._last or self._next
        if shown is None:
            return
        count_ = self._service_count if panel.which == "last" else None
        panel.show_context(shown, self._talk.questions, count_)
        if shown["used"] > shown["budget"]:
            text = _room_sentence(shown)
            panel.show_notice("danger", "Your message does not fit", text, self._limit_actions())
        else:
            panel.clear_notice()

    def _switch(self, which: str) -> None:
        self._views.column.context.show_which(which)
        self._show_context()

    def _limit_actions(self) -> Sequence[tuple[str, Callable[[], object]]]:
        return (("Raise the limit", lambda: self.settings_requested.emit("Context")),)

    def _on_retry(self) -> None:
        if self._talk.questions and not self._talk.is_running:
            self._talk.ask(list(self._talk.questions.values())[-1])

    def _on_saw(self, _entry: str) -> None:
        self._switch("last")
        self.panel_requested.emit()

    def _on_link(self, address: str) -> None:
        if address.startswith("note:"):
            self.link_chosen.emit(address.removeprefix("note:"))
        else:
            QDesktopServices.openUrl(QUrl(address))

    def _on_error_action(self, name: str) -> None:
        pages = {
            "enter_key": "Models",
            "choose_model": "Models",
            "privacy_settings": "Privacy",
            "raise_limit": "Context",
        }
        if name in pages:
            self.settings_requested.emit(pages[name])
        elif name == "choose_folder":
            self.folder_requested.emit()
        elif name == "open_log":
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._assistant.paths.log_file)))
        elif name == "copy_details" and self._failure is not None:
            info = self._failure
            details = "\n".join(filter(None, (info.code, info.message, info.hint)))
            QGuiApplication.clipboard().setText(details)

    def _on_quiet_failure(self, error: Exception) -> None:
        self._views.notifier.toast(describe(error).message)


def _dropped_turns(context: Mapping[str, Any]) -> int:
    return sum(int(dropped["turns"]) for dropped in context["dropped"])


def _too_long(info: ErrorInfo) -> str:
    if info.context is None:
        return info.message
    over = info.context["used"] - info.context["budget"]
    return f"{count(max(1, over))} tokens too many. Nothing was sent."


def _room_sentence(context: Mapping[str, Any]) -> str:
    message = context["layers"]["L5"]["tokens"]
    room = max(0, context["budget"] - (context["used"] - message))
    return f"It has {count(message)} tokens; {count(room)} are free for it. Nothing was sent."
