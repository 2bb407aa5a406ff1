"""The context panel: what the next request would hold, or what an earlier one held.

A *Context*, as the report gives it, runs through plain values to widgets: `scale` places it on the
bar, `parts` and `left_out` make rows of it, `notice` finds the one thing worth saying, `reuse` the
words and the price of what is not read anew. `bar`, `rows` and `lists` draw them, `panel` puts
them below each other. No figure is made up here: each is the report's own, and only shares and
prices are computed.

What the user wants is told by signals of `ContextPanel`; who grants it is the business of
`ui.controllers.context`. Nothing below `ui` is imported here, since the panel is painted before
that is loaded.
"""

from ui.panels.context.panel import ContextPanel

__all__ = ["ContextPanel"]
