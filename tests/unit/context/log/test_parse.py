import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.envelope import ContextEnvelope
from context.log.entries import TransformEntry
from context.log.parse import make_log_lines, read_log
from context.log.tree import EntryTree
from context.patches import apply_patch
from tests.support.sessions.chats import TIME

HEADER = {"type": "session", "version": 2, "id": "s", "timestamp": TIME, "vault": None}


def line(name, parent, role="user", **fields):
    data = {"type": "message", "id": name, "parentId": parent, "timestamp": TIME}
    return {**data, "role": role, "content": name, "turnId": "t", **fields}


def kinds(log):
    return [repair.kind for repair in log.repairs]


def test_a_sound_log_is_read_as_it_stands():
    log = read_log([HEADER, line("a", None), line("b", "a", "assistant", status="complete")])
    assert (log.header.id, log.repairs, log.unknown) == ("s", (), None)
    assert not log.is_outdated
    assert log.why_read_only is None
    assert [entry.id for entry in log.entries] == ["a", "b"]


def test_a_missing_parent_is_the_entry_above():
    log = read_log([HEADER, line("a", None), line("b", "gone")])
    assert log.entries[1].parent_id == "a"
    assert kinds(log) == ["parent"]
    assert "read after the one above" in log.repairs[0].text


def test_a_parent_further_down_is_a_missing_one():
    log = read_log([HEADER, line("a", "b"), line("b", "a")])
    assert [entry.parent_id for entry in log.entries] == [None, "a"]
    assert kinds(log) == ["parent"]


def test_a_second_beginning_is_no_mistake():
    log = read_log([HEADER, line("a", None), line("b", None)])
    assert log.repairs == ()
    assert [e.id for e in EntryTree(log.entries).siblings("a")] == ["a", "b"]


def test_a_duplicate_gets_an_id_and_later_references_mean_the_nearest_above():
    lines = [line("a", None), line("a", None, content="again"), line("c", "a"), line("d", "a")]
    drop = {"type": "drop", "id": "x", "parentId": "d", "timestamp": TIME, "upToEntryId": "a"}
    drop |= {"tokensBefore": 2, "tokensAfter": 1, "reason": "room"}
    log = read_log([HEADER, *lines, drop])
    second = log.entries[1].id
    assert second != "a"
    assert [entry.parent_id for entry in log.entries[2:4]] == [second, second]
    assert log.entries[4].up_to_entry_id == second
    assert kinds(log) == ["duplicate"]
    assert log.repairs[0].entry == second


def test_references_within_a_patch_mean_the_nearest_above_too():
    hide = {"op": "message_hide", "scope": "cached", "entryId": "a", "invalidateCacheReason": "x"}
    transform = {"type": "context_transform", "id": "t", "parentId": "a", "patch": [hide]}
    log = read_log([HEADER, line("a", None), line("a", None), transform])
    assert log.entries[2].patch[0]["entryId"] == log.entries[1].id


def test_an_entry_without_an_id_is_given_one():
    bare = {key: value for key, value in line("", None).items() if key != "id"}
    first, second = (read_log([HEADER, bare, line("b", None)]) for _ in range(2))
    assert first.entries == second.entries
    assert kinds(first) == ["id"]


def test_what_cannot_be_read_is_skipped_and_told():
    log = read_log([HEADER, line("a", None), line("b", "a", role="robot"), line("c", "b")])
    assert [entry.id for entry in log.entries] == ["a", "c"]
    assert kinds(log) == ["unreadable", "parent"]


@pytest.mark.parametrize("junk", [{}, {"type": 3}, {"type": "message", "parentId": [1], "id": {}}])
def test_anything_can_stand_in_a_line(junk):
    log = read_log([HEADER, junk, line("a", None)])
    assert [entry.id for entry in log.entries] == ["a"]


def test_a_log_without_a_header_is_read():
    assert read_log([line("a", None)]).header is None
    assert len(read_log([line("a", None)]).entries) == 1


def test_an_unknown_schema_makes_a_chat_that_is_only_read():
    later = {"type": "context_transform", "id": "x", "parentId": "a", "schemaVersion": 7}
    log = read_log([HEADER, line("a", None), later, line("b", "x")])
    assert log.unknown is not None
    assert log.unknown.id == "x"
    assert "schemaVersion 7" in log.why_read_only
    assert [entry.id for entry in EntryTree(log.entries).path()] == ["a", "x", "b"]
    assert log.entries[1].to_dict() == later | {"timestamp": ""}


def test_a_newer_version_is_only_read():
    assert "newer version" in read_log([{**HEADER, "version": 3}]).why_read_only


def old(role, content, **fields):
    return {"type": "message", "timestamp": TIME, "role": role, "content": content, **fields}


FIRST = [
    {"type": "session", "id": "s", "timestamp": TIME},
    old("user", "one"),
    old("assistant", "1"),
    old("user", "two"),
    old("assistant", "2"),
]


@pytest.mark.parametrize("version", [{}, {"version": 1}])
def test_the_entries_of_the_first_version_follow_each_other(version):
    log = read_log([{**FIRST[0], **version}, *FIRST[1:]])
    assert log.is_outdated
    assert kinds(log) == []
    assert [entry.message.text for entry in EntryTree(log.entries).path()] == [
        "one",
        "1",
        "two",
        "2",
    ]
    turns = [entry.turn_id for entry in log.entries]
    assert turns == [log.entries[0].id] * 2 + [log.entries[2].id] * 2


def test_a_migrated_log_is_sound_and_says_the_same():
    log = read_log(FIRST)
    written = json.loads(json.dumps(make_log_lines(log.header, log.entries)))
    again = read_log(written)
    assert written[0]["version"] == 2
    assert again.entries == log.entries
    assert again.repairs == ()
    assert not again.is_outdated


@pytest.mark.parametrize("index", [2, "id"])
def test_a_compaction_of_old_becomes_a_transform(index):
    compaction = {"type": "compaction", "timestamp": TIME, "summary": "Early.", "tokensBefore": 90}
    if index == "id":
        lines = [HEADER, line("a", None), line("b", "a"), line("c", "b"), line("d", "c")]
        kept = {"id": "x", "parentId": "d", "firstKeptEntryId": "c"}
    else:
        lines, kept = FIRST, {"firstKeptEntryIndex": index}
    log = read_log([*lines, compaction | kept])
    assert log.is_outdated
    transform = log.entries[4]
    assert isinstance(transform, TransformEntry)
    (op,) = transform.patch
    assert op["firstKeptEntryId"] == log.entries[2].id
    messages = tuple(entry.message.to_dict() for entry in log.entries[:4])
    envelope = ContextEnvelope.from_dict({"system": {}, "messages": {"cached": messages}})
    patched = apply_patch(envelope, transform.patch, entry_id=transform.id).envelope
    assert [m.text for m in patched.messages.cached] == [
        "Early.",
        *(entry.message.text for entry in log.entries[2:4]),
    ]


def test_a_compaction_that_does_not_say_what_it_kept_keeps_everything():
    compaction = {"type": "compaction", "summary": "Early.", "firstKeptEntryId": "gone"}
    log = read_log([*FIRST, compaction])
    assert log.entries[4].patch[0]["firstKeptEntryId"] == log.entries[0].id
    alone = read_log([FIRST[0], compaction])
    assert alone.entries[0].patch[0]["firstKeptMessageIndex"] == 0


NAMES = st.sampled_from(["a", "b", "c", None, 3])
LINES = st.builds(
    lambda name, parent, role, kind: {
        key: value
        for key, value in line(name, parent, role, type=kind, target="a", on=True).items()
        if value != 3
    },
    NAMES,
    NAMES,
    st.sampled_from(["user", "assistant", "tool"]),
    st.sampled_from(["message", "message", "pin", "leaf", "compaction", "new"]),
)


@given(st.lists(LINES, max_size=12), st.sampled_from([1, 2]))
def test_every_log_can_be_opened_and_is_read_the_same_way_each_time(lines, version):
    log = read_log([{**HEADER, "version": version}, *lines])
    ids = [entry.id for entry in log.entries]
    assert len(set(ids)) == len(ids)
    above = set()
    for entry in log.entries:
        assert entry.parent_id is None or entry.parent_id in above
        above.add(entry.id)
    again = read_log(make_log_lines(log.header, log.entries))
    assert again.entries == log.entries
    assert again.repairs == ()
    EntryTree(log.entries).path()
