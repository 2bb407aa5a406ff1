"""Make a request fit its budget, and keep the prefix that providers cache.

    RequestPlan ─ policy ─┬─ decide_trim → trim → TrimEntry
                          └─ decide_compaction → compact → TransformEntry with a summary, DropEntry
    RequestDraft ─ guard: drop, shorten ─→ GuardReport ─ seal ─→ PreparedRequest
    RequestDraft + previous request ─ cache ─→ reused tokens, and the reasons for each change

    policy         decides what lasts: when to trim, when to compact and why
    trim           plans how far the history and the work are trimmed
    compact        compacts in a request, on demand (`compact_session`) and after a turn
    compact_steps  the steps of a compaction: clear old results, summarise, leave turns out
    summaries      checks a model's summary; builds an outline where there is no model
    guard          the last step: enforces the budget; only `seal` can build a `PreparedRequest`
    drop           chooses the whole turns that leave, the oldest first
    shorten        shortens the last message, answers and tool results, for one request alone
    cache          compares a request with the previous one, by the prefix that both have in common
    marks          places cache marks for providers that need them

Trims and compactions are decided in `policy`. A drop is decided in `guard` (`_cut_history`) where
the history itself is too large, and stored by `pipeline`; a compaction can end with a drop too. All
other steps of the guard hold for one request alone.

May import: `context.report`, `context.assemble`, `context.history`, `context.log` and the contract
modules.
Holds always: only a request that passed the guard can be sent; only compaction calls a model; a
trim or compaction never makes the history larger; whatever is left out has a reason.
"""

__all__ = ["cache", "compact", "drop", "guard", "marks", "policy", "summaries"]
