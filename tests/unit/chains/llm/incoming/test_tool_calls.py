import pytest

from chains.llm.incoming.tool_calls import has_call_as_text


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "list_tags"}\n</tool_call>',
        'I look.\n  <tool_call>{"name": "list_tags"}',
        '[TOOL_CALLS][{"name": "list_tags"}]',
        "<function=list_tags>{}</function>",
        "<|tool_calls_begin|>list_tags",
        "<|python_tag|>list_tags.call()",
        "<｜tool▁calls▁begin｜>function",
        "The code is:\n```py\nprint()\n```\n<tool_call>{}</tool_call>",
        "~~~\n```\n~~~\n<tool_call>{}</tool_call>",
        "1. I look.\n\n   <tool_call>{}</tool_call>",
        "Look:\r\n<tool_call>{}</tool_call>",
    ],
)
def test_a_call_that_a_server_left_as_text_is_found(text):
    assert has_call_as_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Behind the shed.",
        "The mark <tool_call> begins a call.",
        "Qwen writes:\n```\n<tool_call>{}</tool_call>\n```",
        "Qwen writes:\n~~~\n<tool_call>{}</tool_call>\n~~~",
        "Qwen writes:\n~~~text\n```\n<tool_call>{}</tool_call>\n```\n~~~",
        "Qwen writes:\n````\n```\n<tool_call>{}</tool_call>\n```\n````",
        "Qwen writes:\n\n    <tool_call>{}</tool_call>\n\nThat is all.",
        "Qwen writes:\n\n\t[TOOL_CALLS] []",
        "- Qwen writes:\n\n  ~~~\n  <tool_call>{}</tool_call>\n  ~~~",
        "Qwen writes:\n~~~\n<tool_call>{}</tool_call>",
        "> <tool_call>{}</tool_call> [1]",
    ],
)
def test_words_about_calls_are_no_call(text):
    assert not has_call_as_text(text)
