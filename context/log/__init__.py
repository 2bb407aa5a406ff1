"""Parse a session log into entries, and find the active path.

    lines of a file ── parse ── entries ── tree ── active path

    entries  The entry types, on the path and outside it. A new type is one class and one row here.
    codec    The conversion of entries to and from JSON, by a table of fields.
    parse    The parser of a whole log. It repairs broken references and converts old versions.
    tree     The tree that the entries form: paths, branches, siblings.

May import: the contract modules. Always true: an entry that is read and written again keeps its
keys and their order, and also fields that its type does not define.
"""

__all__ = ["entries", "parse", "tree"]
