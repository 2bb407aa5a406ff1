"""What every view is built from: surfaces, controls, lists, figures, columns and docks.

    surfaces → controls → icons, theme, direction
    lists, choices, menu_button, find_bar, flow_row → controls;  columns → surfaces
    scaled → theme;  figures and docks stand alone

May import: PySide6, `ui.theme`, `ui.icons`, `ui.widgets.texts`. Must not: anything below `ui`,
nor a view.
Holds always: text is plain; what is cut has the whole as its tooltip; an icon button has a name;
lengths grow with the font scale and hairlines do not.
"""
