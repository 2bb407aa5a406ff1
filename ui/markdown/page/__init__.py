"""From leaves to a page: a text document, and the view that shows it and paints under it.

    view → writer (leaves into a document, the tail taken back) → formats, letters, spacing
         → painter (backgrounds, pills, marks) → ink, geometry
         → wide (code and tables that scroll in themselves), doubts (citations to be marked)
         → card (what a citation stands for)

May import: PySide6, `ui.theme`, `ui.icons`, `ui.controls`, `ui.markdown`.
Holds always: what was written for good is never written again while text arrives; the document
is plain text in formats, never set from HTML; copying gives what is read, `[1]` included.
"""
