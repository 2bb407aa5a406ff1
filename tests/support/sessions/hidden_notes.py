"""Chats whose tools read notes that are excluded later, and ways to exclude them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.events import ContextPrepared, Mode
from chains.request.ask import Ask
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import result_of

SECRET = "Zebracode 7391 is under the mat."
OTHER = "Sow the beans in May."
LONG = "A long line about the soil of the garden beds.\n" * 150
NOTES = {
    "Diary/Code.md": f"---\ntitle: Zebratitle\n---\n# Zebrahead\n{SECRET} See [[Zebralink]].\n",
    "Diary/Big.md": f"# Big\nZebrastart\n{LONG}{SECRET}\n{LONG}",
    "Plan.md": f"# Plan\n{OTHER} See [[Code]].\n",
    "Tea.md": f"# Tea\nThe code of the tea is green. {OTHER}\n",
}
WORDS = ("7391", "Zebratitle", "Zebrahead", "Zebralink", "Zebrastart")
RULES = ["Diary/"]
Call = tuple[str, dict[str, Any]]
Hide = Callable[[Assistant, Path], None]


class Chat:
    """A chat with the scripted server, whose tools are called as a test says."""

    def __init__(self, assistant: Assistant, server: ModelServer) -> None:
        self.assistant, self.server = assistant, server
        self.session: str | None = None
        self.project: str | None = None
        self.reports: list[dict[str, Any]] = []
        self._calls = 0

    def call(self, *calls: Call) -> None:
        """Let the agent make some calls, one after the other."""
        answers = [Answer("", calls=(self.make_call(*call),)) for call in calls]
        self.server.script(*answers, Answer("Done."))
        self.ask("Look it up.", "agent")

    def ask(self, question: str = "And now?", mode: Mode = "agent", **fields: Any) -> str:
        """Ask a question, and return what the server received for it."""
        seen = len(self.server.received)
        place: dict[str, Any] = {"session": self.session}
        if self.session is None:
            place = {"project": self.project}
        request = Ask(question, mode, **place, **fields)
        events = list(self.assistant.ask(request, CancelToken()))
        self.session = result_of(events).session
        self.reports = [e.report.to_dict() for e in events if isinstance(e, ContextPrepared)]
        return self.read(seen)

    def read(self, seen: int) -> str:
        return "\n".join(one.raw.decode() for one in self.server.received[seen:])

    @property
    def reasons(self) -> list[str]:
        return [reason for report in self.reports for reason in report["prefix"]["reasons"]]

    def make_call(self, name: str, arguments: dict[str, Any]) -> tuple[str, str, str]:
        """Return a tool call as the scripted server sends it."""
        self._calls += 1
        return f"c{self._calls}", name, json.dumps(arguments)


def write_notes(folder: Path) -> Path:
    """Write the notes of these tests into a folder."""
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def find_words(text: str) -> list[str]:
    return [word for word in WORDS if word.lower() in text.lower()]


def hide_folder(assistant: Assistant, vault: Path) -> None:
    assistant.settings.set("vault.exclude", RULES)


def hide_by_front_matter(assistant: Assistant, vault: Path) -> None:
    for name in ("Diary/Code.md", "Diary/Big.md"):
        text = (vault / name).read_text().removeprefix("---\n")
        front = "---\nprivate: true\n" + ("" if text.startswith("title") else "---\n")
        (vault / name).write_text(front + text)


def hide_by_tag(assistant: Assistant, vault: Path) -> None:
    for name in ("Diary/Code.md", "Diary/Big.md"):
        (vault / name).write_text((vault / name).read_text() + "\n#private\n")


def hide_by_move(assistant: Assistant, vault: Path) -> None:
    assistant.settings.set("vault.exclude", ["Locked/"])
    (vault / "Diary").rename(vault / "Locked")


def hide_by_obsidian(assistant: Assistant, vault: Path) -> None:
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian/app.json").write_text(json.dumps({"userIgnoreFilters": RULES}))
