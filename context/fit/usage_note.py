"""What a model is told once its request takes much of the budget, and it can do something about it.

Source: "Context Management Enhancements", 1.
"""

from dataclasses import replace
from typing import Final

from context.assemble.apply_hooks import uncached_message
from context.assemble.request import Draft
from context.budget import BudgetPolicy

COMPACT_CONTEXT: Final = "compact_context"
_NOTE: Final = (
    "[Context: {percent}% used. You can call compact_context to free space before continuing with "
    "large operations.]"
)


def with_usage_note(draft: Draft, budget: int, policy: BudgetPolicy) -> Draft:
    """Return a request with the note, where it is due; it belongs to this request alone."""
    can_compact = any(tool.name == COMPACT_CONTEXT for tool in draft.preamble.tools)
    if not can_compact or not policy.should_trim(draft.used, budget):
        return draft
    note = _NOTE.format(percent=100 * draft.used // budget)
    others = () if draft.uncached is None else (draft.uncached,)
    return replace(draft, uncached=uncached_message([note], others))
