"""The settings: their schema and file, API keys, and the chosen models.

    settings       Name, default, range, help and section of each setting, defined once.
    schema         The schema entry of each setting, and validation.
    settings_file  Read, check and change `settings.toml`; override settings for one run.
    secrets        API keys in the system keyring or the environment.
    models         The models to choose from, and the options of the index.

May import: `app.paths`, `app.durable`, `app.errors`, `app.log`, chains, vault. Invariant: a key is
stored only in the keyring or the environment.
"""

__all__ = ["models", "schema", "secrets", "settings", "settings_file"]
