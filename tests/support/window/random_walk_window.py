"""A random walk through the window, with a copy of the sample notes and a scripted model."""

import gc
import random
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

from PySide6.QtWidgets import QApplication, QWidget

from app.assistant import Assistant
from app.paths import Paths
from app.startup import StartupInfo
from app.wiring import build
from chains.cancel import CancelToken
from chains.request.ask import Ask
from resources import sample_vault
from tests.support.models.model_server import Answer, Failure, ModelServer, Reply
from tests.support.window.faults import Faults
from tests.support.window.random_walk import Walk, inside
from tests.support.window.window_truths import find_untruths
from ui.idle_work import GarbageCollector, IdleTimer
from ui.theme import Mode, Theme
from ui.window import MainWindow
from vault.embedder import Embedder

ANSWER = """\
The server is backed up every night at 02:30 [1], and "copies are never made" [2].

| Copy | Kept |
|---|---|
| Garage | 7 daily [1] |

```sh
restic backup /srv/notes
```

- See [[Home server]], [[No such note]] and <https://example.org/restic>.

> [!tip] Next
> Test a restore [3].
"""


def walk(
    home: Path,
    seed: int,
    mode: Mode,
    presses: int,
    embedder: Embedder | None = None,
    *,
    pauses: int = 0,
    real_pauses: int = 0,
) -> tuple[Walk, Faults]:
    """Walk through a new window with two chats; return the walk and the faults it found.

    Without an embedder to share, the program starts one of its own. With pauses, garbage is
    collected as if nobody used the window.
    """
    notes = home / "notes"
    shutil.copytree(sample_vault(), notes)
    samples = home / "samples"
    shutil.copytree(sample_vault(), samples)  # the walk may save notes in them
    note = home / "outside.md"
    note.write_text("# Outside\n\nA note from elsewhere.\n", "utf-8")
    with (
        ModelServer() as server,
        inside([notes, samples], [note]) as _opened,
        mock.patch("ui.window.sample_vault", return_value=samples),
        mock.patch("ui.first_run.controller.sample_vault", return_value=samples),
    ):
        assistant = build(Paths.find({"STRATA_HOME": str(home / "strata")}), embedder=embedder)
        fill(assistant, notes, server, seed)
        Theme.current().apply(mode, 1.0)
        reading = {"read_busy_s": float} if pauses else {}
        idle_timer = IdleTimer(QApplication.instance(), **reading)
        GarbageCollector(QApplication.instance(), idle_timer)
        with Faults() as faults:
            walked = Walk(seed, lambda: open_window(assistant), faults, find_untruths)
            walked.run(presses, pauses, real_pauses)
        idle_timer.deleteLater()
        assistant.close()
        gc.collect()
    return walked, faults


def fill(assistant: Assistant, notes: Path, server: ModelServer, seed: int) -> None:
    """Open the notes; ask a scripted model twice, and once without a model."""
    assistant.open_vault(notes, remember=False)
    chance = random.Random(seed)
    server.script(Answer(ANSWER), lambda body: reply(chance, body))
    for _ in assistant.index(CancelToken()):
        pass
    list(assistant.ask(Ask("How acid is the soil?"), CancelToken()))
    assistant.settings.set("chat.apiBase", server.url)
    assistant.settings.set("chat.model", "scripted")
    list(assistant.ask(Ask("When is the server backed up?"), CancelToken()))


def reply(chance: random.Random, body: dict[str, Any]) -> Reply:
    """Answer as models do: mostly well, sometimes with tools, sometimes not at all."""
    drawn = chance.random()
    if drawn < 0.1:
        return Failure(chance.choice((401, 429, 500)))
    if drawn < 0.35 and body.get("tools") and body["messages"][-1]["role"] != "tool":
        return Answer("", calls=(("call1", "search_notes", '{"query": "server"}'),))
    return Answer(ANSWER if drawn < 0.8 else "Understood.")


def open_window(assistant: Assistant) -> QWidget:
    """Open the window in the same way as the program."""
    window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault))
    window.attach(assistant)
    window.resize(1440, 900)
    window.show()
    window.activateWindow()
    window.begin()
    return window
