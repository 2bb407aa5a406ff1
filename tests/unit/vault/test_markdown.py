import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.inline import blank_inline_code, plain_text
from vault.markdown import parse_document
from vault.properties import load_properties

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
    assert document.code_lines == {10, 11, 12}
    assert "# not a heading" not in [line for _, line in document.prose_lines()]


@pytest.mark.parametrize(
    "front",
    [
        "a: &a [1, 1]\nb: *a",
        "[" * 5000,
        "a: b: c",
        "- just\n- a list",
        "!!python/object/apply:os.system [ls]",
        "a: " + "9" * 10_000,
        "d: 2024-13-45",
        "x" * 100_000,
    ],
    ids=["aliases", "nesting", "broken", "list", "object", "digits", "date", "long"],
)
def test_hostile_front_matter_counts_as_none(front: str) -> None:
    began = time.perf_counter()
    assert isinstance(load_properties(front), dict)
    assert parse_document(f"---\n{front}\n---\ntext").lines[-1] == "text"
    assert time.perf_counter() - began < 2


def test_an_alias_bomb_is_refused_before_it_is_loaded() -> None:
    bomb = "a0: &a0 x\n" + "".join(f"a{i + 1}: &a{i + 1} [{f'*a{i},' * 9}]\n" for i in range(9))
    assert load_properties(bomb) == {}


def test_front_matter_without_an_end_is_text() -> None:
    assert parse_document("---\ntitle: x\n").body_line == 1


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**Bold** and [link](x.md)", "Bold and link"),
        ("[[Note|shown]] and [[Other]]", "shown and Other"),
        ("`code` ~~gone~~", "code gone"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_headings_read_as_plain_text(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


@given(st.text(alphabet="`ab \n", max_size=200))
def test_blanking_inline_code_keeps_every_place(text: str) -> None:
    blanked = blank_inline_code(text)
    assert len(blanked) == len(text)
    assert [i for i, c in enumerate(blanked) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]


def test_inline_code_is_blanked_by_matching_runs() -> None:
    assert blank_inline_code("a `#x` b ``c ` d`` `e") == "a      b           `e"


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
    began = time.perf_counter()
    document = parse_document(text)
    assert sum(1 for _ in document.prose_lines()) <= len(document.lines)
    assert time.perf_counter() - began < 10


@given(st.text(alphabet="#-`>|* \n\tab1.", max_size=300))
def test_blocks_are_in_order_and_inside_the_text(text: str) -> None:
    document = parse_document(text)
    last = 0
    for block in document.blocks:
        assert last < block.first <= block.last <= len(document.lines)
        last = block.last
