"""Build the requests to a language model: their content, order and size.

`pipeline.prepare` builds a request of a turn. `pipeline.prepare_call` builds a single call outside
of any turn.

    lines of a log → log → active path → history → turns ────┐
    instructions, tools, attachments, passages, hooks ───────┴→ assemble → RequestPlan
    RequestPlan → fit: trim, compact → guard → accounting: report → PreparedRequest

    log         lines of a session log ↔ entries; the tree of entries, its active path
    history     active path → turns as they are sent; pins, memory, carried sources
    assemble    turns, instructions, tools, attachments, passages → a draft, measured by layer
    fit         policy, trim, compact, drop and the budget guard; the provider's prompt cache
    report      values that describe what a request contained, what it left out, and why
    accounting  the report of one request, from its draft and the guard's steps

The layers (`layers.Layer`): T tools, L1 instructions, L2 carried over from earlier turns, L3 this
turn's attachments and passages, L4 history, L5 user message, E ephemeral texts, W tool calls.

All these packages import the contract modules, whose names do not change. Values: `messages`,
`layers`, `envelope`, `budget`, `tokens`, `errors`. Changes to an envelope: `hooks`, `patches`.
For texts and messages: `trimming`, `compaction`, `carry_forward`, `cleaner`, `offload`, `prompt`.

Where to look:
- order on the wire: `layers.WIRE_ORDER`; requests and reports apply it with `layers.sort_by_wire`;
- trimming, compaction: `fit.policy` decides; drops, in the order of `STEPS`: `fit.guard_steps`;
- shortened answers: `history.shorten.trim_message` once a trim is stored,
  `fit.shorten.shorten_answer` if only one request needs it; sources: `fit.shorten`;
- a new log entry type: a class and a row in `log/entries.py`, field kinds in `log/codec.py`;
- the cached prefix: `fit.cache.compare_requests` compares a request with the previous one.

This package may import the standard library, but no clocks, randomness, threads or I/O. It must not
import app, chains, vault, ui, resources or third-party libraries. Only `Ports` in `assemble.inputs`
calls code outside of the package. The following rules always hold:
- A request is at most as large as its budget, and the tokens of its layers add up to `used`.
- It contains the user message, and the last answered turn unless the report says otherwise.
- Log entries never change. The report lists everything left out, with its tokens and a reason.
- A stored patch is replayed without its hook. Every tool call has exactly one result.
- Trims and drops only move forward while the model stays the same and the budget does not grow.
- User messages are never trimmed. Equal inputs give equal bytes.
"""
