import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import ChildDied, ChildRefused
from vault.workers.frames import MAX_FRAME_BYTES, Frame, decode_frame, encode_frame
from vault.workers.process import Child

Until = Callable[[Callable[[], bool]], None]

WORKER = """
import os, sys, time
from vault.workers.frames import Requests

def handle(frame):
    match frame.header["do"]:
        case "echo":
            print("noise on standard output")
            return {"cwd": os.getcwd(), "path": sys.path}, frame.payload
        case "environ":
            return {"environ": dict(os.environ)}, b""
        case "fail":
            raise ValueError("this cannot be done")
        case "sleep":
            time.sleep(3600)
        case "exit":
            print("last words", file=sys.stderr)
            os._exit(7)
        case "crash":
            os.kill(os.getpid(), 11)

Requests(ends_at_once=True).serve(handle)
"""


@pytest.fixture
def child(tmp_path: Path, interpreter_with: Callable[[Path], None]) -> Iterator[Child]:
    """A child of our own making, found through the module path."""
    (tmp_path / "a_worker.py").write_text(WORKER)
    interpreter_with(tmp_path)
    started = Child("a_worker")
    yield started
    started.close()


def is_gone(pid: int) -> bool:
    """Tell whether a process ended; one that nobody waited for yet counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@given(st.lists(st.tuples(st.dictionaries(st.text(), st.text(), max_size=3), st.binary())))
def test_frames_come_back_as_they_went(messages: list[tuple[dict[str, str], bytes]]) -> None:
    buffer = bytearray(b"".join(encode_frame(*message) for message in messages))
    frames = []
    while (frame := decode_frame(buffer)) is not None:
        frames.append(tuple(frame))
    assert frames == messages


@given(st.binary(max_size=40), st.integers(0, 60))
def test_half_a_frame_is_waited_for(payload: bytes, cut: int) -> None:
    data = encode_frame({"a": 1}, payload)
    assert decode_frame(bytearray(data[: min(cut, len(data) - 1)])) is None


def test_a_frame_of_impossible_size_is_refused() -> None:
    with pytest.raises(ValueError, match="larger than any"):
        decode_frame(bytearray(MAX_FRAME_BYTES.to_bytes(4, "big") * 2))


def test_a_request_is_answered_whatever_libraries_print(child: Child) -> None:
    assert child.request({"do": "echo"}, b"\0payload").payload == b"\0payload"


def test_a_child_works_at_a_neutral_place_and_imports_nothing_from_there(child: Child) -> None:
    header = child.request({"do": "echo"}).header
    assert header["cwd"] == "/"
    assert "" not in header["path"]
    assert "/" not in header["path"]


def test_an_error_in_the_child_is_told_and_survived(child: Child) -> None:
    with pytest.raises(ChildRefused, match="this cannot be done"):
        child.request({"do": "fail"})
    assert child.request({"do": "echo"}, b"x").payload == b"x"


def test_a_child_that_ends_says_how(child: Child) -> None:
    with pytest.raises(ChildDied, match=r"code 7 \(last words\)"):
        child.request({"do": "exit"})


def test_a_killed_child_is_noticed(child: Child) -> None:
    number = child.submit({"do": "sleep"})
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ChildDied, match="signal 9"):
        child.answer(number, 30)
    assert not child.is_alive


def test_a_crashed_child_says_where_in_the_log(
    child: Child, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ChildDied, match=r"signal 11 \(Fatal Python error: Segmentation fault\)"):
        child.request({"do": "crash"})
    assert "in handle" in caplog.text


def test_a_child_that_is_too_slow_is_ended(child: Child) -> None:
    child.request({"do": "echo"})
    number = child.submit({"do": "sleep"})
    with pytest.raises(ChildDied, match="did not answer within"):
        child.answer(number, 0.2)
    assert is_gone(child.pid)


def test_a_stopped_child_does_not_block_whoever_writes(child: Child) -> None:
    child.request({"do": "echo"})
    os.kill(child.pid, signal.SIGSTOP)
    with pytest.raises(ChildDied, match="takes no requests"):
        child.submit({"do": "echo"}, bytes(10_000_000), timeout_s=0.2)


def test_many_threads_get_their_own_answers(child: Child) -> None:
    answers: dict[int, bytes] = {}

    def ask(number: int) -> None:
        payload = str(number).encode() * 10_000
        answers[number] = child.request({"do": "echo"}, payload).payload

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n: str(n).encode() * 10_000 for n in range(20)}


def test_waiting_can_be_given_up_and_the_answer_is_thrown_away(child: Child) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    number = child.submit({"do": "sleep", "urgent": False})
    with pytest.raises(KeyboardInterrupt):
        child.answer(number, 60, stop)
    assert child.is_alive


def test_a_child_ends_with_its_parent_even_while_it_works(
    tmp_path: Path, until: Until, interpreter_with: Callable[[Path], None]
) -> None:
    python = sys.executable
    interpreter_with(tmp_path)
    (tmp_path / "a_worker.py").write_text(WORKER)
    parent = subprocess.Popen(
        [
            python,
            "-c",
            textwrap.dedent(
                """
                import sys
                sys.executable = sys.argv[1]
                from vault.workers.process import Child
                child = Child("a_worker")
                child.request({"do": "echo"})
                child.submit({"do": "sleep"})
                print(child.pid, flush=True)
                input()
                """
            ),
            sys.executable,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert not is_gone(pid)
        parent.kill()
    until(lambda: is_gone(pid))


@pytest.mark.parametrize("start", ["started", "forked"])
def test_a_worker_that_the_tests_fork_is_like_one_that_is_started(
    tmp_path: Path, start: str, request: pytest.FixtureRequest
) -> None:
    if start == "started":
        request.getfixturevalue("workers_are_started")
    child = Child("vault.vector_worker", str(tmp_path / "chroma"))
    try:
        opened = child.request({"do": "open", "collection": "vectors", "anew": False})
        assert opened.header["ids"] == []
        assert child.is_alive
        assert os.getsid(child.pid) == child.pid
        assert os.readlink(f"/proc/{child.pid}/cwd") == "/"
        assert (tmp_path / "chroma").stat().st_mode & 0o777 == 0o700
        with pytest.raises(ChildRefused):
            child.request({"do": "query"})
    finally:
        child.close()
    assert child.has_left
    killed = Child("vault.vector_worker", str(tmp_path / "chroma"))
    os.kill(killed.pid, signal.SIGKILL)
    with pytest.raises(ChildDied, match="signal 9"):
        killed.request({"do": "query"})
    assert killed.signal == signal.SIGKILL
    refused = Child("vault.vector_worker", "/proc/no/such")
    with pytest.raises(ChildDied, match=r"code 1 \(FileNotFoundError: .*/proc/no"):
        refused.request({"do": "query"})
    for ended in (killed, refused):
        ended.close()


def test_frames_are_values() -> None:
    assert Frame({"a": 1}, b"") == ({"a": 1}, b"")


def test_no_secret_and_no_import_path_reaches_a_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter_with: Callable[[Path], None]
) -> None:
    (tmp_path / "a_worker.py").write_text(WORKER)
    interpreter_with(tmp_path)
    hidden = (
        *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "PGPASSWORD"),
        *("GITHUB_TOKEN", "MY_UNHEARD_OF_CREDENTIAL", "CHROMA_SERVER_HOST", "LD_PRELOAD_X"),
        *("PYTHONSTARTUP", "PYTHONWARNINGS", "PYTHONINSPECT", "HTTPS_PROXY", "OPENAI_BASE_URL"),
    )
    for name in hidden:
        monkeypatch.setenv(name, "s3cret")
    for is_online in (False, True):
        started = Child("a_worker", is_online=is_online)
        try:
            environ = started.request({"do": "environ"}).header["environ"]
        finally:
            started.close()
        seen = [name for name, value in environ.items() if value == "s3cret"]
        assert seen == (["HTTPS_PROXY"] if is_online else [])
        assert environ["PYTHONSAFEPATH"] == "1"
        assert environ["HOME"] == os.environ["HOME"]
