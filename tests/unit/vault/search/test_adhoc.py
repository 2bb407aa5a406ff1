from pathlib import Path

import pytest

from vault.embedding import chunking
from vault.notes.note import SourceText, read_note
from vault.search import adhoc
from vault.search.adhoc import KeptSearch, KeptTexts, search_texts
from vault.vault import Vault

CHAPTERS = "\n".join(
    f"# Chapter {number}\n\nThe {word} stands by the {number}th gate and is painted {colour}.\n"
    for number, (word, colour) in enumerate(
        [("well", "green"), ("barrel", "red"), ("wagon", "blue"), ("plough", "white")] * 3, start=1
    )
)
BOOK = SourceText("/elsewhere/book.txt", "Book", CHAPTERS, "v1")


LONG = SourceText(
    "Long.md",
    "Long",
    "".join(
        f"# Room {n}\n\n{'The room has a table and a lamp. ' * 14}{' wagon' * (n == 5)}\n\n"
        for n in range(9)
    ),
    "v1",
)


def test_passages_are_found_with_their_lines_in_the_text() -> None:
    hits = search_texts([BOOK], "Which colour has the barrel?", 3)
    assert hits
    lines = CHAPTERS.split("\n")
    for hit in hits:
        first, last = hit.lines
        assert hit.text == "\n".join(lines[first - 1 : last]).strip("\n")
    assert "barrel" in hits[0].text


def test_hits_say_which_text_they_are_of() -> None:
    other = SourceText("Diary.md", "Diary", "# May\n\nSold the barrel.\n", "v2")
    found = search_texts([BOOK, other], "barrel sold", 5)
    assert {(hit.path, hit.title, hit.version) for hit in found} == {
        ("/elsewhere/book.txt", "Book", "v1"),
        ("Diary.md", "Diary", "v2"),
    }
    assert found[0].path == "Diary.md"


def test_two_states_of_one_note_are_two_texts() -> None:
    old, new = (SourceText("A.md", "A", f"# A\n\nThe barrel is {v}.\n", v) for v in ("old", "new"))
    assert {hit.version for hit in search_texts([old, new], "barrel", 5)} == {"old", "new"}


@pytest.mark.parametrize("text", ["", "\n\n", "\ud800", "x" * 100_000])
def test_a_text_of_any_kind_is_searched(text: str) -> None:
    found = search_texts([SourceText("a", "a", text, "v")], "barrel", 3)
    assert len(found) == (min(3, len(text)) if text.strip() else 0)


@pytest.mark.parametrize("query", ["zeppelin", "path:Nowhere zeppelin", '"no such phrase"', ""])
def test_where_no_word_fits_the_texts_are_given_from_their_beginnings_in_turns(query: str) -> None:
    other = SourceText("Diary.md", "Diary", "# May\n\nSold the plough.\n", "v2")
    found = search_texts([LONG, other], query, 4)
    assert [hit.path for hit in found] == [LONG.path, other.path, LONG.path, LONG.path]
    assert found[0].lines[0] == 1 < found[2].lines[0] < found[3].lines[0]


def test_behind_the_hits_follows_what_stands_beside_them_and_each_text_is_there() -> None:
    other = SourceText("Diary.md", "Diary", "# May\n\nSold the spade.\n", "v2")
    found = search_texts([LONG, other], "wagon blue", 1)
    assert [hit.path for hit in found] == [LONG.path, other.path]
    every = search_texts([LONG, other], "wagon blue", 500)
    assert len({(hit.path, hit.lines) for hit in every}) == len(every) > 9
    hit, _, above, below = every[:4]
    assert "wagon" in hit.text
    assert above.lines[1] < hit.lines[0] <= above.lines[1] + 2
    assert hit.lines[1] < below.lines[0] <= hit.lines[1] + 2


def test_filters_that_name_no_text_leave_the_words() -> None:
    found = search_texts([BOOK], "path:Projects tag:x barrel", 3)
    assert "barrel" in found[0].text


def test_what_an_index_holds_is_found_by_meaning_too(small_vault: Path, tmp_path: Path) -> None:
    index = Vault(small_vault, tmp_path / "index")
    try:
        index.update()
        note = read_note(index.root, "Watering.md")
        hits = index.search_texts([note], "where is rain collected", 2)
        assert any(hit.signals["dense"] is not None for hit in hits)
    finally:
        index.close()


def test_texts_are_never_written_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    kept = KeptTexts()
    kept.replace([BOOK])
    assert kept.search(KeptSearch("barrel", 3)).hits
    assert search_texts([BOOK], "barrel", 3)
    assert list(tmp_path.iterdir()) == [], "a process that is killed now would leave it"


def test_only_texts_that_are_new_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    parse = adhoc.parse_note
    monkeypatch.setattr(
        adhoc, "parse_note", lambda *a, **_: read.append(a[1].decode()) or parse(*a)
    )
    texts = [SourceText(f"{n}", f"{n}", f"The walrus weighs {n} kg.", f"{n}") for n in range(4)]
    kept = KeptTexts()

    def find(*numbers: int) -> set[str]:
        kept.replace([texts[number] for number in numbers])
        return {hit.path for hit in kept.search(KeptSearch("walrus", 5)).hits}

    assert find(0, 1, 2) == {"0", "1", "2"}
    assert find(0, 1, 2) == {"0", "1", "2"}
    assert find(2, 3) == {"2", "3"}
    assert find(3, 3) == {"3"}
    assert read == [text.text for text in texts]


def test_a_search_can_be_stopped_between_texts_and_goes_on_with_those_that_are_left() -> None:
    texts = [SourceText(f"{n}", f"{n}", f"The walrus weighs {n} kg.", f"{n}") for n in range(4)]
    kept, waits = KeptTexts(), list[int]()
    kept.replace(texts)

    def stop() -> None:
        waits.append(len(waits))
        if len(waits) == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        kept.search(KeptSearch("walrus", 5, on_wait=stop))
    assert len(kept.search(KeptSearch("walrus", 5, on_wait=stop)).hits) == 4
    once = list[int]()
    whole = KeptTexts()
    whole.replace(texts)
    whole.search(KeptSearch("walrus", 5, on_wait=lambda: once.append(0)))
    assert len(waits) < len(once) + 5, "what was read is not read again"


def test_a_search_can_be_stopped_within_a_long_text() -> None:
    waits, kept = list[int](), KeptTexts()
    kept.replace([SourceText("a", "A", "The walrus sang.\n\n" * 5_000, "v")])
    kept.search(KeptSearch("walrus", 5, on_wait=lambda: waits.append(0)))
    assert len(waits) > 10


def test_passages_without_vectors_are_split_without_the_tokenizer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunking, "load_tokenizer", lambda: pytest.fail("It is slow."))
    kept = KeptTexts()
    kept.replace([SourceText("Talk.vtt", "Talk", "The walrus sang again. " * 500 + "Seals.", "v")])
    hit, *_ = kept.search(KeptSearch("seals", 5)).hits
    assert hit.text.endswith("Seals.")
    assert len(hit.text) < 2_000
