import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.messages import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
)
from context.trimming import (
    ContextTrimmer,
    bytes_to_tokens,
    dedup_tool_results,
    estimate_tokens,
    estimate_tool_overhead,
    merge_consecutive_same_role,
    remove_xml_tag,
)

KEY = "trimmed_up_to_message_index"


def user(text="question"):
    return Message("user", text)


def assistant(text="x" * 350):
    return Message("assistant", text)


def chat(pairs, size=350):
    return [message for _ in range(pairs) for message in (user(), assistant("x" * size))]


def trimmed_at(messages):
    return [at for at, message in enumerate(messages) if message.content == "[trimmed]"]


@pytest.mark.parametrize(("size", "tokens"), [(0, 0), (1, 1), (3, 1), (4, 2), (7, 2), (8, 3)])
def test_bytes_over_three_and_a_half_rounded_up(size, tokens):
    assert bytes_to_tokens(size) == tokens


def test_a_string_costs_its_bytes_and_eight():
    assert estimate_tokens([user("x" * 35)]) == math.ceil((10 + 8) * 1.05)


def test_lengths_are_utf8_bytes():
    assert estimate_tokens([user("東京都")]) == math.ceil((bytes_to_tokens(9) + 8) * 1.05)


def test_each_kind_of_part_has_its_cost_and_three():
    def cost(part):
        return estimate_tokens([Message("assistant", (part,))])

    assert cost(TextPart("x" * 35)) == math.ceil((10 + 3 + 8) * 1.05)
    assert cost(ReasoningPart("x" * 35)) == math.ceil((10 + 3 + 8) * 1.05)
    assert cost(ImagePart("image/png", "x" * 999)) == math.ceil((2_000 + 3 + 8) * 1.05)
    assert cost(ToolResultPart("c", "x" * 40)) == math.ceil((20 + 3 + 8) * 1.05)
    call = ToolCallPart("c", "name", {"é": [1, "b c"]})
    size = len("name") + len('{"é":[1,"b c"]}'.encode()) + 30
    assert cost(call) == math.ceil((bytes_to_tokens(size) + 3 + 8) * 1.05)


def test_the_five_percent_are_taken_once_on_the_sum():
    messages = [user("x") for _ in range(10)]
    assert estimate_tokens(messages) == math.ceil(10 * 9 * 1.05) == 95
    assert sum(estimate_tokens([message]) for message in messages) == 100


def test_no_messages_cost_nothing():
    assert estimate_tokens([]) == 0


def test_a_tool_costs_its_bytes_and_a_fifth_rounded_up_first():
    tool = ToolDefinition("abc", "défg", {"type": "object"})
    size = 3 + 5 + len('{"type":"object"}')
    assert estimate_tool_overhead([tool]) == bytes_to_tokens(math.ceil(size * 1.2)) + 8
    assert estimate_tool_overhead([tool, tool]) == 2 * estimate_tool_overhead([tool])


def test_tools_get_no_five_percent_and_no_tools_cost_nothing():
    tool = ToolDefinition("x" * 3_500, "", {})
    assert estimate_tool_overhead([tool]) == bytes_to_tokens(math.ceil(3_502 * 1.2)) + 8
    assert estimate_tool_overhead(None) == estimate_tool_overhead([]) == 0


def test_neighbours_of_the_same_role_become_one_message_of_parts():
    merged = merge_consecutive_same_role(
        [
            Message("user", "a", "1"),
            Message("user", (TextPart("b"), ImagePart("image/png", "x")), "2"),
            Message("assistant", "c", "3"),
        ]
    )
    assert merged == [
        Message("user", (TextPart("a"), TextPart("b"), ImagePart("image/png", "x")), "1"),
        Message("assistant", "c", "3"),
    ]


def test_an_empty_string_drops_out_on_merging():
    assert merge_consecutive_same_role([user("a"), user("")]) == [Message("user", (TextPart("a"),))]
    assert merge_consecutive_same_role([user(""), user("")]) == [Message("user", ())]


def test_unmerged_messages_keep_their_string():
    messages = [user(""), assistant("b"), user("c")]
    assert merge_consecutive_same_role(messages) == messages


def test_the_merged_message_keeps_the_first_id_also_where_it_has_none():
    merged = merge_consecutive_same_role([Message("user", "a"), Message("user", "b", "2")])
    assert merged[0].id is None


def test_the_last_of_several_results_for_a_call_is_kept():
    message = Message(
        "tool",
        (
            ToolResultPart("c1", "old"),
            ToolResultPart("c2", "other"),
            ToolResultPart("c1", "new"),
        ),
    )
    assert dedup_tool_results([message]) == [
        Message("tool", (ToolResultPart("c2", "other"), ToolResultPart("c1", "new")))
    ]


def test_results_are_deduplicated_within_a_message_and_in_tool_messages_only():
    first = Message("tool", (ToolResultPart("c1", "a"),))
    second = Message("tool", (ToolResultPart("c1", "b"),))
    other = Message("user", (ToolResultPart("c1", "a"), ToolResultPart("c1", "b")))
    text = Message("tool", "plain")
    messages = [first, second, other, text]
    assert dedup_tool_results(messages) == messages


def test_every_element_of_the_name_goes_with_what_is_in_it():
    text = "a<t>1</t>b<t>\n2\n</t>c<tt>3</tt><t>4"
    assert remove_xml_tag("t", text) == "abc<tt>3</tt><t>4"


def test_a_tag_name_is_not_a_pattern():
    assert remove_xml_tag("a.b", "<axb>1</axb><a.b>2</a.b>") == "<axb>1</axb>"


@pytest.mark.timeout(20)
def test_removing_tags_that_never_close_takes_linear_time():
    text = "<checkpoint_id>" * 200_000
    assert remove_xml_tag("checkpoint_id", text) == text


def test_checkpoints_go_from_strings_and_text_parts_and_blanks_stay():
    tag = "<checkpoint_id>abc</checkpoint_id>"
    messages = [
        user(f"a {tag} b\n{tag}\n"),
        Message("assistant", (TextPart(f" {tag} "), ReasoningPart(tag))),
    ]
    assert ContextTrimmer().reduce_context(messages) == [
        user("a  b\n\n"),
        Message("assistant", (TextPart("  "), ReasoningPart(tag))),
    ]


def test_reducing_cleans_then_merges_then_deduplicates():
    messages = [
        Message("tool", (ToolResultPart("c1", "old"),), "1"),
        Message("tool", (ToolResultPart("c1", "new"),), "2"),
        user("<checkpoint_id>x</checkpoint_id>"),
        user("a"),
    ]
    assert ContextTrimmer().reduce_context(messages) == [
        Message("tool", (ToolResultPart("c1", "new"),), "1"),
        Message("user", (TextPart("a"),)),
    ]


def test_under_the_threshold_metadata_comes_back_as_it_was():
    metadata = {"other": [1]}
    messages, returned = ContextTrimmer().reduce_context_with_budget(chat(2), 10_000, metadata)
    assert messages == chat(2)
    assert returned is metadata
    assert ContextTrimmer().reduce_context_with_budget(chat(2), 10_000)[1] is None


def test_at_the_threshold_is_under_it():
    messages = chat(2)
    used = estimate_tokens(messages)
    trimmer = ContextTrimmer(1, context_budget_threshold=1.0)
    assert trimmer.reduce_context_with_budget(messages, used)[1] is None
    assert trimmer.reduce_context_with_budget(messages, used - 1)[1] == {KEY: 3}


def test_the_threshold_is_rounded_down():
    messages = chat(1)
    used = estimate_tokens(messages)
    assert ContextTrimmer(0).reduce_context_with_budget(messages, math.ceil(used / 0.8))[1] is None
    just_under = int(used / 0.8) - 1
    assert ContextTrimmer(0).reduce_context_with_budget(messages, just_under)[1] == {KEY: 2}


def test_tools_count_towards_the_threshold():
    messages = chat(2)
    tools = [ToolDefinition("n", "d" * 70, {})]
    used = estimate_tokens(messages)
    trimmer = ContextTrimmer(1, context_budget_threshold=1.0)
    assert trimmer.reduce_context_with_budget(messages, used, tools=tools)[1] == {KEY: 3}
    enough = used + estimate_tool_overhead(tools)
    assert trimmer.reduce_context_with_budget(messages, enough, tools=tools)[1] is None


def test_when_over_everything_up_to_the_kept_messages_is_trimmed_at_once():
    messages, metadata = ContextTrimmer(2).reduce_context_with_budget(chat(10), 1_200)
    assert metadata == {KEY: 17}
    assert trimmed_at(messages) == list(range(1, 16, 2))


def test_the_boundary_stands_at_the_first_kept_assistant_message():
    messages = [*chat(3), user("last")]
    reduced, metadata = ContextTrimmer(1).reduce_context_with_budget(messages, 400)
    assert metadata == {KEY: 5}
    assert trimmed_at(reduced) == [1, 3]


def test_beyond_the_boundary_one_message_at_a_time_until_it_fits():
    messages, metadata = ContextTrimmer(50).reduce_context_with_budget(chat(10), 1_200)
    assert estimate_tokens(messages) <= 960
    assert metadata == {KEY: 6}
    assert trimmed_at(messages) == [1, 3, 5]
    assert estimate_tokens([*messages[:4], *chat(1), *messages[6:]]) > 960


def test_the_budget_goes_before_the_kept_messages():
    messages, metadata = ContextTrimmer(5).reduce_context_with_budget(chat(10), 500)
    assert metadata[KEY] > 11
    assert estimate_tokens(messages) <= 400 or trimmed_at(messages) == list(range(1, 20, 2))


def test_when_nothing_is_left_to_trim_the_index_stops_behind_the_last_trimmed():
    messages = [*chat(2), user("y" * 5_000)]
    reduced, metadata = ContextTrimmer().reduce_context_with_budget(messages, 100)
    assert metadata == {KEY: 4}
    assert reduced[4] == messages[4]


def test_keeping_none_trims_all_at_once():
    messages, metadata = ContextTrimmer(0).reduce_context_with_budget(chat(10), 1_200)
    assert metadata == {KEY: 20}
    assert trimmed_at(messages) == list(range(1, 20, 2))


def test_too_few_assistant_messages_to_keep_trim_nothing_at_once():
    _, metadata = ContextTrimmer(11).reduce_context_with_budget(chat(10), 1_300)
    assert 0 < metadata[KEY] < 20


def test_an_earlier_boundary_is_applied_again_and_frozen_while_under():
    messages, metadata = ContextTrimmer().reduce_context_with_budget(chat(10), 10**6, {KEY: 7})
    assert metadata == {KEY: 7}
    assert trimmed_at(messages) == [1, 3, 5]


def test_an_earlier_boundary_never_goes_back():
    messages, metadata = ContextTrimmer().reduce_context_with_budget(chat(2), 10**6, {KEY: 99})
    assert metadata == {KEY: 99}
    assert trimmed_at(messages) == [1, 3]
    _, metadata = ContextTrimmer().reduce_context_with_budget(chat(2), 10, {KEY: 99})
    assert metadata == {KEY: 99}


def test_trimming_goes_on_from_the_earlier_boundary():
    messages, metadata = ContextTrimmer().reduce_context_with_budget(chat(10), 1_000, {KEY: 2})
    assert trimmed_at(messages) == [1, 3, 5, 7, 9]
    assert metadata == {KEY: 10}


@pytest.mark.parametrize("stored", [None, -1, "3", 2.5, True, [1]])
def test_a_stored_index_that_is_no_whole_number_counts_as_none(stored):
    metadata = {KEY: stored, "other": 1}
    messages, returned = ContextTrimmer().reduce_context_with_budget(chat(2), 10_000, metadata)
    assert returned is metadata
    assert trimmed_at(messages) == []


def test_other_metadata_is_kept_and_the_given_one_is_not_changed():
    metadata = {"other": {"deep": 1}, KEY: 1}
    _, returned = ContextTrimmer(0).reduce_context_with_budget(chat(4), 100, metadata)
    assert returned == {"other": {"deep": 1}, KEY: 8}
    assert metadata == {"other": {"deep": 1}, KEY: 1}


def test_indices_are_those_of_the_merged_list():
    messages = [user("a"), user("b"), assistant("x" * 700), user("c")]
    _, metadata = ContextTrimmer(0).reduce_context_with_budget(messages, 100)
    assert metadata == {KEY: 3}


def test_calls_and_images_keep_their_shape():
    call, image = ToolCallPart("c", "n", {"a": "x" * 99}), ImagePart("image/png", "x")
    parts = (TextPart("long"), ReasoningPart("thought"), call, image)
    result = ToolResultPart("c", "y" * 999, is_error=True)
    messages = [user(), Message("assistant", parts, "a"), Message("tool", (result,), "t")]
    reduced, _ = ContextTrimmer(0).reduce_context_with_budget(messages, 10)
    assert reduced[1:] == [
        Message("assistant", (TextPart("[trimmed]"), ReasoningPart("[trimmed]"), call, image), "a"),
        Message("tool", (ToolResultPart("c", "[trimmed]", is_error=True),), "t"),
    ]


ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
MESSAGES = st.lists(
    st.builds(Message, ROLES, st.sampled_from(["", "short", "x" * 400, "東" * 200])), max_size=20
)


@given(MESSAGES, st.integers(0, 3_000), st.integers(0, 6), st.none() | st.integers(0, 25))
@settings(deadline=None)
def test_trimming_holds_its_promises(messages, window, keep, stored):
    metadata = None if stored is None else {KEY: stored}
    trimmer = ContextTrimmer(keep)
    reduced, after = trimmer.reduce_context_with_budget(messages, window, metadata)
    plain = trimmer.reduce_context(messages)
    end = (after or {}).get(KEY, 0)
    assert len(reduced) == len(plain)
    assert end >= (stored or 0)
    for at, (before, now) in enumerate(zip(plain, reduced, strict=True)):
        assert now.role == before.role
        if at >= end or before.role in ("user", "system"):
            assert now == before
    over = estimate_tokens(reduced) > int(window * 0.8)
    trimmable = [at for at, m in enumerate(plain) if m.role in ("assistant", "tool")]
    assert not over or all(at < end for at in trimmable)
    again, unchanged = trimmer.reduce_context_with_budget(messages, window, after)
    assert (again, unchanged) == (reduced, after)
