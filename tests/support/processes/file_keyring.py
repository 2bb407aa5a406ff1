"""A keyring in a file, for the installed program as a child process.

```
PYTHON_KEYRING_BACKEND=tests.support.processes.file_keyring.FileKeyring
STRATA_TEST_KEYRING=/path/keys.json
```
"""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend

BACKEND = "tests.support.processes.file_keyring.FileKeyring"
VARIABLE = "STRATA_TEST_KEYRING"


class FileKeyring(KeyringBackend):
    """Stores passwords in a JSON file, by user name."""

    priority = 1.0  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        return read_keys(_file()).get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        _file().write_text(json.dumps({**read_keys(_file()), username: password}), "utf-8")

    def delete_password(self, service: str, username: str) -> None:
        kept = read_keys(_file())
        del kept[username]
        _file().write_text(json.dumps(kept), "utf-8")


def read_keys(file: Path) -> dict[str, str]:
    """Return the content of a keyring file."""
    kept: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return kept


def _file() -> Path:
    return Path(os.environ[VARIABLE])
