"""Bytes become the same events however they are cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.llm.incoming.event_stream import DONE, EventSplitter

EVENTS = [{"a": "ä😀"}, {"b": ["\r\n", "\u2028"]}, {"c": {}}]


@given(
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    between=st.sampled_from(["", ": comment", "id: 1", "retry: 5"]),
    blank=st.booleans(),
    mark=st.booleans(),
    size=st.integers(1, 40),
)
def test_events_are_the_same_in_every_form(
    ends: str, between: str, blank: bool, mark: bool, size: int
) -> None:
    lines = [f"data:{' ' * mark}{json.dumps(event, ensure_ascii=False)}" for event in EVENTS]
    lines = [part for line in (*lines, f"data: {DONE}") for part in (between, line, "" * blank)]
    data = b"\xef\xbb\xbf" * mark + ends.join([*lines, ""]).encode()
    splitter = EventSplitter()
    found = [
        event
        for start in range(0, len(data), size)
        for event in splitter.feed(data[start : start + size])
    ]
    found += splitter.close()
    assert [event.value for event in found] == [*EVENTS, DONE]


@pytest.mark.parametrize(
    "stream",
    [
        'data: {"a": "data: [1] {"}\ufeffdata: {"b": 2}data: [DONE]\n',
        'data: \ufeff{"a": "data: [1] {"} {"b": 2} [DONE]\n',
        'data: [{"a": "data: [1] {"}][{"b": 2}]\ndata: [DONE]\n',
    ],
)
def test_values_in_one_line_are_told_apart_from_the_text_in_them(stream: str) -> None:
    splitter = EventSplitter()
    found = [*splitter.feed(stream.encode()), *splitter.close()]
    assert [event.value for event in found] == [{"a": "data: [1] {"}, {"b": 2}, DONE]


def test_a_stray_line_in_brackets_is_kept_as_it_is() -> None:
    found = [*(splitter := EventSplitter()).feed(b"data: [INFO] {x}\n"), *splitter.close()]
    assert [event.value for event in found] == ["[INFO] {x}"]


@given(st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_raise_an_error(data: bytes, size: int) -> None:
    splitter, found = EventSplitter(), list[object]()
    for start in range(0, len(data), size):
        found += splitter.feed(data[start : start + size])
    found += splitter.close()
    assert len(found) <= len(data)
