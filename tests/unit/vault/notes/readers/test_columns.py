"""Columns of a page are read one after the other; tables, and what needs no change, are not."""

import pytest

from tests.support.vaults.documents import pdf
from vault.errors import ReadingFailed
from vault.notes.readers import pdf as reader

RIVER = [
    "The river rises in the hills to the",
    "north, and it reaches the sea after",
    "ninety miles of meadows and woods,",
    "where herons stand in the shallows",
    "and barges once carried the stone",
    "of the quarries to the old harbour.",
]
BREAD = [
    "Bread is made of flour and of water",
    "with some salt, and it rests all the",
    "night below a cloth before it is put",
    "into an oven that is very hot, where",
    "it stays for forty minutes until the",
    "crust is dark and sounds quite dull.",
]
WIDE = "A heading, or a sentence, that goes over the whole width of the page, to the end, on"
NO_MAP = "(This page cannot be read as text: its font has no character map.)"


def place(*rows: list[tuple[int, int, str]]) -> str:
    shown = [f"1 0 0 1 {x} {y} Tm ({text}) Tj" for row in rows for x, y, text in row]
    return f"BT /F1 11 Tf {' '.join(shown)} ET"


def read(page: str) -> list[str]:
    return [line.strip() for line in reader.read(pdf([page])).parts[1].text.split("\n")]


def beside(top: int, *columns: list[str], step: int = 260) -> list[list[tuple[int, int, str]]]:
    """Place columns row by row, as many programs write them."""
    return [
        [(60 + step * number, top - 14 * at, text) for number, text in enumerate(row)]
        for at, row in enumerate(zip(*columns, strict=True))
    ]


def test_two_columns_are_read_apart() -> None:
    assert read(place(*beside(700, RIVER, BREAD))) == [*RIVER, *BREAD]


def test_what_spans_the_columns_divides_them() -> None:
    rows = [*beside(700, RIVER, BREAD), [(60, 600, WIDE)], *beside(570, BREAD, RIVER)]
    assert read(place([(60, 740, WIDE)], *rows)) == [WIDE, *RIVER, *BREAD, WIDE, *BREAD, *RIVER]


def test_three_columns_are_read_apart() -> None:
    first, second, third = (
        [line[:24] for line in lines] for lines in (RIVER, BREAD, list(reversed(RIVER)))
    )
    got = read(place(*beside(700, first, second, third, step=170)))
    assert got == [line.strip() for line in (*first, *second, *third)]


@pytest.mark.parametrize(
    "rows",
    [
        beside(700, ["drill", "saw", "bench grinder", "belt", "oil", "rag"], ["31", "24"] * 3),
        beside(700, RIVER, ["3.2 m", "yes", "about forty", "no", "the same as above it", "5"]),
        beside(700, RIVER[:3], BREAD[:3]),
    ],
)
def test_a_table_is_read_row_by_row(rows: list[list[tuple[int, int, str]]]) -> None:
    assert read(place(*rows)) == [" ".join(text for _, _, text in row) for row in rows]


def test_a_page_whose_font_has_no_character_map_says_so() -> None:
    text = "Nothing says which letters these glyphs are, so that no program reads them."
    glyphs = "".join(f"{ord(char) - 29:04x}" for char in text)
    page = f"BT /F2 11 Tf 60 700 Td <{glyphs}> Tj ET"
    parts = reader.read(pdf(["The first page is text.", page])).parts
    assert [part.text for part in parts] == ["Page 1", "The first page is text.", "Page 2", NO_MAP]
    with pytest.raises(ReadingFailed, match="its fonts have no character map"):
        reader.read(pdf([page]))


def test_capitals_and_numbers_are_text() -> None:
    page = "NOTICE TO ALL MEMBERS OF THE ROWING CLUB\n" * 4 + "BGH 3 ZR 12/26, DIN 4109, 24 kWh"
    assert NO_MAP not in read(page)
