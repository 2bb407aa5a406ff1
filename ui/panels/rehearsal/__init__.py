"""The dialog that asks again without some of what the model saw.

    offer ──> switches ──keys──> dialog ──signal──> controller
    result ──> result_text ────────┘

    dialog       The dialog: the switches, the price, the progress, and what came of it.
    switches     A list with a switch for each source, turn and layer of a request.
    result_text  Both answers side by side, with what differs lit, and the table of the sources.

`ui.controllers.chats.rehearsal` asks, and shows here what comes of it.

This package may import PySide6, `ui.widgets`, `ui.theme`, and the values of `app.rehearsal`,
`chains.rehearsal` and `context.requests`.
"""

__all__ = ["dialog"]
