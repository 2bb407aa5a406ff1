"""Quick ask: a small window for a question, opened from the tray or by a command."""

from collections.abc import Callable
from functools import cached_property, partial

from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from chains.citations.answer_sources import list_sources
from chains.events import Mode
from chains.request.ask import Ask
from ui.chat.quick_ask import QuickAskWindow
from ui.chat.transcript.widgets import MessageMaker
from ui.controllers.navigation import SessionListController
from ui.controllers.session import ChatController, Collaborators, SessionController
from ui.controllers.turns import ChatTurn, show_event
from ui.icons import load_app_icon

__all__ = ["QuickAskController"]

_NO_TRAY = "This desktop has no tray. Quick ask can be opened from the list of commands."
_SEARCHING, _WAITING = "Searching…", "Waiting…"


class QuickAskController(ChatController):
    """Answers questions in a small window, which uses a new chat each time it is opened.

    If the setting `ui.quickAsk` is on and the desktop has a system tray, an icon in the tray opens
    the window. Questions are answered from the open vault. No agent is used, and no note is
    changed.

    Attributes:
        tray: the icon in the system tray, or None while no icon is shown.
    """

    def __init__(
        self, shared: Collaborators, session: SessionController, sessions: SessionListController
    ) -> None:
        super().__init__(shared, session)
        self._sessions = sessions
        self._chat: str | None = None
        self._turn: ChatTurn | None = None
        self.tray: QSystemTrayIcon | None = None
        self._maker = MessageMaker(self)
        self._maker.citation_activated.connect(self._on_citation)
        self._maker.link_activated.connect(self._frame.transcript.maker.link_activated)
        self._maker.embed_wanted.connect(self._frame.transcript.maker.embed_wanted)
        self._maker.task_pressed.connect(self._frame.transcript.maker.task_pressed)
        self._maker.claims_wanted.connect(self._frame.transcript.maker.claims_wanted)
        self.apply_setting()

    @cached_property
    def window(self) -> QuickAskWindow:
        """The window for a quick question, created when it is first needed."""
        made = QuickAskWindow()
        made.asked.connect(self._ask)
        made.stop_requested.connect(self._stop)
        made.open_requested.connect(self._open_chat)
        return made

    def open(self) -> None:
        """Open the window for a quick question. The first question in it starts a new chat."""
        if self._turn is None:
            self._chat = None
        self._assistant.prepare_search(Ask("", self._mode))
        self.window.begin("Ask the model" if self._mode == "chat" else "Ask about your notes")

    def apply_setting(self) -> None:
        """Show or hide the tray icon, depending on the setting `ui.quickAsk`."""
        wants_tray = self._assistant.settings.values.ui_quick_ask
        has_tray = QSystemTrayIcon.isSystemTrayAvailable()
        if wants_tray and not has_tray and self._frame.window.isVisible():
            self._frame.notifier.toast(_NO_TRAY)
        elif wants_tray and self.tray is None and has_tray:
            self.tray = self._make_tray()
            self.tray.show()
        elif not wants_tray and self.tray is not None:
            self.tray.hide()
            self.tray.deleteLater()
            self.tray = None

    def close(self) -> None:
        """Close the small window and remove the icon from the system tray."""
        if "window" in self.__dict__:
            self.window.close()
            self.window.deleteLater()
        if self.tray is not None:
            self.tray.hide()

    @property
    def _mode(self) -> Mode:
        return "chat" if self._assistant.vault is None else "vault"

    def _make_tray(self) -> QSystemTrayIcon:
        tray = QSystemTrayIcon(load_app_icon(), self)
        tray.setToolTip("Strata: quick ask")
        menu = QMenu(self._frame.window)
        choices: tuple[tuple[str, Callable[[], object]], ...] = (
            ("Quick ask", self.open),
            ("Show Strata", self._frame.navigation.come_to_front),
            ("Quit", partial(self._frame.navigation.run_command, "quit")),
        )
        for word, act in choices:
            menu.addAction(word, act)
        tray.setContextMenu(menu)
        tray.activated.connect(self._on_activated)
        return tray

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.open()

    def _ask(self, text: str) -> None:
        ask = Ask(text, self._mode, None, self._chat)
        task = self._runner.stream(partial(self._assistant.ask, ask))
        turn = ChatTurn(ask, 0, task, self)
        self._turn = turn
        task.yielded.connect(self._on_event)
        task.failed.connect(turn.record_failure)
        task.finished.connect(self._on_finished)
        self.window.tell("")
        self.window.show_answer(self._maker.build_answer(), text)
        self.window.set_running(True)
        self._show_step(_WAITING if self._mode == "chat" else _SEARCHING)
        task.start()

    def _on_event(self, event: object) -> None:
        turn, answer = self._turn, self.window.answer
        if turn is None or answer is None:
            return
        turn.record(event)
        show_event(event, turn, answer)

    def _show_step(self, text: str) -> None:
        if self._turn is not None and self.window.answer is not None:
            self.window.answer.show_step(text, self._turn.elapsed_s)

    def _on_finished(self) -> None:
        turn, self._turn = self._turn, None
        answer = self.window.answer
        if turn is None or answer is None:
            return
        self._chat = turn.session or self._chat
        if turn.result is not None:
            answer.finish(turn.result.entry, text=turn.result.answer.text)
            checked = turn.result.answer.checked
            sources = list_sources(turn.sources, checked.citations, checked.unverified)
            answer.set_sources(sources)
            self.window.field.set_text("")
        else:
            self._show_failure(turn)
        answer.tools.hide()
        self.window.set_running(False)
        self._sessions.refresh()
        turn.deleteLater()

    def _show_failure(self, turn: ChatTurn) -> None:
        """Show why there is no answer. The question stays in the window's field."""
        is_stopped = turn.error is None or turn.error.code == "cancelled"
        self.window.tell("Stopped." if is_stopped or turn.error is None else turn.error.message)
        if self.window.answer is not None:
            self.window.answer.finish(None)

    def _stop(self) -> None:
        if self._turn is not None:
            self._turn.task.cancel()

    def _open_chat(self) -> None:
        if self._chat is not None:
            self.window.hide()
            self._frame.navigation.come_to_front()
            self._frame.navigation.open_session(self._chat)

    def _on_citation(self, path: str, first: int, last: int) -> None:
        self._open_chat()
        self._frame.navigation.show_note(path, first, last)
