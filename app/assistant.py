"""The use-cases for the window and the command line: open, index, search, ask, inspect."""

import logging
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.config.learned import LearnedModels
from app.config.settings_file import SettingsStore
from app.customize.customization import UserCustomization
from app.errors import AppError, InvalidRequest, NotFound
from app.ledger import Ledger
from app.library.attachments import Attachments, WebPages
from app.library.edits import NoteEdits, SavedNote, UserEdits
from app.library.formula_drawer import FormulaDrawer
from app.library.image_reader import ImageReader
from app.library.images import VaultImages
from app.library.library import IndexFinished, Library
from app.library.open_vault import OpenVault, follow_folder, search_notes
from app.library.project_pages import PageFetcher
from app.library.projects import Projects
from app.migrations import HOME_IS_NEWER
from app.paths import Paths
from app.relocation.folders import follow_file
from app.requests.store import NotePlaces
from app.sessions.agent import AgentBuilder
from app.sessions.ask import TurnRunner
from app.sessions.session_info import SessionInfo
from app.sessions.store import SessionStore
from app.sessions.turn_builder import CallStores, TurnBuilder
from app.sessions.user_messages import find_last_mode
from app.spending import Spending
from chains.cancel import CancelToken
from chains.concurrency import start_call
from chains.events import Event, IndexProgressed, Mode
from chains.models import EXTRACTIVE
from chains.request.ask import MODES, Ask, Selection
from chains.web.client import WebClient
from context.layers import Segment
from vault.access import read_allowed
from vault.embedder import Embedder
from vault.errors import VaultError
from vault.notes.note import READ_WHOLE, Note, ReadOptions
from vault.records import NoteState
from vault.search.hits import SearchResult

if TYPE_CHECKING:
    from app.config.model_setup import ModelSetup
    from app.judge.judging import Judging
    from app.judge.kept import KeptVerdicts
    from app.library.embedded_notes import EmbeddedNotes
    from app.library.finding_fixes import FindingFixes
    from app.library.long_texts import LongTexts
    from app.library.review import NoteReview
    from app.pinned.answers import PinnedAnswers
    from app.pinned.notes import PinnedNotes
    from app.rehearsal.rehearse import Rehearser
    from app.sessions.branches import BranchEditor, ChatCompactor, SummaryMender
    from app.sessions.rebuild import RequestRebuilder
    from app.sessions.request_history import RequestHistory
    from app.sessions.titles import ChatTitles
    from app.sessions.transcript import ChatTranscript
    from app.time_machine.machine import TimeMachine
    from app.time_machine.passages import KeptPassages
    from app.updates import UpdateReport
    from chains.retrieval.map_reduce_plan import ReadingCost
    from chains.turn.calls import ModelCheck
    from vault.search.related import RelatedNote
    from vault.views.blocks import ComputedBlock

__all__ = ["Assistant"]

_log = logging.getLogger(__name__)
EXCLUDE: Final = "vault.exclude"


class Assistant:
    """All use-cases of Strata. Thread-safe.

    Methods that write to a chat raise `SessionBusy` while another turn is running in that chat.
    Methods that take an entry raise `NotFound` if the chat has no such entry. Components that a
    question does not need have no state of their own, and are loaded when they are first used.

    Attributes:
        paths: the folders and files of Strata itself.
        settings: the user's settings.
        sessions: the chats.
        ledger: the list of all outgoing calls.
        spending: what calls to models cost, and the limits.
        customization: the user's prompts, long-term memories and hooks, and whether the user has
            accepted the vault's AGENTS.md.
        projects: the projects with their settings.
        edits: manages and undoes the edits that models make to notes.
        agents: builds agents, and asks the user to approve the changes that their tools propose.
        runner: runs turns, and continues an answer that was cut off.
        why_read_only: sentences that say why nothing can be stored, or an empty string.
    """

    def __init__(
        self,
        paths: Paths,
        settings: SettingsStore,
        sessions: SessionStore,
        embedder: Embedder | None = None,
        web: WebClient | None = None,
        *,
        is_read_only: bool = False,
    ) -> None:
        self.paths = paths
        self.why_read_only = HOME_IS_NEWER if is_read_only else ""
        self._unsaid = [self.why_read_only]
        self.settings = settings
        self.sessions = sessions
        self.ledger = ledger = Ledger(paths.ledger)
        self.spending = Spending(paths.spending, settings)
        self._vault = vault = OpenVault(paths, settings, lambda: ledger, embedder)
        vault.after_change = self.remove_excluded
        sessions.sent.after_add = self.remove_excluded
        settings.after_set.append(self._after_set)
        self.projects = Projects(paths, vault)
        self.customization = UserCustomization(paths, settings, vault, self.projects)
        self.edits = NoteEdits(paths, lambda: vault.folder, self._find_projects)
        web = web or WebClient(lambda: settings.values.privacy_offline, ledger)
        self._web, self._pages, self._images = web, WebPages(web), ImageReader()
        memories = self.customization.memories
        self.agents = AgentBuilder(settings, memories, self.edits, web, paths.mcp, ledger)
        self._learned = LearnedModels(paths.learned_models)
        self._embedder = embedder
        self._turns = self._build_turns(vault, self.projects, self.customization)
        self.runner = TurnRunner(sessions, vault, self.customization, self.projects, self._turns)

    def _find_projects(self, session: str) -> Iterator[Path]:
        """Yield the folders of the listed projects, and that of a chat's project."""
        yield from (project.folder for project in self.projects.list())
        with suppress(AppError):  # no chat, or a deleted one
            if (folder := self.sessions.info(session).project_folder) is not None:
                yield Path(folder)

    @cached_property
    def titles(self) -> "ChatTitles":
        """Lets the model write titles for chats."""
        from app.sessions.titles import ChatTitles

        return ChatTitles(self.settings, self.sessions, self._turns)

    @cached_property
    def branches(self) -> "BranchEditor":
        """Selects and summarises branches, forks chats, and sets titles, labels and pins."""
        from app.sessions.branches import BranchEditor

        return BranchEditor(self.sessions, self.runner)

    @cached_property
    def compaction(self) -> "ChatCompactor":
        """Compacts chats, with a preview of the summary that the user can edit."""
        from app.sessions.branches import ChatCompactor

        return ChatCompactor(self.sessions, self._vault, self._turns)

    @cached_property
    def mender(self) -> "SummaryMender":
        """Keeps facts in the summaries of chats, takes others out, and edits summaries."""
        from app.sessions.branches import SummaryMender

        return SummaryMender(self.compaction, self.branches)

    @cached_property
    def history(self) -> "RequestHistory":
        """The chats' transcripts and past requests."""
        from app.sessions.request_history import RequestHistory

        def add_found(session: str, chat: "ChatTranscript") -> "ChatTranscript":
            return self.compaction.add_found(session, chat)

        return RequestHistory(self.sessions, self.runner, self._rebuilder, add_found)

    @cached_property
    def time_machine(self) -> "TimeMachine":
        """Shows the requests of answers as they were, and as today's notes would make them."""
        from app.time_machine.machine import TimeMachine

        return TimeMachine(self.sessions, self._rebuilder, self.kept_passages)

    @cached_property
    def rehearser(self) -> "Rehearser":
        """Asks again what answers answered, without some of what the model saw."""
        from app.rehearsal.rehearse import Rehearser

        return Rehearser(self.sessions, self.time_machine, self._turns)

    @cached_property
    def kept_passages(self) -> "KeptPassages":
        """The texts of notes that are kept for past answers."""
        from app.time_machine.passages import KeptPassages

        settings, edits = self.settings, self.edits
        return KeptPassages(
            self.sessions.sent,
            lambda: settings.values.vault_exclude,
            edits.list_moves,
            lambda folder: follow_folder(folder, self.paths),
        )

    def remove_excluded(self, pieces: Iterable[NotePlaces] | None = None) -> None:
        """Remove the texts of excluded notes that are kept, and the verdicts on these notes.

        A failure is only logged.

        Args:
            pieces: the notes that texts of a request come from, or None for all requests, and for
                the verdicts.
        """
        if self.sessions.sent.folder.is_dir():
            try:
                if pieces is None:
                    self.kept_passages.remove_excluded()
                else:
                    self.kept_passages.forget_excluded(pieces)
            except AppError as error:
                _log.warning("Texts of excluded notes are still kept: %s", error)
        vault = self._vault.vault
        if pieces is None and vault is not None and self.paths.judged.is_dir():
            try:
                self.kept_verdicts.forget_hidden(vault)
            except (AppError, VaultError) as error:
                _log.warning("Verdicts on excluded notes are still kept: %s", error)

    def _after_set(self, key: str) -> None:
        if key == EXCLUDE:
            self.remove_excluded()

    @cached_property
    def _rebuilder(self) -> "RequestRebuilder":
        """Rebuilds past requests, also those of chats with another vault."""
        from app.sessions.rebuild import RequestRebuilder

        def make_vault() -> OpenVault:
            return OpenVault(self.paths, self.settings, lambda: self.ledger, self._embedder)

        def connect(vault: OpenVault, projects: Projects) -> TurnRunner:
            customization = UserCustomization(self.paths, self.settings, vault, projects)
            turns = self._build_turns(vault, projects, customization)
            return TurnRunner(self.sessions, vault, customization, projects, turns)

        return RequestRebuilder(
            self.paths, lambda: self._vault.folder, make_vault, self.runner, connect
        )

    @cached_property
    def model_setup(self) -> "ModelSetup":
        """Finds, tests and stores the model that answers, and its API key."""
        from app.config.model_setup import ModelSetup

        turns, files = self._turns, self.paths.model_files
        return ModelSetup(
            self.settings, self.ledger, self._learned, turns.check_model, turns.local, files
        )

    @cached_property
    def user_edits(self) -> UserEdits:
        """Makes the user's own edits to notes."""
        find_project = self.projects.find_folder_around
        return UserEdits(self.edits, self._vault, self.settings, find_project)

    @cached_property
    def images(self) -> VaultImages:
        """Reads images of the open vault, and of projects outside of it, for display."""
        find_project = self.projects.find_folder_around
        return VaultImages(lambda: self._vault.folder, self._images, find_project)

    @cached_property
    def formulas(self) -> FormulaDrawer:
        """Draws formulas, in a child process."""
        return FormulaDrawer()

    def open_embeds(self) -> "EmbeddedNotes":
        """Return a reader of the notes that notes and answers embed, for one use."""
        from app.library.embedded_notes import EmbeddedNotes

        return EmbeddedNotes(self._vault.vault, self.projects)

    @cached_property
    def pages(self) -> PageFetcher:
        """Fetches the web pages, and reads the transcripts, that projects keep."""
        follow = partial(follow_file, self.paths)
        return PageFetcher(self._web, lambda: self._vault.vault, follow)

    @cached_property
    def long_texts(self) -> "LongTexts":
        """Stores pasted texts as files if they are too long for a message."""
        from app.library.long_texts import LongTexts

        return LongTexts(self.paths.pasted)

    @cached_property
    def review(self) -> "NoteReview":
        """Finds notes of the open vault that need attention."""
        from app.library.review import NoteReview

        return NoteReview(self._vault.require_vault, self.paths, self._is_index_in_use)

    def find_review(self, project: str | None) -> "NoteReview":
        """Return the review of a project's notes, or of the open vault if `project` is None.

        Args:
            project: the folder of the project.

        Raises:
            NotFound: the folder does not exist.
        """
        from app.library.review import NoteReview

        if project is None:
            return self.review
        find_vault = partial(self.projects.open, self.projects.find_name(project))
        return NoteReview(find_vault, self.paths, self._is_index_in_use)

    def build_fixes(self, project: str | None = None) -> "FindingFixes":
        """Build what fixes the findings of a review of a project, or of the open vault.

        Args:
            project: the folder of the project, or None for the open vault.

        Raises:
            VaultNotChosen: no vault is open.
            NotFound: the folder does not exist.
        """
        from app.library.finding_fixes import FindingFixes

        vault = self._vault.require_vault()
        if project is not None:
            vault = self.projects.open(self.projects.find_name(project))
        exclude = self.settings.values.vault_exclude
        return FindingFixes(self.edits.build_editor(vault.root, lambda: exclude))

    def look_for_update(self, cancel: CancelToken) -> "UpdateReport":
        """Look for a newer version of Strata at the address that is set.

        Raises:
            InvalidRequest: the setting `updates.address` is empty.
            FetchFailed: the address cannot be read, or does not describe a release.
            LedgerFailed: the call could not be recorded, so it was not made.
            Cancelled: the token was cancelled.
        """
        from app.updates import look_for_update

        values = self.settings.values
        # The user named this host, unlike those of pages, and it may be one of a private network.
        web = WebClient(lambda: values.privacy_offline, self.ledger, is_allowed=lambda _ip: True)
        return look_for_update(web, values.updates_address, cancel)

    def _is_index_in_use(self) -> bool:
        return self.library is not None and self.library.is_in_use

    @cached_property
    def pinned(self) -> "PinnedAnswers":
        """Keeps pinned questions, and computes their answers anew without a language model."""
        from app.pinned.answers import PinnedAnswers

        def read_chat(session: str) -> "ChatTranscript":
            return self.history.transcript(session)

        moves = self.edits.list_moves
        return PinnedAnswers(self.paths, self._vault, self.projects, moves, read_chat)

    @cached_property
    def pinned_notes(self) -> "PinnedNotes":
        """Writes pinned answers into the vault, as bases or blocks of notes."""
        from app.pinned.notes import PinnedNotes

        return PinnedNotes(self.pinned, self.user_edits, self._vault)

    @cached_property
    def judging(self) -> "Judging":
        """Judges every note of a scope by a question."""
        from app.judge.judging import Judging

        kept, edits = self.kept_verdicts, self.user_edits
        return Judging(kept, self._vault, self.projects, self._turns, edits)

    @cached_property
    def kept_verdicts(self) -> "KeptVerdicts":
        """The stored verdicts on notes."""
        from app.judge.kept import KeptVerdicts

        return KeptVerdicts(self.paths.judged)

    @property
    def vault(self) -> Path | None:
        """The folder of the open vault, or None."""
        return self._vault.folder

    @property
    def library(self) -> Library | None:
        """The open vault's notes and index, or None."""
        return self._vault.library

    def open_vault(self, folder: Path, remember: bool = True) -> None:
        """Open a folder as the vault.

        If `remember` is true, the folder is saved in the settings, and opened at the next start.

        Raises:
            VaultMissing: the folder does not exist.
            VaultUnreadable: the folder cannot be read.
            StorageFailed: the index or the settings cannot be written.
        """
        self._vault.open(folder, remember)

    def close(self) -> None:
        """Close the vault and the databases, and stop all child processes."""
        self._turns.local.close()
        self.agents.close()
        self.projects.close()
        self._vault.close()
        self.sessions.close()
        self._images.close()
        if "formulas" in vars(self):  # it was used
            self.formulas.close()

    def _open_attachments(self) -> Attachments:
        return Attachments(self._vault.vault, self._pages, self._images)

    def _build_turns(
        self, vault: OpenVault, projects: Projects, customization: UserCustomization
    ) -> TurnBuilder:
        return TurnBuilder(
            self.settings,
            vault,
            customization,
            CallStores(self.ledger, self.spending, self._learned),
            self.agents,
            lambda: Attachments(vault.vault, self._pages, self._images),
            projects,
        )

    def index(
        self, cancel: CancelToken, *, is_background: bool = False
    ) -> Iterator[IndexProgressed | IndexFinished]:
        """Update the index, and yield progress events, ending with `IndexFinished`.

        Args:
            cancel: cancels the update, which still ends with `IndexFinished`.
            is_background: whether to slow down under high load or on battery, because the user is
                not waiting.

        Raises:
            VaultNotChosen: no vault is open.
            VaultError: indexing failed. The previous content of the index is kept.
        """
        yield from self._vault.require().update(cancel, is_background=is_background)

    def search(self, query: str, k: int | None = None, project: str | None = None) -> SearchResult:
        """Return the passages of the vault or a project that best match a query.

        `k` is the maximum number of passages. If it is None, the setting `retrieval.topK` is used.

        Raises:
            VaultNotChosen: no vault is open.
            InvalidRequest: the query is blank.
            VaultError: the index cannot be searched.
        """
        if project is None:
            vault = self._vault.require_vault()
        else:
            vault = self.projects.open_named(project)
        return search_notes(vault, query, k or self.settings.values.retrieval_top_k)

    def compute_views(self, path: str, *, view: str, most: int) -> Sequence["ComputedBlock"]:
        """Compute a base of the vault, or the bases and queries in a note.

        Args:
            path: the path of the base or note.
            view: the name of the only view to return, or an empty string for all.
            most: the most rows of each view.

        Raises:
            VaultNotChosen: no vault is open.
            NotFound: the note has no base or query, or no view of this name.
            VaultError: the note or the index cannot be read.
        """
        from app.library.embedded_notes import compute_note

        return compute_note(self._vault.require_vault(), path, view, most)

    def find_related(
        self, path: str, k: int = 8, project: str | None = None
    ) -> "list[RelatedNote]":
        """Return the notes that are most similar to a note or linked to it.

        Args:
            path: the note, as search names it.
            k: the maximum number of notes.
            project: the folder of the project whose notes are compared, or None for the vault.

        Raises:
            VaultNotChosen: no vault is open.
            NotFound: the note is not in the index, or not in the project.
        """
        vault = (
            self._vault.require_vault() if project is None else self.projects.open_named(project)
        )
        known = (vault.name_path(note.path) for note in vault.notes() if note.state == "indexed")
        if path not in known:
            where = "the index" if project is None else "this project"
            raise NotFound(
                f"There is no note {path} in {where}.",
                hint="Give its path from the folder of notes on, as a search prints it.",
            )
        return vault.find_related(path, k)

    def notes(self) -> tuple[NoteState, ...]:
        """Return the state of every file in the vault, or an empty tuple if no vault is open."""
        vault = self._vault.vault
        return () if vault is None else vault.notes()

    def read_note(self, path: str, options: ReadOptions = READ_WHOLE) -> Note:
        """Read a note of the vault, or another file given by its absolute path.

        Raises:
            VaultNotChosen: no vault is open.
            NoteUnreadable: the note does not exist, or it is not text.
            NoteExcluded: the file is outside the vault and excluded from models.
        """
        if (file := Path(path)).is_absolute():
            return replace(read_allowed(file.parent, file.name), path=path)
        return self._vault.require_vault().read_note(path, options)

    def take_warnings(self) -> tuple[str, ...]:
        """Return new warnings about data files: damaged, merged, and those that are only read.

        Each warning is returned only once.
        """
        unsaid, self._unsaid = self._unsaid, []
        return tuple(filter(None, (*unsaid, *self.runner.take_warnings())))

    def tags(self) -> dict[str, tuple[str, ...]]:
        """Map each tag, without its leading `#`, to the paths of the notes that have it."""
        vault = self._vault.vault
        return {} if vault is None else vault.tags()

    def read_attachments(
        self, attach: Sequence[str], selections: Sequence[Selection] = ()
    ) -> tuple[Segment, ...]:
        """Return the full content of attachments as segments, without duplicates.

        `attach` and `selections` are described in `Ask`.

        Raises:
            NotFound: there is no such note, folder or file.
            InvalidRequest: the file or folder cannot be attached.
            NoteExcluded: models may not read the file.
            NoteUnreadable: the file is neither text nor an image.
            FetchFailed: the web page cannot be fetched or read.
        """
        return self._open_attachments().segments(attach, selections)

    def ask(self, request: Ask, cancel: CancelToken) -> Generator[Event]:
        """Answer a question, and yield the events of the turn, ending with `TurnEnded`.

        Raises:
            TurnFailed: the turn ended without an answer. The error has the reason and the chat.
        """
        return self.runner.ask(request, cancel)

    def prepare_search(self, request: Ask) -> bool:
        """Load the embedding model in the background, and return whether the notes are searched.

        Interfaces call this while a question is being written. Otherwise, the first question would
        wait until the model is loaded. Reading notes and chats loads nothing.

        Args:
            request: what was written so far. Only its mode and project are used.
        """
        if not MODES[request.mode].searches:
            return False

        def load() -> None:
            self._turns.find_library(request).vault.load_model()

        start_call(load)
        return True

    def estimate_reading(self, request: Ask) -> "ReadingCost | None":
        """Return the maximum cost of reading large attachments part by part, or None if all fit.

        Raises:
            CannotRead: the attachments cannot be read part by part, for example without a model.
        """
        chat = None if request.session is None else self.sessions.read(request.session)
        return self.runner.estimate_reading(chat, request)

    def edit(
        self,
        session: str,
        entry: str,
        text: str,
        cancel: CancelToken,
        *,
        model: str | None = None,
        mode: Mode | None = None,
    ) -> Generator[Event]:
        """Edit a question and answer the new version.

        The original attachments are attached again. The last event is `TurnEnded`.

        Args:
            session: the chat.
            entry: the user message to edit.
            text: the new text.
            cancel: cancels the turn.
            model: see `Ask`.
            mode: the mode of the new version, or None to keep the original mode.

        Raises:
            TurnFailed: the turn ended without an answer. The error has the reason.
        """
        changed = Ask(text, model=model)
        return self.runner.edit(session, entry, changed, mode, cancel)

    def regenerate(
        self, session: str, entry: str, cancel: CancelToken, *, model: str | None = None
    ) -> Generator[Event]:
        """Generate another version of an answer.

        `entry` is the answer, or a user message without an answer. The last event is `TurnEnded`.

        Raises:
            TurnFailed: the turn ended without an answer. The error has the reason.
        """
        return self.runner.regenerate(session, entry, model, cancel)

    def compact(
        self, session: str, cancel: CancelToken, instructions: str = "", model: str | None = None
    ) -> Iterator[Event]:
        """Summarise a chat except for its last turn. The last event is `CompactionEnded`.

        Args:
            session: the chat. It stays unchanged if the compaction is cancelled.
            cancel: cancels the compaction.
            instructions: the user's additional instructions for the summary.
            model: see `Ask`. Without a model, an outline is built, and nothing is sent.
        """
        return self.compaction.compact(session, instructions, model, cancel)

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
        """Return the context report of the next request, without searching, sending or storing.

        Args:
            session: the chat, or None for a new one.
            text: the text typed so far.
            mode: see `Ask`. None means the mode of the chat's last turn.
            model, attach, selections: see `Ask`.
            changes: settings to override for this report.
            full: whether to add the body of the request under the key `request_body`.

        Raises:
            ContextOverflow: the request would not fit. The error has the report.
            BadSetting: a change is out of range.
        """
        from app.sessions.request_history import describe_request

        chat = None if session is None else self.sessions.read(session)
        mode = mode or find_last_mode(() if chat is None else chat.path())
        request = Ask(text, mode, model, attach=tuple(attach), selections=tuple(selections))
        prepared = self.runner.prepare_next(chat, request, changes)
        return describe_request(prepared, chat, full)

    def save_note(
        self, session: str, entry: str | None = None, path: str | None = None
    ) -> SavedNote:
        """Save a chat, or one of its answers with the question, as a new note.

        Args:
            session: the chat.
            entry: the answer, or None for the whole chat.
            path: the path of the note, or None for a name made from the chat's title.

        Raises:
            VaultNotChosen: no vault is open.
            EditRefused: the note already exists, or its path is invalid.
            VaultError: the path is excluded or outside of the vault, or the note cannot be written.
        """
        name, text = self.history.build_note(session, entry)
        path = path or f"{name}.md"
        return SavedNote(session, path, self.user_edits.create_note(path, text))

    def list_sessions(self) -> list[SessionInfo]:
        """Return all chats, most recently used first."""
        return self.sessions.list()

    def stop_other_models(self, model: str | None = None) -> None:
        """Stop the running model file, unless it is the given model or the one for summaries.

        If `model` is None, the configured model is kept running.
        """
        self._turns.stop_other_models(model)

    def check_model(self, cancel: CancelToken, model: str | None = None) -> "ModelCheck":
        """Test a model with a short call. If `model` is None, the configured model is tested.

        Raises:
            InvalidRequest: no model is configured.
            ModelError: the model does not answer, or the service rejects the key.
        """
        if (model or self.settings.values.chat_model) == EXTRACTIVE:
            raise InvalidRequest("No model is set, so there is nothing to test.")
        return self._turns.check_model(cancel, {"chat.model": model} if model else None)
