"""Make a request fit its token budget, and keep the prefix that providers cache.

    drafted Request ─ policy ─┬─ decide_trim → trim → TrimEntry
                              └─ decide_compaction → compact → TransformEntry, DropEntry
    drafted Request ─ guard: drop, shorten ─→ guarded ─ seal ─→ sealed Request
    RequestDraft + previous request ─ cache ─→ reused tokens, and the reasons for each change

    policy         decides when to trim and when to compact, and when a model is told of its usage
    trim           plans how far to trim the history and the current tool calls
    compact        compacts the history, and builds the log entries of the compaction
    compact_session  compacts a session on demand, or after a turn
    compact_steps  the steps of a compaction: clear old results, summarise, leave turns out
    edit           edits the summary of an earlier compaction
    summary_facts  keeps the decisions and sources of a summary in the memory
    summaries      asks a model for a summary, and checks its size
    summary_check  refuses a summary that says nothing of what it replaces
    summary_exam   examines what a summary keeps of what it replaces, and what it changes
    summary_list   completes a summary by rule: strikes what it changed, lists what it lost
    guard          the last step: enforces the budget; only `seal` can seal a `Request`
    guard_steps    what the guard leaves out, the least valuable first; the summary goes last
    drop           chooses the whole turns to drop, oldest first
    shorten        shortens answers and tool results, and shortens or drops sources: passages that
                   were found first, the newest attachment last; for one request alone
    cache          compares a request with the previous one, by the prefix that both have in common
    differences    finds the tools, sections and messages that differ between two requests
    causes         finds what the patches since the previous request may have changed
    cache_changes  names a reason for each difference
    marks          places cache marks for providers that need them

`policy` decides on trims and compactions. `guard_steps` decides on a drop (`_cut_history`) if the
history itself is too large, and `pipeline` stores it. A compaction can end with a drop too. All
other steps of the guard affect a single request only.

This package may import `context.report`, `context.assemble`, `context.history`, `context.log` and
the contract modules. Only a request that passed the guard can be sent, and only compaction calls a
model. A trim or compaction never makes the history larger. The report gives a reason for everything
that is left out.
"""

__all__ = [
    "cache",
    "cache_changes",
    "causes",
    "compact",
    "compact_session",
    "drop",
    "edit",
    "guard",
    "guard_steps",
    "marks",
    "policy",
    "summaries",
    "summary_check",
    "summary_exam",
    "summary_facts",
    "summary_list",
]
