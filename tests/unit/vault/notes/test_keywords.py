import sqlite3
import sys
import time
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.notes.keywords import (
    MARKED_PLANES,
    TOKENIZER,
    build_query_terms,
    fold,
    index_text,
    match_any,
    measure_latin_share,
)
from vault.notes.text.markdown_text import list_inner_headings


@pytest.fixture(scope="module")
def table() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        f"CREATE VIRTUAL TABLE words USING fts5(body, content='', tokenize=\"{TOKENIZER}\")"
    )
    yield connection
    connection.close()


def test_all_combining_marks_are_in_the_planes_that_are_searched_for_them() -> None:
    numbers = range(sys.maxunicode + 1)
    marks = (number for number in numbers if unicodedata.category(chr(number)) in {"Mn", "Mc"})
    assert all(any(number in plane for plane in MARKED_PLANES) for number in marks)


def is_found(table: sqlite3.Connection, text: str, query: str) -> bool:
    table.execute("INSERT INTO words (words) VALUES ('delete-all')")
    table.execute("INSERT INTO words (rowid, body) VALUES (1, ?)", (index_text(text),))
    terms = build_query_terms(query)
    if not terms:
        return False
    return bool(
        table.execute("SELECT rowid FROM words WHERE words MATCH ?", (match_any(terms),)).fetchall()
    )


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Running the tests", "run"),
        ("Grüße aus Köln", "grusse koln"),
        ("GRÜẞE", "grüße"),
        ("cafe\u0301 cre\u0300me", "café"),
        ("剪定ばさみは納屋の赤い箱", "納屋"),
        ("Bring the 🎂 for Lea", "🎂"),
        ("Bring the🎂🎈", "🎈"),
        ("❤️ the garden", "❤"),
        ("👍🏽 agreed", "👍"),
        ("👩‍🍳 in the kitchen", "👩‍🍳"),
        ("Trip to 🇮🇹", "🇮🇹"),
        ("会議🎉", "🎉"),
        ("剪定ばさみは納屋の赤い箱", "箱"),
        ("我们在北京讨论了预算", "预算"),
        ("ガーデン", "ガーデン"),
        ("がんばる", "がん"),
        ("파일을 삭제합니다", "파일"),
        ("ไฟล์ทั้งหมด", "ไฟล์"),
        ("كِتَابٌ جديد", "كتاب"),
        ("Ёлка и йод", "елка"),
        ("Кошки и СОБАКИ", "собаки"),
        ("Ο Ήλιος", "ηλιοσ"),
        ("हिन्दी भाषा", "भाषा"),
        ("שָׁלוֹם עולם", "שלום"),
        ("eip-1559 and foo_bar", "1559"),
        ("eip-1559 and foo_bar", "bar"),
        ("ﬁle № ①", "file"),
    ],
)
def test_words_of_every_script_are_found(table: sqlite3.Connection, text: str, query: str) -> None:
    assert is_found(table, text, query)


@pytest.mark.parametrize(
    ("text", "query"), [("北京", "京北"), ("納屋の箱", "屋敷"), ("भाषा", "भाग"), ("cat", "dog")]
)
def test_other_words_are_not(table: sqlite3.Connection, text: str, query: str) -> None:
    assert not is_found(table, text, query)


def answered(table: sqlite3.Connection, text: str) -> int:
    """Ask for each term of a text by itself, and count the questions that were answered."""
    select = "SELECT count(*) FROM words WHERE words MATCH ?"
    return sum(len(table.execute(select, (term,)).fetchall()) for term in build_query_terms(text))


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_a_query_or_the_index(table: sqlite3.Connection, text: str) -> None:
    is_found(table, text, text)
    assert answered(table, text) == len(build_query_terms(text))


@settings(deadline=None)
@given(st.text(alphabet='ab" *()^:-+{}\0\udcff日本ANDORNOT', max_size=40))
def test_operators_and_quotes_are_words_like_others(table: sqlite3.Connection, text: str) -> None:
    assert answered(table, text) == len(build_query_terms(text))


@settings(deadline=None)
@given(st.from_regex(r"[^\W_]{1,12}", fullmatch=True))
def test_a_text_is_found_by_itself(table: sqlite3.Connection, word: str) -> None:
    assert is_found(table, f"before {word} after", word) or not build_query_terms(word)


def test_a_question_of_200_000_characters_is_bounded() -> None:
    began = time.thread_time()
    terms = build_query_terms(" ".join(f"word{i} 日本{i}" for i in range(15_000)))
    assert len(terms) <= 128
    assert time.thread_time() - began < 2


def test_folding_never_leaves_what_cannot_be_stored() -> None:
    assert fold("a\udcffb\0c").encode("utf-8")


@pytest.mark.parametrize(
    ("text", "share"), [("hello", 1.0), ("123 !", 1.0), ("привет", 0.0), ("日本 ab", 0.5)]
)
def test_the_share_of_latin_letters_is_measured(text: str, share: float) -> None:
    assert measure_latin_share(text) == share


def test_the_headings_in_a_text_are_listed_without_code() -> None:
    text = "---\ntags: [a]\n---\n# One\n\n```sh\n# no heading\n```\n#tag\n## Two ##\n####### Seven"
    assert list_inner_headings(text) == ("One", "Two")
    assert list_inner_headings("No heading.") == ()
