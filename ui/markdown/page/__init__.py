"""A page: Markdown leaves in a Qt text document, with the view that shows and decorates it.

    leaves ──> writer ──> document + decorations ──> view ──> painter
                 └─> formats, spacing, table          └─> wide, citations, code

    card         The card that shows the source of a citation while it is hovered or focused.
    citations    Hover, focus and click on citations and links, and which citations are
                 unverified.
    code         Code blocks: highlighting of long code in small steps, and the copy buttons.
    decorations  Decorations of a document: backgrounds, markers, pills and lines, by text
                 position.
    formats      Qt's character and block formats for each kind of text, from the design tokens.
    geometry     Positions of text in a document after layout.
    painter      Paints the decorations under and beside the text: backgrounds, pills, markers,
                 lines.
    spacing      The space between leaves, and the indentation of boxes.
    table        The formats of a table: full width, padded cells, no lines of its own.
    view         The view of one Markdown text, which may grow while it is read; nothing is
                 fetched.
    wide         Horizontal scrolling of code and tables that are wider than the page.
    writer       Writes leaves into a document: final ones once, those of the tail until they are
                 replaced.

May import: PySide6, `ui.markdown`, `ui.widgets`, `ui.theme`, `ui.icons`, `ui.notify`.
Holds always: final text is never written again while more arrives; the document holds plain text
with formats, never HTML; copied text is what is read, with `[1]`.
"""

__all__ = ["card", "formats", "spacing", "view"]
