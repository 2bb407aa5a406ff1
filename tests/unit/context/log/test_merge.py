"""Merging versions of a log: nothing is lost or added twice, and the newest choice counts."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from context.log.merge import merge_logs
from context.log.parse import Line, read_log
from context.log.tree import EntryTree

LAST_COUNTS = {"title": False, "pinned": False, "archived": True, "project": False}
HEADER = {"type": "session", "version": 2, "id": "s", "timestamp": "t", "vault": None}


def make_line(id: str, parent: str | None, text: str = "text", **more: Any) -> dict[str, Any]:
    """Return the line of a user message."""
    content = {"role": "user", "content": text, "turnId": id}
    return {"type": "message", "id": id, "parentId": parent, "timestamp": "t", **content, **more}


def find_leaf(lines: Sequence[Line]) -> str | None:
    """Return the id of the last entry of the active path."""
    path = EntryTree(read_log(lines).entries).path()
    return path[-1].id if path else None


def merge(own: Sequence[Line], other: Sequence[Line]) -> list[Line]:
    """Return a log with the entries of another version of it."""
    return [*own, *merge_logs(own, other, find_leaf(own), LAST_COUNTS)]


def test_both_branches_are_kept_and_the_own_one_stays_active() -> None:
    common = [HEADER, make_line("a", None)]
    own, other = [*common, make_line("b", "a")], [*common, make_line("c", "a")]
    merged = merge(own, other)
    tree = EntryTree(read_log(merged).entries)
    assert [entry.id for entry in tree.path()] == ["a", "b"]
    assert {line["id"] for line in merged} >= {"a", "b", "c"}
    assert [child.id for child in tree.siblings("b")] == ["b", "c"]
    assert read_log(merged).repairs == ()


def test_two_entries_with_one_id_become_two_with_their_children() -> None:
    own = [HEADER, make_line("a", None, "mine"), make_line("b", "a")]
    other = [HEADER, make_line("a", None, "yours"), make_line("c", "a")]
    merged = merge(own, other)
    log = read_log(merged)
    assert log.repairs == ()
    tree = EntryTree(log.entries)
    yours = next(e for e in log.entries if e.to_dict().get("content") == "yours")
    child = next(e for e in log.entries if e.id == "c")
    assert child.parent_id == yours.id
    assert [entry.id for entry in tree.path()] == ["a", "b"]


def test_a_line_without_an_id_is_added_once() -> None:
    odd = {"type": "note", "text": "of another program"}
    merged = merge([HEADER, make_line("a", None)], [HEADER, odd])
    assert merged.count(odd) == 1
    assert merge(merged, [HEADER, odd]) == merged


def test_an_empty_log_takes_the_leaf_of_the_other() -> None:
    other = [HEADER, make_line("a", None), make_line("b", "a")]
    assert find_leaf(merge([HEADER], other)) == "b"


TEXTS = st.sampled_from(["one", "two", "three"])
NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])


@st.composite
def build_logs(draw: st.DrawFn) -> tuple[list[Line], list[Line]]:
    """Build two versions of a log: a common start, then lines of each, with ids that collide."""
    common: list[Line] = [HEADER]
    start = draw(st.integers(0, 3))
    for _ in range(start):
        common.append(_draw_line(draw, common))
    versions: list[list[Line]] = [list(common), list(common)]
    for version in versions:
        for _ in range(draw(st.integers(0, 4))):
            version.append(_draw_line(draw, version))
    return versions[0], versions[1]


def _draw_line(draw: st.DrawFn, before: Sequence[Line]) -> dict[str, Any]:
    ids = [str(line["id"]) for line in before[1:]]
    free = sorted({"a", "b", "c", "d", "e", "f", "g", "h"} - set(ids))
    parent = draw(st.sampled_from([None, *ids]))
    return make_line(draw(st.sampled_from(free)), parent, draw(TEXTS))


def list_branches(lines: Sequence[Line]) -> set[tuple[str, ...]]:
    """Return the texts on the path to each message, which do not depend on ids."""
    log = read_log(lines)
    above = {entry.id: entry for entry in log.entries}
    branches = set()
    for entry in log.entries:
        texts: list[str] = []
        at = entry
        while at is not None:
            if at.type == "message":
                texts.append(str(at.to_dict()["content"]))
            at = above.get(at.parent_id) if at.parent_id else None
        branches.add(tuple(reversed(texts)))
    return branches


@given(build_logs())
def test_no_branch_is_lost_and_the_leaf_stays(logs: tuple[list[Line], list[Line]]) -> None:
    own, other = logs
    merged = merge(own, other)
    assert merged[: len(own)] == own
    assert list_branches(merged) >= list_branches(own) | list_branches(other)
    assert read_log(merged).repairs == ()
    if own[1:]:
        assert find_leaf(merged) == find_leaf(own)


@given(build_logs())
def test_merging_again_adds_nothing(logs: tuple[list[Line], list[Line]]) -> None:
    own, other = logs
    merged = merge(own, other)
    assert merge(merged, other) == merged
    assert merge(merged, own) == merged


@given(build_logs())
def test_both_sides_end_with_the_same_branches(logs: tuple[list[Line], list[Line]]) -> None:
    own, other = logs
    assert list_branches(merge(own, other)) == list_branches(merge(other, own))


def choose(kind: str, content: object, time: str, id: str) -> dict[str, Any]:
    """Return the line of a choice about the whole chat, such as its title, or of a label."""
    place = {"id": id, "parentId": "a", "timestamp": time}
    if kind == "label":
        return {"type": "label", **place, "target": "a", "label": content}
    return {"type": "custom", **place, "customType": kind, "content": content}


def read_state(lines: Sequence[Line]) -> dict[str, object]:
    """Return what a program that reads the log shows of it, beside its messages."""
    state: dict[str, object] = {"leaf": find_leaf(lines)}
    for line in lines:
        if line["type"] == "custom":
            state[str(line["customType"])] = line["content"]
        elif line["type"] == "label":
            state["label"] = line["label"]
        elif line.get("role") == "user":
            state["archived"] = False
    state["messages"] = frozenset(line["id"] for line in lines if line["type"] == "message")
    return state


def test_the_newest_title_counts_in_each_order_of_the_lines() -> None:
    common = [HEADER, make_line("a", None)]
    old, new = choose("title", "Old", "1", "b"), choose("title", "New", "2", "c")
    for own, other in permutations(([*common, old], [*common, new])):
        merged = merge(own, other)
        assert read_state(merged)["title"] == "New"
        assert read_log(merged).repairs == ()
        assert merge(merged, own) == merge(merged, other) == merged


def test_an_archived_chat_returns_only_by_a_later_question() -> None:
    common = [HEADER, make_line("a", None, timestamp="1")]
    archived = [*common, choose("archived", True, "3", "b")]
    for time, is_archived in (("2", True), ("4", False)):
        asked = [*common, make_line("c", "a", timestamp=time)]
        for own, other in permutations((archived, asked)):
            assert read_state(merge(own, other))["archived"] is is_archived


def test_the_branch_that_was_used_last_is_the_active_one() -> None:
    common = [HEADER, make_line("a", None, timestamp="1")]
    early = [*common, make_line("b", "a", timestamp="2")]
    late = [*common, make_line("c", "a", timestamp="3")]
    back = {"type": "leaf", "id": "d", "parentId": "a", "timestamp": "4", "target": "a"}
    for own, other in permutations((early, late)):
        assert find_leaf(merge(own, other)) == "c"
    for own, other in permutations((early, [*late, back])):
        assert find_leaf(merge(own, other)) == "a"


@st.composite
def build_versions(draw: st.DrawFn) -> list[list[Line]]:
    """Build three versions of a log whose entries have times and ids of their own."""
    common: list[Line] = [HEADER, make_line("a", None, timestamp="00")]
    versions: list[list[Line]] = [list(common) for _ in range(3)]
    for number in range(draw(st.integers(0, 9))):
        version, time = versions[draw(st.integers(0, 2))], f"{number + 1:02}"
        kind = draw(st.sampled_from(["message", "leaf", "label", *LAST_COUNTS]))
        ids = [str(line["id"]) for line in version if line["type"] == "message"]
        above = draw(st.sampled_from(ids))
        if kind == "message":
            version.append(make_line(f"m{number}", above, timestamp=time))
        elif kind == "leaf":
            place = {"id": f"m{number}", "parentId": above, "timestamp": time}
            version.append({"type": "leaf", **place, "target": above})
        else:
            is_text = kind in ("title", "label")
            content = draw(st.sampled_from(["one", "two"] if is_text else [True, False]))
            version.append(choose(kind, content, time, f"m{number}"))
        if draw(st.booleans()):  # this version was synced before
            at = versions.index(version)
            versions[(at + 1) % 3] = merge(versions[(at + 1) % 3], version)
    return versions


@given(build_versions())
def test_every_order_of_merges_ends_with_the_same_chat(versions: list[list[Line]]) -> None:
    ends = []
    for first, second, third in permutations(versions):
        merged = merge(merge(first, second), third)
        assert read_log(merged).repairs == ()
        assert all(merge(merged, version) == merged for version in versions)
        ends.append(read_state(merged))
    assert all(end == ends[0] for end in ends)
