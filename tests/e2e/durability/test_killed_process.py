"""A process that dies at a random moment of a conversation loses nothing that it acknowledged.

`STRATA_KILLS=200` tries so many moments; `STRATA_KILL_SEED=7` tries one of them again.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kills.crashing_files import Death
from tests.support.kills.fork_server import ForkServer
from tests.support.kills.killed_chat import reply
from tests.support.models.model_server import ModelServer

FEW = 8


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ModelServer(reply) as server, ForkServer(server.url) as fork_server:
        yield fork_server


@pytest.fixture(scope="module")
def operations(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many file operations the whole conversation has."""
    outcome = fork_server.let_die(tmp_path_factory.mktemp("alive") / "home", None)
    assert outcome.losses == []
    assert outcome.operations is not None
    return outcome.operations


def seeds() -> list[int]:
    if seed := os.environ.get("STRATA_KILL_SEED"):
        return [int(seed)]
    return list(range(int(os.environ.get("STRATA_KILLS", FEW))))


@pytest.mark.parametrize("seed", seeds())
def test_a_death_loses_nothing_that_was_acknowledged(
    fork_server: ForkServer, operations: int, tmp_path: Path, seed: int
) -> None:
    death = Death.by_chance(seed, operations)
    outcome = fork_server.let_die_early(tmp_path / "home", death)
    assert outcome.losses == [], f"STRATA_KILL_SEED={seed} ({death} of {operations} operations)"
