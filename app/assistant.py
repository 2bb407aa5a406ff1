"""The one use-case behind window and command line: open notes, index, search, ask, look back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.config import secrets
from app.config.models import ModelChoice, model_choices
from app.config.settings_file import SettingsStore
from app.customize.customization import UserCustomization
from app.errors import InvalidRequest
from app.library.attachments import Attachments, Selection
from app.library.instructions import UserInstructionsFile, VaultInstructions
from app.library.library import IndexFinished, Library
from app.library.long_texts import LongTexts
from app.library.open_vault import OpenVault
from app.paths import Paths
from app.sessions.ask import AskRequest, TurnRunner
from app.sessions.branches import AbandonedBranch, BranchEditor
from app.sessions.request_history import RequestHistory, describe_request
from app.sessions.store import SessionInfo, SessionStore
from app.sessions.transcript import ChatTranscript
from app.sessions.user_messages import find_last_mode
from chains.cancel import CancelToken
from chains.events import Event, IndexProgressed, Mode
from chains.models import describe
from chains.retrieval.map_reduce_plan import ReadingCost
from context.layers import Segment
from vault.access import read_allowed
from vault.embedder import Embedder
from vault.index import NoteState
from vault.notes.note import Note
from vault.search.search import SearchResult

__all__ = ["Assistant"]


class Assistant:
    """What Strata can do; every method may be called from any thread.

    What adds to a chat raises `SessionBusy` while another turn is being written to it, and what
    names an entry raises `NotFound` where the chat has none of that name.

    Attributes:
        paths: where Strata's own files lie.
        settings: what the user set.
        sessions: the chats.
        long_texts: what becomes of a message that is too long.
        user_instructions: the user's own instructions for models.
    """

    def __init__(
        self,
        paths: Paths,
        settings: SettingsStore,
        sessions: SessionStore,
        embedder: Embedder | None = None,
    ) -> None:
        self.paths = paths
        self.settings = settings
        self.sessions = sessions
        self.long_texts = LongTexts(paths.pasted)
        self.user_instructions = UserInstructionsFile(paths.user_instructions)
        self._vault = OpenVault(paths, settings, embedder)
        self._additions = UserCustomization(paths, settings, self._vault)
        self._asking = TurnRunner(settings, sessions, self._vault, self._additions)
        self._branching = BranchEditor(sessions, self._asking)
        self._looking_back = RequestHistory(sessions, self._asking)

    @property
    def vault(self) -> Path | None:
        """The open folder of notes."""
        return self._vault.folder

    @property
    def library(self) -> Library | None:
        """The open notes with their index."""
        return self._vault.library

    def open_vault(self, folder: Path, remember: bool = True) -> None:
        """Open a folder of notes.

        With `remember`, it is opened again at the next start.

        Raises:
            VaultMissing: there is no folder there.
            VaultUnreadable: it may not be read.
            StorageFailed: the index or the settings cannot be written.
        """
        self._vault.open(folder, remember)

    def close(self) -> None:
        """Close the vault, the child processes and the databases."""
        self._vault.close()
        self.sessions.close()

    def index(
        self, cancel: CancelToken, *, is_background: bool = False
    ) -> Iterator[IndexProgressed | IndexFinished]:
        """Bring the index up to date; the last event is `IndexFinished`, also after a cancel.

        Args:
            cancel: stops the run.
            is_background: nobody waits for this run, so that load and battery may slow it down.

        Raises:
            VaultNotChosen: no folder is open.
            VaultError: it could not be done; what was indexed before is still there.
        """
        yield from self._vault.require().update(cancel, is_background=is_background)

    def search(self, query: str, k: int | None = None) -> SearchResult:
        """Find the places that fit a query best, by words and by meaning.

        At most `k` are returned; None stands for the setting `retrieval.topK`.

        Raises:
            VaultNotChosen: no folder is open.
            InvalidRequest: the query is blank.
            VaultError: the index cannot be searched.
        """
        library = self._vault.require()
        if not query.strip():
            raise InvalidRequest("There is nothing to search for.")
        return library.excerpts(query, k or self.settings.values.retrieval_top_k)

    def notes(self) -> tuple[NoteState, ...]:
        """Return the state of every file in the open vault; empty where none is open."""
        library = self._vault.library
        return () if library is None else library.notes()

    def read_note(self, path: str) -> Note:
        """Return a note as it is on the disk now, or a file from elsewhere by its whole path.

        Raises:
            VaultNotChosen: no folder is open.
            NoteUnreadable: there is no such note, or it is not text.
            NoteExcluded: it is a file from elsewhere that is kept away from models.
        """
        if (file := Path(path)).is_absolute():
            return replace(read_allowed(file.parent, file.name), path=path)
        return self._vault.require().read_note(path)

    def take_warnings(self) -> tuple[str, ...]:
        """Return, once, warnings about Strata's own files that were damaged and are rebuilt."""
        library = self._vault.library
        said = (self.sessions.take_warning(), "" if library is None else library.take_warning())
        return tuple(filter(None, said))

    def tags(self) -> dict[str, tuple[str, ...]]:
        """Return each tag of the open notes, without its `#`, with the notes that carry it."""
        library = self._vault.library
        return {} if library is None else library.tags()

    def read_attachments(
        self, attach: Sequence[str], selections: Sequence[Selection] = ()
    ) -> tuple[Segment, ...]:
        """Return the segments of the named attachments, each once and in full.

        Raises:
            NotFound: there is nothing of that name.
            InvalidRequest: it cannot be attached.
            NoteExcluded: it is kept away from models.
            NoteUnreadable: it is not text.
        """
        return Attachments(self._vault.library).segments(attach, selections)

    def instructions(self) -> VaultInstructions | None:
        """Return the AGENTS.md of the open notes; None where there is none for models.

        Raises:
            NoteUnreadable: there is one that cannot be read as text.
        """
        return self._additions.instructions()

    def accept_instructions(self, digest: str) -> None:
        """Give the AGENTS.md with this digest to models from now on, until it changes.

        Raises:
            InvalidRequest: the file has changed since it was shown.
            NotFound: the file is gone.
        """
        self._additions.decide(digest, "accepted")

    def refuse_instructions(self, digest: str) -> None:
        """Leave the AGENTS.md with this digest out, until it changes; raises as accepting does."""
        self._additions.decide(digest, "refused")

    def ask(self, request: AskRequest, cancel: CancelToken) -> Iterator[Event]:
        """Answer a question; the last event is `TurnEnded`.

        Raises:
            TurnFailed: there is no answer; it says why, and in which chat.
        """
        return self._asking.ask(request, cancel)

    def estimate_reading(self, request: AskRequest) -> ReadingCost | None:
        """Return the most that reading the attachments whole costs; None where all of them fit.

        Raises:
            CannotRead: it cannot be read whole.
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
        """Ask an edited question beside its first version; the last event is `TurnEnded`.

        What was attached to the first version is attached again.

        Args:
            session: the chat.
            entry: the user message to edit.
            text: the new text.
            cancel: stops the turn.
            model: as for `ask`.
            mode: None for that of the first version.

        Raises:
            TurnFailed: there is no answer; the error says why.
        """
        changed = AskRequest(text, model=model)
        return self._asking.edit(session, entry, changed, mode, cancel)

    def regenerate(
        self, session: str, entry: str, cancel: CancelToken, *, model: str | None = None
    ) -> Iterator[Event]:
        """Regenerate an answer beside the first one; the last event is `TurnEnded`.

        The entry is the answer, or a user message that has none; the model is chosen as for `ask`.

        Raises:
            TurnFailed: there is no answer; the error says why.
        """
        return self._asking.regenerate(session, entry, model, cancel)

    def compact(
        self, session: str, cancel: CancelToken, instructions: str = "", model: str | None = None
    ) -> Iterator[Event]:
        """Sum up all but the last turn of a chat; the last event is `CompactionEnded`.

        Args:
            session: the chat, which stays as it was where `cancel` stops this.
            cancel: stops it.
            instructions: what the summary should keep above all.
            model: as for `ask`; with no model nothing is sent, and an outline is made.
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
        """Return the *Context* of what would be sent next; nothing is looked up or stored.

        Args:
            session: the chat; None for one that has not begun.
            text: what the user has typed so far.
            mode: as for `ask`; None for that of the chat's last turn.
            model: as for `ask`.
            changes: settings by their keys in place of those in force, to show what they would do.
            full: add the request itself, as `request_body` and `wire`, and the `ephemeral_log`.
            attach: as for `ask`.
            selections: as for `ask`.

        Raises:
            ContextOverflow: it would not fit; the error has the report.
            BadSetting: a change is out of its range.
        """
        chat = None if session is None else self.sessions.read(session)
        mode = mode or find_last_mode(() if chat is None else chat.path())
        request = AskRequest(text, mode, model, attach=tuple(attach), selections=tuple(selections))
        prepared = self._asking.prepare_next(chat, request, changes)
        return describe_request(prepared, chat, full)

    def last_context(
        self, session: str, full: bool = False, entry: str | None = None
    ) -> dict[str, Any] | None:
        """Return the *Context* of the last request of a turn; None where nothing was asked.

        Where the request itself is not kept any more it is built again, and `rebuilt` is true.

        Args:
            session: the chat.
            full: add the request itself, as `request_body` and `wire`, and the `ephemeral_log`.
            entry: the question of the turn or an answer to it; None for the chat's last turn.

        Raises:
            NotFound: there is no such entry in the chat.
        """
        return self._looking_back.last_context(session, full, entry)

    def list_sessions(self) -> list[SessionInfo]:
        """Return the chats, the one used last first."""
        return self.sessions.list()

    def transcript(self, session: str) -> ChatTranscript:
        """Return a chat as it is read.

        Raises:
            SessionMissing: there is no such chat.
        """
        return self._looking_back.transcript(session)

    def entry_before(self, session: str, entry: str) -> str:
        """Return the entry that another one follows, such as the last one before a compaction."""
        return self._looking_back.entry_before(session, entry)

    def select_leaf(self, session: str, entry: str) -> AbandonedBranch:
        """Make the branch of an entry the active one, and return the branch that was left."""
        return self._branching.select_leaf(session, entry)

    def fork(self, session: str, entry: str | None = None) -> str:
        """Make a chat of its own out of a path, and return its id.

        The copy ends at `entry`; None stands for the active leaf, or for the last entry before one
        of an unknown kind.

        Raises:
            NotFound: there is no such entry in the chat.
            InvalidRequest: the path holds an entry of an unknown kind, or is empty.
        """
        return self._branching.fork(session, entry)

    def label(self, session: str, entry: str, text: str) -> str:
        """Label an entry, and return the label's entry; an empty text removes the label."""
        return self._branching.label(session, entry, text)

    def pin(self, session: str, target: str, on: bool) -> None:
        """Send a message or a segment word for word from now on, or as any other again.

        The target is the entry of a message, or the id of a segment.

        Raises:
            BadPin: there is nothing of that id, or pins would take more than their share.
        """
        self._branching.pin(session, target, on)

    def summarise_branch(
        self, session: str, entry: str, cancel: CancelToken, model: str | None = None
    ) -> str:
        """Keep a summary of the branch of an entry that the chat has left, and return it.

        The model is chosen as for `compact`.

        Raises:
            InvalidRequest: it is on the branch that the chat goes on with.
            Cancelled: it was stopped; nothing is kept.
        """
        return self._branching.summarise_branch(session, entry, model, cancel)

    def send_message(
        self, session: str, custom_type: str, content: str | Sequence[Any], display: bool = True
    ) -> str:
        """Put a message of a program into a chat, and return its entry; no model is called.

        The model reads the content as the user's; `display` says whether the transcript shows it.
        """
        return self._branching.send_message(session, custom_type, content, display)

    def model_choices(self) -> tuple[ModelChoice, ...]:
        """Return the models that can be chosen: none at all, the one that is set, those served.

        The server at `chat.apiBase` is asked what it offers, which may take two seconds.
        """
        return model_choices(self.settings.values)

    def key_provider(self, model: str) -> str | None:
        """Return whose key a model takes, a provider or an address; None where it takes none."""
        return describe(model, self.settings.values.chat_api_base).key_provider

    def has_key(self, owner: str) -> bool:
        """Return whether there is a key of a provider or for an address."""
        return secrets.key_for(owner) is not None

    def set_key(self, owner: str, key: str, *, allows_plain_http: bool = False) -> None:
        """Put the key of a provider or for an address into the keyring; an empty one takes it out.

        Raises:
            NoKeyring: the system has none, or it is locked.
            InvalidRequest: it would go out readable, and the user has not agreed to that.
        """
        secrets.save_key(owner, key, allows_plain_http=allows_plain_http)
