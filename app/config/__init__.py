"""The settings: their schema, their file, API keys, and the models they choose.

    schema         Name, default, range, help and section of each setting, written once.
    settings_file  Read, check and change `settings.toml`; settings given for one run.
    secrets        API keys in the system keyring or the environment.
    models         Models to choose from, and the models of the index.

May import: `app.paths`, `app.durable`, `app.errors`, `app.log`, chains, vault. Always holds: a key
is in the keyring or the environment and nowhere else.
"""

__all__ = ["models", "schema", "secrets", "settings_file"]
