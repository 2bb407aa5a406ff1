"""The report of a request: the content of each layer, what was left out and why.

    RequestDraft ─ layer_parts ─→ LayerPart ─┐
    draft, guard's steps, cached prefix ─────┴─ context.accounting ─→ ContextReport
    ContextReport ─ to_dict ─→ JSON ─ markdown ─→ tables for a person

    report       `ContextReport` and its rows: layers, segments, `LeftOut`, `Prefix`, pins
    layer_parts  the parts of T, L1 and L4: tools, instructions, turns
    markdown     Markdown of a report and of its request, from their JSON
    warnings     a sentence for each attachment that is not sent whole

This package holds values and texts only. `context.accounting.make_report` builds a report;
`context.fit.cache` compares the cached prefix, and `context.fit.guard` lists what was left out.

May import: `context.assemble`, `context.history`, `context.log` and the contract modules.
Holds always: a stored report reads like a fresh one; the layers stand in the order of the wire.
"""

__all__ = ["layer_parts", "markdown", "report", "warnings"]
