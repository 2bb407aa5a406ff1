"""A chat of 10,000 messages opened for writing, against reading its file and parsing its lines.

Four kinds of chat: questions and long answers, the same in few words, with eight passages sent
along each question, and with a call of a tool before each answer. Processor time counts, and each
round opens the file anew, with nothing remembered.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from app.sessions.store import SessionStore
from app.state_db import StateDB
from tests.benchmarks.measure import Ratio

MESSAGES = 10_000
ROUNDS = 7
KINDS = ("plain", "short", "with passages", "with tools")
WORDS = ("water", "the", "garden", "before", "eight", "since", "beans", "need", "warm", "soil")
USAGE = {"requests": 1, "prompt_tokens": 900, "completion_tokens": 120, "cached_tokens": 600}
COUNTED = {
    "estimated": 910,
    "promptTokens": 900,
    "completionTokens": 120,
    "cachedTokens": 600,
    "factor": 1.0,
}


def run(folder: Path) -> list[Ratio]:
    """Measure each kind by turns with its baseline."""
    return [_measured(kind, folder) for kind in KINDS]


def _measured(kind: str, folder: Path) -> Ratio:
    sessions = folder / kind.replace(" ", "-")
    sessions.mkdir()
    file = sessions / "long.jsonl"
    with file.open("w", encoding="utf-8") as log:
        log.writelines(
            f"{json.dumps(line, separators=(',', ':'))}\n" for line in list_chat_lines(kind)
        )
    parse, opened = [], []
    for _ in range(ROUNDS):
        parse.append(_seconds(lambda: _parse(file)))
        opened.append(_seconds(lambda: _open(sessions)))
    one, other = median(opened), median(parse)
    detail = f"{one:.3f} s against {other:.3f} s, {file.stat().st_size / 1e6:.1f} MB"
    return Ratio(f"open: {kind} / read and parsed", one / other, at_most=3.0, detail=detail)


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    kept = work()
    taken = time.process_time() - start
    del kept
    return taken


def _parse(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_bytes().split(b"\n") if line]


def _open(sessions: Path) -> object:
    store = SessionStore(sessions, StateDB(sessions / "state.db"))
    with store.open("long") as session:
        return session.path()


def list_chat_lines(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of the file of a chat of 10,000 messages."""
    chance = random.Random(kind)
    yield {"type": "session", "version": 2, "id": "long", "timestamp": "", "vault": None}
    parent = None
    for turn in range(MESSAGES // 2):
        for number, entry in enumerate(_turn(kind, f"{turn:08x}", chance)):
            name = f"{turn * 8 + number:08x}"
            stamp = "2026-01-01T00:00:00.000Z"
            yield {**entry, "id": name, "parentId": parent, "timestamp": stamp}
            parent = parent if entry["type"] == "usage" else name


def _turn(kind: str, turn: str, chance: random.Random) -> Iterator[dict[str, Any]]:
    def said(role: str, content: Any, **fields: Any) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": content, "turnId": turn, **fields}

    if kind == "with passages":
        passages = [_passage(n, chance) for n in range(1, 9)]
        yield {"type": "segments", "turnId": turn, "segments": passages}
    yield said("user", _text(20, chance), mode="vault")
    if kind == "with tools":
        call = {"type": "tool_call", "id": turn, "name": "read_note", "arguments": {"path": "a.md"}}
        result = {"type": "tool_result", "tool_call_id": turn, "content": _text(80, chance)}
        yield said("assistant", [call], model="m", usage=USAGE, status="complete")
        yield said("tool", [result])
    answer = _text(6 if kind == "short" else 120, chance)
    yield said("assistant", answer, model="m", usage=USAGE, status="complete")
    yield {"type": "usage", "turnId": turn, "request": 1, "model": "m", **COUNTED}


def _passage(number: int, chance: random.Random) -> dict[str, Any]:
    return {
        "id": f"p{number}",
        "layer": "L3",
        "kind": "passage",
        "source": f"Garden/Note {number}.md",
        "lines": [1, 9],
        "version": "0123456789abcdef",
        "content": _text(80, chance),
        "pinned": False,
        "title": f"Note {number}",
        "heading": ["Garden"],
        "number": number,
    }


def _text(words: int, chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=words))
