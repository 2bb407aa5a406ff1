"""What of a note's or a model's text reaches a terminal as it is, and what as an escape."""

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.hidden_characters import EscapingStream, escape_text

TAG = "".join(chr(0xE0000 + ord(sign)) for sign in "gbeng") + "\U000e007f"
HIDDEN = (
    *("\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"),
    *("\u200e", "\u200f", "\u061c", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\xad"),
    *("\ufe0f", "\ufe00", "\U000e0101", "\U000e0041", "\U000e0001", "\u034f", "\u115f", "\u3164"),
    *("\u180e", "\u206a", "\u2028", "\u2029", "\ufff9", "\x1b", "\x9b", "\x00", "\x7f"),
)
# Written with characters that cannot be seen, in the world's texts.
WRITTEN = (
    "👩‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 ❤️ ☺︎ 1️⃣ #️⃣ 👁️‍🗨️ 🧑🏿‍🤝‍🧑🏻",
    f"\U0001f3f4{TAG}",
    "می‌خواهم کتاب‌های",  # Persian: a letter that is not joined to the next
    "ه‍",  # an abbreviation in the form that a letter has at its word's beginning
    "क्‍ष क्‌ष",  # Hindi: half a letter; a virama that is seen
    "শ্রী র‍্যাব",  # Bengali: a joiner before a virama
    "ශ්‍රී ලංකා",  # Sinhala
    "ন্‌",
    "ភាសា\u200bខ្មែរ ภาษา\u200bไทย",  # breaks between words
    "ᠮᠣᠩᠭᠣᠯ\u180b",
    "עברית العربية 中文 Ελληνικά \u0600\u06dd",
    "a\tb\nc",
)


@pytest.mark.parametrize("text", WRITTEN)
def test_what_scripts_and_emoji_are_written_with_is_shown_as_it_is(text: str) -> None:
    assert escape_text(text) == text


@pytest.mark.parametrize("sign", HIDDEN, ids=lambda sign: f"{ord(sign):04x}")
@pytest.mark.parametrize("text", ["a{}b", "{}", "中{}文", "1{}2", "א{}ב", "👩{}"])
def test_what_turns_text_around_or_cannot_be_seen_is_an_escape(sign: str, text: str) -> None:
    if text == "👩{}" and sign == "\ufe0f":
        return
    shown = escape_text(text.format(sign))
    assert sign not in shown
    assert f"{ord(sign):x}" in shown


def test_escapes_name_the_character() -> None:
    assert escape_text("a\u202eb\xadc\x1b[m\U000e0041") == r"a\u{202e}b\xadc\x1b[m\u{e0041}"


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d",
        "👩\u200da",
        "👩\u200d\u200d👧",
        "🏴" + TAG[:3],
        "🏴" + TAG * 2,
        "a\ufe0f",
        "x\u200cy",
    ],
)
def test_half_an_emoji_hides_nothing(text: str) -> None:
    assert "\\u{" in escape_text(text)


signs = st.sampled_from([*HIDDEN, *"".join(WRITTEN), "a", " ", "\n"])


@given(st.text(signs | st.characters(exclude_categories=["Cs"])), st.lists(st.integers(0, 9)))
@example("👩\u200d👧", [1, 1, 1])
@example(f"\U0001f3f4{TAG}.", [3, 2])
def test_a_stream_shows_the_same_as_the_whole_text(text: str, sizes: list[int]) -> None:
    stream, shown, rest = EscapingStream(), "", text
    for size in sizes:
        shown, rest = shown + stream.feed(rest[:size]), rest[size:]
    assert shown + stream.feed(rest) + stream.flush() == escape_text(text)


@given(st.text(signs))
@example("\u180b\u180b")  # the second one is no form of a letter either
def test_what_is_shown_twice_is_the_same(text: str) -> None:
    assert escape_text(escape_text(text)) == escape_text(text)
    assert "Cc" not in {unicodedata.category(s) for s in escape_text(text) if s not in "\t\n"}


def test_plain_text_needs_no_tables_of_characters() -> None:
    script = "import sys\nfrom app.hidden_characters import escape_text\n"
    script += "escape_text('Soil\\n\\tis warm.')\n"
    script += "print('regex' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False\n"
