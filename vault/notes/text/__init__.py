"""The text of notes: the one place that reads Markdown, for whole notes and for passages.

markdown-it parses a note once, when it is indexed or read. Each line then has a kind, which is
stored with its passage, so that no search parses Markdown and all agree on what is code, a heading,
a comment or text.

    data        Leaves out what is no text, such as pictures in base64.
    document    Parses a note: front matter, headings, blocks and conflicts of Git.
    inline      The inline syntax of notes: tags, inline fields, block names, comments.
    lines       The kinds of lines, from the blocks that the parser found.
    markdown_text
                `MarkdownText`: a note or a passage with the kinds of its lines and its headings.
    markup      Removes the markup from a text, to show, compare or count what it says.
    scan        The kinds of lines without parsing, for texts that are very long or still grow.
    sentences   The ends of sentences in a paragraph.
    stems       `WordStems`: finds the words of a query in other texts, in any of their forms.

This package may import `vault.notes`.
"""

__all__ = [
    "data",
    "document",
    "inline",
    "lines",
    "markdown_text",
    "markup",
    "scan",
    "sentences",
    "stems",
]
