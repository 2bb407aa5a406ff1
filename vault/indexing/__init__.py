"""Indexing: from files in the folder to chunks, keywords and vectors.

    embed         Texts without a vector get one, and the vector store gets it too.
    embedders     The embedding children of one index: one a model, started when it is first
                  needed.
    health        Each part of an index, tried for real.
    indexer       Bringing the index up to date with the folder.
    machine_load  What the machine is under: running on its battery, or busy with other programs.
    progress      What an indexing run tells while it goes, and when it is done.
    relocate      A folder of notes that lies elsewhere than it did: whose index it has.
    status        How an index stands: what it holds, what it leaves out and why, and what it
                  takes on the disk.
    throttle      How fast an index is brought up to date: at full speed, half of the time, or not
                  for now.
    watcher       Changes of a folder as they happen, gathered so that a flood of them is one
                  call.

May import: everything of vault but `vault.search`.
"""
