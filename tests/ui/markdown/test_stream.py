"""A text that arrives in pieces is read as the text that arrives at once."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ui.markdown.blocks import (
    CodeLines,
    FormulaLeaf,
    HeadingLeaf,
    Leaf,
    Missing,
    Paragraph,
    Run,
    Style,
    TableRows,
    plain,
)
from ui.markdown.inline import check_link
from ui.markdown.reader import Resume, read_units
from ui.markdown.stream import MarkdownStream


def said(leaf: Leaf) -> str:
    """Return the text of a leaf that has runs, or of its cells."""
    if isinstance(leaf, TableRows):
        return ""
    return plain(leaf.runs) if isinstance(leaf, Paragraph) else ""


LINES = [
    "- a",
    "- b **bold** [1]",
    "  - nested",
    "   - drifting",
    "\t- tab",
    "-",
    "1. one",
    "1. again",
    "10. ten",
    "2) other",
    "- [ ] task",
    "- a | b",
    "",
    "",
    "# heading",
    "a paragraph of words",
    "===",
    "---",
    "* * *",
    "```py",
    "x = '''",
    "```",
    "~~~",
    "    indented",
    "| a | b |",
    "|---|--:|",
    "--|--",
    "| 1 | 2 |",
    "> quoted",
    "> [!warning] Mind",
    "> > deeper",
    "$$",
    "- x = 1",
    "\\[",
    "\\]",
    "[^1]: a footnote",
    "[1]: https://example.org",
    "![p](https://example.org/p.png)",
    "<div>",
    "[[Note#Part|alias]] and `code`",
]
TEXTS = st.lists(st.sampled_from(LINES), min_size=1, max_size=24).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


def read_at_once(text: str) -> list[Any]:
    stream = MarkdownStream()
    stream.feed(text)
    return shapes(stream.finish())


def read_in_pieces(text: str, cuts: list[int]) -> list[Any]:
    stream, leaves, before = MarkdownStream(), [], 0
    for cut in [*sorted(cuts), len(text)]:
        stream.feed(text[before:cut])
        before = cut
        leaves.extend(stream.update().final)
    return shapes([*leaves, *stream.finish()])


def shapes(leaves: Any) -> list[Any]:
    """Leaves without the keys of their boxes and their lines, and code blocks in one piece."""
    found: list[Any] = []
    for leaf in leaves:
        boxes = tuple((box.kind, box.marker, box.tone) for box in leaf.boxes)
        if isinstance(leaf, CodeLines) and leaf.is_continued:
            _, language, lines, outer = found.pop()
            found.append(("code", language, leaf.whole or lines + leaf.lines, outer))
        elif isinstance(leaf, CodeLines):
            found.append(("code", leaf.language, leaf.lines, boxes))
        else:
            values = [
                getattr(leaf, f.name) for f in fields(leaf) if f.compare and f.name != "boxes"
            ]
            found.append((type(leaf).__name__, values, boxes))
    return found


def read(text: str) -> tuple[Leaf, ...]:
    stream = MarkdownStream()
    stream.feed(text)
    return stream.finish()


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, data=st.data())
def test_pieces_read_as_the_whole(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=40))
    assert read_in_pieces(text, cuts) == read_at_once(text)


@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_letter_by_letter_reads_as_the_whole(text: str) -> None:
    assert read_in_pieces(text, list(range(len(text)))) == read_at_once(text)


@pytest.mark.parametrize(
    "unit", ["- an item\n", "A paragraph.\n\n", "line of code\n", "| a | b |\n"]
)
def test_the_tail_stays_small_however_long_the_text(unit: str) -> None:
    opening = {"line of code\n": "```\n", "| a | b |\n": "| x | y |\n|---|---|\n"}.get(unit, "")
    stream = MarkdownStream()
    stream.feed(opening)
    sizes = []
    for _ in range(200):
        stream.feed(unit)
        growth = stream.update()
        sizes.append(
            sum(len(leaf.rows) if isinstance(leaf, TableRows) else 1 for leaf in growth.tail)
        )
    assert max(sizes) <= 8


LINE_ENDS = (
    *("abc\n- item\n", "a\n\nb", "# H\ntext\n- x\n- y", "`a\nb`", "abc\n", "|a|\n|---|\n|1|\n"),
    *("```\ncode\n```\nend", "> q\n> r\n\n1. a\n2. b", "- a\n\n  b\n- c\n\n$$\nx\n$$\n"),
)


@pytest.mark.parametrize("end", ["\r", "\r\n"])
@pytest.mark.parametrize("text", LINE_ENDS)
def test_every_line_end_reads_as_a_line_feed(text: str, end: str) -> None:
    other = text.replace("\n", end)
    assert shapes(read(other)) == shapes(read(text))
    assert read_in_pieces(other, list(range(len(other)))) == read_at_once(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Call (mood:: good) now", "Call good now"),
        ("Call [mood:: good] now", "Call mood  good now"),
        ("- (due:: 2026-01-01) item", "2026-01-01 item"),
        ("[see:: [[Note]]] x", "see  Note x"),
        ("(see:: [x](http://a.de/b)) y", "x y"),
        ("(a:: one (two) three) z", "one (two) three z"),
        ("[a:: b [c] d] z", "a  b [c] d z"),
        ("**Bold key**:: value", "Bold key  value"),
        ("a (x:: 1) (y:: 2) b", "a 1 2 b"),
        ("(std::vector) and a::b", "(std::vector) and a::b"),
        ("`(k:: v)` and (k::) and (k:: )", "(k:: v) and (k::) and (k:: )"),
        ("(k:: open", "(k:: open"),
        ("[a::b](http://a.de)", "a::b"),
        ("(1:: 2)", "(1:: 2)"),
        ("x:: y", "x  y"),
    ],
)
def test_a_field_is_shown_as_one_and_its_name_in_round_brackets_is_hidden(
    text: str, shown: str
) -> None:
    units = read_units(text, Resume(), is_final=True, has_citations=False)
    (leaf,) = (leaf for unit in units for leaf in unit.leaves)
    assert isinstance(leaf, Paragraph)
    assert plain(leaf.runs) == shown


def test_what_is_final_is_given_once() -> None:
    stream, given_out = MarkdownStream(), []
    for number in range(50):
        stream.feed(f"Paragraph {number}.\n\n")
        given_out.extend(stream.update().final)
    given_out.extend(stream.finish())
    texts = [plain(leaf.runs) for leaf in given_out if isinstance(leaf, Paragraph)]
    assert texts == [f"Paragraph {number}." for number in range(50)]


def test_half_a_citation_is_not_shown() -> None:
    stream = MarkdownStream()
    stream.feed("It rains [1")
    (leaf,) = stream.update().tail
    assert isinstance(leaf, Paragraph)
    assert plain(leaf.runs) == "It rains"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("See [[Watering#In summer|the beds]] today.", "See the beds today."),
        ("See [[Watering]] today.", "See Watering today."),
        ("See [the page](https://example.org/a) today.", "See the page today."),
        ("See ![a plan](https://example.org/a.png) there.", None),
        ("- [ ] [[Watering]] and [x](y)", "Watering and x"),
    ],
)
def test_half_a_link_shows_no_brackets(text: str, words: str | None) -> None:
    stream = MarkdownStream()
    for letter in text:
        stream.feed(letter)
        shown = " ".join(said(leaf) for leaf in stream.update().tail)
        assert not {"[[", "](", "]]", "!["} & {shown[at : at + 2] for at in range(len(shown))}
        assert "[t" not in shown
    if words is not None:
        assert " ".join(said(leaf) for leaf in stream.finish()) == words


def test_brackets_that_are_no_link_stay() -> None:
    stream = MarkdownStream()
    stream.feed("An array [a, b] holds [1].")
    assert said(stream.update().tail[0]) == "An array [a, b] holds [1]."


@pytest.mark.parametrize("fence", ["~~~\n", "```\n", "````\n", "- ~~~\n  "])
def test_code_that_is_still_open_is_shown_as_it_is(fence: str) -> None:
    stream = MarkdownStream()
    stream.feed(f"{fence}row = table[[1, 2")
    code = stream.update().tail[-1]
    assert isinstance(code, CodeLines)
    assert code.lines[0][0][1] == "row = table[[1, 2"


def test_half_a_link_behind_inline_code_in_three_backticks_shows_no_brackets() -> None:
    stream = MarkdownStream()
    stream.feed("Run ```npm i``` as in [[Depl")
    assert said(stream.update().tail[0]) == "Run npm i as in Depl"


def test_half_a_table_shows_no_bars() -> None:
    stream = MarkdownStream()
    for letter in "Rows:\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n":
        stream.feed(letter)
        for leaf in stream.update().tail:
            assert isinstance(leaf, TableRows) or "|" not in said(leaf)


def test_a_line_with_bars_that_is_no_table_is_shown_once_the_next_has_begun() -> None:
    stream = MarkdownStream()
    stream.feed("| a | b |\nand more")
    assert "| a | b |" in said(stream.update().tail[0])


def test_a_list_that_goes_on_keeps_counting() -> None:
    stream, leaves = MarkdownStream(), []
    for _ in range(4):
        stream.feed("1. item\n")
        leaves.extend(stream.update().final)
    leaves.extend(stream.finish())
    assert [leaf.boxes[0].marker for leaf in leaves] == ["1.", "2.", "3.", "4."]


def test_markup_is_text() -> None:
    (leaf,) = read("<b>bold</b> <img src='file:///etc/passwd'>")
    assert isinstance(leaf, Paragraph)
    assert plain(leaf.runs) == "<b>bold</b> <img src='file:///etc/passwd'>"


def test_citations_keep_their_brackets() -> None:
    (leaf,) = read("It rains [1][2], and snows [1, 3].")
    assert isinstance(leaf, Paragraph)
    assert [(run.text, run.cites) for run in leaf.runs if run.cites] == [
        ("[1]", (1,)),
        ("[2]", (2,)),
        ("[1, 3]", (1, 3)),
    ]


def test_a_list_of_references_stays_visible() -> None:
    leaves = read("As said [1].\n\n[1]: Backups.md")
    assert [plain(leaf.runs) for leaf in leaves if isinstance(leaf, Paragraph)] == [
        "As said [1].",
        "[1]: Backups.md",
    ]


def test_numbers_in_code_cite_nothing() -> None:
    (leaf,) = read("See `list[1]`.")
    assert isinstance(leaf, Paragraph)
    assert all(not run.cites for run in leaf.runs)


def test_an_image_becomes_a_placeholder() -> None:
    (leaf,) = read("![A diagram](https://tracker.example.com/pixel.png?id=7)")
    assert leaf == Missing(
        "tracker.example.com", "A diagram", "https://tracker.example.com/pixel.png?id=7"
    )


def test_a_local_image_has_nothing_to_open() -> None:
    (leaf,) = read("![x](/etc/passwd)")
    assert isinstance(leaf, Missing)
    assert (leaf.where, leaf.link) == ("passwd", "")


def test_a_callout_has_a_title_and_a_tone() -> None:
    title, text = read("> [!warning] Mind the gap\n> It is wide.")
    assert isinstance(title, Paragraph)
    assert (plain(title.runs), title.is_title, title.boxes[0].tone) == (
        "Mind the gap",
        True,
        "amber",
    )
    assert isinstance(text, Paragraph)
    assert plain(text.runs) == "It is wide."


def test_a_column_of_numbers_stands_right() -> None:
    (leaf,) = read("| Name | Size |\n|---|---|\n| a | 412 GB |\n| b | 1,388 |\n")
    assert isinstance(leaf, TableRows)
    assert leaf.columns.aligns == ("left", "right")


def test_later_rows_do_not_change_the_columns() -> None:
    head = "| Name | Size |\n|---|---|\n"
    short = read(head + "| a | 1 |\n" * 8)
    long = read(head + "| a | 1 |\n" * 8 + "| a very long name indeed | none |\n")
    assert isinstance(short[0], TableRows)
    assert isinstance(long[-1], TableRows)
    assert short[0].columns == long[-1].columns


def test_a_closed_block_of_code_gets_its_final_colours() -> None:
    code = '```python\ntext = """\nif a string\n"""\nif x: pass\n```\n'
    stream, leaves = MarkdownStream(), []
    for letter in code:
        stream.feed(letter)
        leaves.extend(stream.update().final)
    leaves.extend(stream.finish())
    whole = next(leaf.whole for leaf in leaves if isinstance(leaf, CodeLines) and leaf.whole)
    assert whole[1] == (("string", "if a string"),)
    assert whole[3][0] == ("keyword", "if")


def test_mathematics_is_tex() -> None:
    paragraph, block = read("So \\(a + b\\) and $x^2$, for $5 and $6.\n\n$$\ne = mc^2\n$$")
    assert isinstance(paragraph, Paragraph)
    assert [run.text for run in paragraph.runs if run.style & Style.TEX] == ["a + b", "x^2"]
    assert block == FormulaLeaf("e = mc^2")


def test_a_diagram_is_its_code() -> None:
    (block,) = read("```mermaid\ngraph TD\n  A --> B\n```")
    assert isinstance(block, CodeLines)
    assert block.language == "mermaid"
    assert "".join(text for line in block.lines for _, text in line) == "graph TD  A --> B"


def test_headings_keep_their_level() -> None:
    first, second = read("# One\n\n### Three")
    assert isinstance(first, HeadingLeaf)
    assert isinstance(second, HeadingLeaf)
    assert (first.level, second.level) == (1, 3)


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("https://example.org/a?b=c", "https://example.org/a?b=c"),
        ("mailto:ines@example.org", "mailto:ines@example.org"),
        ("Home%20server/Backups.md#Nightly", "note:Home server/Backups.md#Nightly"),
        ("javascript:alert(1)", ""),
        ("file:///etc/passwd", ""),
        ("data:text/html,x", ""),
        ("//example.org/x", ""),
        ("\\\\server\\share", ""),
        ("https://", ""),
        ("obsidian://open?vault=x", ""),
        ("https://user:pw@example.org", ""),
        ("https://example.org@evil.example/login", ""),
        ("HTTP://user@example.org", ""),
        ("https://example.org\\@evil.example", ""),
        ("https://user%40example.org", ""),
        ("https://example.org/@ines", "https://example.org/@ines"),
        ("https://example.org/?to=a@b.example", "https://example.org/?to=a@b.example"),
        (
            "mailto:ines@example.org?subject=Hello%20Ines",
            "mailto:ines@example.org?subject=Hello%20Ines",
        ),
        ("MAILTO:ines@example.org?Subject=x", "MAILTO:ines@example.org?Subject=x"),
        ("mailto:ines@example.org?body=x", ""),
        ("mailto:ines@example.org?subject=x&attach=/etc/passwd", ""),
        ("mailto:ines@example.org?cc=eve@example.org", ""),
        ("mailto:ines@example.org,eve@example.org", ""),
        ("mailto:ines@example.org?subject=x%0D%0ABcc:eve@example.org", ""),
        ("mailto:?to=eve@example.org", ""),
        ("mailto:", ""),
    ],
)
def test_only_listed_addresses_are_links(address: str, allowed: str) -> None:
    assert check_link(address) == allowed


@pytest.mark.parametrize(
    "written",
    [
        "[click](https://user:pw@example.org)",
        "[click](mailto:ines@example.org?body=x)",
    ],
)
def test_a_link_that_hides_more_than_it_says_is_plain_text(written: str) -> None:
    (leaf,) = read(written)
    assert isinstance(leaf, Paragraph)
    assert leaf.runs == (Run("click"),)


def test_a_bare_address_with_a_password_is_plain_text() -> None:
    for written in ("<https://user:pw@example.org/x>", "See https://user:pw@example.org/x"):
        (leaf,) = read(written)
        assert isinstance(leaf, Paragraph)
        assert all(not run.link for run in leaf.runs)


def test_a_forbidden_link_is_plain_text() -> None:
    (leaf,) = read("[click](ftp://example.org) [[Note|here]]")
    assert isinstance(leaf, Paragraph)
    assert leaf.runs == (Run("click "), Run("here", link="note:Note"))
