"""The controller of the context panel, which shows the next, the latest or an older request.

The assistant returns a report about each request. This module adds the model's prices and the
tokens counted by the provider.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from app.errors import describe
from app.sessions.request_history import ShownRequest
from app.sessions.transcript import ChatTranscript
from chains.cancel import CancelToken
from chains.events import ContextPrepared
from chains.models import EXTRACTIVE, look_up_model
from chains.request.ask import Ask
from context.history.memory import Memory
from context.layers import Layer
from context.report.reader import read_report
from context.report.report import ContextReport
from ui.controllers.composer import ComposerController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn, attach_to
from ui.notify import announce
from ui.panels.context.notice import Act, find_passed_share
from ui.panels.context.panel import PanelState
from ui.panels.context.words import Counted, Prices, describe_spending
from ui.panels.past_view import PastView
from ui.panels.request_view import RequestView
from ui.tasks import LatestOnly
from ui.theme import Theme
from ui.widgets.formatting import percent

__all__ = ["ContextController"]

_NOTHING_ASKED: Final = "Nothing has been asked in this chat yet."
Perform = Callable[[str], object]


@dataclass(frozen=True)
class _Shown:
    """A request report that the context panel can show.

    Attributes:
        context: the report.
        prices: the prices of the request's model, or None if they are unknown.
        is_estimate: whether the report counts passages that are looked up in the notes only when
            the request is sent.
        expected: the number and the token count of the passages that an estimate counts, or None.
        counted: the token counts that the provider reported, or None.
    """

    context: ContextReport
    prices: Prices | None = None
    is_estimate: bool = False
    expected: tuple[int, int] | None = None
    counted: Counted | None = None


class ContextController(ChatController):
    """Updates the context panel when the composer, the running turn or the open chat changes."""

    def __init__(
        self, shared: Collaborators, session: SessionController, composer: ComposerController
    ) -> None:
        super().__init__(shared, session)
        self._panel = self._frame.column.context
        self._composer = composer
        self._shown: dict[str, _Shown] = {}
        self._entry: str | None = None
        self._actions: dict[Act, Perform] = {}
        self._passed = 0.0
        self._spent = ""
        self._previews = LatestOnly(
            self._runner, Theme.current().duration("preview_debounce"), self
        )
        self._lasts = LatestOnly(self._runner, 0, self)
        self._requests = LatestOnly(self._runner, 0, self)
        self.request_view = RequestView(self._frame.window)
        self.past_view = PastView(self._frame.window)
        self._pasts = LatestOnly(self._runner, 0, self)
        self._comparing = CancelToken()
        self.add_action("raise", lambda _entry: self._frame.navigation.open_settings("Context"))
        self._panel.place_chosen.connect(self._frame.navigation.show_note)
        self._panel.model_wanted.connect(self._frame.navigation.set_model)
        self._connect()

    def add_action(self, act: Act, perform: Perform) -> None:
        """Add an action to the context panel.

        Args:
            act: the name of the action.
            perform: the function to call. Its argument is the entry ID of the compaction that the
                action applies to, or an empty string if it applies to no compaction.
        """
        self._actions[act] = perform

    def refresh(self, *, now: bool = True) -> None:
        """Preview the next request.

        Args:
            now: True to start at once, or False to wait until there are no more changes for a
                moment.
        """
        self._previews.ask(partial(self._look_ahead, self._composer.next_ask()), now=now)

    def hold_previews(self) -> AbstractContextManager[None]:
        """Return a block whose changes are previewed once, at its end."""
        return self._previews.hold()

    def preview_call(self) -> Callable[[Mapping[str, object]], ContextReport]:
        """Return a function that previews the next request as if some settings were changed.

        The function takes the changed settings by name and returns the report. It can be called in
        any thread. Attachments that are still being read are left out, so that it does not wait for
        a slow web page.
        """
        ask = attach_to(self._composer.next_ask(), self._composer.attachments.loaded)
        return lambda changes: self._preview(ask, changes).report

    def show_sent(self, context: ContextReport, counted: Counted | None = None) -> None:
        """Show the report of the request that has just been sent.

        Args:
            context: the report.
            counted: the token counts that the provider reported, or None.
        """
        before = self._shown.get("last") or self._shown.get("next")
        prices = before.prices if before else None
        self._shown["last"] = _Shown(context, prices, counted=counted)
        self.show("last")

    def show_request_for(self, entry: str) -> None:
        """Open the context panel and show the request of the turn that an entry belongs to."""
        session = self._session.session
        if session is None:
            return
        if self._frame.transcript.is_last_answer(entry):
            self.show("last")
        else:
            self.look_back(session, entry)
        self._frame.columns.show_right()

    def show_last_request(self) -> None:
        """Open the context panel and show the request that was sent last."""
        self.show("last")
        self._frame.columns.show_right()

    def look_back(self, session: str, entry: str | None = None) -> None:
        """Load the last request of a chat from its log.

        Args:
            session: the session ID of the chat.
            entry: the ID of a log entry, to load and show the request of its turn. If this is None,
                the chat's last request is loaded, but not shown.
        """
        self._entry = entry
        self._lasts.ask(partial(self._look_up, session, entry), now=True)

    def show(self, which: str) -> None:
        """Show a request: `next`, `last` for the one sent last, or `chosen` for an older one."""
        if which == "next" or which in self._shown or which == "last":
            self._panel.show_which(which)
        self.redraw()

    def redraw(self) -> None:
        """Show the currently selected request in the context panel."""
        which = self._panel.which
        shown = self._shown.get(which) or self._shown.get("last") or self._shown.get("next")
        if shown is None:
            return
        beside = PanelState(
            self._session.user_messages,
            shown.counted,
            shown.prices,
            shown.is_estimate,
            tuple(self._actions),
            self._find_memory(),
            shown.context.model != EXTRACTIVE,
            self._spent,
            shown.expected,
        )
        self._panel.show_context(shown.context, beside)

    def pin(self, target: str, is_on: bool) -> None:
        """Pin or unpin a message or segment. Pinned text is always sent in full.

        Args:
            target: the ID of the message or segment.
            is_on: True to pin the target, or False to unpin it.
        """
        session = self._session.session
        if session is None:
            return
        task = self._runner.call(lambda: self._assistant.branches.pin(session, target, is_on))
        task.yielded.connect(self._on_pinned)
        task.failed.connect(self._on_failed)
        task.start()

    def _find_memory(self) -> Memory | None:
        """Return the open chat's memory for editing, or None if it cannot be edited.

        The memory is the list of facts and tasks that the agent keeps for this chat. It can be
        edited only while a chat is open. An empty memory can be edited only in agent mode.
        """
        following = self._shown.get("next")
        session = self._session.session
        if following is None or session is None or following.context.session != session:
            return None
        memory = following.context.memory
        is_used = self._session.mode_in_force == "agent" or memory != Memory()
        return memory if is_used else None

    def _on_memory_saved(self, memory: Memory) -> None:
        session = self._session.session
        if session is None:
            return
        task = self._runner.call(lambda: self._assistant.branches.set_memory(session, memory))
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
        self._requests.answered.connect(self._show_request)
        for asker in (self._lasts, self._requests):
            asker.failed.connect(self._on_failed)
        self._panel.which_chosen.connect(self.show)
        self._panel.request_requested.connect(self._on_request)
        self._panel.past_requested.connect(self._on_past)
        self.past_view.again_requested.connect(self._compare)
        self.past_view.left.connect(self._stop_comparing)
        self._pasts.answered.connect(self.past_view.show_comparison)
        self._pasts.failed.connect(self._on_past_failed)
        self._panel.action_chosen.connect(self._on_action)
        self._panel.pin_chosen.connect(self.pin)
        self._panel.memory.saved.connect(self._on_memory_saved)
        self._composer.changed.connect(self._on_message_changed)
        self._composer.message_taken.connect(self._previews.forget)
        self._session.event_arrived.connect(self._on_event)
        self._session.turn_ended.connect(self._on_turn_ended)
        self._session.session_changed.connect(self._on_session_changed)
        self._session.loaded.connect(self._on_loaded)

    def _preview(
        self, ask: Ask, changes: Mapping[str, object] | None = None, full: bool = False
    ) -> ShownRequest:
        report = self._assistant.preview(
            ask.session,
            ask.question,
            ask.mode,
            ask.model,
            changes,
            full,
            attach=ask.attach,
            selections=ask.selections,
        )
        return ShownRequest.read(report)

    def _look_ahead(self, ask: Ask) -> _Shown:
        context = self._preview(ask).report
        prices = self._prices(context.model)
        if ask.mode != "vault":
            return _Shown(context, prices)
        last = self._shown.get("last")
        usual = None if last is None else _count_passages(last.context)
        usual = usual or self._assistant.runner.estimate_passages(ask, context.budget)
        added = min(usual[1], max(0, context.budget - context.used))
        context = _add_passages(context, added)
        return _Shown(context, prices, is_estimate=True, expected=(usual[0], added))

    def _look_up(self, session: str, entry: str | None) -> tuple[str, str | None, _Shown | None]:
        last = self._assistant.history.read_last_context(session, entry=entry)
        if last is None:
            return session, entry, None
        request = ShownRequest.read(last)
        prices = self._prices(request.report.model)
        return session, entry, _Shown(request.report, prices, counted=_make_counted(request))

    def _prices(self, model: str) -> Prices:
        known = look_up_model(model, self._assistant.settings.values.chat_api_base)
        return Prices(known.input_price, known.cached_price)

    def _on_message_changed(self, is_now: bool) -> None:
        if self._frame.composer.text().strip() and self._panel.which != "next":
            self.show("next")
        self.refresh(now=is_now)

    def _on_event(self, turn: ChatTurn, event: object) -> None:
        if isinstance(event, ContextPrepared) and self._session.is_open(turn):
            self.show_sent(event.report)

    def _on_turn_ended(self, turn: ChatTurn) -> None:
        if not self._session.is_open(turn):
            return
        if turn.result is not None:
            request = ShownRequest.read(turn.result.context)
            self.show_sent(request.report, _make_counted(request))
        if turn.session is None:  # otherwise its chat is loaded next, with the last request
            self.refresh()

    def _on_session_changed(self, session: str | None) -> None:
        """Reset the context panel and preview the next request when another chat is opened."""
        if self._session.is_followed:
            return
        self._shown = {key: value for key, value in self._shown.items() if key == "next"}
        self._entry, self._passed, self._spent = None, 1.0, ""
        self._panel.memory.close_fields()
        self.show("next")
        self.refresh(now=session is None)  # a chat is loaded next, with the mode of its last turn

    def _on_loaded(self, transcript: ChatTranscript, is_new: bool) -> None:
        cost = transcript.cost
        self._spent = "" if cost is None else describe_spending(cost.dollars, cost.is_estimate)
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
            self._panel.end_loading()
            self._composer.show_budget(None)
            return
        context = read_report(info.context)
        self._shown["next"] = _Shown(context)
        self._announce(context)
        self._composer.show_budget(context)
        self.show("next")

    def _announce(self, context: ContextReport) -> None:
        """Tell screen readers if the next request has passed a threshold of the token budget."""
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

    @property
    def shown_entry(self) -> str | None:
        """The entry ID of the older answer that the panel shows, or None for the last answer."""
        return self._entry if self._panel.which == "chosen" else None

    def _on_request(self) -> None:
        ask, which, entry = self._composer.next_ask(), self._panel.which, self._entry
        session = ask.session
        if which == "next" or session is None:
            self._requests.ask(lambda: self._preview(ask, full=True), now=True)
            return
        of = entry if which == "chosen" else None
        self._requests.ask(lambda: self._read_last(session, of), now=True)

    def _on_past(self) -> None:
        """Compare the request that the panel shows, if it was sent, with that of today."""
        if self._session.session is None:
            self._frame.notifier.toast(_NOTHING_ASKED)
            return
        self.past_view.begin()
        self._compare()

    def _compare(self) -> None:
        session, machine = self._session.session, self._assistant.time_machine
        entry = self.shown_entry
        if session is not None:
            self._comparing = cancel = CancelToken()
            self._pasts.ask(lambda: machine.compare(session, entry, cancel), now=True)

    def _stop_comparing(self) -> None:
        self._comparing.cancel()
        self._pasts.forget()

    def _on_past_failed(self, error: Exception) -> None:
        self.past_view.show_failure(describe(error).message)

    def _show_request(self, request: ShownRequest | None) -> None:
        """Show a request. There is none if the chat was emptied or changed while it was read."""
        if request is None:
            self._frame.notifier.toast(_NOTHING_ASKED)
        else:
            self.request_view.show_request(request)

    def _read_last(self, session: str, entry: str | None) -> ShownRequest | None:
        last = self._assistant.history.read_last_context(session, True, entry)
        return None if last is None else ShownRequest.read(last)

    def _on_action(self, act: Act, entry: str) -> None:
        if act in self._actions:
            self._actions[act](entry)

    def _on_pinned(self) -> None:
        self._session.load()

    def _on_failed(self, error: Exception) -> None:
        self._frame.notifier.toast(describe(error).message)


def _count_passages(context: ContextReport) -> tuple[int, int] | None:
    """Return the number and the token count of the passages in a request, or None without any."""
    sent = [use.tokens for use in context.segments if use.segment.kind == "passage"]
    return (len(sent), sum(sent)) if sent else None


def _add_passages(context: ContextReport, tokens: int) -> ContextReport:
    """Return the report of the next request with the passages that it will probably contain.

    Passages are looked up only when the message is sent. Until then, as many are counted as the
    last request had, and as large. If it had none, passages of the usual size are.

    Args:
        context: the report of the next request, without passages.
        tokens: the expected token count of the passages, which fit into the budget.
    """
    use = context.layers[Layer.L3]
    passages = replace(use, tokens=use.tokens + tokens)
    return replace(context, layers={**context.layers, Layer.L3: passages})


def _make_counted(request: ShownRequest) -> Counted | None:
    return None if request.counted is None else Counted(*request.counted)
