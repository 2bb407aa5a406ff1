"""The notes in a folder, and the index that makes them searchable.

`index.VaultIndex` is the face to the packages above. One update runs from top to bottom:

    scan                    names and attributes of the folder; no note is opened
    notes                   bytes → text → structure; PDF, HTML and Word files in a child process
    embedding.chunking      structure → passages of at most 256 tokens, with lines of the file
    records                 notes, passages, keywords, links and tags → the catalog
    indexing.embed          texts without a vector → vectors, by the hash of the text
    vectors                 the same vectors → Chroma, in a child process or on a server

A search goes the other way: `search` parses the query, ranks passages by keywords and vectors,
fuses and boosts the scores, and checks the passages against the notes on the disk.

    access          the notes that a model may read
    catalog         the SQLite database of an index; migrations: its schema
    edits           edits of notes: planned, journaled, applied, undone
    embedder        the child process that embeds; embed_worker: its entry point
    embedding_versions  the vectors of two embedding models, kept at the same time
    errors, options, paths  the errors; the user's options; opening files, inside the vault only
    exclude         the rules that exclude notes: patterns, and Obsidian's "Excluded files"
    index           `VaultIndex`; open_index: opens, locks and repairs an index
    indexing        updates of an index: indexer, throttle, watcher, status
    search          searching, listing, related notes, explanations
    vectors         the vector store; vector_worker: its entry point
    workers         child processes and their messages

A renamed or moved note is recognised in `records`: `RemovedNotes.take` matches a new file with a
removed note of the same content, and `Records.rename` changes the path. Nothing is embedded again.

May import: resources and third parties; sqlite3 in `catalog` and `migrations` alone, chromadb in
`vector_worker`, sentence-transformers and torch in `embed_worker`.

Always true:
- Only `edits` writes into the vault. Files are opened by `paths` alone.
- The catalog is the source of the index; Chroma can be deleted at any time.
- Equal texts are embedded once. Committed work is never repeated.
- A query is only compared with vectors of the model that encoded it.
- An unmounted folder removes no note from the index. Private and excluded notes are not stored.
- One process owns an index, by file lock; others only read. A damaged catalog is replaced.
"""
