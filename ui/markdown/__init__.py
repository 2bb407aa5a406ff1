"""Parse Markdown into the blocks that `page` draws, which are called leaves.

The text may still grow while it is parsed. The parser does not use Qt.

    text ──> stream ──> parser ──> reader ──> blocks (leaves)
                                     └──> inline, code_colors

    blocks       Leaves: the blocks of Markdown text as a flat list, each with the boxes it is
                 nested in.
    code_colors  Syntax highlighting with Pygments: lines of code with the names of their colours.
    embeds       Embedded notes: the leaves to draw in place of them, and why one is not shown.
    inline       Converts the parser's inline tokens to runs of text, and checks link addresses.
    note_parts   Cuts a note into parts that are parsed and drawn one by one.
    parser       The Markdown dialect of answers and notes: CommonMark, mathematics, and Obsidian's
                 additions.
    properties   The properties of a note as a table.
    reader       Converts the parser's block tokens to leaves, cut into units that become final
                 one by one.
    stream       Reads Markdown text that grows: finished parts never change, and marks that are not
                 complete at its end are closed or hidden.
    page         Draws the leaves in a Qt text document.

This package may import markdown-it-py and its plugins, Pygments, `ui.widgets.texts` and
`vault.notes`. It must not import other packages of Strata, nor PySide6 (except in `page`).

HTML is shown as text, and so is a link whose address is not allowed. No image or other resource is
loaded. A leaf is final when text that arrives later can no longer change it. Text that is read in
pieces yields the same leaves as the complete text. Text whose leaves are final is not parsed again.
"""

__all__ = ["blocks", "embeds", "inline", "note_parts", "parser", "stream"]
