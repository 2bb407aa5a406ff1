"""Settings, API keys and models.

    settings          The name, default, range, help and section of each setting, defined once.
    schema            The schema entry of each setting, and validation.
    merge             Merge what two programs have changed in a setting since both read it.
    settings_file     Read, check and change `settings.toml`; override settings for one program run.
    settings_secrets  Move the passwords and keys in settings to the keyring.
    secrets           API keys in the system keyring or the environment.
    models            The models to choose from.
    learned           The limits and shapes of requests that services have refused otherwise.
    model_files       The model files on this computer that the user opened.
    model_setup       Find, test and store the model that answers, and its API key.

This package may import `app.paths`, `app.errors`, `app.secret_text`, `context.fixes`,
`context.json_codec`, chains, vault and `resources.system`. It stores API keys only in the keyring
or the environment.
"""

__all__ = [
    "learned",
    "merge",
    "model_files",
    "model_setup",
    "models",
    "schema",
    "secrets",
    "settings",
    "settings_file",
    "settings_secrets",
]
