"""Plan, apply and undo edits to notes. All edits are journaled first.

    editor.NoteEditor   plan_create, plan_replacement, plan_append, plan_move → an `EditPlan`
            │           with the exact bytes of each file before and after, and its diff
            ▼ apply     only while every file still has the content for which it was planned
    journal             the contents by hash, and a line for each step: written and synced first
            ▼
    files               temporary file → sync → rename; the file's mode is kept
            ▼
    undo.EditHistory    reverts the steps, the last one first, unless a note changed since

    completion
             Write the line of a task that is ticked, with the day, or tell that it is deleted.
    diff     Show a change as a unified diff with changed words; count the removed text.
    editor   `NoteEditor`: check which notes a model may edit, plan and apply edits.
    finding  Find a text in a note as a model types it, and replace only what differs.
    files    Create, replace, move and remove files so that a crash never leaves half a file;
             check the names of new ones.
    journal  The journal of edits, in a folder of Strata.
    links    Change the links in other notes when a note is moved.
    plan     The values `EditPlan`, `ContentChange`, `FileMove` and `NoteChange`.
    recurrence
             Write the next task of a recurring task that is ticked, or its next date.
    repairs  Repair broken links, contradicting figures, conflicts of Git, and copies.
    texts    Replace parts of a text, keeping its encoding, byte-order mark and line endings.
    undo     `EditHistory`: undo an edit or a run of edits, list the net changes of a run.

This package may import `vault.access`, `vault.exclude`, `vault.notes`, `vault.paths`,
`vault.errors` and `resources.system`. The following rules always hold:
- If the process is killed at any point, each note is as it was, or the edit can be undone.
- Undo never replaces a text that is newer than the edit.
- No path leads out of the folder of notes, even if a folder is replaced with a link in between.
"""

__all__ = ["diff", "editor", "journal", "plan", "repairs", "undo"]
