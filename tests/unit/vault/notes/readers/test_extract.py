import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import ReadingFailed
from vault.notes.readers import extract, read_extract
from vault.notes.readers.extract import (
    Extract,
    ExtractPart,
    build_document,
    build_table,
    clean_prose,
    limit_parts,
)
from vault.notes.text.document import Block, Heading

KINDS = ["heading", "paragraph", "list", "table", "fence", "markdown", "text"]


def test_parts_stand_a_blank_line_apart_each_with_its_lines() -> None:
    document = build_document(
        Extract(
            [
                ExtractPart("heading", "Page 1", 1),
                ExtractPart("paragraph", "a\nb"),
                ExtractPart("list", "- x\n- y"),
                ExtractPart("markdown", "intro\n\n## Deeper\n```\ncode\n```"),
            ]
        )
    )
    assert document.lines == (
        *("# Page 1", "", "a", "b", "", "- x", "- y", ""),
        *("intro", "", "## Deeper", "```", "code", "```"),
    )
    assert document.headings == (Heading(1, "Page 1", 1), Heading(2, "Deeper", 11))
    assert document.blocks[1:3] == (
        Block("paragraph", 3, 4),
        Block("list", 6, 7, ((6, 6), (7, 7))),
    )
    assert document.kinds == "1 pp -- p 2oce"


def test_plain_text_is_kept_to_the_letter_in_paragraphs() -> None:
    text = "\n# no heading\n two\n\n\n- [ ] x\n"
    document = build_document(read_extract("text", text.encode()))
    assert "\n".join(document.lines) == text
    assert [(block.first, block.last) for block in document.blocks] == [(2, 3), (6, 6)]
    assert document.headings == ()


def test_plain_text_may_say_that_it_is_private() -> None:
    assert build_document(read_extract("text", b"---\nprivate: true\n---\nx")).is_private


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.text(alphabet="#-`a \n|", max_size=40))))
def test_blocks_are_in_order_and_inside_the_text(
    pieces: list[tuple[extract.PartKind, str]],
) -> None:
    document = build_document(Extract([ExtractPart(kind, text, 2) for kind, text in pieces]))
    last = 0
    for block in document.blocks:
        assert last < block.first <= block.last <= len(document.lines)
        last = block.last


def test_prose_holds_nothing_that_would_be_structure_or_invisible() -> None:
    assert (
        clean_prose("a\x00\u200bb\r\n\r\n\r\n# c\n  ## d\n#tag\xa0e\n")
        == "ab\n\\# c\n  \\## d\n#tag e"
    )


def test_a_table_has_as_many_cells_in_each_row() -> None:
    assert list(build_table([["a", "b\nc"], ["", " "], ["|"]])) == [
        ExtractPart("table", "| a | b c |\n| --- | --- |\n| \\| |  |")
    ]
    assert list(build_table([["", ""]])) == []


def test_a_text_that_swells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "MAX_CHARS", 1_000_000)
    endless = (ExtractPart("paragraph", "x" * 1_000) for _ in iter(int, 1))
    with pytest.raises(ReadingFailed, match="more than 1 million characters"):
        limit_parts(endless)
