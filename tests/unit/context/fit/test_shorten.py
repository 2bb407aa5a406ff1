"""What a last message gives up, in which order, and in which form the rest of it stays."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.draft import Tail
from context.fit.shorten import SPARE_TOKENS, shorten_segment, shorten_tail
from context.layers import Layer
from context.messages import Message
from context.tokens import ByteEstimator, count_segment
from tests.support.sessions.chats import Chat, passage

COUNTER = ByteEstimator()
SECTIONED = "".join(f"# Part {n}\n{'A sentence of this part. ' * 60}\n" for n in range(30))
PLAIN = "A sentence of a note without headings. " * 400


def attached(name, text, kind="note", **fields):
    return passage(1, text, id=name, source=f"{name}.md", kind=kind, **fields)


def tail(*segments):
    return Tail(segments, Message("user", "Why?"), COUNTER)


def named(segments):
    return [segment.id for segment in segments]


@pytest.mark.parametrize("text", [SECTIONED, PLAIN])
def test_a_note_is_shortened_rather_than_left_out(text):
    found = tail(attached("a", text))
    shrunk = shorten_tail(found, found.total // 2)
    (kept,) = shrunk.tail.segments
    assert shrunk.left_out == ()
    assert shrunk.tail.total <= found.total // 2
    assert kept.raw_content.startswith(text[:100])
    assert 'read_note" tool with path="a.md"' in kept.raw_content


@pytest.mark.parametrize("text", [SECTIONED, PLAIN])
def test_it_is_shortened_no_more_than_need_be_but_for_a_little_spare_room(text):
    found = tail(attached("a", text))
    most = int(found.total * 0.6)
    assert 0.93 * most <= shorten_tail(found, most).tail.total <= most - SPARE_TOKENS


def test_a_little_too_much_costs_no_section():
    found = tail(attached("a", SECTIONED))
    (kept,) = shorten_tail(found, found.total - 50).tail.segments
    assert kept.raw_content.count("# Part") == 30


def test_lines_of_a_shortened_text_are_not_those_of_its_source():
    found = tail(attached("a", PLAIN))
    (kept,) = shorten_tail(found, found.total // 2).tail.segments
    assert kept.lines is None


def test_what_is_shortened_again_says_so_once():
    once = shorten_segment(attached("a", SECTIONED), 3_000, COUNTER)
    again = shorten_segment(once, 1_500, COUNTER)
    assert again.raw_content.count("[Shortened.") == 1


def test_members_are_shortened_then_left_out_before_what_was_named_is_touched():
    members = [attached("m1", PLAIN, "folder"), attached("m2", PLAIN, "tag")]
    found = tail(*members, attached("n1", PLAIN), attached("n2", PLAIN))
    least = tail(*found.segments[2:]).total
    half = shorten_tail(found, least + 3_000)
    assert named(half.tail.segments) == ["m1", "m2", "n1", "n2"]
    assert half.tail.segments[2:] == found.segments[2:]
    none = shorten_tail(found, least)
    assert named(none.left_out) == ["m1", "m2"]
    assert none.tail.segments == found.segments[2:]


def test_the_oldest_attachment_is_shortened_first_and_the_newest_last():
    found = tail(*(attached(name, PLAIN) for name in "abc"))
    shrunk = shorten_tail(found, found.total - 500).tail.segments
    assert shrunk[1:] == found.segments[1:]
    both = shorten_tail(found, found.total - 6_000).tail.segments
    assert both[2] is found.segments[2]
    assert len(both[0].content) < 1_000 < len(both[1].content) < len(PLAIN)
    newest = shorten_tail(found, 1_500)
    assert named(newest.left_out) == ["a", "b"]
    assert named(newest.tail.segments) == ["c"]


def test_what_earlier_turns_left_behind_is_shortened_before_what_was_named():
    carried = attached("carried", PLAIN, layer=Layer.L2)
    found = tail(carried, attached("a", PLAIN), attached("b", PLAIN))
    shrunk = shorten_tail(found, found.total - 1_000).tail.segments
    assert shrunk[1:] == found.segments[1:]
    assert len(shrunk[0].content) < len(carried.content)


def test_selections_and_pins_are_never_cut():
    parts = [
        attached("selection", PLAIN, "selection"),
        attached("pin", PLAIN, pinned=True),
        attached("last", "Short."),
    ]
    found = tail(*parts)
    assert named(shorten_tail(found, found.total - 10).left_out) == ["selection"]
    assert named(shorten_tail(found, 100).left_out) == ["selection", "pin"]
    assert shorten_tail(found, 100).tail.segments == (parts[2],)


def test_a_picture_is_never_cut():
    found = tail(attached("a", PLAIN, "image"), attached("b", "Short."))
    assert named(shorten_tail(found, 200).left_out) == ["a"]


def test_where_there_is_no_room_at_all_nothing_is_left():
    found = tail(attached("a", PLAIN), passage(2, "x"))
    shrunk = shorten_tail(found, 0)
    assert shrunk.tail.segments == ()
    assert named(shrunk.left_out) == ["p2", "a"]


def test_the_report_tells_what_was_shrunk_from_what():
    chat = Chat(threshold=4_000)
    prepared = chat.ask("Why?", segments=[attached("a", PLAIN), attached("b", "Short.")])
    first, second = (use.to_dict() for use in prepared.report.segments)
    assert (first["state"], first["reason"]) == ("shrunk", "budget")
    assert first["original_tokens"] > 4_000 > first["tokens"] > 2_000
    assert (second["state"], second["reason"]) == ("full", None)
    assert prepared.report.guard == ("shrink_tail",)
    assert prepared.report.dropped == ()
    assert "left out: 1 segment, shrunk" in prepared.report.to_markdown()


def test_what_is_to_be_stored_is_what_was_sent():
    chat = Chat(threshold=4_000)
    prepared = chat.ask("Why?", segments=[attached("a", PLAIN)])
    assert prepared.segments[0].content in prepared.messages[-1].content[0].text


KINDS = st.sampled_from(["passage", "note", "folder", "tag", "url", "file", "selection", "image"])
TEXTS = {
    "sections": SECTIONED,
    "plain": PLAIN,
    "short": "Short.",
    "empty": "",
    "one word": "x" * 9_000,
    "headings": "# Only\n" * 500,
    "japanese": "東京 " * 3_000,
}
SEGMENTS = st.lists(
    st.tuples(
        KINDS, st.sampled_from(sorted(TEXTS)), st.booleans(), st.sampled_from([Layer.L2, Layer.L3])
    ),
    max_size=8,
)


@given(SEGMENTS, st.floats(0, 1.1))
@settings(max_examples=100, deadline=None)
def test_whatever_is_given_up_fits_keeps_its_order_and_is_whole_or_named(parts, share):
    found = tail(
        *(
            passage(n, TEXTS[text], kind=kind, pinned=pinned, layer=layer)
            for n, (kind, text, pinned, layer) in enumerate(parts)
        )
    )
    most = int(found.total * share)
    shrunk = shorten_tail(found, most)
    assert shrunk == shorten_tail(found, most)
    assert shrunk.tail.total <= most or not shrunk.tail.segments
    kept = named(shrunk.tail.segments)
    assert kept == [name for name in named(found.segments) if name in kept]
    assert sorted(kept + named(shrunk.left_out)) == sorted(named(found.segments))
    before = {segment.id: segment for segment in found.segments}
    for segment in shrunk.tail.segments:
        whole = before[segment.id]
        if whole.pinned or whole.kind in ("selection", "passage", "image"):
            assert segment == whole
        elif segment != whole:
            assert count_segment(segment, COUNTER) < count_segment(whole, COUNTER)
            assert segment == replace(whole, content=segment.content, lines=None)
