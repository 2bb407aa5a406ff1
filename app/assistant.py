"""The one use-case behind window and command line: open notes, index, search, ask, look back."""

import logging
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from app import secrets
from app.attachments import Attachments, Selection
from app.errors import InvalidRequest, TurnFailed, VaultNotChosen, storage_errors
from app.library import IndexFinished, Library
from app.model_choices import ModelChoice, model_choices
from app.paths import Paths
from app.session import Session, turn_ids
from app.session_store import SessionInfo, SessionStore
from app.settings_file import SettingsStore
from app.transcript import (
    AnswerItem,
    DroppedItem,
    Transcript,
    TranscriptItem,
    UserItem,
    build_transcript,
)
from chains.agent import AgentChain, AgentLimits
from chains.cancel import CancelToken
from chains.events import Event, IndexProgressed, Mode, Step, TurnEnded, Warned
from chains.llm_chain import LLMChain
from chains.models import describe
from chains.runner import TurnRequest
from chains.vault_qa import VaultQAChain
from context.entries import MessageEntry, SegmentsEntry
from context.guard import PreparedRequest
from vault.errors import EmbedderFailed, IndexBusy, VectorStoreFailed
from vault.notes import Note
from vault.search import SearchResult
from vault.store import NoteState

__all__ = [
    "AnswerItem",
    "AskRequest",
    "Assistant",
    "DroppedItem",
    "IndexFinished",
    "ModelChoice",
    "Transcript",
    "TranscriptItem",
    "UserItem",
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AskRequest:
    """One question.

    Attributes:
        model: None for the one in the settings.
        session: the chat to go on with; None begins a new one.
        dry_run: retrieve and prepare, but send and store nothing.
        update_index: bring the index up to date first, where notes are searched at all.
        attach: notes, folders and text files to send along.
        selections: lines to send along.
    """

    question: str
    mode: Mode = "vault"
    model: str | None = None
    session: str | None = None
    dry_run: bool = False
    update_index: bool = True
    attach: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()


class Assistant:
    """What Strata can do; every method may be called from any thread.

    Attributes:
        paths: where Strata's own files lie.
        settings: what the user set.
        sessions: the chats.
    """

    def __init__(self, paths: Paths, settings: SettingsStore, sessions: SessionStore) -> None:
        self.paths = paths
        self.settings = settings
        self.sessions = sessions
        self._library: Library | None = None
        self._lock = threading.RLock()

    @property
    def vault(self) -> Path | None:
        """The open folder of notes."""
        library = self._library
        return None if library is None else library.root

    @property
    def library(self) -> Library | None:
        """The open notes with their index."""
        return self._library

    def open_vault(self, folder: Path, remember: bool = True) -> None:
        """Open a folder of notes.

        Args:
            folder: where they lie.
            remember: open it again at the next start.

        Raises:
            VaultMissing: there is no folder there.
            VaultUnreadable: it may not be read.
            StorageFailed: the index or the settings cannot be written.
        """
        with self._lock:
            with storage_errors(self.paths.data):
                library = Library.open(folder, self.paths, self.settings.values.vault_exclude)
            self._close_library()
            self._library = library
            if remember:
                self.settings.set("vault.path", str(library.root))

    def close(self) -> None:
        """Let go of the notes, the child processes and the databases."""
        with self._lock:
            self._close_library()
        self.sessions.close()

    def index(self, cancel: CancelToken) -> Iterator[IndexProgressed | IndexFinished]:
        """Bring the index up to date; the last event is `IndexFinished`, also after a cancel.

        Raises:
            VaultNotChosen: no folder is open.
            VaultError: it could not be done; what was indexed before is still there.
        """
        yield from self._open_library().update(cancel)

    def search(self, query: str, k: int | None = None) -> SearchResult:
        """Find passages by words and by meaning.

        Args:
            query: what to look for.
            k: how many passages; as many as the setting `retrieval.topK` says where it is None.

        Raises:
            VaultNotChosen: no folder is open.
            VaultError: the index cannot be searched.
        """
        library = self._open_library()
        if not query.strip():
            raise InvalidRequest("There is nothing to search for.")
        return library.search(query, k or self.settings.values.retrieval_top_k)

    def ask(self, request: AskRequest, cancel: CancelToken) -> Iterator[Event]:
        """Answer a question; the last event is `TurnEnded`.

        Raises:
            TurnFailed: there is no answer; it says why, and in which chat.
        """
        session: Session | None = None
        warnings: list[str] = []
        try:
            session = self._session(request)
            attached = Attachments(self._library).segments(request.attach, request.selections)
            if request.mode != "chat" and request.update_index:
                yield from self._freshen(cancel, warnings)
            chain = self._chain(request.mode)
            turn = replace(self._turn(request), attached=attached)
            events = cast(Generator[Event], chain.run(turn, session, cancel))
            with closing(events):  # before the chat: what has arrived is still to be stored
                for event in events:
                    yield _finished(event, warnings, session)
        except Exception as error:
            raise TurnFailed(error, _chat_of(request, session)) from error
        finally:
            if session is not None:
                session.close()

    def preview(
        self,
        session: str | None,
        text: str = "",
        mode: Mode | None = None,
        model: str | None = None,
        threshold: int | None = None,
        full: bool = False,
    ) -> dict[str, Any]:
        """Return the *Context* of what would be sent next; nothing is looked up or stored.

        Args:
            session: the chat; None for one that has not begun.
            text: what the user has typed so far.
            mode: as for `ask`; None for that of the chat's last turn.
            model: as for `ask`.
            threshold: in place of the setting `autoCompactThreshold`, to show what it would do.
            full: add the request itself, as `request_body` and `wire`.

        Raises:
            ContextOverflow: it would not fit; the error has the report.
        """
        chat = None if session is None else self.sessions.read(session)
        mode = mode or _mode_of(chat)
        turn = self._turn(AskRequest(text, mode, model))
        if threshold is not None:
            turn = replace(turn, threshold=threshold)
        prepared = self._chain(mode).preview(turn, chat)
        return _context(prepared, full)

    def last_context(self, session: str, full: bool = False) -> dict[str, Any] | None:
        """Return the *Context* of the last request of a chat; None where it has none.

        Where the request itself is not kept any more it is built again, and `rebuilt` is true.

        Args:
            session: the chat.
            full: add the request itself, as `request_body` and `wire`.
        """
        chat = self.sessions.read(session)
        stored = chat.last_request()
        if stored is not None:
            body = {"request_body": stored.body, "wire": stored.wire} if full else {}
            return {**stored.report, "rebuilt": False, **body}
        if not turn_ids(chat.path()):
            return None
        request = AskRequest("", _mode_of(chat), _model_of(chat))
        prepared = self._chain(request.mode).rebuild(self._turn(request), chat)
        return {**_context(prepared, full), "when": "last", "rebuilt": True}

    def list_sessions(self) -> list[SessionInfo]:
        """Return the chats, the one used last first."""
        return self.sessions.list()

    def transcript(self, session: str) -> Transcript:
        """Return a chat as it is read.

        Raises:
            SessionMissing: there is no such chat.
        """
        chat = self.sessions.read(session)
        stored = chat.last_request()
        report = None if stored is None else stored.report
        return build_transcript(self.sessions.info(session).title, chat.path(), report)

    def notes(self) -> tuple[NoteState, ...]:
        """Return what is known of every file in the open folder; nothing where none is open."""
        library = self._library
        return () if library is None else library.notes()

    def read_note(self, path: str) -> Note:
        """Return a note as it is on the disk now.

        Raises:
            VaultNotChosen: no folder is open.
            NoteUnreadable: there is no such note, or it is not text.
        """
        return self._open_library().read_note(path)

    def model_choices(self) -> tuple[ModelChoice, ...]:
        """Return the models that can be chosen: none at all, the one that is set, those served.

        The server at `chat.apiBase` is asked what it offers, which may take two seconds.
        """
        return model_choices(self.settings.values)

    def key_provider(self, model: str) -> str | None:
        """Return whose key a model may need; None where it needs none."""
        return describe(model, self.settings.values.chat_api_base).key_provider

    def has_key(self, provider: str) -> bool:
        """Return whether there is a key of a provider, in the keyring or the environment."""
        return secrets.key_for(provider) is not None

    def set_key(self, provider: str, key: str) -> None:
        """Put a provider's key into the keyring; an empty one takes it out.

        Raises:
            NoKeyring: the system has none, or it is locked.
        """
        secrets.save_key(provider, key)

    @property
    def _vault_name(self) -> str | None:
        return None if self.vault is None else str(self.vault)

    def _open_library(self) -> Library:
        if self._library is None:
            raise VaultNotChosen(
                "No folder of notes is chosen.",
                hint="Name one with --vault DIR, or for good with "
                "`strata settings set vault.path DIR`.",
            )
        return self._library

    def _close_library(self) -> None:
        if self._library is not None:
            self._library.close()
            self._library = None

    def _session(self, request: AskRequest) -> Session:
        if not request.question.strip():
            raise InvalidRequest("There is no question.")
        if request.session is None:
            return self.sessions.create(self._vault_name)
        if request.dry_run:
            return self.sessions.read(request.session)
        return self.sessions.open(request.session)

    def _turn(self, request: AskRequest) -> TurnRequest:
        values = self.settings.values
        return TurnRequest(
            question=request.question,
            mode=request.mode,
            model=request.model or values.chat_model,
            api_base=values.chat_api_base,
            threshold=values.auto_compact_threshold,
            max_output_tokens=values.max_output_tokens,
            temperature=values.chat_temperature,
            top_k=values.retrieval_top_k,
            offline=values.privacy_offline,
            dry_run=request.dry_run,
        )

    def _chain(self, mode: Mode) -> LLMChain | VaultQAChain | AgentChain:
        resolve = Attachments(self._library).resolve
        if mode == "chat":
            return LLMChain(secrets.key_for, resolve=resolve)
        if mode == "agent":
            return AgentChain(
                secrets.key_for, self._open_library(), self._agent_limits, resolve=resolve
            )
        return VaultQAChain(secrets.key_for, self, resolve=resolve)

    @property
    def _agent_limits(self) -> AgentLimits:
        values = self.settings.values
        return AgentLimits(
            max_steps=values.agent_max_steps,
            max_seconds=values.agent_max_seconds,
            offload_bytes=values.result_offload_threshold,
        )

    def _freshen(self, cancel: CancelToken, warnings: list[str]) -> Iterator[Event]:
        """Bring the index up to date before it is searched, as far as that is possible now."""
        library = self._open_library()
        if library.is_updating:
            return
        yield Step("index", "Reading your notes")
        try:
            for event in library.update(cancel):
                if isinstance(event, IndexProgressed):
                    yield event
        except (IndexBusy, EmbedderFailed, VectorStoreFailed) as error:
            _log.warning("The index was not brought up to date: %s", error)
            warnings.append(f"{error} The answer rests on what was indexed before.")
            yield Warned(warnings[-1])
        cancel.raise_if_cancelled()


def _chat_of(request: AskRequest, session: Session | None) -> str | None:
    """Return the chat in which a question failed, as far as there is one."""
    if session is None:
        return request.session
    return session.id if session.is_stored else None


def _mode_of(chat: Session | None) -> Mode:
    """Return the mode of the chat's last turn: one over notes has passages, if only none."""
    last = turn_ids(chat.path())[-1:] if chat is not None else ()
    if chat is None or not last:
        return "vault"
    sent = [e for e in chat.path() if isinstance(e, SegmentsEntry) and e.turn_id == last[0]]
    searched = (not e.segments or any(s.kind == "passage" for s in e.segments) for e in sent)
    return "vault" if any(searched) else "chat"


def _model_of(chat: Session) -> str | None:
    """Return the model that answered last; None where none has."""
    answers = (e.model for e in reversed(chat.path()) if isinstance(e, MessageEntry))
    return next((model for model in answers if model), None)


def _context(prepared: PreparedRequest, full: bool) -> dict[str, Any]:
    body = {"request_body": prepared.request_body(), "wire": None} if full else {}
    return {**prepared.report.to_dict(), "rebuilt": False, **body}


def _finished(event: Event, warnings: Sequence[str], session: Session) -> Event:
    """Add to the end of a turn what the chain cannot know."""
    if not isinstance(event, TurnEnded):
        return event
    result = replace(event.result, warnings=(*warnings, *event.result.warnings))
    if not session.is_stored:
        result = replace(result, session=None, context={**result.context, "session": None})
    return TurnEnded(result)
