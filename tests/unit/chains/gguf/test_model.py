"""A tiny model, run by the real library in its child process, asked through the usual port."""

import importlib.util
import os
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from chains.cancel import CancelToken
from chains.errors import Cancelled, LocalModelFailed
from chains.gguf import process
from chains.gguf.file import make_name, read_model_file
from chains.gguf.process import ModelRunner, RunningModel
from chains.llm.port import ModelEnded, ModelEvent, ModelLoading, ModelText
from chains.request.draft import draft_turn, prepare_turn
from chains.request.open_turn import open_model, open_turn
from chains.request.session import SessionView
from chains.request.turn import Turn
from tests.support.models.tiny_model import AGAIN, ANSWER, NAME, needs_library, write_model

Ask = Callable[..., Iterator[ModelEvent]]
LONGEST_S = 60.0
# A worker whose library holds Python's lock while it loads a file, which takes an hour.
WORKER_THAT_LOADS = """
import ctypes, sys, types

def load(params):
    print("loading", file=sys.stderr, flush=True)
    ctypes.PyDLL(None).sleep(3_600)

params = lambda: types.SimpleNamespace(model=types.SimpleNamespace())
sys.modules["xllamacpp"] = types.SimpleNamespace(CommonParams=params, Server=load)

from chains.gguf.worker import main
main()
"""
# A program that starts a worker and has it load a file.
PROGRAM = """
import subprocess, sys
from vault.workers.frames import encode_frame

worker = [sys.executable, "-c", sys.argv[1]]
child = subprocess.Popen(worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(child.pid, flush=True)
wanted = {"id": 1, "path": "model.gguf", "context": 2_048, "kept_bytes": 0, "key": "key"}
child.stdin.write(encode_frame(wanted))
child.stdin.flush()
child.wait()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny.gguf")


@pytest.fixture
def models() -> Iterator[ModelRunner]:
    running = ModelRunner()
    yield running
    running.close()


@pytest.fixture
def stream(models: ModelRunner, path: Path, ask: Callable[..., Turn]) -> Ask:
    """Ask the model in a file, and yield its events."""

    def run(
        question: str, file: Path = path, cancel: CancelToken | None = None, **fields: Any
    ) -> Iterator[ModelEvent]:
        fields = {"max_output_tokens": 256, "offline": True, "mode": "chat", **fields}
        fields |= {"local": models, "session": SessionView("chat1")}
        turn = open_turn(ask(question, model=make_name(file), **fields))
        request, _ = prepare_turn(draft_turn(turn, None), "preview")
        return open_model(turn).stream(request, cancel or CancelToken())

    return run


def read_text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ModelText))


def open_now(models: ModelRunner, path: Path, context: int = 2_048) -> RunningModel:
    return models.open(read_model_file(path), context, CancelToken(), lambda _done: None)


@needs_library
def test_a_file_is_loaded_once_and_answers_while_offline(models: ModelRunner, stream: Ask) -> None:
    first = list(stream("Does it work?"))
    assert read_text(first) == ANSWER
    loading = [event for event in first if isinstance(event, ModelLoading)]
    assert (loading[0].name, loading[0].done, loading[-1].done) == (NAME, 0.0, 1.0)
    assert [one.done for one in loading] == sorted(one.done for one in loading)
    ended = first[-1]
    assert isinstance(ended, ModelEnded)
    assert ended.status == "complete"
    assert ended.usage is not None
    assert (ended.usage.completion_tokens, ended.usage.cost) == (6, 0.0)
    pid = models.pid
    second = list(stream("And again?"))
    assert read_text(second) == ANSWER
    assert not [event for event in second if isinstance(event, ModelLoading)]
    assert models.pid == pid


@needs_library
def test_another_context_or_file_replaces_the_running_model(
    models: ModelRunner, stream: Ask, tmp_path: Path
) -> None:
    list(stream("Works?"))
    first = models.pid
    list(stream("Works?", local_context=2_048))
    second = models.pid
    other = write_model(tmp_path / "other.gguf")
    assert read_text(list(stream("Works?", other, local_context=2_048))) == ANSWER
    assert len({first, second, models.pid}) == 3


@needs_library
def test_the_server_answers_only_with_the_key_of_this_run(models: ModelRunner, path: Path) -> None:
    running = open_now(models, path)
    assert running.address.startswith("http://127.0.0.1:")
    body = {"messages": [{"role": "user", "content": "Works?"}], "max_tokens": 9}
    address = f"{running.address}/chat/completions"
    for key in (None, "wrong", "sk-none"):
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        assert httpx.post(address, json=body, headers=headers, timeout=60).status_code == 401
    right = {"Authorization": f"Bearer {running.key}"}
    assert httpx.post(address, json=body, headers=right, timeout=60).status_code == 200
    assert httpx.get(running.address.removesuffix("/v1"), timeout=60).status_code in (401, 404)


@needs_library
def test_the_child_gets_no_key_of_a_service(
    models: ModelRunner, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    monkeypatch.setenv("LLAMA_ARG_HF_REPO", "someone/else")
    running = open_now(models, path)
    about = Path(f"/proc/{running.child.pid}")
    if about.is_dir():  # where the system shows it
        seen = (about / "environ").read_bytes() + (about / "cmdline").read_bytes()
        assert b"sk-mine" not in seen
        assert b"someone/else" not in seen
        assert running.key.encode() not in seen
        assert b"PATH=" in seen


def test_the_child_ends_at_once_when_the_program_is_killed_while_a_file_loads() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, WORKER_THAT_LOADS],
        cwd=Path(__file__).parents[4],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        child = os.pidfd_open(int(program.stdout.readline()))
        assert program.stderr.readline() == b"loading\n"
        program.kill()
        has_ended = bool(select.select([child], [], [], LONGEST_S)[0])
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(child, signal.SIGKILL)
    os.close(child)
    assert has_ended, "it still loads the file"


@needs_library
def test_a_crash_while_nothing_runs_is_survived(models: ModelRunner, stream: Ask) -> None:
    list(stream("Works?"))
    assert models.pid is not None
    os.kill(models.pid, signal.SIGKILL)
    assert read_text(list(stream("Works?"))) == ANSWER


@needs_library
def test_a_crash_before_any_text_is_named_and_the_next_question_loads_the_file_again(
    models: ModelRunner, stream: Ask
) -> None:
    def kill_when_loaded(event: ModelEvent) -> None:
        if isinstance(event, ModelLoading) and event.done == 1.0:
            assert models.pid is not None
            os.kill(models.pid, signal.SIGKILL)

    with pytest.raises(LocalModelFailed) as raised:
        deque(map(kill_when_loaded, stream("Works?")))
    assert str(raised.value) == (
        f"{NAME} stopped working: it ended with signal 9. Your message is kept: ask again, and the "
        "model is loaded anew. If this repeats, lower chat.localContext or choose a smaller model."
    )
    assert models.pid is None
    assert read_text(list(stream("Works?"))) == ANSWER


@needs_library
def test_a_crash_within_an_answer_keeps_what_has_arrived(models: ModelRunner, stream: Ask) -> None:
    texts: list[str] = []
    last: ModelEvent | None = None
    for event in stream("Go on!", max_output_tokens=4_000):
        if isinstance(event, ModelText) and not texts:
            assert models.pid is not None
            os.kill(models.pid, signal.SIGKILL)
        if isinstance(event, ModelText):
            texts.append(event.text)
        last = event
    assert "".join(texts).startswith(AGAIN)
    assert isinstance(last, ModelEnded)
    assert last.status == "interrupted"
    assert last.reason == "the process of the model ended: it ended with signal 9"


@needs_library
def test_a_cancel_ends_an_answer_and_the_model_stays(models: ModelRunner, stream: Ask) -> None:
    cancel = CancelToken()

    def stop_at_text(event: ModelEvent) -> None:
        if isinstance(event, ModelText):
            cancel.cancel()

    with pytest.raises(Cancelled):
        deque(map(stop_at_text, stream("Go on!", cancel=cancel, max_output_tokens=4_000)))
    pid = models.pid
    assert pid is not None
    assert read_text(list(stream("Works?"))) == ANSWER
    assert models.pid == pid


@needs_library
def test_a_cancel_while_a_file_is_loaded_ends_the_child(models: ModelRunner, path: Path) -> None:
    cancel, seen = CancelToken(), []

    def report(done: float) -> None:
        seen.append(done)
        cancel.cancel()

    with pytest.raises(Cancelled):
        models.open(read_model_file(path), 2_048, cancel, report)
    assert (seen, models.pid) == ([0.0], None)
    assert open_now(models, path).find_end() == ""


@needs_library
def test_the_model_is_stopped_when_another_one_is_chosen(models: ModelRunner, path: Path) -> None:
    running = open_now(models, path)
    models.keep_only({make_name(path), "openai/gpt-4o"})
    assert running.child.is_alive
    models.keep_only({"openai/gpt-4o", ""})
    assert models.pid is None
    models.keep_only({"openai/gpt-4o"})


@needs_library
def test_a_call_is_not_cut_off_when_another_model_is_chosen(
    models: ModelRunner, path: Path
) -> None:
    running = open_now(models, path)
    with models.call():
        models.keep_only({"openai/gpt-4o"})
        assert running.child.is_alive
    assert not running.child.is_alive


@needs_library
def test_a_file_that_the_library_cannot_load_is_named(
    models: ModelRunner, stream: Ask, tmp_path: Path
) -> None:
    strange = write_model(tmp_path / "strange.gguf", tokenizer__ggml__model="martian")
    with pytest.raises(LocalModelFailed) as raised:
        list(stream("Works?", strange))
    # The library names the tokenizer only where its log is read in time.
    assert str(raised.value).startswith("strange.gguf could not be loaded: ")
    assert models.pid is None


@needs_library
def test_a_closed_program_leaves_no_child(path: Path) -> None:
    models = ModelRunner()
    running = open_now(models, path)
    models.close()
    assert not running.child.is_alive
    with pytest.raises(LocalModelFailed, match="it was closed"):
        open_now(models, path)


def test_a_model_that_does_not_fit_is_refused_before_a_process_is_started(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "is_installed", lambda: True)
    models = ModelRunner(find_free=lambda: 50_000_000)
    with pytest.raises(LocalModelFailed, match=r"needs .* MB of memory .* 50 MB are free"):
        open_now(models, path)
    assert models.pid is None


def test_a_missing_library_is_named_with_the_command_that_installs_it(
    stream: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> Any:
        return None if name == process.LIBRARY else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    with pytest.raises(LocalModelFailed) as raised:
        list(stream("Works?"))
    assert str(raised.value) == (
        "Opening tiny.gguf takes the package xllamacpp, which is not installed. Install it with "
        '`pip install "strata-notes[local]"`, then ask again.'
    )


def test_a_damaged_file_is_named_before_anything_is_loaded(stream: Ask, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:500_000])
    with pytest.raises(LocalModelFailed, match=r"tiny\.gguf is incomplete: it has 0\.5 MB"):
        list(stream("Works?"))
