import codecs
import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.config.schema import schema
from app.config.settings_file import SettingsStore
from app.errors import BadSetting, StorageFailed
from resources.system import files as durable

WRITTEN = """\
# mine
autoCompactThreshold = 64000  # enough

[vault]
path = "/notes"

[future]
switch = true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.toml"


@pytest.fixture
def written(file: Path) -> Path:
    file.parent.mkdir()
    file.write_text(WRITTEN, "utf-8")
    return file


def test_without_a_file_the_defaults_hold_and_none_is_made(file: Path) -> None:
    store = SettingsStore(file)
    assert store.get("autoCompactThreshold") == 128_000
    assert not file.exists()


def test_a_run_comes_before_the_file_and_the_file_before_the_default(written: Path) -> None:
    store = SettingsStore(written, {"autoCompactThreshold": 8_000})
    sources = {item["key"]: (item["value"], item["source"]) for item in store.list_values()}
    assert sources["autoCompactThreshold"] == (8_000, "run")
    assert sources["vault.path"] == ("/notes", "file")
    assert sources["retrieval.topK"] == (8, "default")


def test_setting_keeps_comments_order_and_unknown_keys(written: Path) -> None:
    store = SettingsStore(written)
    store.set("autoCompactThreshold", 32_000)
    assert written.read_text("utf-8") == WRITTEN.replace("64000", "32000")
    assert store.unknown == ("future.switch",)


def test_setting_keeps_a_byte_order_mark(written: Path) -> None:
    written.write_bytes(codecs.BOM_UTF8 + written.read_bytes())
    store = SettingsStore(written)
    store.set("vault.path", "/other")
    store.reset("autoCompactThreshold")
    assert written.read_bytes().startswith(codecs.BOM_UTF8 + b"# mine\n")
    assert written.read_bytes().count(codecs.BOM_UTF8) == 1
    assert SettingsStore(written).get("vault.path") == "/other"
    assert not SettingsStore(written).problems


def test_a_password_leaves_the_file_under_the_lock_of_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a setting that another process writes at this moment would be lost."""
    file.parent.mkdir()
    file.write_text('[chat]\napiBase = "https://me:secret@example.org/v1"\n')
    monkeypatch.setattr("app.config.secrets.save_key", lambda owner, key: None)
    lock_folder = durable.lock_folder
    locked: list[Path] = []

    @contextmanager
    def lock_later(folder: Path) -> Iterator[None]:
        """Let another process write the file first."""
        with lock_folder(folder):
            file.write_text(f"maxOutputTokens = 900\n\n{file.read_text()}")
            locked.append(folder)
            yield

    monkeypatch.setattr("app.config.settings_file.lock_folder", lock_later)
    assert not SettingsStore(file).problems
    assert locked == [file.parent]
    assert file.read_text().startswith("maxOutputTokens = 900\n")
    assert "secret" not in file.read_text()
    with lock_folder(file.parent, timeout_s=0):  # it is not locked any more
        pass


@pytest.mark.parametrize(
    ("ours", "theirs", "both"),
    [
        (["a/", "b/"], ["a/", "c/"], ["a/", "b/", "c/"]),
        ([], ["a/", "c/"], ["c/"]),
        (["a/", "b/"], [], ["b/"]),
        (["b/", "a/"], ["a/", "b/"], ["b/", "a/"]),
    ],
)
def test_two_programs_change_one_list_and_keep_what_both_have_done(
    file: Path, ours: list[str], theirs: list[str], both: list[str]
) -> None:
    """Simulator, seeds 2003, 3004 and 3009: the exclusion of the other program was lost."""
    SettingsStore(file).set("vault.exclude", ["a/"])
    one, other = SettingsStore(file), SettingsStore(file)
    other.set("vault.exclude", theirs)
    assert one.set("vault.exclude", ours) == both
    assert one.get("vault.exclude") == SettingsStore(file).get("vault.exclude") == both
    assert one.set("vault.exclude", ["d/"]) == ["d/"]  # the other one has changed nothing since


def test_two_clients_of_one_store_change_one_list_and_keep_what_both_have_done(file: Path) -> None:
    """Each began with the same list, while the store knows what the first has stored."""
    store = SettingsStore(file)
    store.set("vault.exclude", ["a/"])
    assert store.set("vault.exclude", ["a/", "b/"], base=["a/"]) == ["a/", "b/"]
    assert store.set("vault.exclude", ["a/", "c/"], base=["a/"]) == ["a/", "c/", "b/"]
    assert store.set("vault.exclude", ["b/", "c/"], base=["a/", "b/"]) == ["b/", "c/"]
    with pytest.raises(BadSetting):
        store.set("vault.exclude", [], base=[5])
    assert store.set("vault.exclude", ["d/"]) == ["d/"]


def test_two_programs_change_one_table_and_keep_what_both_have_done(file: Path) -> None:
    first = {"a": {"command": "a"}, "b": {"command": "b"}}
    SettingsStore(file).set("mcp.servers", first)
    one, other = SettingsStore(file), SettingsStore(file)
    other.set("mcp.servers", {"b": {"command": "theirs"}, "c": {"command": "c"}})
    one.set("mcp.servers", {"a": {"command": "a"}, "b": {"command": "ours"}})
    stored = SettingsStore(file).get("mcp.servers")
    assert {name: server["command"] for name, server in stored.items()} == {"b": "ours", "c": "c"}


def test_a_new_key_is_found_again_by_a_new_store(written: Path) -> None:
    SettingsStore(written).set("retrieval.topK", 3)
    assert SettingsStore(written).get("retrieval.topK") == 3
    assert WRITTEN in written.read_text("utf-8")


def test_setting_makes_a_file_for_its_owner_alone(file: Path) -> None:
    SettingsStore(file).set("ui.theme", "dark")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_link_stays_a_link(written: Path, tmp_path: Path) -> None:
    link = tmp_path / "linked.toml"
    link.symlink_to(written)
    SettingsStore(link).set("ui.theme", "dark")
    assert link.is_symlink()
    assert SettingsStore(written).get("ui.theme") == "dark"


def test_resetting_takes_the_key_out(written: Path) -> None:
    store = SettingsStore(written)
    assert store.reset("autoCompactThreshold") == 128_000
    assert store.source("autoCompactThreshold") == "default"
    assert "autoCompactThreshold" not in written.read_text("utf-8")


def test_setting_ends_what_was_said_for_this_run(written: Path) -> None:
    store = SettingsStore(written, {"retrieval.topK": 2})
    store.set("retrieval.topK", 5)
    assert store.get("retrieval.topK") == 5


def test_a_bad_value_says_its_range_and_what_it_stays_at(written: Path) -> None:
    store = SettingsStore(written)
    with pytest.raises(BadSetting, match=r"from 4,000 to 2,000,000\. It stays at 64000\."):
        store.set("autoCompactThreshold", 100)
    assert written.read_text("utf-8") == WRITTEN


def test_a_bad_value_for_this_run_is_refused_at_once(file: Path) -> None:
    with pytest.raises(BadSetting, match="from 1 to 50"):
        SettingsStore(file, {"retrieval.topK": 0})


def test_a_bad_value_in_the_file_leaves_the_default_and_is_reported(written: Path) -> None:
    written.write_text("autoCompactThreshold = 1\n[retrieval]\ntopK = 4\n", "utf-8")
    store = SettingsStore(written)
    assert store.values.auto_compact_threshold == 128_000
    assert store.values.retrieval_top_k == 4
    with pytest.raises(BadSetting, match=r"4,000 to 2,000,000.*settings\.toml"):
        store.require_sound()


def test_a_bad_value_in_the_file_is_mended_by_setting_it(written: Path) -> None:
    written.write_text("autoCompactThreshold = 1\n", "utf-8")
    store = SettingsStore(written)
    store.set("autoCompactThreshold", 9_000)
    store.require_sound()
    assert store.values.auto_compact_threshold == 9_000


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'autoCompactThreshold = 8000\nvault = "', "line 2"),
        (b"a = 1\n\nb = \n", "line 3"),
        (b"a = 1\na = 2\n", "line 2"),
        (b"# caf\xe9\n", "line 1 is not UTF-8"),
    ],
)
def test_a_damaged_file_names_the_line_and_is_never_written_over(
    written: Path, content: bytes, line: str
) -> None:
    written.write_bytes(content)
    store = SettingsStore(written)
    assert store.values.auto_compact_threshold == 128_000
    with pytest.raises(BadSetting, match=line):
        store.require_sound()
    with pytest.raises(BadSetting, match=line):
        store.set("ui.theme", "dark")
    assert written.read_bytes() == content


@pytest.mark.parametrize(
    "text",
    [f"autoCompactThreshold = {'9' * 5_000}\n", f"x = {'[' * 5_000}\n", f"{'a.' * 5_000}b = 1\n"],
)
def test_numbers_and_nestings_without_end_are_reported(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    store = SettingsStore(file)
    (problem,) = store.problems
    assert "cannot be understood" in str(problem)
    with pytest.raises(BadSetting, match="cannot be understood"):
        store.set("retrieval.topK", 5)
    assert file.read_text() == text


def test_a_pipe_in_place_of_the_file_is_reported(file: Path) -> None:
    file.parent.mkdir()
    os.mkfifo(file)
    (problem,) = SettingsStore(file).problems
    assert "is not a file" in str(problem)


def test_a_key_that_cannot_be_laid_out_leaves_the_file_alone(written: Path) -> None:
    written.write_text("vault = 3\n", "utf-8")
    with pytest.raises(BadSetting, match="laid out"):
        SettingsStore(written).set("vault.path", "/notes")
    assert written.read_text("utf-8") == "vault = 3\n"


def test_of_settings_that_are_set_at_once_none_is_lost(file: Path) -> None:
    keys = [key for key, spec in schema().items() if spec.default is False]
    stores = [SettingsStore(file) for _ in keys]  # as in a process for each
    together = threading.Barrier(len(keys))

    def change(store: SettingsStore, key: str) -> None:
        together.wait()
        for value in (True, False, True):
            store.set(key, value)

    pairs = list(zip(stores, keys, strict=True))
    threads = [threading.Thread(target=change, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = SettingsStore(file)
    assert [found.get(key) for key in keys] == [True] * len(keys)
    assert os.listdir(file.parent) == [file.name]


def test_a_full_disk_leaves_the_old_file_and_no_remains(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(durable.os, "fsync", full)
    with pytest.raises(StorageFailed, match="disk is full"):
        SettingsStore(written).set("ui.theme", "dark")
    assert written.read_text("utf-8") == WRITTEN
    assert list(written.parent.iterdir()) == [written]


def test_a_folder_in_place_of_the_file_is_reported(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(StorageFailed, match="is a folder"):
        SettingsStore(file).require_sound()


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "vault.path": st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    "vault.exclude": st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9)),
    "chat.temperature": st.floats(0, 2),
    "autoCompactThreshold": st.integers(4_000, 2_000_000),
    "privacy.offline": st.booleans(),
    "ui.theme": st.sampled_from(schema()["ui.theme"].choices),
}


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.sampled_from(sorted(VALUES)).flatmap(lambda k: st.tuples(st.just(k), VALUES[k])),
        max_size=6,
    )
)
def test_whatever_was_set_is_read_again(tmp_path: Path, changes: list[tuple[str, Any]]) -> None:
    file = tmp_path / "any.toml"
    file.write_text(WRITTEN, "utf-8")
    store = SettingsStore(file)
    for key, value in changes:
        store.set(key, value)
    again = SettingsStore(file)
    assert {key: again.get(key) for key, _ in changes} == dict(changes)
    assert again.unknown == ("future.switch",)


def test_shares_of_the_budget_are_refused_out_of_order(file: Path) -> None:
    store = SettingsStore(file)
    with pytest.raises(BadSetting, match=r"context\.compactAt .* below context\.trimAt .*0\.8"):
        store.set("context.compactAt", 0.5)
    with pytest.raises(BadSetting, match=r"context\.trimAt"):
        store.set("context.trimAt", 0.97)
    with pytest.raises(BadSetting, match=r"context\.blockAt"):
        store.build_values({"context.blockAt": 0.9})
    assert not file.exists()
    store.set("context.trimAt", 0.4)
    store.set("context.compactAt", 0.5)
    with pytest.raises(BadSetting, match=r"context\.compactAt"):
        store.reset("context.trimAt")
    assert (store.get("context.trimAt"), store.get("context.compactAt")) == (0.4, 0.5)


def test_shares_for_one_run_are_judged_together_with_the_file(file: Path) -> None:
    for told in ({"context.compactAt": 0.5}, {"context.trimAt": 0.99}):
        with pytest.raises(BadSetting):
            SettingsStore(file, told)
    together = {"context.compactAt": 0.5, "context.trimAt": 0.4}
    assert SettingsStore(file, together).get("context.compactAt") == 0.5
    SettingsStore(file).set("context.trimAt", 0.3)
    assert SettingsStore(file, {"context.compactAt": 0.5}).get("context.compactAt") == 0.5


def test_a_run_does_not_make_a_share_in_the_file_sound(file: Path) -> None:
    store = SettingsStore(file, {"context.trimAt": 0.4})
    with pytest.raises(BadSetting):
        store.set("context.compactAt", 0.5)
    assert not file.exists()


def test_shares_out_of_order_in_the_file_leave_the_defaults_and_are_reported(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[context]\ntrimAt = 0.8\ncompactAt = 0.5\nblockAt = 0.99\n", "utf-8")
    store = SettingsStore(file)
    values = store.values
    assert (values.context_trim_at, values.context_compact_at, values.context_block_at) == (
        *(0.80, 0.95, 0.98),
    )
    (problem,) = store.problems
    assert "context.compactAt" in str(problem)
    assert str(file) in str(problem)
    with pytest.raises(BadSetting):
        store.require_sound()
    store.set("context.trimAt", 0.3)
    assert not store.problems
    file.write_text("[context]\ntrimAt = 0.3\ncompactAt = 0.2\nblockAt = 0.99\n", "utf-8")
    store.reload()
    store.set("context.compactAt", 0.5)
    assert not store.problems
    assert (store.get("context.compactAt"), store.get("context.blockAt")) == (0.5, 0.99)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["context.trimAt", "context.compactAt", "context.blockAt"]),
            st.none() | st.floats(0.1, 1).map(lambda share: round(share, 2)),
        ),
        max_size=12,
    )
)
def test_shares_are_in_order_whatever_is_set(tmp_path: Path, changes: list[Any]) -> None:
    path = tmp_path / "shares.toml"
    path.unlink(missing_ok=True)
    store = SettingsStore(path)
    for key, share in changes:
        with suppress(BadSetting):
            store.reset(key) if share is None else store.set(key, share)
        values = SettingsStore(path).values
        assert values == store.values
        assert values.context_trim_at <= values.context_compact_at <= values.context_block_at
