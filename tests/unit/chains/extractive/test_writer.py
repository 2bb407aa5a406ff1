from time import process_time

import pytest

from chains.extractive.writer import escape_markdown, write_item, write_lines, write_text


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


def test_items_keep_their_marks_boxes_and_indents():
    lines = ["- [x] done ^id-1", "    1) inner", "  * other <!-- hidden -->"]
    assert write_lines(lines) == ["- [x] done", "    1) inner", "  * other"]


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
    write_lines([f"- soil {piece * (20_000 // len(piece))} warm"])
    assert process_time() - started < 0.5
