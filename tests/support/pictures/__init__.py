"""Pictures of the window and its dialogs, in all their states."""
