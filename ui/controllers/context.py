"""Which request the context panel shows: the next one as it is written, the last, or an older one.

Nothing here decides what a request holds; it shows what the assistant reports, with what is known
beside it: what the service counted, what its model costs, what can be done about it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import ErrorInfo, describe
from chains.events import Mode
from chains.models import describe as describe_model
from ui.chat.composer.attachment import Attachment
from ui.controllers.turns import paths_of, selections_of
from ui.notify import announce
from ui.panels.context.notice import Act, passed_share
from ui.panels.context.panel import Beside, ContextPanel
from ui.panels.context.reuse import Counted, Prices
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme
from ui.widgets.figures import count, percent

__all__ = ["Contexts", "Draft", "over_sentence", "too_long"]

Context = Mapping[str, Any]
Grant = Callable[[str], object]


@dataclass(frozen=True)
class Draft:
    """What would be sent if it were sent now."""

    session: str | None
    text: str
    mode: Mode
    model: str | None
    attached: tuple[Attachment, ...] = ()


@dataclass(frozen=True)
class _Shown:
    """A request that the panel can show.

    Attributes:
        is_estimate: whether passages will be looked up for it.
    """

    context: Context
    prices: Prices | None = None
    is_estimate: bool = False


class Contexts(QObject):
    """Keeps the panel in step with what is written and with what was sent.

    `prepared` carries the *Context* of the next request, also of one that does not fit;
    `unknown` says that it could not be made; `request_shown` carries a *Context* with the request
    itself; `pins_changed` says that other things are pinned now; `failed` what went wrong in words.
    """

    prepared = Signal(object)
    unknown = Signal()
    request_shown = Signal(object)
    pins_changed = Signal()
    failed = Signal(str)

    def __init__(
        self,
        assistant: Assistant,
        runner: TaskRunner,
        panel: ContextPanel,
        draft: Callable[[], Draft],
        questions: Callable[[], Mapping[str, str]],
    ) -> None:
        super().__init__(panel)
        self._assistant, self._runner = assistant, runner
        self._panel = panel
        self._draft, self._questions = draft, questions
        self._shown: dict[str, _Shown] = {}
        self._entry: str | None = None
        self._grants: dict[Act, Grant] = {}
        self._passed = 0.0
        pause = Theme.current().duration("preview_debounce")
        self._previews = LatestOnly(runner, pause, self)
        self._lasts = LatestOnly(runner, 0, self)
        self._requests = LatestOnly(runner, 0, self)
        self._previews.answered.connect(self._on_preview)
        self._previews.failed.connect(self._on_preview_failed)
        self._lasts.answered.connect(self._on_last)
        self._requests.answered.connect(self.request_shown)
        for asker in (self._lasts, self._requests):
            asker.failed.connect(self._on_failed)
        panel.which_chosen.connect(self.show)
        panel.request_requested.connect(self._on_request)
        panel.action_chosen.connect(self._on_action)
        panel.pin_chosen.connect(self.pin)

    def grant(self, act: Act, do: Grant) -> None:
        """Offer something that can be done; it is told which compaction is meant."""
        self._grants[act] = do

    def refresh(self, *, now: bool = True) -> None:
        """Ask anew what the next request would hold."""
        self._previews.ask(partial(self._look_ahead, self._draft()), now=now)

    def preview_call(self) -> Callable[[Mapping[str, object]], Context]:
        """Return what answers "and with these settings?" for the open chat, in any thread."""
        draft = self._draft()
        return lambda changes: self._preview(draft, changes)

    def forget(self) -> None:
        """Show the next request: another chat is open."""
        self._shown = {key: value for key, value in self._shown.items() if key == "next"}
        self._entry, self._passed = None, 1.0
        self.show("next")

    def show_sent(self, context: Context) -> None:
        """Show the request that was just sent."""
        before = self._shown.get("last") or self._shown.get("next")
        self._shown["last"] = _Shown(context, before.prices if before else None)
        self.show("last")

    def look_back(self, session: str, entry: str | None = None) -> None:
        """Look up the last request, or that of the turn of an entry, and show that one."""
        self._entry = entry
        self._lasts.ask(partial(self._look_up, session, entry), now=True)

    def show(self, which: str) -> None:
        """Switch to the next, the last or the chosen request."""
        if which == "next" or which in self._shown or which == "last":
            self._panel.show_which(which)
        self.redraw()

    def redraw(self) -> None:
        """Show what is known of the request that is switched to."""
        which = self._panel.which
        shown = self._shown.get(which) or self._shown.get("last") or self._shown.get("next")
        if shown is None:
            return
        beside = Beside(
            self._questions(),
            _counted(shown.context),
            shown.prices,
            shown.is_estimate,
            tuple(self._grants),
        )
        self._panel.show_context(shown.context, beside)

    def pin(self, target: str, is_on: bool) -> None:
        """Send something of the open chat word for word from now on, or as anything else again."""
        session = self._draft().session
        if session is None:
            return
        task = self._runner.call(lambda: self._assistant.pin(session, target, is_on))
        task.yielded.connect(self._on_pinned)
        task.failed.connect(self._on_failed)
        task.start()

    def _preview(
        self, draft: Draft, changes: Mapping[str, object] | None = None, full: bool = False
    ) -> Context:
        return self._assistant.preview(
            draft.session,
            draft.text,
            draft.mode,
            draft.model,
            changes,
            full,
            attach=paths_of(draft.attached),
            selections=selections_of(draft.attached),
        )

    def _look_ahead(self, draft: Draft) -> _Shown:
        context = self._preview(draft)
        return _Shown(context, self._prices(context["model"]), draft.mode == "vault")

    def _look_up(self, session: str, entry: str | None) -> tuple[str, str | None, _Shown | None]:
        context = self._assistant.last_context(session, entry=entry)
        if context is None:
            return session, entry, None
        return session, entry, _Shown(context, self._prices(context["model"]))

    def _prices(self, model: str) -> Prices:
        known = describe_model(model, self._assistant.settings.values.chat_api_base)
        return Prices(known.input_price, known.cached_price)

    def _on_preview(self, shown: _Shown) -> None:
        self._shown["next"] = shown
        self._announce(shown.context)
        self.prepared.emit(shown.context)
        if self._panel.which == "next":
            self.redraw()

    def _on_preview_failed(self, error: Exception) -> None:
        info = describe(error)
        if info.code != "context_overflow" or info.context is None:
            self.unknown.emit()
            return
        self._shown["next"] = _Shown(info.context)
        self._announce(info.context)
        self.prepared.emit(info.context)
        self.show("next")

    def _announce(self, context: Context) -> None:
        """Say when the next request has passed a mark; nothing where a chat is opened past it."""
        passed = passed_share(context)
        if passed > self._passed:
            announce(self._panel, f"The context is past {percent(passed)}")
        self._passed = passed

    def _on_last(self, answer: tuple[str, str | None, _Shown | None]) -> None:
        session, entry, shown = answer
        if session != self._draft().session or entry != self._entry or shown is None:
            return
        if entry is None:
            self._shown["last"] = shown
            self.redraw()
        else:
            self._shown["chosen"] = shown
            self.show("chosen")

    def _on_request(self) -> None:
        """Look up the request that is shown, in full."""
        draft, which, entry = self._draft(), self._panel.which, self._entry
        session = draft.session
        if which == "next" or session is None:
            self._requests.ask(lambda: self._preview(draft, full=True), now=True)
        else:
            of = entry if which == "chosen" else None
            self._requests.ask(lambda: self._assistant.last_context(session, True, of), now=True)

    def _on_action(self, act: Act, entry: str) -> None:
        if act in self._grants:
            self._grants[act](entry)

    def _on_pinned(self) -> None:
        self.pins_changed.emit()

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(describe(error).message)


def too_long(info: ErrorInfo) -> str:
    """Return in words that a message is too long."""
    if info.context is None:
        return info.message
    return over_sentence(info.context)


def over_sentence(context: Context) -> str:
    """Return in words that a message does not fit, with its size and what is free for it."""
    tokens = context["layers"]["L5"]["tokens"]
    room = context["budget"] - context["used"] + tokens
    if room <= 0:
        return "The instructions alone fill the limit, so nothing can be asked. Nothing was sent."
    return (
        f"Your message does not fit. It has {count(tokens)} tokens; {count(room)} are free for "
        "it. Nothing was sent."
    )


def _counted(context: Context) -> Counted | None:
    counted = context.get("counted")
    return None if not counted else Counted(counted["prompt_tokens"], counted["cached_tokens"])
