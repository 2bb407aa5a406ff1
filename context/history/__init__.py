"""Build a session's turns from its log, in the form that requests use.

    active path ── replay ──→ ReplayedPath: earlier turns, current turn, memory, pins, boundaries
    earlier turns + TrimOffsets ── boundaries ──→ the same turns, old messages shortened

    turns         `LoggedTurn`: a user message and its answers; `MeasuredTurn`: counted messages
    turn_list     `TurnList`: extends and shortens a list of turns without counting tokens again
    tool_pairing  exactly one result for each tool call; markers for interrupted answers
    replay        path → turns; applies stored transforms: the patches of hooks and compactions
    boundaries    to which messages the path's trims and drops apply; how older messages are sent
    shorten       the two forms of an old message: line counts of results, and `[trimmed]`
    pins          pinned messages and segments, which move to L2 when their turn is not sent
    sources       attachments and cited notes of earlier turns, for carry-forward (L2)
    memory        scratchpad, progress and facts, from the `memory_update` entries
    read_notes    of which notes the turns hold text, and which words
    note_text     the text of notes in tool results; notices in its place
    quotes        finds what a text quotes of excluded notes, and leaves it out
    words         the words of texts in all scripts, by which quotations are found
    exclusion     leaves what the turns hold of excluded notes out of them
    outline       outlines of old turns without a model; turns as text

An old answer or tool result is shortened in `shorten`: `trim_message` leaves `[trimmed]`,
`clean_message` leaves a result's number of lines. `context.fit.policy` decides which messages are
shortened, and a `TrimEntry` in the log stores the decision. For a single request, the guard can
shorten answers further (`context.fit.shorten.shorten_answer`). A new entry type that changes
requests needs a case in `replay`, in addition to its row in `context/log/entries.py`.

This package may import `context.log` and the contract modules. It modifies no entry and runs
no hook, and its results depend only on the path. `boundaries` never shortens a user message or a
pinned message, and never makes a message larger.
"""

__all__ = [
    "boundaries",
    "exclusion",
    "memory",
    "note_text",
    "outline",
    "pins",
    "quotes",
    "read_notes",
    "replay",
    "shorten",
    "sources",
    "tool_pairing",
    "turn_list",
    "turns",
    "words",
]
