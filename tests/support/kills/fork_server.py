"""A process that forks children, each of which runs a conversation and dies.

The children need not import anything again. `ForkServer` starts the process, which runs `python -m
tests.support.kills.fork_server`: it reads one trial per line from standard input and writes one
outcome per line to standard output.
"""

import json
import logging
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from tests.support.kills.crashing_files import DeadlyFiles, Death


@dataclass(frozen=True)
class Outcome:
    """The result of a conversation.

    Attributes:
        operations: the number of file operations; None if the process died.
        losses: what was wrong afterwards, one sentence each.
    """

    operations: int | None
    losses: list[str]


class ForkServer:
    """A context manager that runs conversations and lets their processes die."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, self._url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            cwd=Path(__file__).resolve().parents[3],
            text=True,
        )
        return self

    def __exit__(self, *_exc: object) -> None:
        self._process.kill()  # it has nothing to save, and would take seconds to end by itself
        self._process.communicate()

    def let_die(self, home: Path, death: Death | None) -> Outcome:
        """Run a conversation in a new home until it ends or dies, then check what is left."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        trial = {"home": str(home), "death": death and asdict(death)}
        print(json.dumps(trial), file=self._process.stdin, flush=True)
        return Outcome(**json.loads(self._process.stdout.readline()))

    def let_die_early(self, home: Path, death: Death) -> Outcome:
        """Let a conversation die at an operation, or at its last one if it has fewer operations.

        The number differs by a few from run to run: kept requests are joined in the background.
        """
        outcome = self.let_die(home, death)
        while outcome.operations is not None and not outcome.losses:
            shutil.rmtree(home)
            death = replace(death, at=outcome.operations)
            outcome = self.let_die(home, death)
        return outcome


def _serve(url: str) -> None:
    _warm_up(url)
    for line in sys.stdin:
        trial = json.loads(line)
        os.environ["STRATA_HOME"] = trial["home"]
        print(json.dumps(_try(trial, url)), flush=True)


def _warm_up(url: str) -> None:
    """Do everything that is slow the first time: imports, and the first call of a model."""
    import litellm

    logging.disable(logging.CRITICAL)  # torn lines, which are expected here, would be logged
    from chains.tokenizer import load_counter
    from tests.support.kills import killed_chat  # noqa: F401

    load_counter("gpt-4o").count("warm")
    asked = {"messages": [{"role": "user", "content": "Are you warm?"}], "stream": True}
    list(litellm.completion(model="openai/gpt-4o", api_base=url, api_key="none", **asked))


def _try(trial: dict[str, Any], url: str) -> dict[str, Any]:
    from tests.support.kills.killed_chat import converse, losses, settle

    home = Path(trial["home"])
    told, counted = home / "told", home / "counted"
    home.mkdir(parents=True)
    told.touch()
    death = trial["death"] and Death(**trial["death"])

    def talk() -> None:
        settle(home)
        files = DeadlyFiles(home / "data", death)
        files.install()
        converse(home, url, told)
        counted.write_text(str(files.count))

    def look() -> None:
        (home / "losses").write_text(json.dumps(losses(told)))

    fell = _forked(talk)
    looked = _forked(look)
    found = json.loads((home / "losses").read_text()) if looked == 0 else ["nothing can be read"]
    if death is None and fell != 0:
        found.append(f"the conversation ended with {fell}")
    operations = int(counted.read_text()) if counted.exists() else None
    return {"operations": operations, "losses": found}


def _forked(work: Callable[[], None]) -> int:
    """Run a function in a forked process and return the process's exit status."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 (told, and the parent hears of it)
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    _serve(sys.argv[1])
