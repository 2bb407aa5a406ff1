"""Merging what two programs have changed in a setting since both read it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.config.merge import merge_changes

_NAMES = st.sampled_from("abcdef")
_LISTS = st.lists(_NAMES, max_size=6)
_TABLES = st.recursive(
    st.dictionaries(_NAMES, st.integers(0, 2) | _LISTS, max_size=4),
    lambda inner: st.dictionaries(_NAMES, inner | _LISTS, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("known", "ours", "theirs", "merged"),
    [
        ("a !b", "a !b x", "!b a", "!b x a"),
        ("a !b", "!b a", "a !b x", "!b x a"),
        ("a b c", "a b", "c b a", "b a"),
        ("a b c", "b a c", "c a b", "b a c"),
        ("a b c", "a x b c", "c a b y", "c a x b y"),
        ("a b c", "x a b c", "y a b c", "x y a b c"),
        ("a b c", "a b c x", "a b c y", "a b c x y"),
        ("a b c", "b c", "a b", "b"),
        ("a b c", "o b c", "t b c", "o b c"),
        ("a b c", "o b c", "c b a", "c b o"),
        ("a b c", "c b a", "t b c", "c b t"),
        ("a b c", "", "t b c", "t"),
        ("a b c", "", "a b c y", "y"),
        ("a b c", "a b c y", "", "y"),
        ("a a", "a", "a a b", "a b"),
        ("a !a", "a !a a", "a !a b", "a !a a b"),
    ],
)
def test_a_list_keeps_the_order_and_the_changes_of_both(
    known: str, ours: str, theirs: str, merged: str
) -> None:
    assert merge_changes(known.split(), ours.split(), theirs.split()) == merged.split()


@pytest.mark.parametrize(
    ("known", "ours", "theirs", "merged"),
    [
        (
            {"s": {"command": "c", "args": ["a"]}},
            {"s": {"command": "c", "args": ["a", "x"]}},
            {"s": {"command": "d", "args": ["a", "y"], "env": {"K": "1"}}},
            {"s": {"command": "d", "args": ["a", "x", "y"], "env": {"K": "1"}}},
        ),
        ({"k": ["A"]}, {"k": ["A", "B"]}, {"k": ["A", "C"]}, {"k": ["A", "B", "C"]}),
        ({"k": {"u": 1, "v": 1}}, {"k": {"u": 2, "v": 1}}, {"k": {"u": 3}}, {"k": {"u": 2}}),
        ({"k": {"u": 1}}, {}, {"k": {"u": 2}}, {}),
        ({"k": {"u": 1}}, {"k": {"u": 2}}, {}, {"k": {"u": 2}}),
        ({}, {"k": {"u": 1}}, {"k": {"v": 1}}, {"k": {"u": 1}}),
        ([{"u": 1, "v": 1}], [{"u": 2, "v": 1}], [{"u": 1, "v": 2}], [{"u": 2, "v": 2}]),
        ([{"n": 1}, {"n": 2}], [{"n": 2}], [{"n": 1}, {"n": 2}, {"n": 3}], [{"n": 2}, {"n": 3}]),
    ],
)
def test_entries_of_tables_are_merged_at_any_depth(
    known: Any, ours: Any, theirs: Any, merged: Any
) -> None:
    assert merge_changes(known, ours, theirs) == merged


@given(known=_LISTS | _TABLES, changed=_LISTS | _TABLES)
def test_what_only_one_side_has_changed_is_the_result(known: Any, changed: Any) -> None:
    assert merge_changes(known, changed, known) == changed
    assert merge_changes(known, known, changed) == changed
    assert merge_changes(known, changed, changed) == changed


@given(data=st.data())
def test_both_sides_keep_their_changes_of_a_list(data: st.DataObject) -> None:
    known = data.draw(st.lists(_NAMES, unique=True))
    ours = data.draw(st.permutations([*data.draw(_some(known)), *data.draw(_some("xy"))]))
    theirs = data.draw(st.permutations([*data.draw(_some(known)), *data.draw(_some("yz"))]))
    merged = merge_changes(known, ours, theirs)
    assert len(merged) == len(set(merged))
    removed = [one for one in known if one not in ours or one not in theirs]
    assert not set(removed) & set(merged)
    both = [one for one in known if one not in ours and one not in theirs]
    lost = (set(known) - set(removed) | {*ours, *theirs} - set(known)) - set(merged)
    # Each entry of theirs that is lost stood in the place of one that ours has replaced too.
    assert len(lost) <= len(both)
    assert not lost & set(ours)
    ordered = theirs if _sort(known, ours) and not _sort(known, theirs) else ours
    left = [one for one in ordered if one in merged]
    assert [one for one in merged if one in left] == left


@given(
    known=st.dictionaries(_NAMES, _TABLES, max_size=3),
    ours=st.dictionaries(_NAMES, _TABLES, max_size=3),
    theirs=st.dictionaries(_NAMES, _TABLES, max_size=3),
)
def test_both_sides_keep_their_changes_of_a_table(known: Any, ours: Any, theirs: Any) -> None:
    _require_kept(known, ours, theirs, merge_changes(known, ours, theirs))


def _require_kept(known: Any, ours: Any, theirs: Any, merged: Any) -> None:
    """Require that each entry which one side alone has changed is as that side has it."""
    for name in {*known, *ours, *theirs}:
        before, own, other, after = (each.get(name) for each in (known, ours, theirs, merged))
        if own == before:
            assert after == other
        elif other == before:
            assert after == own
        elif all(isinstance(each, dict) for each in (before, own, other)):
            _require_kept(before, own, other, after)


def _some(entries: Any) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(sorted(entries)), unique=True) if entries else st.just([])


def _sort(known: list[str], changed: list[str]) -> bool:
    left = [one for one in changed if one in known]
    return left == [one for one in known if one in changed]
