"""The program's own assistant, which asks questions and records each address that it contacts.

`python -m tests.support.processes.watched_questions FOLDER FILE` opens a folder of notes. For each
line of its input, a JSON object, it changes the settings, asks the question and prints how the turn
ended. Every address that it or one of its workers looks up or connects to becomes a line of FILE.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from app.errors import describe
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import TurnEnded
from chains.request.ask import Ask
from vault.workers import process

_GUARD = """\
import sys

def watch(event, arguments, file={file!r}):
    if event == "socket.getaddrinfo":
        address = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[-1], tuple):
        address = "{{}}:{{}}".format(*arguments[-1][:2])
    else:
        return
    with open(file, "a") as log:
        log.write("{{}} {{}}\\n".format(sys.argv[0], address))

sys.addaudithook(watch)
"""


def watch_connections(folder: Path, file: Path) -> None:
    """Record the addresses that this process and its workers contact in a file.

    Args:
        folder: the folder for the code that the workers run when they start.
        file: the file of addresses.
    """
    code = _GUARD.format(file=str(file))
    (folder / "sitecustomize.py").write_text(code)
    exec(code, {})
    pick, network = process.pick_environment, ("PROXY", "_CERT_FILE")

    def pick_watched(is_online: bool) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name.endswith(network)}
        return {**pick(is_online), **kept, "PYTHONPATH": str(folder)}

    process.pick_environment = pick_watched


def main() -> None:
    """Ask each question of the input."""
    folder, file = map(Path, sys.argv[1:])
    watch_connections(file.parent, file)
    with closing(build(Paths.find())) as assistant:
        assistant.open_vault(folder, remember=False)
        for line in sys.stdin:
            print(json.dumps(_ask(assistant, json.loads(line))), flush=True)


def _ask(assistant: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in wanted.get("settings", {}).items():
        assistant.settings.set(key, value)
    request = Ask(wanted["text"], wanted["mode"], attach=tuple(wanted.get("attach", ())))
    try:
        *_, last = assistant.ask(request, CancelToken())
    except Exception as error:  # noqa: BLE001 - the test judges it
        return {"status": describe(error).code}
    assert isinstance(last, TurnEnded)
    answered = last.result
    title = wanted.get("title") and assistant.titles.write(answered.session, CancelToken())
    return {"status": answered.answer.end.status, "answer": answered.answer.text, "title": title}


if __name__ == "__main__":
    main()
