"""What came, went and changed between two lists of rows, whatever notes were renamed or edited."""

from collections.abc import Sequence

import pytest

from app.pinned import changes as changes_module
from app.pinned.answer import AnswerRow
from app.pinned.changes import RowChanges, compare_rows


def task(path: str, line: int, text: str, version: str = "") -> AnswerRow:
    return AnswerRow(path, line, f"- [ ] {text}", path.removesuffix(".md"), version)


def note(path: str, text: str, version: str = "", values: str = "") -> AnswerRow:
    return AnswerRow(path, 1, text, path.removesuffix(".md"), version, values, is_note=True)


def compare(
    before: Sequence[AnswerRow], after: Sequence[AnswerRow], there: Sequence[str] = ()
) -> RowChanges:
    paths = {row.path for row in after} | set(there)
    return compare_rows(before, after, paths.__contains__)


TASKS = [task("A.md", 3, "Call the plumber"), task("A.md", 4, "Buy seeds"), task("B.md", 1, "Mow")]


def test_lines_that_only_moved_within_their_note_are_not_news() -> None:
    moved = [task(row.path, row.line + 20, row.text[6:]) for row in reversed(TASKS)]
    changes = compare(TASKS, moved)
    assert (changes.mark, changes.sentence) == ("", "")


def test_rows_that_came_and_went_are_told_with_their_lines() -> None:
    after = [*TASKS[1:], task("C.md", 9, "Order soil"), task("C.md", 10, "Rake")]
    changes = compare(TASKS, after, there=["A.md"])
    assert changes.new == tuple(after[2:])
    assert changes.gone == (TASKS[0],)
    assert changes.mark == "+2 −1"


def test_an_edited_line_is_one_changed_row() -> None:
    after = [task("A.md", 3, "Call the plumber 📅 2026-12-01"), *TASKS[1:]]
    (changed,) = compare(TASKS, after).changed
    assert (changed.before, changed.after) == (TASKS[0], after[0])
    assert compare(TASKS, after).mark == "~1"


def test_another_task_with_a_day_is_no_edit_of_one_that_is_done() -> None:
    hinge = task("A.md", 6, "Oil the hinge 🔁 every month 📅 2026-12-01")
    bench = task("A.md", 8, "Paint the bench 📅 2026-11-10")
    assert compare([hinge], [bench]).mark == "+1 −1"
    later = task("A.md", 6, "Oil the hinge 🔁 every month 📅 2027-01-01")
    assert compare([hinge], [later]).mark == "~1"
    only_day = [task("A.md", 6, "📅 2026-12-01"), task("A.md", 6, "📅 2026-12-02")]
    assert compare(only_day[:1], only_day[1:]).mark == "~1"


def test_two_edited_lines_of_a_note_are_each_paired_with_their_own() -> None:
    after = [task("A.md", 8, "Buy some seeds"), task("A.md", 9, "Call the plumber again"), TASKS[2]]
    changes = compare(TASKS, after)
    pairs = {one.before.text: one.after.text for one in changes.changed}
    assert pairs == {TASKS[0].text: after[1].text, TASKS[1].text: after[0].text}
    assert not changes.new
    assert not changes.gone


def test_the_same_task_twice_in_a_note_counts_twice() -> None:
    twice = [task("A.md", 1, "Water"), task("A.md", 7, "Water")]
    assert compare(twice, twice[:1]).mark == "−1"
    assert compare(twice[:1], twice).new == (twice[1],)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([note("Old.md", "Soup", "v1")], [note("New.md", "Soup", "v1")]),
        ([note("Old.md", "Old", "v1")], [note("New.md", "New", "v1")]),
        ([note("Old.md", "Soup", "v1")], [note("Dir/Old.md", "Soup", "v2")]),
        (TASKS[:2], [task("Z.md", 3, "Call the plumber"), task("Z.md", 4, "Buy seeds")]),
        (TASKS[2:], [task("Lawn/B.md", 1, "Mow")]),
    ],
)
def test_a_renamed_note_is_not_gone_and_new(
    before: Sequence[AnswerRow], after: Sequence[AnswerRow]
) -> None:
    changes = compare(before, after)
    assert (changes.new, changes.gone) == ((), ())
    assert changes.moved == {after[0].path: before[0].path}


def test_a_renamed_note_with_an_edited_line_is_a_changed_row() -> None:
    before = [*TASKS[:2], task("A.md", 5, "Oil the mower")]
    after = [
        task("Z.md", 3, "Call the plumber"),
        task("Z.md", 4, "Buy seeds"),
        task("Z.md", 5, "Oil the old mower"),
    ]
    changes = compare(before, after)
    assert changes.mark == "~1"


def test_two_notes_that_swap_names_are_told_by_their_content() -> None:
    before = [note("A.md", "Apples", "v1"), note("B.md", "Beans", "v2")]
    after = [note("A.md", "Beans", "v2"), note("B.md", "Apples", "v1")]
    assert compare(before, after).mark == "~2"


def test_a_copy_of_a_note_is_new_while_the_first_one_stays() -> None:
    before = [note("A.md", "Soup", "v1")]
    after = [*before, note("A copy.md", "Soup", "v1")]
    changes = compare(before, after)
    assert (changes.new, changes.moved) == ((after[1],), {})


def test_a_note_that_left_the_list_but_is_there_was_not_renamed() -> None:
    before, after = [note("A.md", "Soup", "v1")], [note("B.md", "Soup", "v1")]
    changes = compare(before, after, there=["A.md"])
    assert (changes.new, changes.gone) == (tuple(after), tuple(before))


def test_of_two_alike_notes_none_is_guessed_to_be_the_renamed_one() -> None:
    before = [task("A.md", 1, "Mow")]
    after = [task("B.md", 1, "Mow"), task("C.md", 1, "Mow")]
    assert compare(before, after).mark == "+2 −1"


def test_a_changed_property_is_a_changed_row_and_other_edits_are_none() -> None:
    before = [note("A.md", "Dune", "v1", "rating: 4"), note("B.md", "Emma", "v2", "rating: 5")]
    after = [note("A.md", "Dune", "v3", "rating: 5"), note("B.md", "Edited", "v4", "rating: 5")]
    (changed,) = compare(before, after).changed
    assert (changed.before.shown, changed.after.shown) == ("rating: 4", "rating: 5")
    assert compare(before, after).mark == "~1"


def test_many_edited_lines_of_a_note_are_compared_in_little_time() -> None:
    before = [task("A.md", n, f"Task {n}") for n in range(500)]
    after = [task("A.md", n, f"Other {n}") for n in range(500)]
    assert compare(before, after).mark == "+500 −500"


def test_the_notes_of_a_renamed_folder_are_compared_with_few_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rated, rate = list[float](), changes_module._rate_move

    def rate_one(*rows: Sequence[AnswerRow]) -> float:
        rated.append(rate(*rows))
        return rated[-1]

    monkeypatch.setattr(changes_module, "_rate_move", rate_one)
    before = [task(f"Old/{n}.md", 1, f"Job {n}", f"v{n}") for n in range(300)]
    edited = {7: "v7 edited", 8: "v8 edited"}
    after = [task(f"New/{n}.md", 1, f"Job {n}", edited.get(n, f"v{n}")) for n in range(300)]
    found = compare(before, after)
    assert found.moved == {f"New/{n}.md": f"Old/{n}.md" for n in range(300)}
    assert found.mark == ""
    assert len(rated) < 400
