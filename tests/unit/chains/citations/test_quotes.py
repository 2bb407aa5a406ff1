import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.quotes import EscapeRemover, VerbatimText, count_words, normalize_text
from context.layers import Layer, Segment
from vault.notes.text.markup import remove_markup

NOTE = """# Garden

The **quick** brown fox — jumps over the [lazy dog](dog.md), isn't
it? See [[Some Note|the note]] &amp; co.
- [ ] buy "milk" and eggs
> quoted line one
> line two, 20 of 2024
| a | b c |
日本語の文章です。次の文。
Run `strata index` when <br>needed.
"""
TEXT = VerbatimText(NOTE)


@pytest.mark.parametrize(
    ("quote", "lines"),
    [
        ("quick brown fox", (3, 3)),
        ("the quick brown fox", (3, 3)),
        ("fox - jumps over the lazy dog", (3, 3)),
        ("isn’t it?", (3, 4)),
        ("See the note & co.", (4, 4)),
        ("See the note &amp; co.", (4, 4)),
        ("Buy ‘milk’ and eggs", (5, 5)),
        ("quoted line one line two", (6, 7)),
        ("a b c", (8, 8)),
        ("次の文", (9, 9)),
        ("Run strata index when needed", (10, 10)),
        ("Run `strata index` when", (10, 10)),
        ("[T]he quick brown", (3, 3)),
        ("The quick brown … lazy dog", (3, 3)),
        ("The quick brown [...] isn't it", (3, 4)),
    ],
)
def test_words_are_found_whatever_their_marks(quote, lines):
    span = TEXT.find(quote)
    assert span is not None
    assert TEXT.find_lines(span, 1) == lines


@pytest.mark.parametrize(
    "quote",
    [
        "slow brown fox",
        "rown fox",
        "brown fo",
        "02",
        "brown quick",
        "lazy dog … quick brown",
        "THE QUICK",
        "fox jumps over a dog",
        "",
        "…",
    ],
)
def test_other_words_are_not_found(quote):
    assert TEXT.find(quote) is None


def test_accents_are_compared_in_either_form():
    assert VerbatimText("un caf\u00e9 noir").find("cafe\u0301 noir") == (3, 12)


def test_reading_takes_the_marks_away_and_leaves_the_text():
    assert remove_markup(
        "**a** ~40 % of snake_case, `co_de`, ==m== ~~s~~ [[T|b]] [l](u) 2 * 3"
    ) == ("a ~40 % of snake_case, co_de, m s b l 2 * 3")


@pytest.mark.parametrize(
    ("text", "count"), [("one two three", 3), ("", 0), ("日本語です", 3), ("a 漢字 b", 3)]
)
def test_words_are_counted_in_scripts_without_blanks_too(text, count):
    assert count_words(text) == count


WORDS = st.lists(st.sampled_from(["alpha", "Beta", "γάμμα", "дельта", "漢", "7"]), min_size=3)


@given(WORDS, st.data())
def test_any_words_in_their_order_are_found_where_they_stand(words, data):
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    text = VerbatimText("\n".join(words))
    span = text.find(" ".join(words[first : last + 1]))
    assert span is not None
    above, below = text.find_lines(span, 1)
    assert words[above - 1 : below] == words[first : last + 1]


@given(st.text())
def test_any_text_is_found_in_itself_or_has_no_words(text):
    assert VerbatimText(text).find(text) is not None or not normalize_text(text) or not text.strip()


@given(st.text(), st.text())
def test_a_span_lies_within_the_text(text, quote):
    span = VerbatimText(text).find(quote)
    assert span is None or 0 <= span[0] < span[1] <= len(text)


@pytest.mark.parametrize(
    "unit",
    ["[", "[a", "[[a|", "](", "[](a", "<b", "&", "> ", "- ", "![[", "\\", "…", "*", "\n>", "[^"],
)
def test_hostile_text_takes_no_longer_than_its_length(unit):
    begun = time.thread_time()
    VerbatimText((unit * 200_000)[:200_000]).find("needle")
    assert time.thread_time() - begun < 5


def remover(*texts: str, question: str = "") -> EscapeRemover:
    """Return what removes the escapes of sources with these texts."""
    sources = [
        Segment.build(
            id=str(n), layer=Layer.L3, kind="passage", source=f"{n}.md", text=text, lines=(1, 1)
        )
        for n, text in enumerate(texts)
    ]
    return EscapeRemover(sources, question)


def unescape(stream: EscapeRemover, *pieces: str) -> str:
    return "".join([*map(stream.add, pieces), stream.end()])


@pytest.mark.parametrize(
    ("source", "question", "answer", "shown"),
    [
        ("if a < b & c", "", "if a &lt; b &amp; c", "if a < b & c"),
        ("plain words", "", "write &lt; for it", "write &lt; for it"),
        ("a < b, written &lt;", "", "write &lt; for it", "write &lt; for it"),
        ("a < b", "what is &lt;?", "&lt; is an escape", "&lt; is an escape"),
        ("R&D", "", "R&amp;D & more", "R&D & more"),
        ("a < b", "", "cut off at &l", "cut off at &l"),
    ],
)
def test_an_escape_that_only_the_prompt_has_is_removed(
    source: str, question: str, answer: str, shown: str
) -> None:
    assert unescape(remover(source, question=question), answer) == shown


@given(st.lists(st.sampled_from(["&", "&l", "t;", "lt;", "&amp;", "gt;", "a", " "])))
def test_where_a_stream_is_cut_changes_nothing(pieces: list[str]) -> None:
    whole = unescape(remover("a < b > c & d"), "".join(pieces))
    assert unescape(remover("a < b > c & d"), *pieces) == whole
