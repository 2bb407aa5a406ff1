from pathlib import Path

import pytest

from vault.edits.editor import NoteEditor
from vault.edits.journal import EditJournal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def journal(tmp_path: Path) -> EditJournal:
    return EditJournal(tmp_path / "state" / "edits")


@pytest.fixture
def editor(root: Path, journal: EditJournal) -> NoteEditor:
    return NoteEditor(root, journal, lambda: ("drafts/",))
