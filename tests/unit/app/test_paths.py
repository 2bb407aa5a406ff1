import stat
from pathlib import Path

from app.paths import Paths


def test_strata_home_holds_all_four_folders(tmp_path: Path) -> None:
    paths = Paths.find({"STRATA_HOME": str(tmp_path / "all")})
    folders = [paths.config, paths.data, paths.state, paths.cache]
    assert [folder.relative_to(tmp_path / "all").as_posix() for folder in folders] == [
        "config",
        "data",
        "state",
        "cache",
    ]


def test_without_strata_home_nothing_lies_in_the_working_folder() -> None:
    paths = Paths.find({})
    assert all(folder.is_absolute() for folder in (paths.config, paths.data, paths.state))
    assert not paths.data.is_relative_to(Path.cwd())


def test_folders_are_made_for_their_owner_alone(strata_home: Path) -> None:
    paths = Paths.find()
    paths.make()
    made = [strata_home, paths.config, paths.data, paths.state, paths.cache, paths.sessions]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in made} == {0o700}


def test_a_vault_has_one_index_however_it_is_named(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "link").symlink_to(notes)
    paths = Paths.find()
    assert paths.index_of(notes) == paths.index_of(tmp_path / "link")
    assert paths.index_of(notes) == paths.index_of(notes / ".." / "notes")


def test_two_vaults_have_two_indexes_outside_of_both(tmp_path: Path) -> None:
    paths = Paths.find()
    first, second = paths.index_of(tmp_path / "a"), paths.index_of(tmp_path / "b")
    assert first != second
    assert first.parent == second.parent == paths.data / "vaults"
