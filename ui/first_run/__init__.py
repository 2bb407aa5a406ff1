"""The first-run dialog: three steps to choose the notes, choose a model, and ask a question.

    FirstRunController ──opens──> FirstRunDialog ──> NotesPage │ ModelPage │ AskPage
             │                                           └──task──> app.assistant.model_setup
             └── folder opened, notes listed, index state ──> dialog

    controller   opens the dialog and connects it to the notes, the index and the composer
    dialog       the three steps, their buttons, and the progress of the index
    pages        the base class of the pages, the page that chooses the notes, and the page for
                 the first question
    model_page   the page that chooses a model: from a server on this computer, a file, a service
                 with an API key, or none
    model_file   the choice of a model file, and a description read from the file's header
    connection   the form for a service or a server: address, key, model, and a test of the
                 connection
    cards        widgets: a card that the user can choose, and the bar that shows the steps

This package may import PySide6, `ui.controllers`, `ui.chat`, `ui.panels`, `ui.frame`, `ui.state`,
`ui.widgets`, `ui.theme`, `ui.icons`, `ui.tasks`, `app`, `chains` and resources. It must not import
`ui.window` or `ui.settings`. Each step can be skipped, and nothing is stored before the user
presses the step's button.
"""

__all__ = ["controller"]
