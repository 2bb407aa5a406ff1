"""Widgets that all views share: surfaces, controls, lists, columns and docks.

    theme, icons ──> texts, geometry ──> controls ──> surfaces, lists, menus ──> columns, docks

    columns          The three columns of the window, and how they adapt to its width.
    completion_list  A list of suggestions while typing: best matches first, with the matched
                     letters marked.
    controls         Labels and buttons, the small widgets that all views are built from.
    docks            A window of docks that keeps the proportions of their heights.
    figures          Numbers, sizes, prices and times as text in the user's locale.
    find_bar         A search field with the number of matches and buttons for the previous and
                     next one.
    flow_row         A row of widgets that wraps to as many lines as it needs.
    geometry         Sizes that follow the font scale, the width of the text column, and scroll
                     areas.
    lists            Lists and trees: rows of one height, each painted from one description.
    long_list        Lists of any length with two lines in each row: a title and a detail.
    menus            A button that opens a menu of choices and shows the chosen one.
    surfaces         Surfaces of the window: panes, headers, hairlines, notices and accessible
                     frames.
    texts            The direction and script of a text, and plain text for the clipboard.

May import: PySide6, `ui.theme`, `ui.icons`, `context.layers` for the names of lines. Must not: a
view, other modules below `ui`.
Holds always: text is plain; a text that is cut has a tooltip with the whole; an icon button has an
accessible name; sizes follow the font scale.
"""

__all__ = [
    "columns",
    "completion_list",
    "controls",
    "docks",
    "figures",
    "find_bar",
    "flow_row",
    "geometry",
    "lists",
    "long_list",
    "menus",
    "surfaces",
    "texts",
]
