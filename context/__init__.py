"""What the model sees, decided here and nowhere else.

One request runs through `pipeline.prepare` from top to bottom. The lines of a log become entries
(`session_log`, `entries`) and a tree of them (`tree`); the active path becomes turns, as its
transforms left them (`replay`, `view`, `conversation`, `grouping`); hooks of this run may shape
that further (`shaping`, `hooks`, `patches`). The turn's own context, what earlier turns left behind
(`carried`, `prior`), what is pinned (`pins`) and what is kept in mind (`memory`) become its tail
(`turn_context`). All of it is measured (`base`, `draft`, `measured`, `turn_list`, `tokens`). Then
it is decided what lasts (`settle`): how far old results are trimmed (`boundaries`, `trim_step`,
`shorter`), and whether old turns become a summary (`compaction_chain`, `summaries`, `outline`);
each decision is an entry, and the request is made from the path that ends with it. The guard
shortens and leaves out what the budget still has no room for (`guard`, `history`, `shrinking`,
`work`), the result is compared with the previous request (`cache`), told of (`accounting`,
`layer_parts`, `attachment_warnings`, `report`, `markdown`) and marked for the provider's cache
(`marks`). What comes out is a `PreparedRequest`, the only thing that a model is called with. Once a
turn has its answer, hooks may shape what later requests see of it (`turn_end`), and the chat may be
compacted apart from any request (`force`). Calls beside the turns, as that for a summary, pass the
same guard (`calls`).

    log lines ─ entries ─ active path ─ replay ─┐
    instructions, tools ────────── hooks ───────┼─ Base ─ settle ─ guard.enforce ─ PreparedRequest
    this turn's segments, earlier ones, memory ─┘           └─ transforms, `trim`, `drop`, one write

A request is made of layers, in the order of the wire: T tools, L1 instructions, L4 history, L2
carried over, L3 this turn's context, E notes, L5 what the user typed, W work in progress. Behind
them stands at most one message that belongs to this request alone.

Beside the pipeline stand pure functions over messages and envelopes that can be used on their own:
`trimming`, `patches`, `carry_forward`, `cleaner`, `offload`, `compaction`, `prompt`.

May import: the standard library. Must not: app, chains, vault, ui, resources, any third party.

Holds always:
- used ≤ budget for whatever leaves, and the layers' tokens add up to `used`;
- what the user typed is in the request, and the last answered turn is, unless the report says so;
- entries never change; what is left out is named, with its tokens and a reason;
- a patch is replayed over exactly the messages that its hook saw, and no hook runs for that;
- every tool call in a request has exactly one result behind it;
- from turn to turn what is sent up to the last answer only grows, and within a turn each request
  begins with the one before it, less its last message where that was for it alone; every exception
  has a reason in the report;
- trims and drops only move forward while the budget does not grow and the model stays, and rest
  between; a compaction stays, and after one trims are decided again;
- the newest answers are never trimmed, and what was shortened leaves half of the budget used where
  the history has that much in turns that fit;
- what the user said is never trimmed, and trimming or compacting never makes a history larger;
- the same inputs give the same bytes: no clock, no randomness, no I/O but through `Ports`.
"""
