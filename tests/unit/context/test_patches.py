import pytest

from context.envelope import ContextEnvelope
from context.errors import ContextError
from context.patches import ContextPatchError, PatchResult, apply_patch

DATA = {
    "system": {
        "parts": [{"name": "base", "text": "Be "}, {"name": "policy", "text": "kind."}],
        "compiled": "Be kind.",
    },
    "tools": [
        {"name": "search", "description": "", "parameters": {}},
        {"name": "read", "description": "", "parameters": {}},
    ],
    "messages": {
        "cached": [
            {"role": "user", "content": "one", "id": "e1"},
            {"role": "assistant", "content": "two", "id": "e2"},
            {"role": "user", "content": "three", "id": "e3"},
        ],
        "uncached": [],
    },
    "options": {"temperature": 0.2},
}
ENVELOPE = ContextEnvelope.from_dict(DATA)
OPS = {
    "system_part_set": {"partName": "policy", "text": "strict."},
    "system_part_remove": {"partName": "policy"},
    "system_parts_replace": {"parts": [{"name": "new", "text": "N"}]},
    "tools_replace": {"tools": [{"name": "t", "description": "", "parameters": {}}]},
    "tools_remove": {"toolNames": ["search"]},
    "messages_cached_replace": {"messages": [{"role": "user", "content": "x"}]},
    "options_set": {"temperature": 1},
    "message_replace": {"entryId": "e2", "parts": [{"type": "text", "text": "2"}]},
    "message_hide": {"entryId": "e2"},
    "compaction_apply": {
        "summary": "All before.",
        "timestamp": "2026-01-01T00:00:00Z",
        "firstKeptEntryId": "e3",
        "tokensBefore": 100,
    },
}


def cached(name, reason="because", **fields):
    return {
        "op": name,
        "scope": "cached",
        "invalidateCacheReason": reason,
        **(fields or OPS[name]),
    }


def append(*texts):
    messages = [{"role": "user", "content": text} for text in texts]
    return {"op": "messages_uncached_append", "scope": "uncached", "messages": messages}


def applied(*ops, **options):
    return apply_patch(ENVELOPE, ops, **options).envelope.to_dict()


def ids(data, which="cached"):
    return [message.get("id") for message in data["messages"][which]]


def test_no_operations_change_nothing():
    result = apply_patch(ENVELOPE, [])
    assert result == PatchResult(ENVELOPE, False, [])


@pytest.mark.parametrize("name", OPS)
def test_patching_leaves_the_envelope_as_it_was(name):
    assert applied(cached(name)) != DATA
    assert ENVELOPE.to_dict() == DATA


def test_a_system_part_is_replaced_in_place():
    fields = {"partName": "base", "text": "Stay "}
    assert applied(cached("system_part_set", **fields))["system"] == {
        "parts": [{"name": "base", "text": "Stay "}, {"name": "policy", "text": "kind."}],
        "compiled": "Stay kind.",
    }


def test_a_new_system_part_is_appended():
    fields = {"partName": "more", "text": " Always."}
    system = applied(cached("system_part_set", **fields))["system"]
    assert system["compiled"] == "Be kind. Always."


def test_a_system_part_is_removed():
    assert applied(cached("system_part_remove"))["system"]["compiled"] == "Be "


@pytest.mark.parametrize(
    "op",
    [
        cached("system_part_remove", partName="gone"),
        cached("tools_remove", toolNames=["gone"]),
    ],
    ids=lambda op: op["op"],
)
def test_removing_what_is_not_there_does_nothing_but_invalidates(op):
    result = apply_patch(ENVELOPE, [op])
    assert result.envelope == ENVELOPE
    assert result.cache_invalidated
    assert result.reasons == ["because"]


def test_all_system_parts_are_replaced():
    system = applied(cached("system_parts_replace"))["system"]
    assert system == {"parts": [{"name": "new", "text": "N"}], "compiled": "N"}


def test_tools_are_replaced_and_removed():
    assert [tool["name"] for tool in applied(cached("tools_replace"))["tools"]] == ["t"]
    assert [tool["name"] for tool in applied(cached("tools_remove"))["tools"]] == ["read"]


def test_what_a_patch_brings_in_is_named_after_its_entry():
    replaced = cached(
        "messages_cached_replace",
        messages=[*DATA["messages"]["cached"], {"role": "user", "content": "marker"}],
    )
    data = applied(replaced, append("a", "b"), phase="ephemeral", entry_id="e9")
    assert ids(data) == ["e1", "e2", "e3", "e9:3"]
    assert ids(data, "uncached") == ["e9:4", "e9:5"]


def test_the_first_message_brought_in_is_number_zero():
    assert ids(applied(cached("messages_cached_replace"), entry_id="e9")) == ["e9:0"]


def test_without_an_entry_nothing_is_named():
    assert ids(applied(cached("messages_cached_replace"))) == [None]


def test_uncached_messages_are_appended_in_order():
    data = applied(append("a"), append("b", "c"), phase="ephemeral")
    assert [m["content"] for m in data["messages"]["uncached"]] == ["a", "b", "c"]
    assert data["messages"]["cached"] == DATA["messages"]["cached"]


def test_only_the_options_given_are_set():
    fields = {"reasoning": "high", "maxTokens": 5, "other": 1}
    data = applied(cached("options_set", **fields))
    assert data["options"] == {"temperature": 0.2, "reasoning": "high", "maxTokens": 5}


def test_an_option_can_be_set_to_nothing():
    assert applied(cached("options_set", temperature=None))["options"] == {"temperature": None}


def test_a_message_is_replaced_by_its_entry():
    data = applied(cached("message_replace"))
    assert data["messages"]["cached"][1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "2"}],
        "id": "e2",
    }


def test_a_message_is_hidden_by_its_entry():
    assert ids(applied(cached("message_hide"))) == ["e1", "e3"]


def test_compaction_puts_a_summary_before_what_is_kept():
    data = applied(cached("compaction_apply"), entry_id="e9")
    assert data["messages"]["cached"] == [
        {"role": "user", "content": "All before.", "id": "e9"},
        {"role": "user", "content": "three", "id": "e3"},
    ]


@pytest.mark.parametrize(("index", "kept"), [(0, ["e1", "e2", "e3"]), (2, ["e3"]), (3, [])])
def test_compaction_keeps_from_an_index_on(index, kept):
    data = applied(cached("compaction_apply", summary="S", firstKeptMessageIndex=index))
    assert ids(data) == [None, *kept]


def test_the_timestamp_and_tokens_of_a_compaction_are_not_rendered():
    with_both = applied(cached("compaction_apply"))
    without = applied(cached("compaction_apply", summary="All before.", firstKeptEntryId="e3"))
    assert with_both == without


def test_later_operations_see_what_earlier_ones_did():
    data = applied(cached("messages_cached_replace"), cached("message_hide", entryId="e9:0"),
                   entry_id="e9")  # fmt: skip
    assert ids(data) == []


def test_reasons_are_unique_and_in_order():
    result = apply_patch(
        ENVELOPE,
        [
            cached("message_hide", "second", entryId="e1"),
            append("x"),
            cached("tools_remove", "first"),
            cached("options_set", "second"),
        ],
        phase="ephemeral",
    )
    assert result.reasons == ["second", "first"]
    assert result.cache_invalidated


def test_only_uncached_operations_do_not_invalidate():
    result = apply_patch(ENVELOPE, [append("x")], phase="ephemeral")
    assert not result.cache_invalidated
    assert result.reasons == []


@pytest.mark.parametrize("reason", [None, "", "  \n", 3])
@pytest.mark.parametrize("phase", ["before_request", "turn_end", "ephemeral"])
@pytest.mark.parametrize("name", OPS)
def test_a_cached_operation_needs_a_reason(name, phase, reason):
    with pytest.raises(ContextPatchError) as caught:
        apply_patch(ENVELOPE, [cached(name, reason)], phase=phase)
    assert str(caught.value) == (
        f'Context patch op "{name}" modifies cached content '
        "but did not provide invalidateCacheReason"
    )


def test_a_reason_may_not_be_missing():
    op = {"op": "options_set", "scope": "cached"}
    with pytest.raises(ContextPatchError, match="did not provide invalidateCacheReason"):
        apply_patch(ENVELOPE, [op])


@pytest.mark.parametrize("phase", ["before_request", "turn_end"])
def test_a_persisted_patch_holds_only_cached_operations(phase):
    with pytest.raises(ContextPatchError) as caught:
        apply_patch(ENVELOPE, [append("x")], phase=phase, transformer_name="marker")
    assert str(caught.value) == (
        f'context({phase}) persisted patch from "marker" '
        'contained non-cached op "messages_uncached_append"'
    )


def test_patches_are_persisted_unless_they_say_otherwise():
    with pytest.raises(ContextPatchError, match=r"^context\(before_request\) persisted patch"):
        apply_patch(ENVELOPE, [append("x")])


@pytest.mark.parametrize("op", [{}, {"op": "erase"}, {"op": None}, {"op": ["x"]}])
def test_an_unknown_operation_is_refused(op):
    with pytest.raises(ContextPatchError, match="Unknown context patch op"):
        apply_patch(ENVELOPE, [{**op, "scope": "cached", "invalidateCacheReason": "r"}])


@pytest.mark.parametrize("scope", [None, "uncached", "both", ["cached"]])
@pytest.mark.parametrize("name", OPS)
def test_a_scope_that_is_missing_or_does_not_fit_is_refused(name, scope):
    op = {**cached(name), "scope": scope}
    with pytest.raises(ContextPatchError, match="scope"):
        apply_patch(ENVELOPE, [op], phase="ephemeral")


def test_appending_to_the_cached_part_is_refused():
    with pytest.raises(ContextPatchError, match="scope"):
        apply_patch(ENVELOPE, [{**append("x"), "scope": "cached"}], phase="ephemeral")


@pytest.mark.parametrize(
    "op",
    [
        cached("message_hide", entryId="gone"),
        cached("message_replace", entryId="gone", parts=[]),
        cached("compaction_apply", summary="S", firstKeptEntryId="gone"),
    ],
    ids=lambda op: op["op"],
)
def test_an_unknown_entry_is_refused(op):
    with pytest.raises(ContextPatchError, match='unknown entry "gone"'):
        apply_patch(ENVELOPE, [op])


@pytest.mark.parametrize(
    "op",
    [
        cached("system_part_set", partName="x"),
        cached("system_part_remove", partName=3),
        cached("system_parts_replace", parts=[{"name": "x"}]),
        cached("tools_replace", tools="all"),
        cached("tools_remove", toolNames="search"),
        cached("messages_cached_replace", messages=["x"]),
        cached("messages_cached_replace", messages=[{"role": "robot", "content": "x"}]),
        cached("options_set", temperature="hot"),
        cached("options_set", temperature=float("nan")),
        cached("options_set", maxTokens=0),
        cached("options_set", maxTokens=True),
        cached("options_set", maxTokens=10.5),
        cached("options_set", reasoning={"low"}),
        cached("options_set", reasoning={1: "low"}),
        cached("message_replace", entryId="e1", parts=[{"type": "video"}]),
        cached("compaction_apply", summary="S"),
        cached("compaction_apply", summary="S", firstKeptMessageIndex=4),
        cached("compaction_apply", summary="S", firstKeptMessageIndex=-1),
        cached("compaction_apply", firstKeptMessageIndex=1),
    ],
    ids=lambda op: op["op"],
)
def test_an_operation_with_unusable_fields_is_refused(op):
    with pytest.raises(ContextPatchError, match=f'"{op["op"]}"'):
        apply_patch(ENVELOPE, [op])


@pytest.mark.parametrize("op", ["options_set", None, ["options_set"]])
def test_an_operation_that_is_not_an_object_is_refused(op):
    with pytest.raises(ContextPatchError, match="JSON object"):
        apply_patch(ENVELOPE, [op])


def test_all_operations_are_checked_before_any_is_applied():
    ops = [cached("message_hide", entryId="gone"), {"op": "erase"}]
    with pytest.raises(ContextPatchError, match="erase"):
        apply_patch(ENVELOPE, ops)


def test_a_patch_error_is_a_value_error_of_this_package():
    assert issubclass(ContextPatchError, ValueError)
    assert issubclass(ContextPatchError, ContextError)
