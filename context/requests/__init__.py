"""Read the layers of a request that was sent, and leave parts of it out.

    body, layout ─ layout ─→ texts by layer ─ parts ─→ parts ─ content ─→ body without some of them

    layout      Note what tells the layers of a request's body, and read them again.
    parts       List what can be left out: sources, turns, steps with tools, images, layers.
    content     `KeptContent`, the content of a request with or without some of its parts.
    names       Leave out the names of notes that models may not read now.

`context.pipeline.prepare_again` makes a request of it that can be sent, which passes the guard as
every request does. What is left out is cut out of the body as it was sent, so that the rest stays
the same, byte for byte.

This package may import `context.assemble`, `context.report` and the contract modules.
"""

__all__ = ["content", "layout", "names", "parts"]
