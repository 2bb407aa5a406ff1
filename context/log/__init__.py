"""The entries of a session log, from lines of a file to an active path.

    codec         What all entries of a log have in common: their place in it, and typed access to
                  their JSON.
    entries       The entries of a session log, one JSON object a line, read into values and back.
    parse         A log as it was written, read into entries: broken references mended, old
                  versions brought up.
    path_entries  The entries of which the tree of a chat is made: what was said, sent along, and
                  decided since.
    side_entries  The entries beside the tree of a chat: what happened, and what things are
                  called.
    tree          The tree that the entries of a log form: paths, branches, and what stands beside
                  each other.

May import: the contract modules.
"""

__all__ = ["entries", "parse", "tree"]
