"""Parse a session log into entries, and find the active path.

    lines of a file ── parse ── entries ── tree ── active path

    entries  The entry types, on the path and outside it. A new type is one class and one row here.
    codec    The conversion of entries to and from JSON, by a table of fields.
    parse    The parser of a whole log. It repairs broken references and converts old versions.
    merge    Merges two versions of a log, so that no entry of either is lost, and chooses the
             active branch.
    tree     The tree that the entries form: paths, branches, siblings.

This package may import the contract modules. An entry that is read and written again keeps its keys
in their order, and also the fields that its type does not define.
"""

__all__ = ["entries", "merge", "parse", "tree"]
