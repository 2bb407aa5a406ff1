"""Build the requests to a language model: their content, order and size.

`pipeline.prepare` builds a request of a turn, `pipeline.prepare_call` a call outside of any turn.

    lines of a log → log → active path → history → turns ────┐
    instructions, tools, attachments, passages, hooks ───────┴→ assemble → drafted Request
    drafted Request → fit: trim, compact → guard → accounting: report → sealed Request

    log         lines of a session log ↔ entries; the tree of entries, its active path
    history     active path → turns as they are sent; pins, memory, carried sources
    draft       the content of a request: preamble (T, L1), history, tail, tool calls
    assemble    `Request`; turns, instructions, tools, attachments, passages → its draft
    fit         policy, trim, compact, drop and the budget guard; the provider's prompt cache
    report      values that describe what a request contained, what it left out, and why
    accounting  the report of one request. requests: those that were sent, and leaving out parts

The layers (`layers.Layer`): T tools, L1 instructions, L2 carried over from earlier turns, L3 this
turn's attachments and passages, L4 history, L5 user message, E ephemeral texts, W tool calls.

All of them import the contract modules, whose names do not change:
    messages, layers    messages and their parts; the layers and their segments
    envelope            a complete request before it is rendered
    budget, tokens      when to trim, compact, block; how tokens are counted
    hooks, patches      functions of the user that change requests, by patches that are stored
    compaction, exam    values of compacting (`cleaner`), and what requests still say of what left
    carry_forward       shorten the attachments of earlier turns (L2)
    trimming, offload   `[trimmed]` in place of old content, stubs in place of large results
    prompt, json_codec  system prompts from sections; values as JSON and back, by their fields
    errors, fixes       exceptions; ways out of them

Where to look:
- order on the wire: `layers.WIRE_ORDER`, applied by `layers.sort_by_wire`;
- trimming, compaction: `fit.policy` decides; drops, in the order of `STEPS`: `fit.guard_steps`;
- shortened answers: `history.shorten` for a stored trim, `fit.shorten` for one request;
- a new log entry type: a class and a row in `log/entries.py`, field kinds in `log/codec.py`;
- the cached prefix: `fit.cache.compare_requests`.

This package may import the standard library, but no clocks, randomness, threads or I/O. It must not
import app, chains, vault, ui, resources or third-party libraries. Only `Ports` in `assemble.inputs`
calls code outside of the package. ARCHITECTURE.md lists what always holds.
"""
