"""From the active path of a session to the turns that a model sees.

    boundaries           Where the trims and drops of a path reach, and what requests show before
                         that.
    carry_forward_items  What earlier turns leave behind for later ones: what the user attached,
                         what an answer cited.
    grouping             A patched list of messages, told apart into turns again.
    measured_turn        A turn with the messages that stand for it in requests, counted.
    memory               What is kept in mind beside the messages of a chat: scratchpad, progress
                         and facts.
    pins                 What is kept whatever happens, and where it goes when its turn is no
                         longer sent.
    replay               A path replayed as turns, continued from where an earlier reading of the
                         same chat ended.
    shorten              What may stand for an old message: its results by their number of lines,
                         or `[trimmed]`.
    tool_pairing         What a request shows of messages that were cut off: always something that
                         a model can read.
    turn_list            Turns in a row that can be long: they grow and are cut without being
                         copied or counted anew.
    turns                From the entries of a log to the turns of a conversation.

May import: `context.log` and the contract modules.
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
