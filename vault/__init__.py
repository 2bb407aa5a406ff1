"""Notes on disk, and the index over them.

`index.VaultIndex` is the face to the packages above. One update runs from top to bottom:

    scan                    names and attributes of the folder; no note is opened
    notes                   bytes → text → structure; PDF, HTML and Word files in a child process
    embedding.chunking      structure → passages of at most 256 tokens, with lines of the file
    records                 notes, passages, keywords, links and tags → the catalog
    indexing.embed          texts without a vector → vectors, by the hash of the text
    vectors                 the same vectors → Chroma, in a child process or on a server

A search goes the other way: `search` parses the query, ranks passages by keywords and vectors,
fuses and boosts the scores, and checks what it found against the notes on the disk.

    access          the notes that a model may read
    catalog         the SQLite database of an index; migrations: its schema
    embedder        the child process that embeds; embed_worker: its entry point
    embedding_versions  the vectors of two embedding models side by side
    errors, options, paths  errors; the user's choices; opening files inside the vault only
    exclude         the rules that exclude notes: patterns, and Obsidian's "Excluded files"
    index           `VaultIndex`; open_index: opening, owning and repairing an index
    indexing        updates of an index: indexer, throttle, watcher, status
    search          searching, listing, related notes, explanations
    vectors         the vector store; vector_worker: its entry point
    workers         child processes and their messages

May import: resources and third parties; sqlite3 in `catalog` and `migrations` alone, chromadb in
`vector_worker`, sentence-transformers and torch in `embed_worker`.

Always true:
- Nothing is written into the vault. Files are opened by `paths.open_inside` alone.
- The catalog is the source of the index; Chroma can be deleted at any time.
- Equal texts are embedded once. What is committed is never done again.
- A query is only compared with vectors of the model that encoded it.
- An emptied or unmounted folder removes no note. A private or excluded note leaves no text.
- One process owns an index, by file lock; others read. A damaged catalog is replaced.
"""
