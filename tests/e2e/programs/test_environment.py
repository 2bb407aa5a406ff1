"""What surrounds the program: a hostile folder on the import path, keys in the environment."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from chains.gguf.file import make_name
from tests.support.models.model_server import Answer, ModelServer
from tests.support.models.tiny_model import needs_library, write_model
from tests.support.processes.program import Program, children_of, command_of, ended
from tests.support.processes.rpc import Rpc
from tests.support.vaults.documents import pdf
from tests.support.vaults.image_files import draw

looks_at_processes = pytest.mark.started

WORKERS = ("vault.embed_worker", "vault.vector_worker", "vault.notes.parser_worker")
IMAGE_WORKER, MODEL_WORKER = "ui.image_worker", "chains.gguf.worker"
SECRETS = {name: f"s3cret-{name}" for name in ("OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD")}
# Loaded by the program itself or by one of its children, whatever they are asked to do.
MODULES = (
    *("argparse", "contextlib", "json", "logging", "sqlite3", "tempfile", "tomllib", "typing"),
    *("chromadb", "litellm", "lxml", "markdown_it", "numpy", "platformdirs", "pydantic"),
    *("pypdfium2", "sentence_transformers", "tiktoken", "torch", "watchfiles", "yaml"),
    *("chains", "context", "resources", "vault"),
)
TRAP = "open({marker!r}, 'a').write(__name__ + '\\n')\nraise SystemExit(99)\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with a note, a PDF, and modules that would take the place of real ones."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.md").write_text("# Rain\n\nWater the plants.\n")
    (folder / "paper.pdf").write_bytes(pdf(["The plants are by the gate."]))
    return folder


@pytest.mark.started  # the import path is read at the start
@pytest.mark.parametrize("path", ["", ".:notes:{notes}:x::notes"])
def test_modules_of_a_vault_are_never_imported(tmp_path: Path, notes: Path, path: str) -> None:
    marker = tmp_path / "imported"
    for name in MODULES:
        for folder in (notes, tmp_path):
            (folder / f"{name}.py").write_text(TRAP.format(marker=str(marker)))
    found = (("PYTHONPATH", path.format(notes=notes)),)
    program = Program(tmp_path / "home", ("--vault", str(notes)), environ=found)
    rpc = Rpc(program)
    report = rpc.do("index")
    assert (report["notes"], report["failed"]) == (2, [])
    assert rpc.turn("prompt", text="Where are the plants?")["status"] == "complete"
    rpc.close()
    assert not marker.exists(), marker.read_text()


@looks_at_processes
def test_keys_of_the_environment_reach_no_child(tmp_path: Path, notes: Path) -> None:
    program = Program(tmp_path / "home", environ=tuple(SECRETS.items()))
    assert_clean_children(program.start("index", str(notes), "--json"), WORKERS)


@looks_at_processes
def test_keys_of_the_environment_do_not_reach_the_child_that_decodes_images(
    tmp_path: Path, server: ModelServer
) -> None:
    photo = tmp_path / "photo.png"
    photo.write_bytes(draw(64, 64, corner="red"))
    models = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=test")
    options = (*models, "--set", 'chat.imageModels=["test"]')
    program = Program(tmp_path / "home", options, environ=tuple(SECRETS.items()))
    asked = program.start("ask", "What?", "--mode", "chat", "--attach", str(photo), "--json")
    assert_clean_children(asked, (IMAGE_WORKER,))


@looks_at_processes
@needs_library
def test_keys_of_the_environment_do_not_reach_the_child_that_runs_a_model(tmp_path: Path) -> None:
    model = write_model(tmp_path / "tiny.gguf")
    options = ("--set", f"chat.model={make_name(model)}")
    program = Program(tmp_path / "home", options, environ=tuple(SECRETS.items()))
    asked = program.start("ask", "Does it work?", "--mode", "chat", "--json")
    assert_clean_children(asked, (MODEL_WORKER,))


def assert_clean_children(running: "subprocess.Popen[bytes]", workers: Sequence[str]) -> None:
    """Look at the environments of a program's children until it ends."""
    seen: dict[str, bytes] = {}
    while len(seen) < len(workers) and not has_ended(running, 0.005):
        for pid in children_of(running.pid):
            command = command_of(pid)
            worker = next((name for name in workers if name in command), "")
            if worker and worker not in seen:
                seen[worker] = _environment_of(pid)
    done = ended(running)
    assert done.code == 0, done
    assert set(seen) == set(workers)
    for worker, environment in seen.items():
        assert b"s3cret" not in environment, worker
        assert b"PYTHONSAFEPATH=1" in environment, worker


def has_ended(running: "subprocess.Popen[bytes]", timeout_s: float) -> bool:
    """Return whether a program ends within a time."""
    try:
        running.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _environment_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        (">&-", 1, "The result cannot be printed: Bad file descriptor"),
        ("2>&-", 0, ""),
        ("<&-", 0, ""),
    ],
)
def test_streams_that_are_closed_at_the_start(
    tmp_path: Path, closed: str, code: int, said: str
) -> None:
    closing = ("sh", "-c", f'exec "$@" {closed}', "sh")
    done = Program(tmp_path / "home", before=closing).run("settings", "get", "retrieval.topK")
    assert (done.code, said in done.err) == (code, True), done
    assert done.out == ("8\n" if code == 0 else "")


def test_a_help_that_cannot_be_printed_is_no_bug(tmp_path: Path) -> None:
    full = ("sh", "-c", 'exec "$@" >/dev/full', "sh")
    done = Program(tmp_path / "home", before=full).run("--help")
    assert (done.code, done.err) == (1, "")


def test_a_working_folder_that_is_gone_is_no_obstacle(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = ("/bin/sh", "-c", f'cd "{gone}" && rmdir "{gone}" && exec "$0" "$@"')
    done = Program(tmp_path / "home", before=before).run("--version")
    assert done.code == 0, done


def test_a_terminal_shows_what_would_turn_text_around(
    tmp_path: Path, notes: Path, server: ModelServer
) -> None:
    hostile = "Pay \u202e0001\u202c\u200b rain \U000e0041\xad"
    (notes / "note.md").write_text(f"# Rain\n\n{hostile} 👩\u200d👧 می\u200cخواهم\n")
    program = Program(tmp_path / "home", ("--vault", str(notes)))
    program.json("index")
    escaped = r"Pay \u{202e}0001\u{202c}\u{200b} rain \u{e0041}\xad"
    found = program.run("search", "rain").out
    assert f"{escaped} 👩\u200d👧 می\u200cخواهم" in found
    server.script(Answer(f"{hostile} 👩\u200d👧.", chunk_chars=1))
    models = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=test")
    asked = program.run(*models, "ask", "Rain?", "--mode", "chat", "--no-index")
    assert f"{escaped} 👩\u200d👧." in asked.out


def test_a_note_whose_name_is_no_text_is_reported_and_can_be_attached(
    tmp_path: Path, server: ModelServer
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    name = os.fsdecode(b"caf\xe9.md")
    (folder / name).write_text("# Coffee\n\nTwo spoons.\n")
    models = ("--set", f"chat.apiBase={server.url}", "--set", "chat.model=test")
    program = Program(tmp_path / "home", ("--vault", str(folder), *models))
    (failed,) = program.json("index")["failed"]
    assert failed["path"] == r"caf\xe9.md"
    server.script(Answer("Two spoons [1]."))
    for named in (name, r"caf\xe9.md"):
        asked = program.json("ask", "How many?", "--mode", "chat", "--attach", named)
        assert asked["citations"][0]["path"] == r"caf\xe9.md"
        more = program.json("ask", "Sure?", "--mode", "chat", "--session", asked["session"])
        (segment,) = [s for s in more["context"]["segments"] if s["layer"] == "L2"]
        assert segment["source"] == r"caf\xe9.md"
    assert len(program.json("sessions", "list")["sessions"]) == 2
