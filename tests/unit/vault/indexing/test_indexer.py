import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.json_codec import encode
from vault.embedder import Embedder
from vault.errors import NoteUnreadable, VaultMissing
from vault.indexing.embed import WaitingPassage, split_into_batches
from vault.indexing.indexer import PRIVATE_RULE
from vault.indexing.progress import IndexProgress
from vault.notes.note import parse_note
from vault.vault import Vault

Write = Callable[[str, str | bytes], Path]
MakeIndex = Callable[..., Vault]

REPORT_FIELDS = {
    "faulty",
    "vault",
    "notes",
    "chunks",
    "embedded_chunks",
    "reused_chunks",
    "added",
    "changed",
    "removed",
    "renamed",
    "excluded",
    "failed",
    "seconds",
}


@pytest.fixture
def notes(write: Write) -> Path:
    write("Rain.md", "# Rain\n\nThe barrel holds rain for the beds.\n")
    write("fees/Gas.md", "# Gas\n\nThe base fee is burned.\n")
    return write("Cats.md", "Cats sleep all day.\n").parent


def counted(report: Any) -> dict[str, int]:
    """The counts of a report that are not zero."""
    names = ("added", "changed", "removed", "renamed", "embedded_chunks")
    return {name: value for name in names if (value := encode(report)[name])}


def test_the_report_has_its_fields_and_its_numbers_agree(
    make_index: MakeIndex, notes: Path
) -> None:
    report = make_index(notes).update()
    document = encode(report)
    assert set(document) == REPORT_FIELDS
    assert counted(report) == {"added": 3, "embedded_chunks": 3}
    assert (report.notes, report.chunks, report.reused_chunks) == (3, 3, 0)
    assert document["vault"] == str(notes)


def test_the_remaining_time_follows_from_the_rate() -> None:
    assert IndexProgress("embed", done=20, total=80, per_s=3.0).remaining_s == 20
    assert IndexProgress("embed", done=20, total=80).remaining_s is None
    assert IndexProgress("seen", done=20, per_s=3.0).remaining_s is None


def test_a_second_run_reads_no_note_and_asks_no_model(
    make_index: MakeIndex, notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = make_index(notes)
    first.update()
    first.close()
    fresh = Vault(notes, tmp_path / "index")

    def refuse(*_arguments: object) -> None:
        raise AssertionError("a note was read")

    monkeypatch.setattr("vault.indexing.indexer.read_bytes", refuse)
    report = fresh.update()
    assert counted(report) == {}
    assert report.reused_chunks == report.chunks == 3
    assert fresh._embedders.pids == (None,)
    fresh.close()


def test_a_first_run_announces_about_how_many_passages_follow(
    make_index: MakeIndex, notes: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what embeds many of them fast is loaded while the notes are read."""
    write(
        "Long.md", "\n\n".join(f"# Part {n}\n\n" + "The beds need rain. " * 60 for n in range(30))
    )
    announced: list[int] = []
    start = Embedder.start

    def record(self: Embedder, passages: int = 0) -> None:
        announced.append(passages)
        start(self)  # the test does without the library itself

    monkeypatch.setattr(Embedder, "start", record)
    index = make_index(notes)
    report = index.update()
    assert report.chunks / 2 < announced[0] <= report.chunks
    write("New.md", "# New\n\nThe shed is red.\n")
    index.update()
    assert len(announced) == 1


def test_every_kind_of_change_is_counted_and_found(
    make_index: MakeIndex, notes: Path, write: Write
) -> None:
    index = make_index(notes)
    index.update()
    write("New.md", "# New\n\nA zebra came by.\n")
    write("Rain.md", "# Rain\n\nThe barrel is empty.\n")
    (notes / "Cats.md").unlink()
    report = index.update()
    assert counted(report) == {"added": 1, "changed": 1, "removed": 1, "embedded_chunks": 2}
    assert index.search("zebra").hits[0].path == "New.md"
    assert "barrel is empty" in index.search("barrel").hits[0].text
    assert {state.path for state in index.notes()} == {"New.md", "Rain.md", "fees/Gas.md"}
    assert "Cats.md" not in {hit.path for hit in index.search("cats sleep").hits}


def test_a_move_a_rename_and_a_touch_embed_nothing(make_index: MakeIndex, notes: Path) -> None:
    index = make_index(notes)
    index.update()
    (notes / "fees").rename(notes / "costs")
    (notes / "Cats.md").rename(notes / "Dogs.md")
    os.utime(notes / "Rain.md", ns=(1, 1))
    report = index.update()
    assert counted(report) == {"renamed": 2}
    hits = {hit.path: hit.title for hit in index.search("base fee cats").hits}
    assert "costs/Gas.md" in hits
    assert hits["Dogs.md"] == "Dogs"
    assert counted(index.update()) == {}


def test_an_edit_embeds_its_own_passage_only(make_index: MakeIndex, write: Write) -> None:
    long = " ".join(f"Sentence number {i} is about something." for i in range(60))
    folder = write("n.md", f"# A\n\n## One\n\n{long}\n\n## Two\n\nsecond {long}\n").parent
    index = make_index(folder)
    first = index.update()
    write("n.md", f"# A\n\n## One\n\n{long}\n\n## Two\n\nsecond {long}\n\nAnd more.\n")
    second = index.update()
    assert first.embedded_chunks > 3
    assert counted(second) == {"changed": 1, "embedded_chunks": 1}
    assert second.reused_chunks == second.chunks - 1


def test_equal_passages_are_embedded_once(make_index: MakeIndex, write: Write) -> None:
    for folder in ("a", "b", "c"):
        notes = write(f"{folder}/same.md", "# Same\n\nThe same text.\n").parents[1]
    report = make_index(notes).update()
    assert (report.chunks, report.embedded_chunks, report.reused_chunks) == (3, 1, 2)


def test_private_and_excluded_notes_leave_no_text(make_index: MakeIndex, write: Write) -> None:
    notes = write("open.md", "public words\n").parent
    write("diary.md", "---\nprivate: true\n---\nsecret words\n")
    write("tagged.md", "hidden words #private\n")
    write("drafts/x.md", "draft words\n")
    index = make_index(notes, exclude=["drafts/"])
    report = index.update()
    assert report.excluded == (
        ("diary.md", PRIVATE_RULE),
        ("drafts", "vault.exclude: drafts/"),
        ("tagged.md", PRIVATE_RULE),
    )
    assert {hit.path for hit in index.search("secret hidden draft words").hits} == {"open.md"}
    assert index.update().excluded == report.excluded


def test_a_note_made_private_leaves_the_index_and_one_set_free_comes_back(
    make_index: MakeIndex, notes: Path, write: Write
) -> None:
    index = make_index(notes)
    index.update()
    write("Cats.md", "Cats sleep all day. #private\n")
    assert counted(index.update()) == {"removed": 1}
    assert "Cats.md" not in {hit.path for hit in index.search("cats sleep").hits}
    write("Cats.md", "Cats sleep all day.\n")
    assert counted(index.update()) == {"added": 1, "embedded_chunks": 1}


def test_hostile_files_each_fail_with_one_reason_and_stop_nothing(
    make_index: MakeIndex, write: Write, tmp_path: Path
) -> None:
    notes = write("good.md", "fine words\n").parent
    write("broken.md", "prix élevé à Noël\n".encode()[:-4] + b"\xff\n")
    write("binary.md", b"\0\1\2")
    write("bomb.md", "---\na: &a [x]\nb: [*a, *a]\n---\nafter the bomb\n")
    os.mkfifo(notes / "pipe.md")
    with write("huge.md", "").open("wb") as file:
        file.truncate(50_000_000)
    (tmp_path / "outside.md").write_text("outside")
    (notes / "link.md").symlink_to(tmp_path / "outside.md")
    Path(os.fsdecode(os.fsencode(notes) + b"/\xff.md")).write_text("x")
    write("odd\nname.md", "odd words\n")
    index = make_index(notes)
    report = index.update()
    assert dict(report.failed) == {
        "broken.md": "its UTF-8 is damaged (byte 0xff on line 1); save it as UTF-8 anew",
        "binary.md": "it holds NUL bytes, so it is not text",
        "pipe.md": "it is a FIFO, not a file",
        "huge.md": "50 MB; notes of up to 20 MB are read",
        r"\xff.md": "the name is not valid UTF-8; rename the file",
    }
    assert dict(report.excluded) == {"link.md": "a link to outside the vault"}
    assert report.notes == 3
    assert index.search("odd words").hits[0].path == "odd\nname.md"
    assert index.update().failed == report.failed
    write("latin1.md", "café\n")
    assert counted(index.update()) == {"added": 1, "embedded_chunks": 1}


def test_an_empty_folder_is_an_empty_index(make_index: MakeIndex, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    index = make_index(tmp_path / "empty")
    report = index.update()
    assert (report.notes, report.chunks) == (0, 0)
    assert index.search("anything").hits == ()


def test_a_vanished_folder_removes_nothing(make_index: MakeIndex, notes: Path) -> None:
    index = make_index(notes)
    index.update()
    notes.rename(notes.with_name("elsewhere"))
    with pytest.raises(VaultMissing):
        index.update()
    assert index.note_count == 3
    notes.mkdir()  # the empty place where a drive was mounted
    with pytest.raises(VaultMissing, match="mount its drive"):
        index.update()
    assert index.note_count == 3
    notes.rmdir()
    notes.with_name("elsewhere").rename(notes)
    assert counted(index.update()) == {}


def test_a_folder_that_was_really_emptied_is_believed(make_index: MakeIndex, notes: Path) -> None:
    index = make_index(notes)
    index.update()
    shutil.rmtree(notes / "fees")
    for note in notes.glob("*.md"):
        note.unlink()
    assert counted(index.update()) == {"removed": 3}
    assert index.note_count == 0


def test_notes_below_a_folder_out_of_sight_are_kept(
    make_index: MakeIndex, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_index(notes)
    index.update()
    real = os.scandir

    def scandir(path: Path) -> Any:
        if str(path).endswith("fees"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr("vault.scan.os.scandir", scandir)
    report = index.update()
    assert counted(report) == {}
    assert report.failed == (("fees", "the folder cannot be read (Permission denied)"),)
    assert index.note_count == 3


def test_a_cancelled_run_keeps_what_it_did_and_the_next_goes_on(
    make_index: MakeIndex, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault.indexing.progress._SILENCE_S", 0.0)  # however fast it is
    for number in range(120):
        text = f"Note {number} about the number {number * 7}.\n"
        notes = write(f"n{number}.md", text).parent
    index = make_index(notes)
    embedded: list[int] = []

    def watch(progress: IndexProgress) -> None:
        if progress.phase == "embed":
            embedded.append(progress.done)

    first = index.update(watch, lambda: bool(embedded) and embedded[-1] > 0)
    assert not first.is_complete
    assert 0 < first.embedded_chunks < 120
    assert index.search("number").hits
    second = index.update()
    assert second.is_complete
    assert second.embedded_chunks == 120 - first.embedded_chunks


def test_progress_names_the_phases_in_their_order(make_index: MakeIndex, notes: Path) -> None:
    told: list[IndexProgress] = []
    make_index(notes).update(told.append)
    phases = list(dict.fromkeys(progress.phase for progress in told))
    assert phases == ["seen", "scan", "embed", "store", "done"]
    fields = {"phase", "path", "done", "total", "per_s", "remaining_s", "pace"}
    assert set(encode(told[-1])) == fields
    assert all(progress.done <= progress.total for progress in told if progress.total)


def test_progress_counts_notes_in_every_phase(
    make_index: MakeIndex, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault.indexing.progress._SILENCE_S", 0.0)  # however fast it is
    for number in range(20):
        sections = (f"## Part {part}\n\n{'word ' * 60}{number} {part}.\n" for part in range(5))
        notes = write(f"n{number}.md", "\n".join(sections)).parent
    told: list[IndexProgress] = []
    report = make_index(notes).update(told.append)
    assert report.embedded_chunks == 100
    totals = {phase: {p.total for p in told if p.phase == phase} for phase in ("scan", "embed")}
    assert totals == {"scan": {20}, "embed": {20}}
    done = [progress.done for progress in told if progress.phase == "embed"]
    assert done == sorted(done)
    assert done[-1] == 20
    assert any(0 < count < 20 for count in done)
    assert {(p.done, p.total) for p in told if p.phase == "store"} == {(0, 0)}
    assert (told[-1].phase, told[-1].done, told[-1].total) == ("done", 20, 20)


PASSAGES = st.lists(
    st.builds(WaitingPassage, st.integers(0, 10**6), st.integers(1, 400), st.integers(0, 300)),
    max_size=2_500,
)


@given(PASSAGES)
def test_each_passage_is_in_one_batch_that_is_not_too_large(waiting: list[WaitingPassage]) -> None:
    batches = list(split_into_batches(waiting))
    assert sorted(passage for batch in batches for passage in batch) == sorted(waiting)
    for batch in batches:
        assert 1 <= len(batch) <= 32
        assert len(batch) == 1 or max(p.tokens for p in batch) * len(batch) <= 2_048
    first = [passage for batch in batches for passage in batch][:128]
    assert sorted(first) == sorted(waiting[:128])  # what comes first is done first


@pytest.mark.parametrize("slow", ["A.pdf", "A.md"])
def test_the_words_of_other_notes_are_found_while_a_slow_file_is_read(
    make_index: MakeIndex, write: Write, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    for number in range(30):
        write(f"n{number}.md", f"Rain fell on bed {number}.\n")
    index = make_index(write(slow, b"%PDF " + b"long line\n" * 150_000).parent)
    found: list[int] = []

    def hang(path: str, *rest: Any) -> Any:
        if path == slow:
            found.append(len({hit.path for hit in index.search("rain", 50).hits}))
            raise NoteUnreadable(path, "it took too long")
        return parse_note(path, *rest)

    monkeypatch.setattr("vault.indexing.indexer.parse_note", hang)
    report = index.update()
    assert found == [30]
    assert [path for path, _ in report.failed] == [slow]


def test_children_killed_in_mid_index_are_started_again(
    make_index: MakeIndex, write: Write, embedder: Embedder
) -> None:
    for number in range(160):
        notes = write(f"n{number}.md", f"Note {number} about the number {number * 7}.\n").parent
    index = make_index(notes)
    killed: set[int] = set()

    def kill(progress: IndexProgress) -> None:
        store = index._handle.store
        if progress.phase == "embed" and progress.done > 0 and not killed and store is not None:
            for pid in (embedder.pid, store.pid):
                assert pid is not None
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)

    report = index.update(kill)
    assert len(killed) == 2
    assert report.is_complete
    assert report.embedded_chunks == 160
    assert index.search("Note 77 about the number", 3).hits[0].signals["dense"] is not None


def test_a_folder_that_looks_as_after_the_last_run_is_not_compared_note_by_note(
    make_index: MakeIndex, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_index(notes)
    index.update()

    def refuse(_records: object) -> None:
        raise AssertionError("the notes were compared")

    with monkeypatch.context() as patch:
        patch.setattr("vault.records.Records.files", refuse)
        assert counted(index.update()) == {}
    (notes / "Rain.md").write_text("Dry.\n")
    assert counted(index.update()) == {"changed": 1, "embedded_chunks": 1}


def test_a_note_that_failed_is_tried_again_in_a_folder_that_looks_the_same(
    make_index: MakeIndex, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_index(notes)

    def refuse(_root: Path, path: str) -> bytes:
        raise NoteUnreadable(path, "the drive is busy")

    with monkeypatch.context() as patch:
        patch.setattr("vault.indexing.indexer.read_bytes", refuse)
        assert len(index.update().failed) == 3
    assert counted(index.update()) == {"added": 3, "embedded_chunks": 3}


def test_a_note_without_text_counts_in_every_phase(make_index: MakeIndex, write: Write) -> None:
    for number in range(3):
        write(f"n{number}.md", f"Row {number} is number {number * 7}.\n")
    notes = write("empty.md", "").parent
    told: list[IndexProgress] = []
    make_index(notes).update(told.append)
    totals = {phase: {p.total for p in told if p.phase == phase} for phase in ("scan", "embed")}
    assert totals == {"scan": {4}, "embed": {4}}
    assert [p.done for p in told if p.phase == "embed"][-1] == 4
