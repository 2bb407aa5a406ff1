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
class _Place:
    """A file or folder in one of the base folders of `Paths`, which reads it as an attribute."""

    base: str
    name: str

    def __get__(self, paths: "Paths", _owner: type) -> Path:
        """Return the path of the file or folder."""
        base: Path = getattr(paths, self.base)
        return base / self.name


@dataclass(frozen=True)
class Paths:
    """The four base folders of the program, with the files and subfolders in them.

    Attributes:
        settings_file: the file with the user's settings.
        prompts: the folder with the user's own prompts.
        commands: the folder with the user's own slash commands.
        skills: the folder with the user's own skills, one subfolder per skill.
        exports: the folder for chats exported with `/export`.
        hooks: the folder with the user's own hooks.
        user_instructions: the file with the user's own instructions for models.
        memories: the note with the user's long-term memories for models.
        projects: the folder with the settings of projects, one subfolder per project.
        sessions: the folder of chats. It contains one file per chat.
        sent: the folder of the requests that were sent, each kept while an answer to it exists.
        pasted: the folder for pasted images and long pasted texts.
        pinned: the folder of the pinned answers. It contains one file per vault.
        moved_folders: the file with the former paths of folders of notes and projects that were
            moved.
        judged: the folder of the verdicts on notes. It contains one file per judged question.
        kept_pages: the folder with the web pages and transcripts of projects, one subfolder per
            project.
        state_db: the database for data that can be rebuilt: last requests and chat summaries.
        ledger: the ledger file, which lists all outgoing calls.
        spending: the file with what calls to models cost.
        mcp: the folder with the approvals of MCP servers.
        computer: the file with the name of this computer in what it syncs with others.
        learned_models: the file with what services said about models when they refused a request.
        model_files: the file with the model files that the user has opened.
        instructions: the folder with the user's decisions about AGENTS.md files.
        edits: the folder of the edit journal. Without the journal, edits cannot be undone.
        reviews: the folder of the dismissed findings of reviews. It contains one file per vault.
        log_file: the current log file. Older files have numbered names.
        crashes: the folder in which crashed processes leave what they were doing, one file each.
        embedding_cache: the folder that caches each embedding model's fastest precision and its
            ONNX version.
        indexes: the folder of the indexes. It contains one subfolder per vault.
    """

    config: Path
    data: Path
    state: Path
    cache: Path

    settings_file = _Place("config", "settings.toml")
    prompts = _Place("config", "prompts")
    commands = _Place("config", "commands")
    skills = _Place("data", "skills")
    exports = _Place("data", "exports")
    hooks = _Place("config", "hooks")
    user_instructions = _Place("config", "instructions.md")
    memories = _Place("config", "memories.md")
    projects = _Place("config", "projects")
    sessions = _Place("data", "sessions")
    sent = _Place("data", "sent")
    pasted = _Place("data", "pasted")
    pinned = _Place("data", "pinned")
    moved_folders = _Place("data", "moved_folders.json")
    judged = _Place("data", "judged")
    kept_pages = _Place("data", "project_pages")
    state_db = _Place("state", "state.db")
    ledger = _Place("state", "ledger.log")
    spending = _Place("state", "spending.log")
    mcp = _Place("state", "mcp")
    computer = _Place("state", "computer")
    learned_models = _Place("state", "limits.json")
    model_files = _Place("state", "model_files.json")
    instructions = _Place("state", "instructions")
    edits = _Place("state", "edits")
    reviews = _Place("state", "reviews")
    log_file = _Place("state", "strata.log")
    crashes = _Place("state", "crashes")
    embedding_cache = _Place("cache", "embedding")
    indexes = _Place("data", "vaults")

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
