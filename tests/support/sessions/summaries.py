"""Chats whose summary has lost facts, and says one that nobody said."""

from collections.abc import Callable

from tests.support.models.model_server import Answer, ModelServer

SUMMARY = "The barrel holds 210 litres. It weighs 31 kg."


def script_lossy_chat(server: ModelServer, ask: Callable[[str], object]) -> None:
    """Ask two questions, and prepare the model to sum up the first one with losses."""
    pipes = " ".join(f"A pipe is {n}.5 m long." for n in range(2_000, 2_160))
    server.script(Answer(f"The barrel holds 210 litres. {pipes}"))
    ask("How much do they hold?")
    server.script(Answer("Well."))
    ask("And the cans?")
    server.script(Answer(SUMMARY))
