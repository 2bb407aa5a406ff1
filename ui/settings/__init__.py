"""The pages of the settings dialog, made from the schema.

    writer   the one way to a setting: in a task, in order, each answer to the row that asked
    rows     name, help, control, reset
    fields   the controls, made by the kind of the setting
    limit    the row of `autoCompactThreshold`, which shows its effect
    extras   what stands on a page beside its settings: keys, the index, what leaves the computer
    instructions   the user's own instructions for models

May import: `ui.widgets`, `ui.panels.context.bar`, `ui.tasks`, `app`. Must not: `ui.window`,
`ui.controllers`.
Holds always: a value that is refused changes nothing, and the row says what it takes.
"""
