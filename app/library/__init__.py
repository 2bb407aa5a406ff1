"""The open vault: its notes and index, attachments, and the instructions in it.

    attachments    What the user attaches to a question, as segments; and what has become of it
                   since.
    explain        Why a note is, or is not, among what an answer was given: in words, for whoever
                   asks.
    folders        The folder of notes that a user names.
    index_options  What the settings say of the index: which model embeds, and where its vectors
                   are searched.
    instructions   Instructions for models: the user's own, and the AGENTS.md of the open notes.
    library        The open folder of notes, and the index over it, which lies among Strata's own
                   files.
    long_texts     The ways out of a message that is too long: it becomes a file to attach, or
                   several messages.
    open_vault     The folder of notes that is open: one at a time, with its index.

May import: `app.config`, `app.paths`, chains, vault.
"""
