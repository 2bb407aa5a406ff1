"""All readers of notes agree with markdown-it, and with each other, about the kinds of lines."""

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ui.markdown.note_parts import cut_parts
from vault.edits.plan import ContentChange, plan_related_link
from vault.notes.encodings import normalize_line_ends
from vault.notes.note import Note, parse_note
from vault.notes.text.lines import (
    CODE_KINDS,
    COMMENT,
    COMMENT_CLOSES,
    COMMENT_OPENS,
    FRONT,
    NESTED_HEADING,
    SECTION_KINDS,
)
from vault.notes.text.markdown_text import read_text
from vault.review.texts import split_lines

HEADING_KINDS = SECTION_KINDS | {NESTED_HEADING}
HIDING = frozenset((COMMENT, COMMENT_OPENS, COMMENT_CLOSES))  # of a heading nothing may be left

LINES = st.sampled_from(
    [
        *(
            "text here.",
            "- [ ] task",
            "# One",
            "## Two ##",
            "#tag",
            "# ",
            "####### seven",
            "===",
            "---",
        ),
        *("```", "````", "``` sh", "```npm i```", "   ```", "~~~", "~~~~", "~~~ x", "``` a`b", ""),
        *(
            "| a | b |",
            "|---|---|",
            "| `x` | 2 |",
            "<div>",
            "</div>",
            "<!-- one",
            "--> rest",
            "<br>",
        ),
        *(
            "%%",
            "%% all %%",
            "a %%b",
            "c%% d",
            "`%%`",
            "`two",
            "lines`",
            "    indented",
            "\\",
            "***",
        ),
    ]
)
PREFIXES = st.sampled_from(
    ["", "", "", "> ", "- ", "1. ", "  ", "   ", "    ", "> - ", "- > ", ">> "]
)
FRONT_LINES = st.sampled_from(
    [[], ["---", "tags: [a]", "---"], ["---", "# no", "..."], ["---", "a: b"]]
)


@st.composite
def write_note(draw: st.DrawFn) -> bytes:
    """Write a note with blocks of every kind, some of them nested."""
    lines = [*draw(FRONT_LINES)]
    for _ in range(draw(st.integers(0, 8))):
        prefix = draw(PREFIXES)
        lines += [prefix + line for line in draw(st.lists(LINES, min_size=1, max_size=5))]
    return draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines).encode()


@cache
def build_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def find_blocks(note: Note) -> tuple[set[int], set[int]]:
    """Return the indices of the lines that markdown-it finds in code, and of those in headings."""
    before = note.body_line - 1
    body = "\n".join(note.text.split("\n")[before:])
    code, headings = set[int](), set[int]()
    for token in build_parser().parse(body):
        if token.map is not None and token.type in {"fence", "code_block", "heading_open"}:
            lines = range(token.map[0] + before, token.map[1] + before)
            if token.type == "heading_open":
                is_underlined = not token.markup.startswith("#")
                headings.update(lines[:-1] if is_underlined else lines)
            else:
                code.update(lines)
    return code, headings


@settings(max_examples=200, deadline=None)
@given(write_note())
def test_all_readers_of_notes_agree(data: bytes) -> None:
    check_readers(data)


@pytest.mark.soak
@pytest.mark.timeout(7_200)
@settings(max_examples=10_000, deadline=None)
@given(write_note())
def test_all_readers_agree_on_ten_thousand_notes(data: bytes) -> None:
    check_readers(data)


def check_readers(data: bytes) -> None:
    """Check that all readers agree about the lines of a note."""
    note, document = parse_note("a.md", data)
    markdown, kinds, lines = note.markdown, note.kinds, note.text.split("\n")
    assert markdown is not None
    assert note.text == normalize_line_ends(data.decode())
    code, headings = find_blocks(note)
    hidden = {at for at, kind in enumerate(kinds) if kind == COMMENT}
    assert {at for at, kind in enumerate(kinds) if kind in CODE_KINDS} == code
    sections = {at for at, _ in markdown.list_headings()}
    found = {at for at, kind in enumerate(kinds) if kind in HEADING_KINDS}
    assert found <= headings <= found | {at for at, kind in enumerate(kinds) if kind in HIDING}
    assert sections <= found
    assert [heading.line - 1 for heading in document.headings] == sorted(sections)
    _check_passages(note, sections)
    _check_tasks(note, code | hidden)
    _check_review(note, code | hidden)
    _check_reading(note, lines)
    _check_edits(note, data, sections)


def _check_passages(note: Note, sections: set[int]) -> None:
    """A passage says of its lines what its note says, wherever it begins."""
    whole = note.markdown
    assert whole is not None
    for start in range(len(whole.lines)):
        part = whole.cut(start, len(whole.lines))
        passage = read_text("\n".join(part.lines), part.structure)
        assert passage.kinds == note.kinds[start:]
        if note.kinds[start - 1 : start] not in SECTION_KINDS:  # not inside of a heading
            assert {at + start for at, _ in passage.list_headings()} == {
                at for at in sections if at >= start
            }


def _check_tasks(note: Note, left_out: set[int]) -> None:
    assert not {task.line - 1 for task in note.tasks} & left_out


def _check_review(note: Note, left_out: set[int]) -> None:
    structure = note.find_structure(1, len(note.kinds))
    for line in split_lines([(1, note.text, structure)]):
        assert line.number - 1 not in left_out
        kind = note.kinds[line.number - 1]
        assert (line.kind == "heading") == (kind in HEADING_KINDS)
        assert (line.kind == "front") == (kind == FRONT)


def _check_reading(note: Note, lines: list[str]) -> None:
    """The reading view hides comments, shows code as it is, and keeps the numbers of lines."""
    for part in cut_parts(note.text, note.kinds):
        for at, shown in enumerate(part.text.split("\n")[part.repeated :], part.line - 1):
            if note.kinds[at] == COMMENT:
                assert shown == ""
            elif note.kinds[at] in CODE_KINDS:
                assert shown == lines[at]


def _check_edits(note: Note, data: bytes, sections: set[int]) -> None:
    """A link is added to a section that is one, and code and comments stay as they are."""
    (change,) = plan_related_link("a.md", data + b"\n\n## Related\n\ntext\n", "[[b]]").changes
    assert isinstance(change, ContentChange)
    after, _ = parse_note("a.md", change.after)
    before, _ = parse_note("a.md", data + b"\n\n## Related\n\ntext\n")
    assert (
        json.loads(before.find_structure(1, len(note.kinds)))[0] == after.kinds[: len(note.kinds)]
    )
    assert len(sections) <= len(after.headings)
