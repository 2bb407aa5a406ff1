"""A page: Markdown leaves in a Qt text document, with the view that shows and decorates it.

`MarkdownView` in `view.py` is the widget that draws the text of an answer, streamed or complete.
`Answer` in `ui/chat/message/answer.py` keeps the text and passes it on to this widget.

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
    painter      Paints the decorations behind and next to the text: backgrounds, pills, markers,
                 lines.
    spacing      The space between leaves, and the indentation of boxes.
    table        The Qt formats of a table: full width, padded cells, no borders.
    view         `MarkdownView`, the widget that draws one Markdown text, such as an answer while
                 it streams. It never loads images or files.
    wide         Horizontal scrolling of code and tables that are wider than the view.
    writer       Writes leaves into a document: final leaves once, tail leaves until the next
                 update replaces them.

May import: PySide6, `ui.markdown`, `ui.widgets`, `ui.theme`, `ui.icons`, `ui.notify`,
values of `context.layers`.
Holds always: final text is not written again while more text arrives. The document contains plain
text with formats, never HTML. Copied text is the text as it is read, with citations such as `[1]`.
"""

__all__ = ["card", "formats", "spacing", "view"]
