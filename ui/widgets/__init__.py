"""Widgets that several views use: surfaces, controls, lists, columns and docks.

    theme, icons ──> texts, layouts, geometry ──> controls ──> buttons ──> surfaces, lists, menus
                                                                             └──> columns, docks

    buttons          Buttons and switches, and the texts of buttons: label, tooltip and shortcut.
    columns          The window's three columns, which adapt to its width.
    completion_list  A list of suggestions for typed text: best matches first, matching letters in
                     bold.
    controls         Labels and icons, and functions that draw text and focus rings.
    dialogs          File choosers, and what happens after a dialog: focus, hover highlights.
    diff             A diff of notes: removed and added lines, with the changed words highlighted.
    docks            Keep the proportions of the docks' heights in a window.
    drags            Drag notes, images and answers out of widgets.
    find_bar         A search field, and a search bar with the number of matches and buttons for the
                     next and previous match.
    flow_row         A row of widgets that wraps to as many lines as it needs.
    formatting       Format numbers, sizes, prices, durations and dates in the user's locale.
    geometry         Sizes that follow the font scale, the width of the text column, and scroll
                     areas.
    layouts          Rows and columns of widgets, described by their items, margins and spacing.
    lists            Lists and trees whose rows are drawn from `Row` values.
    long_list        Long lists with two lines in each row: a title and a detail.
    menus            A button that opens a menu of choices and shows the chosen one, and
                     context menus.
    rows_model       The Qt model of lists, tables and trees of two levels: rows as plain values,
                     of which views learn only what changes.
    surfaces         Surfaces of the window: panes, headers, hairlines, notices and accessible
                     frames.
    texts            The direction and script of text, and plain text for one line, for the
                     clipboard, for names and for hints.
    toast            A short message over the chat, with at most one action.

This package may import PySide6, `ui.theme`, `ui.icons`, `ui.actions`, `app.hidden_characters` for
names, `app.config.schema`, `app.errors` and `context.fixes` for errors and hints, `context.layers`
for the names of layers, and `vault.edits.diff` for the lines of a diff. It must not import views or
other modules below `ui`.

Text is plain text, and elided text has a tooltip with the full text. A button has a
tooltip, and an icon button an accessible name. Sizes follow the font scale.
"""

__all__ = [
    "buttons",
    "columns",
    "completion_list",
    "controls",
    "dialogs",
    "diff",
    "docks",
    "drags",
    "find_bar",
    "flow_row",
    "formatting",
    "geometry",
    "layouts",
    "lists",
    "long_list",
    "menus",
    "rows_model",
    "surfaces",
    "texts",
    "toast",
]
