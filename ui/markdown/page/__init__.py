"""Markdown leaves in a Qt text document, and the view that shows and decorates the document.

`MarkdownView` in `view.py` is the widget that draws the text of an answer, streamed or complete.
`Answer` in `ui/chat/message/answer.py` keeps the text and passes it on to this widget.

    leaves ──> writer ──> document + decorations ──> view ──> painter
                 └─> formats, spacing, table          └─> wide, citations, code

    callout_folds  What is hidden until it is opened: folded callouts, and pages behind tabs.
    card         The card that shows the source of a citation while it is hovered or focused.
    citations    Hover, focus and clicks on citations and links, and a search for unverified
                 citations.
    code         Code blocks: highlighting of long code in small steps, and the copy buttons.
    decorations  Decorations of a document: backgrounds, markers, pills and lines, by text
                 position.
    formats      Qt's character and block formats for each kind of text, from the theme.
    formula_store  The formulas that are shown, once drawn, and those that wait to be drawn.
    formulas     Formulas in a document, drawn as vector pictures by QtSvg.
    geometry     Positions of text in a document after layout.
    images       Inserts images into a document, no wider than the text.
    lines        Source lines of Markdown and their positions in the document.
    note_view    `NoteView`, a Markdown view of one part of a note, which can highlight lines.
    painter      Paints the decorations behind and next to the text: backgrounds, pills, markers,
                 lines.
    spacing      The space between leaves, and the indentation of boxes.
    tasks        `TaskView`, a Markdown view in which the tasks of bases and queries can be ticked.
    tabs         Tabs within a text: the row of names, and the page that is chosen.
    table        The Qt formats and the column widths of a table, which `writer` writes.
    view         `MarkdownView`, the widget that draws one Markdown text. It redraws a streamed
                 answer every 33 ms, and never loads images or files.
    wide         Horizontal scrolling of code and tables that are wider than the view.
    writer       Writes leaves and tables: final leaves once, the others until the next update.

For example, a table is measured in `table`, written by `DocumentWriter._write_table`, and given its
scroll bar in `wide`.

This package may import PySide6, `ui.markdown`, `ui.widgets`, `ui.theme`, `ui.icons`, `ui.notify`,
and data types of `chains.citations.answer_sources`, `chains.citations.quotes` and `context.layers`.
Final text is not rewritten while more text arrives. The document contains plain text with formats,
never HTML. Copied text is the text as displayed, including citations such as `[1]`.
"""

__all__ = [
    "card",
    "formats",
    "formula_store",
    "images",
    "lines",
    "note_view",
    "spacing",
    "tasks",
    "view",
    "wide",
]
