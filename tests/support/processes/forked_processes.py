"""Start processes of Strata by forking one that has imported their libraries already.

Importing chromadb or litellm takes more processor time than all else in most tests that need them,
and importing torch takes seconds. A `ForkServer` process imports what a module needs and forks a
child for each start of that module. The child has the folder, process group, environment, arguments
and standard streams of a process that is started, and runs the module as `__main__`. Its own
workers are forked too. `ForkedProcesses` starts the servers when they are first wanted. All test
processes of a run share them.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import weakref
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import IO, Any, Self

from tests.support.processes.kept_vectors import keep_vectors
from vault.workers import process
from vault.workers.process import WORKER_ENVIRONMENT

EMBEDDER = "vault.embed_worker"
# The embedder with the packaged model, which seldom needs torch. With torch, a fork takes 28 ms of
# processor time, and 1 ms without.
PACKAGED = "packaged"
# What a server imports for a module. Other modules are started as the program does it.
WORKERS = {
    "vault.vector_worker": ("chromadb", "chromadb.config", "chromadb.api.rust", "numpy"),
    EMBEDDER: ("sentence_transformers", "torch", "onnx", "onnxruntime", "tokenizers"),
    PACKAGED: ("onnx", "onnxruntime", "tokenizers"),
}
# What litellm imports when a model is first called: most of the time that a short chat takes.
# Without keyring, which chooses its backend when it is imported.
FIRST_CALL = (
    *("openai.resources", "openai.resources.chat.completions", "httpcore", "h2.connection"),
    *("litellm.litellm_core_utils.default_encoding", "litellm._service_logger"),
    *("litellm.litellm_core_utils.streaming_chunk_builder_utils", "litellm.proxy._types"),
    *("litellm.llms.edenai.chat.transformation", "litellm.llms.fal_ai.chat.transformation"),
    *("litellm.llms.litellm_proxy.chat.transformation", "litellm.llms.openai_like.dynamic_config"),
    *("litellm.llms.openai.chat.gpt_audio_transformation", "jaraco.context", "more_itertools"),
    "litellm.llms.vertex_ai.vertex_ai_partner_models.anthropic.transformation",
    "litellm.proxy.openai_files_endpoints.common_utils",
)
PROGRAM = "app.__main__"
PROGRAM_NEEDS = (
    *("app.wiring", "app.cli.verbs", "app.rpc.server", "chains.tokenizer"),
    *("litellm", *FIRST_CALL, "numpy", "jsonschema", "tokenizers", "mcp"),
    *("ui.main", "ui.window", "ui.wiring"),
    *("app.library.review", "chains.turn.agent", "chains.tools.edit_tools", "chains.tools.web"),
    *("app.cli.approvals", "app.cli.ask", "app.cli.search", "app.cli.sessions", "app.cli.settings"),
    *("app.config.model_setup", "app.sessions.branches", "app.sessions.mcp", "app.sessions.titles"),
    *("chains.mcp.client", "chains.retrieval.map_reduce", "vault.edits.undo"),
    *("vault.indexing.indexer", "vault.indexing.watcher", "vault.questions.reader"),
)
LIBRARIES = {**WORKERS, PROGRAM: PROGRAM_NEEDS}
_INTERPRETER = sys.executable
_MOST_BYTES, _MOST_HANDLES = 1 << 20, 16
_HIGH = 1 << 9
_CHECK_S = 5.0
_start_process = process.start_process


class ForkedProcess:
    """A forked process, with the methods of `subprocess.Popen` that its parent uses."""

    def __init__(self, connection: socket.socket, pipes: Sequence[IO[bytes]]) -> None:
        """Take over the parent's ends of the pipes: input, output and, maybe, errors.

        Like a process that is started, it may still be importing its libraries.

        Args:
            connection: a connection to the server, which sends the process id when it has forked.
            pipes: the open pipes.
        """
        self.stdin, self.stdout = pipes[:2]
        self.stderr = pipes[2] if len(pipes) > 2 else None
        self.returncode: int | None = None
        self._connection = connection
        self._pid = self._handle = 0
        self._lock = threading.RLock()
        weakref.finalize(self, connection.close)

    @property
    def pid(self) -> int:
        """The process id; waits until the process has been forked."""
        with self._lock:
            if not self._pid:
                self._pid = int(self._connection.recv(64))
                self._handle = os.pidfd_open(self._pid)
                weakref.finalize(self, os.close, self._handle)
            return self._pid

    def poll(self) -> int | None:
        """Return the exit status, negative after a signal; None while the process runs."""
        with self._lock:
            if self.returncode is None and self._wait_event(0) and self.pid and self._wait_event(0):
                self._connection.send(b"{}")
                self.returncode = int(self._connection.recv(64))
            return self.returncode

    def _wait_event(self, timeout_s: float | None) -> bool:
        """Wait for the process to be forked or, after that, to end; return whether it did."""
        handle = self._handle if self._pid else self._connection.fileno()
        return bool(select.select([handle], [], [], timeout_s)[0])

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process and return its exit status.

        Raises:
            subprocess.TimeoutExpired: it still runs after `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired("a forked process", timeout or 0)
            if self._pid:
                self._wait_event(left)
            else:
                self._wait_event(0.02)  # another thread may learn the process id
        return code

    def communicate(
        self, input: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes, bytes]:
        """Send the input, close it, and return what the process writes until its end.

        Raises:
            subprocess.TimeoutExpired: it still runs after `timeout` seconds.
        """
        said: dict[str, bytes] = {}

        def read(name: str, pipe: IO[bytes] | None) -> None:
            said[name] = b"" if pipe is None or pipe.closed else pipe.read()

        readers = [
            threading.Thread(target=read, args=("out", self.stdout), daemon=True),
            threading.Thread(target=read, args=("errors", self.stderr), daemon=True),
        ]
        for reader in readers:
            reader.start()
        with contextlib.suppress(BrokenPipeError, ValueError):  # it has ended, or was read before
            self.stdin.write(input or b"")
            self.stdin.flush()
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        for pipe in (self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        return said["out"], said["errors"]

    def send_signal(self, number: int) -> None:
        """Send a signal unless the process has ended."""
        if self.pid:  # which waits until it has been forked
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """Kill the process unless it has ended."""
        self.send_signal(signal.SIGKILL)


class ForkedProcesses:
    """A context manager that forks processes, from servers of its own or of another process."""

    def __init__(self, addresses: Mapping[str, str] | None = None) -> None:
        """Store the addresses of another process's servers, by module, or open new ones."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._servers: list[subprocess.Popen[bytes]] = []
        self._thread: threading.Thread | None = None
        self.addresses = self._open_servers() if addresses is None else dict(addresses)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._thread is not None:
            self._end.close()
            self._thread.join()
        for server in self._servers:
            server.kill()  # it has nothing to save
            server.wait()
        if self._folder is not None:
            self._folder.cleanup()

    def start_worker(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        stderr: IO[bytes],
    ) -> Any:
        """Fork a worker; start it where forking is not possible or the test has its own Python."""
        can_fork = module in WORKERS and hasattr(os, "pidfd_open")
        if not can_fork or sys.executable != _INTERPRETER:
            return _start_process(module, arguments, dict(environment), stderr)
        wanted = {
            "arguments": [module, *arguments],
            "environment": dict(environment),
            "folder": os.path.abspath(os.sep),
            "is_session": True,
        }
        is_packaged = module == EMBEDDER and not arguments[1]
        try:
            return _fork(self.addresses[PACKAGED if is_packaged else module], wanted, stderr)
        except ConnectionRefusedError:  # the server has ended
            return _start_process(module, arguments, dict(environment), stderr)

    def start_program(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        pass_fds: Sequence[int] = (),
        module: str = PROGRAM,
    ) -> Any:
        """Fork the program, which keeps some open files; its own workers are forked as well.

        Another module can run in its place, with the libraries of the program.
        """
        wanted = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": str(folder),
            "is_session": False,
            "module": module,
            "workers": {name: self.addresses[name] for name in WORKERS},
            "pass_fds": list(pass_fds),
        }
        return _fork(self.addresses[PROGRAM], wanted, None)

    def run_code(self, worker: str, code: str, *arguments: str) -> str:
        """Run Python code with the libraries of a worker, and return what it prints."""
        if not hasattr(os, "pidfd_open"):
            command = [sys.executable, "-c", code, *arguments]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout
        wanted = {
            "arguments": ["-c", *arguments],
            "environment": {**os.environ, **WORKER_ENVIRONMENT},
            "folder": os.path.abspath(os.sep),
            "is_session": True,
            "code": code,
        }
        running = _fork(self.addresses[worker], wanted, None)
        out, errors = running.communicate()
        assert running.returncode == 0, errors.decode()
        return out.decode()

    def _open_servers(self) -> dict[str, str]:
        """Open the addresses of the servers, each of which is started by its first client."""
        self._folder = tempfile.TemporaryDirectory(prefix="strata-forks-")
        addresses = {module: os.path.join(self._folder.name, module) for module in LIBRARIES}
        waiting: dict[socket.socket, str] = {}
        for module, address in addresses.items():
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listening.bind(address)
            listening.listen(64)
            waiting[listening] = module
        ends, self._end = socket.socketpair()
        self._thread = threading.Thread(
            target=self._start_servers, args=(waiting, ends), name="fork servers", daemon=True
        )
        self._thread.start()
        return addresses

    def _start_servers(self, waiting: dict[socket.socket, str], ends: socket.socket) -> None:
        """Start a server when the first client connects, until the other end of `ends` closes."""
        with ends:
            while waiting and ends not in (ready := select.select([ends, *waiting], [], [])[0]):
                for listening in ready:
                    with listening:  # from now on, clients are refused where the server has ended
                        self._servers.append(_start_server(waiting.pop(listening), listening))
        for listening in waiting:
            listening.close()


def _start_server(module: str, listening: socket.socket) -> "subprocess.Popen[bytes]":
    environment = process.pick_environment(is_online=False)
    own = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"} if module == PROGRAM else WORKER_ENVIRONMENT
    return subprocess.Popen(
        [_INTERPRETER, "-P", "-m", __name__, module],
        stdin=listening.fileno(),
        cwd=os.path.abspath(os.sep),
        env={**environment, **own},
    )


def _fork(address: str, wanted: Mapping[str, Any], stderr: IO[bytes] | None) -> ForkedProcess:
    """Request a process with new pipes; one for standard error only without a file for that."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(address)
    except ConnectionRefusedError:
        connection.close()
        raise
    its_input, our_end = os.pipe()
    ours, theirs = [(our_end, "wb")], [its_input]
    for _ in range(1 if stderr is not None else 2):
        our_output, its_output = os.pipe()
        ours.append((our_output, "rb"))
        theirs.append(its_output)
    handles = theirs if stderr is None else [*theirs, stderr.fileno()]
    handles = [*handles, *wanted.get("pass_fds", ())]
    try:
        socket.send_fds(connection, [json.dumps(wanted).encode()], handles)
    finally:
        for handle in theirs:
            os.close(handle)
    size = -1 if stderr is None else 0
    return ForkedProcess(connection, [os.fdopen(end, mode, size) for end, mode in ours])


def _serve(server: str) -> None:
    module = EMBEDDER if server == PACKAGED else server
    libraries = [module, *LIBRARIES[server]]
    for library in libraries:
        importlib.import_module(library)
    if module == PROGRAM:
        _fill_caches()
    with socket.socket(fileno=os.dup(0)) as listening:
        if module == EMBEDDER:
            keep_vectors(Path(listening.getsockname()).with_name("vectors"))
        gc.collect()
        gc.freeze()
        forked: dict[socket.socket, int] = {}
        parent = os.getppid()
        while os.getppid() == parent:  # pytest may be killed, and cannot end its servers then
            for ready in select.select([listening, *forked], [], [], _CHECK_S)[0]:
                if ready is listening:
                    forked[ready.accept()[0]] = 0
                elif not _answer(module, ready, forked):
                    del forked[ready]
                    ready.close()


def _fill_caches() -> None:
    """Read what the program reads once and keeps: encodings, tables of words, packages, patterns.

    In a short run, this takes as much processor time as all else.
    """
    modules = sys.modules
    modules["chains.tokenizer"].load_counter("gpt-4o").count("warm")
    modules["app.customize.hooks"].entry_points(group="")
    names = modules["vault.questions.vocabulary"].VaultNames
    day = date(2026, 1, 1)
    modules["vault.questions.reader"].read_question("When is the server backed up?", names, day)


def _answer(module: str, client: socket.socket, forked: dict[socket.socket, int]) -> bool:
    """Fork the process of a client, or tell its status; return whether the client is there."""
    try:
        data, handles, _, _ = socket.recv_fds(client, _MOST_BYTES, _MOST_HANDLES)
    except OSError:  # who asked was killed before it read its answer
        return False
    if not data:
        return False
    if forked[client]:
        _, status = os.waitpid(forked[client], 0)
        answer = os.waitstatus_to_exitcode(status)
    else:
        answer = forked[client] = os.fork()
        if answer == 0:
            _become(module, json.loads(data), handles)
    for handle in handles:
        os.close(handle)
    with contextlib.suppress(OSError):  # who asked was killed meanwhile
        client.send(str(answer).encode())
    return True


def _become(module: str, wanted: Mapping[str, Any], handles: Sequence[int]) -> None:
    """Run a module as a process of its own, in a child that has just been forked."""
    code: int | str | None = 1
    try:
        _keep_files(handles, [0, 1, 2, *wanted.get("pass_fds", ())])
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 (as long as the process)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        if wanted["is_session"]:
            os.setsid()
        else:
            os.setpgid(0, 0)
        os.chdir(wanted["folder"])
        os.environ.clear()
        os.environ.update(wanted["environment"])
        sys.argv = list(wanted["arguments"])
        _load_plug_in(wanted["environment"].get("PYTHONPATH", ""))
        if workers := wanted.get("workers"):
            process.start_process = ForkedProcesses(workers).start_worker
        if "code" in wanted:
            exec(wanted["code"], {"__name__": "__main__"})
        else:
            module = wanted.get("module", module)
            sys.modules.pop(module, None)
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 (the last line is what the program tells of it)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def _keep_files(handles: Sequence[int], numbers: Sequence[int]) -> None:
    """Give open files these numbers, and close all others."""
    # First a number that is in nobody's way.
    high = [fcntl.fcntl(handle, fcntl.F_DUPFD, _HIGH) for handle in handles]
    os.closerange(0, _HIGH)
    for number, handle in zip(numbers, high, strict=True):
        os.dup2(handle, number)
    os.closerange(_HIGH, 1 << 12)


def _load_plug_in(folder: str) -> None:
    """Run the `sitecustomize` of a folder, as a Python that is started with this path does."""
    file = Path(folder, "sitecustomize.py")
    if folder and file.is_file():
        runpy.run_path(str(file))


if __name__ == "__main__":
    _serve(sys.argv[1])
