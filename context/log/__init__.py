"""Read the lines of a session log into entries, and entries into an active path.

    lines of a file ── parse ── entries ── tree ── active path

    entries  The entry types, on the path and beside it. A new type is one class and one row here.
    codec    Conversion between an entry and its JSON, by a table of fields.
    parse    A whole log: broken references repaired, old versions converted.
    tree     The tree that the entries form: paths, branches, siblings.

May import: the contract modules. Holds always: an entry that is read and written again keeps its
keys, their order, and what its type does not know.
"""

__all__ = ["entries", "parse", "tree"]
