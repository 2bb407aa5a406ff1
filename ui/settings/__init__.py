"""The settings dialog, whose pages are generated from the settings schema of `app.config`.

    dialog         the dialog with its list of pages
    rows           the row of one setting: name, help, control, reset button
    fields         the controls for each kind of setting
    limit          the row of `autoCompactThreshold`, with a preview of its effect
    sections       sections that are not settings: text size, key, index, privacy
    ledger         the calls that left Strata
    instructions   the user's instructions and memories for models
    writer         writes settings in a task, in order, and reports errors to the row

May import: `ui.widgets`, `ui.panels.context.bar`, `ui.tasks`, `app`. Must not: `ui.window`,
`ui.controllers`.
Holds always: a refused value changes nothing, and its row shows the error.
"""

__all__ = ["dialog", "writer"]
