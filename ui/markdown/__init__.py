"""Markdown without Qt: from a text that grows to leaves that can be drawn.

    text ──> stream ──> parser ──> reader ──> blocks (leaves)
                                     └──> inline, code_colors

    blocks       Leaves of a Markdown text: a flat list of blocks, each with the boxes it is
                 nested in.
    code_colors  Syntax highlighting by Pygments: lines of code with the names of their colours.
    inline       Converts the parser's inline tokens to runs of text, and checks addresses of
                 links.
    parser       The Markdown dialect of answers: CommonMark, mathematics, and what Obsidian adds
                 to it.
    reader       Converts the parser's block tokens to leaves, cut into units that become final
                 one by one.
    stream       Reads a Markdown text that grows, so that each part becomes final once.
    page         draws the leaves in a Qt text document

May import: markdown-it-py, its plugins, Pygments, `ui.widgets.texts`. Must not: PySide6 (except
`page`), other modules of ours.
Holds always: HTML is text; an address that is not on the allow-list is text; nothing is fetched; a
text read in pieces gives the same leaves as the whole text, and each piece is read once.
"""

__all__ = ["blocks", "inline", "stream"]
