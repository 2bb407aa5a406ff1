"""The parts of a transcript: what was asked, what was answered, and what stands between.

    answer → parts (step line, what could not be verified), steps → step_row, step_words, mono
           → answer_tools, page's view
    user → user_tools, editor;  both kinds of tools → tools, strip, wish (what they ask for)
    aside, divider, failure stand alone;  sources makes cards of segments and citations
    roles tells screen readers what a part is

May import: PySide6, `app.sessions.transcript`, `app.errors`, `chains.events` and
`chains.citations.check` for their shapes, `ui.theme`, `ui.icons`, `ui.widgets`, `ui.markdown.page`,
`ui.widgets.geometry`.
Holds always: foreign text is plain; a part has a name and a role; nothing here knows where a
transcript scrolls.
"""
