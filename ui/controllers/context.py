"""The context panel: shows the next request, the last one, or that of an older turn.

The requests come from the assistant as *Context* reports; this module adds the prices of the model
and the tokens that the service counted.
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
from ui.controllers.composer import ComposerController
from ui.controllers.drafts import NextMessage
from ui.controllers.session import SessionController
from ui.controllers.turns import ChatTurn, list_paths, list_selections
from ui.frame import WindowFrame
from ui.notify import announce
from ui.panels.context.notice import Act, find_passed_share
from ui.panels.context.panel import Beside
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
    """A request that the panel can show.

    Attributes:
        is_estimate: whether passages will be looked up for it.
    """

    context: Context
    prices: Prices | None = None
    is_estimate: bool = False


class ContextController(QObject):
    """Keeps the context panel in step with the composer and with the running turn."""

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
        """Offer an action in the panel; it is called with the entry of the compaction it is for."""
        self._actions[act] = perform

    def refresh(self, *, now: bool = True) -> None:
        """Preview the next request; without `now`, after a pause in typing."""
        self._previews.ask(partial(self._look_ahead, self._composer.next_message()), now=now)

    def preview_call(self) -> Callable[[Mapping[str, object]], Context]:
        """Return a function that previews the next request with other settings, in any thread."""
        message = self._composer.next_message()
        return lambda changes: self._preview(message, changes)

    def show_sent(self, context: Context) -> None:
        """Show the request that was just sent."""
        before = self._shown.get("last") or self._shown.get("next")
        self._shown["last"] = _Shown(context, before.prices if before else None)
        self.show("last")

    def show_request_of(self, entry: str) -> None:
        """Show the request of the turn of an entry, in the open column."""
        session = self._session.session
        if session is None:
            return
        if self._frame.transcript.is_last_answer(entry):
            self.show("last")
        else:
            self.look_back(session, entry)
        self._frame.columns.show_right()

    def show_last_request(self) -> None:
        """Show the request that was sent last, in the open column."""
        self.show("last")
        self._frame.columns.show_right()

    def look_back(self, session: str, entry: str | None = None) -> None:
        """Read the last request of a chat, or show that of the turn of an entry."""
        self._entry = entry
        self._lasts.ask(partial(self._look_up, session, entry), now=True)

    def show(self, which: str) -> None:
        """Switch to the `next`, `last` or `chosen` request."""
        if which == "next" or which in self._shown or which == "last":
            self._panel.show_which(which)
        self.redraw()

    def redraw(self) -> None:
        """Show the request that the panel is switched to."""
        which = self._panel.which
        shown = self._shown.get(which) or self._shown.get("last") or self._shown.get("next")
        if shown is None:
            return
        beside = Beside(
            self._session.user_messages,
            _read_counted(shown.context),
            shown.prices,
            shown.is_estimate,
            tuple(self._actions),
        )
        self._panel.show_context(shown.context, beside)

    def pin(self, target: str, is_on: bool) -> None:
        """Pin a part of the open chat, which then is sent word for word, or unpin it."""
        session = self._session.session
        if session is None:
            return
        task = self._runner.call(lambda: self._assistant.pin(session, target, is_on))
        task.yielded.connect(self._on_pinned)
        task.failed.connect(self._on_failed)
        task.start()

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
        context = self._assistant.last_context(session, entry=entry)
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
        """Show the next request of a chat that was just opened."""
        if self._session.is_followed:
            return
        self._shown = {key: value for key, value in self._shown.items() if key == "next"}
        self._entry, self._passed = None, 1.0
        self.show("next")
        self.refresh()

    def _on_loaded(self, _transcript: object, is_new: bool) -> None:
        if is_new or not self._session.is_running:
            if self._session.session is not None:
                self.look_back(self._session.session)
            self.refresh()

    def _on_preview(self, shown: _Shown) -> None:
        self._shown["next"] = shown
        self._announce(shown.context)
        self._composer.show_budget(shown.context)
        if self._panel.which == "next":
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
        """Announce that the next request passed a mark, unless its chat was opened past it."""
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
        """Show the request of the panel in full."""
        message, which, entry = self._composer.next_message(), self._panel.which, self._entry
        session = message.session
        if which == "next" or session is None:
            self._requests.ask(lambda: self._preview(message, full=True), now=True)
        else:
            of = entry if which == "chosen" else None
            self._requests.ask(lambda: self._assistant.last_context(session, True, of), now=True)

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
