"""Controllers for what models do: proposed tool calls, edits to notes, and what calls cost.

    approvals  Asks the user to approve proposed tool calls, and passes on the answers.
    edits      Shows the changes that an agent made to notes, and undoes them.
    memory     Offers to remove long-term memories whose message was edited away.
    spending   Asks about calls to models that may pass a spending limit.

This package may import the same packages as `ui.controllers`, and `ui.controllers`. Each proposed
tool call is shown before it is approved or refused, and only the user can approve it here.
"""

__all__ = ["approvals", "edits", "memory", "spending"]
