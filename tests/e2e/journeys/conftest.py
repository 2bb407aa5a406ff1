"""An X server, and the installed program in a window on it, from a fresh home."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.models.model_server import ModelServer
from tests.support.processes.program import Program
from tests.support.window.remote_window import Opened, RemoteWindow, Screen


@pytest.fixture(scope="session")
def screen() -> Iterator[Screen]:
    with Screen() as screen:
        yield screen


@pytest.fixture
def open_window(screen: Screen, program: Program) -> Iterator[Opened]:
    """Open the window of the program, again and again on the same home."""
    opened: list[RemoteWindow] = []

    def open_one(*argv: str) -> RemoteWindow:
        opened.append(RemoteWindow.open(screen, program, *argv))
        return opened[-1]

    yield open_one
    for window in opened:
        window.release()


@pytest.fixture
def add_settings(program: Program) -> Callable[..., None]:
    """Add settings to the file, as somebody has them who used the program before."""

    def write(values: dict[str, object]) -> None:
        lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        folder = program.home / "config"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "settings.toml").open("a", encoding="utf-8") as file:
            file.write("\n".join((*lines, "")))

    return write


@pytest.fixture
def at_home(
    open_window: Opened, add_settings: Callable[..., None], small_vault: Path, server: ModelServer
) -> Opened:
    """Open the window over the notes about the garden, with the scripted model."""
    place = {"vault.path": str(small_vault), "chat.apiBase": server.url}
    add_settings({**place, "chat.model": "gpt-4o"})
    return open_window


@pytest.fixture
def add_chat(program: Program) -> Callable[..., None]:
    """Add a chat of some days ago: its questions and answers in turn."""

    def add(name: str, days: int, *texts: str) -> None:
        then = (datetime.now(UTC) - timedelta(days=days)).isoformat().replace("+00:00", "Z")
        head = {"type": "session", "version": 2, "id": name, "timestamp": then, "vault": None}
        lines: list[dict[str, object]] = [head]
        for number, text in enumerate(texts):
            place = {"id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number else None}
            said = {"role": "user", "content": text}
            if number % 2:
                said = {"role": "assistant", "content": text, "status": "complete"}
            lines.append({"type": "message", **place, "timestamp": then, **said})
            lines[-1]["turnId"] = f"turn{number // 2}"
        folder = program.home / "data" / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        written = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(written, "utf-8")

    return add
