"""The context report: what each layer of a request contains, and what was left out and why.

    RequestDraft ─ layer_parts ─→ LayerPart ─┐
    draft, guard's steps, cached prefix ─────┴─ context.accounting ─→ ContextReport
    ContextReport ─ to_dict ─→ JSON ─ markdown ─→ Markdown for people
                  ←─ reader ───┘

    report       `ContextReport` and its rows: layers, segments, `LeftOut`, `Prefix`, pins
    layer_parts  the parts of T, L1 and L4: tools, instructions, turns
    markdown     Markdown for a report and for its request, from their JSON
    reader       read a report from its JSON
    warnings     a sentence for each attachment that is not sent whole

This package holds values and texts only. `context.accounting.make_report` builds a report. A
program that prints one adds its own keys to the JSON (`app.sessions.request_history`).
`context.fit.cache` compares the cached prefix, and `context.fit.guard` lists what was left out.

This package may import `context.draft`, `context.history`, `context.log` and the contract modules.
A stored report is rendered in the same way as a new one, and lists the layers in the order in which
they are sent.
"""

__all__ = ["layer_parts", "markdown", "reader", "report", "warnings"]
