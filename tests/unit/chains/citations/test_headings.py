import pytest

from chains.citations.headings import heading_at

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
    assert heading_at(LOG, LOG.index(words), FIRST) == heading


def test_a_passage_without_headings_keeps_the_ones_it_began_under():
    assert heading_at("Only\ntext.", 6, FIRST) == FIRST


def test_a_heading_in_a_note_that_has_none_above_is_the_whole_path():
    assert heading_at("Text\n# Top\nmore", 12, ()) == ("Top",)
