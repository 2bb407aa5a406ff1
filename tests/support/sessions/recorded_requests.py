"""Requests of a fixed home: all modes, chats, thresholds, attachments and models, by their hashes.

They are the same on every computer and day: embedder and Chroma are doubles, and no question names
a day. `python -m tests.support.sessions.recorded_requests` writes the hashes anew, and with a
folder as its argument also the requests, so that those of two versions can be compared.
"""

import hashlib
import json
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count, product
from pathlib import Path
from typing import Final
from unittest import mock

from app.assistant import Assistant
from app.errors import TurnFailed
from app.paths import Paths
from app.sessions.file import encode_line
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import Mode
from chains.request.ask import Ask, Selection
from chains.turn import run
from context.assemble.request import Request
from context.log.entries import Entry, MessageEntry
from context.log.parse import SessionHeader
from context.messages import Message, ToolCallPart, ToolResultPart
from tests.support.sessions.chats import TIME, Chat, passage
from tests.support.simulator.workers import Workers
from tests.support.vaults.image_files import GIF

__all__ = ["RECORDS", "record_requests"]

RECORDS: Final = Path(__file__).with_suffix(".json")
_MODEL: Final = "openai/gpt-4o"
_MODELS: Final = ("anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash", "ollama/qwen3:8b")
_THRESHOLDS: Final = (128_000, 32_000, 12_000, 6_000)
_MODES: Final[tuple[Mode, ...]] = ("chat", "vault", "agent")  # what needs no project
_QUESTIONS: Final = {
    "plain": "How much water does the barrel hold?",
    "german": "Wie viel Wasser fasst die Tonne, und wer hat sie gestrichen?",
    "long": "Compare the barrel with the cans. " * 60,
    "list": "List all notes with the tag #water",
    "filter": "folder:House tag:#water beams",
    "none": "Who won the regatta?",
}
_ATTACHMENTS: Final[Mapping[str, tuple[tuple[str, ...], tuple[Selection, ...]]]] = {
    "nothing": ((), ()),
    "note": (("Barrel.md", "House/Long.md"), ()),
    "lines": (("dot.gif",), (Selection("House/Long.md", 40, 60),)),
    "folder": (("House/", "#water"), ()),
}
_NOTES: Final = {
    "Barrel.md": "---\ntags: [water]\n---\n# Barrel\n\nThe barrel holds 210 litres.\n\n"
    "## Paint\n\nPaula painted it blue on 3 May. See [[Cans#Sizes]].\n",
    "Cans.md": "# Cans\n\n#water\n\n## Sizes\n\n| can | litres |\n|---|---|\n| small | 5 |\n"
    "| large | 10 |\n\n- [ ] Mend the large can 📅 2027-03-01\n",
    "Tonne.md": "# Tonne\n\nDie Tonne fasst 210 Liter. Paula hat sie gestrichen.\n\n![[Barrel]]\n",
    "Private.md": "---\nprivate: true\n---\nNobody is told of this.\n",
    "House/Roof.md": "# Roof\n\nThe roof has 412 tiles, and two of them are loose.\n",
    "House/Long.md": "# Long\n\n"
    + "\n\n".join(
        f"## Beam {n}\n\nBeam {n} is {n * 7} cm long and made of oak." for n in range(90)
    ),
    "AGENTS.md": "Answer with the unit.\n",
}


@dataclass(frozen=True)
class _Case:
    """A request: what is asked, in which chat, and with which threshold."""

    name: str
    ask: Ask
    threshold: int = _THRESHOLDS[0]


def _list_cases() -> Iterator[_Case]:
    places = [(chat, mode) for chat in _CHATS for mode in _MODES]
    places.append(("project", "project"))
    plain = Ask(_QUESTIONS["plain"], dry_run=True)
    for (chat, mode), threshold, kind in product(places, _THRESHOLDS, _ATTACHMENTS):
        attach, selections = _ATTACHMENTS[kind]
        asked = replace(plain, mode=mode, session=_CHATS[chat])
        asked = replace(asked, attach=attach, selections=selections)
        yield _Case(f"{chat} {mode} {threshold} {kind}", asked, threshold)
    for (chat, mode), model in product(places, _MODELS):
        asked = replace(plain, mode=mode, session=_CHATS[chat], model=model)
        yield _Case(f"{chat} {mode} {model}", asked)
    for question, mode, threshold in product(_QUESTIONS, _MODES, _THRESHOLDS):
        asked = Ask(_QUESTIONS[question], mode, dry_run=True)
        yield _Case(f"{question} {mode} {threshold}", asked, threshold)
    for threshold in _THRESHOLDS:
        asked = Ask("How many tiles are loose?", "project", project="House", dry_run=True)
        yield _Case(f"new project {threshold}", asked, threshold)


# Chats by what they hold. The first one is not there yet.
_CHATS: Final[Mapping[str, str | None]] = {
    "new": None,
    "short": "aaaa0001",
    "long": "aaaa0002",
    "compacted": "aaaa0003",
    "tools": "aaaa0004",
    "project": "aaaa0005",
}


def _write_chats(folder: Path, notes: Path) -> None:
    folder.mkdir(parents=True)
    paths = {
        "short": _make_path(2, 20),
        "long": _make_path(30, 60),
        "compacted": _make_path(30, 200, threshold=4_000),
        "tools": _make_tool_path(),
        "project": _make_path(3, 40),
    }
    for name, path in paths.items():
        session = _CHATS[name]
        project = "House" if name == "project" else None
        header = SessionHeader(str(session), TIME, str(notes), project)
        lines = [header.to_dict(), *(entry.to_dict() for entry in path)]
        (folder / f"{session}.jsonl").write_bytes(b"".join(map(encode_line, lines)))


def _make_path(turns: int, words: int, threshold: int = 100_000) -> list[Entry]:
    """Make a chat of some turns, with passages in every third one."""
    chat = Chat(threshold=threshold)
    for number in range(turns):
        found = [passage(number, f"Tile {number} lies in row {number % 9}. " * 12)]
        said = f"Row {number} has {number * 3} tiles [{number}]. " + f"tile{number} " * words
        chat.ask(f"What of row {number}?", said, found if number % 3 == 0 else ())
    return chat.path


def _make_tool_path() -> list[Entry]:
    """Make a chat of an agent with a search, a large result and an error."""
    call = ToolCallPart("c1", "search_notes", {"query": "barrel"})
    failed = ToolCallPart("c2", "read_note", {"path": "No.md"})
    found = "Barrel.md: The barrel holds 210 litres.\n" * 90
    messages = [
        Message("user", "Look for the barrel."),
        Message("assistant", (call, failed)),
        Message("tool", (ToolResultPart("c1", found),)),
        Message("tool", (ToolResultPart("c2", "There is no note No.md.", is_error=True),)),
        Message("assistant", "It holds 210 litres."),
    ]
    path = list[Entry]()
    for number, message in enumerate(messages):
        parent = path[-1].id if path else None
        path.append(MessageEntry(f"0000000{number}", parent, TIME, message, "t1"))
    return path


def record_requests() -> Iterator[tuple[str, str]]:
    """Yield the name of each request and its body as JSON, or why there is none."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        stack.enter_context(Workers().install())
        ids = (f"{number:08x}" for number in count(1 << 28))
        stack.enter_context(mock.patch("secrets.token_hex", side_effect=ids))
        notes = root / "notes"
        for name, text in _NOTES.items():
            (notes / name).parent.mkdir(parents=True, exist_ok=True)
            (notes / name).write_text(text, "utf-8")
        (notes / "dot.gif").write_bytes(GIF)
        paths = Paths(*(root / name for name in ("config", "data", "state", "cache")))
        _write_chats(paths.sessions, notes)
        assistant = build(paths, {"chat.model": _MODEL, "chat.titles": False})
        stack.callback(assistant.close)
        assistant.customization.memories.propose("The barrel is blue.").apply()
        assistant.open_vault(notes, remember=False)
        deque(assistant.index(CancelToken()), maxlen=0)
        for case in _list_cases():
            assistant.settings.set("autoCompactThreshold", case.threshold)
            yield case.name, _build(assistant, case.ask).replace(str(root), "")


def _build(assistant: Assistant, ask: Ask) -> str:
    """Return the body of a request as JSON, or the error that is raised instead."""
    built: list[Request] = []
    announce = run._announce

    def observe(request: Request) -> Iterator[object]:
        built.append(request)
        return announce(request)

    try:
        with mock.patch("chains.turn.run._announce", observe):
            for _ in assistant.ask(ask, CancelToken()):
                pass
    except TurnFailed as error:
        return f"{type(error.reason).__name__}: {error.reason}"
    return json.dumps(built[-1].request_body(), ensure_ascii=False, sort_keys=True)


def _main() -> None:
    bodies = dict(record_requests())
    hashes = {name: hash_request(body) for name, body in bodies.items()}
    RECORDS.write_text(json.dumps(hashes, indent=0, sort_keys=True) + "\n", "utf-8")
    for folder in sys.argv[1:]:
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, "requests.jsonl").write_text(
            "".join(json.dumps({name: body}) + "\n" for name, body in bodies.items()), "utf-8"
        )


def hash_request(body: str) -> str:
    """Return the start of the hash of a request."""
    return hashlib.sha256(body.encode()).hexdigest()[:16]


if __name__ == "__main__":
    _main()
