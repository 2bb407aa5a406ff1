"""The settings dialog. Its pages are generated from the settings schema in `app.config`.

    dialog         the dialog with its list of pages
    pages          the pages, each created when it is first shown or searched
    rows           the row of one setting: name, help, control, reset button
    fields         the controls for each kind of setting
    limit          the row of `autoCompactThreshold`, with a preview of its effect
    sections       sections without settings: text size, index, privacy, costs, actions
    shapes         the section for what was learned about the requests that servers take
    keys           the section for an API key: enter, test, remove
    keyboard       the shortcuts of all commands: record, take from another command, reset
    backup         back up everything that Strata has stored, and restore it
    ledger         the list of network calls that left Strata
    mcp            the MCP servers: add, test, approve, remove
    skills         the skills: list, read, accept
    folders        the user's own commands, prompts and hooks
    search         the list of pages, and the search over them
    instructions   the user's instructions and memories for models
    project        the page of a project: texts, patterns, model, members, what L1 holds
    project_pages  the web pages and transcripts on it: add, refresh, remove
    writer         writes settings in the background, in order, reports errors to their rows, and
                   takes up changes that another program made in the file

This package may import PySide6, `ui.widgets`, `ui.theme`, `ui.actions`, `ui.panels.context.bar`,
`ui.chat.composer.menus`, `ui.tasks`, `app`, `chains`, `context.report`, `resources.system`, and the
value types of `vault`. It must not import `ui.window` or `ui.controllers`. If a value is rejected,
the setting keeps its old value, and its row shows the error.
"""

__all__ = ["dialog", "project", "writer"]
