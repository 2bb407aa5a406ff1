"""Make a request fit its budget: trim, compact, drop, and keep the cached prefix.

    cache          How a request continues the previous one: what a provider's prompt cache can
                   reuse, and why not.
    compact        The compaction of a history: clear old results, summarise old turns, leave out
                   what is too much.
    drop           Which earlier turns a request holds. Only whole turns leave, the oldest first.
    force_compact  A compaction apart from any request: asked for, or due when a turn has ended.
    guard          The last step before every request: nothing larger than the budget leaves.
    marks          Where a provider's prompt cache may end, for those providers that want to be
                   told.
    outline        A summary without a model: what was asked and how the answers began, the newest
                   in full view.
    policy         What is decided for good before a request is sent: a trim, a compaction.
    shrink_tail    What a last message that is too large gives up, and in which order.
    shrink_work    The work of a turn in progress, made smaller: results shrink, the calls stay
                   visible.
    summaries      What a summary of old turns is asked with, and what it has to be to be taken.
    trim           Trimming in the pipeline: how much further the history and the work are
                   shortened, and when.
    usage_note     What a model is told once its request takes much of the budget, and it can do
                   something about it.

May import: `context.report`, `context.assemble`, `context.history`, `context.log`.
"""

__all__ = ["cache", "compact", "drop", "guard", "marks", "policy", "summaries"]
