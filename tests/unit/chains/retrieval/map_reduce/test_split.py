from hypothesis import given
from hypothesis import strategies as st

from chains.retrieval.map_reduce.plan import Part, parts_of
from chains.tokenizer import counter_for
from context.tokens import ByteEstimator

COUNTER = ByteEstimator()
REAL_COUNTER = counter_for("gpt-4o")
LINES = st.lists(
    st.sampled_from(
        [
            "",
            "# A heading",
            "## Below it",
            "A line that says something about beans and barrels.",
            "- an item of a list",
            "```",
            "| a | b |",
            "第二行。",
            "One sentence. Another one! And a third? " * 20,
            "wordswithoutanyblank" * 30,
        ]
    ),
    min_size=1,
    max_size=60,
)


def lines_of(part: Part) -> range:
    return range(part.lines[0], part.lines[1] + 1)


@given(LINES, st.integers(60, 600), st.integers(1, 10_000))
def test_every_line_is_in_exactly_one_part_and_the_pieces_of_a_long_one_are_the_line(
    lines: list[str], most: int, first: int
) -> None:
    found: dict[int, str] = {}
    for part in parts_of("\n".join(lines), first, most, COUNTER):
        texts = part.text.split("\n")
        assert len(texts) == len(lines_of(part))
        for number, text in zip(lines_of(part), texts, strict=True):
            is_piece = part.lines[0] == part.lines[1]
            assert number not in found or is_piece
            found[number] = found.get(number, "") + text
    assert list(found) == list(range(first, first + len(lines)))
    assert list(found.values()) == lines


@given(LINES, st.integers(60, 600))
def test_no_part_is_larger_than_it_may_be(lines: list[str], most: int) -> None:
    for counter in (COUNTER, REAL_COUNTER):
        for part in parts_of("\n".join(lines), 1, most, counter):
            assert counter.count(part.numbered) <= part.tokens <= most


def test_a_part_begins_with_the_uppermost_heading_that_is_near() -> None:
    body = ["A line that says something about beans."] * 6
    lines = [*body, "## Small", *body, "# Large", *body, "## Small", *body]
    parts = parts_of("\n".join(lines), 1, 330, COUNTER)
    assert [part.text.split("\n")[0] for part in parts[1:2]] == ["# Large"]


def test_a_part_is_shown_with_the_numbers_of_its_lines() -> None:
    (part,) = parts_of("one\n\nthree", 12, 100, COUNTER)
    assert part.numbered == "12: one\n13: \n14: three"
