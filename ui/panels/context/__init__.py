"""The context panel, which shows the content of the next request or of an earlier one.

    report ──> scale ──────────> bar ───────────┐
           ──> layer_rows ─────> layer_tree ────┤
           ──> left_out ───────> left_out_list ─┼──> panel
           ──> notice, words ───────────────────┘

    bar            The stacked bar that shows a request's layers within the model's window.
    compaction     The dialog that shows a compaction and lets the user edit its summary.
    layer_rows     Rows for each layer of a request and each segment in it.
    layer_tree     The tree of layers with their segments, and the list of pins.
    left_out       Rows for everything that a request omits or shortens.
    left_out_list  The list "Left out of this request", with details below each row.
    notice         The notice above the rows: a request's main problem, and actions to solve it.
    panel          The context panel: headline, bar, layers, omissions, reuse, memory and
                   pins.
    scale          Positions of layers, free space, reserve and threshold marks on the bar.
    memory_view    The chat's memory, shown as lines and edited in fields.
    sections       Sections below the rows, and the text of the chat's memory.
    words          Texts of the context panel: labels, window, reuse and prices.

A layer is one kind of content in a request, such as the tools, the notes or the history.
`ContextPanel` emits a signal for each action, and `ui.controllers.context` performs it. All numbers
come from the request report, except shares and prices, which are computed here.

This package may import PySide6, `ui.widgets`, `ui.theme`, `ui.icons`, `context.layers`, the types
of `context.report`, and, on first use, `app.config.schema`, `context.history.memory` and
`context.history.pins`. It must not import anything else below `ui`, because the panel is part of
the first paint.
"""

__all__ = ["bar", "compaction", "notice", "panel", "words"]
