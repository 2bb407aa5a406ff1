"""Citations: which source an answer names, and whether its quotations are in it.

    check          Numbers and quotations of an answer, checked against the sources as they were
                   sent.
    claims         Reading an answer: its numbers in brackets, its quotations, and which belongs
                   to which.
    headings       Under which heading a place in a passage stands, where the passage holds
                   several sections.
    masking        Hiding what is no prose in an answer: code, the addresses of links, footnotes.
    quotes         Finding a quotation in the text that it is said to come from.
    reading_notes  Notes that a model took on some lines of a text, as far as the text bears them
                   out.
    sentences      The sentences of a passage of Markdown, in the note's own words and without its
                   marks.

May import: `chains.errors`, `chains.events`, context, vault.
"""
