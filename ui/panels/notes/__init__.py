"""Panels about notes: the note tree, one note, its sources and related notes.

    notes ──> folders ──> vault (tree)
    note ──> note ──> note_text;  citations ──> sources;  related notes ──> related

    folders    The notes of a vault as a tree of folders, rebuilt after each change.
    note       The panel that shows one note, opened at the cited lines.
    note_text  The text of a note with line numbers and Markdown highlighting.
    related    The panel of related notes: similar notes, and notes linked in either direction.
    sources    The sources of an answer: a row for each citation number, and whether it is
                   verified.
    vault      The notes of the open vault as a tree, each with its state.

May import: PySide6, `ui.widgets`, `ui.theme`, `ui.icons`, and values of the layers below.
"""

__all__ = ["folders", "note", "note_text", "related", "sources", "vault"]
