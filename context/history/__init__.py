"""From the active path of a session to its turns, as requests show them.

    active path ── replay ──→ ReplayedPath: earlier turns, current turn, memory, pins, boundaries
    earlier turns + TrimOffsets ── boundaries ──→ the same turns, old messages shortened

    turns         `Turn`: a user message and its answers; `MeasuredTurn`: its messages, counted
    turn_list     `TurnList`: a long row of turns that grows and is cut without counting again
    tool_pairing  exactly one result for each tool call; marks for interrupted answers
    replay        path → turns; applies stored transforms: patches of hooks, compactions
    boundaries    how far trims and drops of the path reach, and how messages before that are shown
    pins          pinned messages and segments, and their move to L2 when their turn is not sent
    sources       attachments and cited notes of earlier turns, for carry-forward (L2)
    memory        scratchpad, progress and facts, from the `memory_update` entries

An old answer or tool result is shortened in `boundaries`: `trim_message` leaves `[trimmed]`,
`clean_message` leaves the number of lines of a result. How far that goes is decided by
`context.fit.policy` and stored in the log as `TrimEntry`. For one request alone, the guard shortens
answers further (`context.fit.shorten.shorten_answer`). A new entry type that changes requests needs
a case in `replay`, beside its row in `context/log/entries.py`.

May import: `context.log` and the contract modules.
Holds always: entries are not changed, and no hook runs; equal paths give equal turns; `boundaries`
never shortens a user message or a pinned message, and never makes a message larger.
"""

__all__ = [
    "boundaries",
    "memory",
    "pins",
    "replay",
    "sources",
    "tool_pairing",
    "turn_list",
    "turns",
]
