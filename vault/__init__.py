"""Notes in a folder, and an index for searching them.

`vault.Vault` is the public interface of this package. An index update runs top to bottom:

    scan                    names and attributes of the files; no note is opened
    notes                   bytes → text → structure; PDF, HTML and Word files in a child process
    embedding.chunking      structure → passages of at most 256 tokens, with their line numbers
    records                 notes, passages, keywords, links and tags → the catalog
    indexing.embed          texts without a vector → vectors, keyed by the hash of the text
    vectors                 the same vectors → Chroma, in a child process or on a server

All notes are read before any is embedded. `search` parses a query, ranks passages, boosts their
scores, and checks them against the notes on disk.

    access          the notes that a model may read: neither excluded nor private (`notes.note`)
    catalog         the SQLite database of an index; migrations, database_file: its schema, its file
    coverage        how many notes keyword search and semantic search can find so far
    edits           edits to notes: planned, journaled, applied, undone; review: notes to check
    embedder        the embedding process; embed_worker: its entry point
    embedding_versions  the vectors of two embedding models, kept at the same time
    errors, options, paths  the exceptions; the user's options; safe opening of files in the vault
    exclude         the rules that exclude notes: patterns (`rules`), Obsidian's "Excluded files"
    indexing        updates of an index: indexer, throttle, watcher, status
    search, listing searching, lists; questions: what is asked; ranking: weights; quotes: quotations
    vault, scope    `Vault`, `Scope`; open_index: opens an index; index_search: searches in it
    embeds, views   what notes embed; bases and Dataview queries, computed from the index
    vectors         the vector store; vector_worker: its entry point; workers: child processes

A moved note is recognised by its content (`records.RemovedNotes`), and not embedded again.

This package may import resources and third-party packages. Only `catalog`, `migrations` and
`database_file` import sqlite3, only `vector_worker` imports chromadb, and only
`embedding.torch_model` imports sentence-transformers and torch. The following rules always hold:
- Only `edits` writes into the vault, and only `paths` opens files in it.
- The catalog contains the whole index, so Chroma's files can be deleted at any time.
- Equal texts are embedded once. A crash leaves each `catalog.transaction` complete or undone. Then
  `indexing.indexer` continues with the next step, and `vectors` synchronizes with the catalog.
- A query is only compared with vectors of the model that encoded it.
- If the folder is not mounted, no note is removed. Private and excluded notes are not stored.
- Only the process that holds an index's file lock writes to it.
"""
