"""Notes: from the bytes of a file to a document with headings, links and properties.

    anchors        Places in a note that links name behind `#`: headings, pages and blocks.
    dates          Days, months and years that a text names, as spans of days.
    encodings      Bytes to text: the encoding is told by what the bytes are, and never guessed at
                   the text's cost.
    inline         What stands inside the lines of a note: tags, inline fields, tasks, block
                   names, comments.
    keywords       Text as words of the full-text index, the same way for notes and for queries.
    kinds          The kinds of files that are read, told apart by their names.
    links          Links between notes: wikilinks and relative Markdown links, and what they lead
                   to.
    markdown       The structure of a Markdown text: front matter, headings, blocks, and what is
                   code.
    note           One note as it lies on disk: its bytes, its text, and what that says about it.
    pages          The page that a passage of a paged file stands on, told from what its reader
                   made of the file.
    parser_client  Files read by libraries that hostile bytes may crash: in a child process, one
                   file at a time.
    parser_worker  The child that reads PDF, HTML and Word files: what crashes or swells here
                   harms nothing else.
    properties     Front matter as texts, lists and mappings; hostile or broken YAML counts as
                   none.
    stop_words     Words that ask or join and say nothing of the subject, without case and
                   accents.

May import: `vault.errors`, `vault.paths`, `vault.workers`.
"""
