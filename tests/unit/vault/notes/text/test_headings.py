import pytest

from vault.notes.text.markdown_text import read_text


def find_heading(passage: str, place: int, listed: tuple[str, ...], **options) -> tuple[str, ...]:
    line = passage.count("\n", 0, place)
    return read_text(passage, heading=listed, **options).find_headings(line)


LOG = """## Tomatoes
Sown in March.

## Frost
The last frost came late.

### Damage
Two plants.

# Other
```
# no heading
```
The end."""
FIRST = ("Garden log", "Tomatoes")


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        ("Sown in March", FIRST),
        ("The last frost", ("Garden log", "Frost")),
        ("Two plants", ("Garden log", "Frost", "Damage")),
        ("The end", ("Other",)),
        ("Frost", ("Garden log", "Frost")),
    ],
)
def test_a_place_stands_under_the_nearest_headings_above_it(words, heading):
    assert find_heading(LOG, LOG.index(words), FIRST) == heading


def test_a_passage_without_headings_keeps_the_ones_it_began_under():
    assert find_heading("Only\ntext.", 6, FIRST) == FIRST


def test_a_heading_in_a_note_that_has_none_above_is_the_whole_path():
    assert find_heading("Text\n# Top\nmore", 12, ()) == ("Top",)


NOTE = """---
tags: [soup]
---
A soup for cold days.

## What it takes
Two carrots.

## How to cook it
### First
Cut them."""


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        ("A soup", ()),
        ("Two carrots", ("What it takes",)),
        ("Cut them", ("How to cook it", "First")),
    ],
)
def test_a_heading_that_begins_in_the_passage_is_not_above_its_start(words, heading):
    assert find_heading(NOTE, NOTE.index(words), ("What it takes",), starts_note=True) == heading


def test_a_passage_may_begin_with_several_of_the_headings_that_it_names():
    passage = "## Beds\n### Beans\nSown in May.\n## Paths\nGravel."
    named = ("Garden", "Beds", "Beans")
    assert find_heading(passage, passage.index("Sown"), named) == named
    assert find_heading(passage, passage.index("Gravel"), named) == ("Garden", "Paths")


def test_titles_have_no_markup():
    assert read_text("## `SLOAD` ##").titles == ("SLOAD",)
