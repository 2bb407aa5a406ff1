"""What a request left out is said wherever a question is asked: command line, JSON and RPC."""

from collections.abc import Callable, Sequence

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc

_SMALL = (
    *("--set", "autoCompactThreshold=4096", "--set", "maxOutputTokens=512"),
    *("--set", "context.autoCompact=false"),
)
_LONG = "Tell me " + "y " * 3_250
_LOSSES = (
    ("A pin from this chat", "is left out"),
    ("The last answer", "is left out of this request too"),
)


@pytest.fixture
def small(program: Program, asking: Callable[[Program], Program]) -> Program:
    """The program with a budget that one long message fills."""
    asked = asking(program)
    return Program(asked.home, (*asked.options, *_SMALL))


@pytest.fixture
def chat(small: Program, server: ModelServer) -> str:
    """A chat with a pinned question and a long answer, which do not fit beside a long message."""
    server.script(Answer("Long. " + "alpha beta " * 300), Answer("Understood."))
    rpc = Rpc(small)
    session = str(rpc.turn("prompt", text="Why is the pump loud?", mode="chat")["session"])
    entries = rpc.do("get_entries", session=session)["entries"]
    question = next(entry["id"] for entry in entries if entry["type"] == "message")
    rpc.do("pin", target=question, on=True)
    rpc.close()
    return session


def _check_losses(warnings: Sequence[str]) -> None:
    for start, words in _LOSSES:
        assert any(said.startswith(start) and words in said for said in warnings), warnings


def test_losses_are_said_on_the_command_line_and_to_programs(small: Program, chat: str) -> None:
    argv = ("ask", _LONG, "--session", chat, "--mode", "chat")
    done = small.run(*argv)
    assert done.code == 0
    _check_losses([line.removeprefix("strata: ") for line in done.err.splitlines()])
    rpc = Rpc(small)
    for result in (
        small.json(*argv),
        rpc.turn("prompt", text=_LONG, session=chat, mode="chat"),
    ):
        _check_losses(result["warnings"])
        _check_losses(result["context"]["warnings"])
    rpc.close()
