"""Run turns: from a user message to a stream of events.

`ask` appends a question to the active leaf or to a given entry, `edit` adds another version of a
question, and `regenerate` adds another version of an answer.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from app.customize.customization import UserCustomization
from app.errors import InvalidRequest, TurnFailed
from app.library.library import Library
from app.library.open_vault import OpenVault
from app.library.projects import Projects
from app.sessions.session import Session
from app.sessions.store import SessionStore
from app.sessions.turn_builder import TurnBuilder
from app.sessions.user_messages import (
    AskRequest,
    RestoredAttachments,
    find_last_mode,
    find_last_model,
    last_question,
    list_attachments,
    require_model,
    require_text,
    restore_attachments,
    was_prepared,
)
from chains.cancel import CancelToken
from chains.concurrency import call
from chains.events import ContextPrepared, Event, Mode, TurnEnded, Warned
from chains.model import warm_up
from chains.models import EXTRACTIVE
from chains.request.request import TurnContext, TurnRequest
from chains.request.session import SessionView
from chains.retrieval.map_reduce_plan import ReadingCost
from chains.tokenizer import load_counter
from chains.turn.compact import BranchSummary, summarise_branch
from chains.turn.run import (
    ModelCheck,
    check_model,
    compact_on_request,
    measure_reading,
    preview,
    rebuild,
    run_turn,
    store_user_message,
)
from context.fit.guard import PreparedRequest
from context.history.pins import Pins
from context.history.replay import replay_path
from context.history.turns import Turn, list_turns
from context.log.entries import MessageEntry
from context.tokens import TokenCounter

__all__ = ["AskRequest", "PinRoom", "TurnRunner"]


@dataclass(frozen=True)
class _TurnStart:
    """A turn before it runs; the active path of its chat already ends where the turn begins.

    Attributes:
        turn: the turn without its attachments.
        attach: reads the attachments.
        updates_index: whether the index is brought up to date first.
    """

    turn: TurnRequest
    attach: Callable[[], RestoredAttachments]
    updates_index: bool


@dataclass(frozen=True)
class PinRoom:
    """The pins of a chat, and the token budget of its next request."""

    pins: Pins
    budget: int
    counter: TokenCounter


class TurnRunner:
    """Runs turns; every method may be called from any thread."""

    def __init__(
        self,
        sessions: SessionStore,
        vault: OpenVault,
        customization: UserCustomization,
        projects: Projects,
        builder: TurnBuilder,
    ) -> None:
        self._sessions = sessions
        self._vault = vault
        self._projects = projects
        self._customization = customization
        self._agents, self._edits = builder.agents, builder.agents.edits
        self._builder = builder

    @property
    def library(self) -> Library | None:
        """The open notes; None if no folder is open."""
        return self._vault.library

    def ask(self, request: AskRequest, cancel: CancelToken) -> Iterator[Event]:
        """Answer a question; the last event is `TurnEnded`.

        Raises:
            TurnFailed: no answer could be given; the error has the reason and the chat.
        """
        opened, begin = partial(self._open_session, request), partial(self._start_question, request)
        return self._run(request.session, opened, begin, cancel)

    def edit(
        self, session: str, entry: str, changed: AskRequest, mode: Mode | None, cancel: CancelToken
    ) -> Iterator[Event]:
        """Ask an edited question as a new version of it; the last event is `TurnEnded`.

        Args:
            session: the chat.
            entry: the user message to edit.
            changed: the new question; the attachments of the first version are attached again.
            mode: the mode of the new version; None means the mode of the first one.
            cancel: stops the turn.

        Raises:
            TurnFailed: no answer could be given; the error has the reason.
        """
        opened = partial(self._sessions.open, session)
        return self._run(session, opened, partial(self._start_edit, entry, changed, mode), cancel)

    def regenerate(
        self, session: str, entry: str, model: str | None, cancel: CancelToken
    ) -> Iterator[Event]:
        """Regenerate an answer, with the same attachments and passages.

        Args:
            session: the chat.
            entry: the answer that gets another version, or a user message without an answer.
            model: the model; None means the one in the settings.
            cancel: stops the turn.

        Raises:
            TurnFailed: no answer could be given; the error has the reason.
        """
        opened = partial(self._sessions.open, session)
        return self._run(session, opened, partial(self._start_regeneration, entry, model), cancel)

    def compact(
        self, session: str, instructions: str, model: str | None, cancel: CancelToken
    ) -> Iterator[Event]:
        """Summarise all but the last turn of a chat; the last event is `CompactionEnded`.

        Args:
            session: the chat.
            instructions: the facts that the summary should keep above all.
            model: the model; None means the one in the settings, even if another one answered
                before. Without any model nothing is sent, and an outline is made.
            cancel: stops the compaction.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            Cancelled: the compaction was cancelled; the chat is unchanged.
        """
        with self._sessions.open(session) as chat:
            mode = find_last_mode(chat.path()) if self._vault.library is not None else "chat"
            project = chat.header.project
            turn = self._builder.build_turn(AskRequest("", mode, model, project=project))
            chain = self._builder.build_chain(mode, project)
            with closing(compact_on_request(chain, turn, chat, cancel, instructions)) as events:
                yield from events
            chat.keep_counts(partial(load_counter, turn.model))

    def summarise(
        self, branch: Sequence[Turn], model: str | None, chat: Session, cancel: CancelToken
    ) -> BranchSummary:
        """Summarise a branch; make an outline if no model is set."""
        turn = self._builder.build_turn(AskRequest("", "chat", model))
        chain = self._builder.build_chain("chat", None)
        return summarise_branch(TurnContext.open(chain, turn, chat, cancel), branch)

    def check_model(self, model: str | None, cancel: CancelToken) -> ModelCheck:
        """Call a model with a few words; None means the model in the settings."""
        turn = self._builder.build_bare_turn(AskRequest("", "chat", model))
        chain = self._builder.build_chain("chat", None)
        return check_model(chain, turn, SessionView(), cancel)

    def prepare_next(
        self,
        chat: Session | None,
        request: AskRequest,
        changes: Mapping[str, object] | None = None,
    ) -> PreparedRequest:
        """Prepare the next request of a chat; nothing is searched or stored.

        Args:
            chat: the chat; None for a new one.
            request: the question as typed so far.
            changes: settings by key that replace the current ones.
        """
        request = _name_project(request, chat)
        turn = self._builder.build_turn(request, changes)
        return preview(self._builder.build_chain(turn.mode, request.project), turn, chat)

    def estimate_reading(self, chat: Session | None, request: AskRequest) -> ReadingCost | None:
        """Return the highest cost of reading the attachments whole; None if all of them fit.

        No model is called.

        Raises:
            CannotRead: an attachment cannot be read whole.
        """
        request = _name_project(request, chat)
        turn = self._builder.build_turn(request)
        return measure_reading(self._builder.build_chain(turn.mode, request.project), turn, chat)

    def pin_room(self, chat: Session) -> PinRoom:
        """Return the pins of a chat and the token budget of its next request."""
        path = chat.path()
        report = self.prepare_next(chat, AskRequest("", find_last_mode(path))).report
        counter = load_counter(report.model)
        return PinRoom(replay_path(path, counter).pins, report.budget, counter)

    def rebuild_request(self, chat: Session) -> PreparedRequest:
        """Rebuild the first request of the last turn on a chat's path from the log."""
        path, project = chat.path(), chat.header.project
        request = AskRequest("", find_last_mode(path), find_last_model(path), project=project)
        turn = self._builder.build_turn(request)
        return rebuild(self._builder.build_chain(turn.mode, project), turn, chat)

    def _run(
        self,
        session: str | None,
        opened: Callable[[], Session],
        begin: Callable[[Session], _TurnStart],
        cancel: CancelToken,
    ) -> Iterator[Event]:
        chat: Session | None = None
        try:
            chat = opened()
            yield from self._run_turn(chat, begin(chat), cancel)
        except TurnFailed:
            raise
        except Exception as error:
            raise TurnFailed(error, _find_failed_session(session, chat)) from error
        finally:
            if chat is not None:
                chat.close()

    def _run_turn(self, chat: Session, begun: _TurnStart, cancel: CancelToken) -> Iterator[Event]:
        """Run a turn; if its first request cannot be prepared, take the user message back."""
        require_model(begun.turn)
        leaf, is_prepared = chat.tree.leaf, False
        try:
            turn = begun.turn
            if not turn.dry_run:
                turn = yield from store_user_message(turn, chat, self._customization.hooks())
            for event in self._answer(replace(begun, turn=turn), chat, cancel):
                is_prepared = is_prepared or isinstance(event, ContextPrepared)
                yield event
        except Exception as error:
            is_taken_back = not is_prepared and chat.take_back(leaf)
            raise TurnFailed(error, _find_failed_session(None, chat), is_taken_back) from error

    def _answer(self, begun: _TurnStart, chat: Session, cancel: CancelToken) -> Iterator[Event]:
        turn = begun.turn
        if not turn.dry_run and turn.model != EXTRACTIVE:
            warm_up()
        chat.recall_counts(partial(load_counter, turn.model))
        again = call(begun.attach, cancel)
        warnings = list(again.lost)
        yield from map(Warned, warnings)
        if begun.updates_index:
            library = self._builder.find_library(turn.mode, chat.header.project)
            yield from library.freshen(cancel, warnings)
        yield from self._report_damage(warnings)
        if turn.mode == "agent" and not turn.dry_run:
            warnings += yield from self._agents.open_servers(chat.id, cancel)
        project, runs_hooks = chat.header.project, not turn.dry_run
        chain = self._builder.build_chain(turn.mode, project, runs_hooks, chat.id, cancel)
        turn = replace(turn, attached=again.segments)
        with closing(cast(Generator[Event], run_turn(chain, turn, chat, cancel))) as events:
            for event in events:  # closed before the chat, as closing stores the partial answer
                if isinstance(event, TurnEnded):
                    yield from self._report_damage(warnings)
                yield self._complete_event(event, warnings, chat)
        chat.keep_counts(partial(load_counter, turn.model))

    def _complete_event(self, event: Event, warnings: Sequence[str], chat: Session) -> Event:
        """Add the warnings and the changes of notes to the last event of a turn."""
        if not isinstance(event, TurnEnded):
            return event
        warnings = (*warnings, *event.result.warnings)
        edits = self._edits.describe_run(chat.id) if event.result.mode == "agent" else None
        result = replace(event.result, warnings=warnings, edits=edits)
        if not chat.is_stored:
            result = replace(result, session=None, context={**result.context, "session": None})
        return TurnEnded(result)

    def _report_damage(self, warnings: list[str]) -> Iterator[Event]:
        """Warn once if the index or `state.db` was damaged."""
        library = self._vault.library
        said = (self._sessions.take_warning(), "" if library is None else library.take_warning())
        for warning in filter(None, said):
            warnings.append(warning)
            yield Warned(warning)

    def _open_session(self, request: AskRequest) -> Session:
        require_text(request.question)
        if request.session is None:
            return self._create_session(request)
        if request.dry_run:
            return self._sessions.read(request.session)
        return self._sessions.open(request.session)

    def _create_session(self, request: AskRequest) -> Session:
        folder, project = self._vault.folder, request.project
        if project is not None:
            projects = self._projects
            project = projects.find_name(project) if request.dry_run else projects.add(project)
        return self._sessions.create(None if folder is None else str(folder), project)

    def _start_question(self, request: AskRequest, chat: Session) -> _TurnStart:
        project = chat.header.project
        self._projects.check_chat(request.project, project, is_needed=request.mode == "project")
        request = replace(request, project=project)
        attachments = self._builder.attachments
        attachments.check_names(request.attach, request.selections)
        if request.parent is not None:
            chat.continue_from(request.parent)
        updates_index = request.mode != "chat" and request.update_index

        def attach() -> RestoredAttachments:
            return RestoredAttachments(attachments.segments(request.attach, request.selections))

        return _TurnStart(self._builder.build_bare_turn(request), attach, updates_index)

    def _start_edit(
        self, entry: str, changed: AskRequest, mode: Mode | None, chat: Session
    ) -> _TurnStart:
        require_text(changed.question)
        path = chat.path_to(entry)
        question = path[-1]
        if not isinstance(question, MessageEntry) or question.message.role != "user":
            raise InvalidRequest(f"The entry {entry} is not a question, so it cannot be edited.")
        sent = list_turns(chat.path_to(chat.tree.answer_point(entry)))[-1].segments
        attach, selections = list_attachments(question, sent)
        there = tuple(path for path in attach if self._builder.attachments.has(path))
        changed = replace(changed, attach=there, selections=selections)
        changed = _name_project(changed, chat)
        chat.continue_from(chat.tree.branch_point(entry))
        turn = self._builder.build_bare_turn(replace(changed, mode=mode or find_last_mode(path)))
        again = partial(restore_attachments, self._builder.attachments, question, sent)
        return _TurnStart(turn, again, turn.mode != "chat")

    def _start_regeneration(self, entry: str, model: str | None, chat: Session) -> _TurnStart:
        said = chat.path_to(entry)[-1]
        if not isinstance(said, MessageEntry):
            raise InvalidRequest(f"The entry {entry} is not an answer.")
        is_answer, tree = said.message.role != "user", chat.tree
        chat.continue_from(tree.branch_point(entry) if is_answer else tree.answer_point(entry))
        path = chat.path()
        question = last_question(path)
        if question is None:
            raise InvalidRequest(
                f"Nothing was asked before {entry}, so there is nothing to answer."
            )
        asked = list_turns(path)[-1].user or question
        mode, project = find_last_mode(path), chat.header.project
        request = AskRequest(asked.message.text, mode, model, project=project)
        turn = self._builder.build_bare_turn(request)
        if is_answer or tree.children(entry) or was_prepared(question, path):
            return _TurnStart(
                replace(turn, is_regenerated=True),
                partial(RestoredAttachments, ()),
                turn.mode == "agent",
            )
        attach = partial(restore_attachments, self._builder.attachments, question, ())
        return _TurnStart(replace(turn, user_message=question), attach, turn.mode != "chat")


def _name_project(request: AskRequest, chat: Session | None) -> AskRequest:
    """Return a request with the project of its chat; a request without a chat stays as it is."""
    return request if chat is None else replace(request, project=chat.header.project)


def _find_failed_session(named: str | None, chat: Session | None) -> str | None:
    """Return the id of the chat in which a turn failed; None if no chat was made."""
    if chat is None:
        return named
    return chat.id if chat.is_stored else None
