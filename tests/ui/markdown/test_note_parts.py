"""A note cut into parts has every line once, and each part is drawn as in the whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ui.markdown.blocks import CodeLines, ColumnLayout, Leaf, Paragraph, TableRows, plain
from ui.markdown.note_parts import PART_CHARS, NotePart, cut_parts, find_part, read_part
from ui.markdown.reader import Resume, read_units
from vault.notes.text.document import parse_document

LINES = ["", "", "# Heading", "words " * 30, "- item", "> quoted", "```py", "```", "| a | b |"]
LONG = "\n\n".join(f"## Part {n}\n\n{'word ' * 100}" for n in range(20))
LINES += ["|---|---|", "| 1 | 2 |", "    indented", "1. one", "~~~", "x" * 3_000]


def own_lines(part: NotePart) -> list[str]:
    """Return the lines of a part without those that it repeats."""
    return part.text.split("\n")[part.repeated :]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=120))
def test_every_line_is_in_one_part_in_order(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    parts = cut_parts(text)
    assert [line for part in parts for line in own_lines(part)] == (lines if text.strip() else [])
    for part in parts:
        assert part.line == 1 + sum(len(own_lines(p)) for p in parts[: parts.index(part)])


def test_a_short_note_is_one_part_and_an_empty_one_has_none() -> None:
    assert len(cut_parts("# One\n\nTwo.\n")) == 1
    assert cut_parts("\n \n") == ()


def test_a_large_note_is_cut_before_headings() -> None:
    text = "\n\n".join(f"## Part {n}\n\n{'word ' * 100}" for n in range(60))
    parts = cut_parts(text)
    assert len(parts) > 5
    assert all(part.text.startswith("## Part") for part in parts)
    assert all(len(part.text) < 2 * PART_CHARS for part in parts)


@pytest.mark.parametrize("quote", ["", "> "])
def test_a_long_table_goes_on_in_columns_of_the_same_width(quote: str) -> None:
    rows = [f"{quote}| {n} | {'cell ' * (2 + n % 30)}|" for n in range(1_000)]
    head = [f"{quote}| n | words |", f"{quote}|---|:-:|"]
    parts = cut_parts("\n".join([*head, *rows]))
    assert len(parts) > 5
    tables = [leaf for part in parts for leaf in read_part(part) if isinstance(leaf, TableRows)]
    is_seamless = not quote
    assert (len({table.columns for table in tables}) == 1) or not is_seamless
    shown = [plain(row[0]) for table in tables for row in table.rows]
    heads = 1 if is_seamless else len(parts)
    assert [text for text in shown if text != "n"] == [str(n) for n in range(1_000)]
    assert shown.count("n") == heads


def write_table(number: int, width: int, rows: int, words: int) -> list[str]:
    """Return the lines of a table whose cells say where they stand."""
    names = [f"t{number}c{column}" for column in range(width)]
    cells = [[f"t{number}r{row}", *(["word " * words] * (width - 1))] for row in range(rows)]
    return [f"| {' | '.join(row)} |" for row in (names, ["---"] * width, *cells)]


def list_tables(text: str) -> list[tuple[list[str], set[ColumnLayout]]]:
    """Return the first cells of each table of a note, put together, and its columns."""
    leaves = [leaf for part in cut_parts(text) for leaf in read_part(part)]
    tables: list[tuple[list[str], set[ColumnLayout]]] = []
    for leaf in leaves:
        if not isinstance(leaf, TableRows):
            continue
        if not leaf.is_continued:
            tables.append(([], set()))
        tables[-1][0].extend(plain(row[0]) for row in leaf.rows)
        tables[-1][1].add(leaf.columns)
    return tables


BETWEEN = ["", "\nText.\n", "# Heading", "\n- item\n", "> quoted\n", "```py\nx\n```", "---\n"]
BETWEEN += [
    f"\n{'words ' * 600}\n",
    "Text without a blank line.\n",
    "\n> | q |\n> |---|\n> | 1 |\n",
]
TABLES = st.tuples(
    st.integers(1, 7), st.integers(0, 40), st.sampled_from([1, 20, 90]), st.sampled_from(BETWEEN)
)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(["", "words " * 650, "# One\n\n"]), st.lists(TABLES, min_size=1, max_size=3))
def test_tables_in_parts_have_each_row_once_below_one_header(
    above: str, tables: list[tuple[int, int, int, str]]
) -> None:
    lines = [above, ""]
    for number, (width, rows, words, below) in enumerate(tables):
        lines += [*write_table(number, width, rows, words), below]
    shown = list_tables("\n".join([*lines, ""]))
    for number, (width, rows, _words, below) in enumerate(tables):
        cells, columns = next(some for some in shown if some[0][0] == f"t{number}c0")
        taken = [below.strip()] if below.startswith("Text w") else []  # Markdown says it is a row
        assert cells == [f"t{number}c0", *(f"t{number}r{row}" for row in range(rows)), *taken]
        assert len(columns) == 1
        assert {len(layout.shares) for layout in columns} == {width}


@pytest.mark.parametrize("below", [*BETWEEN, "\n" + "\n".join(write_table(1, 2, 200, 1))])
def test_the_end_of_a_long_table_does_not_depend_on_what_is_below_it(below: str) -> None:
    text = "\n".join([*write_table(0, 5, 130, 6), below])
    assert len(cut_parts(text)) > 3
    cells, columns = list_tables(text)[0]
    assert cells[:131] == ["t0c0", *(f"t0r{row}" for row in range(130))]
    assert cells.count("t0c0") == len(columns) == 1


def test_a_long_code_block_stays_code() -> None:
    parts = cut_parts("```py\n" + "x = 1\n" * 5_000 + "```\n\nThe end.\n")
    assert len(parts) > 2
    assert all(isinstance(read_part(part)[0], CodeLines) for part in parts[:-1])


def test_a_line_of_megabytes_is_cut_between_words() -> None:
    parts = cut_parts("word " * 200_000 + "\nThe end.")
    assert max(len(part.text) for part in parts) <= PART_CHARS
    assert "".join(part.text for part in parts[:-1]) == "word " * 200_000
    assert (parts[-1].line, parts[-1].text) == (2, "The end.")


def test_properties_that_cannot_be_read_stay_as_they_are_written() -> None:
    (part,) = cut_parts("---\ntags: [a\nx: {\n---\nSee.\n")
    code, _words = read_part(part)
    assert isinstance(code, CodeLines)
    assert (code.language, code.line) == ("yaml", 2)


def test_the_front_matter_is_a_table_and_a_bracketed_number_is_text() -> None:
    (part,) = cut_parts("---\ntags: a\n# said\nlinks:\n- '[[B|b]]'\n---\nSee [1].\n")
    tags, links, words = read_part(part)
    assert isinstance(tags, TableRows)
    assert isinstance(links, TableRows)
    assert [run.link for run in tags.rows[0][1]] == ["tag:a"]
    assert [(run.text, run.link) for run in links.rows[0][1]] == [("b", "note:B")]
    assert (tags.line, links.line) == (2, 4)
    assert plain(words.runs) == "See [1]."  # type: ignore[union-attr]
    assert words.runs[0].cites == ()  # type: ignore[union-attr]


@pytest.mark.parametrize(("line", "index"), [(1, 0), (4, 0), (5, 1), (9, 2), (99, 2)])
def test_the_part_of_a_line_is_found(line: int, index: int) -> None:
    parts = [NotePart(1, "a\n" * 3), NotePart(5, "b\nb\nb"), NotePart(8, "c")]
    assert find_part(parts, line) == index


def test_lines_of_a_part_are_those_of_the_note() -> None:
    part = NotePart(41, "| a |\n|---|\n| 1 |\n| 2 |", repeated=2)
    assert part.find_note_line(3) == 41
    assert part.find_own_line(42) == 4


def test_the_id_of_a_block_is_left_out_and_a_power_is_not() -> None:
    text = "Backed up at 02:30. ^schedule\n\n- an item ^item-1\n\n2^10 ^ 3 and ^here inside\n"
    blocks = read_part(cut_parts(text)[0])
    assert plain(blocks[0].runs) == "Backed up at 02:30."  # type: ignore[union-attr]
    assert "^item-1" not in str(blocks)
    assert plain(blocks[-1].runs) == "2^10 ^ 3 and ^here inside"  # type: ignore[union-attr]


@pytest.mark.parametrize("is_parsed", [True, False])
@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [
        ("````", "```", "````"),
        ("```", "~~~", "```"),
        ("~~~", "```", "~~~"),
        ("- ```", "  ~~~", "  ```"),
    ],
)
def test_a_fence_of_another_kind_does_not_end_a_long_code_block(
    opening: str, inner: str, closing: str, is_parsed: bool
) -> None:
    lines = [f"  # line {number}" for number in range(2_000)]
    text = "\n".join(
        ["Above.", "", opening, *lines[:5], inner, *lines[5:], closing, "", "## Below"]
    )
    parts = cut_parts(text, parse_document(text).kinds if is_parsed else "")
    assert len(parts) > 2
    for part in parts[1:]:
        assert part.text.startswith(opening)
        assert isinstance(read_part(part)[0], CodeLines)


def test_inline_code_in_three_backticks_opens_no_code_block() -> None:
    text = "```npm i```\n\n" + "\n\n".join(f"## Part {n}\n\n{'word ' * 200}" for n in range(60))
    assert all(part.text.startswith("## Part") for part in cut_parts(text)[1:])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("One %%hidden%% two", "One  two"),
        ("One\n\n%%\n# Hidden\n\nhidden\n%%\n\nTwo", "One\n\n\n\n\n\n\n\nTwo"),
        ("One <!-- hidden\nhidden --> two", "One \n two"),
        ("`%%` shown `%%`", "`%%` shown `%%`"),
        ("```\n%% shown %%\n```", "```\n%% shown %%\n```"),
        ("%% never closed", "%% never closed"),
    ],
)
def test_comments_are_hidden_and_lines_keep_their_numbers(text: str, shown: str) -> None:
    assert cut_parts(text)[0].text == shown
    assert cut_parts(text, parse_document(text).kinds)[0].text == shown


def test_a_state_of_a_task_is_a_marker_and_a_citation_is_none() -> None:
    text = "- [/] half\n- [1] one\n\n> - [-] quoted\n"
    for has_citations, expected in ((True, "[/] • [-]"), (False, "[/] [1] [-]")):
        units = read_units(text, Resume(), is_final=True, has_citations=has_citations)
        boxes = [leaf.boxes[-1] for unit in units for leaf in unit.leaves]
        assert " ".join(box.marker for box in boxes) == expected


def read_text(text: str) -> str:
    """Return the text of a note as it is drawn, with checkboxes."""
    leaves = [leaf for part in cut_parts(text) for leaf in read_part(part)]
    return "\n".join(
        " ".join([*(box.marker for box in leaf.boxes if box.marker), show(leaf)]) for leaf in leaves
    )


def show(leaf: Leaf) -> str:
    return plain(leaf.runs) if isinstance(leaf, Paragraph) else type(leaf).__name__


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{'  ' * depth}- t{depth}\n" for depth in range(60)),
        "> " * 70 + "t59",
        "<details>\n" * 120 + "t59\n",
        "1. " * 70 + "t59",
        "> - " * 40 + "[ ] t59",
    ],
    ids=["list", "quote", "details", "numbers", "mixed"],
)
def test_what_is_nested_too_deeply_is_not_lost(text: str) -> None:
    assert "t59" in read_text(text)


def test_an_end_of_details_in_code_does_not_end_them() -> None:
    text = "<details>\n\n```html\n</details>\n- [ ] code\n```\n\n- [ ] inner\n</details>\n- [ ] z\n"
    leaves = read_part(NotePart(1, text))
    inner, last = leaves[-2:]
    assert [box.kind for box in inner.boxes] == ["callout", "item"]
    assert [box.kind for box in last.boxes] == ["item"]
    assert any(isinstance(leaf, CodeLines) for leaf in leaves)


def test_only_the_first_checkbox_of_a_line_is_one() -> None:
    for text in ("- [ ] - [ ] in", "- [/] - [x] in", "1. [x] - - [-] in"):
        markers = [box.marker for box in read_part(NotePart(1, text))[-1].boxes]
        assert len([marker for marker in markers if marker.startswith("[")]) == 1


@pytest.mark.parametrize("front", ["---\na: {}\n---\n", "```\n{}\n```\n"])
def test_a_very_long_line_of_code_leaves_the_rest_of_the_note(front: str) -> None:
    text = front.format("x" * 50_000) + "- [ ] t\n"
    assert read_text(text).endswith("[ ] t")


def test_an_address_is_found_below_a_line_that_only_looks_like_one() -> None:
    text = f"See [site].\n\n{LONG}\n\n[1]: Smith et al. 2020\n\n[site]: https://example.org\n"
    first = read_part(cut_parts(text)[0])
    assert "https://example.org" in {run.link for run in first[0].runs}


def test_a_line_that_is_longer_than_any_address_defines_none() -> None:
    text = "\n".join(f"[a{n}]: https://example.org/{'x' * 5_000}" for n in range(2_000))
    assert cut_parts(f"{text}\n\n[b]: https://example.org\n")[0].references.count("\n") == 0


def test_a_text_about_drawings_is_no_drawing() -> None:
    text = "---\ntitle: sets excalidraw-plugin: parsed\n---\n# Drawing\n\nMine.\n"
    assert "Mine." in cut_parts(text)[0].text


def test_footnotes_that_nothing_closes_are_not_each_searched_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ui.markdown.parser.parseLinkLabel", lambda *_: pytest.fail("searched"))
    (leaf,) = read_part(NotePart(1, "a ^[b " * 100))
    assert isinstance(leaf, Paragraph)
    assert plain(leaf.runs).count("^[") == 100


@pytest.mark.parametrize("mark", ["- ", "> 1. ", "- item\n  - "])
def test_the_text_of_a_task_defines_no_address(mark: str) -> None:
    leaves = read_part(NotePart(1, f"{mark}[ ] [Anna]: call\n"))
    assert "[Anna]: call" in [plain(leaf.runs) for leaf in leaves if isinstance(leaf, Paragraph)]
