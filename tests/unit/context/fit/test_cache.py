from dataclasses import replace

import pytest

from context.assemble.inputs import HistoryPolicy
from context.draft import RequestDraft, Tail, make_message_body, make_preamble
from context.envelope import System, SystemPart
from context.fit.cache import PreviousQuestion, compare_requests
from context.history.turn_list import TurnList
from context.layers import Layer
from context.log.entries import TransformEntry
from context.messages import Message, ToolDefinition
from tests.support.sessions.chats import TIME, Chat, passage

TOOL = ToolDefinition("search", "Searches", {})
BECAUSE = {"invalidateCacheReason": "it was in the way"}


def prefix(prepared):
    return prepared.report.prefix


def cached(prepared):
    return {str(layer) for layer, use in prepared.report.layers.items() if use.cached}


def test_the_first_request_reuses_nothing_and_changed_nothing():
    first = Chat().ask("Why?")
    assert prefix(first).tokens_reused == 0
    assert not prefix(first).changed
    assert prefix(first).reasons == ()
    assert cached(first) == set()


def test_the_next_request_reuses_what_came_before_the_answer():
    chat = Chat(threshold=50_000)
    chat.ask("Why?", "Because.")
    second = chat.ask("And?")
    layers = second.report.layers
    answer = chat.path[1].message
    assert not prefix(second).changed
    assert cached(second) == {"L1", "L4"}
    reused = second.report.used - layers[Layer.L5].tokens - (8 + chat.counter.count(answer.text))
    assert prefix(second).tokens_reused == reused


def test_a_question_that_had_passages_is_not_reused():
    chat = Chat(threshold=50_000)
    chat.ask("Why?", "Because.", [passage(1, "a")])
    second = chat.ask("And?", "So.", [passage(1, "b")])
    assert cached(second) == {"L1"}
    third = chat.ask("Then?", "Yes.")
    assert cached(third) == {"L1", "L4"}
    assert not prefix(second).changed
    assert not prefix(third).changed


def test_dropping_turns_changes_the_beginning_with_that_reason():
    chat = Chat(threshold=4_000)
    prepared = chat.ask("Question 0", "word " * 60)
    while not prepared.report.dropped:
        prepared = chat.ask(f"Question {len(chat.path)}", f"{len(chat.path)} word " * 60)
    assert prefix(prepared).changed
    gone = prepared.report.dropped[0].turns
    assert prefix(prepared).reasons == (f"{gone} turns were dropped",)
    assert cached(prepared) == {"L1"}
    assert not prefix(chat.ask("More")).changed


def test_one_dropped_turn_is_told_in_the_singular():
    chat = Chat(threshold=4_000)
    chat.ask("First", "x" * 6_000)
    chat.ask("Second", "y" * 3_000)
    assert prefix(chat.ask("Third")).reasons == ("a turn was dropped",)


def test_identical_turns_that_leave_are_told_of_too():
    chat = Chat(threshold=4_000)
    prepared = chat.ask("Same", "word " * 60)
    while not prepared.report.dropped:
        prepared = chat.ask("Same", "word " * 60)
    assert prefix(prepared).reasons == (f"{prepared.report.dropped[0].turns} turns were dropped",)


def test_turns_that_left_for_one_request_come_back_with_a_reason():
    chat = Chat(threshold=8_000)
    for number in range(8):
        chat.ask(f"Question {number}", f"{number} word " * 150)
    large = chat.ask("x" * 14_000, "Yes.")
    assert [left_out.reason for left_out in large.report.dropped] == ["tail"]
    chat.path = chat.path[:-2]
    assert prefix(chat.ask("Small again")).reasons == ("earlier turns came back",)


def test_other_instructions_change_the_beginning():
    chat = Chat()
    chat.ask("Why?")
    chat.system = "You are someone else."
    second = chat.ask("And?")
    assert prefix(second).reasons == ("the instructions changed",)
    assert prefix(second).tokens_reused == 0


def test_other_tools_change_everything_behind_them():
    chat = Chat()
    chat.ask("Why?")
    second = chat.prepare(replace(chat.inputs("And?"), tools=(TOOL,)))
    assert prefix(second).reasons == ("the tools changed",)
    assert prefix(second).tokens_reused == 0
    chat.previous = second.request_body()
    third = chat.prepare(replace(chat.inputs("Then?"), tools=(TOOL,)))
    assert not prefix(third).changed
    assert "T" in cached(third)


def test_all_reasons_are_named_not_the_first_alone():
    chat = Chat(threshold=50_000)
    chat.ask("Why?", "Because. " * 100)
    chat.ask("And?", "So.")
    first = chat.path[0]
    patch = [{"op": "message_hide", "scope": "cached", "entryId": first.id, **BECAUSE}]
    chat.path.append(TransformEntry("x1", chat.path[-1].id, TIME, "mine", patch))
    chat.system = "Other instructions."
    inputs = replace(chat.inputs("Then?"), tools=(TOOL,))
    reasons = chat.prepare(inputs, mode="preview").report.prefix.reasons
    assert reasons == ("the tools changed", "the instructions changed", "it was in the way")


def test_a_trim_and_other_instructions_are_both_reasons():
    chat = Chat(threshold=6_000, history_policy=HistoryPolicy(auto_compact=False, keep_last=1))
    while not (prepared := chat.ask("Why? " * 20, "Because. " * 40)).report.actions.trim:
        chat.system += "!"
    reasons = prefix(prepared).reasons
    assert reasons == ("the instructions changed", "old results and words were trimmed")


def full(**fields):
    """A chat whose requests leave something out, or shorten it, from now on."""
    chat = Chat(threshold=6_000, **fields)
    while not (chat.drops or chat.trims):
        chat.ask(f"{len(chat.path)} Why? " * 20, f"{len(chat.path)} Because. " * 40)
    return chat


@pytest.mark.parametrize("history_policy", [None, HistoryPolicy(auto_compact=False, keep_last=1)])
def test_a_raised_threshold_is_the_reason_that_turns_and_trimmed_words_come_back(history_policy):
    chat = full(history_policy=history_policy)
    chat.threshold = 20_000
    assert prefix(chat.ask("And now?", "So.")).reasons == ("the threshold was raised",)
    assert prefix(chat.ask("And then?", "So.")).reasons == ()


def test_another_model_is_the_reason_that_turns_come_back():
    chat = full()
    chat.model, chat.threshold = "test/another", 8_000
    assert prefix(chat.ask("And now?", "So.")).reasons == ("another model answers",)


def test_a_history_that_was_edited_is_a_reason():
    chat = Chat(threshold=50_000)
    chat.ask("One", "1")
    chat.ask("Two", "2")
    chat.path[0] = replace(chat.path[0], message=Message("user", "Edited"))
    assert prefix(chat.ask("Three")).reasons == ("the history was changed",)


def test_a_shortened_answer_is_a_reason_and_so_is_its_return():
    before = Chat(threshold=50_000)
    before.ask("One", "This is a sentence. " * 500)
    before.ask("Two")
    chat = Chat(threshold=4_000, path=before.path[:2], previous=before.previous)
    shortened = chat.prepare(chat.inputs("Three"))
    assert prefix(shortened).reasons == ("an answer was shortened",)
    body = shortened.request_body()
    chat.threshold, chat.previous = 50_000, body
    assert prefix(chat.preview("Five")).reasons == ("a shortened answer came back whole",)


def test_every_change_has_a_reason_also_with_a_body_of_another_shape():
    prepared = Chat().ask("Why?")
    draft = RequestDraft(
        make_preamble(System((SystemPart("base", "x"),)), (), Chat().counter),
        TurnList.of(),
        Tail((), Message("user", "Why?"), Chat().counter),
    )
    for body in ({}, {"messages": "none"}, {"messages": ["x", {"role": "user"}]}):
        found = compare_requests(draft, body).prefix
        assert found.changed == bool(found.reasons)
    assert prefix(prepared).hash


def test_context_that_is_shortened_or_whole_again_within_a_turn_is_named_as_what_it_is():
    counter = Chat().counter
    note = replace(passage(1, "Many words of a note."), layer=Layer.L3)
    short = replace(note, content="Many ...")
    same_turn = PreviousQuestion("Why?", is_same_turn=True)

    def draft(*segments, tools=()):
        start = make_preamble(System((SystemPart("base", "x"),)), tools, counter)
        return RequestDraft(start, TurnList.of(), Tail(segments, Message("user", "Why?"), counter))

    def reasons(before, now):
        named = {
            compare_requests(now, each, same_turn).prefix.reasons for each in (before, body(before))
        }
        assert len(named) == 1
        return named.pop()

    shortened, restored = "the context of this turn was shortened", "came back whole"
    assert reasons(draft(note), draft(short)) == (shortened,)
    assert reasons(draft(short), draft(note)) == (f"shortened context of this turn {restored}",)
    assert reasons(draft(), draft(tools=(TOOL,))) == ("the tools changed",)
    assert reasons(draft(tools=(TOOL,)), draft()) == ("the tools changed",)
    assert reasons(draft(note, tools=(TOOL,)), draft(short)) == ("the tools changed", shortened)


def body(draft):
    return {
        "tools": [tool.to_dict() for tool in draft.preamble.tools],
        "system": draft.preamble.system.compiled,
        "messages": [make_message_body(message) for message in draft.messages],
    }


def test_the_hash_is_of_tools_instructions_and_history_only():
    chat = Chat(threshold=50_000)
    chat.ask("Why?", "Because.")
    first, second = chat.preview("One"), chat.preview("Two")
    assert prefix(first).hash == prefix(second).hash
    chat.system = "Other."
    assert prefix(chat.preview("One")).hash != prefix(first).hash
