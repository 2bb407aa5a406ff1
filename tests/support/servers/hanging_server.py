"""An MCP server that hangs in its tool, and does not want to end: run it as a script.

It ignores SIGTERM and the end of its input, and so do the processes that it starts: a child, one in
a session of its own, and one whose parent has ended. All write their process ids to the folder that
is the only argument, as files without content.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROCESSES = 4
VERSION = "2025-06-18"
ANSWERS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": VERSION,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "hanging", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "hang", "inputSchema": {"type": "object"}}]},
}


def settings_entry(folder: Path) -> dict[str, Any]:
    """Return the server's entry for the setting `mcp.servers`."""
    return {"command": sys.executable, "args": ["-S", "-E", str(Path(__file__)), str(folder)]}


def list_processes(folder: Path) -> list[int]:
    """Return the ids of all processes of the server that have not ended."""
    pids = [int(file.name) for file in folder.iterdir() if file.name.isdigit()]
    return [pid for pid in pids if _is_running(pid)]


def is_hanging(folder: Path) -> bool:
    """Return whether the server's tool has been called."""
    return (folder / "called").exists()


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def _fork_hanging(folder: Path, prepare: Callable[[], object] = lambda: None) -> None:
    """Start a process that never ends, and wait for its id."""
    read, write = os.pipe()
    if os.fork() == 0:
        prepare()
        (folder / str(os.getpid())).touch()
        os.write(write, b"x")
        while True:
            signal.pause()
    os.read(read, 1)


def _leave_parent() -> None:
    """Continue in a new session, as the child of a process that has ended."""
    os.setsid()
    if os.fork() != 0:
        os._exit(0)


def main(folder: Path) -> None:
    """Answer until the tool is called, and then never end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _fork_hanging(folder)
    _fork_hanging(folder, os.setsid)
    _fork_hanging(folder, _leave_parent)
    (folder / str(os.getpid())).touch()
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["method"] == "tools/call":
            (folder / "called").touch()
            break
        if "id" in asked:
            found = ANSWERS.get(asked["method"])
            said = {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
