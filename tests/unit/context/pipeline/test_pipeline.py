import json
from dataclasses import replace

import pytest

from context.errors import BadInputs, ContextOverflow
from context.layers import Layer
from context.log.entries import DropEntry, SegmentsEntry
from context.messages import TextPart, ToolDefinition
from tests.support.sessions.chats import Chat, passage


def chars(tokens):
    return "x" * int(tokens * 3.5 / 1.05)


def test_a_question_alone_is_sent_as_bare_text():
    body = Chat().ask("Why <b>?").request_body()
    assert body["messages"] == [{"role": "user", "content": "Why <b>?"}]


def test_what_was_found_stands_before_the_question_in_parts():
    carried = replace(passage(9, "Old"), layer=Layer.L2, kind="note")
    found = passage(1, "New & shiny")
    prepared = Chat().ask("Why?", segments=[found, carried])
    (message,) = prepared.request_body()["messages"]
    assert message["content"] == [
        {"type": "text", "text": carried.render()},
        {"type": "text", "text": found.render()},
        {"type": "text", "text": "Why?"},
    ]


def test_the_envelope_holds_the_bare_question():
    prepared = Chat().ask("Why?", segments=[passage(1, "a")])
    assert [message.content for message in prepared.envelope.messages.cached] == ["Why?"]
    assert prepared.envelope.messages.uncached == ()
    assert isinstance(prepared.messages[-1].content[-1], TextPart)


def test_earlier_turns_are_bare_text_and_answers():
    chat = Chat(threshold=50_000)
    chat.ask("One", "1", [passage(1, "a")])
    chat.ask("Two", None)
    body = chat.ask("Three").request_body()
    assert body["messages"] == [
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "Two"},
        {"role": "assistant", "content": "[interrupted]"},
        {"role": "user", "content": "Three"},
    ]


def test_the_answer_may_be_as_long_as_its_reserve():
    prepared = Chat(threshold=4_000, max_output_tokens=4_096).ask("Why?")
    assert prepared.request_body()["options"] == {"temperature": 0.2, "maxTokens": 1_000}
    assert prepared.report.request_budget.reserve == 1_000


def test_the_budget_is_told_with_all_that_it_is_made_from():
    chat = Chat(threshold=128_000, max_output_tokens=4_096, model_limit=8_192, factor=1.2)
    data = chat.ask("Why?").report.to_dict()
    told = {key: data[key] for key in ("threshold", "model_limit", "window", "reserve", "budget")}
    assert told == {
        "threshold": 128_000,
        "model_limit": 8_192,
        "window": 8_192,
        "reserve": 2_048,
        "budget": 5_120,
    }
    assert (data["counter"], data["factor"], data["model"]) == ("bytes", 1.2, "test/model")


def test_the_factor_of_the_session_only_raises_that_of_the_counter():
    assert Chat(factor=1.0).ask("Why?").report.request_budget.factor == 1.1
    assert Chat(factor=1.3).ask("Why?").report.request_budget.factor == 1.3


def test_tools_and_warnings_are_passed_on():
    chat = Chat()
    tool = ToolDefinition("search", "Searches", {"type": "object"})
    inputs = replace(chat.inputs("Why?"), tools=(tool,), warnings=("Careful.",))
    prepared = chat.prepare(inputs)
    assert prepared.request_body()["tools"] == [tool.to_dict()]
    assert prepared.report.layers[Layer.T].items == 1
    assert prepared.report.layers[Layer.T].tokens > 0
    assert prepared.report.to_dict()["warnings"] == ["Careful."]


def test_the_report_counts_what_each_layer_holds():
    chat = Chat(threshold=50_000)
    chat.ask("One", "1")
    chat.ask("Two", "2")
    found = [passage(1, "a"), passage(2, "b"), replace(passage(3, "c"), layer=Layer.L2)]
    layers = chat.ask("Three", segments=found).report.layers
    items = {str(layer): use.items for layer, use in layers.items()}
    assert items == {"T": 0, "L1": 1, "L4": 2, "L2": 1, "L3": 2, "E": 0, "L5": 1, "W": 0}


def test_without_instructions_there_is_no_system_message():
    prepared = Chat(system="").ask("Why?")
    assert prepared.report.layers[Layer.L1].tokens == 0
    assert prepared.request_body()["system"] == ""


def test_a_cut_is_appended_as_one_entry_that_names_what_stays():
    chat = Chat(threshold=4_000)
    while not chat.drops:
        before = len(chat.path)
        chat.ask("Question", "word " * 60, [passage(1, "a")])
    (drop,) = chat.drops
    assert drop.parent_id == chat.path[before + 1].id
    assert drop.tokens_after < drop.tokens_before
    assert drop.reason == "room"
    assert drop.budget == 2_727
    position = next(at for at, entry in enumerate(chat.path) if entry.id == drop.up_to_entry_id)
    assert isinstance(chat.path[position], SegmentsEntry)


def test_the_cut_is_named_for_as_long_as_it_rests():
    chat = Chat(threshold=4_000)
    while not chat.drops:
        cut = chat.ask("Question", "word " * 60)
    dropped_turns = chat.ask("Question", "word " * 60)
    assert len(chat.drops) == 1
    assert cut.report.guard == ("drop",)
    assert dropped_turns.report.guard == ()
    assert cut.report.dropped == dropped_turns.report.dropped
    (left_out,) = dropped_turns.report.dropped
    assert left_out.layer is Layer.L4
    assert left_out.turns == len(left_out.entries) // 2 > 0
    assert left_out.tokens == chat.drops[0].tokens_before - chat.drops[0].tokens_after


def test_a_raised_threshold_brings_the_turns_back():
    chat = Chat(threshold=4_000)
    while not chat.drops:
        chat.ask(f"Question {len(chat.path)}", "word " * 60)
    chat.threshold = 100_000
    raised = chat.preview("Question")
    assert raised.report.dropped == ()
    assert (
        raised.report.layers[Layer.L4].items
        == sum(entry.to_dict()["type"] == "message" for entry in chat.path) // 2
    )
    assert raised.report.prefix.reasons == ("the threshold was raised",)
    chat.threshold = 4_000
    assert chat.preview("Question").report.dropped


def test_a_threshold_raised_a_little_moves_the_cut_back_a_little():
    chat = Chat(threshold=4_000)
    while len(chat.drops) < 3:
        chat.ask("Question", "word " * 60)
    small = chat.preview("Question").report.dropped[0].turns
    chat.threshold = 5_000
    chat.ask("Question", "word " * 60)
    assert 0 < chat.preview("Question").report.dropped[0].turns < small
    assert chat.drops[-1].budget > 2_727


def test_a_preview_appends_nothing_and_says_that_it_is_the_next():
    chat = Chat(threshold=4_000)
    while not chat.drops:
        inputs = chat.inputs("Question")
        appended = []
        preview = chat.prepare(inputs, appended, mode="preview")
        assert appended == []
        assert preview.report.when == "next"
        sent = chat.prepare(inputs, mode="send")
        assert sent.report.when == "last"
        assert sent.request_body() == preview.request_body()
        chat.ask("Question", "word " * 60)


def test_passages_beyond_their_share_are_named_and_not_sent():
    passages = [passage(number, chars(150)) for number in range(1, 9)]
    prepared = Chat(threshold=4_000).ask("Why?", segments=passages)
    sent = [segment.id for segment in prepared.segments]
    assert sent == [segment.id for segment in passages[: len(sent)]]
    states = {use.segment.id: (use.state, use.reason) for use in prepared.report.segments}
    assert len(states) == 8
    for segment in passages:
        kept = segment.id in sent
        assert states[segment.id] == (("full", None) if kept else ("dropped", "share"))
    assert [left_out.entries for left_out in prepared.report.dropped] == [
        (segment.id,) for segment in passages[len(sent) :]
    ]
    assert {left_out.reason for left_out in prepared.report.dropped} == {"share"}


def test_a_segment_that_left_has_no_tokens_but_had_some():
    passages = [passage(number, chars(150)) for number in range(1, 9)]
    (*_, last) = Chat(threshold=4_000).ask("Why?", segments=passages).report.segments
    assert last.tokens == 0
    assert last.original_tokens > 150


def test_a_question_that_does_not_fit_overflows_and_stores_nothing():
    chat = Chat(threshold=4_000)
    chat.ask("One", "1")
    appended = []
    with pytest.raises(ContextOverflow) as caught:
        chat.prepare(chat.inputs(chars(5_000)), appended)
    assert appended == []
    assert "raise autoCompactThreshold, shorten the message or split it" in str(caught.value)


def test_an_overflow_tells_every_layer_and_the_ways_out():
    chat = Chat(threshold=4_000)
    chat.ask("One", "1")
    with pytest.raises(ContextOverflow) as caught:
        chat.prepare(chat.inputs(chars(5_000), [passage(1, "a")]), mode="preview")
    report = caught.value.report
    assert report["used"] > report["budget"] == 2_727
    assert report["fraction"] > 1
    assert report["layers"]["L5"]["tokens"] == report["used"] - report["layers"]["L1"]["tokens"]
    assert report["layers"]["L4"]["tokens"] == 0
    assert report["when"] == "next"
    assert [use["state"] for use in report["segments"]] == ["dropped"]
    assert len(caught.value.ways_out) == 3
    assert json.dumps(report)


def test_an_overflow_says_how_much_is_free():
    with pytest.raises(ContextOverflow, match=r"has 1[0-9],[0-9]{3} tokens, but only 2,[0-9]{3} a"):
        Chat(threshold=4_000).ask(chars(10_000))


def test_instructions_that_alone_exceed_the_budget_leave_nothing_free():
    with pytest.raises(ContextOverflow, match="but only 0 are free"):
        Chat(threshold=4_000, system=chars(5_000)).ask("Why?")


def test_a_question_of_two_hundred_thousand_characters_is_counted_once():
    asked = []

    class Counter:
        name, is_exact, message_overhead, part_overhead = "test", True, 4, 0

        def count(self, text):
            if len(text) >= 200_000:
                asked.append(len(text))
            return len(text) // 4

    chat = Chat(threshold=128_000, counter=Counter())
    chat.ask("word " * 40_000, segments=[passage(1, "a")])
    assert asked == [200_000]


@pytest.mark.parametrize("spoil", ["empty", "answered", "other turn", "no question"])
def test_a_path_that_does_not_end_with_this_question_is_refused(spoil):
    chat = Chat()
    inputs = chat.inputs("Why?", [passage(1, "a")])
    if spoil == "empty":
        inputs = replace(inputs, path=())
    elif spoil == "answered":
        chat.ask("Why?")
        inputs = replace(inputs, path=tuple(chat.path), turn=chat.path[0].turn_id)
    elif spoil == "other turn":
        inputs = replace(inputs, turn="t99")
    else:
        inputs = replace(inputs, path=inputs.path[:1])
    with pytest.raises(BadInputs, match="does not end with the open question"):
        chat.prepare(inputs)


def test_the_same_inputs_give_the_same_bytes():
    chat = Chat(threshold=4_000)
    for number in range(30):
        chat.ask(f"Question {number}", "word " * 60, [passage(1, "a")])
    inputs = chat.inputs("Why?", [passage(2, "b")])
    again = replace(inputs, path=tuple(replace(entry) for entry in inputs.path))
    first, second = chat.prepare(inputs), chat.prepare(again)
    assert json.dumps(first.request_body()) == json.dumps(second.request_body())
    assert json.dumps(first.report.to_dict()) == json.dumps(second.report.to_dict())


def test_the_drop_is_the_only_thing_ever_appended():
    chat = Chat(threshold=4_000)
    appended = []
    for _ in range(30):
        inputs = chat.inputs("Question")
        chat.prepare(inputs, appended)
        chat.ask("Question", "word " * 60)
    assert appended
    assert {type(entry) for entry in appended} == {DropEntry}


def test_the_encode_body_is_the_body_in_the_same_order():
    chat = Chat(threshold=50_000)
    chat.ask('One "?', "One \U0001f600.", [passage(1, "a")])
    prepared = chat.ask("Two?", segments=[passage(1, "b")])
    body = prepared.request_body()
    assert prepared.encode_body() == body
    assert list(prepared.encode_body()) == list(body)
