from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.oversize import excerpted, narrowed
from context.layers import Layer, Segment, render_segments
from context.tokens import ByteEstimator
from tests.support.memory_session import hit
from vault.hits import SIGNALS, Hit

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

    def __init__(self, finds: bool = True) -> None:
        self.finds = finds
        self.asked: list[str] = []

    def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
        self.asked += [segment.source for segment in segments]
        hits = [
            Hit(
                f"{part.id}{n}",
                part.source,
                "",
                (),
                (n, n),
                line,
                1.0,
                dict.fromkeys(SIGNALS),
                "v1",
            )
            for part in segments
            for n, line in reversed(list(enumerate(part.raw_content.split("\n"), start=1)))
            if n % 2
        ]
        return hits[:k] if self.finds else []


def size(segments: Sequence[Segment]) -> int:
    return sum(COUNTER.count(render_segments([segment])) for segment in segments)


def test_what_fits_is_sent_whole() -> None:
    parts = [attached("A.md", 3), attached("B.md", 5)]
    found = narrowed(parts, "Beans?", (size(parts) + 40, 0), COUNTER, EveryOtherLine())
    assert (list(found.segments), found.warnings) == (parts, ())


def test_of_what_does_not_fit_the_best_passages_are_sent_and_it_is_said() -> None:
    small, large = attached("A.md", 3), attached("Large.md", 400)
    found = narrowed([large, small], "Beans?", (600, 600), COUNTER, EveryOtherLine())
    assert [(part.source, part.kind) for part in found.segments[:2]] == [
        ("A.md", "note"),
        ("Large.md", "passage"),
    ]
    assert found.segments[1].lines == (399, 399)
    assert [part.number for part in found.segments] == list(range(1, len(found.segments) + 1))
    (warning,) = found.warnings
    assert warning.startswith("Large.md is too large to be sent whole")
    assert f"{len(found.segments) - 1} of its passages were sent" in warning


def test_one_of_which_nothing_fits_the_question_is_named() -> None:
    class OnlyTheFirst(EveryOtherLine):
        def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
            return super().search_within(segments[:1], query, k)

    parts = [attached("A.md", 400), attached("B.md", 400)]
    found = narrowed(parts, "Beans?", (600, 600), COUNTER, OnlyTheFirst())
    assert {part.source for part in found.segments} == {"A.md"}
    assert "nothing of it was sent" in found.warnings[1]


def test_one_whose_passages_had_no_room_is_not_said_to_fit_the_question_badly() -> None:
    long = "Beans and barrels, again and again. " * 60
    parts = [attached("A.md", 100), replace(attached("B.md", 1), content=long)]
    found = narrowed(parts, "Beans?", (400, 400), COUNTER, EveryOtherLine())
    assert "there was no room for any of its passages" in found.warnings[1]


def test_a_smaller_passage_is_sent_where_a_better_one_has_no_room() -> None:
    long = "Beans and barrels, again and again. " * 60
    parts = [replace(attached("B.md", 1), content=long), attached("A.md", 400)]
    found = narrowed(parts, "Beans?", (400, 400), COUNTER, EveryOtherLine())
    assert {part.source for part in found.segments} == {"A.md"}


def test_many_that_are_too_large_are_told_of_in_one_sentence() -> None:
    parts = [attached(f"{n}.md", 400) for n in range(13)]
    found = narrowed(parts, "Beans?", (600, 600), COUNTER, EveryOtherLine())
    (warning,) = found.warnings
    count = len(found.segments)
    assert warning.startswith("13 of the attached notes are too large together to be sent whole")
    assert warning.endswith(f"{count} passages of 1 of them were sent, nothing of the other 12.")


def test_where_no_passage_fits_the_question_the_guard_shortens_it() -> None:
    parts = [attached("A.md", 400)]
    found = narrowed(parts, "Sum it up.", (600, 600), COUNTER, EveryOtherLine(finds=False))
    assert (list(found.segments), found.warnings) == (parts, ())


def test_passages_that_touch_are_chosen_one_by_one_and_sent_as_one() -> None:
    class EveryLine(EveryOtherLine):
        def search_within(self, segments: Sequence[Segment], query: str, k: int) -> Sequence[Hit]:
            lines = segments[0].raw_content.split("\n")
            return [hit("A.md", line, first=n) for n, line in enumerate(lines[:k], start=1)]

    found = narrowed([attached("A.md", 400)], "Beans?", (600, 600), COUNTER, EveryLine())
    (passage,) = found.segments
    assert passage.lines is not None
    assert passage.lines[0] == 1 < passage.lines[1]
    assert size(found.segments) <= 600


def test_before_anything_is_looked_up_they_count_about_what_they_will() -> None:
    small, large = attached("A.md", 3), attached("Large.md", 400)
    roughly = excerpted([large, small], (900, 600), COUNTER)
    assert [part.id for part in roughly] == [large.id, small.id]
    assert 300 < size(roughly[:1]) <= 660
    assert 0 <= (roughly[0].whole_tokens or 0) - size([large]) < 9  # its number is not known yet
    assert roughly[1] == small


def test_passages_keep_to_a_share_of_their_own() -> None:
    found = narrowed([attached("A.md", 400)], "Beans?", (3_000, 300), COUNTER, EveryOtherLine())
    assert 200 < size(found.segments) <= 300


def test_a_selection_is_never_cut() -> None:
    selection, note = attached("S.md", 30, kind="selection"), attached("A.md", 400)
    port = EveryOtherLine()
    found = narrowed([selection, note], "Beans?", (1_000, 500), COUNTER, port)
    assert found.segments[0].content == selection.content
    assert port.asked == ["A.md"]


@given(
    st.lists(st.integers(0, 300), max_size=8),
    st.integers(0, 4_000),
)
def test_the_share_holds_wherever_there_is_something_to_choose(
    paragraphs: list[int], share: int
) -> None:
    parts = [attached(f"{n}.md", count) for n, count in enumerate(paragraphs)]
    found = narrowed(parts, "Beans?", (share, share), COUNTER, EveryOtherLine())
    if found.warnings:
        assert size(found.segments) <= share
    else:
        assert list(found.segments) == parts


@pytest.mark.parametrize("share", [0, 1])
def test_without_any_share_all_is_left_to_the_guard(share: int) -> None:
    parts = [attached("A.md", 10)]
    assert (
        list(narrowed(parts, "Beans?", (share, share), COUNTER, EveryOtherLine()).segments) == parts
    )
