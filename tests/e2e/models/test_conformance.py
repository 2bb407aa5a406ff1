"""Every row of the table of behaviours, each followed by a question to a strict server."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import TurnFailed, describe
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import AskResult, TextDelta, TextTakenBack, TurnEnded
from chains.request.ask import Ask
from context.log.entries import MessageEntry
from context.messages import ReasoningPart
from tests.support.behaviours import ROWS, Behaviour
from tests.support.behaviours.behaviour import finish, played, text
from tests.support.models.model_server import ModelServer
from tests.support.models.stage import let_pass, show, until_it_waits
from tests.support.models.strict_server import strict
from tests.support.processes.program import Program
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

    def ask(self, question: str, mode: Any = "chat", token: CancelToken | None = None) -> Outcome:
        """Ask a question to its end, whatever comes of it."""
        is_stopped, token = token is not None, token or CancelToken()
        before = len(self.server.bodies)
        guard = threading.Timer(LONGEST_S, token.cancel)
        guard.start()
        found = Outcome()
        request = Ask(question, mode=mode, session=self.session, update_index=False)
        try:
            for event in self.assistant.ask(request, token):
                self._take(event, found)
        except TurnFailed as error:
            told = describe(error)
            found.status, found.says, found.session = told.code, told.message, told.session
        finally:
            guard.cancel()
        assert is_stopped or not token.is_cancelled, f"no end within {LONGEST_S} s"
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
            found.status, found.says = result.answer.end.status, result.answer.end.reason


@pytest.fixture
def chat(
    model_library: None, embedder: Embedder, small_vault: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Chat]:
    monkeypatch.setattr("chains.model.BACK_OFF_S", (0.0, 0.0))
    assistant = build(Paths.find(), embedder=embedder)
    assistant.open_vault(small_vault, remember=False)
    with ModelServer() as server:
        monkeypatch.setattr("chains.model.CLOCK", server.stage.clock)
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "scripted")
        yield Chat(assistant, server)
    assistant.close()


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_the_user_gets_what_the_row_says_and_the_chat_goes_on(chat: Chat, row: Behaviour) -> None:
    chat.server.script(*row.replies)
    clock = chat.server.stage.clock
    began_s = clock.now()
    found = chat.ask("Where is the barrel?", row.mode)
    assert (found.status, found.shown) == (row.status, row.answer), found.says
    assert row.says in found.says
    assert bool(row.says) == bool(found.says)
    assert found.requests == row.requests
    assert clock.now() - began_s == row.limit_s
    if found.result is not None:
        assert found.result.answer.text == row.answer
        assert row.thought in found.thoughts
    chat.server.script(strict())
    second = chat.ask("And now?", row.mode)
    assert (second.status, second.shown) == ("complete", "All is well."), second.says


def test_an_answer_takes_no_longer_than_the_user_wants(chat: Chat) -> None:
    chat.assistant.settings.set("chat.maxSeconds", 30)
    words = [part for word in ("One ", "two ", "three ") for part in (text(word), show(word))]
    chat.server.script(played(*words, let_pass(30), ending="open"))
    found = chat.ask("Count.")
    assert (found.status, found.shown) == ("interrupted", "One two three ")
    assert found.says == "it took longer than 30 s (chat.maxSeconds)"
    chat.server.script(played(until_it_waits(30), let_pass(30), ending="open"))
    found = chat.ask("Count on.")
    assert (found.status, found.requests) == ("model_unavailable", 1)
    assert "chat.maxSeconds" in found.says


def test_a_stop_behind_the_finish_reason_leaves_the_answer_complete(chat: Chat) -> None:
    token = CancelToken()

    def stop(_stage: object) -> None:
        token.cancel()

    chat.server.script(played(text("All."), finish(), until_it_waits(2), stop, ending="open"))
    found = chat.ask("Say it.", token=token)
    assert (found.status, found.shown) == ("complete", "All.")


BY_NAME = {row.name: row for row in ROWS}
PROGRAM_ROWS = (
    "<think> in pieces of 2",
    "a closing mark alone",
    "content as a list of parts",
    "a JSON document in place of a stream",
    "a web page with status 200",
    "a quota that is used up",
    "a name with a channel mark",
)


@pytest.mark.parametrize("name", PROGRAM_ROWS)
def test_the_installed_program_says_the_same(
    with_notes: Program, asking: Callable[[Program], Program], server: ModelServer, name: str
) -> None:
    row, program = BY_NAME[name], asking(with_notes)
    server.script(*row.replies)
    done = program.run("ask", "Where?", "--mode", row.mode, "--no-index", "--json")
    told = done.document.get("error") or done.document
    assert (told.get("code") or told["status"]) == row.status
    assert row.says in told.get("message", "")
    assert done.document.get("answer", "") == row.answer
    server.script(strict())
    session = told["session"]
    second = program.json("ask", "And now?", "--mode", row.mode, "--no-index", "--session", session)
    assert second["answer"] == "All is well."


def test_a_person_reads_what_the_text_above_was(
    program: Program, asking: Callable[[Program], Program], server: ModelServer
) -> None:
    server.script(BY_NAME["a closing mark alone"].replies[0])
    done = asking(program).run("ask", "Where?", "--mode", "chat")
    assert "\n\nBehind the shed.\n" in done.out
    assert "The text above was the model's thinking." in done.err
