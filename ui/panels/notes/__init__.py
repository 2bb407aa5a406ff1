"""Panels about notes: the note tree, one note, its sources and related notes.

    notes ──> folders ──> note_tree
    findings ──> review ──> finding
    note ──> note_panel ──> note_header
                 └────────> reader, note_text, image
    citations ──> sources;  related notes ──> related;  headings ──> outline

    comparison Two notes side by side, with the words lit in which they differ.
    finder     Search in the open note, including parts that are not drawn.
    finding    The card of one finding of a review, with its reason and buttons that open its notes.
    folders    The notes and images of a vault as a tree of folders, rebuilt after each change.
    image      The page that shows one image, fitted to the width of the panel.
    note_header  The header of the panel of a note: title, place and buttons.
    note_lines The lines of a note that its source view shows, and their place in the note.
    note_panel The panel that shows one note, rendered or as source text, at the cited lines.
    note_tree  The tree of folders, notes and images in the sidebar, with the state of each note.
    note_text  A note's source text with line numbers and Markdown highlighting.
    outline    The panel "Outline": the headings of the open note, with a filter.
    reader     A note's rendered text. Only the parts near the visible area are drawn.
    related    The panel of related notes: similar notes, and notes linked in either direction.
    review     The panel "Look after": findings of a review, with their reasons.
    sources    The sources of an answer: a row for each citation number, and whether it is
               verified.
    table_bar  The scroll bars of wide tables that a note shows in several parts.

This package may import PySide6, `ui.actions`, `ui.markdown`, `ui.widgets`, `ui.theme`, `ui.icons`,
`ui.notify`, `ui.panels.index.progress`, `app.faults`, and the value types of `app`, `chains`,
`context` and `vault`.
"""

__all__ = [
    "comparison",
    "finding",
    "folders",
    "image",
    "note_lines",
    "note_panel",
    "note_text",
    "note_tree",
    "outline",
    "reader",
    "related",
    "review",
    "sources",
]
