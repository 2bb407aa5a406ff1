"""Two hundred conversations that die at a random moment, and what of them is lost.

Each seed can be tried again:
`STRATA_KILL_SEED=7 python -m pytest tests/e2e/durability/test_killed_process.py`.
"""

import shutil
from pathlib import Path

from tests.benchmarks.measure import Ratio
from tests.support.kills.crashing_files import Death
from tests.support.kills.fork_server import ForkServer
from tests.support.kills.killed_chat import reply
from tests.support.models.model_server import ModelServer

KILLS = 200


def run(folder: Path) -> list[Ratio]:
    """Let each die, and count those after which anything is not as it has to be."""
    with ModelServer(reply) as server, ForkServer(server.url) as fork_server:
        operations = fork_server.let_die(folder / "alive", None).operations or 1
        losing = []
        for seed in range(KILLS):
            death = Death.by_chance(seed, operations)
            if fork_server.let_die_early(folder / "home", death).losses:
                losing.append(seed)
            shutil.rmtree(folder / "home")
    seeds = f", seeds {losing}" if losing else ""
    detail = f"{KILLS} at {operations} operations{seeds}"
    return [Ratio("kills: conversations that lost something", len(losing), 0, detail=detail)]
