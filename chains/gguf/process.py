"""Run model files in a child process, one at a time.

```
open ── the same file and context? ──yes──> the running process
              │ no
     stop the old model after its calls → is the library installed? → is there enough memory?
              → start the child → wait until it has loaded the file → its address
```

The child process serves the model on a free loopback port, protected by a random key. It receives
no API keys, and exits with this program.
"""

import importlib.util
import secrets
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Final

from chains.cancel import CancelToken
from chains.errors import LocalModelFailed
from chains.gguf.file import FindFree, ModelFile, find_path, require_memory
from resources.system.processes import read_free_memory, read_process_memory
from vault.errors import ChildDied, ChildRefused
from vault.workers.process import Child

__all__ = ["INSTALL", "LIBRARY", "ModelRunner", "OnProgress", "RunningModel", "is_installed"]

INSTALL: Final = 'pip install "strata-notes[local]"'
LIBRARY: Final = "xllamacpp"
WORKER: Final = "chains.gguf.worker"
LOADING_S: Final = 3_600.0  # a large file on a slow disk; the user can stop it
PROGRESS_S: Final = 0.25
MOST_SHOWN: Final = 0.99
CHECK_S: Final = 10.0
_TICK_S: Final = 0.05

# Receives the share of a model that is loaded, from 0 to 1.
OnProgress = Callable[[float], object]


def is_installed() -> bool:
    """Return whether the library for model files is installed, without importing it."""
    return importlib.util.find_spec(LIBRARY) is not None


@dataclass(frozen=True)
class RunningModel:
    """A loaded model file and its server.

    Attributes:
        context: the context length in tokens.
        address: the address of the server.
        key: the key that the server requires.
    """

    file: ModelFile
    context: int
    address: str
    key: str
    child: Child

    def find_end(self) -> str:
        """Describe how the model's process ended, such as "it ended with signal 9".

        Return an empty string if the process is still running.
        """
        try:
            self.child.request({"check": True}, timeout_s=CHECK_S)
        except ChildDied as error:
            return str(error)
        return ""

    def require_alive(self) -> None:
        """Raise `LocalModelFailed` if the model's process has ended."""
        if end := self.find_end():
            raise LocalModelFailed(
                f"{self.file.name} stopped working: {end}. Your message is kept: ask again, and "
                "the model is loaded anew. If this repeats, lower chat.localContext or choose a "
                "smaller model.",
                service=self.file.name,
                reason=end,
            )


class ModelRunner:
    """Runs one model file at a time in a child process. Thread-safe."""

    def __init__(self, find_free: FindFree = read_free_memory) -> None:
        """Create the runner without starting a process.

        Args:
            find_free: returns the available memory in bytes, or None if it is unknown.
        """
        self._find_free = find_free
        self._lock = threading.Lock()  # held while a model is loaded
        self._running: RunningModel | None = None
        self._loading: Child | None = None
        self._calls = threading.Condition()
        self._call_count = 0
        self._is_unwanted = self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The process id of the running model, or None if no model is running."""
        running = self._running
        return running.child.pid if running is not None and running.child.is_alive else None

    def find_free_bytes(self) -> int | None:
        """Return the memory available for a model, or None if unknown.

        This includes the memory of the running model, which is stopped before another one is
        loaded.
        """
        free, running = self._find_free(), self._running
        if free is None or running is None or self.pid is None:
            return free
        return free + running.file.count_needed_bytes(running.context)

    def require_loadable(self, file: ModelFile, context: int) -> None:
        """Raise `LocalModelFailed` if the library is missing or the model does not fit into memory.

        Args:
            file: the model.
            context: the context length in tokens.
        """
        if not is_installed():
            raise LocalModelFailed(
                f"Opening {file.path.name} takes the package {LIBRARY}, which is not installed. "
                f"Install it with `{INSTALL}`, then ask again.",
                service=file.name,
            )
        require_memory(file, context, self.find_free_bytes())

    def open(
        self, file: ModelFile, context: int, cancel: CancelToken, on_progress: OnProgress
    ) -> RunningModel:
        """Return a running model, loading it if necessary.

        If another model is running, or the same one with another context length, it is stopped
        first, after its calls have ended.

        Args:
            file: the model.
            context: the context length in tokens.
            cancel: the token that stops loading.
            on_progress: receives the fraction loaded so far. It is not called if the model is
                already running.

        Raises:
            LocalModelFailed: the library is missing, the model does not fit into memory, or the
                file cannot be loaded.
            Cancelled: the token was cancelled.
        """
        with self._lock:
            running = self._running
            is_same = running is not None and (running.file, running.context) == (file, context)
            if running is not None and is_same and not running.find_end():
                self._is_unwanted = False
                return running
            self._wait_for_calls(cancel)
            self._stop()
            self.require_loadable(file, context)
            on_progress(0.0)
            self._running = running = self._load(file, context, cancel, on_progress)
            return running

    @contextmanager
    def call(self) -> Iterator[None]:
        """Keep the running model from being stopped during the `with` block."""
        with self._calls:
            self._call_count += 1
        try:
            yield
        finally:
            with self._calls:
                self._call_count -= 1
                self._calls.notify_all()
            if self._is_unwanted:
                self._stop_if_free()

    def keep_only(self, models: Collection[str]) -> None:
        """Stop the running model after its calls, unless it is one of the given models.

        A model that is still loading is not affected.

        Args:
            models: the names of models, as in the setting `chat.model`.
        """
        running = self._running
        self._is_unwanted = running is not None and running.file.path not in map(find_path, models)
        if self._is_unwanted:
            self._stop_if_free()

    def close(self) -> None:
        """Stop the child process permanently, even while it is loading a model."""
        self._is_closed = True
        if (loading := self._loading) is not None:
            loading.kill("it was closed")
        with self._lock:
            self._stop()

    def _stop_if_free(self) -> None:
        """Stop the running model, unless it is in use or another model is being loaded."""
        if self._lock.acquire(blocking=False):
            try:
                if not self._call_count:
                    self._stop()
            finally:
                self._lock.release()

    def _wait_for_calls(self, cancel: CancelToken) -> None:
        with self._calls:
            while self._call_count and self.pid is not None:
                self._calls.wait(_TICK_S)
                cancel.raise_if_cancelled()

    def _stop(self) -> None:
        running, self._running = self._running, None
        self._is_unwanted = False
        if running is not None:
            running.child.kill("it was stopped")

    def _load(
        self, file: ModelFile, context: int, cancel: CancelToken, on_progress: OnProgress
    ) -> RunningModel:
        key = secrets.token_urlsafe(32)
        wanted = {
            "path": str(file.path),
            "context": context,
            "kept_bytes": self._choose_kept_bytes(file, context),
            "key": key,
        }
        child = self._loading = Child(WORKER)
        if self._is_closed:
            child.kill("it was closed")
        try:
            watch = _LoadWatch(child, file, cancel, on_progress)
            address = child.answer(child.submit(wanted), LOADING_S, watch.check).header["address"]
            cancel.raise_if_cancelled()  # a small file may be loaded before the first check
        except (ChildDied, ChildRefused) as error:
            child.kill(str(error))
            reason = str(error)
            raise LocalModelFailed(
                f"{file.path.name} could not be loaded: {reason}.", service=file.name, reason=reason
            ) from error
        except BaseException:
            child.kill("it was stopped")
            raise
        finally:
            self._loading = None
        return RunningModel(file, context, str(address), key, child)

    def _choose_kept_bytes(self, file: ModelFile, context: int) -> int:
        """Return how many bytes the server may use to cache the prompts of other chats."""
        free = self._find_free()
        spare = 0 if free is None else free - file.count_needed_bytes(context)
        return max(0, min(file.count_context_bytes(context), spare // 2))


class _LoadWatch:
    """Reports the progress of a child process that loads a file."""

    def __init__(
        self, child: Child, file: ModelFile, cancel: CancelToken, on_progress: OnProgress
    ) -> None:
        self._child, self._size = child, max(1, file.size_bytes)
        self._cancel, self._on_progress = cancel, on_progress
        self._next_s = monotonic() + PROGRESS_S

    def check(self) -> None:
        """Report the loading progress, or raise `Cancelled` if loading was cancelled."""
        self._cancel.raise_if_cancelled()
        if monotonic() >= self._next_s:
            self._next_s = monotonic() + PROGRESS_S
            used = read_process_memory(self._child.pid) / self._size
            self._on_progress(min(MOST_SHOWN, used))
