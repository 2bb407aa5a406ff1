from hypothesis import given
from hypothesis import strategies as st

from chains.extractive.blocks import list_blocks
from chains.extractive.parts import build_parts
from context.layers import Layer, Segment
from vault.notes.text.markdown_text import read_text

NOTE = """---
tags: [a]
---
# Title

Intro of the note.

> [!NOTE] Callout
> Inside of the callout.

| a | b |
|---|---|
| 1 | 2 |

- one
  - below one
- two

```py
code = 1
```
%% comment %%
<!-- two
lines -->
Last words here."""


def passage(text, number=1):
    return Segment.build(
        id="p",
        layer=Layer.L3,
        kind="passage",
        source="N.md",
        text=text,
        lines=(1, 99),
        number=number,
    )


def test_blocks_know_their_kind_and_lines():
    found = list(list_blocks(read_text(NOTE, starts_note=True)))
    assert [(block.kind, block.first) for block in found] == [
        ("text", 5),
        ("text", 8),
        ("table", 10),
        ("item", 14),
        ("item", 15),
        ("item", 16),
        ("code", 18),
        ("text", 24),
    ]
    assert {block.heading for block in found} == {("Title",)}


def test_an_item_comes_with_what_is_below_it():
    item, *_ = (part for part in build_parts(passage(NOTE)) if part.kind == "item")
    assert (item.first, item.end, item.text) == (14, 16, "one\nbelow one")


LINES = st.sampled_from([*NOTE.split("\n"), "1. first", "`code`", "Why?", "a: ", "[x](y) *z* [1]"])


@given(st.lists(LINES, max_size=12))
def test_every_part_has_lines_of_its_source(lines):
    for part in build_parts(passage("\n".join(lines))):
        assert 0 <= part.first < part.end <= max(1, len(lines))
        assert part.text


def test_a_row_is_about_its_columns_and_a_line_that_introduces_is_no_answer():
    note = "The beds are:\n\n| bed | grows |\n|---|---|\n| south | beans |"
    leading, row = build_parts(passage(note))
    assert leading.leads
    assert (row.kind, row.first, row.end) == ("row", 4, 5)
    assert "grows" in row.known_words
