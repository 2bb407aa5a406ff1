"""Removing the markup of Markdown from a text."""

from random import Random

import pytest

from vault.notes.text import markup
from vault.notes.text.markup import list_shown_pieces, remove_markup

PIECES = (
    *(
        "a",
        "b ",
        "é",
        "•",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        "\x85",
        "*",
        "**",
        "_",
        "`",
        "~~",
        "==",
        "|",
    ),
    *("[", "]", "[[", "]]", "![[", "](u)", "[^1]", "[x] ", "!", "\\", "\\*", "<", "<b>", "</b>"),
    *("&amp;", "&", "#", "## ", "> ", "- ", "1. ", "12) ", " ^id", "^id", "3", " "),
)


@pytest.mark.parametrize("seed", range(20))
def test_markup_is_found_where_a_search_of_the_whole_text_finds_it(seed: int) -> None:
    random = Random(seed)
    for _ in range(200):
        text = "".join(random.choices(PIECES, k=random.randrange(1, 24)))
        shown = [(piece, at) for piece, at, _step in list_shown_pieces(text)]
        plain = [0, *(match.end() for match in markup._MARKUP.finditer(text))]
        assert [at for _piece, at in shown[::2]] == plain, text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2 * 3 and a_b", "2 * 3 and a_b"),
        ("> - **Soil** and `sand`", "Soil and sand"),
        ("one\n- [x] two ^id\nthree", "one\ntwo\nthree"),
        ("[Soil](soil.md) &amp; [[Sand|wet]]", "Soil & wet"),
    ],
)
def test_only_marks_that_are_markup_are_removed(text: str, shown: str) -> None:
    assert remove_markup(text) == shown
