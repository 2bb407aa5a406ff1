import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.edits.plan import plan_append, plan_create, plan_replacement
from vault.edits.texts import EditableText, Replacement
from vault.errors import EditRefused
from vault.notes.encodings import decode_text, normalize_line_ends

STORED = [
    ("utf-8", b""),
    ("utf-8", codecs.BOM_UTF8),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-32-le", codecs.BOM_UTF32_LE),
]
LINES = st.lists(st.sampled_from(["", "one", "zwei ä", "三", "𝟜 four", "- item"]), max_size=8)


@pytest.mark.parametrize(("encoding", "mark"), STORED)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_edit_keeps_encoding_mark_and_line_ends(encoding: str, mark: bytes, end: str) -> None:
    before = mark + f"# Ä{end}old line{end}last".encode(encoding)
    after = plan_replacement("a.md", before, "old line", "new\nlines").changes[0].after
    assert after == mark + f"# Ä{end}new{end}lines{end}last".encode(encoding)


def test_a_line_between_two_changed_words_keeps_its_own_line_end() -> None:
    before = b"a\r\nb\nc\nd\n"
    assert plan_replacement("a.md", before, "a\nb\nc", "a\nb\nX").changes[0].after == (
        b"a\r\nb\nX\nd\n"
    )


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\rb\n", "b", "", b"a\r\r\n"),
        (b"a\rb\nc\n", "b", "\nb", b"a\r\r\nb\nc\n"),
        (b"a\rb\rc\n", "c", "c\n", b"a\rb\rc\r\r\n"),
    ],
)
def test_line_ends_that_meet_in_an_edit_stay_two(
    before: bytes, old: str, new: str, after: bytes
) -> None:
    assert plan_replacement("a.md", before, old, new).changes[0].after == after


def test_windows_1252_stays_so_and_refuses_what_it_has_not() -> None:
    before = "Ein schöner Tag für Käse und Öl\n".encode("cp1252")
    after = plan_replacement("a.md", before, "Käse", "Grüße").changes[0].after
    assert after == "Ein schöner Tag für Grüße und Öl\n".encode("cp1252")
    with pytest.raises(EditRefused, match="has no “日”"):
        plan_replacement("a.md", before, "Käse", "日本")


@pytest.mark.parametrize("text", ["half \ud800 of one", "nul \0 byte"])
def test_what_is_no_text_is_refused(text: str) -> None:
    with pytest.raises(EditRefused):
        plan_create("a.md", text)


@pytest.mark.parametrize(
    ("old", "reason"),
    [("", "is empty"), ("none", "is not in a.md"), ("aa", "2 times"), ("x", "the same")],
)
def test_only_a_text_that_is_there_once_is_replaced(old: str, reason: str) -> None:
    with pytest.raises(EditRefused, match=reason):
        plan_replacement("a.md", b"aaa x\n", old, old)


@pytest.mark.parametrize(
    ("before", "after"), [(b"", b"x\n"), (b"a", b"a\nx\n"), (b"a\r\n", b"a\r\nx\r\n")]
)
def test_appended_text_begins_on_a_line_of_its_own(before: bytes, after: bytes) -> None:
    assert plan_append("a.txt", before, "x").changes[0].after == after


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("It rained.\n", "It stopped."),
        ("It rained.", "---"),
        ("It rained.\n", "## Tuesday"),
        ("It rained.  \n", "## Tuesday"),
        ("- one\n- two\n", "It stopped."),
        ("- one\n  - two\n", "1. first"),
        ("- one\n\n- two\n", "- three"),
        ("1. one\n2. two\n", "- three"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "It stopped."),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "| c |\n|---|\n| 3 |"),
        ("> Rain\n> again\n", "It stopped."),
        ("> Rain\n", "> [!note]\n> It stopped."),
        ("```\ncode\n```\n", "It stopped."),
        ("<div>\nhtml\n</div>\n", "It stopped."),
    ],
)
def test_a_blank_line_separates_appended_text_from_a_block_it_would_join(
    before: str, text: str
) -> None:
    after = plan_append("a.md", before.encode(), text).changes[0].after
    assert after is not None
    assert after.decode() == f"{before.removesuffix(chr(10))}\n\n{text}\n"


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("- one\n- two\n", "- three"),
        ("- [ ] one\n  - two\n", "- [x] three"),
        ("- one\n", "  and more of it"),
        ("1. one\n2. two", "3. three"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "| 3 | 4 |"),
        ("> Rain\n", "> again"),
        ("# Log\n", "- one"),
        ("---\ntags: [log]\n---\n", "It rained."),
        ("```\ncode\n", "more code"),
        ("One line  \n", "and its next"),
        ("It rained.\n\n", "It stopped."),
        ("It rained.\n", "\nIt stopped."),
    ],
)
def test_text_that_continues_the_last_block_is_appended_directly_below(
    before: str, text: str
) -> None:
    after = plan_append("a.md", before.encode(), text).changes[0].after
    assert after is not None
    assert after.decode() == f"{before}{'' if before.endswith(chr(10)) else chr(10)}{text}\n"


def test_the_blank_line_has_the_line_end_of_the_note() -> None:
    assert plan_append("a.md", b"a\r\n", "x").changes[0].after == b"a\r\n\r\nx\r\n"


@given(
    lines=LINES,
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=8, max_size=8),
    stored=st.sampled_from(STORED),
    new=st.text(st.sampled_from("ab \nÄ三"), max_size=6),
    data=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_only_the_replaced_part_changes(
    lines: list[str], ends: list[str], stored: tuple[str, bytes], new: str, data: st.DataObject
) -> None:
    encoding, mark = stored
    source = "".join(line + end for line, end in zip(lines, ends, strict=False))
    before = mark + source.encode(encoding)
    note = EditableText.decode("a.md", before)
    start = data.draw(st.integers(0, len(note.text)))
    end = data.draw(st.integers(start, len(note.text)))
    after = note.replace([Replacement(start, end, new)])
    assert after.startswith(mark)
    expected = note.text[:start] + new + note.text[end:]
    read = decode_text(after).text if mark else after.decode(encoding)
    assert normalize_line_ends(read) == expected
    assert note.replace([Replacement(start, end, note.text[start:end])]) == before
