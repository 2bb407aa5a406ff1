"""The command line in this process, and a question to a scripted model."""

from collections.abc import Callable, Iterator

import pytest

from app.cli.parser import run
from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.command_line import Strata, no_window


@pytest.fixture
def strata(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process: exit code, standard output, standard error."""

    def call(*argv: str) -> tuple[int, str, str]:
        try:
            code = run(argv, no_window)
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(Answer("The barrel holds 210 litres.")) as model:
        yield model


@pytest.fixture
def ask(strata: Strata, model: ModelServer) -> Strata:
    """Ask the scripted server, without notes."""

    def call(*argv: str) -> tuple[int, str, str]:
        return strata(
            *("ask", "--mode", "chat", "--set", f"chat.apiBase={model.url}"),
            *("--set", "chat.model=gpt-4o", *argv),
        )

    return call
