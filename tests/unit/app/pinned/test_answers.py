"""Pinned answers over real notes, found again by the index alone, on the day of the clock."""

import json
import multiprocessing
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import InvalidRequest, NotFound, StorageFailed
from app.paths import Paths
from app.pinned.answer import AnswerRow, PinnedAnswer
from app.pinned.answers import PinnedAnswers, ShownAnswer
from app.pinned.store import PinnedStore
from chains.cancel import CancelToken
from tests.conftest import write_notes

MORNING = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)
NOTES = {
    "House.md": (
        "# House\n\n- [ ] Call the plumber 📅 2026-11-27\n- [ ] Paint the door\n- [x] Mow\n"
    ),
    "Garden/Beds.md": "# Beds\n\n- [ ] Dig the beds 📅 2026-11-20\n\nSee [[House]].\n",
    "Books/Dune.md": "---\nrating: 4\ntags: [book]\n---\n# Dune\n\nSand and spice.\n",
    "Books/Emma.md": "---\nrating: 5\ntags: [book]\n---\n# Emma\n\nA match for all.\n",
}


class Noon:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = MORNING

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def vault(assistant: Assistant, tmp_path: Path) -> Path:
    folder = write_notes(tmp_path / "vault", NOTES)
    assistant.open_vault(folder, remember=False)
    return folder


@pytest.fixture
def clock(assistant: Assistant) -> Noon:
    assistant.pinned.clock = Noon()
    return assistant.pinned.clock


@pytest.fixture
def pinned(
    assistant: Assistant, vault: Path, clock: Noon, monkeypatch: pytest.MonkeyPatch
) -> PinnedAnswers:
    """The pinned answers of an indexed vault. From now on, no embedding model may be asked."""
    update(assistant)

    def refuse(*_args: object) -> None:
        raise AssertionError("a pinned answer is found without a model")

    monkeypatch.setattr("vault.embedding_versions.Embedders.begin_query", refuse)
    return assistant.pinned


def update(assistant: Assistant) -> None:
    list(assistant.index(CancelToken()))


def find_again(assistant: Assistant) -> ShownAnswer:
    """Update the index, and return the only pinned answer."""
    update(assistant)
    (shown,) = assistant.pinned.refresh()
    return shown


def texts(rows: tuple[AnswerRow, ...]) -> list[str]:
    return [row.shown for row in rows]


def test_open_tasks_are_pinned_and_change_with_the_notes(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path
) -> None:
    added = pinned.add("open tasks")
    assert (added.answer.kind, added.answer.total, added.changes.mark) == ("list", 3, "")
    assert "3 open tasks" in added.answer.summary
    house = vault / "House.md"
    house.write_text(house.read_text().replace("- [ ] Paint", "- [x] Paint") + "- [ ] Order oil\n")
    shown = find_again(assistant)
    assert shown.changes.mark == "+1 −1"
    assert [(row.path, row.line) for row in shown.changes.new] == [("House.md", 6)]
    assert texts(shown.changes.gone) == ["- [ ] Paint the door"]
    assert pinned.look(shown.answer.id).changes.mark == "+1 −1"
    assert pinned.find(shown.answer.id).changes.mark == ""


@pytest.mark.parametrize(
    ("question", "kind", "rows"),
    [
        ("List all notes tagged #book", "list", ["Dune", "Emma"]),
        ("How many notes are in Books?", "list", ["Dune", "Emma"]),
        ("tag:book [rating:>=5]", "list", ["Emma"]),
        ("Which notes link to House?", "list", ["Beds"]),
        ("spice sand -tag:draft", "list", ["Dune"]),
        ("What is the rating of Emma?", "value", ["Emma"]),
        ("What is the sum of rating of the notes tagged #book?", "value", ["Dune", "Emma"]),
        ("What is Emma about?", "quotes", ["Emma"]),
    ],
)
def test_each_kind_of_answer_without_a_model_can_be_pinned(
    pinned: PinnedAnswers, question: str, kind: str, rows: list[str]
) -> None:
    shown = pinned.add(question)
    assert shown.answer.kind == kind
    assert [row.title for row in shown.answer.rows] == rows
    assert ("by words alone" in shown.answer.summary) == (kind == "quotes")
    (again,) = pinned.refresh()
    assert (again.answer, again.changes.mark) == (shown.answer, "")


def test_an_edited_property_is_a_changed_row_with_its_values(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path
) -> None:
    pinned.add("[rating:>=4]")
    (vault / "Books/Dune.md").write_text(NOTES["Books/Dune.md"].replace("4", "5"))
    (changed,) = find_again(assistant).changes.changed
    assert (changed.before.values, changed.after.values) == ("rating: 4", "rating: 5")
    (vault / "Books/Dune.md").write_text(NOTES["Books/Dune.md"].replace("4", "3"))
    assert find_again(assistant).changes.mark == "−1"


def test_a_sum_follows_the_values_that_it_is_made_of(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path
) -> None:
    pinned.add("What is the sum of rating of the notes tagged #book?")
    (vault / "Books/Dune.md").write_text(NOTES["Books/Dune.md"].replace("4", "3"))
    shown = find_again(assistant)
    assert "is 8" in shown.answer.summary
    assert shown.changes.mark == "~1"


def test_a_renamed_note_is_not_gone_and_new(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path
) -> None:
    pinned.add("open tasks")
    (vault / "House.md").rename(vault / "Garden/Home.md")
    shown = find_again(assistant)
    assert shown.changes.mark == ""
    assert shown.changes.moved == {"Garden/Home.md": "House.md"}


def test_a_deleted_link_takes_its_note_off_the_list(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path
) -> None:
    pinned.add("Which notes link to House?")
    (vault / "Garden/Beds.md").write_text("# Beds\n\nNo link any more.\n")
    shown = find_again(assistant)
    assert (shown.changes.mark, shown.answer.total) == ("−1", 0)


def test_what_is_overdue_follows_the_calendar_at_midnight(
    pinned: PinnedAnswers, clock: Noon
) -> None:
    added = pinned.add("Which tasks are overdue?")
    assert texts(added.answer.rows) == ["- [ ] Dig the beds 📅 2026-11-20"]
    clock.now = MORNING.replace(hour=23, minute=59)
    assert pinned.refresh()[0].changes.mark == ""
    clock.now += timedelta(minutes=2)
    (shown,) = pinned.refresh()
    assert texts(shown.changes.new) == ["- [ ] Call the plumber 📅 2026-11-27"]


def test_on_another_day_only_the_days_of_a_question_are_read_again(
    assistant: Assistant, pinned: PinnedAnswers, clock: Noon, vault: Path
) -> None:
    pinned.add("overdue tasks in House")
    clock.now += timedelta(days=1)
    (vault / "House.md").rename(vault / "Home.md")  # the folder or note is not known any more
    assert "House" in find_again(assistant).answer.query
    assert ".." in find_again(assistant).answer.query


def test_a_folder_that_is_away_keeps_the_last_rows_and_says_so(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path, tmp_path: Path
) -> None:
    rows = pinned.add("open tasks").answer.rows
    vault.rename(tmp_path / "unplugged")
    (shown,) = pinned.refresh()
    assert (shown.answer.rows, shown.changes.mark) == (rows, "")
    assert str(vault) in shown.problem
    vault.mkdir()  # the empty mount point of a drive
    (shown,) = pinned.refresh()
    assert (shown.answer.rows, bool(shown.problem)) == (rows, True)
    vault.rmdir()
    (tmp_path / "unplugged").rename(vault)
    (shown,) = pinned.refresh()
    assert (shown.answer.rows, shown.problem) == (rows, "")


@pytest.mark.parametrize("way", ["rule", "mark", "mark of a renamed note"])
def test_the_lines_of_a_note_that_is_private_now_are_forgotten(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path, way: str
) -> None:
    pinned.add("open tasks")
    if way == "rule":
        assistant.settings.set("vault.exclude", ["House.md"])
    else:
        (vault / "House.md").write_text(f"---\nprivate: true\n---\n{NOTES['House.md']}")
    if way == "mark of a renamed note":
        (vault / "House.md").rename(vault / "Garden/House.md")
    (before_update,) = pinned.refresh()
    assert before_update.answer.total == 1
    shown = find_again(assistant)
    assert (shown.answer.total, shown.changes.mark) == (1, "")
    stored = "".join(file.read_text() for file in assistant.paths.pinned.iterdir())
    assert "plumber" not in stored


def test_a_note_changed_twice_within_a_second_is_told_as_it_is_now(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path
) -> None:
    pinned.add("open tasks")
    house = vault / "House.md"
    for done in ("- [x] Paint", "- [ ] Point"):  # of the same size, and as old
        stat = house.stat()
        house.write_text(NOTES["House.md"].replace("- [ ] Paint", done))
        os.utime(house, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        shown = find_again(assistant)
    (changed,) = shown.changes.changed
    assert changed.after.text == "- [ ] Point the door"


def test_a_note_that_is_not_indexed_yet_is_no_loss(
    assistant: Assistant, pinned: PinnedAnswers
) -> None:
    rows = pinned.add("open tasks").answer.rows
    assert assistant.library is not None
    assistant.library.vault.rebuild()
    (shown,) = pinned.refresh()
    assert (shown.answer.rows, bool(shown.problem)) == (rows, True)
    assert find_again(assistant).problem == ""


def test_pinned_answers_are_renamed_moved_removed_and_put_back(pinned: PinnedAnswers) -> None:
    first, second = pinned.add("open tasks").answer.id, pinned.add("tag:book").answer.id
    assert pinned.rename(first, "  To   do ").answer.title == "To do"
    assert pinned.rename(first, " ").answer.title == "open tasks"
    assert [one.answer.id for one in pinned.move(first, 5)] == [second, first]
    removed, place = pinned.remove(second)
    assert [one.answer.id for one in pinned.list()] == [first]
    pinned.restore(removed, place)
    assert [one.answer.id for one in pinned.list()] == [second, first]
    with pytest.raises(NotFound):
        pinned.look("00000000")


def test_of_thousands_of_rows_each_is_kept_and_what_came_and_went_is_told(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path
) -> None:
    def write(name: str, lines: list[str]) -> None:
        (vault / f"{name}.md").write_text("".join(f"- [ ] {line}\n" for line in lines))

    many = {f"Z{number}": [f"Job {number} {n}" for n in range(50)] for number in range(26)}
    for name, lines in many.items():
        write(name, lines)
    update(assistant)
    shown = pinned.add("task:open")
    assert (shown.answer.total, len(shown.answer.rows)) == (1_303, 1_303)
    write("Z9", [*many["Z9"][:-1], "Another", "And one more"])
    (vault / "Z8.md").rename(vault / "Z80.md")
    changes = find_again(assistant).changes
    assert sorted(row.text for row in changes.new) == ["- [ ] And one more", "- [ ] Another"]
    assert [row.text for row in changes.gone] == ["- [ ] Job 9 49"]
    assert changes.moved == {"Z80.md": "Z8.md"}
    assert changes.mark == "+2 −1"


@pytest.mark.parametrize("question", ["", "  \n", "more"])
def test_what_is_no_question_is_not_pinned(pinned: PinnedAnswers, question: str) -> None:
    with pytest.raises(InvalidRequest):
        pinned.add(question)
    assert pinned.list() == ()


def test_a_moved_vault_keeps_its_pinned_answers(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path, tmp_path: Path
) -> None:
    pinned.add("open tasks")
    vault.rename(tmp_path / "moved")
    assistant.open_vault(tmp_path / "moved", remember=False)
    assert find_again(assistant).changes.mark == ""


def store_of(home: Path) -> tuple[PinnedStore, Path]:
    return PinnedStore(Paths.find()), home / "index"


def make(id: str) -> PinnedAnswer:
    return PinnedAnswer(id, id, "open tasks", "list", rows=(AnswerRow("A.md", 1, "x"),))


def test_a_later_format_is_kept_and_said_so(strata_home: Path) -> None:
    store, index = store_of(strata_home)
    store.change(index, lambda _now: [make("a")])
    (file,) = Paths.find().pinned.iterdir()
    for later in (json.dumps({"version": 2, "answers": "of another form"}), '{"version": 3}'):
        file.write_text(later)
        for act in (lambda: store.read(index), lambda: store.change(index, lambda _now: [])):
            with pytest.raises(StorageFailed, match="later version"):
                act()
        assert file.read_text() == later


def test_fields_and_kinds_of_a_later_version_are_kept(strata_home: Path) -> None:
    store, index = store_of(strata_home)
    store.change(index, lambda _now: [make("a"), make("b")])
    (file,) = Paths.find().pinned.iterdir()
    stored = json.loads(file.read_text())
    stored["answers"][0]["colour"] = "red"
    stored["answers"][1]["kind"] = "chart"
    file.write_text(json.dumps(stored))
    assert [one.id for one in store.read(index)] == ["a"]
    store.change(index, lambda now: [*now, make("c")])
    kept = json.loads(file.read_text())["answers"]
    assert [(one["id"], one.get("colour"), one["kind"]) for one in kept] == [
        ("a", "red", "list"),
        ("c", None, "list"),
        ("b", None, "chart"),
    ]


def row_with(**fields: object) -> list[object]:
    return [{**make("a").rows[0].to_dict(), **fields}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"seen_total": None},
        {"total": "3"},
        {"total": float("inf")},
        {"total": True},
        {"seen_total": -1},
        {"computed": 5},
        {"summary": None},
        {"project": []},
        {"title": {}},
        {"rows": ""},
        {"rows": {}},
        {"seen": None},
        {"seen": ["x"]},
        {"rows": row_with(title=None)},
        {"rows": row_with(line=1.5)},
        {"rows": row_with(values=3)},
        {"rows": row_with(is_note="no")},
        {"answer": {"text": None, "model": "m"}},
        {"answer": {"text": "x", "model": "m", "sources": "2"}},
        {"answer": "x"},
    ],
)
def test_an_answer_with_a_wrong_field_is_kept_and_the_others_are_shown(
    strata_home: Path, wrong: dict[str, object]
) -> None:
    store, index = store_of(strata_home)
    store.change(index, lambda _now: [make("a"), make("b")])
    (file,) = Paths.find().pinned.iterdir()
    stored = json.loads(file.read_text())
    stored["answers"][0].update(wrong)
    file.write_text(json.dumps(stored))
    assert [one.id for one in store.read(index)] == ["b"]
    store.change(index, lambda now: [*now, make("c")])
    assert stored["answers"][0] in json.loads(file.read_text())["answers"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": 1}',
        b"\xff",
        b"null",
        b'{"version": Infinity, "answers": []}',
        b'{"version": NaN, "answers": []}',
        b'{"version": "1", "answers": []}',
        b'{"version": true, "answers": []}',
        b'{"version": 0, "answers": []}',
        b'{"version": 1, "answers": {"a": 1}}',
        b'{"version": 1, "answers": "a"}',
        b'{"version": 1, "answers": null}',
    ],
)
def test_a_damaged_file_is_put_aside(strata_home: Path, content: bytes) -> None:
    store, index = store_of(strata_home)
    store.change(index, lambda _now: [make("a")])
    (file,) = Paths.find().pinned.iterdir()
    file.write_bytes(content)
    assert store.read(index) == ()
    store.change(index, lambda _now: [make("b")])
    aside = [one for one in file.parent.iterdir() if one != file]
    assert [one.read_bytes() for one in aside] == [content]
    assert [one.id for one in store.read(index)] == ["b"]


def add_many(home: str, name: str) -> None:
    os.environ["STRATA_HOME"] = home
    store, index = store_of(Path(home))
    for number in range(20):
        store.change(index, lambda now, id=f"{name}{number}": [*now, make(id)])  # type: ignore[misc]


def test_two_instances_do_not_undo_each_others_changes(strata_home: Path) -> None:
    context = multiprocessing.get_context("fork")
    others = [context.Process(target=add_many, args=(str(strata_home), name)) for name in "ab"]
    for other in others:
        other.start()
    for other in others:
        other.join(60)
    store, index = store_of(strata_home)
    assert len({one.id for one in store.read(index)}) == 40


def test_an_instance_that_finds_rows_again_keeps_what_another_one_changed(
    assistant: Assistant, pinned: PinnedAnswers, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = pinned.add("open tasks").answer.id
    other = PinnedStore(assistant.paths)
    assert assistant.library is not None
    index = assistant.library.vault.index_dir
    original = assistant.library.vault.list_notes

    def rename_meanwhile(*args: object, **options: object) -> object:
        other.change(index, lambda now: [PinnedAnswer(**{**vars(now[0]), "title": "Mine"})])
        return original(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(assistant.library.vault, "list_notes", rename_meanwhile)
    (vault / "House.md").write_text("- [ ] Another\n")
    (shown,) = pinned.refresh()
    assert (shown.answer.id, shown.answer.title) == (id, "Mine")


def kill_while_writing(home: str, at: int) -> None:
    os.environ["STRATA_HOME"] = home
    store, index = store_of(Path(home))
    calls = iter(range(100))

    def die(original: Callable[..., object]) -> Callable[..., object]:
        def act(*args: object) -> object:
            result = original(*args)
            if next(calls) == at:
                os._exit(9)
            return result

        return act

    from resources.system import calls as system

    for name in ("write_part", "sync_file", "rename_open_file", "sync_folder"):
        setattr(system, name, die(getattr(system, name)))
    store.change(index, lambda now: [*now, make("b")])
    os._exit(0)


def test_a_kill_while_storing_leaves_the_old_or_the_new_answers(strata_home: Path) -> None:
    store, index = store_of(strata_home)
    context, codes = multiprocessing.get_context("fork"), list[int]()
    for at in range(10):
        shutil.rmtree(Paths.find().pinned, ignore_errors=True)
        store.change(index, lambda _now: [make("a")])
        killed = context.Process(target=kill_while_writing, args=(str(strata_home), at))
        killed.start()
        killed.join(60)
        assert killed.exitcode in (0, 9)
        codes.append(killed.exitcode)
        assert [one.id for one in store.read(index)] in (["a"], ["a", "b"])
        store.change(index, lambda now: [*now, make("c")])
        assert len(list(Paths.find().pinned.iterdir())) == 1
    assert codes.count(9) >= 4
    assert codes[-1] == 0
