"""What a reader passes on of a stream that the client library reads."""

from collections.abc import Sequence

import pytest

from chains.llm.incoming.chat_stream import AnswerError
from chains.llm.incoming.response import ResponseReader


def read(chunks: Sequence[bytes]) -> bytes:
    reader = ResponseReader(100)
    reader.open(200, "http://server.example/api/chat")
    return b"".join(reader.read(iter(chunks)))


@pytest.mark.parametrize("value", ["null", '""', "false", "{}"])
@pytest.mark.parametrize("cut", [8, 9, 10])
def test_a_field_for_an_error_that_is_empty_is_none(value: str, cut: int) -> None:
    line = f'{{"error": {value}, "message": {{"content": "In the shed."}}}}\n'.encode()
    assert read([line[:cut], line[cut:], line]) == line * 2


@pytest.mark.parametrize("value", ['"it is broken"', '{"message": "it is broken"}'])
def test_an_error_in_a_line_ends_the_answer(value: str) -> None:
    line = f'{{"error": {value}}}\n'.encode()
    with pytest.raises(AnswerError) as caught:
        read([b'{"message": {}}\n', line[:7], line[7:]])
    assert "it is broken" in str(caught.value.body)
