"""The folders and files of Strata itself, which are never inside a vault.

If `STRATA_HOME` is set, everything is stored in that folder. Otherwise the operating system's usual
folders are used.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APP_NAME = "strata"
HOME_VARIABLE = "STRATA_HOME"


@dataclass(frozen=True)
class Paths:
    """The four base folders of the program, with the files and subfolders in them."""

    config: Path
    data: Path
    state: Path
    cache: Path

    @classmethod
    def find(cls, environ: Mapping[str, str] = os.environ) -> "Paths":
        """Return the current user's folders, or those below `STRATA_HOME`."""
        if home := environ.get(HOME_VARIABLE):
            root = Path(os.path.expanduser(home)).absolute()  # an unknown ~user stays
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
        """The file with the user's settings."""
        return self.config / "settings.toml"

    @property
    def prompts(self) -> Path:
        """The folder with the user's own prompts."""
        return self.config / "prompts"

    @property
    def commands(self) -> Path:
        """The folder with the user's own slash commands."""
        return self.config / "commands"

    @property
    def skills(self) -> Path:
        """The folder with the user's own skills, one subfolder per skill."""
        return self.data / "skills"

    @property
    def exports(self) -> Path:
        """The folder for chats exported with `/export`."""
        return self.data / "exports"

    @property
    def hooks(self) -> Path:
        """The folder with the user's own hooks."""
        return self.config / "hooks"

    @property
    def user_instructions(self) -> Path:
        """The file with the user's own instructions for models."""
        return self.config / "instructions.md"

    @property
    def memories(self) -> Path:
        """The note with the user's long-term memories for models."""
        return self.config / "memories.md"

    @property
    def projects(self) -> Path:
        """The folder with the settings of projects, one subfolder per project."""
        return self.config / "projects"

    @property
    def sessions(self) -> Path:
        """The folder of chats. It contains one file per chat."""
        return self.data / "sessions"

    @property
    def sent(self) -> Path:
        """The folder of the requests that were sent, each kept while an answer to it exists."""
        return self.data / "sent"

    @property
    def pasted(self) -> Path:
        """The folder for pasted images and long pasted texts."""
        return self.data / "pasted"

    @property
    def pinned(self) -> Path:
        """The folder of the pinned answers. It contains one file per vault."""
        return self.data / "pinned"

    @property
    def moved_folders(self) -> Path:
        """The file with the former paths of folders of notes and projects that were moved."""
        return self.data / "moved_folders.json"

    @property
    def judged(self) -> Path:
        """The folder of the verdicts on notes. It contains one file per judged question."""
        return self.data / "judged"

    @property
    def kept_pages(self) -> Path:
        """The folder with the web pages and transcripts of projects, one subfolder per project."""
        return self.data / "project_pages"

    @property
    def state_db(self) -> Path:
        """The database for data that can be rebuilt: last requests and chat summaries."""
        return self.state / "state.db"

    @property
    def ledger(self) -> Path:
        """The ledger file, which lists all outgoing calls."""
        return self.state / "ledger.log"

    @property
    def spending(self) -> Path:
        """The file with what calls to models cost."""
        return self.state / "spending.log"

    @property
    def mcp(self) -> Path:
        """The folder with the approvals of MCP servers."""
        return self.state / "mcp"

    @property
    def computer(self) -> Path:
        """The file with the name of this computer in what it syncs with others."""
        return self.state / "computer"

    @property
    def learned_models(self) -> Path:
        """The file with what services said about models when they refused a request."""
        return self.state / "limits.json"

    @property
    def model_files(self) -> Path:
        """The file with the model files that the user has opened."""
        return self.state / "model_files.json"

    @property
    def instructions(self) -> Path:
        """The folder with the user's decisions about AGENTS.md files."""
        return self.state / "instructions"

    @property
    def edits(self) -> Path:
        """The folder of the edit journal. Without the journal, edits cannot be undone."""
        return self.state / "edits"

    @property
    def reviews(self) -> Path:
        """The folder of the dismissed findings of reviews. It contains one file per vault."""
        return self.state / "reviews"

    @property
    def log_file(self) -> Path:
        """The current log file. Older files have numbered names."""
        return self.state / "strata.log"

    @property
    def crashes(self) -> Path:
        """The folder in which crashed processes leave what they were doing, one file each."""
        return self.state / "crashes"

    @property
    def embedding_cache(self) -> Path:
        """The folder that caches each embedding model's fastest precision and its ONNX version."""
        return self.cache / "embedding"

    @property
    def indexes(self) -> Path:
        """The folder of the indexes. It contains one subfolder per vault."""
        return self.data / "vaults"

    def index_folder(self, vault: Path) -> Path:
        """Return the index folder of a vault. Its name is a hash of the vault's path."""
        return self.indexes / _hash_path(vault)

    def project_folder(self, project: Path) -> Path:
        """Return the settings folder of a project. Its name is a hash of the project's path."""
        return self.projects / _hash_path(project)

    def project_pages(self, project: Path) -> Path:
        """Return the folder of the web pages and transcripts that a project keeps."""
        return self.kept_pages / _hash_path(project)


def hash_stored_path(folder: str) -> str:
    """Return the name of what is stored for a folder, by its absolute path without links.

    The path may be of another computer.
    """
    import hashlib  # late: it delays the first paint

    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


def _hash_path(folder: Path) -> str:
    return hash_stored_path(str(folder.resolve()))
