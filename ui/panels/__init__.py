"""What stands beside the conversation: notes and chats on the left; context, sources, note right.

Each panel is told what to show and says by a signal what was chosen; none calls the assistant.

    sidebar ← vault, sessions, index    the left column; rail: what is left of it when narrow
    vault ← folders                     the notes below their folders
    context                             the layers of a request, what was left out, what it costs
    sources, note ← note_colors         what an answer rests on, and the note at its lines
    related                             what is near that note, or linked with it
    index                               how the index stands: a line in the sidebar, and a panel
    column ← context, sources, note,    the right column: the docks of all five
             related, index

May import: `ui.widgets`, `ui.icons`, `ui.theme`, and the plain values of the layers below.
Must not: start tasks.
Holds always: figures are exact and come from the report as they are; rows never change places.
"""
