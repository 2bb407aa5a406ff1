"""The conversation: what is asked, what is answered, and where the next question is written.

    transcript → feed (which messages are widgets) → makers → message (question, answer, divider)
               → live (the turn that is running), scroller (keeps the place), walker (keyboard)
               → finder (words in the chat), empty_state;  instructions_bar stands above it
    message → page (Markdown as a document) → markdown (Markdown as leaves, no Qt)
    composer → composer_text, composer_parts, completion, chips → attachment
    transcript, composer → measure (the one column)

May import: PySide6, `ui.theme`, `ui.icons`, `ui.widgets`, `ui.notify`, and for their shapes `app`,
`chains.events`, `chains.citations.check`, `context.layers`. Must not: call the assistant, know a
session.
Holds always: text that has arrived is drawn within some 33 ms and never twice once it is final;
the reader's place and selection stay while it grows; nothing in a text is fetched or run.
"""
