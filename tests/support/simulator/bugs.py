"""Bugs made by hand, each of which a simulation must find."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

from app.backup.contents import list_files
from resources.system import calls, files, line_chain
from vault.exclude.rules import ExcludeRules

__all__ = ["BUGS", "install_bug"]

_LOAD_RULES: Final = ExcludeRules.load


def _write_in_place(path: Path, content: bytes) -> None:
    handle = calls.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        files.write_all(handle, content)
        calls.sync_file(handle)
    finally:
        os.close(handle)
    calls.sync_folder(path.parent)


def _write_once(handle: int, content: bytes) -> None:
    calls.write_part(handle, memoryview(content))


def _leave_half(handle: int, content: bytes) -> None:
    files.write_all(handle, content)
    calls.sync_file(handle)


def _chain_apart(lines: Sequence[Mapping[str, Any]], *_before: bytes, **_options: bool) -> bytes:
    return b"".join(line_chain.encode_chain([line]) for line in lines)


# What each does wrong, what is replaced, and by what.
BUGS: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    "memories are written in place": ("app.library.user_texts.write_atomically", _write_in_place),
    "a short write is taken for a whole one": ("resources.system.files.write_all", _write_once),
    "half a line stays after a failure": ("app.sessions.session.write_synced", _leave_half),
    "an edit keeps no earlier text": (
        "vault.edits.journal.EditJournal._store",
        lambda _journal, _content: None,
    ),
    "lines are chained to nothing": ("app.line_file.encode_chain", _chain_apart),
    "a forgotten memory may come back": (
        "app.library.user_texts.remove_synced",
        files.remove_if_there,
    ),
    "a purged chat stays": ("app.sessions.bin.ChatBin.remove", lambda _bin, _session: None),
    "a merge leaves memories out": (
        "app.backup.merge.merge_lines",
        lambda _place, _content: False,
    ),
    "a backup leaves a file out": (
        "app.backup.archive.list_files",
        lambda paths: list(list_files(paths))[1:],
    ),
    "a sent request is not kept": ("app.requests.store.SentStore._has", lambda _store, _hash: True),
    "excluded notes are read": (
        "vault.scan.ExcludeRules.load",
        lambda root, _exclude=(): _LOAD_RULES(root),
    ),
    "changed notes are not read": ("vault.scan.FileStat.differs", lambda _stat, _seen: False),
}


@contextmanager
def install_bug(name: str) -> Iterator[None]:
    """Put a bug into the product within a `with` block."""
    target, double = BUGS[name]
    with mock.patch(target, double):
        yield
