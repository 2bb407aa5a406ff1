"""Whatever JSON a server sends, it becomes a piece or an error of ours."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.events import Usage
from chains.llm.incoming.answer_reader import AnswerReader
from chains.llm.incoming.chat_stream import AnswerError, ChatStream
from chains.llm.incoming.pieces import read_usage

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
_WORDS = """choices delta message content text type index finish_reason tool_calls function name
arguments id usage prompt_tokens error code reasoning refusal function_call thinking"""
NAMES = st.sampled_from(_WORDS.split())
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@given(st.lists(JSON, max_size=4))
def test_no_json_raises_an_error_of_python(events: list[object]) -> None:
    stream, reader = ChatStream(), AnswerReader()
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    with suppress(AnswerError):
        for piece in (*stream.feed(data.encode()), *stream.close()):
            list(reader.add(piece))
    list(reader.flush())
    list(reader.complete())


@pytest.mark.parametrize(
    "counts",
    [
        {"prompt_tokens": -1},
        {"prompt_tokens": 10**9},
        {"prompt_tokens": "12"},
        {"prompt_tokens": 12.5},
        {"prompt_tokens": None},
        {"prompt_tokens": float("nan")},
        {"prompt_tokens": True},
        {"prompt_tokens": 12, "completion_tokens": -3},
        {"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": "x"}},
        [],
        "12",
    ],
)
def test_counts_that_cannot_be_true_are_none(counts: object) -> None:
    assert read_usage(counts) is None


def test_the_names_of_several_services_are_read() -> None:
    counts = {"prompt_tokens": 12.0, "completion_tokens": 3, "prompt_cache_hit_tokens": 4}
    assert read_usage(counts) == Usage(1, 12, 3, 4)
