"""Controller of the context panel: shows the next, the last or an older request.

The requests come from the assistant as *Context* reports. This module adds the prices of the
model and the tokens counted by the provider.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from app.assistant import Assistant
from app.errors import describe
from chains.events import ContextPrepared
from chains.models import describe as describe_model
from context.history.memory import Memory, Progress
from ui.controllers.composer import ComposerController
from ui.controllers.drafts import NextMessage
from ui.controllers.session import SessionController
from ui.controllers.turns import ChatTurn, list_paths, list_selections
from ui.frame import WindowFrame
from ui.notify import announce
from ui.panels.context.notice import Act, find_passed_share
from ui.panels.context.panel import PanelState
from ui.panels.context.words import Counted, Prices
from ui.panels.request_view import RequestView
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme
from ui.widgets.figures import percent

__all__ = ["ContextController"]

Context = Mapping[str, Any]
Perform = Callable[[str], object]


@dataclass(frozen=True)
class _Shown:
    """A request report for the context panel, with the prices of its model.

    Attributes:
        is_estimate: whether passages will be added when the request is sent.
    """

    context: Context
    prices: Prices | None = None
    is_estimate: bool = False


class ContextController(QObject):
    """Updates the context panel when the composer, the running turn or the open chat changes."""

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        frame: WindowFrame,
        session: SessionController,
        composer: ComposerController,
    ) -> None:
        super().__init__(session)
        self._assistant, self._runner = assistant, runner
        self._frame, self._panel = frame, frame.column.context
        self._session, self._composer = session, composer
        self._shown: dict[str, _Shown] = {}
        self._entry: str | None = None
        self._actions: dict[Act, Perform] = {}
        self._passed = 0.0
        self._previews = LatestOnly(runner, Theme.current().duration("preview_debounce"), self)
        self._lasts = LatestOnly(runner, 0, self)
        self._requests = LatestOnly(runner, 0, self)
        self.request_view = RequestView(frame)
        self.add_action("raise", lambda _entry: frame.navigation.open_settings("Context"))
        self._panel.place_chosen.connect(frame.navigation.show_note)
        self._connect()

    def add_action(self, act: Act, perform: Perform) -> None:
        """Add an action to the panel; `perform` gets a compaction's entry id or an empty string."""
        self._actions[act] = perform

    def refresh(self, *, now: bool = True) -> None:
        """Preview the next request at once, or, without `now`, after a pause in typing."""
        self._previews.ask(partial(self._look_ahead, self._composer.next_message()), now=now)

    def preview_call(self) -> Callable[[Mapping[str, object]], Context]:
        """Return a thread-safe function that previews the next request with other settings."""
        message = self._composer.next_message()
        return lambda changes: self._preview(message, changes)

    def show_sent(self, context: Context) -> None:
        """Show the report of the request that was just sent."""
        before = self._shown.get("last") or self._shown.get("next")
        self._shown["last"] = _Shown(context, before.prices if before else None)
        self.show("last")

    def show_request_for(self, entry: str) -> None:
        """Open the panel and show the request of the turn that an entry belongs to."""
        session = self._session.session
        if session is None:
            return
        if self._frame.transcript.is_last_answer(entry):
            self.show("last")
        else:
            self.look_back(session, entry)
        self._frame.columns.show_right()

    def show_last_request(self) -> None:
        """Open the panel and show the last request that was sent."""
        self.show("last")
        self._frame.columns.show_right()

    def look_back(self, session: str, entry: str | None = None) -> None:
        """Load the last request of a chat, or, given an entry, load and show its turn's request."""
        self._entry = entry
        self._lasts.ask(partial(self._look_up, session, entry), now=True)

    def show(self, which: str) -> None:
        """Switch the panel to the `next`, `last` or `chosen` request."""
        if which == "next" or which in self._shown or which == "last":
            self._panel.show_which(which)
        self.redraw()

    def redraw(self) -> None:
        """Show the currently selected request in the panel."""
        which = self._panel.which
        shown = self._shown.get(which) or self._shown.get("last") or self._shown.get("next")
        if shown is None:
            return
        beside = PanelState(
            self._session.user_messages,
            _read_counted(shown.context),
            shown.prices,
            shown.is_estimate,
            tuple(self._actions),
            self._find_memory(),
        )
        self._panel.show_context(shown.context, beside)

    def pin(self, target: str, is_on: bool) -> None:
        """Pin or unpin a message or segment of the open chat; pinned text is always sent whole."""
        session = self._session.session
        if session is None:
            return
        task = self._runner.call(lambda: self._assistant.branches.pin(session, target, is_on))
        task.yielded.connect(self._on_pinned)
        task.failed.connect(self._on_failed)
        task.start()

    def _find_memory(self) -> Context | None:
        """Return the current memory of the open chat, to be edited; None without a chat.

        Where an agent has noted nothing, there is something to edit in agent mode only.
        """
        following = self._shown.get("next")
        session = self._session.session
        if following is None or session is None or following.context["session"] != session:
            return None
        memory: Context | None = following.context.get("memory")
        is_used = self._session.mode_in_force == "agent" or memory != Memory().to_dict()
        return memory if is_used else None

    def _on_memory_saved(self, memory: Context) -> None:
        session = self._session.session
        if session is None:
            return
        progress, facts = Progress.read(memory["progress"]), tuple(memory["facts"])
        changed = Memory(memory["scratchpad"], progress, facts)
        task = self._runner.call(lambda: self._assistant.branches.set_memory(session, changed))
        task.yielded.connect(self._on_memory_stored)
        task.failed.connect(self._on_failed)
        task.start()

    def _on_memory_stored(self) -> None:
        self._panel.memory.close_fields()
        self.show("next")
        self.refresh()

    def _connect(self) -> None:
        self._previews.answered.connect(self._on_preview)
        self._previews.failed.connect(self._on_preview_failed)
        self._lasts.answered.connect(self._on_last)
        self._requests.answered.connect(self.request_view.show_request)
        for asker in (self._lasts, self._requests):
            asker.failed.connect(self._on_failed)
        self._panel.which_chosen.connect(self.show)
        self._panel.request_requested.connect(self._on_request)
        self._panel.action_chosen.connect(self._on_action)
        self._panel.pin_chosen.connect(self.pin)
        self._panel.memory.saved.connect(self._on_memory_saved)
        self._composer.changed.connect(self._on_message_changed)
        self._session.event_arrived.connect(self._on_event)
        self._session.turn_ended.connect(self._on_turn_ended)
        self._session.session_changed.connect(self._on_session_changed)
        self._session.loaded.connect(self._on_loaded)

    def _preview(
        self, message: NextMessage, changes: Mapping[str, object] | None = None, full: bool = False
    ) -> Context:
        return self._assistant.preview(
            message.session,
            message.text,
            message.mode,
            message.model,
            changes,
            full,
            attach=list_paths(message.attached),
            selections=list_selections(message.attached),
        )

    def _look_ahead(self, message: NextMessage) -> _Shown:
        context = self._preview(message)
        return _Shown(context, self._prices(context["model"]), message.mode == "vault")

    def _look_up(self, session: str, entry: str | None) -> tuple[str, str | None, _Shown | None]:
        context = self._assistant.history.last_context(session, entry=entry)
        if context is None:
            return session, entry, None
        return session, entry, _Shown(context, self._prices(context["model"]))

    def _prices(self, model: str) -> Prices:
        known = describe_model(model, self._assistant.settings.values.chat_api_base)
        return Prices(known.input_price, known.cached_price)

    def _on_message_changed(self, is_now: bool) -> None:
        if self._frame.composer.text().strip() and self._panel.which != "next":
            self.show("next")
        self.refresh(now=is_now)

    def _on_event(self, turn: ChatTurn, event: object) -> None:
        if isinstance(event, ContextPrepared) and self._session.is_open(turn):
            self.show_sent(event.report.to_dict())

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        if self._session.is_open(turn):
            if turn.result is not None:
                self.show_sent(turn.result.context)
            self.refresh()

    def _on_session_changed(self, _session: str | None) -> None:
        """Reset the panel and preview the next request of a newly opened chat."""
        if self._session.is_followed:
            return
        self._shown = {key: value for key, value in self._shown.items() if key == "next"}
        self._entry, self._passed = None, 1.0
        self._panel.memory.close_fields()
        self.show("next")
        self.refresh()

    def _on_loaded(self, _transcript: object, is_new: bool) -> None:
        if is_new or not self._session.is_running:
            if self._session.session is not None:
                self.look_back(self._session.session)
            self.refresh()

    def _on_preview(self, shown: _Shown) -> None:
        memory = self._find_memory()
        self._shown["next"] = shown
        self._announce(shown.context)
        self._composer.show_budget(shown.context)
        if self._panel.which == "next" or self._find_memory() != memory:
            self.redraw()

    def _on_preview_failed(self, error: Exception) -> None:
        info = describe(error)
        if info.code != "context_overflow" or info.context is None:
            self._composer.show_budget(None)
            return
        self._shown["next"] = _Shown(info.context)
        self._announce(info.context)
        self._composer.show_budget(info.context)
        self.show("next")

    def _announce(self, context: Context) -> None:
        """Announce a newly passed mark of the budget, but not when a chat is just being opened."""
        passed = find_passed_share(context)
        if passed > self._passed:
            announce(self._panel, f"The context is past {percent(passed)}")
        self._passed = passed

    def _on_last(self, answer: tuple[str, str | None, _Shown | None]) -> None:
        session, entry, shown = answer
        if session != self._session.session or entry != self._entry or shown is None:
            return
        if entry is None:
            self._shown["last"] = shown
            self.redraw()
        else:
            self._shown["chosen"] = shown
            self.show("chosen")

    def _on_request(self) -> None:
        """Load the panel's request with its full body and show it in the request view."""
        message, which, entry = self._composer.next_message(), self._panel.which, self._entry
        session = message.session
        if which == "next" or session is None:
            self._requests.ask(lambda: self._preview(message, full=True), now=True)
        else:
            of = entry if which == "chosen" else None
            self._requests.ask(
                lambda: self._assistant.history.last_context(session, True, of), now=True
            )

    def _on_action(self, act: Act, entry: str) -> None:
        if act in self._actions:
            self._actions[act](entry)

    def _on_pinned(self) -> None:
        self._session.load()

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)


def _read_counted(context: Context) -> Counted | None:
    counted = context.get("counted")
    return None if not counted else Counted(counted["prompt_tokens"], counted["cached_tokens"])
