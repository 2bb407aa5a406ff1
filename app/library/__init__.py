"""The open vault: notes, index, attachments and instructions for models.

    library       A vault, and the updates of its index with their events.
    open_vault    Open a vault, one at a time.
    projects      Projects: folders with the user's instructions, patterns, model and memory.
    project_pages  The web pages and transcripts that projects keep: fetch, refresh, remove.
    attachment_paths  Find the files that attachments name.
    attachments   Convert attachments to segments; detect later changes to their files.
    edits         Edits to notes by models and by the user: the tools, the journal, undo.
    embedded_notes  Find and read the notes that notes and answers embed, in the vault or outside.
    formula_drawer  Have `ui.formula_worker` draw formulas.
    image_reader  Have `ui.image_worker` decode, scale and encode images; cache the results.
    images        Find and read the images that a note shows.
    indexing      Update the index before a question is answered, and continue during the answer.
    instructions  The AGENTS.md of a vault or project, with the user's decision about it.
    long_texts    Store a message that is too long as a file, or split it.
    finding_fixes Plan and apply the mechanical fixes of what a review finds.
    review        Find notes that need attention; remember the findings that the user dismissed.
    known_vaults   The vaults that Obsidian knows on this computer.
    suggested_questions  Suggest questions for an empty chat, which the notes can answer.
    forgotten     The lines of memories that the user took out, on this computer or another.
    user_texts    The user's instructions and long-term memories, one file for each.

This package may import `app.config`, `app.errors`, `app.paths`, `app.relocation`, chains, context,
vault and `resources.system`. Only `edits` writes into a vault.
"""

__all__ = [
    "attachment_paths",
    "attachments",
    "edits",
    "embedded_notes",
    "finding_fixes",
    "forgotten",
    "formula_drawer",
    "image_reader",
    "images",
    "instructions",
    "known_vaults",
    "library",
    "long_texts",
    "open_vault",
    "project_pages",
    "projects",
    "review",
    "suggested_questions",
    "user_texts",
]
