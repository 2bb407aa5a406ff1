"""No call of a reading is over its budget, whatever is read."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chains.errors import CannotRead
from chains.prompts import built_in
from chains.retrieval.map_reduce.plan import PROMPT, Asked, plan_reading
from chains.tokenizer import counter_for
from context.budget import room_for
from context.layers import Layer, Segment
from context.tokens import ByteEstimator

COUNTERS = (counter_for("gpt-4o"), counter_for("scripted"), ByteEstimator())
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
    room = room_for(counter, threshold, None, answer)
    segment = Segment.build(
        id="s", layer=Layer.L3, kind="file", source="/tmp/名前 <&> " * 9, text=text, lines=(1, 9)
    )
    asked = Asked("What about “beans”?", "m", room, built_in(PROMPT).sections, counter)
    try:
        plan = plan_reading([segment], {"s": counter.count(text)}, room.budget // 3, asked)
    except CannotRead:
        return
    for part in plan.readings[0].parts:
        request = plan.asked.of_part(segment.source, part)
        assert request.report.used <= room.budget
        assert request.envelope.options["maxTokens"] == plan.asked.notes_tokens <= answer
