from hypothesis import given
from hypothesis import strategies as st

from chains.citations.quotes import VerbatimText
from chains.extractive.blocks import list_blocks
from chains.extractive.part_builder import build_parts
from chains.extractive.parts import verify_part
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
    items = [part for part in build_parts(passage(NOTE)) if part.kind == "item"]
    item = verify_part(items[0])
    assert item is not None
    assert item.pieces == (("- one", "  - below one"),)


LINES = st.sampled_from([*NOTE.split("\n"), "1. first", "`code`", "Why?", "a: ", "[x](y) *z* [1]"])


@given(st.lists(LINES, max_size=12))
def test_every_verified_part_is_found_in_its_source(lines):
    source = passage("\n".join(lines))
    text = VerbatimText(source.raw_content)
    for part in filter(None, map(verify_part, build_parts(source))):
        assert all(text.find("\n".join(piece)) for piece in part.pieces)


def test_lines_of_a_list_that_stand_together_are_one_piece():
    picture = "![A picture](picture.png)"
    note = f"- open the settings\n- choose a folder\n\n{picture}\n\n- press *Start*\n- wait"
    whole = next(part for part in build_parts(passage(note)) if part.kind == "list")
    found = verify_part(whole)
    assert found is not None
    assert [[line for line in piece if line] for piece in found.pieces] == [
        ["- open the settings", "- choose a folder"],
        ["- press Start", "- wait"],
    ]
