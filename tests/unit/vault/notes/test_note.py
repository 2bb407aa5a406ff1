import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.vaults.documents import docx, paragraph, pdf
from vault.errors import NoteUnreadable, UnsafePath
from vault.notes.note import Heading, Note, ReadOptions, parse_note, read_note
from vault.notes.tasks import TaskItem

FOR_READING = ReadOptions(is_for_reading=True)

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
    with pytest.raises(NoteUnreadable, match="it does not exist"):
        read_note(tmp_path / "notes", "gone.md")


def test_nothing_outside_the_vault_is_read(tmp_path: Path, write: Write) -> None:
    write("good.md", "x")
    (tmp_path / "secret.md").write_text("secret")
    with pytest.raises(UnsafePath):
        read_note(tmp_path / "notes", "../secret.md")


def test_everything_that_obsidian_writes_into_a_note_is_read() -> None:
    note = parse(
        "---\naliases: [2024-01-05, Fees]\ndate: 2024-01-05\nrelated: '[[Front]]'\n---\n"
        "# Top\n\n> [!tip]+ Callout #in-callout\n> - [ ] pay [[Bill|the bill]]\n\n"
        "status:: open\n\n%% hidden #no [[No]] %%\n\n![[Pic.png|300]] [[Other#Part]] [[B#^id]]\n"
    )
    assert note.aliases == ("2024-01-05", "Fees")
    assert note.tags == ("in-callout",)
    assert [(link.target, link.heading, link.line) for link in note.links] == [
        ("Front", "", 4),
        ("Bill", "", 9),
        ("Pic.png", "", 15),
        ("Other", "Part", 15),
        ("B", "^id", 15),
    ]
    assert note.tasks == (TaskItem(9, " ", "pay [[Bill|the bill]]"),)
    assert note.properties["date"] == ("2024-01-05",)
    assert note.properties["status"] == ("open",)


def test_a_mark_of_privacy_counts_also_inside_a_comment_or_a_field() -> None:
    assert parse("%% #private %%").is_private
    assert parse("private:: true").is_private
    assert not parse("[[#private]] [x](#private)").is_private


PLACES = """\
# Top

## Part: one

paragraph
goes on ^para

- item
  more
- second ^item

| a |
|---|

^table

# Other

## Part: one
"""


@pytest.mark.parametrize(
    ("anchor", "lines"),
    [
        ("Top", (1, 1)),
        ("part one", (3, 3)),
        ("Other#Part one", (19, 19)),
        ("part-one", (3, 3)),
        ("^para", (5, 6)),
        ("^Item", (10, 10)),
        ("^table", (12, 13)),
        ("^none", None),
        ("Nothing", None),
        ("", None),
    ],
)
def test_a_links_anchor_leads_to_its_lines(anchor: str, lines: tuple[int, int] | None) -> None:
    assert parse(PLACES).find_lines(anchor) == lines


def test_a_page_of_a_pdf_is_a_place() -> None:
    note, document = parse_note("a.pdf", pdf(["one", "two"], title="On fees"))
    assert (note.title, note.aliases) == ("a", ("On fees",))
    assert note.find_lines("page=2") == (5, 5)
    assert note.text.split("\n")[4:] == ["# Page 2", "", "two"]
    assert document.is_paged


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.txt", b"text #private"),
        ("a.txt", b"---\nprivate: true\n---\n"),
        ("a.html", b"<p>#private"),
        ("a.pdf", pdf(["#private"])),
        ("a.docx", docx(paragraph("#private"))),
        ("a.canvas", b'{"nodes": [{"type": "text", "text": "#private"}]}'),
    ],
)
def test_a_file_of_any_kind_can_be_marked_as_private(path: str, data: bytes) -> None:
    assert parse_note(path, data)[0].is_private


def test_marks_in_a_file_that_is_no_markdown_are_text() -> None:
    note, document = parse_note("a.txt", b"# not a heading #tag [[link]]\n")
    assert (note.headings, note.tags, note.links) == ((), (), ())
    assert document.blocks[0].kind == "paragraph"


def test_a_canvas_has_the_links_and_tags_of_its_cards() -> None:
    nodes = (
        '{"nodes": [{"type": "text", "text": "#tag [[Note]]"}, {"type": "file", "file": "b.md"}]}'
    )
    note, _ = parse_note("board.canvas", nodes.encode())
    assert (note.title, note.tags) == ("board", ("tag",))
    assert [link.target for link in note.links] == ["Note", "b.md"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_note_reads_the_same_in_each_encoding(encoding: str) -> None:
    text = "# Déjà vu\r\n\r\nà la carte #été\r\n"
    note, _ = parse_note("n.md", text.encode(encoding))
    assert (note.title, note.tags, note.text) == (
        "Déjà vu",
        ("été",),
        "# Déjà vu\n\nà la carte #été\n",
    )


def test_a_note_of_twenty_thousand_odd_lines_is_read_in_bounded_time() -> None:
    began = time.thread_time()
    parse("- [ ] a:: b #c [[d]] ^e\n" * 20_000 + "x" * 1_000_000)
    assert time.thread_time() - began < 30


def test_of_a_large_note_that_is_opened_for_reading_only_the_beginning_is_parsed(
    tmp_path: Path, write: Write
) -> None:
    text = "---\ntags: day\n---\n# Journal\n\n" + "## Day\n\nIt rained.\n\n" * 30_000
    write("journal.md", text)
    note = read_note(tmp_path / "notes", "journal.md", FOR_READING)
    assert (note.title, note.body_line, note.text) == ("Journal", 4, text)
    assert (note.headings, note.has_structure) == ((), False)
    assert note.version == hashlib.sha256(text.encode()).hexdigest()


def test_a_small_note_that_is_opened_for_reading_has_its_structure(
    tmp_path: Path, write: Write
) -> None:
    write("a.md", "# Gas\n")
    note = read_note(tmp_path / "notes", "a.md", FOR_READING)
    assert note.has_structure
    assert note == read_note(tmp_path / "notes", "a.md")


def test_a_large_file_that_is_not_text_cannot_be_opened_for_reading(
    tmp_path: Path, write: Write
) -> None:
    write("bad.md", b"PK\x03\x04" + b"\x00" * 500_000)
    with pytest.raises(NoteUnreadable):
        read_note(tmp_path / "notes", "bad.md", FOR_READING)


def test_parsing_a_note_can_be_stopped() -> None:
    class Stopped(Exception):
        pass

    calls = []

    def stop() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise Stopped

    with pytest.raises(Stopped):
        parse_note("a.md", b"# Heading\n\n" * 5_000, on_wait=stop)
    assert len(calls) == 3
