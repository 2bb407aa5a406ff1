"""The state of the index, as shown in the sidebar's footer and in the index panel.

    progress events ──> state ──> footer
                              └─> progress ──> panel <── lists <── notes by state

    footer    The footer of the sidebar: index progress, pause, stop and errors.
    lists     Lists of the notes by state: indexed, excluded (with the rule), failed (with the
              reason).
    panel     The index panel: progress, size, and the notes by state.
    progress  The box that shows the progress of an indexing run: fraction done, speed, and
              problems.
    state     The state of the index with the texts that describe it, and the notes by state.

This package may import PySide6, `ui.widgets`, `ui.theme`, `ui.icons`, and the value types of `app`,
`chains`, `context` and `vault`. The modules `panel`, `progress` and `lists` are not loaded before
the window has been painted.
"""

__all__ = ["footer", "panel", "progress", "state"]
