"""Parse files in a child process, because malicious files might crash the parser."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final

from resources.system.processes import CRASH_SIGNALS
from vault.errors import ChildDied, ChildRefused, ReadingFailed
from vault.notes.kinds import FileKind
from vault.notes.readers.extract import Extract, ExtractPart
from vault.workers.frames import Frame
from vault.workers.process import Child

READ_S: Final = 20.0


class ParserClient:
    """Parses files in a child process that is started on demand.

    It is thread-safe, but parses only one file at a time. If the process is ended from outside, as
    where memory runs short, the file is parsed once more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Child | None = None

    def __enter__(self) -> "ParserClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process id of the parser, or None if it is not running."""
        child = self._child
        return child.pid if child is not None and child.is_alive else None

    def read(
        self, kind: FileKind, data: bytes, on_wait: Callable[[], None] = lambda: None
    ) -> Extract:
        """Parse a file in the child process.

        Args:
            kind: the file type.
            data: the content of the file.
            on_wait: called about every 50 ms. It can raise an exception to stop.

        Raises:
            ReadingFailed: the file is damaged, or cannot be read within the time and memory limits.
        """
        with self._lock:
            frame = self._ask(kind, data, on_wait, is_last=False)
            if frame is None:
                frame = self._ask(kind, data, on_wait, is_last=True)
        assert frame is not None
        header = frame.header
        if "failure" in header:
            raise ReadingFailed(header["failure"])
        parts = tuple(ExtractPart(*part) for part in header["parts"])
        return Extract(parts, header["title"], tuple(header["aliases"]), header["is_paged"])

    def _ask(
        self, kind: FileKind, data: bytes, on_wait: Callable[[], None], *, is_last: bool
    ) -> Frame | None:
        """Let the child process parse a file. Return None if the process was ended from outside.

        Args:
            kind: the file type.
            data: the content of the file.
            on_wait: called about every 50 ms.
            is_last: whether to raise `ReadingFailed` in that case too.
        """
        child, ends_at = self._ensure_child(), time.monotonic() + READ_S
        try:
            return child.answer(child.submit({"kind": kind.name}, data), READ_S, on_wait)
        except ChildDied as error:
            ended_by = child.signal
            self._end()
            if ended_by in CRASH_SIGNALS:
                raise ReadingFailed(
                    "its reader crashed: it is damaged, or takes more than 1 GB of memory"
                ) from error
            if is_last or time.monotonic() >= ends_at:
                raise ReadingFailed(f"its reader broke off: {error}") from error
            return None
        except ChildRefused as error:
            raise ReadingFailed(f"its reader failed: {error}") from error
        except BaseException:
            self._end()  # its current work may take long
            raise

    def close(self) -> None:
        """Stop the parser process. It is started again for the next file."""
        with self._lock:
            if self._child is not None:
                self._child.close()
                self._child = None

    def _ensure_child(self) -> Child:
        if self._child is None or not self._child.is_alive:
            self._end()
            self._child = Child("vault.notes.parser_worker")
        return self._child

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill("it was ended")
            self._child = None
