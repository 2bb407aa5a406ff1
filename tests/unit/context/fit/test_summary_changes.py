"""Which change of a summary an undo takes back."""

from context.fit.edit import SUMMARY_EDIT, SummaryChange, find_last_change
from context.log.entries import Entry, MessageEntry, PinEntry, TransformEntry
from context.messages import Message

NOW = "2026-11-28T00:00:00Z"


def list_entries(*changes: str) -> list[Entry]:
    """A chat with a summary of the message `m`, which says A, and then changes.

    `+` pins the message and `-` ends that. Anything else is a new text of the summary.
    """
    op = {"op": "compaction_apply", "summary": "A"}
    path: list[Entry] = [
        MessageEntry("m", None, NOW, Message("user", "Hello", "m"), "t"),
        TransformEntry("s", "m", NOW, "compaction", (op,)),
    ]
    for at, change in enumerate(changes):
        place = f"e{at}", path[-1].id, NOW
        if change in "+-":
            path.append(PinEntry(*place, "m", change == "+"))
        else:
            edit = {"op": "message_replace", "entryId": "s", "parts": change}
            path.append(TransformEntry(*place, SUMMARY_EDIT, (edit,)))
    return path


def undo(*changes: str) -> SummaryChange | None:
    return find_last_change(list_entries(*changes), "s")


def test_the_newest_change_that_was_not_undone_is_found():
    assert undo() is None
    assert undo("B") == SummaryChange("A")
    assert undo("B", "C") == SummaryChange("B")
    assert undo("B", "C", "B") == SummaryChange("A")
    assert undo("B", "C", "B", "A") is None
    assert undo("B", "A", "C") == SummaryChange("A")
    assert undo("+") == SummaryChange("A", "m")
    assert undo("B", "+") == SummaryChange("B", "m")
    assert undo("B", "+", "-") == SummaryChange("A")
    assert undo("+", "-") is None


def test_changes_of_others_are_none_of_a_summary():
    pin = PinEntry("p", "s", NOW, "s", True)
    other = {"op": "message_replace", "entryId": "x", "parts": "B"}
    edit = TransformEntry("e", "p", NOW, SUMMARY_EDIT, (other,))
    assert find_last_change([*list_entries(), pin, edit], "s") is None
    assert find_last_change(list_entries("B"), "missing") is None
