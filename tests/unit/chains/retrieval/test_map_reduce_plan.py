"""No call of a reading is over its budget, whatever is read."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chains.errors import CannotRead
from chains.prompts import READING_PROMPT, CallSetup, load_prompt
from chains.retrieval.map_reduce_plan import (
    AttachmentPart,
    MapReduceSetup,
    plan_map_reduce,
    split_text,
)
from chains.tokenizer import load_counter
from context.budget import compute_budget
from context.layers import Layer, Segment
from context.tokens import ByteEstimator

COUNTERS = (load_counter("gpt-4o"), load_counter("scripted"), ByteEstimator())
PIECES = st.sampled_from(
    [
        "A sentence about beans & barrels, <b>as it stands</b>. ",
        "豆は五月に蒔く。",
        "🫘🫘🫘",
        "aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ=",
        "\n",
        "\n\n# Heading\n\n",
        "```\nfor x in y: print(x)\n```\n",
        "   \t ",
    ]
)
TEXTS = st.builds(
    lambda pieces, times: "".join(pieces) * times, st.lists(PIECES), st.integers(1, 400)
)


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(4_000, 40_000), st.integers(16, 8_000), st.sampled_from(COUNTERS))
def test_every_call_fits_and_the_notes_of_a_call_are_bounded(
    text: str, threshold: int, answer: int, counter: ByteEstimator
) -> None:
    room = compute_budget(counter, threshold, None, answer)
    segment = Segment.build(
        id="s", layer=Layer.L3, kind="file", source="/tmp/名前 <&> " * 9, text=text, lines=(1, 9)
    )
    sections = load_prompt(READING_PROMPT).sections
    call = CallSetup(READING_PROMPT, sections, "m", counter, room)
    setup = MapReduceSetup("What about “beans”?", call)
    try:
        plan = plan_map_reduce([segment], {"s": counter.count(text)}, room.budget // 3, setup)
    except CannotRead:
        return
    for part in plan.readings[0].parts:
        request = plan.setup.prepare_part(segment.source, part)
        assert request.report.used <= room.budget
        assert request.envelope.options["maxTokens"] == plan.setup.notes_tokens <= answer


COUNTER = ByteEstimator()
REAL_COUNTER = load_counter("gpt-4o")
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


def lines_of(part: AttachmentPart) -> range:
    return range(part.lines[0], part.lines[1] + 1)


@given(LINES, st.integers(60, 600), st.integers(1, 10_000))
def test_every_line_is_in_exactly_one_part_and_the_pieces_of_a_long_one_are_the_line(
    lines: list[str], most: int, first: int
) -> None:
    found: dict[int, str] = {}
    for part in split_text("\n".join(lines), first, most, COUNTER):
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
        for part in split_text("\n".join(lines), 1, most, counter):
            assert counter.count(part.numbered) <= part.tokens <= most


def test_a_part_begins_with_the_uppermost_heading_that_is_near() -> None:
    body = ["A line that says something about beans."] * 6
    lines = [*body, "## Small", *body, "# Large", *body, "## Small", *body]
    parts = split_text("\n".join(lines), 1, 330, COUNTER)
    assert [part.text.split("\n")[0] for part in parts[1:2]] == ["# Large"]


def test_a_part_is_shown_with_the_numbers_of_its_lines() -> None:
    (part,) = split_text("one\n\nthree", 12, 100, COUNTER)
    assert part.numbered == "12: one\n13: \n14: three"
