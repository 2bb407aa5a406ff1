"""Run turns and yield their events.

`ask` adds a question. `edit` adds another version of a question, and `regenerate` another version
of an answer. `continue_answer` adds the rest of an answer that was cut off.
"""

from collections.abc import Callable, Container, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from app.customize.customization import UserCustomization
from app.errors import InvalidRequest, NotFound, TurnFailed
from app.library.open_vault import OpenVault
from app.library.projects import Projects
from app.sessions.abandoned_memory import find_abandoned_memories
from app.sessions.session import Session
from app.sessions.session_info import describe_damage
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
from chains.models import EXTRACTIVE
from chains.request.request import TurnContext, TurnRequest
from chains.tokenizer import load_counter
from chains.turn.compact import BranchSummary, summarise_branch
from chains.turn.continuation import find_broken_answer
from chains.turn.run import measure_reading, preview, rebuild, run_turn, store_user_message
from context.assemble.request import Request
from context.history.pins import Pins
from context.history.replay import replay_path
from context.history.turns import LoggedTurn, list_turns
from context.log.entries import MessageEntry
from context.tokens import TokenCounter
from vault.vault import Vault

if TYPE_CHECKING:
    from chains.retrieval.map_reduce_plan import ReadingCost

__all__ = ["AskRequest", "PinRoom", "TurnRunner"]


@dataclass(frozen=True)
class _TurnStart:
    """A turn that is about to run at the end of a chat's active branch.

    Attributes:
        turn: the turn without its attachments.
        attach: the function that reads the attachments, which may take time.
        updates_index: whether to update the index first.
    """

    turn: TurnRequest
    attach: Callable[[], RestoredAttachments]
    updates_index: bool


@dataclass(frozen=True)
class PinRoom:
    """The pins of a chat, and the token budget that limits them.

    Attributes:
        pins: the pinned messages and segments.
        budget: the token budget of the next request.
        counter: the token counter of the chat's model.
    """

    pins: Pins
    budget: int
    counter: TokenCounter


class TurnRunner:
    """Runs the turns of chats, each from the user message to the final answer. Thread-safe."""

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
        self._damaged: set[str] = set()  # the damaged chats that the user was warned about

    @property
    def vault(self) -> Vault | None:
        """The open vault, or None."""
        return self._vault.vault

    def ask(self, request: AskRequest, cancel: CancelToken) -> Generator[Event]:
        """Answer a question, ending with `TurnEnded`.

        Raises:
            TurnFailed: the turn ended without an answer. The error has the reason and the chat.
        """
        opened, begin = partial(self._open_session, request), partial(self._start_question, request)
        return self._run(request.session, opened, begin, cancel)

    def edit(
        self, session: str, entry: str, changed: AskRequest, mode: Mode | None, cancel: CancelToken
    ) -> Generator[Event]:
        """Edit a question and answer the new version, ending with `TurnEnded`.

        Args:
            session: the chat.
            entry: the user message to edit.
            changed: the new question. The original attachments are attached again.
            mode: the mode of the new version, or None to keep the original mode.
            cancel: the token that cancels the turn.

        Raises:
            TurnFailed: the turn ended without an answer. The error has the reason.
        """
        opened = partial(self._sessions.open, session)
        return self._run(session, opened, partial(self._start_edit, entry, changed, mode), cancel)

    def regenerate(
        self, session: str, entry: str, model: str | None, cancel: CancelToken
    ) -> Generator[Event]:
        """Generate another version of an answer from the same attachments and passages.

        Args:
            session: the chat.
            entry: the answer, or a user message without an answer.
            model: the model, or None for the configured one.
            cancel: the token that cancels the turn.

        Raises:
            TurnFailed: the turn ended without an answer. The error has the reason.
        """
        opened = partial(self._sessions.open, session)
        return self._run(session, opened, partial(self._start_regeneration, entry, model), cancel)

    def continue_answer(
        self, session: str, entry: str, model: str | None, cancel: CancelToken
    ) -> Generator[Event]:
        """Continue a chat's last answer, which was cut off, and end with `TurnEnded`.

        Raises:
            TurnFailed: the rest did not arrive. The error has the reason.
        """
        opened = partial(self._sessions.open, session)
        return self._run(session, opened, partial(self._start_continuation, entry, model), cancel)

    def summarise(
        self, branch: Sequence[LoggedTurn], model: str | None, chat: Session, cancel: CancelToken
    ) -> BranchSummary:
        """Summarise a branch of a chat. Without a model, an outline is built."""
        turn = self._builder.build_turn(AskRequest("", "chat", model))
        chain = self._builder.build_chain("chat", None)
        return summarise_branch(TurnContext.open(chain, turn, chat, cancel), branch)

    def prepare_next(
        self,
        chat: Session | None,
        request: AskRequest,
        changes: Mapping[str, object] | None = None,
    ) -> Request:
        """Prepare a chat's next request without searching, sending or storing.

        Args:
            chat: the chat, or None for a new one.
            request: the question typed so far.
            changes: settings to override for this request.
        """
        request = _name_project(request, chat)
        turn = self._builder.build_turn(request, changes)
        return preview(self._builder.build_chain(turn.mode, request.project), turn, chat)

    def estimate_reading(self, chat: Session | None, request: AskRequest) -> "ReadingCost | None":
        """Return the maximum cost of reading large attachments part by part, or None if all fit.

        No model is called.

        Raises:
            CannotRead: the attachments cannot be read part by part, for example without a model.
        """
        request = _name_project(request, chat)
        turn = self._builder.build_turn(request)
        return measure_reading(self._builder.build_chain(turn.mode, request.project), turn, chat)

    def pin_room(self, chat: Session) -> PinRoom:
        """Return a chat's pins and the token budget that limits them."""
        path = chat.path()
        report = self.prepare_next(chat, AskRequest("", find_last_mode(path))).report
        counter = load_counter(report.model)
        return PinRoom(replay_path(path, counter).pins, report.budget, counter)

    def rebuild_request(self, chat: Session, missing: str = "") -> Request:
        """Rebuild the first request of the last turn on a chat's active branch.

        Args:
            chat: the chat.
            missing: why the notes of the chat cannot be read, or an empty string. They then count
                as unchanged, and the reason becomes a warning.
        """
        path, project = chat.path(), chat.header.project
        request = AskRequest("", find_last_mode(path), find_last_model(path), project=project)
        turn = self._builder.build_turn(request)
        chain = self._builder.build_chain(turn.mode, project)
        return rebuild(chain.without_notes(missing) if missing else chain, turn, chat)

    def _run(
        self,
        session: str | None,
        opened: Callable[[], Session],
        begin: Callable[[Session], _TurnStart],
        cancel: CancelToken,
    ) -> Generator[Event]:
        """Run a turn, and remove the user message from the branch if no request can be built."""
        chat: Session | None = None
        leaf, can_take_back = None, False
        try:
            chat = opened()
            before = frozenset(entry.id for entry in chat.path())
            begun = begin(chat)
            require_model(begun.turn)
            leaf, can_take_back = chat.tree.leaf, True
            if not begun.turn.dry_run:
                hooks = self._customization.hooks()
                turn = yield from store_user_message(begun.turn, chat, hooks)
                begun = replace(begun, turn=turn)
            with closing(self._answer(begun, chat, cancel, before)) as events:
                for event in events:
                    can_take_back = can_take_back and not isinstance(event, ContextPrepared)
                    yield event
        except Exception as error:
            is_taken_back = can_take_back and chat is not None and chat.take_back(leaf)
            raise TurnFailed(error, self._find_stored(session, chat), is_taken_back) from error
        finally:
            if chat is not None:
                chat.close()

    def _find_stored(self, named: str | None, chat: Session | None) -> str | None:
        """Return the id of the chat in which a turn failed, or None if it has no file."""
        session = named if chat is None else chat.id
        return session if session is not None and self._sessions.is_stored(session) else None

    def _answer(
        self, begun: _TurnStart, chat: Session, cancel: CancelToken, before: Container[str]
    ) -> Generator[Event]:
        """Answer a user message that is stored.

        Args:
            begun: the turn.
            chat: the chat.
            cancel: the token that cancels the turn.
            before: the log entries of the branch that was active before the turn.
        """
        turn = begun.turn
        if not turn.dry_run:
            self._builder.load_model(turn.model)
        chat.recall_counts(partial(load_counter, turn.model))
        again = call(begun.attach, cancel)
        warnings = list(again.lost)
        yield from map(Warned, warnings)
        if begun.updates_index:
            library = self._builder.find_library(turn.mode, chat.header.project)
            attached = [segment.source for segment in again.segments]
            yield from library.freshen(cancel, warnings, turn.question, attached)
        yield from self._report_damage(warnings, chat)
        if turn.mode == "agent" and not turn.dry_run:
            warnings += yield from self._agents.open_servers(chat.id, cancel)
        project, runs_hooks = chat.header.project, not turn.dry_run
        chain = self._builder.build_chain(turn.mode, project, runs_hooks, chat.id)
        turn = replace(turn, attached=again.segments)
        with closing(cast(Generator[Event], run_turn(chain, turn, chat, cancel))) as events:
            for event in events:  # closed before the chat, as closing stores the partial answer
                if isinstance(event, TurnEnded):
                    yield from self._report_damage(warnings, chat)
                    yield from self._offer_removal(warnings, chat, before)
                yield self._complete_event(event, warnings, chat)
        chat.keep_counts(partial(load_counter, turn.model))

    def _complete_event(self, event: Event, warnings: Sequence[str], chat: Session) -> Event:
        """Add warnings and the agent's edits to the last event of a turn.

        Other events are returned unchanged.
        """
        if not isinstance(event, TurnEnded):
            return event
        warnings = (*warnings, *event.result.warnings)
        edits = self._edits.describe_run(chat.id) if event.result.mode == "agent" else None
        result = replace(event.result, warnings=warnings, edits=edits)
        if not chat.is_stored:
            result = replace(result, session=None, context={**result.context, "session": None})
        return TurnEnded(result)

    def _report_damage(self, warnings: list[str], chat: Session) -> Iterator[Event]:
        """Yield a warning, only once, if the index, `state.db` or the chat's file is damaged."""
        vault = self._vault.vault
        found = [self._sessions.take_warning(), "" if vault is None else vault.take_warning()]
        if chat.problems and chat.id not in self._damaged:
            self._damaged.add(chat.id)
            found.append(describe_damage(chat))
        for warning in filter(None, found):
            warnings.append(warning)
            yield Warned(warning)

    def _offer_removal(
        self, warnings: list[str], chat: Session, before: Container[str]
    ) -> Iterator[Event]:
        """Yield a warning for each long-term memory whose message this turn has replaced."""
        for left in find_abandoned_memories(chat, self._customization, before):
            warnings.append(left.offer)
            yield Warned(left.offer, is_offer=True)

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
        if request.parent is not None and not chat.is_stored:
            missing = f"A new chat has no entry {request.parent}."
            raise NotFound(missing, hint="Name the chat of the entry too.")
        if request.parent is not None:
            chat.continue_from(request.parent)
        updates_index = request.mode != "chat" and request.update_index

        def attach() -> RestoredAttachments:
            segments = attachments.segments(request.attach, request.selections)
            return RestoredAttachments(segments, attachments.describe_faults(segments))

        return _TurnStart(self._builder.build_bare_turn(request), attach, updates_index)

    def _start_edit(
        self, entry: str, changed: AskRequest, mode: Mode | None, chat: Session
    ) -> _TurnStart:
        require_text(changed.question)
        path = chat.path_to(entry)
        question, entry = path[-1], path[-1].id
        if not isinstance(question, MessageEntry) or question.message.role != "user":
            raise InvalidRequest(f"The entry {entry} is not a question, so it cannot be edited.")
        sent = list_turns(chat.path_to(chat.tree.answer_point(entry)))[-1].segments
        attachments = self._builder.attachments
        attach, selections = list_attachments(attachments, question, sent)
        there = tuple(path for path in attach if attachments.has(path))
        changed = replace(changed, attach=there, selections=selections)
        changed = _name_project(changed, chat)
        chat.continue_from(chat.tree.branch_point(entry))
        turn = self._builder.build_bare_turn(replace(changed, mode=mode or find_last_mode(path)))
        again = partial(restore_attachments, attachments, question, sent)
        return _TurnStart(turn, again, turn.mode != "chat")

    def _start_regeneration(self, entry: str, model: str | None, chat: Session) -> _TurnStart:
        said = chat.path_to(entry)[-1]
        if not isinstance(said, MessageEntry):
            raise InvalidRequest(f"The entry {entry} is not an answer.")
        is_answer, tree, entry = said.message.role != "user", chat.tree, said.id
        chat.continue_from(tree.branch_point(entry) if is_answer else tree.answer_point(entry))
        path = chat.path()
        question = last_question(path)
        if question is None:
            raise InvalidRequest(
                f"Nothing was asked before {entry}, so there is nothing to answer."
            )
        turn = self._build_again(chat, question, model)
        if is_answer or tree.children(entry) or was_prepared(question, path):
            return _TurnStart(
                replace(turn, is_regenerated=True),
                partial(RestoredAttachments, ()),
                turn.mode == "agent",
            )
        attach = partial(restore_attachments, self._builder.attachments, question, ())
        return _TurnStart(replace(turn, user_message=question), attach, turn.mode != "chat")

    def _start_continuation(self, entry: str, model: str | None, chat: Session) -> _TurnStart:
        broken, question = find_broken_answer(chat.path()), last_question(chat.path())
        if broken is None or question is None or broken.entry != entry:
            raise InvalidRequest(
                "A chat's last answer can be continued, if it broke off, and no other."
            )
        turn = self._build_again(chat, question, model)
        if turn.model == EXTRACTIVE:
            raise InvalidRequest("No model is set, and only a model can continue an answer.")
        turn = replace(turn, is_regenerated=True, is_continued=True)
        return _TurnStart(turn, partial(RestoredAttachments, ()), turn.mode == "agent")

    def _build_again(self, chat: Session, question: MessageEntry, model: str | None) -> TurnRequest:
        """Rebuild the last turn of a chat's branch, without its attachments."""
        path, project = chat.path(), chat.header.project
        asked = list_turns(path)[-1].user or question
        request = AskRequest(asked.message.text, find_last_mode(path), model, project=project)
        return self._builder.build_bare_turn(request)


def _name_project(request: AskRequest, chat: Session | None) -> AskRequest:
    """Return the request with the chat's project filled in, or unchanged without a chat."""
    return request if chat is None else replace(request, project=chat.header.project)
