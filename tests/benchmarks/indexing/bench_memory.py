"""What indexing real notes takes of memory: the program itself and each of its children.

The benches that run later search the index that was made.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import Ratio, SharedVault
from tests.support.processes.program import SCRIPT, children_of, command_of

EVERY_S = 0.2
PROGRAM, EMBEDDER, VECTORS = "program", "vault.embed_worker", "vault.vector_worker"
BOUNDS_MB = {PROGRAM: 350, EMBEDDER: 1_000, VECTORS: 450}


def run(folder: Path) -> list[Ratio]:
    """Index long notes and watch the most that each process holds at once."""
    vault = SharedVault.unpack("eips", folder)
    shutil.rmtree(vault.home, ignore_errors=True)
    indexing = subprocess.Popen(
        [SCRIPT, "index", str(vault.notes), "--json"],
        env={**os.environ, "STRATA_HOME": str(vault.home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    peaks: dict[str, float] = {}
    while indexing.poll() is None:
        for name, megabytes in list_memory(indexing.pid):
            peaks[name] = max(peaks.get(name, 0), megabytes)
        time.sleep(EVERY_S)
    assert indexing.stdout is not None
    chunks = re.search(r'"embedded_chunks": (\d+)', indexing.stdout.read())
    detail = f"MB at most, {chunks[1] if chunks else 'no'} passages"
    return [
        Ratio(f"memory: {name}", peaks.get(name, 0), at_most=bound, detail=detail)
        for name, bound in BOUNDS_MB.items()
    ]


def list_memory(pid: int) -> Iterator[tuple[str, float]]:
    """Yield the program and its children that index and search, with their megabytes."""
    yield PROGRAM, _megabytes(pid)
    for child in children_of(pid):
        command = command_of(child)
        for name in (EMBEDDER, VECTORS):
            if name in command:
                yield name, _megabytes(child)


def _megabytes(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0
