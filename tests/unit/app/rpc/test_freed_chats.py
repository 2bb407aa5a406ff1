"""A chat is free again after its turn, whatever raised in the turn, and wherever."""

import json
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from itertools import cycle, islice
from random import Random

import pytest

from app.assistant import Assistant
from app.cli.ask import TurnPrinter
from app.cli.parser import run
from app.errors import SessionBusy
from app.rpc.server import RPC
from app.sessions.agent import AgentBuilder
from chains.cancel import CancelToken
from chains.request.ask import Ask
from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.command_line import no_window
from tests.support.processes.program import wait_until
from tests.support.sessions.asking_tools import Diary
from tests.support.sessions.faults import (
    ERRORS,
    PLACES,
    RPC_PLACES,
    Place,
    count_calls,
    raise_at,
)

CALLS = (
    ("c0", "search_notes", '{"query": "barrel"}'),
    ("c1", "read_note", '{"path": "Watering.md"}'),
    ("c2", "write_diary", '{"text": "Rain."}'),
    ("c3", "write_diary", '{"text": "Sun."}'),
)
HOOK = """
def register(registry):
    registry.on("message", lambda event: None)
    registry.on("before_agent_start", lambda event: None)
    registry.on("context", lambda event: None)
"""


@pytest.fixture
def prepared(reading: Assistant, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Assistant:
    """An assistant with notes, hooks, and a tool that asks before it writes."""
    diary = Diary()
    monkeypatch.setattr(AgentBuilder, "_build_extra_tools", lambda *_: (diary.tool,))
    reading.paths.hooks.mkdir(parents=True, mode=0o700)
    (reading.paths.hooks / "quiet.py").write_text(HOOK)
    reading.settings.set("hooks.enabled", True)
    reading.agents.connect(None, "all")
    return reading


def script(server: ModelServer) -> None:
    server.script(Answer("Let me look.", calls=CALLS), Answer("Before eight in the morning."))


def is_free(assistant: Assistant, session: str) -> bool:
    """Return whether the chat can be opened for writing, by this or another process."""
    try:
        assistant.sessions.open(session).close()
    except SessionBusy:
        return False
    return True


def begin_chat(assistant: Assistant, server: ModelServer) -> str:
    """Start a chat with one answered question."""
    server.script(Answer("Understood."))
    *_, end = assistant.ask(Ask("Hello?", "chat"), CancelToken())
    return str(end.result.session)


def pick_faults(counts: Mapping[Place, int], most: int) -> Iterator[tuple[Place, int, int]]:
    """Yield faults: a place, which of its calls fails, and the index of the exception.

    Each place comes first with one of its calls, and then the others.
    """
    faults = [
        (place, call, error)
        for error in range(len(ERRORS))
        for place, count in counts.items()
        for call in range(1, count + 1)
    ]
    Random(27).shuffle(faults)
    seen: Counter[Place] = Counter()
    ranks = []
    for place, *_ in faults:
        seen[place] += 1
        ranks.append(seen[place])
    order = sorted(range(len(faults)), key=ranks.__getitem__)
    return islice(cycle(faults[at] for at in order), most)


class Program:
    """A program that asks over RPC, approves all, and survives the end of the server."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._ended = threading.Event()
        self._start()

    def _start(self) -> None:
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.server = RPC(self._assistant, self._read)
        self._thread = threading.Thread(target=self._serve, name="serve")
        self._thread.start()

    def _serve(self) -> None:
        with suppress(BaseException):  # what is raised in the thread that reads ends the server
            self.server.serve(iter(self._lines.get, None))

    def _read(self, line: bytes) -> None:
        said = json.loads(line)
        if said.get("event") == "approval_request":
            id = said["data"]["approval_id"]
            self.send(type="approve", approval_id=id, decision="allow")
        if said.get("event") == "turn_end" or said.get("success") is False:
            self._ended.set()

    def send(self, **fields: object) -> None:
        self._lines.put(json.dumps({"id": 1, **fields}).encode() + b"\n")

    def run_turn(self, session: str, is_done: Callable[[], bool]) -> None:
        """Ask, and wait for the end of the turn, or until nothing of the fault is left."""
        if not self._thread.is_alive():
            self._start()
        self._ended.clear()
        self.send(type="prompt", text="When to water?", mode="agent", session=session)
        wait_until(lambda: self._ended.is_set() or is_done(), "the end of the turn")

    def close(self) -> None:
        self._lines.put(None)
        self._thread.join(60)


@pytest.fixture
def program(prepared: Assistant) -> Iterator[Program]:
    with closing(Program(prepared)) as program:
        yield program


def count_runs(few: int, many: int) -> list[object]:
    return [few, pytest.param(many, marks=[pytest.mark.soak, pytest.mark.timeout(7_000)])]


@pytest.mark.parametrize("most", count_runs(len(PLACES + RPC_PLACES), 1_000))
def test_over_rpc_a_chat_is_free_whatever_raises(
    prepared: Assistant,
    server: ModelServer,
    program: Program,
    most: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = begin_chat(prepared, server)
    with count_calls(PLACES + RPC_PLACES) as counts:
        script(server)
        program.run_turn(session, lambda: False)
    assert not [place.label for place in PLACES + RPC_PLACES if not counts[place]]
    for place, call, at in pick_faults(counts, most):
        script(server)
        with raise_at(place, call, ERRORS[at]()) as fault:
            program.run_turn(session, lambda fault=fault: fault.is_raised)
            wait_until(
                lambda: not program.server._jobs.is_busy(session) and is_free(prepared, session),
                f"a free chat after {ERRORS[at]} at call {call} of {place.label}",
            )
        caplog.clear()
    script(server)
    program.run_turn(session, lambda: False)
    assert is_free(prepared, session)


def ask_agent(assistant: Assistant, session: str) -> list[str]:
    """Ask the agent, and return the names of the types of its events."""
    request = Ask("When to water?", "agent", session=session)
    with closing(assistant.ask(request, CancelToken())) as events:
        return [type(event).__name__ for event in events]


@pytest.mark.parametrize("most", count_runs(len(PLACES), 500))
def test_in_this_process_a_chat_is_free_at_once_whatever_raises(
    prepared: Assistant, server: ModelServer, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    session = begin_chat(prepared, server)
    with count_calls(PLACES) as counts:
        script(server)
        ask_agent(prepared, session)
    assert not [place.label for place in PLACES if not counts[place]]
    for place, call, at in pick_faults(counts, most):
        script(server)
        with raise_at(place, call, ERRORS[at]()), suppress(BaseException):
            ask_agent(prepared, session)
        wait_until(lambda: is_free(prepared, session), f"a free chat after {place.label}")
        caplog.clear()


def test_a_chat_is_free_if_the_one_who_asked_fails_at_any_event(
    prepared: Assistant, server: ModelServer
) -> None:
    session = begin_chat(prepared, server)
    script(server)
    kinds = sorted(set(ask_agent(prepared, session)))
    assert {"ContextPrepared", "MessageEnded", "TextDelta", "ToolEnded", "ToolStarted"} < {*kinds}
    for kind in kinds:
        script(server)
        with pytest.raises(ZeroDivisionError):
            fail_at(kind, prepared, session)
        assert is_free(prepared, session), kind


def fail_at(kind: str, assistant: Assistant, session: str) -> None:
    """Ask, and fail when an event of this kind arrives."""
    request = Ask("When to water?", "agent", session=session)
    with closing(assistant.ask(request, CancelToken())) as events:
        for event in events:
            if type(event).__name__ == kind:
                raise ZeroDivisionError


@pytest.mark.parametrize("most", count_runs(12, 200))
def test_on_the_command_line_a_chat_is_free_whatever_raises(
    prepared: Assistant,
    server: ModelServer,
    most: int,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = begin_chat(prepared, server)
    vault, places = str(prepared.vault), (*PLACES, Place("writer", TurnPrinter, "show"))
    line = ("ask", "When?", "--mode", "agent", "--session", session, "--approve", "all", "--json")
    prepared.close()  # the command line opens the same chats and notes
    with count_calls(places) as counts:
        script(server)
        assert run((*line, "--vault", vault), no_window) == 0
    assert not [place.label for place in places if not counts[place]]
    for place, call, at in pick_faults(counts, most):
        script(server)
        with raise_at(place, call, ERRORS[at]()), suppress(BaseException):
            run((*line, "--vault", vault), no_window)
        assert is_free(prepared, session), f"{ERRORS[at]} at call {call} of {place.label}"
        capsys.readouterr()
        caplog.clear()
