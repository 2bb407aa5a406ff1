"""Where Strata keeps its own files; never inside a vault.

`STRATA_HOME` moves everything below one folder; otherwise each system's usual places are used.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APP_NAME = "strata"
HOME_VARIABLE = "STRATA_HOME"


@dataclass(frozen=True)
class Paths:
    """The four folders of the program and the files in them that have a fixed name."""

    config: Path
    data: Path
    state: Path
    cache: Path

    @classmethod
    def find(cls, environ: Mapping[str, str] = os.environ) -> "Paths":
        """Return the folders of this user, or those below `STRATA_HOME` where it is set."""
        if home := environ.get(HOME_VARIABLE):
            root = Path(home).expanduser().absolute()
            return cls(root / "config", root / "data", root / "state", root / "cache")
        import platformdirs

        return cls(
            config=platformdirs.user_config_path(APP_NAME, appauthor=False),
            data=platformdirs.user_data_path(APP_NAME, appauthor=False),
            state=platformdirs.user_state_path(APP_NAME, appauthor=False),
            cache=platformdirs.user_cache_path(APP_NAME, appauthor=False),
        )

    @property
    def settings_file(self) -> Path:
        """Where the user's settings are written."""
        return self.config / "settings.toml"

    @property
    def prompts(self) -> Path:
        """Where the user's own prompts are looked for."""
        return self.config / "prompts"

    @property
    def hooks(self) -> Path:
        """Where the user's own hooks are looked for."""
        return self.config / "hooks"

    @property
    def user_instructions(self) -> Path:
        """The file with the user's own instructions for models."""
        return self.config / "instructions.md"

    @property
    def sessions(self) -> Path:
        """The folder of the chats, one readable file each."""
        return self.data / "sessions"

    @property
    def pasted(self) -> Path:
        """Texts that were too long for a message and were attached to one instead."""
        return self.data / "pasted"

    @property
    def state_db(self) -> Path:
        """What can be made again: the last requests, the list of chats."""
        return self.state / "state.db"

    @property
    def instructions(self) -> Path:
        """The folder of the decisions about AGENTS.md files, a small file each."""
        return self.state / "instructions"

    @property
    def log_file(self) -> Path:
        """The current log file; older ones are beside it with a number."""
        return self.state / "strata.log"

    @property
    def embedding_cache(self) -> Path:
        """The folder that keeps how fast embedding models are on this computer."""
        return self.cache / "embedding"

    @property
    def indexes(self) -> Path:
        """The folder of the indexes, one of each folder of notes."""
        return self.data / "vaults"

    def index_folder(self, vault: Path) -> Path:
        """Return the folder of a vault's index, always the same for the same vault."""
        digest = hashlib.sha256(os.fsencode(vault.resolve()))
        return self.indexes / digest.hexdigest()[:16]


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, open to its owner alone."""
    if not folder.parent.is_dir():
        make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
