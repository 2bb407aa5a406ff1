"""What a search costs another program over MCP: milliseconds, bytes, and tokens of its context.

The installed `strata mcp` on the EIPs. The baseline of the tokens is what the program would have to
read without the search: the notes whole, of which the passages are. That of the time is the same
search over JSON-RPC, by turns.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from chains.tokenizer import load_counter
from tests.benchmarks.measure import Ratio, SearchedVault, percentile, unpack_vault
from tests.benchmarks.retrieval.bench_search import QUERIES

ROUNDS: Final = 5
NOTES: Final = 300
MODEL: Final = "openai/gpt-4o"
_PATH: Final = re.compile(r'path="([^"]+)"')


class _MCPClient:
    """A client of `strata mcp` that counts the bytes of each answer."""

    def __init__(self, notes: Path, home: Path) -> None:
        self._program = subprocess.Popen(
            [Path(sys.executable).with_name("strata"), "--vault", notes, "mcp"],
            env={**os.environ, "STRATA_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 0
        about = {"name": "bench", "version": "1"}
        asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        self.call("initialize", asked)
        self._send({"method": "notifications/initialized"})

    def call(self, method: str, params: Mapping[str, Any]) -> bytes:
        """Call a method and return the line of its answer."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._program.stdout is not None
        for line in self._program.stdout:
            if json.loads(line).get("id") == self._number:
                return line
        raise RuntimeError("strata mcp ended")

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._program.stdin.flush()

    def close(self) -> None:
        """End the program."""
        self._program.communicate()


def run(folder: Path) -> list[Ratio]:
    """Search by turns over MCP and over JSON-RPC, and count what arrives."""
    notes = unpack_vault("eips", folder / "eips")
    for note in sorted(notes.rglob("*.md"))[NOTES:]:
        note.unlink()
    vault = SearchedVault(notes, folder / "home")
    client = _MCPClient(notes, folder / "home")
    try:
        tools = client.call("tools/list", {})
        _time(client, QUERIES[0])
        found = [_time(client, query) for query in QUERIES * ROUNDS]
        bare = [_time_rpc(vault, query) for query in QUERIES * ROUNDS]
    finally:
        client.close()
        vault.close()
    return [*_count(notes, found, tools), _compare([each[0] for each in found], bare)]


def _time(client: _MCPClient, query: str) -> tuple[float, bytes]:
    started = time.perf_counter()
    line = client.call("tools/call", {"name": "search_notes", "arguments": {"query": query}})
    return time.perf_counter() - started, line


def _time_rpc(vault: SearchedVault, query: str) -> float:
    started = time.perf_counter()
    vault.search(query, 8)
    return time.perf_counter() - started


def _count(notes: Path, found: list[tuple[float, bytes]], tools: bytes) -> list[Ratio]:
    count = load_counter(MODEL).count
    texts = [json.loads(line)["result"]["content"][0]["text"] for _, line in found[: len(QUERIES)]]
    whole = [
        sum(count((notes / path).read_text("utf-8")) for path in dict.fromkeys(_PATH.findall(text)))
        for text in texts
    ]
    tokens, sizes = mean(map(count, texts)), mean(len(line) for _, line in found)
    declared = count(json.dumps(json.loads(tools)["result"]["tools"]))
    detail = f"{tokens:,.0f} tokens, {sizes:,.0f} bytes; the notes whole {mean(whole):,.0f} tokens"
    return [
        Ratio("mcp: tokens of a search / notes whole", tokens / mean(whole), detail=detail),
        Ratio("mcp: tokens of the tools' definitions", declared, detail=f"{len(tools):,} bytes"),
    ]


def _compare(ours: list[float], bare: list[float]) -> Ratio:
    detail = (
        f"p50 {median(ours) * 1000:.1f} ms, p95 {percentile(ours, 95) * 1000:.1f} ms "
        f"against {median(bare) * 1000:.1f} and {percentile(bare, 95) * 1000:.1f} ms"
    )
    return Ratio("mcp: a search / over JSON-RPC, p50", median(ours) / median(bare), detail=detail)
