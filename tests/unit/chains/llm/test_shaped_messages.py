"""Messages of the chat API in the shape that a server takes."""

import pytest

from chains.llm.request_shape import USUAL_SHAPE, RequestShape
from chains.llm.shaped_messages import changes_messages, shape_messages

MARK = {"type": "ephemeral"}
SYSTEM = {"role": "system", "content": "Be brief."}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def text(words, **fields):
    return {"type": "text", "text": words, **fields}


def user(content):
    return {"role": "user", "content": content}


def assistant(content, *calls, **fields):
    called = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for id, name in calls
    ]
    return {"role": "assistant", "content": content, **fields} | (
        {"tool_calls": called} if called else {}
    )


def result(id, content):
    return {"role": "tool", "tool_call_id": id, "content": content}


def form(*names):
    return RequestShape(forms=frozenset(names))


def no(*fields):
    return RequestShape(frozenset(fields))


AGENT = [
    SYSTEM,
    user("What is there?"),
    assistant("I look.", ("c1", "list_folder"), ("c2", "list_tags")),
    result("c1", "Two notes."),
    result("c2", "No tags."),
]


@pytest.mark.parametrize(
    "shape", [USUAL_SHAPE, no("temperature", "stream_options"), form("max_completion_tokens")]
)
def test_fields_of_the_whole_request_leave_messages_alone(shape):
    assert not changes_messages(shape)


@pytest.mark.parametrize("field", ["cache_control", "reasoning_content", "thinking_blocks"])
def test_a_field_of_messages_is_left_out_at_any_level(field):
    marked = assistant("Hm.", **{field: MARK})
    messages = [user([text("One.", **{field: MARK}), IMAGE]), marked]
    assert changes_messages(no(field))
    assert shape_messages(messages, no(field)) == [
        user([text("One."), IMAGE]),
        assistant("Hm."),
    ]


def test_instructions_become_the_beginning_of_the_first_question():
    messages = [SYSTEM, user("One?"), assistant("Yes."), user("Two?")]
    assert shape_messages(messages, form("system_in_user")) == [
        user("Be brief.\n\nOne?"),
        assistant("Yes."),
        user("Two?"),
    ]


def test_instructions_stay_beside_an_image_and_a_mark():
    system = {"role": "system", "content": [text("Be brief.", cache_control=MARK)]}
    (first,) = shape_messages([system, user([IMAGE, text("One?")])], form("system_in_user"))
    assert first == user([text("Be brief.", cache_control=MARK), IMAGE, text("One?")])


def test_instructions_before_an_answer_are_a_message_of_their_own():
    messages = [SYSTEM, assistant("Hello."), user("One?")]
    shaped = shape_messages(messages, form("system_in_user"))
    assert [message["role"] for message in shaped] == ["user", "assistant", "user"]


@pytest.mark.parametrize("shape", [form("calls_as_text"), no("tools")])
def test_calls_and_results_become_text(shape):
    assert shape_messages([*AGENT, user("Be quick.")], shape) == [
        SYSTEM,
        user("What is there?"),
        assistant("I look.\n[Call of list_folder with {}]\n[Call of list_tags with {}]"),
        user("[Result of list_folder]\nTwo notes.\n\n[Result of list_tags]\nNo tags.\n\nBe quick."),
    ]


def test_a_note_behind_a_result_becomes_a_part_of_it():
    *before, last = shape_messages([*AGENT, user("Be quick.")], form("note_in_result"))
    assert before == AGENT[:-1]
    assert last == result("c2", "No tags.\n\nBe quick.")


def test_an_image_behind_a_result_stays_a_message():
    shaped = shape_messages([*AGENT, user([IMAGE])], form("note_in_result"))
    assert shaped == [*AGENT, user([IMAGE])]


def test_content_becomes_text_without_marks_but_not_without_images():
    messages = [user([text("One.", cache_control=MARK), text("Two.")]), user([IMAGE])]
    assert shape_messages(messages[:1], form("text_only")) == [user("One.\n\nTwo.")]
    assert shape_messages(messages[1:], form("text_only")) == [user([IMAGE])]


def test_calls_are_sent_one_by_one_where_a_server_takes_no_parallel_ones():
    called = assistant("I look.", ("c1", "a"), ("c2", "b"), ("c3", "c"), reasoning_content="Hm.")
    said = [user("Go."), called, result("c1", "1"), result("c2", "2"), result("c3", "3")]
    single = assistant("One more.", ("c4", "d"))
    shaped = shape_messages(
        [*said, single, result("c4", "4"), user("And?")], no("parallel_tool_calls")
    )
    assert shaped == [
        user("Go."),
        assistant("I look.", ("c1", "a"), reasoning_content="Hm."),
        result("c1", "1"),
        assistant(None, ("c2", "b"), reasoning_content=" "),
        result("c2", "2"),
        assistant(None, ("c3", "c"), reasoning_content=" "),
        result("c3", "3"),
        single,
        result("c4", "4"),
        user("And?"),
    ]
