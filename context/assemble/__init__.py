"""Assemble one request from the layers, and measure each part.

    apply_hooks   The base of a request: its path replayed, then shaped by the hooks of this run.
    attachments   L2: what earlier turns left behind, as the model is reminded of it.
    base          What a request would be without trimming it any further, without compaction and
                  the guard.
    inputs        What a request is made from, and what the making needs from outside.
    request       A request on its way through the pipeline: what is in it, how large that is, how
                  it renders.
    turn_context  How much of a turn's own context its last message may hold.
    turn_end      The end of a turn: hooks look at what it came to, and may shape what later
                  requests see of it.

May import: `context.history`, `context.log` and the contract modules.
"""

__all__ = ["apply_hooks", "attachments", "builder", "inputs", "request", "turn_context"]
