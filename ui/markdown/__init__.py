"""From Markdown to leaves: what a text says, before anything is drawn. No Qt.

    text → stream (cuts off what is final) → parser → reader (units) → blocks (leaves)
                                                        ↳ inline, tables, callouts, code_colors

May import: markdown-it-py, its plugins, Pygments, `ui.widgets.texts`. Must not: PySide6,
anything else of ours.
Holds always: HTML is text; an address that `links` does not allow is text; nothing is fetched;
a text read in pieces gives the leaves of the text read at once, and each piece is read once.
"""
