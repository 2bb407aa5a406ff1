"""Indexing: from files in the folder to chunks, keywords and vectors.

    embed         Embed the texts that have no vector yet.
    indexer       One update of an index: scan, read, chunk, remove, and at the end embed.
    machine_load  Detect whether the machine is on battery or busy with other programs.
    priority      The order in which notes are indexed. Notes that a question names come first.
    progress      The progress of an update, and its report.
    relocate      Find the index of a folder that was moved or renamed.
    status        The status of an index, and health checks of its parts.
    throttle      Slow down or pause updates, and run them one at a time.
    watcher       Watch a folder for changes.

This package may import `resources.system`, and all of vault except `vault.vault` and
`vault.search`.
"""

__all__ = [
    "indexer",
    "machine_load",
    "priority",
    "progress",
    "relocate",
    "status",
    "throttle",
    "watcher",
]
