import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.carry_forward import (
    compact_by_section,
    prior_context,
    shorten_text,
    truncate_with_ellipsis,
)


def test_a_text_that_fits_comes_back_unchanged():
    assert truncate_with_ellipsis("x" * 10, 10) == "x" * 10
    assert truncate_with_ellipsis("", 0) == ""


def test_it_is_cut_at_the_last_sentence_end_beyond_half():
    text = "One sentence here. Another one there! And a third that is cut off"
    assert truncate_with_ellipsis(text, 60) == "One sentence here. Another one there! ..."


@pytest.mark.parametrize("sign", [".", "!", "?"])
@pytest.mark.parametrize("blank", [" ", "\n", "\t"])
def test_a_sentence_ends_before_white_space(sign, blank):
    text = "x" * 60 + sign + blank + "y" * 60
    assert truncate_with_ellipsis(text, 100) == "x" * 60 + sign + " ..."


def test_a_sign_within_a_word_ends_no_sentence():
    assert truncate_with_ellipsis("x" * 60 + ".md" + "y" * 60, 100) == (
        "x" * 60 + ".md" + "y" * 37 + "..."
    )


def test_a_sentence_end_in_the_first_half_is_too_early():
    text = "Short. " + "word " * 30
    assert truncate_with_ellipsis(text, 100) == "Short. " + ("word " * 18).strip() + " ..."


def test_else_it_is_cut_at_the_last_blank_line_beyond_half():
    text = "x" * 60 + "\n\n" + "y" * 60
    assert truncate_with_ellipsis(text, 100) == "x" * 60 + "\n\n..."


def test_else_it_is_cut_at_the_last_blank_beyond_four_fifths():
    text = "x" * 85 + " " + "y" * 60
    assert truncate_with_ellipsis(text, 100) == "x" * 85 + " ..."


def test_a_blank_before_four_fifths_is_too_early():
    text = "x" * 70 + " " + "y" * 60
    assert truncate_with_ellipsis(text, 100) == "x" * 70 + " " + "y" * 29 + "..."


def test_a_sentence_goes_before_a_paragraph_and_a_paragraph_before_a_word():
    text = "x" * 55 + ". " + "x" * 20 + "\n\n" + "x" * 8 + " " + "y" * 60
    assert truncate_with_ellipsis(text, 100) == "x" * 55 + ". ..."
    text = text.replace(". ", "--")
    assert truncate_with_ellipsis(text, 100) == "x" * 55 + "--" + "x" * 20 + "\n\n..."


@given(st.text(alphabet="ab. !?\n", max_size=200), st.integers(0, 120))
def test_the_ellipsis_comes_on_top_of_the_beginning(text, most):
    shortened = truncate_with_ellipsis(text, most)
    if len(text) <= most:
        assert shortened == text
    else:
        kept = shortened.removesuffix("...").removesuffix(" ").removesuffix("\n\n")
        assert shortened.endswith("...")
        assert text.startswith(kept)
        assert len(kept) <= most


def section(name, body):
    return f"## {name}\n{body}\n\n"


def test_without_headings_it_is_shortened_as_a_whole():
    text = "word " * 1_000
    assert compact_by_section(text) == truncate_with_ellipsis(text, 2_000)
    assert compact_by_section(text, preview_chars=10) == truncate_with_ellipsis(text, 40)


def test_one_section_in_all_is_as_none():
    text = "# Only\n" + "word " * 1_000
    assert compact_by_section(text) == truncate_with_ellipsis(text, 2_000)


def test_blank_lines_before_the_first_heading_are_no_section():
    text = "\n\n# Only\n" + "word " * 1_000
    assert compact_by_section(text) == truncate_with_ellipsis(text, 2_000)


def test_sections_whose_body_fits_stay_whole():
    text = section("A", "a" * 500) + section("B", "b")
    assert compact_by_section(text) == text


def test_a_body_that_does_not_fit_is_shortened_below_its_heading():
    body = "b" * 501
    text = section("A", "a") + section("B", body) + section("C", "c")
    assert compact_by_section(text) == (
        section("A", "a") + f"## B\n{truncate_with_ellipsis(body, 500)}\n\n" + section("C", "c")
    )


def test_what_stands_before_the_first_heading_is_shortened_like_a_body():
    text = "x" * 600 + "\n\n" + section("A", "a")
    assert compact_by_section(text) == "x" * 500 + "...\n\n" + section("A", "a")


def test_only_the_first_sections_are_kept_and_the_others_are_counted():
    text = "".join(section(str(number), "text") for number in range(23))
    expected = "".join(section(str(number), "text") for number in range(20)).rstrip()
    assert compact_by_section(text) == f"{expected}\n\n[... 3 more sections omitted ...]"


def test_a_negative_limit_is_a_limit_of_nothing():
    assert truncate_with_ellipsis("abc", -1) == truncate_with_ellipsis("abc", 0) == "..."
    text = "# A\na\n\n# B\nb\n"
    assert compact_by_section(text, max_sections=-1) == compact_by_section(text, max_sections=0)


def test_what_stands_before_the_first_heading_counts_as_a_section():
    text = "Before.\n\n" + section("A", "a") + section("B", "b")
    assert compact_by_section(text, max_sections=2) == (
        "Before.\n\n## A\na\n\n[... 1 more sections omitted ...]"
    )


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "  ```"])
def test_a_hash_in_a_code_fence_is_not_a_heading(fence):
    code = f"{fence}\n# not a heading\n{fence}\n"
    text = "# A\n" + code + "x" * 3_000
    assert compact_by_section(text) == truncate_with_ellipsis(text, 2_000)


def test_a_fence_ends_only_with_its_own_sign_as_long():
    code = "````\n```\n# no\n~~~~\n# no\n````\n"
    text = "# A\n" + code + "# B\nb\n"
    assert compact_by_section(text, max_sections=1).endswith("[... 1 more sections omitted ...]")


def test_inline_code_opens_no_fence():
    text = "# A\n```code``` here\n# B\nb\n"
    assert compact_by_section(text, max_sections=1).endswith("[... 1 more sections omitted ...]")


@pytest.mark.parametrize("line", ["#tag", "####### seven", "    # code", "text # no"])
def test_not_every_hash_is_a_heading(line):
    text = f"{line}\n" + "x" * 3_000
    assert compact_by_section(text) == truncate_with_ellipsis(text, 2_000)


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_a_line_break_begins_a_line_with_a_heading(separator):
    text = f"intro{separator}# no heading"
    assert compact_by_section(text, max_sections=1) == text


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_a_heading_follows_any_line_break(line_break):
    text = f"intro{line_break}# heading{line_break}body"
    assert compact_by_section(text, max_sections=1) == "intro\n\n[... 1 more sections omitted ...]"


@pytest.mark.parametrize("line", ["# One", "###### Six", "   ## Indented", "##", "#\tTab"])
def test_headings_have_one_to_six_hashes_and_a_blank(line):
    text = f"Before.\n{line}\nbody\n"
    assert compact_by_section(text, max_sections=1) == (
        "Before.\n\n[... 1 more sections omitted ...]"
    )


def test_prior_context_is_word_for_word_up_to_five_thousand_characters():
    text = "# A\n" + "x" * 4_000 + "\n# B\n" + "y" * 991
    assert len(text) == 5_000
    assert prior_context("Note.md", "note", text) == (
        f'<prior_context source="Note.md" type="note">\n{text}\n</prior_context>'
    )


def test_prior_context_escapes_its_attributes_and_its_body():
    assert prior_context('a"<b>&', 'no"te', 'x < y & "z"</prior_context>') == (
        '<prior_context source="a&quot;&lt;b&gt;&amp;" type="no&quot;te">\n'
        'x &lt; y &amp; "z"&lt;/prior_context&gt;\n'
        "</prior_context>"
    )


def test_a_longer_text_is_compacted_and_ends_with_the_way_to_all_of_it():
    text = "# A\n" + "<a> " * 2_000 + "\n# B\nshort\n"
    lines = prior_context("Folder/A & B.md", "note", text).split("\n")
    assert lines[0] == '<prior_context source="Folder/A &amp; B.md" type="note">'
    assert lines[1] == "# A"
    assert lines[2].startswith("&lt;a&gt; ")
    assert len(lines[2]) < 500 * 7
    assert "# B" in lines
    assert lines[-2] == (
        '[Shortened. For the full text use the "read_note" tool with path="Folder/A &amp; B.md".]'
    )
    assert lines[-1] == "</prior_context>"


@pytest.mark.parametrize(
    ("kind", "tool"),
    [
        ("note", "read_note"),
        ("pdf", "read_note"),
        ("file", "read_note"),
        ("url", "fetch_url"),
        ("youtube", "fetch_url"),
    ],
)
def test_the_way_to_the_full_text_is_that_of_its_kind(kind, tool):
    assert f'the "{tool}" tool' in prior_context("s", kind, "x" * 5_001)


@pytest.mark.parametrize(
    ("kind", "tool"), [("note", "read_note"), ("url", "fetch_url"), ("youtube", "fetch_url")]
)
def test_the_way_to_the_full_text_names_a_tool_only_where_the_request_has_it(kind, tool):
    long = "words " * 2_000
    assert f'use the "{tool}" tool' in prior_context("A", kind, long)
    assert f'use the "{tool}" tool' in prior_context("A", kind, long, {tool, "other"})
    without = prior_context("A", kind, long, {"other"})
    assert "tool" not in without
    assert 'ask the user to attach "A" again' in without


def test_a_text_that_was_shortened_for_another_request_has_one_line_about_it():
    once = shorten_text("A", "note", "words " * 2_000, tools=())
    again = shorten_text("A", "note", once, tools={"read_note"})
    assert again.count("[Shortened.") == 1
    assert again.endswith('use the "read_note" tool with path="A".]')
