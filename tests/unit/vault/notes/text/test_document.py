import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.notes.text.document import parse_document

SAMPLE = """\
---
title: Fees
tags: [a, b/c]
---
# Fees

Intro
=====

```python
# not a heading
```

- item

  ## nested
"""


def test_headings_have_the_lines_of_the_file_front_matter_included() -> None:
    document = parse_document(SAMPLE)
    assert [(h.level, h.text, h.line) for h in document.headings] == [
        (1, "Fees", 5),
        (1, "Intro", 7),
    ]
    assert document.body_line == 5
    assert document.properties == {"title": "Fees", "tags": ["a", "b/c"]}


def test_code_lines_are_known_and_left_out_of_prose() -> None:
    document = parse_document(SAMPLE)
    assert document.kinds == "ffff1 A= oce - n "
    assert "# not a heading" not in [line for _, line in document.list_prose_lines()]


def test_front_matter_without_an_end_is_text() -> None:
    assert parse_document("---\ntitle: x\n").body_line == 1


def test_broken_front_matter_leaves_a_note_that_is_read() -> None:
    document = parse_document("---\n" + "[" * 60_000 + "\n---\n# Title\n")
    assert (document.properties, document.body_line) == ({}, 4)
    assert [heading.text for heading in document.headings] == ["Title"]


@pytest.mark.parametrize(
    "text",
    [
        "`" * 50_000 + " " + "``" * 20_000,
        "[" * 50_000,
        "> " * 20_000,
        "|a" * 5_000 + "\n|-" * 5_000,
    ],
    ids=["backticks", "brackets", "quotes", "table"],
)
def test_odd_text_is_parsed_in_bounded_time(text: str) -> None:
    began = time.thread_time()
    document = parse_document(text)
    assert sum(1 for _ in document.list_prose_lines()) <= len(document.lines)
    assert time.thread_time() - began < 10


@given(st.text(alphabet="#-`>|* \n\tab1.", max_size=300))
def test_blocks_are_in_order_and_inside_the_text(text: str) -> None:
    document = parse_document(text)
    last = 0
    for block in document.blocks:
        assert last < block.first <= block.last <= len(document.lines)
        last = block.last
