"""The one use-case behind window and command line: open notes, index, search, ask, look back."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.library import Library
from app.session_store import SessionInfo, SessionStore
from app.settings_file import SettingsStore
from app.transcript import Transcript
from chains.cancel import CancelToken
from chains.events import Event, IndexProgressed, Mode
from vault.indexer import IndexReport
from vault.notes import Note
from vault.search import SearchResult
from vault.store import NoteState


@dataclass(frozen=True)
class AskRequest:
    """One question.

    Attributes:
        model: None for the one in the settings.
        session: the chat to go on with; None begins a new one.
        dry_run: retrieve and prepare, but send and store nothing.
        update_index: bring the index up to date first, where notes are searched at all.
    """

    question: str
    mode: Mode = "vault"
    model: str | None = None
    session: str | None = None
    dry_run: bool = False
    update_index: bool = True


@dataclass(frozen=True)
class IndexFinished:
    """The index is up to date, or stands where it was stopped."""

    report: IndexReport


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be chosen.

    Attributes:
        name: as in the setting `chat.model`.
        where: "this computer", or the host that text goes to.
        input_limit: tokens it takes; None where that is not known.
        is_set: whether it is the one in the settings.
    """

    name: str
    label: str
    where: str
    input_limit: int | None
    is_set: bool


class Assistant:
    """What Strata can do. Every method may be called from any thread, unless it says otherwise."""

    settings: SettingsStore
    sessions: SessionStore

    @property
    def vault(self) -> Path | None:
        """The open folder of notes."""

    @property
    def library(self) -> Library | None:
        """The open notes with their index."""

    def open_vault(self, folder: Path, remember: bool = True) -> None:
        """Open a folder of notes; `remember` opens it again at the next start."""

    def close(self) -> None:
        """Let go of the notes and the child processes."""

    def index(self, cancel: CancelToken) -> Iterator[IndexProgressed | IndexFinished]:
        """Bring the index up to date."""

    def search(self, query: str, k: int | None = None) -> SearchResult:
        """Find passages by words and by meaning."""

    def ask(self, request: AskRequest, cancel: CancelToken) -> Iterator[Event]:
        """Answer a question; the last event is `TurnEnded`, or an error is raised."""

    def preview(
        self,
        session: str | None,
        text: str = "",
        mode: Mode = "vault",
        model: str | None = None,
        threshold: int | None = None,
    ) -> dict[str, Any]:
        """Return the *Context* of what would be sent next; nothing is looked up or stored."""

    def last_context(self, session: str, full: bool = False) -> dict[str, Any] | None:
        """Return the *Context* of the last request of a chat; None where it has none."""

    def list_sessions(self) -> list[SessionInfo]:
        """Return the chats, the one used last first."""

    def transcript(self, session: str) -> Transcript:
        """Return a chat as it is read."""

    def notes(self) -> tuple[NoteState, ...]:
        """Return what is known of every file in the open folder."""

    def read_note(self, path: str) -> Note:
        """Return a note as it is on the disk now."""

    def model_choices(self) -> tuple[ModelChoice, ...]:
        """Return the models that can be chosen."""
