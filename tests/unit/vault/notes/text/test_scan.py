"""The scanner names the kinds of lines as the parser does, where blocks are written as usual."""

import os
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.notes.text.document import parse_document
from vault.notes.text.lines import CODE_KINDS, COMMENT, FRONT, SECTION_KINDS, TABLE_KINDS
from vault.notes.text.scan import has_open_fence, may_become_fence, scan_kinds

DOCUMENTS = int(os.environ.get("SOAK_DOCUMENTS", "150"))
KINDS: tuple[Callable[[str], bool], ...] = (
    CODE_KINDS.__contains__,
    SECTION_KINDS.__contains__,
    TABLE_KINDS.__contains__,
    COMMENT.__eq__,
    FRONT.__eq__,
)

WORDS = st.sampled_from(["text", "# One", "## Two ##", "#tag", "####### seven", "%%hidden%%", ""])
CODE = st.sampled_from(["code", "# no heading", "- no item", "| a | b |", "%%", "~~~", "```", ""])


@st.composite
def write_fence(draw: st.DrawFn) -> list[str]:
    """Write a fenced block, with fences of the other sign or shorter ones inside it."""
    sign, length = draw(st.sampled_from("`~")), draw(st.integers(3, 5))
    fence = sign * length
    lines = [line for line in draw(st.lists(CODE, max_size=4)) if not line.startswith(fence)]
    info = draw(st.sampled_from(["", "sh", " py title"]))
    return [fence + info, *lines, fence + sign * draw(st.integers(0, 2))]


BLOCKS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=3),
    write_fence(),
    st.just(["```npm i```", "after it"]),
    st.just(["| a | b |", "|---|:-:|", "| 1 | 2 |", "| 3 | 4 |"]),
    st.just(["%%", "# hidden", "%%"]),
    st.just(["<!-- one", "# hidden", "-->"]),
)


@st.composite
def write_document(draw: st.DrawFn) -> str:
    """Write a document whose blocks are separated by blank lines, some of them in containers."""
    lines: list[str] = draw(st.sampled_from([[], ["---", "tags: a", "---"], ["---", "open", ""]]))
    lines = list(lines)
    for block in draw(st.lists(BLOCKS, max_size=6)):
        first, rest = draw(st.sampled_from([("", ""), ("- ", "  "), ("1. ", "   "), ("> ", "> ")]))
        prefixes = [first, *[rest] * (len(block) - 1)]
        lines += [
            (a + b).rstrip() if b else a.rstrip() for a, b in zip(prefixes, block, strict=True)
        ]
        lines += ["", "A paragraph.", ""]
    return "\n".join(lines)


@settings(max_examples=DOCUMENTS, deadline=None)
@given(write_document())
def test_the_scanner_agrees_with_the_parser(text: str) -> None:
    lines = text.split("\n")
    scanned, parsed = scan_kinds(lines), parse_document(text).kinds
    for is_kind in KINDS:
        assert [*map(is_kind, scanned)] == [*map(is_kind, parsed)]


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("```py\nx = 1", True),
        ("~~~\n```\nx", True),
        ("````\n```\nx", True),
        ("```npm i```\nx", False),
        ("- one\n  ```\n  x", True),
        ("> ```\n> x", True),
        ("> ```\n> x\nafter", False),
        ("- ```\n  x\n  ```\nafter", False),
        ("```\nx\n```", False),
    ],
)
def test_an_open_fence_is_seen(text: str, is_open: bool) -> None:
    assert has_open_fence(text) == is_open


@pytest.mark.parametrize(
    ("line", "may"), [("`", True), ("  ~~", True), ("```", True), ("````", False), ("a `", False)]
)
def test_a_line_may_become_a_fence(line: str, may: bool) -> None:
    assert may_become_fence(line) == may


def test_the_longest_note_is_scanned_faster_than_it_is_parsed() -> None:
    text = "- item one\n- [ ] two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" * 1_000
    started = time.process_time()
    scan_kinds(text.split("\n"))
    scanned = time.process_time()
    parse_document(text)
    assert scanned - started < (time.process_time() - scanned) / 2
