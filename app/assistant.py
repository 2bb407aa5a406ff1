"""The use-cases behind the window and the command line: open, index, search, ask, inspect."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.config import secrets
from app.config.models import LearnedLimits, ModelChoice, model_choices
from app.config.settings_file import SettingsStore
from app.customize.customization import UserCustomization
from app.errors import InvalidRequest
from app.ledger import Ledger
from app.library.attachments import Attachments, Selection, WebPages
from app.library.edits import NoteEdits
from app.library.library import IndexFinished, Library
from app.library.long_texts import LongTexts
from app.library.open_vault import OpenVault
from app.library.projects import Projects
from app.library.user_texts import UserTextFile
from app.paths import Paths
from app.sessions.agent import AgentBuilder
from app.sessions.ask import AskRequest, TurnRunner
from app.sessions.branches import BranchEditor
from app.sessions.mcp import McpServers
from app.sessions.request_history import RequestHistory, describe_request
from app.sessions.store import SessionInfo, SessionStore
from app.sessions.turn_builder import TurnBuilder
from app.sessions.user_messages import find_last_mode
from chains.cancel import CancelToken
from chains.events import Event, IndexProgressed, Mode
from chains.models import EXTRACTIVE, describe
from chains.retrieval.map_reduce_plan import ReadingCost
from chains.turn.run import ModelCheck
from chains.web.client import WebClient
from context.layers import Segment
from vault.access import read_allowed
from vault.embedder import Embedder
from vault.index import NoteState
from vault.notes.note import Note
from vault.search.search import SearchResult

__all__ = ["Assistant"]


class Assistant:
    """The use-cases of Strata; every method may be called from any thread.

    Methods that add to a chat raise `SessionBusy` while another turn is written to it. Methods that
    take an entry raise `NotFound` if the chat has no such entry.

    Attributes:
        paths: the folders and files of Strata itself.
        settings: the user's settings.
        sessions: the chats.
        long_texts: the files of pasted texts that are too long for a message.
        ledger: the list of all calls that left Strata.
        user_instructions: the user's own instructions for models.
        customization: the AGENTS.md of the open notes with the user's decision, and the memories.
        projects: the projects with their settings.
        edits: the edits of notes that models make, and their undo.
        agents: builds agents, and knows who decides about the proposals of their tools.
        branches: branches, forks, labels, pins and branch summaries of chats.
        history: the transcripts of chats and their past requests.
    """

    def __init__(
        self,
        paths: Paths,
        settings: SettingsStore,
        sessions: SessionStore,
        embedder: Embedder | None = None,
        web: WebClient | None = None,
    ) -> None:
        self.paths = paths
        self.settings = settings
        self.sessions = sessions
        self.long_texts = LongTexts(paths.pasted)
        self.user_instructions = UserTextFile(paths.user_instructions)
        self.ledger = Ledger(paths.ledger)
        self._vault = OpenVault(paths, settings, self.ledger, embedder)
        self.projects = Projects(paths, self._vault)
        self.customization = UserCustomization(paths, settings, self._vault, self.projects)
        self.edits = NoteEdits(paths.edits)
        web = web or WebClient(lambda: settings.values.privacy_offline, self.ledger)
        self._pages = WebPages(web)
        mcp = McpServers(settings, paths.mcp, self.ledger)
        self.agents = AgentBuilder(settings, self.customization.memories, self.edits, web, mcp)
        self._limits = LearnedLimits(paths.learned_limits)
        turns = TurnBuilder(
            settings,
            self._vault,
            self.customization,
            self.ledger,
            self._limits,
            self.agents,
            self._pages,
            self.projects,
        )
        self._asking = TurnRunner(sessions, self._vault, self.customization, self.projects, turns)
        self.branches = BranchEditor(sessions, self._asking)
        self.history = RequestHistory(sessions, self._asking)

    @property
    def vault(self) -> Path | None:
        """The open folder of notes; None if none is open."""
        return self._vault.folder

    @property
    def library(self) -> Library | None:
        """The open notes with their index; None if no folder is open."""
        return self._vault.library

    def open_vault(self, folder: Path, remember: bool = True) -> None:
        """Open a folder of notes.

        With `remember`, it is saved in the settings and opened again at the next start.

        Raises:
            VaultMissing: the folder does not exist.
            VaultUnreadable: the folder may not be read.
            StorageFailed: the index or the settings cannot be written.
        """
        self._vault.open(folder, remember)

    def close(self) -> None:
        """Close the vault, the child processes and the databases."""
        self.agents.close()
        self.projects.close()
        self._vault.close()
        self.sessions.close()

    def index(
        self, cancel: CancelToken, *, is_background: bool = False
    ) -> Iterator[IndexProgressed | IndexFinished]:
        """Bring the index up to date; the last event is `IndexFinished`, also after a cancel.

        Args:
            cancel: stops the run.
            is_background: whether nobody waits for this run; load or battery may then throttle it.

        Raises:
            VaultNotChosen: no folder is open.
            VaultError: indexing failed; the earlier content of the index is kept.
        """
        yield from self._vault.require().update(cancel, is_background=is_background)

    def search(self, query: str, k: int | None = None, project: str | None = None) -> SearchResult:
        """Return the passages that match a query best, by keywords and by vectors.

        At most `k` passages are returned; None means the setting `retrieval.topK`. A project
        limits the search to its notes.

        Raises:
            VaultNotChosen: no folder is open.
            InvalidRequest: the query is blank.
            VaultError: the index cannot be searched.
        """
        name = None if project is None else self.projects.find_name(project)
        library = self._vault.require() if name is None else self.projects.open(name)
        if not query.strip():
            raise InvalidRequest("There is nothing to search for.")
        return library.excerpts(query, k or self.settings.values.retrieval_top_k)

    def notes(self) -> tuple[NoteState, ...]:
        """Return the state of every file in the open vault; nothing if no vault is open."""
        library = self._vault.library
        return () if library is None else library.notes()

    def read_note(self, path: str) -> Note:
        """Return the content of a note, or of a file outside the vault by its absolute path.

        Raises:
            VaultNotChosen: no folder is open.
            NoteUnreadable: the note does not exist, or it is not text.
            NoteExcluded: the file is outside the vault and excluded from models.
        """
        if (file := Path(path)).is_absolute():
            return replace(read_allowed(file.parent, file.name), path=path)
        return self._vault.require().read_note(path)

    def take_warnings(self) -> tuple[str, ...]:
        """Return the warnings about damaged files of Strata that are rebuilt, each only once."""
        library = self._vault.library
        said = (self.sessions.take_warning(), "" if library is None else library.take_warning())
        return tuple(filter(None, said))

    def tags(self) -> dict[str, tuple[str, ...]]:
        """Return each tag of the open notes, without its `#`, with the notes that use it."""
        library = self._vault.library
        return {} if library is None else library.tags()

    def read_attachments(
        self, attach: Sequence[str], selections: Sequence[Selection] = ()
    ) -> tuple[Segment, ...]:
        """Return the segments of the named attachments, each once and in full.

        Raises:
            NotFound: there is no note, folder or file of this name.
            InvalidRequest: it cannot be attached.
            NoteExcluded: it is excluded from models.
            NoteUnreadable: it is not text.
        """
        return Attachments(self._vault.library, self._pages).segments(attach, selections)

    def ask(self, request: AskRequest, cancel: CancelToken) -> Iterator[Event]:
        """Answer a question; the last event is `TurnEnded`.

        Raises:
            TurnFailed: no answer could be given; the error has the reason and the chat.
        """
        return self._asking.ask(request, cancel)

    def estimate_reading(self, request: AskRequest) -> ReadingCost | None:
        """Return the highest cost of reading the attachments whole; None if all of them fit.

        Raises:
            CannotRead: an attachment cannot be read whole.
        """
        chat = None if request.session is None else self.sessions.read(request.session)
        return self._asking.estimate_reading(chat, request)

    def edit(
        self,
        session: str,
        entry: str,
        text: str,
        cancel: CancelToken,
        *,
        model: str | None = None,
        mode: Mode | None = None,
    ) -> Iterator[Event]:
        """Ask an edited question as a new version of it; the last event is `TurnEnded`.

        The attachments of the first version are attached again.

        Args:
            session: the chat.
            entry: the user message to edit.
            text: the new text.
            cancel: stops the turn.
            model: as for `ask`.
            mode: the mode of the new version; None means the mode of the first one.

        Raises:
            TurnFailed: no answer could be given; the error has the reason.
        """
        changed = AskRequest(text, model=model)
        return self._asking.edit(session, entry, changed, mode, cancel)

    def regenerate(
        self, session: str, entry: str, cancel: CancelToken, *, model: str | None = None
    ) -> Iterator[Event]:
        """Generate another version of an answer; the last event is `TurnEnded`.

        The entry is the answer or a user message without one. The model is chosen as for `ask`.

        Raises:
            TurnFailed: no answer could be given; the error has the reason.
        """
        return self._asking.regenerate(session, entry, model, cancel)

    def compact(
        self, session: str, cancel: CancelToken, instructions: str = "", model: str | None = None
    ) -> Iterator[Event]:
        """Summarise all but the last turn of a chat; the last event is `CompactionEnded`.

        Args:
            session: the chat; it stays unchanged if `cancel` stops the compaction.
            cancel: stops the compaction.
            instructions: the facts that the summary should keep above all.
            model: as for `ask`; without a model nothing is sent, and an outline is made.
        """
        return self._asking.compact(session, instructions, model, cancel)

    def preview(
        self,
        session: str | None,
        text: str = "",
        mode: Mode | None = None,
        model: str | None = None,
        changes: Mapping[str, object] | None = None,
        full: bool = False,
        attach: Sequence[str] = (),
        selections: Sequence[Selection] = (),
    ) -> dict[str, Any]:
        """Return the *Context* of the next request; nothing is searched or stored.

        Args:
            session: the chat; None for a new one.
            text: the text that the user has typed so far.
            mode: as for `ask`; None means the mode of the chat's last turn.
            model: as for `ask`.
            changes: settings by key that replace the current ones, to show their effect.
            full: add the request itself, as `request_body` and `wire`, and the `ephemeral_log`.
            attach: as for `ask`.
            selections: as for `ask`.

        Raises:
            ContextOverflow: the request would not fit; the error has the report.
            BadSetting: a change is out of its range.
        """
        chat = None if session is None else self.sessions.read(session)
        mode = mode or find_last_mode(() if chat is None else chat.path())
        request = AskRequest(text, mode, model, attach=tuple(attach), selections=tuple(selections))
        prepared = self._asking.prepare_next(chat, request, changes)
        return describe_request(prepared, chat, full)

    def list_sessions(self) -> list[SessionInfo]:
        """Return the chats, the most recently used first."""
        return self.sessions.list()

    def send_message(
        self, session: str, custom_type: str, content: str | Sequence[Any], display: bool = True
    ) -> str:
        """Add a message of a program to a chat, and return its entry; no model is called.

        Models receive the content as a user message. `display` is whether the transcript shows it.
        """
        return self.branches.send_message(session, custom_type, content, display)

    def model_choices(self) -> tuple[ModelChoice, ...]:
        """Return the models to choose from: no model, the configured one, and those of servers.

        The server at `chat.apiBase`, or the usual ones on this computer, are asked for their
        models, which may take two seconds.
        """
        return model_choices(self.settings.values, self.ledger, self._limits)

    def check_model(self, cancel: CancelToken, model: str | None = None) -> ModelCheck:
        """Call a model with a few words; None means the one in the settings.

        Raises:
            InvalidRequest: no model is set.
            ModelError: the model does not answer, or the service refuses the key.
        """
        if (model or self.settings.values.chat_model) == EXTRACTIVE:
            raise InvalidRequest("No model is set, so there is nothing to test.")
        return self._asking.check_model(model, cancel)

    def has_model(self, model: str) -> bool:
        """Return whether a service or the user's server has a model of this name."""
        found = describe(model, self.settings.values.chat_api_base)
        return model == EXTRACTIVE or found.endpoint is not None

    def key_provider(self, model: str) -> str | None:
        """Return the provider or the address whose key a model needs; None if it needs none."""
        return describe(model, self.settings.values.chat_api_base).key_provider

    def has_key(self, owner: str) -> bool:
        """Return whether there is a key for a provider or an address."""
        return secrets.key_for(owner) is not None

    def set_key(self, owner: str, key: str, *, allows_plain_http: bool = False) -> None:
        """Store the key for a provider or an address in the keyring; an empty key deletes it.

        Raises:
            NoKeyring: the system has no keyring, or it is locked.
            InvalidRequest: the key would be sent unencrypted, and the user has not agreed to that.
        """
        secrets.save_key(owner, key, allows_plain_http=allows_plain_http)
