"""Changes are told by name, gathered, and taken up at the price of what changed."""

import os
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from tests.unit.vault.conftest import IndexMaker
from vault.errors import IndexUnusable, VaultError
from vault.indexing.progress import IndexReport
from vault.indexing.watcher import Watcher
from vault.vault import Vault

Until = Callable[[Callable[[], bool]], None]


class Told:
    """What a watcher said."""

    def __init__(self) -> None:
        self.calls: list[Collection[str] | None] = []

    def __call__(self, paths: Collection[str] | None) -> None:
        self.calls.append(paths)

    @property
    def names(self) -> set[str]:
        return {name for call in self.calls for name in call or ()}


@pytest.fixture
def told(tmp_path: Path, until: Until) -> Iterator[Told]:
    """A watcher at work: a first change has been seen."""
    (tmp_path / "notes" / ".trash").mkdir(parents=True)
    told = Told()
    watcher = Watcher(tmp_path / "notes", told)
    watcher.start()
    settle(tmp_path / "notes", told, until)
    yield told
    watcher.close()
    assert not watcher.is_alive


def settle(root: Path, told: Told, until: Until) -> None:
    def seen() -> bool:
        (root / "first").touch()
        return "first" in told.names

    until(seen)


def test_a_change_is_told_by_its_path(told: Told, tmp_path: Path, until: Until) -> None:
    (tmp_path / "notes" / ".trash" / "Old.md").write_text("thrown away")
    (tmp_path / "notes" / "Note.md").write_text("new")
    until(lambda: "Note.md" in told.names)
    assert not any("Old.md" in name for name in told.names)


def test_a_name_that_is_not_utf8_ends_nothing(told: Told, tmp_path: Path, until: Until) -> None:
    notes = tmp_path / "notes"
    Path(os.fsdecode(os.fsencode(notes) + b"/caf\xe9.md")).write_text("from an old disk")
    until(lambda: None in told.calls)  # the whole folder is looked at
    (notes / "Later.md").write_text("new")
    until(lambda: "Later.md" in told.names)
    assert None in told.calls


def test_a_flood_is_told_in_few_calls_without_names(
    told: Told, tmp_path: Path, until: Until
) -> None:
    for number in range(20_000):
        (tmp_path / "notes" / f"{number}.md").write_text("many")
    until(lambda: None in told.calls)
    assert len(told.calls) < 50


@pytest.fixture
def index(make_index: IndexMaker, write: Callable[[str, str], Path], tmp_path: Path) -> Vault:
    write("Rain.md", "# Rain\n\nThe barrel holds rain.\n")
    write("Cats.md", "# Cats\n\nCats sleep all day.\n")
    index = make_index(tmp_path / "notes")
    index.update()
    return index


def test_named_paths_are_taken_up_without_a_look_at_the_others(
    index: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    (index.root / "Rain.md").write_text("# Rain\n\nThe barrel is dry.\n")
    (index.root / "Cats.md").rename(index.root / "Dogs.md")
    (index.root / "New.md").write_text("# New\n\nA zebra.\n")

    def refuse(*_arguments: object) -> None:
        raise AssertionError("the folder was scanned")

    monkeypatch.setattr("vault.indexing.indexer.scan", refuse)
    report = index.update(only={"Rain.md", "Cats.md", "Dogs.md", "New.md", "gone.md"})
    done = (report.added, report.changed, report.renamed, report.removed, report.embedded_chunks)
    assert done == (1, 1, 1, 0, 2)
    assert index.search("zebra").hits[0].path == "New.md"
    assert "dry" in index.search("barrel").hits[0].text


@pytest.mark.parametrize("rule", ["private", "excluded", "gone", "linked"])
def test_named_paths_that_may_not_be_indexed_leave_the_index(
    index: Vault, tmp_path: Path, rule: str
) -> None:
    path = index.root / "Rain.md"
    if rule == "private":
        path.write_text("#private\n\nThe barrel holds rain.\n")
    elif rule == "excluded":
        index._exclude = ("Rain*",)
    else:
        path.unlink()
    if rule == "linked":
        path.symlink_to(tmp_path / "elsewhere.md")
    index.update(only={"Rain.md"})
    assert [state.path for state in index.notes() if state.state == "indexed"] == ["Cats.md"]


def test_a_folder_that_changed_is_looked_at_whole(index: Vault) -> None:
    (index.root / "deep").mkdir()
    (index.root / "deep" / "Zebra.md").write_text("A zebra.\n")
    assert index.update(only={"deep"}).added == 1
    (index.root / "deep").rename(index.root / "deeper")
    assert index.update(only={"deep", "deeper"}).renamed == 1


def test_what_changed_by_name_is_no_reason_to_miss_other_changes_later(index: Vault) -> None:
    (index.root / "Rain.md").write_text("Dry.\n")
    (index.root / "Cats.md").write_text("Awake.\n")
    index.update(only={"Rain.md"})
    assert index.update().changed == 1


def test_a_watched_index_follows_its_folder(index: Vault, until: Until) -> None:
    reports: list[IndexReport] = []
    arrived = threading.Event()

    def told(report: IndexReport) -> None:
        reports.append(report)
        arrived.set()

    index.watch(told)

    def seen() -> bool:
        (index.root / "Zebra.md").write_text(f"A zebra came by {len(reports)} times.\n")
        return arrived.wait(0.5)

    until(seen)
    until(lambda: index.search("zebra").hits[0].path == "Zebra.md")
    assert reports[0].added == 1


def test_a_watched_index_says_why_it_could_not_follow(
    index: Vault, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_how: object) -> None:
        raise IndexUnusable("The disk is full.")

    monkeypatch.setattr(index, "update", refuse)
    errors: list[VaultError] = []
    index.watch(on_failure=errors.append)

    def failed() -> bool:
        (index.root / "Rain.md").touch()
        return bool(errors)

    until(failed)
    assert str(errors[0]) == "The disk is full."


def test_an_update_that_goes_on_is_waited_for_no_longer_than_said(index: Vault) -> None:
    (index.root / "New.md").write_text("A zebra.\n")
    settled: list[bool] = []
    index.update(lambda _progress: settled.append(index.updates.wait_until_idle(0.0)))
    assert not any(settled)
    assert index.updates.wait_until_idle(0.0)


def test_a_folder_that_vanishes_while_it_is_watched_loses_no_note(
    index: Vault, until: Until
) -> None:
    index.watch()
    index.root.rename(index.root.with_name("away"))
    until(lambda: not index.is_watched or index.note_count == 2)
    assert index.note_count == 2


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[tuple[Watcher, Told]]:
    """A watcher that can be waited for."""
    (tmp_path / "notes").mkdir()
    told = Told()
    watcher = Watcher(tmp_path / "notes", told, marks_dir=tmp_path / "ours" / "marks")
    watcher.start()
    yield watcher, told
    watcher.close()


def test_whoever_catches_up_waits_for_every_change_before(
    marked: tuple[Watcher, Told], tmp_path: Path
) -> None:
    watcher, told = marked
    assert watcher.catch_up(60)  # it is watched from now on
    for number in range(20):
        (tmp_path / "notes" / f"{number}.md").write_text("new")
        assert watcher.catch_up(60)
        assert f"{number}.md" in told.names
    assert told.names <= {f"{number}.md" for number in range(20)}
    assert list((tmp_path / "ours" / "marks").iterdir()) == []
    calls = len(told.calls)
    assert watcher.catch_up(60)
    assert len(told.calls) == calls
    assert watcher.catch_up(60, looks_at_all=True)
    assert told.calls[-1] is None


def test_what_takes_long_is_waited_for_once_and_no_longer_than_said(tmp_path: Path) -> None:
    notes, goes_on = tmp_path / "notes", threading.Event()
    notes.mkdir()
    watcher = Watcher(notes, lambda _paths: goes_on.wait(60) and None, marks_dir=tmp_path / "marks")
    watcher.start()
    try:
        assert watcher.catch_up(60)
        (notes / "a.md").write_text("new")
        assert not watcher.catch_up(0.5)
        assert not watcher.catch_up(3_600)
        goes_on.set()
        while not watcher.catch_up(60):
            pass
    finally:
        goes_on.set()
        watcher.close()


def test_a_watcher_that_has_ended_is_not_waited_for(
    marked: tuple[Watcher, Told], tmp_path: Path
) -> None:
    watcher, _ = marked
    watcher.close()
    assert watcher.catch_up(3_600)
