"""The settings: their schema, their file, API keys, and models to choose from.

    models         Which models can be chosen, and where each of them is.
    schema         The schema of the settings: name, default, range, help and section of each,
                   written once.
    secrets        Keys of model services: in the system's keyring or the environment, and nowhere
                   else.
    settings_file  The settings as they stand: defaults, then the file, then what this run was
                   told.

May import: `app.paths`, `app.durable`, chains, vault.
"""
