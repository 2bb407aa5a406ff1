"""The kinds of lines agree with markdown-it, for whole notes and for passages cut out of them."""

import os

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vault.notes.text.document import parse_document
from vault.notes.text.markdown_text import MarkdownText, read_text

DOCUMENTS = int(os.environ.get("SOAK_DOCUMENTS", "100"))
WORDS = st.sampled_from(
    ["plain words.", "Two. Sentences!", "`code`", "a `b", "```npm i```", "%% x", "x %%", "<!-- y",
     "z -->", "%%all%%", "<!-- one -->", "[[Link]]", "*it*", "| a |", "A # b", "\\# no", "1. x"]
)  # fmt: skip
LINES = st.one_of(
    st.lists(WORDS, min_size=1, max_size=3).map(" ".join),
    st.sampled_from(
        ["", "", "", "# One", "## Two ##", "###### Six", "#No", "# C#", "```", "````", "``` sh",
         "~~~", "~~~~ x", "===", "---", "***", "- item", "  - nested", "10. ten", "- # inner",
         "- ```", "\ttab", "    four", "> quoted", "> # inside", "> ```", ">> twice", "> - item",
         "| a | b |", "|---|---|", "a | b", "--|--", "<div>", "</div>", "<!--", "-->", "%%",
         "- [ ] task", "> [!note] Title", "#tag", "^block", "$$"]
    ),
)  # fmt: skip
FRONT = st.sampled_from(
    ["", "---\ntitle: x\n# no: heading\n---\n", "---\n", "---\n---\n", "\ufeff"]
)
DOCUMENT = st.builds(
    lambda front, lines: front + "\n".join(lines), FRONT, st.lists(LINES, max_size=24)
)


def read(text: str) -> MarkdownText:
    return MarkdownText.from_document(parse_document(text))


def is_in_heading(text: MarkdownText, at: int) -> bool:
    return 0 < at < len(text.kinds) and text.kinds[at - 1] in "AB" and text.kinds[at] in "AB="


def tokens_of(text: str) -> list:
    body_line = parse_document(text).body_line
    body = "\n".join(text.split("\n")[body_line - 1 :])
    parsed = MarkdownIt("commonmark").enable("table").parse(body)
    for token in parsed:
        if token.map is not None:
            token.map = [token.map[0] + body_line - 1, token.map[1] + body_line - 1]
    return parsed


@settings(max_examples=DOCUMENTS, deadline=None)
@given(DOCUMENT)
def test_code_and_headings_are_those_of_the_parser(text: str) -> None:
    found, parsed = read(text), tokens_of(text)
    code = {
        at for each in parsed if each.type in ("fence", "code_block") for at in range(*each.map)
    }
    assert {at for at in range(len(found.lines)) if found.is_code(at)} == code
    headings = [
        (each.map[0], int(each.tag[1:]))
        for each in parsed
        if each.type == "heading_open" and each.level == 0 and found.kinds[each.map[0]] != "%"
    ]
    assert [(at, heading.level) for at, heading in found.list_headings()] == headings
    titles = [heading.text for heading in parse_document(text).headings]
    assert [heading.title for _, heading in found.list_headings()] == titles


@settings(max_examples=DOCUMENTS, deadline=None)
@given(DOCUMENT, st.data())
def test_a_passage_is_read_as_its_lines_are_in_the_note(text: str, data: st.DataObject) -> None:
    whole = read(text)
    start = data.draw(st.integers(0, len(whole.lines) - 1))
    end = data.draw(st.integers(start + 1, len(whole.lines)))
    assume(not any(is_in_heading(whole, at) for at in (start, end)))
    cut = whole.cut(start, end)
    passage = read_text("\n".join(whole.lines[start:end]), cut.structure)
    assert passage == cut
    assert passage.kinds == whole.kinds[start:end]
    for at in range(end - start):
        assert passage.find_headings(at) == whole.find_headings(start + at)
        assert passage.strip_quotes(at) == whole.strip_quotes(start + at)


@settings(max_examples=DOCUMENTS, deadline=None)
@given(DOCUMENT)
def test_a_whole_note_needs_no_structure(text: str) -> None:
    assert read_text(text, starts_note=True) == read(text)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("```npm i```\n\nx", "p p"),
        ("```\n~~~\nx\n```\ny", "occep"),
        ("````\n```\nx\n````\ny", "occep"),
        ("- a\n  ```\n  b\n  ```\n- c", "-oce-"),
        ("> ```\n> b\n> ```\n> c", "ocep"),
        ("```\nnever closed\n", "oc "),
        ("---\na: b\n---\nText\n===\n", "fffA= "),
        ("Two\nlines\n---\n", "BB= "),
        ("| a |\n|---|\n| b |\n\n---", "tdt r"),
        ("a %% b\nc\nd %% e", "<%>"),
        ("%%\n- no\n%%\nx", "%%%p"),
        ("%%\n# Section\n%%\nx", "%%%p"),
        ("# A %% b\nc %%", "1%"),
        ("%%\nA\n===\n%%", "%%%%"),
        ("%%\n\nA\n===\n%%", "% %%%"),
        ("a <!-- b\nc\nd --> e\n===", "AAA="),
        ("a %% b\n%%\n===", "AA="),
        ("a %%b%% c\n%%d%%", "p%"),
        ("`%%` a\nb `%%`", "pp"),
        ("<!--\nx\n\ny\n-->\nz", "%% %%p"),
        ("<div>\nx\n</div>\n\ny", "hhh p"),
        ("%% never closed\nx", "pp"),
        ("- # a\n- b", "n-"),
        ("a\n\n    b\n\n    c", "p iii"),
    ],
)
def test_each_line_has_a_kind(text: str, kinds: str) -> None:
    assert read(text).kinds == kinds


@pytest.mark.parametrize(
    "structure", ["", "[", "[]", '["p","",[]]', '["pp",1,[]]', '["pp","x",[]]']
)
def test_a_structure_that_does_not_fit_is_not_used(structure: str) -> None:
    assert read_text("# a\nb", structure).kinds == "1p"


def test_headings_above_a_passage_without_structure_get_levels() -> None:
    passage = read_text("tail\n### Deep\nx\n## Next\ny", heading=("Top", "Deep"))
    assert passage.find_headings(0) == ("Top",)
    assert passage.find_headings(2) == ("Top", "Deep")


@pytest.mark.parametrize(
    ("text", "outside"),
    [
        ("a\n```\nb\n```\nc", ["a", "c"]),
        ("```npm i```\na", ["```npm i```", "a"]),
        ("~~~md\n```js\na\n```\n~~~\nb", ["b"]),
        ("````\n```\na\n````\nb", ["b"]),
        ("```\na\n```js\nb\n```\nc", ["c"]),
        ("> ```\n> a\n> ```\nb", ["b"]),
    ],
)
def test_fenced_code_is_left_out(text: str, outside: list[str]) -> None:
    assert [line for _, line in read_text(text).list_shown_lines()] == outside
