"""Controllers for reading notes and images, following links, and going back and forward.

    embeds     Reads the notes that a note or an answer embeds, and converts them to leaves.
    finding_fixes
               Compares the notes of a finding, and fixes it once the change is approved.
    images     Loads the images, embedded notes and formulas that notes and answers show.
    links      Inserts a link to a related note into the open note, and creates the note that a
               link names.
    menu       Opens the open note or image in an editor, Obsidian or the file manager, and lets
               notes and images be dragged.
    open_note  Shows a note or an image, follows links in notes and answers, and goes back and
               forward.
    outline    Lists the headings of the open note, and marks the present one.
    review     Runs reviews of the notes, and shows, dismisses and restores their findings.
    tasks      Ticks and unticks the tasks of the open note, with undo.
    views      Converts the results of bases and queries to leaves.
    visit_history
               The visited notes and images, for going back and forward.

This package may import the same packages as `ui.controllers`, and `ui.controllers`. Reading a note
changes neither the chat nor the unsent message.
"""

__all__ = ["finding_fixes", "links", "open_note", "review", "tasks"]
