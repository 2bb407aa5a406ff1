"""What it costs to keep each request byte for byte: disk, time, and whether it is exact.

Questions about notes of two real vaults, chosen with the seed 33, are answered by a scripted
server in chats of five questions. The vectors are not those of a model, since only the texts that
are sent matter here: half of the passages come from the words of the question, the others are any.
The server takes about 0.2 s for an answer. `STRATA_BENCH_QUESTIONS` is how many questions are asked
of each vault.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from app.assistant import Assistant
from app.paths import HOME_VARIABLE, Paths
from app.sessions.session import Session
from app.wiring import build
from chains.cancel import CancelToken
from chains.request.ask import Ask
from tests.benchmarks.measure import Ratio, unpack_vault
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import result_of
from vault.embedder import Embedder

_VAULTS: Final = ("tasks-demo", "eips")
_SEED: Final = 33
_QUESTIONS: Final = int(os.environ.get("STRATA_BENCH_QUESTIONS", "40"))
_TURNS: Final = 5
ANSWER: Final = "It is as the notes say [1], and it has been so for a long time. " * 2
_DIMENSIONS: Final = 384


class _AnyVectors(Embedder):
    """Returns a vector that depends on the text alone, at once."""

    def embed(
        self,
        batches: Iterable[Sequence[str]],
        on_wait: Callable[[], None] = lambda: None,
        can_work_ahead: Callable[[], bool] = lambda: True,
    ) -> Iterator[Any]:
        for batch in batches:
            on_wait()
            yield np.stack([_make_vector(text) for text in batch])

    def begin_query(self, text: str) -> Callable[[], Any]:
        return lambda: _make_vector(text)


def _make_vector(text: str) -> Any:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=_DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


def run(folder: Path) -> list[Ratio]:
    """Ask about each vault, and measure what is kept."""
    ratios: list[Ratio] = []
    waits: list[float] = []
    exact = total = 0
    for name in _VAULTS:
        notes = unpack_vault(name, folder / name)
        with ModelServer(Answer(ANSWER, pause_s=0.02)) as server:
            assistant = _open(folder / f"home-{name}", notes, server)
            try:
                sessions = _ask_all(assistant, waits)
                found = [
                    one for session in sessions for one in _compare(assistant, session, server)
                ]
                size = assistant.kept_passages.describe().size
            finally:
                assistant.close()
        exact, total = exact + sum(found), total + len(found)
        whole = sum(file.stat().st_size for file in notes.rglob("*") if file.is_file())
        detail = f"{size / 1_000:,.0f} of {whole / 1_000:,.0f} kB, {len(found)} requests"
        # The passages of one request are already some hundredths of a vault of 0.2 MB.
        most = 0.2 if whole > 1_000_000 else None
        ratios.append(
            Ratio(f"time machine: kept / {name}", size / whole, at_most=most, detail=detail)
        )
    exact_detail = f"{exact} of {total} requests"
    p95 = quantiles(waits, n=20)[-1] * 1_000
    return [
        *ratios,
        Ratio("time machine: byte for byte", exact / total, at_least=1.0, detail=exact_detail),
        Ratio(
            "time machine: ms a turn waits, p95",
            p95,
            at_most=20,
            detail=f"median {median(waits) * 1_000:.1f} ms",
        ),
    ]


def _open(home: Path, notes: Path, server: ModelServer) -> Assistant:
    assistant = build(Paths.find({HOME_VARIABLE: str(home)}), embedder=_AnyVectors())
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "gpt-4o")
    assistant.settings.set("retrieval.rewrite", False)
    assistant.open_vault(notes, remember=False)
    list(assistant.index(CancelToken()))
    return assistant


def _ask_all(assistant: Assistant, waits: list[float]) -> list[str]:
    titles = sorted({note.title for note in assistant.notes() if note.state == "indexed"})
    chosen = Random(_SEED).sample(titles, min(_QUESTIONS, len(titles)))
    sessions: list[str] = []
    keep = Session.keep_sent

    def measure(*values: Any) -> Callable[[], str | None]:
        start = perf_counter()
        wait = keep(*values)
        begun_s = perf_counter() - start

        def measured() -> str | None:
            start = perf_counter()
            found = wait()
            waits.append(begun_s + perf_counter() - start)
            return found

        return measured

    with patch.object(Session, "keep_sent", measure):
        for at, title in enumerate(chosen):
            session = sessions[-1] if at % _TURNS else None
            ask = Ask(f"What do my notes say about {title}?", session=session, update_index=False)
            result = result_of(list(assistant.ask(ask, CancelToken())))
            sessions += [] if session else [str(result.session)]
    return sessions


def _compare(assistant: Assistant, session: str, server: ModelServer) -> Iterator[bool]:
    """Yield for each request of a chat whether it is one that the server received."""
    received = {one.raw for one in server.received}
    for entry in assistant.sessions.read(session).log.entries:
        if "sent" in entry.extra:
            content = assistant.time_machine.show_then(session, entry.id).content
            wire = content.wire
            yield content.is_exact and wire is not None and wire.text.encode() in received
