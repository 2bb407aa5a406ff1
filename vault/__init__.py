"""Notes on disk, and the index over them.

`store.VaultIndex` is the face to the packages above, `finding` the side of it that is asked. One
update runs from top to bottom:

    scan      names and attributes of the folder          no note is opened
    notes     bytes → text → structure                    encodings, markdown, links
    readers   PDF, HTML, Word, canvas → text              a child: what may crash
    chunking  structure → passages of ≤ 256 tokens        lines are those of the file
    records   passages, words, links, tags                committed as they come
    embedder  texts without a vector → vectors            a child: sentence-transformers
    catalog   vectors, by the hash of their text          committed batch by batch
    vectors   the same vectors in Chroma                  a child: chromadb, or its client

What a note says is taken apart by `markdown` (blocks), `properties` (front matter), `inline` (tags,
fields, tasks), `links` and `anchors` (places in it); `kinds` tells by the name how a file is read,
`pages` on which page of it a passage stands.
`rules` keeps files out by their names (`patterns`, and Obsidian's own by `ignore_filters`), and
`access` is the way to a note for whatever a model may see.

A run looks at the whole folder (`indexer`), or at the names that `watcher` tells, at a price that
does not grow with the vault. It goes at a `throttle`: paused, or in the background slower where the
machine is under `strain`, but at full speed while a person waits. What is open of an index is in
`opened`, how it stands in `status`, and `health` tries each part of it. `moved` finds the index of
a folder that lies elsewhere than it did. `options` are what the user may choose: a server for the
vectors, and a model (`embedding_models`, `embedders`), whose vectors are gathered beside the old
ones (`generations`).

A search goes the other way. In a folder that is watched, it first waits, three seconds at most,
until what has just changed is taken up, and it says where the index is not complete. `query` takes
the filters out of its text, `scope` finds what they leave; then words by FTS5 (`words`, `passages`)
and, encoded meanwhile, meaning by Chroma or, where that is not ready, filters count or the vectors
are few, by an exact scan of the catalog (`vectors`, `exact`); then both by `fusion`, lifted
(`lifts`) by the names, tags, days (`named_dates`) and links that the query names (`structure`,
`places`). What is found is held against the disk as it is now (`freshness`) and given as `hits`.
Beside it are `related` notes, `why_not`, `self_test`. Where the user chose a cross-encoder,
`rerank` puts the first passages in order. For whoever reads them, hits of long notes are cut to
`excerpts`; a model gets whole passages. `listing` gives the whole set that a query selects, in
pages, where a search gives the best of it. `within` searches texts that are at hand the same way,
in a catalog for that moment.

Children (`child`, `frames`; `foreign` is that of the readers) are started with `python -P`, a
neutral working directory and few variables of the environment (no key, no import path), speak
frames over their standard input and output, listen on nothing, and end when that input closes.

May import: resources and third parties; sqlite3 in `catalog` and `migrations` alone, chromadb in
`vector_worker`, sentence-transformers and torch in `embed_worker`. Must not: app, chains, context,
ui.

Holds always:
- Nothing is written into the vault, and no file is opened but by `paths.open_inside`, which follows
  no link that appears meanwhile.
- The catalog is the truth of the index; Chroma can be thrown away at any time.
- Equal texts are embedded once: a move or a rename (of the whole folder, too), a touch or another
  passage's edit embeds nothing.
- What is committed is never done again; a kill at any point costs the batch in flight.
- A query is only ever compared with vectors of the model that encoded it.
- A folder that is not there, or emptied by an unmounted drive, removes no note from the index.
- A private or excluded note leaves no text in the index.
- PDF, HTML and Word files reach their libraries only in a child of bounded time and memory.
- A damaged catalog is set aside and made anew, whichever call finds the damage (`finding.mends`).
- One process owns an index, by file lock; everybody else reads.
"""
