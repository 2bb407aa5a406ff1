"""Panels about notes: the vault tree, one note, its sources and related notes.

    folders      The notes of a folder as nodes below each other, made anew whenever something has
                 changed.
    note         A note as it lies on the disk, with line numbers, opened at the lines that were
                 cited.
    note_colors  Quiet colours for Markdown that is read as it is written: marks recede, headings
                 stand out.
    related      Notes that are near a note in meaning, or that a link leads to from it or back.
    sources      What an answer rests on: a row for each place it cites, and whether that bears it
                 out.
    vault        The notes of the open folder as a tree, each with what is the matter with it.

May import: PySide6, `ui.widgets`, `ui.theme`, `ui.icons`.
"""
