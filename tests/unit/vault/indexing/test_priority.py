import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from vault.catalog import Catalog
from vault.coverage import Coverage, find_gap
from vault.indexing import priority, progress
from vault.indexing.embed import WaitingPassage, split_into_batches
from vault.indexing.indexer import IndexReport
from vault.indexing.priority import (
    Priority,
    find_files_with_words,
    list_possible_names,
    order_passages,
)
from vault.indexing.progress import IndexProgress
from vault.vault import Vault

Write = Callable[[str, str | bytes], Path]
MakeIndex = Callable[..., Vault]


def open_catalog(index: Vault) -> Catalog:
    catalog = index._handle.open()
    assert catalog is not None
    return catalog


@pytest.fixture
def many(write: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    """240 notes, whose progress is reported after each step, however fast it is."""
    monkeypatch.setattr(progress, "_SILENCE_S", 0.0)
    for number in range(240):
        folder = write(f"n{number:03}.md", f"Row {number} is number {number * 7}.\n").parent
    return folder


def run_until_embedding(index: Vault, act: Callable[[], object]) -> IndexReport:
    """Index until some vectors are there, act once, and stop."""
    acted: list[object] = []

    def watch(at: IndexProgress) -> None:
        if at.phase == "embed" and at.done and not acted:
            acted.append(act())

    return index.update(watch, lambda: bool(acted))


def test_a_search_in_the_middle_of_the_vectors_finds_all_words_and_says_so(
    make_index: MakeIndex, many: Path
) -> None:
    index = make_index(many)
    found: list[Any] = []
    report = run_until_embedding(index, lambda: found.append(index.search("number 1673", 3)))
    assert 0 < report.embedded_chunks < 240
    assert found[0].hits[0].path == "n239.md"  # 239 * 7
    (said,) = found[0].warnings
    assert said.endswith(" of 240 notes searched by meaning, all by words.")
    assert 0 < int(said.split()[0]) < 240
    status = index.status()
    assert status.gap is not None
    assert status.gap.by_words == 240
    catalog_check = index.health()[1]
    assert "searched by meaning, all by words; `strata index` does the rest" in catalog_check[2]
    assert index.list_notes("number", 3).warnings == ()
    assert index.update().embedded_chunks == 240 - report.embedded_chunks
    assert index.search("number 1673").warnings == ()
    assert index.status().gap is None


def test_before_the_first_vector_a_search_does_not_wait_for_the_model(
    make_index: MakeIndex, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_index(many)
    found: list[Any] = []

    def search_and_stop(at: IndexProgress) -> None:
        if at.phase == "embed" and not found:
            monkeypatch.setattr("vault.embedder.Embedder.begin_query", refuse)
            found.append(index.search("number 1673", 3))

    def refuse(*_arguments: object) -> None:
        raise AssertionError("the model was asked")

    index.update(search_and_stop, lambda: bool(found))
    assert found[0].hits[0].path == "n239.md"
    assert found[0].hits[0].signals["dense"] is None
    assert found[0].warnings == ("0 of 240 notes searched by meaning, all by words.",)


def test_a_search_while_notes_are_read_says_how_many_were(
    make_index: MakeIndex, many: Path
) -> None:
    index = make_index(many)
    found: list[Any] = []

    def watch(at: IndexProgress) -> None:
        if at.phase == "scan" and at.done >= 130 and not found:
            found.extend((index.search("number"), index.list_notes("number", 3)))

    index.update(watch, lambda: bool(found))
    (said,) = found[0].warnings
    by_words = int(said.removesuffix(" by words.").split()[-1])
    assert said == f"0 of 240 notes searched by meaning, {by_words} by words."
    assert 0 < by_words < 240
    assert found[1].warnings == (f"{by_words} of 240 notes searched by words.",)


def test_all_notes_are_read_before_the_first_is_embedded(
    make_index: MakeIndex, write: Write
) -> None:
    write("a.md", "Rain fell.\n")
    folder = write("page.html", "<p>Rain fell on the page.</p>").parent
    told: list[IndexProgress] = []
    make_index(folder).update(told.append)
    phases = [at.phase for at in told]
    last_read = max(place for place, phase in enumerate(phases) if phase == "scan")
    assert last_read < phases.index("embed")


def test_an_edited_note_leaves_a_gap_only_until_it_is_embedded(
    make_index: MakeIndex, write: Write
) -> None:
    index = make_index(write("a.md", "Rain fell.\n").parent)
    index.update()
    write("a.md", "Snow fell.\n")
    index.update(only=["a.md"])
    assert find_gap(open_catalog(index)) is None


def test_the_latest_and_the_most_linked_notes_come_first(
    make_index: MakeIndex, write: Write
) -> None:
    for number in range(150):
        links = "[[n007]] and [the other](n009.md)" if number > 20 else ""
        write(f"n{number:03}.md", f"Row {number}. {links} {'[[n009]]' * (number == 3)}\n")
    folder = write("late.md", "The latest.\n").parent
    for number in range(150):
        os.utime(folder / f"n{number:03}.md", (number, number))
    index = make_index(folder)
    index.update(is_cancelled=lambda: False)
    catalog = open_catalog(index)
    rows = catalog.rows("SELECT min(id), tokens, file_id FROM chunks GROUP BY hash ORDER BY 1")
    paths = dict(catalog.rows("SELECT id, path FROM files"))
    ordered = [paths[row[2]] for row in order_passages(catalog, rows)]
    assert set(ordered[:4]) == {"late.md", "n149.md", "n009.md", "n007.md"}
    assert len(ordered) == len(rows)
    assert ordered[-1] == "n000.md"


def test_notes_that_are_waited_for_jump_the_queue() -> None:
    waiting = [WaitingPassage(n, 20, n // 3) for n in range(600)]
    answers = iter([(), {150, 151}])
    batches = list(split_into_batches(waiting, lambda: next(answers, ())))
    assert sorted(passage for batch in batches for passage in batch) == waiting
    assert {passage.note_id for passage in batches[1]} == {150, 151}
    assert len(batches[1]) == 6


def test_a_question_is_matched_with_the_names_of_notes() -> None:
    names = list_possible_names("What does EIP-1559 say, and the Base Fee. of it?")
    assert {"eip-1559", "base fee", "the base fee"} <= names
    assert "what" not in names


def test_files_that_are_waited_for_are_read_first() -> None:
    waiting = Priority()
    files = [(f"n{number}.md", number) for number in range(6)]
    arranged = waiting.arrange(files)
    order = [next(arranged)[0]]
    waiting.prefer(["n4.md"], "what about n5?")
    order += [path for path, _ in arranged]
    assert order == ["n0.md", "n4.md", "n5.md", "n1.md", "n2.md", "n3.md"]


def test_a_hit_of_a_search_is_embedded_next(make_index: MakeIndex, many: Path) -> None:
    index = make_index(many)
    found: list[float | None] = []
    seen: set[int] = set()

    def has_vector() -> bool:
        return len(found) > 1 and found[-1] is not None

    def watch(at: IndexProgress) -> None:
        is_due = at.done > 0 if not found else 100 < at.done < 139
        if at.phase == "embed" and is_due and at.done not in seen and not has_vector():
            seen.add(at.done)
            hit = index.search("number 700", 1).hits[0]
            assert hit.path == "n100.md"  # 100 notes are older, and 139 are newer
            found.append(hit.signals["dense"])

    index.update(watch, has_vector)
    assert found[0] is None
    assert has_vector()


@pytest.mark.parametrize(
    ("coverage", "sentence", "words"),
    [
        (
            Coverage(6_591, 6_591, 812),
            "812 of 6,591 notes searched by meaning, all by words.",
            "",
        ),
        (
            Coverage(6_591, 3_000, 0),
            "0 of 6,591 notes searched by meaning, 3,000 by words.",
            "3,000 of 6,591 notes searched by words.",
        ),
        (Coverage(1, 1, 0), "0 of 1 note searched by meaning, all by words.", ""),
    ],
)
def test_the_coverage_is_one_sentence(coverage: Coverage, sentence: str, words: str) -> None:
    assert (coverage.sentence, coverage.words_sentence) == (sentence, words)


@pytest.fixture
def lake(write: Write) -> Path:
    """A folder of 600 notes, few of which tell of a heron."""
    for number in range(600):
        told = {400: "A heron stands.", 500: "The herons nest at the lake.", 550: "A lake."}
        write(f"n{number:03}.md", f"Row {number}. {told.get(number, 'It rained.')}\n")
    return write("page.html", "<p>The heron nests at the lake.</p>").parent


def test_of_many_notes_those_with_the_words_of_a_question_are_read_first(
    make_index: MakeIndex, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SILENCE_S", 0.0)  # each note is reported, however fast it is
    index = make_index(lake)
    index.updates.priority.prefer(question="Where does the heron nest at the lake?")
    read: list[str] = []
    index.update(lambda at: read.append(at.path), lambda: len(set(read)) > 5)
    assert [*dict.fromkeys(filter(None, read))][:4] == ["n500.md", "n400.md", "n550.md", "n000.md"]


def test_no_more_files_are_compared_than_there_is_time_for(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(priority, "_LONGEST_LOOK_S", -1.0)
    paths = [f"n{number:03}.md" for number in range(600)]
    looked: list[None] = []
    find = partial(find_files_with_words, lake, tick=lambda: looked.append(None))
    assert find([b"row"], paths) == ["n000.md"]
    assert len(looked) == 1
    assert find([b"row"], paths[:10]) == []


def test_files_that_cannot_be_read_are_compared_by_their_names(lake: Path) -> None:
    os.mkfifo(lake / "heron.md")
    (lake / "link.md").symlink_to("/etc/passwd")
    paths = ["heron.md", "link.md", "gone.md", *(f"n{number:03}.md" for number in range(600))]
    found = find_files_with_words(lake, [b"heron", b"gone", b"root"], paths, lambda: None)
    assert found == ["gone.md", "heron.md", "n400.md", "n500.md"]
