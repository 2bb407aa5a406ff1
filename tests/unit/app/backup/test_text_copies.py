"""Copies of settings and memories that a sync program made: both machines end alike."""

import os
import re
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.backup.text_copies import merge_text_copies
from app.config.settings_file import SettingsStore
from app.library.forgotten import ForgottenLines
from app.library.user_texts import MEMORIES, UserTextFile
from app.paths import Paths
from app.wiring import build
from tests.support.sessions.synced_folders import COPY_NAMES, SyncedFolders, make_old

OLDER_S, NEWER_S = 1_000, 2_000


def make_paths(folder: Path) -> Paths:
    """Return the folders of a machine, of which the one with settings is synced."""
    paths = Paths.find({"STRATA_HOME": str(folder)})
    paths.config.mkdir(parents=True)
    return paths


def name_copy(place: Path, program: str) -> Path:
    """Return the name that a program gives the copy of a file."""
    return place.with_name(COPY_NAMES[program](place.stem, place.suffix))


@pytest.mark.parametrize("program", COPY_NAMES)
@pytest.mark.parametrize("is_copy_newer", [False, True])
def test_settings_are_those_that_were_changed_last(
    program: str, is_copy_newer: bool, tmp_path: Path
) -> None:
    paths = make_paths(tmp_path)
    place, copy = paths.settings_file, name_copy(paths.settings_file, program)
    own = '# mine\n[retrieval]\ntopK = 9\n[ui]\ntheme = "dark"\n'
    other = "[retrieval]\ntopK = 5\n[chat]\ntitles = false\n[hooks]\nenabled = true\n"
    for path, text, is_newer in ((place, own, not is_copy_newer), (copy, other, is_copy_newer)):
        path.write_text(text)
        os.utime(path, (NEWER_S if is_newer else OLDER_S,) * 2)
    settings = SettingsStore(place)
    merge_text_copies(paths, settings)
    assert settings.get("retrieval.topK") == (5 if is_copy_newer else 9)
    assert (settings.get("ui.theme"), settings.get("chat.titles")) == ("dark", False)
    assert settings.get("hooks.enabled") is False
    assert not copy.exists()
    (aside,) = (paths.data / "restored").rglob("settings.toml")
    assert aside.read_text() == (own if is_copy_newer else other)


def test_settings_that_agree_leave_nothing_aside(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    paths.settings_file.write_text("[retrieval]\ntopK = 9\n")
    copy = name_copy(paths.settings_file, "iCloud")
    copy.write_text("[chat]\ntitles = false\n")
    make_old(copy)
    settings = SettingsStore(paths.settings_file)
    merge_text_copies(paths, settings)
    assert (settings.get("retrieval.topK"), settings.get("chat.titles")) == (9, False)
    assert not paths.data.exists()


@pytest.mark.parametrize(
    "name",
    ["settings-old.toml", "settings.bak.toml", "settings (mine).toml", "my settings 2.toml"],
)
def test_files_of_the_user_stay(name: str, tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    paths.settings_file.write_text("[retrieval]\ntopK = 9\n")
    (paths.config / name).write_text("[chat]\ntitles = false\n")
    make_old(paths.config / name)
    settings = SettingsStore(paths.settings_file)
    merge_text_copies(paths, settings)
    assert settings.get("chat.titles") is True
    assert (paths.config / name).exists()


def test_a_damaged_copy_is_put_aside(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    paths.settings_file.write_text("[retrieval]\ntopK = 9\n")
    copy = name_copy(paths.settings_file, "Syncthing")
    copy.write_text("[retrieval\n")
    make_old(copy)
    settings = SettingsStore(paths.settings_file)
    (told,) = merge_text_copies(paths, settings)
    assert told.startswith(f"{copy.name}, a copy of a sync program, cannot be read.")
    assert settings.get("retrieval.topK") == 9
    (aside,) = (paths.data / "restored").rglob("*.toml")
    assert (aside.name, aside.read_text()) == (copy.name, "[retrieval\n")
    assert not copy.exists()


@pytest.mark.parametrize("winner", [0, 1])
@pytest.mark.parametrize("program", COPY_NAMES)
def test_two_machines_end_with_the_same_settings_and_memories(
    program: str, winner: int, tmp_path: Path
) -> None:
    machines = [make_paths(tmp_path / name) for name in ("one", "two")]
    synced = SyncedFolders(machines[0].config, machines[1].config, program)
    projects = [paths.projects / "p" / "memory.md" for paths in machines]
    for number, paths in enumerate(machines):
        paths.memories.write_text(f"- both\n- of {number}\n")
        projects[number].parent.mkdir(parents=True)
        projects[number].write_text(f"- project {number}\n")
        SettingsStore(paths.settings_file).set("retrieval.topK", 8 + number)
    SettingsStore(machines[1].settings_file).set("chat.titles", False)
    synced.sync(winner)
    for number in (winner, 1 - winner):
        merge_text_copies(machines[number], SettingsStore(machines[number].settings_file))
        synced.sync(winner)
    for paths, project in zip(machines, projects, strict=True):
        assert sorted(paths.memories.read_text().splitlines()) == ["- both", "- of 0", "- of 1"]
        assert sorted(project.read_text().splitlines()) == ["- project 0", "- project 1"]
        assert SettingsStore(paths.settings_file).get("chat.titles") is False
    values = [SettingsStore(paths.settings_file).get("retrieval.topK") for paths in machines]
    assert values[0] == values[1]
    assert values[0] in (8, 9)
    assert not synced.sync(winner)


def test_a_memory_that_is_still_arriving_waits(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    paths.memories.write_text("- mine\n")
    copy = name_copy(paths.memories, "Syncthing")
    copy.write_text("- begun\n")
    merge_text_copies(paths, SettingsStore(paths.settings_file))
    assert (paths.memories.read_text(), copy.read_text()) == ("- mine\n", "- begun\n")
    copy.write_text("- begun\n- ended\n")
    make_old(copy)
    merge_text_copies(paths, SettingsStore(paths.settings_file))
    assert paths.memories.read_text() == "- mine\n- begun\n- ended\n"
    assert not copy.exists()


STRICTER = [
    ("[vault]\nexclude = ['Private/**']", "[vault]\nexclude = []", "vault.exclude", ["Private/**"]),
    ("[vault]\nexclude = ['A']", "[vault]\nexclude = ['!A', 'B']", "vault.exclude", ["A", "B"]),
    ("[privacy]\noffline = true", "[privacy]\noffline = false", "privacy.offline", True),
    ("[spending]\ndayLimit = 2.0", "[spending]\ndayLimit = 0.0", "spending.dayLimit", 2.0),
    ("[spending]\nmonthLimit = 9.0", "[spending]\nmonthLimit = 5.0", "spending.monthLimit", 5.0),
    (
        "[spending]\nholdUnpriced = true",
        "[spending]\nholdUnpriced = false",
        "spending.holdUnpriced",
        True,
    ),
]


@pytest.mark.parametrize("is_copy_newer", [False, True])
@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize(("one", "two", "key", "wanted"), STRICTER)
def test_no_copy_takes_a_protection_away(
    one: str,
    two: str,
    key: str,
    wanted: object,
    is_swapped: bool,
    is_copy_newer: bool,
    tmp_path: Path,
) -> None:
    paths = make_paths(tmp_path)
    copy = name_copy(paths.settings_file, "Syncthing")
    own, other = (two, one) if is_swapped else (one, two)
    for path, text, is_newer in (
        (paths.settings_file, own, not is_copy_newer),
        (copy, other, is_copy_newer),
    ):
        path.write_text(text)
        os.utime(path, (NEWER_S if is_newer else OLDER_S,) * 2)
    assistant = build(paths)
    with closing(assistant):
        found = assistant.settings.get(key)
        assert sorted(found) == wanted if isinstance(found, list) else found == wanted
        (told,) = assistant.take_warnings()
        assert told.startswith(
            f"{copy.name}, a copy of your settings by a sync program, was merged."
        )
        assert assistant.take_warnings() == ()
    assert not copy.exists()


@pytest.mark.parametrize("content", [b"- \xff\xfe", "- käse".encode("latin-1")])
def test_a_copy_of_memories_that_is_no_text_is_put_aside(content: bytes, tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    paths.memories.write_text("- mine\n")
    copy = name_copy(paths.memories, "OneDrive")
    copy.write_bytes(content)
    make_old(copy)
    (told,) = merge_text_copies(paths, SettingsStore(paths.settings_file))
    (aside,) = (paths.data / "restored").rglob("*.md")
    assert aside.read_bytes() == content
    assert str(aside) in told
    assert (paths.memories.read_text(), copy.exists()) == ("- mine\n", False)


WRONG = [
    ("[retrieval]\ntopK = 9000", "[retrieval]\ntopK = 5", "retrieval.topK", 5),
    ("[retrieval]\ntopK = 'many'", "[retrieval]\ntopK = 5", "retrieval.topK", 5),
    ("[retrieval]\ntopK = nan", "[retrieval]\ntopK = 5", "retrieval.topK", 5),
    ("retrieval = 3", "[retrieval]\ntopK = 5", "retrieval", 5),
    ("[retrieval.topK]\nx = 1", "[retrieval]\ntopK = 5", "retrieval.topK", 5),
    ("[ui]\ntheme = 'pink'", "[ui]\ntheme = 'dark'", "ui.theme", "dark"),
    ("[ui]\nquickAsk = 'yes'", "[ui]\nquickAsk = true", "ui.quickAsk", True),
    ("[vault]\nexclude = 'A'", "[vault]\nexclude = ['A']", "vault.exclude", ["A"]),
    ("[vault]\nexclude = [1]", "[vault]\nexclude = ['A']", "vault.exclude", ["A"]),
    ("[spending]\ndayLimit = -3", "[spending]\ndayLimit = 2.0", "spending.dayLimit", 2.0),
    ("[privacy]\noffline = 'no'", "[privacy]\noffline = true", "privacy.offline", True),
    ("autoCompactThreshold = 1", "autoCompactThreshold = 9000", "autoCompactThreshold", 9000),
    ("[context]\ntrimAt = 0.99", "[context]\ncompactAt = 0.9", "context.trimAt", 0.8),
]


@pytest.mark.parametrize("is_copy_newer", [False, True])
@pytest.mark.parametrize(("wrong", "good", "named", "wanted"), WRONG)
def test_a_newer_file_with_a_wrong_value_costs_no_good_one(
    wrong: str, good: str, named: str, wanted: object, is_copy_newer: bool, tmp_path: Path
) -> None:
    paths = make_paths(tmp_path)
    copy = name_copy(paths.settings_file, "Syncthing")
    newer = f"{wrong}\n[chat]\ntitles = false\n"
    own, other = (good, newer) if is_copy_newer else (newer, good)
    for path, text, is_newer in (
        (paths.settings_file, own, not is_copy_newer),
        (copy, other, is_copy_newer),
    ):
        path.write_text(text)
        os.utime(path, (NEWER_S if is_newer else OLDER_S,) * 2)
    settings = SettingsStore(paths.settings_file)
    (told,) = merge_text_copies(paths, settings)
    key = "retrieval.topK" if named == "retrieval" else named
    assert (settings.get(key), settings.get("chat.titles")) == (wanted, False)
    assert settings.problems == ()
    assert f"left out of the newer file: {named}. That file is kept as " in told
    kept = [file.read_text() for file in (paths.data / "restored").rglob("settings.toml")]
    assert newer in kept
    assert not copy.exists()


class Memories:
    """Two computers with a synced folder of memories, and what should be in it."""

    def __init__(self, folder: Path, program: str) -> None:
        self.homes = [make_paths(folder / name) for name in ("one", "two")]
        self._synced = SyncedFolders(self.homes[0].config, self.homes[1].config, program)

    def open(self, number: int) -> UserTextFile:
        paths = self.homes[number]
        forgotten = ForgottenLines(paths.memories, paths.computer)
        return UserTextFile(paths.memories, MEMORIES, forgotten)

    def read(self, number: int) -> list[str]:
        return re.findall(r"- (\w+)", self.open(number).read().text)

    def write(self, number: int, words: list[str]) -> None:
        self.open(number).write("# Memories\n\n" + "".join(f"- {word}\n" for word in words))

    def start(self, number: int) -> None:
        paths = self.homes[number]
        merge_text_copies(paths, SettingsStore(paths.settings_file))

    def sync(self, winner: int) -> bool:
        return self._synced.sync(winner)

    def settle(self) -> None:
        for turn in range(8):
            self.start(turn % 2)
            if not self.sync(turn % 2) and turn > 2:
                return
        raise AssertionError("the two never end alike")


ACTS = st.sampled_from(["add", "add", "forget", "sync", "start"])


@settings(max_examples=30)
@given(
    acts=st.lists(st.tuples(ACTS, st.integers(0, 1), st.integers(0, 9)), max_size=30),
    program=st.sampled_from(sorted(COPY_NAMES)),
)
def test_a_forgotten_memory_never_comes_back_and_no_other_is_lost(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int, int]], program: str
) -> None:
    two = Memories(tmp_path_factory.mktemp("two"), program)
    for number in (0, 1):  # each was started once, so that the other knows it
        two.write(number, [f"both{number}"])
        two.start(number)
    two.settle()
    wanted = {"both0", "both1"}
    for count, (act, number, choice) in enumerate(acts):
        here = two.read(number)
        if act == "add":
            two.write(number, [*here, f"word{count}"])
            wanted.add(f"word{count}")
        elif act == "forget" and here:
            word = here.pop(choice % len(here))
            two.write(number, here)
            wanted.discard(word)
        elif act == "sync":
            two.sync(number)
        elif act == "start":
            two.start(number)
    two.settle()
    for number in (0, 1):
        assert sorted(two.read(number)) == sorted(wanted)


@pytest.mark.parametrize("is_by_hand", [False, True])
def test_a_memory_that_is_put_back_stays(tmp_path: Path, is_by_hand: bool) -> None:
    two = Memories(tmp_path, "Syncthing")
    two.write(0, ["bread", "rain"])
    two.start(0)
    two.settle()
    two.write(0, ["rain"])
    two.settle()
    assert two.read(1) == ["rain"]
    if is_by_hand:  # in another program, which records nothing
        two.homes[1].memories.write_text("- rain\n- bread\n")
    else:
        two.write(1, ["rain", "bread"])
    two.settle()
    assert two.read(0) == two.read(1) == ["rain", "bread"]


def test_one_computer_alone_keeps_what_another_program_puts_back(tmp_path: Path) -> None:
    one = Memories(tmp_path, "Syncthing")
    one.write(0, ["bread"])
    one.write(0, [])
    one.homes[0].memories.write_text("- bread\n")
    one.start(0)
    assert one.read(0) == ["bread"]


def test_a_memory_that_another_program_takes_out_is_no_loss_of_others(tmp_path: Path) -> None:
    two = Memories(tmp_path, "Dropbox")
    two.write(0, ["bread"])
    two.settle()
    two.homes[0].memories.write_text("- rain\n")
    two.write(1, ["bread", "salt"])
    two.sync(1)
    two.settle()
    assert sorted(two.read(0)) == sorted(two.read(1)) == ["bread", "rain", "salt"]


@pytest.mark.parametrize("damage", ["", "[]", '{"a": 1}', '{"a": ["x", "y"]}', "{"])
def test_a_damaged_record_forgets_nothing(tmp_path: Path, damage: str) -> None:
    two = Memories(tmp_path, "iCloud")
    two.write(0, ["bread"])
    (two.homes[0].config / "memories.forgotten-00000000.json").write_text(damage)
    two.homes[0].state.mkdir()
    two.homes[0].computer.write_text("../../x")
    two.start(0)
    assert two.read(0) == ["bread"]
    assert not list(tmp_path.rglob("x*"))
