"""A Chroma server on loopback, started with Chroma's own command."""

import socket
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["ChromaServer"]

_START_S = 60.0


class ChromaServer:
    """A server whose data is in a folder. It can be stopped and started again."""

    def __init__(self, folder: Path):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "ChromaServer":
        self.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        program = Path(sys.executable).with_name("chroma")
        where = ("--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port))
        self._process = subprocess.Popen(
            [program, "run", *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + _START_S
        while not self._answers():
            assert self._process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)

    def stop(self) -> None:
        """Kill the server, like a computer that is switched off."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
