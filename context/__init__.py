"""What the model sees, decided here and nowhere else.

One request runs through `pipeline.prepare` from top to bottom: the entries of a chat become turns
(`replay`, `conversation`), the turn's own context becomes a tail (`turn_context`), both are
measured (`draft`, `tokens`), the guard leaves out what the budget has no room for (`guard`,
`history`), the result is compared with the previous request (`cache`) and told of (`report`,
`markdown`). What comes out is a `PreparedRequest`, the only thing that a model is called with.

    log entries ─ replay ─┐
    instructions, tools ──┼─ Draft ─ guard.enforce ─ seal ─ PreparedRequest(envelope, report)
    this turn's segments ─┘                └─ a `drop` entry, where the history was cut

A request is made of layers, in the order of the wire: T tools, L1 instructions, L4 history, L2
carried over, L3 this turn's context, E notes, L5 what the user typed, W work in progress.

Beside the pipeline stand pure functions over messages and envelopes that can be used on their own:
`trimming`, `patches`, `carry_forward`, `cleaner`, `offload`, `compaction`, `prompt`.

May import: the standard library. Must not: app, chains, vault, ui, resources, any third party.

Holds always:
- used ≤ budget for whatever leaves, and the layers' tokens add up to `used`;
- what the user typed is in the request, and the last answered turn is, unless the report says so;
- entries never change; what is left out is named, with its tokens and a reason;
- a cut of the history only moves forward while the budget does not grow, and rests between;
- the same inputs give the same bytes: no clock, no randomness, no I/O but through `Ports`.
"""
