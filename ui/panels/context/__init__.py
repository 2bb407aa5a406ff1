"""The context panel: what the next request would hold, or what an earlier one held.

    report ──> scale ──────────> bar ───────────┐
           ──> parts ──────────> rows ──────────┤
           ──> left_out ───────> left_out_list ─┼──> panel
           ──> notice, words ───────────────────┘

    bar            The stacked bar: the window of a request, layer by layer in the order of the
                   request.
    left_out       Rows for everything that a request leaves out or shortens: layer, tokens and
                   reason.
    left_out_list  The list "Left out of this request", each row with its details below it.
    notice         The notice above the rows: the most important problem of a request, and its
                   actions.
    panel          The context panel: headline, bar, layers, what was left out, reuse, memory and
                   pins.
    parts          Rows for each layer of a request and each segment in it.
    rows           The tree of layers with their segments, and the list of pins.
    scale          Positions on the bar: layers, free space, reserve, and the marks.
    sections       Sections below the rows: a section with a heading, and the memory of the chat.
    words          Texts of the context panel: labels of the report, the window, reuse and
                   prices.

`ContextPanel` emits a signal for each action; `ui.controllers.context` performs it.
May import: PySide6, `ui.widgets`, `ui.theme`, `ui.icons`. Must not: anything below `ui`, since the
panel is part of the first paint.
Holds always: each figure is one of the report; only shares and prices are computed here.
"""

__all__ = ["bar", "notice", "panel", "words"]
