import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.embedding.chunking import Chunk, chunk_note
from vault.embedding.models import MAX_TOKENS, load_tokenizer
from vault.notes.note import parse_note

WORDS = ["budget", "meeting", "plan", "garden", "river", "notes", "model", "search", "index"]
LONG = " ".join(f"{WORDS[i % 9].title()} {WORDS[i * 7 % 9]} number {i} ends." for i in range(120))


def chunks_of(text: str, path: str = "Name.md") -> tuple[Chunk, ...]:
    return chunk_note(*parse_note(path, text.encode("utf-8", "replace")))


def tokens_of(chunk: Chunk) -> int:
    return len(load_tokenizer().encode(chunk.embedded_text).ids)


BLOCKS = st.sampled_from(
    [
        "# One",
        "## Two",
        "### Three",
        "Setext\n======",
        "A short paragraph.",
        LONG,
        "hard wrapped\nparagraph of\nthree lines",
        "- a\n- b\n  - c\n\n  more of b\n- d",
        "```python\nprint('#no')\n\nprint(2)\n```",
        "```\n" + "\n".join(f"line {i} = {i * i}" for i in range(80)) + "\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "> [!note] Callout\n> with text",
        "    indented code",
        "<div>\nhtml\n</div>",
        "日本語の文章です。" * 40,
        "x" * 9000,
        "[ref]: https://example.org",
        "---",
        "",
    ]
)


@settings(deadline=None, max_examples=60)
@given(st.lists(BLOCKS, max_size=8), st.booleans())
def test_lines_are_exact_and_nothing_is_lost_or_too_long(
    blocks: list[str], has_front_matter: bool
) -> None:
    front = "---\ntitle: T\nkey: value\n---\n" if has_front_matter else ""
    text = front + "\n\n".join(blocks)
    lines = text.split("\n")
    shown: set[int] = set()
    for chunk in chunks_of(text):
        first, last = chunk.lines
        assert 1 <= first <= last <= len(lines)
        assert chunk.text in "\n".join(lines[first - 1 : last])
        assert tokens_of(chunk) <= MAX_TOKENS
        shown.update(range(first, last + 1))
    assert shown >= {number for number, line in enumerate(lines, 1) if line.strip()}


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400))
def test_any_text_is_cut_into_parts_of_itself(text: str) -> None:
    note, document = parse_note("n.md", text.replace("\0", "").encode())
    position = 0
    for chunk in chunk_note(note, document):
        position = note.text.index(chunk.text, position)
        assert chunk.text.strip()


def test_one_short_note_is_one_passage() -> None:
    (chunk,) = chunks_of("# Title\n\nOne line.\n\n## Part\n\nAnother line.\n")
    assert chunk.lines == (1, 7)
    assert chunk.text == "# Title\n\nOne line.\n\n## Part\n\nAnother line."


def test_a_passage_knows_its_title_and_headings_but_no_folder() -> None:
    text = f"# Title\n\n## Part\n\n{LONG}\n"
    chunks = chunks_of(text, "folder/deep/Name.md")
    assert len(chunks) > 2
    assert chunks[0].text.startswith("# Title")
    assert chunks[-1].heading == ("Title", "Part")
    assert chunks[-1].embedded_text.startswith("Title > Part\n")
    assert not any("folder" in chunk.embedded_text for chunk in chunks)


def test_the_files_name_is_the_title_where_the_text_has_none() -> None:
    (chunk,) = chunks_of("- milk\n- bread\n", "lists/Groceries.md")
    assert chunk.embedded_text == "Groceries\n- milk\n- bread"


@pytest.mark.parametrize(
    "whole",
    [
        "```\n" + "\n".join(f"value {i} = {i}" for i in range(30)) + "\n```",
        "| name | size |\n|---|---|\n" + "\n".join(f"| n{i} | {i} |" for i in range(25)),
        "- item\n\n  ```\n" + "\n".join(f"  value {i} = {i}" for i in range(25)) + "\n  ```",
    ],
    ids=["fence", "table", "fence in a list"],
)
def test_a_fence_or_table_that_fits_is_never_cut(whole: str) -> None:
    text = f"# T\n\n{LONG}\n\n{whole}\n\n{LONG}\n"
    assert any(whole in chunk.text for chunk in chunks_of(text))


def test_a_fence_that_does_not_fit_is_cut_between_lines() -> None:
    code = [f"call_{i}(argument, other_{i})" for i in range(100)]
    chunks = chunks_of("```\n" + "\n".join(code) + "\n```\n")
    assert len(chunks) > 2
    assert {line for chunk in chunks for line in chunk.text.split("\n")} >= set(code)


def test_one_endless_line_is_cut_between_sentences() -> None:
    chunks = chunks_of(LONG + " " + LONG)
    assert all(chunk.lines == (1, 1) for chunk in chunks)
    assert all(chunk.text.endswith(".") for chunk in chunks)


def test_a_heading_stays_with_what_follows_it() -> None:
    chunks = chunks_of(f"{LONG}\n\n## Part\n\n{LONG}\n")
    assert not any(chunk.text == "## Part" for chunk in chunks)


def test_an_outline_of_headings_is_split_so_that_each_passage_fits() -> None:
    headings = "".join(f"## Section {number} of the outline\n\n" for number in range(150))
    chunks = chunks_of(f"# Title\n\n{headings}" + " ".join(["word"] * 400))
    assert all(tokens_of(chunk) <= MAX_TOKENS for chunk in chunks)


@pytest.mark.parametrize("words", range(76, 260, 8))
def test_a_heading_without_text_of_its_own_is_no_passage(words: int) -> None:
    long = " ".join(f"w{i % 10}" for i in range(words))
    text = f"# Title\n\n## Part\n\n### Detail of it\n\n{long}\n\n### None\n\n### Next\n\n{long}\n"
    chunks = chunks_of(text)
    assert chunks[0].heading == ("Title", "Part", "Detail of it")
    assert chunks[0].text.startswith("# Title\n\n## Part\n\n### Detail of it\n\nw0")
    assert all(tokens_of(chunk) <= MAX_TOKENS for chunk in chunks)
    assert not any(chunk.text.startswith("#") and " w" not in chunk.text for chunk in chunks)


def test_the_hash_is_that_of_the_embedded_text() -> None:
    one, two = chunks_of("# A\n\nsame\n", "x/a.md"), chunks_of("# A\n\nsame\n", "y/b.md")
    assert one[0].hash == two[0].hash
    assert one[0].hash != chunks_of("# B\n\nsame\n")[0].hash


def test_an_edit_changes_the_hash_of_its_own_passage_only() -> None:
    before = chunks_of(f"# A\n\n## One\n\n{LONG}\n\n## Two\n\nsecond {LONG}\n")
    after = chunks_of(f"# A\n\n## One\n\n{LONG}\n\n## Two\n\nsecond {LONG}\n\nnew line\n")
    assert len({chunk.hash for chunk in after} - {chunk.hash for chunk in before}) == 1


def test_cutting_a_huge_note_can_be_stopped() -> None:
    class Stop(Exception):
        pass

    def tick() -> None:
        raise Stop

    note, document = parse_note("n.md", (LONG * 20).encode())
    with pytest.raises(Stop):
        chunk_note(note, document, tick)
