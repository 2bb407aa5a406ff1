"""Every row of the table of behaviours, each followed by a question to a strict server."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import TurnFailed, describe
from app.paths import Paths
from app.sessions.ask import AskRequest
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import AskResult, TextDelta, TextTakenBack, TurnEnded
from context.log.entries import MessageEntry
from context.messages import ReasoningPart
from tests.support.behaviours import ROWS, Behaviour
from tests.support.models.model_server import ModelServer
from tests.support.models.strict_server import strict
from vault.embedder import Embedder

LONGEST_S = 60.0


@dataclass
class Outcome:
    """What a user gets for a question."""

    shown: str = ""
    status: str = ""
    says: str = ""
    session: str | None = None
    result: AskResult | None = None
    requests: int = 0
    entries: list[MessageEntry] = field(default_factory=list)

    @property
    def thoughts(self) -> str:
        """The reasoning in the stored answers."""
        parts = (part for entry in self.entries for part in entry.message.content)
        return "".join(part.text for part in parts if isinstance(part, ReasoningPart))


class Chat:
    """A chat with one server, in this process, with the notes of the garden."""

    def __init__(self, assistant: Assistant, server: ModelServer) -> None:
        self.assistant, self.server = assistant, server
        self.session: str | None = None

    def ask(self, question: str, mode: Any = "chat") -> Outcome:
        """Ask a question to its end, whatever comes of it."""
        token, before = CancelToken(), len(self.server.bodies)
        guard = threading.Timer(LONGEST_S, token.cancel)
        guard.start()
        found = Outcome()
        request = AskRequest(question, mode=mode, session=self.session, update_index=False)
        try:
            for event in self.assistant.ask(request, token):
                self._take(event, found)
        except TurnFailed as error:
            told = describe(error)
            found.status, found.says, found.session = told.code, told.message, told.session
        finally:
            guard.cancel()
        assert not token.is_cancelled, f"no end within {LONGEST_S} s"
        self.session = found.session
        found.requests = len(self.server.bodies) - before
        entries = self.assistant.sessions.read(self.session).path() if self.session else ()
        found.entries = [entry for entry in entries if isinstance(entry, MessageEntry)]
        return found

    def _take(self, event: object, found: Outcome) -> None:
        if isinstance(event, TextDelta):
            found.shown += event.text
            self.server.stage.note(event.text)
        elif isinstance(event, TextTakenBack):
            found.shown = ""
        elif isinstance(event, TurnEnded):
            result = event.result
            found.result, found.session = result, result.session
            found.status, found.says = result.status, result.reason


@pytest.fixture
def chat(embedder: Embedder, small_vault: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    monkeypatch.setattr("chains.model.BACK_OFF_S", (0.0, 0.0))
    assistant = build(Paths.find(), embedder=embedder)
    assistant.open_vault(small_vault, remember=False)
    with ModelServer() as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        yield Chat(assistant, server)
    assistant.close()


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_the_user_gets_what_the_row_says_and_the_chat_goes_on(chat: Chat, row: Behaviour) -> None:
    chat.server.script(*row.replies)
    found = chat.ask("Where is the barrel?", row.mode)
    assert (found.status, found.shown) == (row.status, row.answer), found.says
    assert row.says in found.says
    assert found.requests == row.requests
    if found.result is not None:
        assert found.result.answer == row.answer
        assert row.thought in found.thoughts
    chat.server.script(strict())
    second = chat.ask("And now?", row.mode)
    assert (second.status, second.shown) == ("complete", "All is well."), second.says
