"""The settings dialog: its pages are made from the settings schema of `app.config`.

    dialog         the pages, and what belongs to the dialog as a whole
    rows           one setting: name, help, control, reset
    fields         the controls, one for each kind of setting
    limit          the row of `autoCompactThreshold`, with a preview of its effect
    sections       sections that are not settings: text size, key, index, privacy
    instructions   the user's own instructions for models
    writer         writes settings in a task, in order, and reports errors to the row

May import: `ui.widgets`, `ui.panels.context.bar`, `ui.tasks`, `app`. Must not: `ui.window`,
`ui.controllers`.
Holds always: a refused value changes nothing, and its row says which values are allowed.
"""

__all__ = ["dialog", "writer"]
