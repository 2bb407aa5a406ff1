"""A conversation that performs every kind of write to a chat, and what must survive its death.

`converse` runs in a process that dies at some moment. Each write that Strata acknowledges is noted
in a file at once. `losses` then compares this file with what the process left on disk.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.assistant import Assistant
from app.paths import Paths
from app.sessions.session import Session
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import Event, MessageEnded, TurnEnded
from chains.request.ask import Ask
from chains.tools.registry import ToolRun
from context.log.entries import CustomMessageEntry, LabelEntry, MessageEntry
from tests.support.models.model_server import Answer, Body

LONG_NOTE = "Long.md"
LONG_ANSWER = "Water the beans in the morning, and the tomatoes at noon. " * 12
OLD_CHAT = (
    '{"type": "session", "id": "old", "timestamp": "2025-01-01T00:00:00Z", "vault": null}\n'
    '{"type": "message", "role": "user", "content": "An old question?"}\n'
    '{"type": "message", "role": "assistant", "content": "An old answer."}\n'
)
TORN_CHAT = (
    '{"type": "session", "version": 2, "id": "torn", "timestamp": "", "vault": null}\n'
    '{"type": "message", "id": "0000000a", "parentId": null, "role": "user", "content": "Whole?"}\n'
    '{"type": "message", "id": "0000000b", "parentId": "0000000a", "role": "assis'
)


def reply(body: Body) -> Answer:
    """Answer as the scripted model; if tools are offered, read the long note first."""
    is_read = any(message["role"] == "tool" for message in body["messages"])
    if body.get("tools") and not is_read:
        return Answer("", calls=(("c1", "read_note", json.dumps({"path": LONG_NOTE})),))
    return Answer(LONG_ANSWER, chunk_chars=200)


def settle(home: Path) -> None:
    """Create the notes and the chats that exist before the conversation."""
    (home / "notes").mkdir(parents=True)
    lines = "".join(f"Line {n} of a long note.\n" for n in range(400))
    (home / "notes" / LONG_NOTE).write_text(lines, "utf-8")
    sessions = Paths.find().sessions
    sessions.mkdir(parents=True)
    (sessions / "old.jsonl").write_text(OLD_CHAT, "utf-8")
    (sessions / "torn.jsonl").write_text(TORN_CHAT, "utf-8")


def converse(home: Path, url: str, told: Path) -> None:
    """Run the conversation and note each acknowledged write in the file `told`."""
    script = _Script(home, url, told)
    script.run()


class _Script:
    def __init__(self, home: Path, url: str, told: Path) -> None:
        settings = {"chat.apiBase": url, "chat.model": "gpt-4o"}
        self._assistant = build(Paths.find(), settings)
        self._assistant.open_vault(home / "notes", remember=False)
        self._told = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def run(self) -> None:
        """Perform every kind of write to a chat."""
        assistant, cancel = self._assistant, CancelToken()
        first = self._ask("Which plants?", session=assistant.sessions.begin(None))
        chat = str(first["session"])
        second = self._ask("And when?", session=chat, attach=(LONG_NOTE,))
        assistant.branches.label(chat, second["entry"], "when")
        self._tell(session=chat, label=[second["entry"], "when"])
        question = next(item.entry for item in assistant.history.transcript(chat).items)
        self._hear(chat, "Which trees?", assistant.edit(chat, question, "Which trees?", cancel))
        again = self._hear(chat, None, assistant.regenerate(chat, second["entry"], cancel))
        assistant.branches.select_leaf(chat, second["entry"])
        rain = assistant.branches.send_message(chat, "weather", "It rains.")
        self._tell(session=chat, entry=rain, text="It rains.")
        self._ask("So what now?", session=chat, mode="agent", update_index=False)
        copy = assistant.branches.fork(chat, again["entry"])
        self._tell(session=copy, entry=again["entry"], text=again["text"])
        self._ask("And further?", session=copy)
        self._ask("And today?", session="old")
        self._ask("And whole again?", session="torn")
        assistant.close()

    def _ask(self, question: str, **fields: Any) -> dict[str, Any]:
        request = Ask(question, **{"mode": "chat", **fields})
        events = self._assistant.ask(request, CancelToken())
        return self._hear(str(fields["session"]), question, events)

    def _hear(self, session: str, question: str | None, events: Iterator[Event]) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        for event in events:
            if isinstance(event, MessageEnded) and event.role == "user" and question is not None:
                self._tell(session=session, entry=event.entry_id, text=question)
            elif isinstance(event, TurnEnded):
                result = event.result
                answer = {"session": session, "entry": result.entry, "text": result.answer.text}
                self._tell(**answer)
        return answer

    def _tell(self, **what: Any) -> None:
        os.write(self._told, f"{json.dumps(what)}\n".encode())


def losses(told: Path) -> list[str]:
    """Continue every chat, and return one sentence for each thing that is wrong or lost."""
    acknowledged = [json.loads(line) for line in told.read_text("utf-8").splitlines()]
    assistant = build(Paths.find())
    found = [
        problem
        for file in sorted(Paths.find().sessions.glob("*.jsonl"))
        for problem in _damage(assistant, file.stem)
    ]
    found += [problem for one in acknowledged for problem in _lost(assistant, one)]
    found += _lost_originals(Paths.find().sessions)
    assistant.close()
    return found


def _damage(assistant: Assistant, session: str) -> Iterator[str]:
    """Check a chat and continue it; yield one sentence for each problem."""
    try:
        chat = assistant.sessions.read(session)
        yield from (f"{session}: {problem}" for problem in chat.problems)
        yield from _lost_results(chat)
        request = Ask("And now?", "chat", model="extractive", session=session)
        *_, last = assistant.ask(request, CancelToken())
        assistant.history.transcript(session)
    except Exception as error:  # noqa: BLE001 (whatever it is, the chat could not be used)
        yield f"{session} cannot be continued: {error!r}"
        return
    if not isinstance(last, TurnEnded) or last.result.answer.end.status != "complete":
        yield f"{session} was not continued to the end"


def _lost_results(chat: Session) -> Iterator[str]:
    runs = filter(None, map(ToolRun.from_entry, chat.log.entries))
    for ref_id in [run.ref_id for run in runs if run.ref_id is not None]:
        if chat.load_result(ref_id) is None:
            yield f"{chat.id}: the result {ref_id} is gone"


def _lost(assistant: Assistant, told: dict[str, Any]) -> Iterator[str]:
    entries = assistant.sessions.read(told["session"]).log.entries
    if "label" in told:
        labels = [[e.target, e.label] for e in entries if isinstance(e, LabelEntry)]
        if told["label"] not in labels:
            yield f"the label {told['label']} is gone"
        return
    said = (e for e in entries if isinstance(e, MessageEntry | CustomMessageEntry))
    texts = {entry.id: entry.message.text for entry in said}
    if texts.get(told["entry"]) != told["text"]:
        yield f"{told} was acknowledged, and the log has {texts.get(told['entry'])!r}"


def _lost_originals(sessions: Path) -> Iterator[str]:
    kept = sessions / "old.jsonl.v1"
    if (kept if kept.exists() else sessions / "old.jsonl").read_text("utf-8") != OLD_CHAT:
        yield "the original of the old chat is gone"
