"""Run turns and yield their events.

`ask` adds a question. `edit` adds another version of a question, and `regenerate` another version
of an answer. `continue_answer` adds the rest of an answer that was cut off.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
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
from chains.claims.turns import build_changes_entry
from chains.concurrency import call
from chains.events import ContextPrepared, Event, Mode, TurnEnded, Warned
from chains.models import EXTRACTIVE
from chains.request.ask import Ask
from chains.request.turn import SEARCHED, SearchedQuery, Turn
from chains.retrieval.retrieve import estimate_passages
from chains.tokenizer import load_counter
from chains.turn.compact import BranchSummary, summarise_branch
from chains.turn.continuation import find_broken_answer
from chains.turn.run import (
    measure_reading,
    prepare_again,
    preview,
    rebuild,
    run_turn,
    store_user_message,
)
from context.assemble.request import Request
from context.history.pins import Pins
from context.history.replay import replay_path
from context.history.turns import LoggedTurn, list_turns
from context.log.entries import Entry, MessageEntry
from context.tokens import TokenCounter
from vault.vault import Vault

if TYPE_CHECKING:
    from chains.retrieval.map_reduce_plan import ReadingCost

__all__ = ["PinRoom", "TurnRunner"]


# Reads the attachments of a turn, which may take time.
Attach = Callable[[], RestoredAttachments]


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
        self.unsaid: list[str] = []
        self._damaged: set[str] = set()  # the damaged chats that the user was warned about

    @property
    def vault(self) -> Vault | None:
        """The open vault, or None."""
        return self._vault.vault

    def ask(self, ask: Ask, cancel: CancelToken) -> Generator[Event]:
        """Answer a question, ending with `TurnEnded`.

        Raises:
            TurnFailed: the turn ended without an answer. The error has the reason and the chat.
        """
        opened, begin = partial(self._open_session, ask), partial(self._start_question, ask)
        return self._run(ask.session, opened, begin, cancel)

    def edit(
        self, session: str, entry: str, changed: Ask, mode: Mode | None, cancel: CancelToken
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
        turn = self._builder.build_turn(Ask("", "chat", model), chat, cancel)
        return summarise_branch(turn, branch)

    def prepare_next(
        self,
        chat: Session | None,
        ask: Ask,
        changes: Mapping[str, object] | None = None,
    ) -> Request:
        """Prepare a chat's next request without searching, sending or storing.

        Args:
            chat: the chat, or None for a new one.
            ask: the question typed so far.
            changes: settings to override for this request.
        """
        ask = _name_project(ask, chat)
        return preview(self._builder.build_turn(ask, chat, changes=changes))

    def estimate_passages(self, ask: Ask, budget: int) -> tuple[int, int]:
        """Estimate the passages of a chat's next request: their number, and their token count.

        Args:
            ask: the question typed so far.
            budget: the token limit of the request.
        """
        if (notes := self.vault) is None:
            return 0, 0
        return estimate_passages(self._builder.begin_turn(ask), notes, budget)

    def estimate_reading(self, chat: Session | None, ask: Ask) -> "ReadingCost | None":
        """Return the maximum cost of reading large attachments part by part, or None if all fit.

        No model is called.

        Raises:
            CannotRead: the attachments cannot be read part by part, for example without a model.
        """
        ask = _name_project(ask, chat)
        return measure_reading(self._builder.build_turn(ask, chat))

    def pin_room(self, chat: Session) -> PinRoom:
        """Return a chat's pins and the token budget that limits them."""
        path = chat.path()
        report = self.prepare_next(chat, Ask("", find_last_mode(path))).report
        counter = load_counter(report.model)
        return PinRoom(replay_path(path, counter).pins, report.budget, counter)

    def rebuild_request(self, chat: Session, missing: str = "") -> Request:
        """Rebuild the first request of the last turn on a chat's active branch.

        Args:
            missing: why the notes of the chat cannot be read, or an empty string. They then count
                as unchanged, and the reason becomes a warning.
        """
        path, project = chat.path(), chat.project
        ask = Ask("", find_last_mode(path), find_last_model(path), project=project)
        return rebuild(self._builder.build_turn(ask, chat), missing)

    def prepare_again(
        self, chat: Session, answer: str, asked_on: date, cancel: CancelToken
    ) -> Request:
        """Prepare the first request of an answered question again, with the notes of now.

        Nothing is sent or stored.

        Args:
            answer: the log entry of the answer.
            asked_on: the day of the question, which words such as "yesterday" refer to.
            cancel: cancels the update of the index and the search.

        Raises:
            ContextOverflow: the request does not fit any more.
        """
        path = chat.list_path_to(answer)
        sent, question = list_turns(path)[-1], last_question(path)
        if question is None:
            raise InvalidRequest(f"Nothing was asked before {answer}.")
        text, model = question.message.text, find_last_model(path)
        ask = Ask(text, find_last_mode(path), model, project=chat.project, dry_run=True)
        restored = restore_attachments(self._builder.attachments, question, sent.segments)
        turn = self._builder.build_turn(ask, chat, cancel)
        if turn.mode_rules.searches:
            attached = [segment.source for segment in restored.segments]
            library = self._builder.find_library(ask)
            deque(library.freshen(cancel, [], text, attached), maxlen=0)
        query = SearchedQuery(str(sent.stored_fields.get(SEARCHED, "")))
        turn = replace(turn, attached=restored.segments, asked_on=asked_on, query=query)
        leaf = chat.tree.branch_point(question.id)
        before = () if leaf is None else chat.list_path_to(leaf)
        preparing = prepare_again(turn, before)
        while True:
            try:
                next(preparing)
            except StopIteration as end:
                return cast(Request, end.value)

    def _run(
        self,
        session: str | None,
        opened: Callable[[], Session],
        begin: Callable[[Session, CancelToken], tuple[Turn, Attach]],
        cancel: CancelToken,
    ) -> Generator[Event]:
        """Run a turn, and remove the user message from the branch if no request can be built."""
        chat: Session | None = None
        leaf, can_take_back = None, False
        try:
            chat = opened()
            before = chat.path()
            turn, attach = begin(chat, cancel)
            require_model(turn)
            leaf, can_take_back = chat.tree.leaf, True
            if not turn.ask.dry_run:
                turn = yield from store_user_message(turn, self._customization.hooks())
            with closing(self._answer(turn, attach, chat, before)) as events:
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
        self, turn: Turn, attach: Attach, chat: Session, before: Sequence[Entry]
    ) -> Generator[Event]:
        """Answer a user message that is stored.

        Args:
            attach: reads its attachments.
            before: the branch that was active before the turn.
        """
        ask, name, cancel, runs = turn.ask, turn.model_name, turn.cancel, not turn.ask.dry_run
        if runs:
            self._builder.load_model(name)
        chat.recall_counts(partial(load_counter, name))
        restored = call(attach, cancel)
        warnings = list(restored.lost)
        yield from map(Warned, warnings)
        if _updates_index(turn):
            library = self._builder.find_library(ask)
            attached = [segment.source for segment in restored.segments]
            yield from library.freshen(cancel, warnings, ask.question, attached)
        yield from self._report_damage(warnings, chat)
        if turn.mode_rules.calls_tools and runs:
            warnings += yield from self._agents.open_servers(chat.id, cancel)
        turn = self._builder.equip_turn(replace(turn, attached=restored.segments), runs)
        with closing(cast(Generator[Event], run_turn(turn))) as events:
            for event in events:  # closed before the chat, as closing stores the partial answer
                if isinstance(event, TurnEnded):
                    yield from self._report_damage(warnings, chat)
                    yield from self._offer_removal(warnings, chat, before)
                yield self._complete_event(event, warnings, chat)
        chat.keep_counts(partial(load_counter, name))

    def _complete_event(self, event: Event, warnings: Sequence[str], chat: Session) -> Event:
        """Add warnings and the agent's edits to the last event of a turn.

        Other events are returned unchanged.
        """
        if not isinstance(event, TurnEnded):
            return event
        event = self._store_changes(event, chat)
        _ = event.result.answer.claims  # checked here, so that no window has to wait
        warnings = (*warnings, *event.result.warnings)
        edits = self._edits.describe_run(chat.id) if event.result.mode == "agent" else None
        result = replace(event.result, warnings=warnings, edits=edits)
        if not chat.is_stored:
            result = replace(result, session=None, context={**result.context, "session": None})
        return TurnEnded(result)

    def _store_changes(self, event: TurnEnded, chat: Session) -> TurnEnded:
        """Store what an agent's turn has changed in notes, and check its answer against it."""
        result = event.result
        evidence = result.answer.evidence
        if evidence is None or not evidence.can_edit or result.entry is None:
            return event
        changes = self._edits.find_changes(chat.id)
        if changes is None:
            return event
        chat.append([build_changes_entry(chat.new_id(), result.entry, chat.now(), changes)])
        answer = replace(result.answer, evidence=evidence.with_changes(changes))
        return TurnEnded(replace(result, answer=answer))

    def take_warnings(self) -> list[str]:
        """Return new warnings about files: merged or damaged ones. Each is returned only once."""
        vault = self._vault.vault
        unsaid, self.unsaid = self.unsaid, []
        warnings = (self._sessions.take_warning(), "" if vault is None else vault.take_warning())
        return [*unsaid, *filter(None, warnings)]

    def _report_damage(self, warnings: list[str], chat: Session) -> Iterator[Event]:
        """Yield a warning, only once, if the index, `state.db` or the chat's file is damaged."""
        found = self.take_warnings()
        if chat.problems and chat.id not in self._damaged:
            self._damaged.add(chat.id)
            found.append(describe_damage(chat))
        for warning in found:
            warnings.append(warning)
            yield Warned(warning)

    def _offer_removal(
        self, warnings: list[str], chat: Session, before: Sequence[Entry]
    ) -> Iterator[Event]:
        """Yield a warning for each long-term memory whose message this turn has replaced."""
        end = len(before)
        if chat.path()[end - 1 : end] == before[-1:]:
            return  # the turn only extends the branch
        among = {entry.id for entry in before}
        for left in find_abandoned_memories(chat, self._customization, among):
            warnings.append(left.offer)
            yield Warned(left.offer, is_offer=True)

    def _open_session(self, ask: Ask) -> Session:
        require_text(ask.question)
        if ask.session is None:
            return self._create_session(ask)
        if ask.dry_run:
            return self._sessions.read(ask.session)
        return self._sessions.open(ask.session)

    def _create_session(self, ask: Ask) -> Session:
        folder, project = self._vault.folder, ask.project
        if project is not None:
            projects = self._projects
            project = projects.find_name(project) if ask.dry_run else projects.add(project)
        return self._sessions.create(None if folder is None else str(folder), project)

    def _start_question(self, ask: Ask, chat: Session, cancel: CancelToken) -> tuple[Turn, Attach]:
        self._projects.check_chat(ask.project, chat.project, is_needed=ask.mode == "project")
        ask = _name_project(ask, chat)
        attachments = self._builder.attachments
        attachments.check_names(ask.attach, ask.selections)
        if ask.parent is not None and not chat.is_stored:
            missing = f"A new chat has no entry {ask.parent}."
            raise NotFound(missing, hint="Name the chat of the entry too.")
        if ask.parent is not None:
            chat.continue_from(ask.parent)

        def attach() -> RestoredAttachments:
            segments = attachments.segments(ask.attach, ask.selections)
            return RestoredAttachments(segments, attachments.describe_faults(segments))

        return self._builder.begin_turn(ask, chat, cancel), attach

    def _start_edit(
        self, entry: str, changed: Ask, mode: Mode | None, chat: Session, cancel: CancelToken
    ) -> tuple[Turn, Attach]:
        require_text(changed.question)
        path = chat.list_path_to(entry)
        question, entry = path[-1], path[-1].id
        if not isinstance(question, MessageEntry) or question.message.role != "user":
            raise InvalidRequest(f"The entry {entry} is not a question, so it cannot be edited.")
        sent = list_turns(chat.list_path_to(chat.tree.answer_point(entry)))[-1].segments
        attachments = self._builder.attachments
        attach, selections = list_attachments(attachments, question, sent)
        existing_paths = tuple(path for path in attach if attachments.has(path))
        changed = replace(changed, attach=existing_paths, selections=selections)
        changed = _name_project(changed, chat)
        chat.continue_from(chat.tree.branch_point(entry))
        changed = replace(changed, mode=mode or find_last_mode(path))
        attach_again = partial(restore_attachments, attachments, question, sent)
        return self._builder.begin_turn(changed, chat, cancel), attach_again

    def _start_regeneration(
        self, entry: str, model: str | None, chat: Session, cancel: CancelToken
    ) -> tuple[Turn, Attach]:
        target_entry = chat.list_path_to(entry)[-1]
        if not isinstance(target_entry, MessageEntry):
            raise InvalidRequest(f"The entry {entry} is not an answer.")
        is_answer, tree, entry = target_entry.message.role != "user", chat.tree, target_entry.id
        chat.continue_from(tree.branch_point(entry) if is_answer else tree.answer_point(entry))
        path = chat.path()
        question = last_question(path)
        if question is None:
            raise InvalidRequest(
                f"Nothing was asked before {entry}, so there is nothing to answer."
            )
        turn = self._begin_again(chat, question, model, cancel)
        if is_answer or tree.children(entry) or was_prepared(question, path):
            return replace(turn, is_regenerated=True), partial(RestoredAttachments, ())
        attach = partial(restore_attachments, self._builder.attachments, question, ())
        return replace(turn, user_message=question), attach

    def _start_continuation(
        self, entry: str, model: str | None, chat: Session, cancel: CancelToken
    ) -> tuple[Turn, Attach]:
        broken, question = find_broken_answer(chat.path()), last_question(chat.path())
        if broken is None or question is None or broken.entry != entry:
            raise InvalidRequest(
                "A chat's last answer can be continued, if it broke off, and no other."
            )
        turn = self._begin_again(chat, question, model, cancel)
        if turn.model_name == EXTRACTIVE:
            raise InvalidRequest("No model is set, and only a model can continue an answer.")
        turn = replace(turn, is_regenerated=True, is_continued=True)
        return turn, partial(RestoredAttachments, ())

    def _begin_again(
        self, chat: Session, question: MessageEntry, model: str | None, cancel: CancelToken
    ) -> Turn:
        """Begin the last turn of a chat's branch again, without its attachments."""
        path, project = chat.path(), chat.project
        asked = list_turns(path)[-1].user or question
        ask = Ask(asked.message.text, find_last_mode(path), model, project=project)
        return self._builder.begin_turn(ask, chat, cancel)


def _updates_index(turn: Turn) -> bool:
    """Return whether the index is updated first, as the turn searches or reads notes."""
    reads_notes = turn.ask.mode == "agent" if turn.is_regenerated else turn.ask.mode != "chat"
    return turn.ask.update_index and reads_notes


def _name_project(ask: Ask, chat: Session | None) -> Ask:
    """Return what is asked with the chat's project filled in, or unchanged without a chat."""
    return ask if chat is None else replace(ask, project=chat.project)
