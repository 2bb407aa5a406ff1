"""Which request the context panel shows: the next one as it is written, the last, or an older one.

Nothing here decides what a request holds; it shows what the assistant reports.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.assistant import Assistant
from app.errors import ErrorInfo, describe
from chains.events import Mode
from ui.chat.attachment import Attachment
from ui.flow.turns import paths_of, selections_of
from ui.kit.figures import count
from ui.panels.context import ContextPanel
from ui.tasks import LatestOnly, TaskRunner
from ui.theme import Theme

__all__ = ["Contexts", "Draft", "too_long"]

Context = Mapping[str, Any]


@dataclass(frozen=True)
class Draft:
    """What would be sent if it were sent now."""

    session: str | None
    text: str
    mode: Mode
    model: str | None
    attached: tuple[Attachment, ...] = ()


class Contexts(QObject):
    """Keeps the panel in step with what is written and with what was sent.

    `prepared` carries the *Context* of the next request, also of one that does not fit;
    `unknown` says that it could not be made; `limit_requested` asks for the limit's setting,
    `request_shown` carries a *Context* with the request itself; `failed` what went wrong in words.
    """

    prepared = Signal(object)
    unknown = Signal()
    limit_requested = Signal()
    request_shown = Signal(object)
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
        self._assistant = assistant
        self._panel = panel
        self._draft, self._questions = draft, questions
        self._shown: dict[str, Context] = {}
        self._service_count: int | None = None
        self._entry: str | None = None
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

    def refresh(self, *, now: bool = True) -> None:
        """Ask anew what the next request would hold."""
        self._previews.ask(partial(self._preview, self._draft()), now=now)

    def preview_call(self) -> Callable[[int], Context]:
        """Return what answers "and with another limit?" for the open chat, in any thread."""
        draft = self._draft()
        return lambda limit: self._preview(draft, limit)

    def forget(self) -> None:
        """Show the next request: another chat is open."""
        self._shown = {key: value for key, value in self._shown.items() if key == "next"}
        self._service_count, self._entry = None, None
        self.show("next")

    def show_sent(self, context: Context, service_count: int | None = None) -> None:
        """Show the request that was just sent, and what the service counted, where it did."""
        self._shown["last"] = context
        self._service_count = service_count
        self.show("last")

    def look_back(self, session: str, entry: str | None = None) -> None:
        """Look up the last request, or that of the turn of an entry, and show that one."""
        self._entry = entry
        self._lasts.ask(
            lambda: (session, entry, self._assistant.last_context(session, entry=entry)), now=True
        )

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
        counted = self._service_count if which == "last" else None
        self._panel.show_context(shown, self._questions(), counted)
        if shown["used"] > shown["budget"]:
            title, text = "Your message does not fit", _room_sentence(shown)
            self._panel.show_notice("danger", title, text, self._limit_actions())
        else:
            self._panel.clear_notice()

    def _preview(self, draft: Draft, threshold: int | None = None, full: bool = False) -> Context:
        return self._assistant.preview(
            draft.session,
            draft.text,
            draft.mode,
            draft.model,
            threshold,
            full,
            attach=paths_of(draft.attached),
            selections=selections_of(draft.attached),
        )

    def _on_preview(self, context: Context) -> None:
        self._shown["next"] = context
        self.prepared.emit(context)
        if self._panel.which == "next":
            self.redraw()

    def _on_preview_failed(self, error: Exception) -> None:
        info = describe(error)
        if info.code != "context_overflow" or info.context is None:
            self.unknown.emit()
            return
        self._shown["next"] = info.context
        self.prepared.emit(info.context)
        self.show("next")

    def _on_last(self, answer: tuple[str, str | None, Context | None]) -> None:
        session, entry, context = answer
        if session != self._draft().session or entry != self._entry or context is None:
            return
        if entry is None:
            self._shown["last"] = context
            self.redraw()
        else:
            self._shown["chosen"] = context
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

    def _on_failed(self, error: Exception) -> None:
        self.failed.emit(describe(error).message)

    def _limit_actions(self) -> Sequence[tuple[str, Callable[[], object]]]:
        return (("Raise the limit", self.limit_requested.emit),)


def too_long(info: ErrorInfo) -> str:
    """Return in one sentence by how much a message is too long."""
    if info.context is None:
        return info.message
    return over_sentence(info.context)


def over_sentence(context: Context) -> str:
    """Return in one sentence by how much a request is over its budget."""
    over = context["used"] - context["budget"]
    return f"{count(max(1, over))} tokens too many. Nothing was sent."


def _room_sentence(context: Context) -> str:
    message = context["layers"]["L5"]["tokens"]
    room = max(0, context["budget"] - (context["used"] - message))
    return f"It has {count(message)} tokens; {count(room)} are free for it. Nothing was sent."
