"""What a window knows before anything is open, and what opening refuses."""

from contextlib import closing
from functools import cached_property
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import BadSetting
from app.paths import Paths
from app.startup import Startup
from vault.errors import VaultMissing


@pytest.fixture
def paths(strata_home: Path) -> Paths:
    paths = Paths.find()
    paths.config.mkdir(parents=True)
    return paths


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Note.md").write_text("A note.")
    return folder


def test_the_first_look_is_that_of_the_settings(paths: Paths, notes: Path) -> None:
    paths.settings_file.write_text(f'[ui]\ntheme = "dark"\n[vault]\npath = "{notes}"\n')
    look = Startup(paths).look
    assert (look.theme, look.vault, look.state) == ("dark", notes, paths.state)


def test_what_was_named_for_this_run_comes_first(paths: Paths, notes: Path, tmp_path: Path) -> None:
    paths.settings_file.write_text(f'[ui]\ntheme = "dark"\n[vault]\npath = "{tmp_path}"\n')
    look = Startup(paths, {"ui.theme": "light"}, str(notes)).look
    assert (look.theme, look.vault) == ("light", notes)


@pytest.mark.parametrize(
    "content", ["", "[ui", "ui = 3", "[ui]\ntheme = []", '[vault]\npath = "/not/there"', "\udce4"]
)
def test_settings_that_say_nothing_usable_make_the_first_look_plain(
    paths: Paths, content: str
) -> None:
    paths.settings_file.write_bytes(content.encode("utf-8", "surrogateescape"))
    look = Startup(paths).look
    assert (look.theme, look.vault) == ("system", None)


def test_a_note_that_the_desktop_opens_is_shown_in_its_vault(
    paths: Paths, notes: Path, tmp_path: Path
) -> None:
    paths.settings_file.write_text(f'[vault]\npath = "{notes}"\n')
    inside = Startup(paths, path=str(notes / "Note.md"))
    assert (inside.look.vault, inside.note) == (notes, "Note.md")
    other = tmp_path / "other"
    (other / ".obsidian").mkdir(parents=True)
    (other / "One.md").write_text("One.")
    found = Startup(paths, path=str(other / "One.md"))
    assert (found.look.vault, found.note, found.asked) == (other, "One.md", f"{other}/One.md")
    (tmp_path / "Alone.md").write_text("Alone.")
    alone = Startup(paths, path=str(tmp_path / "Alone.md"))
    assert (alone.look.vault, alone.note) == (notes, str(tmp_path / "Alone.md"))
    folder = Startup(paths, path=str(other))
    assert (folder.look.vault, folder.note) == (other, "")
    with pytest.raises(VaultMissing):
        Startup(paths, path=str(tmp_path / "nowhere")).refuse_early()


def test_a_folder_that_was_named_and_is_not_there_is_refused_early(paths: Paths) -> None:
    with pytest.raises(VaultMissing):
        Startup(paths, folder="/not/there").refuse_early()


def test_a_setting_that_was_named_wrongly_is_refused_early(paths: Paths) -> None:
    with pytest.raises(BadSetting):
        Startup(paths, {"ui.theme": "pink"}).refuse_early()


def test_the_folder_of_the_last_time_may_be_gone(paths: Paths) -> None:
    paths.settings_file.write_text('[vault]\npath = "/not/there"\n')
    with closing(Startup(paths)) as opening:
        assert opening.open().vault is None


def test_opening_opens_the_notes(paths: Paths, notes: Path) -> None:
    with closing(Startup(paths, folder=str(notes))) as opening:
        assert opening.open().vault == notes.resolve()


def test_opening_loads_what_the_window_would_wait_for(paths: Paths) -> None:
    on_demand = {name for name, one in vars(Assistant).items() if isinstance(one, cached_property)}
    light_or_rare = {"images", "review", "user_edits", "formulas", "pages"}
    light_or_rare |= {"pinned", "pinned_notes", "kept_passages", "time_machine", "rehearser"}
    light_or_rare |= {"judging", "kept_verdicts", "mender"}
    with closing(Startup(paths)) as opening:
        assert on_demand - light_or_rare <= vars(opening.open()).keys()


def test_the_files_are_known_before_the_vault_is_open(paths: Paths, notes: Path) -> None:
    (notes / "Draft.md").write_text("A draft.")
    written = f'[vault]\npath = "{notes}"\nexclude = ["Draft.md"]\n'
    paths.settings_file.write_text(written)
    names, images = Startup(paths).list_files()
    states = {note.path: note.state for note in names}
    assert images == ()
    assert states == {"Draft.md": "excluded", "Note.md": "waiting"}


@pytest.mark.parametrize("content", ["", '[vault]\npath = "/not/there"\n'])
def test_there_are_no_files_without_a_vault(paths: Paths, content: str) -> None:
    paths.settings_file.write_text(content)
    assert Startup(paths).list_files() == ((), ())
