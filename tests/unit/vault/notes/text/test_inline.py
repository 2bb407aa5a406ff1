import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vault.notes.text.inline import (
    blank_comments,
    blank_inline_code,
    find_block_names,
    find_fields,
    find_inline_code,
    find_tags,
    has_private_tag,
    plain_text,
    remove_block_name,
    remove_embeds,
)


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("#a and #b/c, (#d) #é-1_x", ("a", "b/c", "d", "é-1_x")),
        ("#1984 #y1984 #2024/01", ("y1984", "2024/01")),
        ("#日本語 #🎉", ("日本語", "🎉")),
        ("#end.", ("end",)),
        ("#trailing/ #/", ("trailing",)),
        ("#two words# #one", ("two words", "one")),
        (
            "#bread baking/sour dough# and (#vin de pays#)",
            ("bread baking/sour dough", "vin de pays"),
        ),
        ("#Äpfel und Birnen#.", ("Äpfel und Birnen",)),
        ("#good in C# and #better in F#", ("good", "better")),
        ("#one# #two", ("one", "two")),
        ("#a and #b# c", ("a", "b")),
        ("#more than ten words in one long row that goes on#", ("more",)),
        ("a#b https://x.y/#z ## #", ()),
        ("[[#Heading]] [[Note#Part]] [here](#part) [there](a.md#part)", ()),
        ("> [!note] In a callout #callout", ("callout",)),
        ("Let $a #x b$ be, and $$ #y $$ too. #real", ("real",)),
        (r"$\{ #a \$ #b \}$ #c", ("c",)),
        ("It costs $5 #money and not $6 #cheap", ("money", "cheap")),
        ("$ #a $ #b", ("a", "b")),
        (r"\$x #a y$ #b", ("a", "b")),
        ("Cheap: $$ #thai", ("thai",)),
        ("An open $x and a #tag", ("tag",)),
    ],
)
def test_tags_are_told_from_what_only_looks_like_one(line: str, tags: tuple[str, ...]) -> None:
    assert find_tags([(1, line)]) == tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("$$\na #x b\n$$\n#real", ("real",)),
        ("> $$\n> #x\n> $$ #real", ("real",)),
        ("as in $$\n#y\n$$ which #real", ("real",)),
        ("- $5 #money\n- $6 #cheap", ("money", "cheap")),
        ("$$$ #dear\n\nOther: $$$ #cheap", ("dear", "cheap")),
        ("$$ #never\n\nclosed", ("never",)),
    ],
)
def test_a_formula_of_several_lines_has_no_tags(text: str, tags: tuple[str, ...]) -> None:
    assert find_tags(enumerate(text.split("\n"), start=1)) == tags


def test_formulas_are_found_in_linear_time() -> None:
    began = time.thread_time()
    for text in ("$" * 200_000, "$a " * 70_000, "$$\n" * 70_000 + "$", r"$\$" * 70_000):
        find_tags(enumerate(f"#tag {text}".split("\n")))
    assert time.thread_time() - began < 5


@pytest.mark.parametrize(
    ("line", "is_private"),
    [
        ("#private", True),
        ("%%#Private/diary%%", True),
        ("(a) *#private*, b", True),
        ("#privateer #private-ish", False),
        ("page#private https://x.y/#private", False),
        ("[[#private]] [x](#private)", False),
    ],
)
def test_the_tag_that_keeps_a_note_private_counts_in_odd_places_too(
    line: str, is_private: bool
) -> None:
    assert has_private_tag([(1, line)]) is is_private


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("due:: 2024-05-01", [("due", "2024-05-01")]),
        ("- **Author**:: [[Ann]]", [("author", "[[Ann]]")]),
        ("> - [ ] Next step:: call", [("next step", "call")]),
        ("told by [who:: Ann] on (when:: May 1)", [("who", "Ann"), ("when", "May 1")]),
        ("empty::", [("empty", "")]),
        ("std::vector and a::b", []),
        ("12:: no name", []),
        ("see https://x.y::z", []),
    ],
)
def test_inline_fields_are_found_on_lines_items_and_in_brackets(
    line: str, fields: list[tuple[str, str]]
) -> None:
    assert [field[1:] for field in find_fields([(1, line)], [line])] == fields


def test_a_fields_value_is_taken_as_written_code_included() -> None:
    source = ["version:: `1.2`"]
    assert list(find_fields([(1, blank_inline_code(source[0]))], source)) == [
        (1, "version", "`1.2`")
    ]


def test_blocks_are_named_at_the_end_of_a_line_or_on_their_own() -> None:
    lines = [(1, "text ^one"), (2, "- item ^two "), (3, "^three"), (4, "x^4"), (5, "a ^b c")]
    assert list(find_block_names(lines)) == [
        ("one", 1, False),
        ("two", 2, False),
        ("three", 3, True),
    ]


def test_comments_are_blanked_in_place_across_lines() -> None:
    lines = [(1, "a %%b%% c"), (3, "%%"), (4, "#hidden"), (5, "%% d <!-- e --> f"), (6, "50%% g")]
    assert blank_comments(lines) == [
        (1, "a       c"),
        (3, "  "),
        (4, "       "),
        (5, "   d            f"),
        (6, "50%% g"),
    ]


@given(st.lists(st.text(alphabet="%<!->ab ", max_size=30), max_size=8))
def test_blanking_comments_keeps_every_line_and_place(texts: list[str]) -> None:
    lines = list(enumerate(texts, start=1))
    blanked = blank_comments(lines)
    assert [(number, len(line)) for number, line in blanked] == [(n, len(t)) for n, t in lines]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**Bold** and [link](x.md)", "Bold and link"),
        ("[[Note|shown]] and [[Other]]", "shown and Other"),
        ("`code` ~~gone~~", "code gone"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("Plan [draft] [2026]", "Plan [draft] [2026]"),
        ("[Plan][site] and [x] y", "Plan and [x] y"),
    ],
)
def test_headings_read_as_plain_text(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


@given(st.text(alphabet="`ab \n", max_size=200))
def test_blanking_inline_code_keeps_every_place(text: str) -> None:
    blanked = blank_inline_code(text)
    assert len(blanked) == len(text)
    assert [i for i, c in enumerate(blanked) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]


def test_inline_code_is_blanked_by_matching_runs() -> None:
    assert blank_inline_code("a `#x` b ``c ` d`` `e") == "a      b           `e"


@pytest.mark.parametrize(
    "unit", ["[[", "#", "a:: ", "- [ ] ", "%%", "<!--", "](", "[a::", "> ", "^a "]
)
def test_a_line_of_a_million_odd_characters_takes_bounded_time(unit: str) -> None:
    line = unit * (1_000_000 // len(unit))
    began = time.thread_time()
    find_tags([(1, line)])
    list(find_fields([(1, line)], [line]))
    list(find_block_names([(1, line)]))
    blank_comments([(1, line)])
    assert time.thread_time() - began < 10


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a `b` c", ["`b`"]),
        ("```npm i```", ["```npm i```"]),
        ("``a ` b`` `c", ["``a ` b``"]),
        (r"\`a` b`", ["` b`"]),
        (r"`a\` b`", [r"`a\`"]),
        (r"\\`a`", ["`a`"]),
        (r"\``a` b", ["`a`"]),
        ("`a\nb`", ["`a\nb`"]),
    ],
)
def test_inline_code_ends_at_a_run_of_as_many_backticks(text: str, code: list[str]) -> None:
    assert [text[start:end] for start, end in find_inline_code(text)] == code


@given(st.text(alphabet="``` ab\\\n", max_size=60))
def test_inline_code_is_what_the_parser_says(text: str) -> None:
    (parsed,) = MarkdownIt("commonmark").parseInline(text)
    wanted = [each.content for each in parsed.children or () if each.type == "code_inline"]
    found = [read_code(text[start:end]) for start, end in find_inline_code(text)]
    assert found == wanted


def read_code(code: str) -> str:
    """Return the content of inline code as CommonMark says."""
    marks = len(code) - len(code.lstrip("`"))
    content = code[marks : len(code) - marks].replace("\n", " ")
    is_padded = content[:1] == content[-1:] == " " and content.strip(" ")
    return content[1:-1] if is_padded else content


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Press ![[gear.svg|16]] now", "Press now"),
        ("![[Note#Part]] ![[Other]]", ""),
        ("an ![image](a(1).png) here", "an here"),
        ("`![[x]]` stays, ![[y]] goes", "`![[x]]` stays, goes"),
        ("a [[link]] and [one](x.md) stay", "a [[link]] and [one](x.md) stay"),
        ("wow! [[link]]", "wow! [[link]]"),
    ],
)
def test_embeds_are_removed_but_not_links_and_code(line: str, shown: str) -> None:
    assert remove_embeds(line).strip() == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("A block. ^id-1", "A block."),
        ("^id-1", ""),
        ("x^2", "x^2"),
        ("2 ^ 3", "2 ^ 3"),
        ("A note[^1]", "A note[^1]"),
    ],
)
def test_the_name_of_a_block_is_removed_at_the_end_of_its_line(line: str, shown: str) -> None:
    assert remove_block_name(line) == shown
