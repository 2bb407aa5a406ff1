import stat
from pathlib import Path

from app.paths import Paths
from resources.system.files import make_private_folder


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
    make_private_folder(strata_home / "data" / "sessions")
    made = [strata_home, strata_home / "data", strata_home / "data" / "sessions"]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in made} == {0o700}


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    make_private_folder(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


def test_a_vault_has_one_index_however_it_is_named(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "link").symlink_to(notes)
    paths = Paths.find()
    assert paths.index_folder(notes) == paths.index_folder(tmp_path / "link")
    assert paths.index_folder(notes) == paths.index_folder(notes / ".." / "notes")


def test_two_vaults_have_two_indexes_outside_of_both(tmp_path: Path) -> None:
    paths = Paths.find()
    first, second = paths.index_folder(tmp_path / "a"), paths.index_folder(tmp_path / "b")
    assert first != second
    assert first.parent == second.parent == paths.data / "vaults"


def test_a_home_of_an_unknown_user_is_a_folder_of_that_name() -> None:
    assert Paths.find({"STRATA_HOME": "~nosuchuser/x"}).config.parts[-3:] == (
        *("~nosuchuser", "x", "config"),
    )
