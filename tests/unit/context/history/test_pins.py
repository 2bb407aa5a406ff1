import pytest

from context.errors import BadPin
from context.history.pins import NO_PINS, PINNED_SOURCE, check_pin
from context.log.entries import MessageEntry, PinEntry, SegmentsEntry
from context.messages import Message
from context.tokens import ByteEstimator
from tests.support.sessions.chats import TIME, passage

PATH = (
    SegmentsEntry("s", None, TIME, "t", (passage(1, "The <note>."),)),
    MessageEntry("q", "s", TIME, Message("user", "Remember 4711."), "t"),
    MessageEntry("a", "q", TIME, Message("assistant", "x" * 40_000), "t"),
)


def pin(target, on=True):
    return PinEntry("p", "a", TIME, target, on)


def test_a_message_is_kept_word_for_word():
    pins = NO_PINS.after(pin("q"), PATH)
    (segment,) = pins.segments.values()
    assert (segment.raw_content, segment.source, segment.pinned) == (
        "Remember 4711.",
        PINNED_SOURCE,
        True,
    )
    assert pins.messages == {"q"}


def test_a_segment_is_kept_as_it_was_sent():
    pins = NO_PINS.after(pin("p1"), PATH)
    assert pins.segments["p1"].raw_content == "The <note>."
    assert pins.messages == set()


def test_what_is_taken_off_is_gone_and_what_is_not_there_is_no_pin():
    pins = NO_PINS.after(pin("q"), PATH)
    assert pins.after(pin("q", on=False), PATH) == NO_PINS
    assert NO_PINS.after(pin("nothing"), PATH) == NO_PINS


def test_only_what_is_not_sent_anyway_moves():
    pins = NO_PINS.after(pin("q"), PATH).after(pin("p1"), PATH)
    shown, here = [PATH[1].message], PATH[0].segments
    assert [one.id for one in pins.select_moved([], [])] == ["q", "p1"]
    assert [one.id for one in pins.select_moved(shown, [])] == ["p1"]
    assert pins.select_moved(shown, here) == ()


@pytest.mark.parametrize(("target", "why"), [("nothing", "nothing to pin"), ("a", "together")])
def test_what_cannot_be_pinned_is_refused(target, why):
    with pytest.raises(BadPin, match=why):
        check_pin(NO_PINS, pin(target), PATH, 10_000, ByteEstimator())


def test_a_pin_within_its_bound_is_taken():
    assert check_pin(NO_PINS, pin("q"), PATH, 10_000, ByteEstimator()).messages == {"q"}
    assert check_pin(NO_PINS, pin("a", on=False), PATH, 10_000, ByteEstimator()) == NO_PINS
