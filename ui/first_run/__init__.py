"""The first run: three steps to set up a folder of notes, a model and a first question.

    FirstRunController ──opens──> FirstRunDialog ──> NotesPage │ ModelPage │ AskPage
             │                                           └──task──> app.assistant.model_setup
             └── folder opened, notes listed, index state ──> dialog

    controller   opens the dialog and connects it to the notes, the index and the composer
    dialog       the three steps, their buttons, and the progress of the index
    pages        the base class of the steps' pages, and the pages for the notes and the first
                 question
    model_page   the page for the model: servers on this computer, a service with a key, or none
    model_file   the choice of a model file, and a description read from the file's header
    connection   the form for a service or a server: address, key, model, and a test of the
                 connection
    cards        widgets: a card that the user can choose, and the bar that shows the steps

This package may import `ui.controllers`, `ui.frame`, `ui.panels.index.state`, `ui.widgets`,
`ui.tasks` and `app`. It must not import `ui.window` or `ui.settings`. Each step can be skipped, and
nothing is stored before the user presses the step's button.
"""

__all__ = ["controller"]
