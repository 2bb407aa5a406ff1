"""The report of a request: what each layer holds, what was left out and why.

    attachment_warnings  Warnings about what the user attached to a turn and a request holds only
                         in part, or not at all.
    layer_parts          What the layers without segments hold: each tool, each part of the
                         instructions, the turns.
    markdown             A report, and the request that it tells of, as Markdown.
    report               What a request held, what was left out of it and why, as JSON and as
                         Markdown.

May import: `context.assemble`, `context.history`, `context.log`.
"""

__all__ = ["layer_parts", "markdown", "report", "warnings"]
