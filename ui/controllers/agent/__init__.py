"""Controllers for agents: proposals that wait for a decision, and the edits of a turn.

    approvals  Shows the proposals of tools that wait for a decision, and passes decisions on.
    edits      Shows what an agent changed in the notes, and undoes it.

May import: what `ui.controllers` may import.
Holds always: a proposal is shown before it is decided; only a person approves it here.
"""

__all__ = ["approvals", "edits"]
