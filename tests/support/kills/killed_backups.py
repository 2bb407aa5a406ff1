"""A process that backs up, restores or merges, killed at file operations chosen by a seed.

`python -m tests.support.kills.killed_backups FOLDER TRIALS ACT…` forks a child for each trial of
each act. After the child is killed, the home is compared with what it held before, the act is done
again without a kill, and everything that is then wrong is printed as a line of JSON.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from app.backup.archive import ArchiveWriter, open_archive
from app.backup.restore import Restorer, RestoreReport
from app.backup.text_copies import merge_text_copies
from app.config.settings_file import SettingsStore
from app.errors import AppError
from app.paths import Paths
from app.sessions.file import encode_line, read_lines
from app.sessions.store import SessionStore
from app.state_db import StateDB
from chains.cancel import CancelToken
from tests.support.kills.crashing_files import DeadlyFiles, Death
from tests.support.sessions.synced_folders import make_old

SHARED, OWN, OTHER = "5ed00001", "0e000001", "0e000002"
Act = Callable[["Home"], None]


class Home:
    """The folders of Strata below one folder, and an archive beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = Paths.find({"STRATA_HOME": str(folder / "home")})
        self.archive = folder / "backup.zip"

    def back_up(self, target: Path | None = None) -> None:
        """Write an archive."""
        state = StateDB(self.paths.state_db)
        writer = ArchiveWriter(self.paths, SettingsStore(self.paths.settings_file), state)
        list(writer.write(target or self.folder / "new.zip", CancelToken()))
        state.close()

    def restore(self) -> None:
        """Merge the archive into this home."""
        state = StateDB(self.paths.state_db)
        settings = SettingsStore(self.paths.settings_file)
        sessions = SessionStore(self.paths.sessions, state)
        restorer = Restorer(self.paths, settings, sessions, state)
        *_, report = restorer.restore(self.archive, merges=True, cancel=CancelToken())
        assert isinstance(report, RestoreReport)
        assert not report.failed, report.failed
        state.close()

    def merge(self) -> None:
        """Merge the copies that a sync program made of a chat, of the memories and the settings."""
        state = StateDB(self.paths.state_db)
        SessionStore(self.paths.sessions, state).list()
        merge_text_copies(self.paths, SettingsStore(self.paths.settings_file))
        state.close()

    def list_texts(self) -> dict[str, list[str]]:
        """Return the texts of the messages of each chat, as a program that opens it reads them."""
        store = SessionStore(self.paths.sessions, StateDB(self.paths.state_db))
        files = sorted(self.paths.sessions.glob("*.jsonl"))
        return {file.stem: _list_texts(store, file.stem) for file in files if file.stem.isalnum()}


def _list_texts(store: SessionStore, session: str) -> list[str]:
    lines = (entry.to_dict() for entry in store.read(session).log.entries)
    return sorted(str(line["content"]) for line in lines if line["type"] == "message")


def make_homes(folder: Path) -> Home:
    """Make a home with an archive beside it, of another home with which it shares a chat."""
    other, own = Home(folder / "other"), Home(folder / "own")
    for home in (other, own):
        name = home.folder.name
        _write_chat(home, SHARED, ["both", f"of {name} alone", f"more of {name}"])
        _write(home.paths.memories, f"- both\n- {name}\n")
        _write(home.paths.prompts / "same.md", f"A prompt of {name}.")
    _write_chat(own, OWN, ["only here"])
    _write_chat(other, OTHER, ["only there", "and its end"])
    _write(own.paths.settings_file, '[ui]\ntheme = "dark"\n')
    _write(other.paths.settings_file, '[ui]\ntheme = "light"\n[retrieval]\ntopK = 9\n')
    _write(other.paths.projects / "p" / "instructions.md", "Be brief.")
    state = StateDB(other.paths.state_db)
    state.keep_result("read_note", "a large result")
    state.close()
    other.back_up(own.archive)
    return own


def add_copies(own: Home) -> None:
    """Put the other machine's versions beside the files of a home, as a sync program does."""
    other = Home(own.folder.with_name("other"))
    for place, name in (
        (
            own.paths.sessions / f"{SHARED}.jsonl",
            f"{SHARED} (conflicted copy).jsonl",
        ),
        (own.paths.memories, "memories (conflicted copy).md"),
        (own.paths.settings_file, "settings 2.toml"),
    ):
        source = other.folder / place.relative_to(own.folder)
        copy = place.with_name(name)
        shutil.copy(source, copy)
        make_old(copy)
    os.utime(own.paths.settings_file)  # the settings here were changed last


def _write_chat(home: Home, session: str, texts: list[str]) -> None:
    header = {"type": "session", "version": 2, "id": session, "timestamp": "t", "vault": None}
    lines: list[dict[str, Any]] = [header]
    for number, text in enumerate(texts):
        id = f"{abs(hash_text(text)):08x}"
        place = {"id": id, "parentId": lines[-1]["id"] if number else None, "timestamp": "t"}
        content = {"role": "user", "content": text, "turnId": id}
        lines.append({"type": "message", **place, **content})
    _write(home.paths.sessions / f"{session}.jsonl", b"".join(map(encode_line, lines)).decode())


def hash_text(text: str) -> int:
    """Return a number of 32 bits that depends on a text alone."""
    return int.from_bytes(text.encode()[-4:].rjust(4, b"\0"), "big")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def run_until_killed(home: Home, act: Act, death: Death) -> bool:
    """Run an act in a child that dies at an operation, and return whether it died."""
    child = os.fork()
    if child == 0:
        DeadlyFiles(home.folder, death).install()
        try:
            act(home)
        except AppError:
            os._exit(3)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def count_operations(home: Home, act: Act) -> int:
    """Return how many file operations an act has."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        files = DeadlyFiles(home.folder, None)
        files.install()
        act(home)
        os.write(writer, str(files.count).encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    return int(os.read(reader, 32))


def find_losses(folder: Path, act_name: str, trials: int) -> Iterator[dict[str, Any]]:
    """Kill an act in each trial, and yield what was lost or is still wrong after a second try."""
    act: Act = {"backup": Home.back_up, "restore": Home.restore, "merge": Home.merge}[act_name]
    original = make_homes(folder / "original")
    original.list_texts()  # creates folders, so that all copies have the same ones
    if act_name == "merge":
        add_copies(original)
    wanted = None if act_name == "backup" else _describe_merged(original, folder, act)
    operations = count_operations(_copy(original, folder / "counted"), act)
    for seed in range(trials):
        home = _copy(original, folder / f"trial{seed}")
        death = Death.by_chance(seed, operations)
        has_died = run_until_killed(home, act, death)
        for problem in _examine(original, home, act, wanted):
            yield {"seed": seed, "death": repr(death), "problem": problem}
        yield {"seed": seed, "died": has_died}
        shutil.rmtree(home.folder)


def _describe_merged(original: Home, folder: Path, act: Act) -> dict[str, list[str]]:
    merged = _copy(original, folder / "merged")
    act(merged)
    texts = merged.list_texts()
    assert texts != original.list_texts()
    assert "of other alone" in texts[SHARED]
    return texts


def _examine(
    original: Home, home: Home, act: Act, wanted: dict[str, list[str]] | None
) -> Iterator[str]:
    before, after = original.list_texts(), home.list_texts()
    memories = original.paths.memories.read_text("utf-8")
    if not home.paths.memories.read_text("utf-8").startswith(memories):
        yield "memories were lost after the kill"
    for session, texts in before.items():
        if not set(texts) <= set(after.get(session, ())):
            yield f"{session} has {after.get(session)} after the kill"
    if home.archive.read_bytes() != original.archive.read_bytes():
        yield "the archive was changed"
    new = home.folder / "new.zip"
    if new.exists():
        with open_archive(new):
            new.unlink()
    act(home)
    if wanted is not None:
        yield from _find_missing(home, wanted)
    if not (home.paths.prompts / "same.md").read_text("utf-8").endswith("of own."):
        yield "a prompt was overwritten"
    if 'theme = "dark"' not in home.paths.settings_file.read_text("utf-8"):
        yield "a setting was overwritten"
    if read_lines((home.paths.sessions / f"{OWN}.jsonl").read_bytes())[0]["id"] != OWN:
        yield "a chat has another header"


def _find_missing(home: Home, wanted: dict[str, list[str]]) -> Iterator[str]:
    """Yield what a home has not got of the other one."""
    if home.list_texts() != wanted:
        yield f"{home.list_texts()} in place of {wanted}"
    if "- other" not in home.paths.memories.read_text("utf-8"):
        yield "a memory of the other home is missing"
    if "topK = 9" not in home.paths.settings_file.read_text("utf-8"):
        yield "a setting of the other home is missing"


def _copy(original: Home, folder: Path) -> Home:
    shutil.copytree(original.folder, folder)
    return Home(folder)


def kill_backups(folder: Path, acts: Sequence[str], trials: int) -> list[dict[str, Any]]:
    """Run the trials of each act in a process of their own, and return its lines."""
    command = [sys.executable, "-m", __name__, str(folder), str(trials), *acts]
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    for act in sys.argv[3:]:
        for found in find_losses(Path(sys.argv[1], act), act, int(sys.argv[2])):
            sys.stdout.write(json.dumps(found) + "\n")
