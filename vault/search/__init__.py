"""Search: from a query to ranked hits.

    adhoc          Search within texts that are at hand, such as a note that is too large to be
                   sent whole.
    boosts         Small, bounded lifts from the structure around a passage.
    exact          The nearest passages by exact scan of the catalog's vectors.
    excerpts       Long passages as the few sentences in them that a query is about.
    explain        Why a note was or was not among the hits: an answer in a sentence or two.
    fusion         How two rankings become one: scores on a common scale, weighed by the query and
                   by themselves.
    hits           What a search gives back.
    listing        The whole set of notes that a query selects, in pages: nothing ranks low enough
                   to be left out.
    note_context   Where passages stand: what their notes are called, carry and link to, as a
                   catalog has it.
    passages       The passages of a catalog as a search needs them: few statements, however many
                   candidates.
    query          What a person types into a search: words, and filters among them.
    query_context  What a query names of the notes around it: names, tags, folders, days, and
                   notes with links.
    related        Notes that are near a note in meaning, or linked with it; no model is needed
                   for that.
    rerank         The best passages put in order once more by a cross-encoder, which reads each
                   beside the query.
    scope          Which passages a query's filters leave to be searched.
    search         Search by words and by meaning, fused with weights that adapt to the query.
    selftest       How well this vault's own search finds this vault's own notes.
    staleness      What was found against what is on the disk now, which wins.

May import: everything of vault but `vault.index`.
"""
