"""A long chat over RPC: the time from an accepted prompt to the request at the provider.

The installed program asks a scripted server on loopback, one question after the other in one chat.
What a turn waits for has to depend on what is new in it, not on how long the chat is: the median of
the last quarter of the turns is compared with that of the first.

`STRATA_BENCH_RPC_TURNS` is how many turns are played.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.measure import Ratio
from tests.support.models.model_server import Answer, Body, ModelServer, Reply

TURNS = int(os.environ.get("STRATA_BENCH_RPC_TURNS", "500"))
WARM_UP = 5
THRESHOLD = 1_000_000
QUESTION = "What did we say about number {}? " + "Take the garden into account. " * 6
ANSWER = "That was said before, and it still holds. " * 12


def run(folder: Path) -> list[Ratio]:
    """Play one chat, and compare its quarters."""

    def reply(_body: Body) -> Reply:
        return Answer(ANSWER, chunk_chars=200)

    with ModelServer(reply) as server:
        program = _Rpc(folder / "home", server.url)
        try:
            waits = [_wait(program, server, number) for number in range(WARM_UP + TURNS)]
        finally:
            program.close()
    waits = waits[WARM_UP:]
    quarter = len(waits) // 4
    first, last = median(waits[:quarter]), median(waits[-quarter:])
    detail = f"{len(waits)} turns, p50 {first * 1_000:.1f} ms, then {last * 1_000:.1f} ms"
    name = "turns: last quarter / first, prompt to request"
    return [Ratio(name, last / first, at_most=1.3, detail=detail)]


def _wait(program: "_Rpc", server: ModelServer, number: int) -> float:
    """Ask once; return the seconds until the request had arrived, before the server parsed it."""
    before = len(server.received)
    accepted = program.ask(QUESTION.format(number))
    return server.received[before].arrived_s - accepted


class _Rpc:
    """The installed program as `strata rpc`."""

    def __init__(self, home: Path, url: str) -> None:
        self._child = subprocess.Popen(
            [
                Path(sys.executable).with_name("strata"),
                *("--set", f"chat.apiBase={url}", "--set", "chat.model=gpt-4o"),
                *("--set", f"autoCompactThreshold={THRESHOLD}", "rpc"),
            ],
            env={**os.environ, "STRATA_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, text: str) -> float:
        """Play a turn to its end; return when its prompt was accepted."""
        self._send({"id": 1, "type": "prompt", "text": text, "mode": "chat"})
        accepted = 0.0
        while True:
            said = self._read()
            if said.get("type") == "response":
                if not said["success"]:
                    raise RuntimeError(f"strata rpc refused the prompt: {said}")
                accepted = time.perf_counter()
            elif said.get("event") == "turn_end":
                return accepted

    def close(self) -> None:
        """End the program."""
        self._child.communicate()

    def _send(self, request: Mapping[str, Any]) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(request).encode() + b"\n")
        self._child.stdin.flush()

    def _read(self) -> Mapping[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError("strata rpc ended")
        said: Mapping[str, Any] = json.loads(line)
        if said.get("event") == "error":
            raise RuntimeError(f"the turn failed: {said}")
        return said
