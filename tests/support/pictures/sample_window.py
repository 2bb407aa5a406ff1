"""The window with the sample notes and a scripted model, prepared for pictures."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QWidget

from app.assistant import Assistant
from app.paths import Paths
from app.startup import StartupInfo
from app.wiring import build
from chains.cancel import CancelToken
from chains.request.ask import Ask
from resources import sample_vault
from tests.support.models.model_server import Answer, ModelServer
from tests.support.window.widgets import find_faults
from ui.theme import Mode, Theme
from ui.window import MainWindow

SIZES = {"narrow": (900, 700), "medium": (1280, 800), "usual": (1440, 900), "wide": (1920, 1080)}
SOURCE = re.compile(r'<source n="(\d+)"[^>]* path="([^"]+)" lines="(\d+)-(\d+)"')

LONG = """\
The notes server is backed up every night at 02:30 to the disk in the garage, and every Sunday a \
copy goes to a rented machine in another town {backups}. Both copies are encrypted.

## What is kept, and where

| Copy | Kept | Last restore test |
|---|---|---|
| Garage disk {backups} | 7 daily, 4 weekly, 12 monthly | 2 March 2026 |
| Rented machine {backups} | 4 weekly, 6 monthly | never |

```sh
restic -r /mnt/garage/restic backup /srv/notes /srv/photos
restic -r /mnt/garage/restic forget --keep-daily 7 --prune  # old ones go
```

### Still open

- Test a restore from the rented machine {open}
- Put the second copy of the `passphrase` at Mira's {open}
- Films are left out, since they "can be bought again" {films}

> [!warning] One thing to check
> The note says that the copies are "verified weekly" {intro}.
"""
BATTERY = """\
The battery carries the server for "22 minutes at a load of 31 W" {power}. After ten minutes \
without mains it shuts itself down, so that nothing is lost {power}.

1. The mains fail, and the server goes on from the battery.
2. Ten minutes later it stops its services, the calendar first.
3. It writes what it holds in memory to the disk and switches itself off.
4. When the mains are back for five minutes it starts again by itself.

Only the first two points stand in your notes; for the other two there is no source, so check them \
before you rely on them. The nightly run is not repeated when it was missed for this reason.
"""
JAPANESE = """\
索引はノートのフォルダーの外に保存されます {ja}。いつでも削除でき、次の起動で作り直されます。

- ノートそのものは変更されません
- 検索は言葉でも意味でもできます {ja}
"""
ARABIC = """\
درجة حرارة الماء المناسبة هي 93 درجة {ar}.

- اطحن القهوة قبل التحضير مباشرة
- انتظر ثلاثين ثانية بعد الغليان {ar}
"""
BACKUPS = "When is the server backed up, how long are copies kept, and what is not backed up?"
POWER = "What happens when the power fails?"
RESTORE = "How do I restore a single file?"
INDEX = "索引はどこに保存されますか"
COFFEE = "كم درجة حرارة الماء؟"
QUESTIONS = {BACKUPS: LONG, RESTORE: LONG, POWER: BATTERY, INDEX: JAPANESE, COFFEE: ARABIC}
EARLIER = (
    "What is a memex?",
    COFFEE,
    "How acid is the soil?",
    INDEX,
    "Which tomato ripened first?",
)
PLACES = {
    "backups": ("Home server.md", 11),
    "films": ("Home server.md", 28),
    "open": ("Home server.md", 51),
    "intro": ("Home server.md", 7),
    "power": ("Home server.md", 41),
    "ja": ("はじめに.md", 25),
    "ar": ("دفتر القهوة.md", 12),
}


class Stage:
    """The window with the sample notes and a model that gives scripted answers."""

    def __init__(self, assistant: Assistant, server: ModelServer) -> None:
        self.assistant = assistant
        self.server = server
        self.window = MainWindow(StartupInfo(assistant.paths.state, assistant.vault))
        self.window.attach(assistant)

    def play(self, question: str) -> None:
        """Ask in a new chat and wait for the complete answer."""
        self.window.open_session(None)
        self.go_on(question)

    def ask(self, question: str) -> None:
        """Ask in the open chat."""
        session = self.window.controllers.session
        session.ask(session.address(Ask(question)))

    def go_on(self, question: str) -> None:
        """Ask in the open chat and wait for the complete answer."""
        self.server.script(say)
        self.ask(question)
        wait_until(lambda: not self.window.controllers.session.is_running)
        settle()

    def open(self, question: str) -> None:
        """Open the chat with this question from the list of chats."""
        chats = self.assistant.list_sessions()
        session = next(chat.session for chat in chats if chat.title[:40] == question[:40])
        self.window.open_session(session)
        settle(800)

    def play_half(self, question: str) -> None:
        """Ask in a new chat, and return while the answer is still streaming."""
        self.server.script(lambda body: Answer(say(body).text, usage=None, stall_after=30))
        self.window.open_session(None)
        self.ask(question)
        settle(2_500)

    def stop(self) -> None:
        """End an answer that is still streaming."""
        self.window.controllers.session.stop()
        wait_until(lambda: not self.window.controllers.session.is_running)

    def show(self, mode: Mode, size: str) -> None:
        """Set the window's theme and size."""
        Theme.current().apply(mode)
        self.window.resize(*SIZES[size])
        self.window.show()
        settle()


def say(body: dict[str, Any]) -> Answer:
    """Answer the question in a request, citing the numbers that the sources have in it."""
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    sources = SOURCE.findall(text)
    known = {name: _cited(sources, file, line) for name, (file, line) in PLACES.items()}
    line = next((line for question, line in QUESTIONS.items() if question in text), "Understood.")
    return Answer(line.format_map(known), usage=None)


def _cited(sources: list[tuple[str, str, str, str]], file: str, line: int) -> str:
    """Return the citation for a line: the passage with the line, else another one of its note."""
    of_note = [source for source in sources if source[1].rpartition("/")[2] == file]
    holding = [source for source in of_note if int(source[2]) <= line <= int(source[3])]
    return f"[{(holding or of_note or [('1',)])[0][0]}]"


def settle(ms: int = 250) -> None:
    """Process events until everything that was started has arrived."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


def wait_until(is_so: Callable[[], bool], limit_s: int = 240) -> None:
    """Wait for a condition.

    Raises:
        TimeoutError: the condition was not met in time.
    """
    for _ in range(limit_s * 20):
        if is_so():
            return
        settle(50)
    raise TimeoutError("The window did not come so far.")


@contextmanager
def stage(vault: Path | None = None) -> Iterator[Stage]:
    """Set up an index, a scripted server, three chats and the window.

    Args:
        vault: the folder of notes. None means the sample notes.
    """
    with tempfile.TemporaryDirectory() as home, ModelServer() as server:
        os.environ["STRATA_HOME"] = home
        run = {
            "chat.model": "qwen3-14b",
            "chat.titles": False,
            "chat.apiBase": server.url,
            "autoCompactThreshold": 8_000,
            "maxOutputTokens": 1_024,
        }
        assistant = build(Paths.find(), run)
        assistant.open_vault(vault or sample_vault(), remember=False)
        for _ in assistant.index(CancelToken()):
            pass
        server.script(say)
        for question in EARLIER:
            list(assistant.ask(Ask(question, update_index=False), CancelToken()))
        played = Stage(assistant, server)
        played.window.show()
        played.window.begin()
        wait_until(lambda: not played.window.controllers.index.is_running)
        yield played
        played.window.close()
        assistant.close()


def save(widget: QWidget, path: Path) -> None:
    """Save a picture of a widget, and print the faults that can be found without looking."""
    path.parent.mkdir(parents=True, exist_ok=True)
    widget.grab().save(str(path))
    print(path, *find_faults(widget), sep="\n  ", flush=True)
