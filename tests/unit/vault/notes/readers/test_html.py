import pytest

from vault.errors import ReadingFailed
from vault.notes.readers.extract import ExtractPart
from vault.notes.readers.html import read


def body(markup: str) -> tuple[ExtractPart, ...]:
    return tuple(read(f"<!doctype html><body>{markup}</body>".encode()).parts)


def test_a_page_is_read_with_its_structure() -> None:
    assert body(
        "<h1>Fees <b>now</b></h1>loose<p>one &amp; <a href='x'>two</a><br>three</p>"
        "<ul><li>a<li>b<ol><li>c<li>d</ol></ul><h3># x</h3>"
    ) == (
        ExtractPart("heading", "Fees now", 1),
        ExtractPart("paragraph", "loose"),
        ExtractPart("paragraph", "one & two\nthree"),
        ExtractPart("list", "- a\n- b\n  1. c\n  2. d"),
        ExtractPart("heading", "# x", 3),
    )


def test_tables_of_data_are_tables_and_those_of_layout_are_not() -> None:
    data = "<table><tr><th>k<th>v|w<tr><td>x</table>"
    assert body(data) == (ExtractPart("table", "| k | v\\|w |\n| --- | --- |\n| x |  |"),)
    assert body(f"<table><tr><td><h2>Left</h2>text<td>{data}</table>") == (
        ExtractPart("heading", "Left", 2),
        ExtractPart("paragraph", "text"),
        *body(data),
    )


def test_code_keeps_its_lines_inside_a_fence_of_its_own() -> None:
    assert body("<pre>a\n  b ```x```</pre>") == (
        ExtractPart("fence", "````\na\n  b ```x```\n````"),
    )


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>bad()</script>",
        "<style>bad{}</style>",
        "<noscript>bad</noscript>",
        "<template>bad</template>",
        "<!-- bad -->",
        "<nav>bad</nav>",
        "<p hidden>bad</p>",
        "<p style='display: none'>bad</p>",
        "<span aria-hidden=true>bad</span>",
        "<svg><text>bad</text></svg>",
        "<iframe srcdoc='bad'>bad</iframe>",
        "<script>bad('</p>')",
    ],
)
def test_what_a_browser_does_not_show_as_text_is_not_read(hidden: str) -> None:
    shown = " ".join(part.text for part in body(f"<p>before</p>{hidden}"))
    assert shown == "before"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ('<meta charset="shift_jis"><p>日本語'.encode("cp932"), "日本語"),
        ("<meta charset='iso-8859-1'><p>5 €".encode("cp1252"), "5 €"),
        ("<meta charset='windows-1251'><p>Привет".encode("cp1251"), "Привет"),
        ("<meta charset='latin-1'><p>日本".encode(), "日本"),
        ("<meta charset='nonsense'><p>é".encode(), "é"),
        ('<meta charset="iso-2022-jp"><p>日本'.encode("iso-2022-jp"), "日本"),
        ("<p>déjà".encode(), "déjà"),
        ("<p>déjà".encode("utf-16"), "déjà"),
        ('<?xml version="1.0" encoding="latin-1"?><html><p>déjà</p></html>'.encode(), "déjà"),
    ],
)
def test_a_page_is_decoded_as_it_says_where_that_holds(data: bytes, text: str) -> None:
    assert [part.text for part in read(data).parts] == [text]


def test_the_title_is_that_of_the_page() -> None:
    assert read(b"<title>\n A  page </title><p>x").title == "A  page"


def test_an_empty_page_has_no_parts() -> None:
    assert read(b"").parts == ()
    assert read(b" \n").parts == ()


def test_a_page_too_deep_for_the_parser_fails_instead_of_losing_text() -> None:
    with pytest.raises(ReadingFailed, match="it is nested too deeply"):
        read(b"<div>" * 100_000 + b"text")
