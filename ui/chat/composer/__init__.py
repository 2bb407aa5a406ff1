"""The composer: message text, attachments, completion, mode and model.

    text ──> completion ──> attachment ──> chips
      └────────────> composer <──────────────┘

    attachment  Attachments of a message, and files and folders dropped on the window.
    attachment_state  The state of an attachment in an unsent message, and image thumbnails.
    chips       The attachments of a message as chips: small boxes above the text.
    completion  Completion in the text field: notes, folders, tags and commands.
    composer    The composer: message text, attachments, mode, model and the context meter.
    composer_controls  The small widgets: meter, error line, frame, send and attach buttons.
    menus       The menus that choose the mode and the model of the next message.
    text        The text field of the composer: grows with its text, up to twelve lines.

This package may import PySide6, `ui.markdown.page.formats`, `ui.widgets`, `ui.theme`, `ui.icons`,
`ui.actions`, and data types of `app`, `chains.models`, `context.layers` and `vault.notes.kinds`. It
must not read files or search notes.
"""

__all__ = [
    "attachment",
    "attachment_state",
    "chips",
    "completion",
    "composer",
    "composer_controls",
    "menus",
    "text",
]
