"""Controllers for agents: proposals that wait for a decision, and edits to notes.

    approvals  Shows the tool proposals that wait for a decision, and passes on the decisions.
    edits      Shows the changes that an agent made to notes, and undoes them.

May import: what `ui.controllers` may import. Always true: a proposal is shown before it is
decided. Only the user can approve it here.
"""

__all__ = ["approvals", "edits"]
