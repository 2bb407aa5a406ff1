import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vault.errors import NoteUnreadable, UnsafePath
from vault.notes import Heading, Note, parse_note, read_note

Write = Callable[[str, str | bytes], Path]


def parse(text: str, path: str = "folder/File name.md") -> Note:
    return parse_note(path, text.encode("utf-8"))[0]


def test_a_note_is_read_with_all_that_its_markdown_says(tmp_path: Path, write: Write) -> None:
    text = "---\naliases: [Fees, Costs]\ntags: money\n---\n# Gas\n\nSee [[Other]] #eth/gas\n"
    write("a/gas.md", text)
    note = read_note(tmp_path / "notes", "a/gas.md")
    assert (note.title, note.aliases, note.tags) == ("Gas", ("Fees", "Costs"), ("money", "eth/gas"))
    assert note.headings == (Heading(1, "Gas", 5),)
    assert [(link.target, link.line) for link in note.links] == [("Other", 7)]
    assert note.text == text
    assert note.body_line == 5
    assert note.version == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From  properties\n---\n# Heading", "From properties"),
        ("# **The** heading\n", "The heading"),
        ("## Second level\n", "File name"),
        ("text\n\n# Later\n", "File name"),
        ("", "File name"),
    ],
)
def test_the_title_comes_from_properties_then_first_heading_then_name(
    text: str, title: str
) -> None:
    assert parse(text).title == title


def test_line_ends_and_byte_order_mark_do_not_move_lines() -> None:
    assert parse_note("n.md", b"\xef\xbb\xbfa\r\nb\rc\n")[0].text == "a\nb\nc\n"


@pytest.mark.parametrize(
    "text",
    [
        "---\nprivate: true\n---\nx",
        "---\nprivate: yes\n---\nx",
        "---\nprivate: 'true'\nbroken: [\n---\nx",
        "---\na: &a [1]\nb: *a\nprivate: true\n---\nx",
        "---\ntags: [x, private]\n---\nx",
        "text #private",
        "text #Private/diary",
    ],
)
def test_a_private_note_is_private_however_it_says_so(text: str) -> None:
    assert parse(text).is_private


@pytest.mark.parametrize(
    "text",
    [
        "---\nprivate: false\n---\nx",
        "`#private` in code",
        "```\n#private\n```",
        "    #private in indented code",
        "#privateer",
        "see page#private",
        "private: true in the text",
    ],
)
def test_a_note_that_only_mentions_privacy_is_not_private(text: str) -> None:
    assert not parse(text).is_private


def test_links_and_tags_in_code_do_not_count() -> None:
    note = parse("`[[A]] #a`\n\n```\n[[B]] #b\n```\n\n[[C]] #c #1 #c\n")
    assert [link.target for link in note.links] == ["C"]
    assert note.tags == ("c",)


def test_a_note_that_is_no_text_fails_with_one_reason() -> None:
    with pytest.raises(NoteUnreadable) as caught:
        parse_note("bad.md", b"PK\x03\x04\x00\x00")
    assert caught.value.reason == "it holds NUL bytes, so it is not text"
    assert str(caught.value) == (
        "The note bad.md cannot be read: it holds NUL bytes, so it is not text."
    )


def test_reading_never_blocks_on_a_fifo(tmp_path: Path, write: Write) -> None:
    write("good.md", "x")
    os.mkfifo(tmp_path / "notes/pipe.md")
    with pytest.raises(NoteUnreadable, match="not a file"):
        read_note(tmp_path / "notes", "pipe.md")


def test_a_note_that_went_away_says_so(tmp_path: Path, write: Write) -> None:
    write("good.md", "x")
    with pytest.raises(NoteUnreadable, match="not there any more"):
        read_note(tmp_path / "notes", "gone.md")


def test_nothing_outside_the_vault_is_read(tmp_path: Path, write: Write) -> None:
    write("good.md", "x")
    (tmp_path / "secret.md").write_text("secret")
    with pytest.raises(UnsafePath):
        read_note(tmp_path / "notes", "../secret.md")
