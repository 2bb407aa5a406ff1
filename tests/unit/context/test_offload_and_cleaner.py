import pytest

from context.cleaner import clean_tool_output
from context.messages import Message, TextPart, ToolCallPart, ToolResultPart
from context.offload import is_offload_stub, offload_stub


def result(content):
    return Message("tool", (ToolResultPart("c", content),))


def cleaned(content):
    return clean_tool_output(result(content)).content[0].content


def test_a_stub_tells_size_beginning_and_the_way_to_the_rest():
    content = "go: downloading " + "x" * 48_215
    assert offload_stub("shell_exec", content, "abc-123") == (
        '[Tool result stored — 48,231 bytes from "shell_exec".\n'
        f"First 200 chars: {content[:200]}...]\n"
        'Use the "read_result" tool with ref_id="abc-123" to read specific portions.'
    )


def test_bytes_are_those_of_utf8():
    assert '— 6,000 bytes from "t"' in offload_stub("t", "東" * 2_000, "r")


def test_the_dots_stand_only_where_something_was_cut():
    assert "First 200 chars: " + "x" * 200 + "]\n" in offload_stub("t", "x" * 200, "r")
    assert "First 200 chars: " + "x" * 200 + "...]\n" in offload_stub("t", "x" * 201, "r")


def test_a_stub_is_known_as_one():
    assert is_offload_stub(offload_stub("t", "x", "r"))
    assert not is_offload_stub("[Tool result stored — by hand")


@pytest.mark.parametrize(
    ("content", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\n\nb\n", 3)]
)
def test_results_become_their_number_of_lines(content, lines):
    assert cleaned(content) == f"[Content truncated: {lines} lines]"


def test_a_result_that_is_already_so_is_left():
    assert cleaned("[Content truncated: 120 lines]") == "[Content truncated: 120 lines]"
    assert cleaned("[Content truncated: 120 lines] and more") == "[Content truncated: 1 lines]"


def test_a_stub_is_left_because_it_holds_the_reference():
    stub = offload_stub("t", "x", "r")
    assert cleaned(stub) == stub


def test_calls_and_words_stay_as_they_are():
    call = ToolCallPart("c", "read_note", {"path": "x"})
    message = Message("assistant", (TextPart("Reading"), call), "e1")
    assert clean_tool_output(message) == message
    assert clean_tool_output(Message("user", "a\nb")) == Message("user", "a\nb")


def test_everything_else_of_a_result_stays():
    message = Message("tool", (ToolResultPart("c", "a\nb", is_error=True),), "e1")
    assert clean_tool_output(message) == Message(
        "tool", (ToolResultPart("c", "[Content truncated: 2 lines]", is_error=True),), "e1"
    )


def test_a_tool_message_of_bare_text_is_a_result():
    assert clean_tool_output(Message("tool", "a\nb")).content == "[Content truncated: 2 lines]"
