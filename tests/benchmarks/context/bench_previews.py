"""The previews while a message is written, in an open chat of 10,000 messages: processor time.

The window previews the next request after each pause in typing. The whole chat is sent, as a model
with a large window allows. The first preview opens the chat, and is not counted.
"""

import json
import os
import time
from pathlib import Path

from tests.benchmarks.context.bench_open import KINDS, MESSAGES, list_chat_lines
from tests.benchmarks.measure import Ratio, percentile

THRESHOLD = 2_000_000
MOST_MS = 5.0
TEXT = "How much water do the beans need before the summer begins in the garden?"


def run(folder: Path) -> list[Ratio]:
    """Write a message in each kind of chat, letter by letter."""
    return [_measure(kind, folder / kind.replace(" ", "-")) for kind in KINDS]


def _measure(kind: str, home: Path) -> Ratio:
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    from app.paths import Paths
    from app.wiring import build

    paths = Paths.find({"STRATA_HOME": str(home)})
    paths.sessions.mkdir(parents=True)
    with (paths.sessions / "long.jsonl").open("w", encoding="utf-8") as log:
        log.writelines(f"{json.dumps(line)}\n" for line in list_chat_lines(kind))
    assistant = build(paths)
    try:
        assistant.settings.set("autoCompactThreshold", THRESHOLD)
        milliseconds = list[float]()
        for length in range(1, len(TEXT) + 1):
            started = time.process_time()
            assistant.preview("long", TEXT[:length], "chat")
            milliseconds.append((time.process_time() - started) * 1_000)
    finally:
        assistant.close()
    later = milliseconds[1:]
    name = f"previews: {kind}, {MESSAGES:,} messages, ms of processor time each"
    p95 = percentile(later, 95)
    detail = f"p95 {p95:.1f} ms; the first one opens the chat, {milliseconds[0]:.0f} ms"
    return Ratio(name, percentile(later, 50), at_most=MOST_MS, detail=detail)
