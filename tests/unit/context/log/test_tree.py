import pytest

from context.errors import UnknownEntry
from context.log.entries import DropEntry, LabelEntry, LeafEntry, MessageEntry, SegmentsEntry
from context.log.tree import EntryTree
from context.messages import Message, ToolCallPart, ToolResultPart
from tests.support.sessions.chats import TIME, passage


def said(name, parent, role="user", turn="t"):
    return MessageEntry(name, parent, TIME, Message(role, name), turn)


def found(name, parent, turn="t"):
    return SegmentsEntry(name, parent, TIME, turn, (passage(1, "a"),))


def ids(entries):
    return [entry.id for entry in entries]


# q1 ─ a1 ─ (s2) q2 ─ a2
#   └─ b1   (s3) q3 ─ d ─ a3
LOG = [
    said("q1", None),
    said("a1", "q1", "assistant"),
    found("s2", "a1", "t2"),
    said("q2", "s2", turn="t2"),
    said("a2", "q2", "assistant", "t2"),
    said("b1", "q1", "assistant"),
    found("s3", "a1", "t3"),
    said("q3", "s3", turn="t3"),
    DropEntry("d", "q3", TIME, "q3", 2, 1, "room"),
    said("a3", "d", "assistant", "t3"),
]
TREE = EntryTree(LOG)


def test_siblings_share_the_nearest_message_above():
    assert ids(TREE.siblings("q2")) == ids(TREE.siblings("q3")) == ["q2", "q3"]
    assert ids(TREE.siblings("b1")) == ["a1", "b1"]
    assert ids(TREE.siblings("a3")) == ["a3"]


def test_children_are_the_messages_that_follow():
    assert ids(TREE.children("q1")) == ["a1", "b1"]
    assert ids(TREE.children(None)) == ["q1"]
    assert TREE.children("a3") == ()


def test_a_branch_goes_on_at_its_newest_entry():
    assert TREE.find_newest_leaf("q2") == "a2"
    assert TREE.find_newest_leaf("q1") == TREE.find_newest_leaf("a1") == "a3"
    assert TREE.find_newest_leaf("b1") == "b1"


def test_the_leaf_is_the_end_of_the_active_path():
    assert TREE.leaf == "a3"
    assert EntryTree([*LOG, LeafEntry("l", "a3", TIME, "a2")]).leaf == "a2"
    assert EntryTree([]).leaf is None


def test_a_path_ends_where_it_is_told_to():
    assert ids(TREE.path("a2")) == ["q1", "a1", "s2", "q2", "a2"]
    assert ids(TREE.path()) == ["q1", "a1", "s3", "q3", "d", "a3"]


def test_an_edited_question_leaves_its_context_to_it():
    assert TREE.branch_point("q3") == "a1"
    assert TREE.branch_point("q1") is None


def test_an_answer_is_made_anew_behind_what_was_decided_before_it():
    assert TREE.branch_point("a3") == "d"
    assert TREE.branch_point("b1") == "q1"


# q ─ s ─ a          the user message first, then what was sent with it
#   └─ t ─ b
#        └─ n         the next user message, without segments yet
BEHIND = EntryTree(
    [
        said("q", None),
        found("s", "q"),
        said("a", "s", "assistant"),
        found("t", "q"),
        said("b", "t", "assistant"),
        said("n", "b", turn="t2"),
    ]
)


def test_segments_behind_a_user_message_stay_for_another_answer():
    assert BEHIND.branch_point("a") == "s"
    assert BEHIND.branch_point("b") == "t"
    assert BEHIND.branch_point("q") is None
    assert BEHIND.branch_point("n") == "b"
    assert ids(BEHIND.siblings("a")) == ["a", "b"]


def test_an_answer_to_a_user_message_follows_what_was_sent_with_it():
    assert BEHIND.answer_point("q") == "t"
    assert BEHIND.answer_point("n") == "n"
    assert TREE.answer_point("q3") == "d"
    assert TREE.answer_point("q1") == "q1"
    unanswered = EntryTree([said("q", None), found("s", "q"), found("x", "s", "t2")])
    assert unanswered.answer_point("q") == "x"
    passed_over = EntryTree([said("q", None), found("x", "q", "t2"), said("n", "x", turn="t2")])
    assert passed_over.answer_point("q") == "q"


def test_an_answer_with_tools_is_made_anew_from_its_first_call():
    call = Message("assistant", (ToolCallPart("c", "search", {}),))
    result = Message("tool", (ToolResultPart("c", "found"),))
    log = [
        said("q", None),
        MessageEntry("m", "q", TIME, call, "t"),
        MessageEntry("r", "m", TIME, result, "t"),
        said("a", "r", "assistant"),
    ]
    assert EntryTree(log).branch_point("a") == EntryTree(log).branch_point("m") == "q"


def test_what_hangs_on_an_entry_beside_the_tree_hangs_on_what_that_follows():
    log = [
        said("q", None),
        said("a", "q", "assistant"),
        said("b", "q", "assistant"),
        LabelEntry("label", "a", TIME, "a", "good"),
        said("r", "label"),
    ]
    assert ids(EntryTree(log).path()) == ["q", "a", "r"]


def test_an_id_that_is_not_in_the_tree_is_refused():
    for ask in (TREE.path, TREE.siblings, TREE.find_newest_leaf, TREE.branch_point, TREE.children):
        with pytest.raises(UnknownEntry, match="no message gone"):
            ask("gone")


def test_a_tree_that_grows_is_that_of_the_whole_log():
    for count in range(len(LOG) + 1):
        grown = EntryTree(LOG[:count]).with_entries(LOG[count:])

        assert ids(grown.path()) == ids(TREE.path())
        assert ids(grown.siblings("q3")) == ids(TREE.siblings("q3"))
        assert grown.leaf == TREE.leaf
        assert ids(grown.children(None)) == ids(TREE.children(None))


def test_a_tree_stays_what_it_was_when_another_one_goes_on_from_it():
    before = EntryTree([said("q", None), said("a", "q")])
    first = before.with_entries([said("b", "q")])
    second = before.with_entries([said("c", "a")])

    assert ids(before.path()) == ["q", "a"]
    assert ids(before.children("q")) == ["a"]
    assert before.find_newest_leaf("q") == "a"
    with pytest.raises(UnknownEntry):
        before.path("b")
    assert ids(first.path()) == ["q", "b"]
    assert ids(second.path()) == ["q", "a", "c"]
    with pytest.raises(UnknownEntry):
        second.path("b")


def test_an_entry_beside_the_tree_belongs_to_its_parent():
    beside = LabelEntry("l1", "a1", TIME, "a1", "good")
    tree = EntryTree((*LOG, beside, LabelEntry("l2", None, TIME, "a1", "none")))
    assert (tree.find_place("a1"), tree.find_place("l1")) == ("a1", "a1")
    for missing in ("l2", "ffffffff"):
        with pytest.raises(UnknownEntry):
            tree.find_place(missing)
