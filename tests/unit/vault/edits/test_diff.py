from hypothesis import given, settings
from hypothesis import strategies as st

from vault.edits.diff import build_diff, count_removed, list_diff_lines

TEXTS = st.text(st.sampled_from("ab-+\\ \n"), max_size=40)


def test_a_diff_names_the_note_and_shows_three_lines_around_a_change() -> None:
    before = "".join(f"line {n}\n" for n in range(1, 11))
    diff = build_diff("a.md", before, before.replace("line 5", "line five"))
    assert diff == (
        "--- a.md\n+++ a.md\n@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n"
        " line 6\n line 7\n line 8\n"
    )


def test_a_new_note_and_a_moved_one_are_recognised_in_the_diff() -> None:
    assert build_diff("a.md", None, "x") == (
        "--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
    )
    assert build_diff("b.md", "x\n", "x\n", "a.md") == "rename from a.md\nrename to b.md\n"


def test_the_words_that_changed_are_marked() -> None:
    lines = list_diff_lines(build_diff("a.md", "the old cat\n", "the new cat sat\n"))
    marked = [
        (line.kind, [part.text for part in line.parts if part.is_changed]) for line in lines[3:]
    ]
    assert marked == [("removed", ["old"]), ("added", ["new", " sat"])]


@given(before=TEXTS, after=TEXTS, other=TEXTS)
@settings(max_examples=200, deadline=None)
def test_both_texts_can_be_read_from_the_lines_of_a_diff(
    before: str, after: str, other: str
) -> None:
    def pad(text: str) -> str:
        return f"{text}\n" if text else ""

    diff = build_diff("a.md", pad(before), pad(after)) + build_diff("b.md", None, pad(other))
    lines = list_diff_lines(diff)
    heads = [at for at, line in enumerate(lines) if line.text == "--- /dev/null"]
    first = lines[: next(at for at in heads if lines[at].kind == "head")]
    if before != after and len(before) < 7:  # all lines are within the context of a change
        assert [x.text for x in first if x.kind in ("same", "removed")] == (
            pad(before).split("\n")[:-1]
        )
        assert [x.text for x in first if x.kind in ("same", "added")] == pad(after).split("\n")[:-1]


def test_removed_text_is_counted_and_a_replaced_word_only_by_what_is_shorter() -> None:
    long = "word " * 100
    assert count_removed(long, "") == len(long)
    assert count_removed(long, long + "more") == 0
    assert count_removed("a #home b", "a #house b") == 0
    assert count_removed("a #house b", "a #home b") == 1
    assert count_removed(long, "other " * 90) > 400
