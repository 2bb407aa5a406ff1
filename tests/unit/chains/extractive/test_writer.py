from time import process_time

import pytest

from chains.citations.sections import ShownSection
from chains.extractive.writer import escape_markdown, write_item, write_section, write_text
from context.layers import Layer, Segment


def show(lines, lit=(), folded=()):
    """Return a section that is a whole note."""
    text = "\n".join(lines)
    place = {"source": "N.md", "lines": (1, len(lines)), "number": 1}
    source = Segment.build(id="p", layer=Layer.L3, kind="passage", text=text, **place)
    return ShownSection(source, (1, len(lines)), tuple(lit), tuple(folded))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a **bold** word and [a link](https://example.org)", "a bold word and a link"),
        ("see [[Note|the note]]", "see the note"),
        ("run `a * b_c` now", "run `a * b_c` now"),
        ("snake_case and 2 * 3", "snake_case and 2 * 3"),
        ("a <tag> in text", "a \\<tag> in text"),
        ("an ![[icon.svg]] alone", "an alone"),
        ("a [link](javascript:alert(1)) with brackets", "a link with brackets"),
        ('a [link](page.html "its title") with a title', "a link with a title"),
        ("a [link](<my page.md>) with spaces", "a link with spaces"),
        ("an image ![x](a(1).png) here", "an image here"),
    ],
)
def test_markup_goes_and_code_stays(text, shown):
    assert write_text(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("see [7]", "see \\[7]"), ("- dash", "\\- dash"), ("12. May", "12\\. May"), ("1.5", "1.5")],
)
def test_only_what_would_be_read_as_markdown_is_escaped(text, shown):
    assert escape_markdown(text) == shown


def test_a_section_keeps_its_marks_boxes_and_indents():
    lines = ["- [x] done ^id-1", "    1) inner", "  * other <!-- hidden -->"]
    assert write_section(show(lines)) == "> - [x] done\n>     1) inner\n>   * other"


def test_lit_lines_end_with_their_citation_and_folded_ones_are_left_out():
    lines = ["# Beans", "", "They climb.", "They like sun.", "", "`[1]` is code, [2] is none."]
    section = show(lines, lit=((3, 3),), folded=((4, 4),))
    assert write_section(section) == ("> They climb. [1]\n> …\n>\n> `[1]` is code, \\[2] is none.")


def test_the_number_of_lit_code_stands_behind_it():
    section = show(["```", "a = 1", "```"], lit=((1, 3),))
    assert write_section(section) == "> ```\n> a = 1\n> ```\n> [1]"


def test_a_row_below_a_fold_comes_with_the_head_of_its_table():
    lines = ["| bed | grows |", "|---|---|", "| south | beans |", "| north | kale |"]
    section = show(lines, lit=((4, 4),), folded=((1, 3),))
    assert write_section(section) == ("> …\n> | bed | grows |\n> |---|---|\n> | north | kale [1] |")


def test_embeds_and_names_of_blocks_are_left_out_but_not_of_code():
    lines = ["Press ![[gear.svg|16]] or `![[x]]`. ^set-1", "", "```", "a ^b", "```"]
    assert write_section(show(lines)) == "> Press or `![[x]]`.\n>\n> ```\n> a ^b\n> ```"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("- [ ] Set `a_b` to *4*", "Set `a_b` to 4"),
        ("| `key` | changes a setting |", "`key` · changes a setting"),
        ("## A heading", "A heading"),
        ("> > quoted", "quoted"),
        ("1. First ^block", "First"),
        ("See [[Settings]] <!-- hidden -->", "See Settings"),
    ],
)
def test_a_line_of_a_note_becomes_the_text_of_a_list_item(line, shown):
    assert write_item(line) == shown


@pytest.mark.parametrize("piece", ["\t", " ", "<!--", "%%", "![[", "[x](", "`", "a_", " ^a"])
def test_a_long_line_of_a_hostile_note_is_formatted_in_little_time(piece):
    started = process_time()
    write_section(show([f"- soil {piece * (20_000 // len(piece))} warm"]))
    assert process_time() - started < 5  # it takes milliseconds, in quadratic time minutes


def test_of_blank_lines_where_something_is_left_out_one_is_written():
    section = show(["Pump.", "", "<!-- a -->", "", "(9 characters of data left out)", "", "", ""])
    assert write_section(section) == "> Pump.\n>\n> (9 characters of data left out)"
    lit = show(["Pump.", "", "", "Tank.", ""], lit=((4, 4),))
    assert write_section(lit) == "> Pump.\n>\n> Tank. [1]"
