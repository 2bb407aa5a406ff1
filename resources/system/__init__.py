"""Files, folders and processes, on Linux, macOS and Windows: the lowest package of Strata.

    app, chains, ui, vault ──→ files ──→ calls ──→ the operating system
             │                             └─→ names
             └──→ processes ──→ the operating system

    calls      The calls for files in which the systems differ.
    copies     Find the copies that sync programs make, and take them over once they are whole.
    files      Safe files: atomic replacement, appending, reading, private folders, locks.
    line_chain  Lines of JSON that carry a hash of the line before and of themselves.
    names      The names and paths that Windows and macOS read in their own way.
    processes  The calls for processes, signals and memory in which the systems differ.

This package may import the standard library only. The following rules always hold:
- Only `calls` and `processes` ask which system it is, and use what one of the three lacks.
- No other module writes, renames, syncs or locks a file by itself.
- A file that is opened for writing is never reached through a link as its last part.
- What `files` reports as written is on the disk.
"""

__all__ = ["calls", "copies", "files", "line_chain", "names", "processes"]
