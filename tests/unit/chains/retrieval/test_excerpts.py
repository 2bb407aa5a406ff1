from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chains.retrieval.excerpts import (
    AttachmentBudget,
    choose_excerpts,
    drop_repeats,
    estimate_excerpts,
    find_large_attachments,
)
from chains.retrieval.passages import build_passages
from context.layers import Layer, Segment, render_segments
from context.tokens import ByteEstimator
from tests.support.sessions.memory_session import hit
from vault.notes.note import SourceText
from vault.search.adhoc import search_texts
from vault.search.hits import SIGNALS, Hit

COUNTER = ByteEstimator()
UNUSED = dict.fromkeys(SIGNALS)


def attached(path: str, paragraphs: int, kind: str = "note") -> Segment:
    lines = (f"Paragraph {n} of {path} is about beans and barrels." for n in range(paragraphs))
    return Segment.build(
        id=f"{kind}-{path}",
        layer=Layer.L3,
        kind=kind,  # type: ignore[arg-type]
        source=path,
        text="\n".join(lines),
        lines=(1, max(1, paragraphs)),
        version="v1",
        title=path,
    )


class EveryOtherLine:
    """Finds every other line, from the last one up."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search_texts(self, texts: Sequence[SourceText], query: str, k: int) -> Sequence[Hit]:
        self.asked += [text.path for text in texts]
        hits = [
            hit(part.path, line, n, title="", signals=dict.fromkeys(SIGNALS))
            for part in texts
            for n, line in reversed(list(enumerate(part.text.split("\n"), start=1)))
            if n % 2
        ]
        return hits[:k]


def size(segments: Sequence[Segment]) -> int:
    return sum(COUNTER.count(render_segments([segment])) for segment in segments)


def test_what_fits_is_sent_whole() -> None:
    parts = [attached("A.md", 3), attached("B.md", 5)]
    room = AttachmentBudget(size(parts) + 40, size(parts) + 40)
    found = choose_excerpts(parts, "Beans?", room, COUNTER, EveryOtherLine())
    assert (list(found.segments), found.unsent) == (parts, ())


def test_passages_that_touch_are_chosen_one_by_one_and_sent_as_one() -> None:
    class EveryLine(EveryOtherLine):
        def search_texts(self, texts: Sequence[SourceText], query: str, k: int) -> Sequence[Hit]:
            lines = texts[0].text.split("\n")
            return [hit("A.md", line, first=n) for n, line in enumerate(lines[:k], start=1)]

    found = choose_excerpts(
        [attached("A.md", 400)], "Beans?", AttachmentBudget(600, 600), COUNTER, EveryLine()
    )
    (passage,) = found.segments
    assert passage.lines is not None
    assert passage.lines[0] == 1 < passage.lines[1]
    assert size(found.segments) <= 600


def test_before_anything_is_looked_up_they_count_about_what_they_will() -> None:
    small, large = attached("A.md", 3), attached("Large.md", 400)
    roughly = estimate_excerpts([large, small], AttachmentBudget(900, 900), COUNTER).segments
    assert [part.id for part in roughly] == [large.id, small.id]
    assert 700 < size(roughly) <= 900
    assert 0 <= (roughly[0].whole_tokens or 0) - size([large]) < 9  # its number is not known yet
    assert roughly[1] == small


def test_a_selection_is_never_cut() -> None:
    selection, note = attached("S.md", 30, kind="selection"), attached("A.md", 400)
    port = EveryOtherLine()
    found = choose_excerpts(
        [selection, note], "Beans?", AttachmentBudget(1_000, 1_000), COUNTER, port
    )
    assert found.segments[0].content == selection.content
    assert port.asked == ["A.md"]


def test_the_best_passages_of_what_does_not_fit_are_sent_and_know_how_large_the_whole_is() -> None:
    small, large = attached("A.md", 3), attached("Large.md", 400)
    found = choose_excerpts(
        [large, small], "Beans?", AttachmentBudget(600, 600), COUNTER, EveryOtherLine()
    )
    assert [(part.source, part.kind) for part in found.segments[:2]] == [
        ("A.md", "note"),
        ("Large.md", "passage"),
    ]
    assert found.segments[1].lines == (399, 399)
    assert [part.number for part in found.segments] == list(range(1, len(found.segments) + 1))
    wholes = {part.whole_tokens for part in found.segments[1:]}
    assert wholes == {COUNTER.count(render_segments([replace(large, number=999)]) + "\n")}
    assert all(part.is_excerpt for part in found.segments[1:])


def test_a_smaller_passage_is_sent_where_a_better_one_has_no_room() -> None:
    long = "Beans and barrels, again and again. " * 60
    parts = [replace(attached("B.md", 1), content=long), attached("A.md", 400)]
    found = choose_excerpts(parts, "Beans?", AttachmentBudget(400, 400), COUNTER, EveryOtherLine())
    assert {part.source for part in found.segments} == {"A.md"}
    assert [part.source for part in found.unsent] == ["B.md"]


def test_a_passage_within_a_selection_that_is_sent_is_not_sent_twice() -> None:
    note = attached("A.md", 400)
    lines = "\n".join(note.raw_content.split("\n")[379:])
    selection = replace(note, id="s", kind="selection", content=lines, lines=(380, 400))
    found = choose_excerpts(
        [note, selection], "Beans?", AttachmentBudget(2_000, 2_000), COUNTER, EveryOtherLine()
    )
    (sent,) = (part for part in found.segments if part.kind == "selection")
    assert sent.lines == (380, 400)
    passages = [part for part in found.segments if part.is_excerpt]
    assert passages
    assert all(part.lines is not None and part.lines[1] < 380 for part in passages)


def test_passages_with_a_blank_line_between_them_are_joined_and_end_with_a_word() -> None:
    text = "\n\n".join(f"Paragraph {n} is about beans." for n in range(200))
    note = replace(attached("A.md", 1), content=text, lines=(1, 399))
    found = choose_excerpts([note], "Beans?", AttachmentBudget(400, 400), COUNTER, Whole())
    (passage,) = found.segments
    assert passage.lines is not None
    first, last = passage.lines
    assert passage.content == "\n".join(text.split("\n")[first - 1 : last])
    assert passage.content.endswith("beans.")
    assert last > 9


class Whole:
    """The real search within texts, without an embedding model."""

    def search_texts(self, texts: Sequence[SourceText], query: str, k: int) -> Sequence[Hit]:
        return search_texts(texts, query, k)


WORDS = st.sampled_from(["beans", "barrels", "frost", "Überwinterung", "水やり", "x1", "ledger"])
PARAGRAPHS = st.lists(st.lists(WORDS, min_size=1, max_size=60), min_size=1, max_size=40)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(PARAGRAPHS, min_size=1, max_size=5),
    st.integers(300, 6_000),
    st.sampled_from(
        [
            "Where are the barrels?",
            "What do they say?",
            "path:elsewhere beans",
            '"no such phrase"',
            "",
        ]
    ),
)
def test_the_room_is_used_and_every_attachment_represented(
    texts: list[list[list[str]]], room: int, question: str
) -> None:
    parts = []
    for n, paragraphs in enumerate(texts):
        text = f"# Text {n}\n\n" + "\n\n".join(" ".join(words) for words in paragraphs * 3)
        lines = (1, text.count("\n") + 1)
        parts.append(replace(attached(f"{n}.md", 1), id=f"{n}", content=text, lines=lines))
    found = choose_excerpts(parts, question, AttachmentBudget(room, room), COUNTER, Whole())
    used = size(found.segments)
    assert used <= room
    large = find_large_attachments(parts, AttachmentBudget(room, room), COUNTER)
    largest = max(
        (
            size(build_passages([hit]))
            for hit in search_texts(
                [SourceText(s.source, s.title, s.raw_content, s.version or "") for s in parts],
                question,
                10_000,
            )
        ),
        default=0,
    )
    there = sum(large.sizes[part.id] for part in parts)
    assert used >= min(there, room - largest - 8) - 8 * len(parts)
    if large.segments and large.tokens_left // len(large.segments) >= largest:
        assert {part.source for part in found.segments} == {part.source for part in parts}
    assert {p.source for p in found.unsent} == {p.source for p in parts} - {
        p.source for p in found.segments
    }


@pytest.mark.parametrize(
    ("selected", "kept"),
    [
        (["note", (2, 3)], ["note"]),
        ([(2, 3), (2, 3)], [(2, 3)]),
        ([(2, 5), (3, 4)], [(2, 5)]),
        ([(2, 4), (3, 5)], [(2, 4), (3, 5)]),
    ],
)
def test_lines_that_are_sent_anyway_are_sent_once(
    selected: list[object], kept: list[object]
) -> None:
    parts = []
    for place in selected:
        part = attached("A.md", 9)
        if place != "note":
            part = replace(part, id=str(place), kind="selection", lines=place)  # type: ignore[arg-type]
        parts.append(part)
    once = list({part.id: part for part in parts}.values())
    found, warnings = drop_repeats(once, AttachmentBudget(4_000, 4_000), COUNTER)
    assert [p.lines if p.kind == "selection" else "note" for p in found] == kept
    assert len(warnings) == len(once) - len(kept)


@pytest.mark.parametrize("kind", ["note", "selection"])
def test_what_is_empty_is_left_out_and_named(kind: str) -> None:
    empty = replace(attached("E.md", 1, kind), content=" \n\n")
    small = attached("A.md", 2)
    found, (warning,) = drop_repeats([empty, small], AttachmentBudget(600, 600), COUNTER)
    assert found == (replace(small, number=1),)
    assert "E.md" in warning
    assert "is empty, so there is nothing of it to send." in warning


def test_one_line_is_not_named_as_several() -> None:
    note = attached("A.md", 9)
    whole = replace(note, id="w", kind="selection", lines=(3, 4))
    one = replace(note, id="o", kind="selection", lines=(3, 3))
    assert drop_repeats([whole, one], AttachmentBudget(4_000, 4_000), COUNTER)[1] == (
        "Line 3 of A.md is sent once: lines 3–4 are attached too.",
    )
    assert drop_repeats([replace(one, content="")], AttachmentBudget(4_000, 4_000), COUNTER)[1] == (
        "The selection of A.md (line 3) is empty, so there is nothing of it to send.",
    )


def test_a_selection_beyond_what_a_request_holds_leaves_the_room_to_the_others() -> None:
    large, short = attached("S.md", 90, "selection"), attached("T.md", 9, "selection")
    note = attached("A.md", 400)
    found = choose_excerpts(
        [large, note, short], "Beans?", AttachmentBudget(600, 1_000), COUNTER, EveryOtherLine()
    )
    assert found.unsent == (large,)
    assert {part.source for part in found.segments} == {"A.md", "T.md"}
    assert 450 < size(found.segments) <= 600


def test_a_selection_above_the_share_leaves_half_of_what_is_left_to_small_notes() -> None:
    large, note = attached("S.md", 40, "selection"), attached("A.md", 2)
    assert size([large]) > 400
    found = choose_excerpts(
        [large, note], "Beans?", AttachmentBudget(400, 1_000), COUNTER, EveryOtherLine()
    )
    assert [part.source for part in found.segments] == ["S.md", "A.md"]


def test_a_selection_of_a_note_that_is_too_large_stays() -> None:
    note = attached("A.md", 400)
    selection = replace(note, id="s", kind="selection", content="Line", lines=(2, 2))
    assert drop_repeats([note, selection], AttachmentBudget(600, 600), COUNTER) == (
        (replace(note, number=1), replace(selection, number=2)),
        (),
    )


@given(
    st.lists(st.integers(0, 300), max_size=8),
    st.integers(0, 4_000),
)
def test_the_share_holds_wherever_there_is_something_to_choose(
    paragraphs: list[int], share: int
) -> None:
    parts = [attached(f"{n}.md", count) for n, count in enumerate(paragraphs)]
    found = choose_excerpts(
        parts, "Beans?", AttachmentBudget(share, share), COUNTER, EveryOtherLine()
    )
    assert size(found.segments) <= share or not share
    if size(parts) <= share - 8 * len(parts):
        assert list(found.segments) == parts


@pytest.mark.parametrize("share", [-40, 0, 1])
def test_without_any_room_nothing_is_sent(share: int) -> None:
    parts = [attached("A.md", 10)]
    found = choose_excerpts(
        parts, "Beans?", AttachmentBudget(share, share), COUNTER, EveryOtherLine()
    )
    assert (found.segments, found.unsent) == ((), tuple(parts))
