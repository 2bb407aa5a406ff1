"""Define `Request`, and assemble its draft, with token counts by layer.

    new Request ─ apply_hooks ─→ conversation ─────────┐
    sources of earlier turns ─ attachments ─→ L2 ──────┼─ builder ─→ drafted Request
    passages ─ turn_context ─→ L3 within its share ────┘

    request       `Request`, from its inputs to the form that is sent; `state` says how far it is
    inputs        values that it is given: history policy, deferred tools, `Ports` to the outside
    apply_hooks   hooks of `before_request`, `ephemeral` and `turn_end`; patches → log entries
    attachments   carry-forward (L2): the attachments and cited notes of earlier turns, shortened
    turn_context  the share of a turn's passages; the tokens that history leaves free for the tail
    builder       `draft_request`: puts the parts together, with the trims and drops of the path

`context.layers.WIRE_ORDER` defines the order on the wire. `Tail` and `RequestDraft`
(`context.draft`) sort their parts with `sort_by_wire`. `builder` applies the trims and drops that
are stored in the log, and leaves out the sources and passages that exceed their share.
`context.fit` does the rest.

This package may import `context.report`, `context.draft`, `context.history`, `context.log` and the
contract modules. L2 is built with the first request of a turn and then kept. A source that is now
excluded is not sent. Hooks run before a request is sent and at the end of a turn, but not for a
preview. Rendered text is never parsed back into segments.
"""

__all__ = ["apply_hooks", "attachments", "builder", "inputs", "request", "turn_context"]
