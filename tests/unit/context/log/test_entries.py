import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.errors import MalformedEntry
from context.log.entries import (
    ENTRY_TYPES,
    CustomMessageEntry,
    MessageEntry,
    OtherEntry,
    TransformEntry,
    is_path_entry,
    is_unknown_schema,
    parse_entry,
)
from context.log.parse import SessionHeader
from context.messages import Message
from tests.support.sessions.chats import TIME, passage

HEAD = {"id": "0000000b", "parentId": "0000000a", "timestamp": TIME}
ENTRIES = [
    {"type": "message", **HEAD, "role": "user", "content": "Why?", "turnId": "t1"},
    {
        "type": "message",
        **HEAD,
        "role": "assistant",
        "content": "Because.",
        "turnId": "t1",
        "model": "extractive",
        "usage": {"prompt_tokens": 5},
        "status": "complete",
    },
    {"type": "segments", **HEAD, "turnId": "t1", "segments": [passage(1, "<a>").to_dict()]},
    {
        "type": "drop",
        **HEAD,
        "upToEntryId": "00000009",
        "tokensBefore": 90,
        "tokensAfter": 60,
        "reason": "room",
        "budget": 100,
    },
    {
        "type": "usage",
        **HEAD,
        "turnId": "t1",
        "request": 1,
        "model": "m",
        "estimated": 10,
        "promptTokens": 11,
        "completionTokens": 3,
        "cachedTokens": 0,
        "factor": 1.1,
    },
    {"type": "pin", **HEAD, "target": "x", "on": True},
    {"type": "leaf", **HEAD, "target": "0000000a"},
    {"type": "from the future", **HEAD, "deep": {"list": [1, {"a": None}]}},
    {
        "type": "context_transform",
        **HEAD,
        "schemaVersion": 1,
        "transformerName": "redact",
        "patch": [{"op": "tools_remove", "scope": "cached", "toolNames": ["a"], "x": [1, {}]}],
        "display": {"title": "Redaction", "rendererProps": {"deep": [None]}},
    },
    {
        "type": "trim",
        **HEAD,
        "upToEntryId": "00000009",
        "tokensBefore": 90,
        "tokensAfter": 60,
        "reason": "trim",
    },
    {"type": "memory_update", **HEAD, "scratchpad": "note", "facts": ["a", "b"]},
    {"type": "memory_update", **HEAD, "progress": {"currentObjective": "x"}},
    {
        "type": "custom_message",
        **HEAD,
        "customType": "greeting",
        "content": [{"type": "text", "text": "Hello"}],
        "display": True,
    },
    {"type": "custom_message", **HEAD, "customType": "greeting", "content": "Hello"},
    {"type": "ephemeral", **HEAD, "messages": [{"role": "user", "content": "[once]"}]},
    {"type": "model_change", **HEAD, "model": "openai/x"},
    {"type": "options_change", **HEAD, "options": {"autoCompactThreshold": 9_000}},
    {"type": "label", **HEAD, "target": "0000000a", "label": "good"},
    {"type": "label", **HEAD, "target": "0000000a", "label": None},
    {"type": "branch_summary", **HEAD, "fromId": "0000000a", "summary": "Tried a."},
    {"type": "custom", **HEAD, "customType": "mine", "data": {"a": [1]}},
    {
        "type": "usage",
        **HEAD,
        "turnId": "",
        "request": 0,
        "model": "m",
        "estimated": 10,
        "promptTokens": 11,
        "completionTokens": 3,
        "cachedTokens": 0,
        "factor": 1.1,
        "purpose": "summary",
    },
    {"type": "context_transform", **HEAD, "schemaVersion": 2, "patch": {"of": "another kind"}},
]


@pytest.mark.parametrize("data", ENTRIES, ids=lambda data: data["type"])
def test_an_entry_is_written_as_it_was_read(data):
    entry = parse_entry(data)
    assert entry.to_dict() == data
    assert parse_entry(entry.to_dict()) == entry


def test_every_entry_type_is_among_these_examples():
    assert {data["type"] for data in ENTRIES} >= ENTRY_TYPES.keys()


KNOWN = [data for data in ENTRIES[:-1] if data["type"] in ENTRY_TYPES]


@pytest.mark.parametrize("data", KNOWN, ids=lambda data: data["type"])
def test_the_keys_of_an_entry_keep_their_order(data):
    assert list(parse_entry(data).to_dict()) == list(data)


@pytest.mark.parametrize("data", KNOWN, ids=lambda data: data["type"])
def test_every_field_of_a_class_is_in_its_row(data):
    entry = parse_entry(data)
    place = {"id", "parent_id", "timestamp", "extra"}
    fields = [field.name for field in dataclasses.fields(entry) if field.name not in place]
    assert [name for name, _, _ in ENTRY_TYPES[entry.type].fields] == fields


@pytest.mark.parametrize("data", ENTRIES, ids=lambda data: data["type"])
def test_keys_that_its_type_does_not_have_are_kept_with_an_entry(data):
    more = {**data, "mode": "vault", "later": {"list": [1, None]}}
    entry = parse_entry(more)
    assert entry.to_dict() == more
    assert parse_entry(entry.to_dict()) == entry != parse_entry(data)


@pytest.mark.parametrize("at", [0, 1], ids=["user", "assistant"])
def test_a_message_with_a_status_of_another_program_is_read_and_written_as_it_is(at):
    data = {**ENTRIES[at], "status": "paused"}
    entry = parse_entry(data)
    assert entry.message.text == data["content"]
    assert entry.to_dict().items() >= data.items()


def test_only_what_nobody_here_knows_is_kept_as_it_is():
    kept = [data["type"] for data in ENTRIES if isinstance(parse_entry(data), OtherEntry)]
    assert kept == ["from the future", "custom", "context_transform"]


def test_a_schema_that_is_not_known_is_told_apart():
    unknown = [data for data in ENTRIES if is_unknown_schema(parse_entry(data))]
    assert unknown == ENTRIES[-1:]


def test_a_transform_without_a_schema_is_of_the_first():
    data = {key: value for key, value in ENTRIES[8].items() if key != "schemaVersion"}
    assert parse_entry(data).to_dict() == ENTRIES[8]


def test_a_custom_message_reads_like_one_of_the_user():
    entry = CustomMessageEntry("b", None, TIME, "x", Message("assistant", "Hello"))
    assert entry.message == Message("user", "Hello", "b")


def test_a_transform_cannot_be_changed_from_outside():
    patch = [{"op": "tools_remove", "toolNames": ["a"]}]
    entry = TransformEntry("b", None, TIME, "x", patch, {"title": "t"})
    patch[0]["toolNames"].append("b")
    entry.to_dict()["patch"][0]["toolNames"].append("c")
    assert entry.to_dict()["patch"] == [{"op": "tools_remove", "toolNames": ["a"]}]


def test_a_message_carries_the_id_of_its_entry():
    entry = MessageEntry("b", "a", TIME, Message("user", "hi", id="other"), "t1")
    assert entry.message.id == "b"


def test_the_path_runs_through_the_entries_that_the_design_names():
    on_path = {
        "message",
        "context_transform",
        "segments",
        "trim",
        "drop",
        "pin",
        "memory_update",
        "custom_message",
    }
    others = {
        "ephemeral",
        "usage",
        "model_change",
        "options_change",
        "label",
        "branch_summary",
        "custom",
        "leaf",
        "from the future",
    }
    for kind in on_path | others:
        assert is_path_entry(OtherEntry("b", None, TIME, kind, {})) == (kind in on_path)


def test_what_is_not_read_is_kept_word_for_word_and_cannot_change():
    data = {"type": "custom", **HEAD, "deep": {"list": [1]}}
    entry = parse_entry(data)
    data["deep"]["list"].append(2)
    entry.to_dict()["deep"]["list"].append(3)
    assert entry.to_dict()["deep"] == {"list": [1]}


@pytest.mark.parametrize("fields", [{"content": {"a": [1]}}, {"a": [1]}])
def test_the_fields_of_a_custom_entry_are_its_content_or_stand_beside_its_type(fields):
    entry = parse_entry({"type": "custom", **HEAD, "customType": "mine", **fields})
    assert isinstance(entry, OtherEntry)
    assert entry.content["a"] == (1,)


def test_a_drop_from_elsewhere_may_lack_a_budget():
    data = {key: value for key, value in ENTRIES[3].items() if key != "budget"}
    assert parse_entry(data).budget is None


def test_usage_cannot_be_changed_from_outside():
    usage = {"prompt_tokens": 5}
    entry = MessageEntry("b", None, TIME, Message("assistant", "x"), "t1", usage=usage)
    usage["prompt_tokens"] = 6
    assert entry.to_dict()["usage"] == {"prompt_tokens": 5}


@pytest.mark.parametrize(
    "change",
    [
        (0, {"role": "robot"}),
        (0, {"content": 3}),
        (0, {"id": None}),
        (0, {"parentId": 3}),
        (1, {"status": 3}),
        (1, {"usage": 3}),
        (2, {"segments": None}),
        (2, {"segments": ["x"]}),
        (3, {"upToEntryId": None}),
        (3, {"tokensBefore": "many"}),
        (3, {"tokensAfter": True}),
        (4, {"factor": "x"}),
        (4, {"request": 1.5}),
        (5, {"type": None}),
        (5, {"on": "yes"}),
        (5, {"target": None}),
        (6, {"target": 3}),
        (8, {"patch": "x"}),
        (8, {"patch": ["x"]}),
        (8, {"display": "x"}),
        (9, {"upToEntryId": 3}),
        (10, {"facts": "one"}),
        (10, {"facts": [1]}),
        (11, {"progress": []}),
        (12, {"content": None}),
        (14, {"messages": [{"role": "robot", "content": ""}]}),
        (16, {"options": None}),
    ],
)
def test_an_entry_with_a_bad_field_is_refused_in_words(change):
    at, fields = change
    with pytest.raises(MalformedEntry, match=r"\.$"):
        parse_entry({**ENTRIES[at], **fields})


def test_a_header_is_written_as_it_was_read():
    data = {
        "type": "session",
        "version": 2,
        "id": "s1",
        "timestamp": TIME,
        "vault": "/notes",
        "project": None,
        "branchedFrom": "s0",
    }
    assert SessionHeader.from_dict(data).to_dict() == data
    plain = {key: value for key, value in data.items() if key != "branchedFrom"}
    assert SessionHeader.from_dict(plain).to_dict() == plain


def test_a_header_without_a_version_is_of_the_first():
    assert SessionHeader.from_dict({"type": "session", "id": "s", "timestamp": TIME}).version == 1


def test_a_log_begins_with_a_header():
    with pytest.raises(MalformedEntry):
        SessionHeader.from_dict(ENTRIES[0])


@given(st.text(), st.text(), st.none() | st.text(min_size=1))
def test_any_text_survives_a_round_trip(content, turn, parent):
    entry = MessageEntry("b", parent, TIME, Message("user", content), turn)
    assert parse_entry(entry.to_dict()) == entry
