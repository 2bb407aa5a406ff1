"""Apply the user's changes to a chat: title, marks, branches, labels, pins, memory.

Existing log entries never change. Each change is appended as a new entry.
"""

import logging
from collections.abc import Callable, Container, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

from app.errors import AppError, InvalidRequest, NotFound, describe
from app.faults import log_bug
from app.library.open_vault import OpenVault
from app.sessions.ask import TurnRunner
from app.sessions.session import Session
from app.sessions.session_info import ChatMark, is_chat_mark, name_fork, write_title
from app.sessions.store import SessionStore
from app.sessions.transcript import ChatTranscript, SummaryItem, TranscriptItem
from app.sessions.transcript_reader import build_summaries
from app.sessions.turn_builder import TurnBuilder
from app.sessions.user_messages import find_last_mode, read_program_message
from chains.cancel import CancelToken
from chains.claims.summaries import FactSearcher
from chains.errors import Cancelled
from chains.events import CompactionEnded, Event
from chains.request.ask import Ask
from chains.request.project import build_move_entry, build_refresh_entry
from chains.request.turn import Turn
from chains.tokenizer import load_counter
from chains.tools.memory_tools import find_long_part, list_memory_updates
from chains.turn.run import compact_on_request, edit_summary_in_use, preview_compaction
from context.assemble.inputs import GivenSummary
from context.errors import SummaryFailed
from context.exam import ChangedFact, ChatFact, SummaryExam
from context.fit.compact import CompactionReport
from context.fit.compact_session import CompactionPreview
from context.fit.edit import NOT_SENT, SUMMARY_EDIT, SummaryChange, find_last_change
from context.fit.summary_list import add_fact, strike_changed
from context.history.memory import Memory, read_memory
from context.history.outline import format_summary, remove_head
from context.history.pins import check_pin
from context.history.turns import LoggedTurn, list_turns
from context.log.entries import (
    BranchSummaryEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    OtherEntry,
    PinEntry,
    TransformEntry,
    is_path_entry,
    is_unknown_schema,
)
from context.log.parse import describe_unknown_schema

__all__ = [
    "AbandonedBranch",
    "BranchEditor",
    "ChatCompactor",
    "SummaryDraft",
    "SummaryMend",
    "SummaryMender",
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AbandonedBranch:
    """The branch that was active before another one was selected.

    Attributes:
        entry: the last entry of the branch. None if it was empty, as after a first question that
            was stopped before it was sent.
        turns: the number of turns that are not on the selected branch.
    """

    entry: str | None
    turns: int


class BranchEditor:
    """Appends the user's changes, and messages from other programs, to a chat's log."""

    def __init__(self, sessions: SessionStore, asking: TurnRunner) -> None:
        self._sessions = sessions
        self._asking = asking

    def select_leaf(self, session: str, entry: str) -> AbandonedBranch:
        """Switch to an entry's branch, and return the previous branch.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            NotFound: the chat has no such entry.
        """
        with self._sessions.open(session) as chat:
            entry = chat.list_path_to(entry)[-1].id
            leaf, before = chat.tree.find_newest_leaf(entry), chat.tree.leaf
            chat.append([LeafEntry(chat.new_id(), leaf, chat.now(), leaf)])
            turns = () if before is None else _find_branch(chat, before)[1]
            return AbandonedBranch(before, len(turns))

    def show_entry(self, session: str, entry: str) -> None:
        """Switch to an entry's branch, unless the entry is already on the active branch.

        Raises the same exceptions as `select_leaf`.
        """
        chat = self._sessions.read(session)
        if all(one.id != entry for one in chat.path()):
            self.select_leaf(session, entry)

    def fork(self, session: str, entry: str | None = None, *, is_exact: bool = False) -> str:
        """Copy the entries from the root to an entry into a new chat, and return the new chat's id.

        What changed the messages up to there, such as a summary and its edits, is copied too, even
        if it stands behind the entry.

        Args:
            session: the chat.
            is_exact: whether nothing behind the entry is copied.
            entry: the last entry to copy. None means the end of the active branch. If the branch
                contains an entry of an unknown type, None means the entry before that.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: the chat has no such entry.
            InvalidRequest: there is nothing to copy, or the branch contains an unknown entry type.
            StorageFailed: the copy cannot be written. A partial copy was removed.
        """
        chat = self._sessions.read(session)
        path = chat.path() if entry is None else chat.list_path_to(entry)
        if entry is not None and not is_exact:
            path = (*path, *_list_changes(chat, path))
        known = tuple(takewhile(lambda entry: not is_unknown_schema(entry), path))
        unknown = next(filter(is_unknown_schema, path), None)
        if entry is not None and unknown is not None:
            raise InvalidRequest(
                f"{describe_unknown_schema(unknown)}.",
                hint="A copy of the chat can end before that entry.",
            )
        if not known:
            raise InvalidRequest(f"There is nothing in the chat {session} that can be copied.")
        title = name_fork(session, self._sessions.list())
        header = chat.header
        with self._sessions.create(header.vault, header.project, session) as copy:
            copy.append(list(_with_side_entries(known, chat.log.entries)))
            try:
                write_title(copy, title)
                if copy.project != chat.project:
                    copy.append([build_move_entry(copy, chat.project)])
                # Another process may have removed its requests before there was the copy.
                self._sessions.require_kept(session)
            except AppError:
                copy.close()
                with suppress(AppError):  # a full disk may let it stay
                    self._sessions.delete_for_good(copy.id)
                raise
        return copy.id

    def label(self, session: str, entry: str, text: str) -> str:
        """Label an entry of the log, and return the id of the new entry that stores the label.

        An empty string removes the label.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            NotFound: the chat has no such entry.
        """
        with self._sessions.open(session) as chat:
            chat.list_path_to(entry)
            label = " ".join(text.split()) or None
            named = LabelEntry(chat.new_id(), entry, chat.now(), entry, label)
            chat.append([named])
            return named.id

    def rename(self, session: str, title: str) -> None:
        """Set a chat's title. An empty title restores the first question as the title.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
        """
        with self._sessions.open(session) as chat:
            write_title(chat, title)

    def mark(self, session: str, mark: ChatMark, on: bool) -> None:
        """Pin a chat to the top of the list, or archive it. If `on` is false, undo this.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
        """
        data = {"type": "custom", "customType": mark, "content": on}
        with self._sessions.open(session) as chat:
            chat.append([OtherEntry(*_start_entry(chat), "custom", data)])

    def pin(self, session: str, target: str, on: bool) -> None:
        """Pin or unpin a message or segment. Pinned text is always sent in full.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            BadPin: the target does not exist, or all pins together would be too large.
        """
        with self._sessions.open(session) as chat:
            pin = PinEntry(*_start_entry(chat), target, on)
            if on:
                room = self._asking.pin_room(chat)
                check_pin(room.pins, pin, chat.path(), room.budget, room.counter)
            chat.append([pin])

    def refresh_project(self, session: str) -> None:
        """Make the next turn reload the names, outlines and texts of the project's notes.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            InvalidRequest: the chat has no project.
        """
        with self._sessions.open(session) as chat:
            if chat.project is None:
                raise InvalidRequest("This chat has no project.")
            chat.append([build_refresh_entry(chat)])

    def move_to_project(self, session: str, project: str | None) -> str | None:
        """Move a chat to a project, or out of its project, and return the project it was in.

        The next turn describes the notes of the new project. Answers keep their sources.

        Args:
            session: the chat.
            project: the name of the project, or None for no project.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
        """
        with self._sessions.open(session) as chat:
            before = chat.project
            if before != project:
                chat.append([build_move_entry(chat, project)])
            return before

    def set_memory(self, session: str, memory: Memory) -> None:
        """Replace a chat's memory: scratchpad, progress and facts.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            InvalidRequest: a part of the memory is too long.
        """
        if problem := find_long_part(memory):
            raise InvalidRequest(problem)
        with self._sessions.open(session) as chat:
            if updates := list_memory_updates(chat, read_memory(chat.path()), memory):
                chat.append(updates)

    def summarise_branch(
        self, session: str, entry: str, cancel: CancelToken, model: str | None = None
    ) -> str:
        """Summarise an inactive branch, and store the summary.

        Args:
            session: the chat.
            entry: any entry of the branch.
            cancel: the token that cancels the summary.
            model: the model, or None for the configured one. Without a model, an outline is built.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            NotFound: the chat has no such entry.
            InvalidRequest: the entry is on the active branch.
            Cancelled: the summary was cancelled. Nothing is stored.
        """
        with self._sessions.open(session) as chat:
            branch, left = _find_branch(chat, entry)
            if not left:
                raise InvalidRequest(f"The chat goes on with the branch of {entry}.")
            made = self._asking.summarise(left, model, chat, cancel)
            place = chat.new_id(), (leaf := branch[-1].id), chat.now()
            chat.append([*made.usage, BranchSummaryEntry(*place, leaf, made.text)])
            return made.text

    def send_message(
        self, session: str, custom_type: str, content: str | Sequence[Any], display: object = True
    ) -> str:
        """Append a message from another program for later requests, and return its entry id.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            InvalidRequest: the content is blank, or is neither text nor a list of texts and images.
        """
        message = read_program_message(content)
        with self._sessions.open(session) as chat:
            entry = CustomMessageEntry(*_start_entry(chat), custom_type, message, display)
            chat.append([entry])
            return entry.id


def _start_entry(chat: Session) -> tuple[str, str | None, str]:
    """Return the id, the parent's id and the time of an entry that extends the active branch."""
    path = chat.path()
    return chat.new_id(), path[-1].id if path else None, chat.now()


def _find_branch(chat: Session, entry: str) -> tuple[Sequence[Entry], Sequence[LoggedTurn]]:
    """Return the branch that contains an entry, and its turns that are not on the active branch."""
    entry = chat.list_path_to(entry)[-1].id
    branch = chat.list_path_to(chat.tree.find_newest_leaf(entry))
    shown = {e.id for e in chat.path()}
    return branch, [turn for turn in list_turns(branch) if turn.entry_ids[-1] not in shown]


def _list_changes(chat: Session, path: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the entries behind a path that change its messages, linked to the path's end.

    These are all entries up to the next message, if the path ends with an answer, and later edits
    of the summaries in the path.
    """
    leaf = path[-1]
    if not isinstance(leaf, MessageEntry) or leaf.message.role != "assistant":
        return
    known, place = {entry.id for entry in path}, len(path)
    branch = (
        chat.path()
        if leaf in chat.path()
        else chat.list_path_to(chat.tree.find_newest_leaf(leaf.id))
    )
    is_before_message = True
    for entry in branch[place:]:
        is_before_message &= not isinstance(entry, MessageEntry | CustomMessageEntry)
        if is_before_message or _edits_summary(entry, known):
            leaf = replace(entry, parent_id=leaf.id)
            known.add(leaf.id)
            yield leaf


def _edits_summary(entry: Entry, known: Container[str]) -> bool:
    """Return whether an entry edits a summary whose compaction is known."""
    return (
        isinstance(entry, TransformEntry)
        and entry.transformer_name == SUMMARY_EDIT
        and all(op.get("entryId") in known for op in entry.patch)
    )


def _with_side_entries(path: Sequence[Entry], log: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the entries of a branch, and the side entries, such as labels, that refer to them.

    Entries that select a branch, or pin or archive the chat, are left out.
    """
    kept = {entry.id: entry for entry in path}
    for entry in log:
        if is_path_entry(entry):
            if entry.id in kept:
                yield kept[entry.id]
        elif entry.parent_id in kept and not (isinstance(entry, LeafEntry) or is_chat_mark(entry)):
            yield entry


@dataclass(frozen=True)
class SummaryDraft:
    """A summary of a chat that is not stored yet.

    Attributes:
        report: the summary, and the token counts before and after the compaction.
        leaf: the last entry of the active branch when the summary was requested, or None if the
            branch was empty.
    """

    report: CompactionReport
    leaf: str | None


class ChatCompactor:
    """Compacts chats on request, either at once or in steps that the user can review."""

    def __init__(self, sessions: SessionStore, vault: OpenVault, builder: TurnBuilder) -> None:
        self._sessions, self._vault, self._builder = sessions, vault, builder
        self._searcher = FactSearcher()

    def preview(self, session: str, model: str | None = None) -> CompactionPreview:
        """Preview a compaction, without calling a model or storing anything."""
        chat = self._sessions.read(session)
        return preview_compaction(self._build(chat, model))

    def draft(
        self, session: str, cancel: CancelToken, instructions: str = "", model: str | None = None
    ) -> Iterator[Event | SummaryDraft]:
        """Summarise a chat without storing the summary. Yield the events, then the draft.

        Args:
            session: the chat. Only the token usage is stored in it.
            cancel: the token that cancels the call.
            instructions: the user's additional instructions for the summary.
            model: the model, or None for the configured one.
        """
        with self._sessions.open(session) as chat:
            leaf = chat.tree.leaf
            turn = self._build(chat, model, cancel)
            events = compact_on_request(turn, instructions, is_draft=True)
            report = yield from _close_after(events)
            yield SummaryDraft(report, leaf)

    def store(
        self, session: str, draft: SummaryDraft, text: str, model: str | None = None
    ) -> CompactionReport:
        """Store the draft of a summary, whose text the user may have edited.

        Raises:
            InvalidRequest: the chat was continued since the draft, or the text is empty or too
                long.
        """
        maker: Any = draft.report.by
        is_edited = format_summary(text) != draft.report.summary
        with self._sessions.open(session) as chat:
            if chat.tree.leaf != draft.leaf:
                raise InvalidRequest("The chat went on after this summary was made. Compact again.")
            turn = self._build(chat, model)
            events = compact_on_request(turn, given=GivenSummary(text, maker, is_edited))
            try:
                report = _exhaust(events)
            except SummaryFailed as failure:
                raise InvalidRequest(str(failure)) from failure
            chat.keep_counts(partial(load_counter, turn.model_name))
        return report

    def edit_summary(self, session: str, entry: str, text: str, model: str | None = None) -> None:
        """Replace the text of a summary that requests currently contain.

        `entry` is the id of the log entry that stores the compaction.

        Raises:
            InvalidRequest: a later summary has replaced this one, or the text is empty or too long.
        """
        with self._sessions.open(session) as chat:
            turn = self._build(chat, model)
            try:
                edit_summary_in_use(turn, entry, text)
            except SummaryFailed as failure:
                raise InvalidRequest(str(failure)) from failure

    def find_summary(self, session: str, entry: str = "") -> SummaryItem:
        """Return the summary that requests contain.

        Args:
            session: the chat.
            entry: the id that the log entry of the compaction must have, or an empty string.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: the chat has no summary, or none with this id.
            InvalidRequest: a later summary has replaced this one.
        """
        found = build_summaries(self._sessions.read(session).path())
        item = next((one for one in reversed(found) if entry in ("", one.entry)), None)
        if item is None:
            raise NotFound(f"The chat {session} has no summary{entry and f' {entry}'}.")
        if not item.is_in_use:
            raise InvalidRequest(NOT_SENT)
        return item

    def find_last_change(self, session: str, entry: str) -> SummaryChange | None:
        """Return the newest change of a summary that was not undone, or None if there is none."""
        return find_last_change(self._sessions.read(session).path(), entry)

    def compact(
        self, session: str, instructions: str, model: str | None, cancel: CancelToken
    ) -> Iterator[Event]:
        """Summarise a chat except for its last turn, ending with `CompactionEnded`.

        Args:
            session: the chat.
            instructions: the user's additional instructions for the summary.
            model: the model, or None for the configured one. Without a model, an outline is built,
                and nothing is sent.
            cancel: the token that cancels the compaction.

        Raises:
            SessionMissing: the chat does not exist.
            SessionBusy: the chat is being written to.
            Cancelled: the compaction was cancelled. The chat is unchanged.
        """
        ended: CompactionEnded | None = None
        with self._sessions.open(session) as chat:
            turn = self._build(chat, model, cancel)
            with closing(compact_on_request(turn, instructions)) as events:
                for event in events:
                    if isinstance(event, CompactionEnded):
                        ended = event
                    else:
                        yield event
            chat.keep_counts(partial(load_counter, turn.model_name))
        if ended is not None:
            yield self._add_found(ended, turn, cancel)

    def search_facts(
        self, session: str, exam: SummaryExam, cancel: CancelToken | None = None
    ) -> SummaryExam:
        """Return the exam of a summary with the facts that the notes of the chat say.

        If the notes cannot be searched, its facts stay unchecked.

        Args:
            session: the chat.
            exam: what the summary lost.
            cancel: the token that stops the search.

        Raises:
            SessionMissing: the chat does not exist.
            Cancelled: the search was stopped.
        """
        chat, token = self._sessions.read(session), cancel or CancelToken()
        return self._search_notes(exam, lambda: self._build(chat, None, token), token)

    def can_search_facts(self, session: str) -> bool:
        """Return whether the summary in use of a chat has lost facts that notes may say.

        Raises:
            SessionMissing: the chat does not exist.
        """
        summaries = build_summaries(self._sessions.read(session).path())
        return any(item.is_searchable for item in summaries)

    def add_found(
        self, session: str, chat: ChatTranscript, cancel: CancelToken | None = None
    ) -> ChatTranscript:
        """Return the transcript of a chat with the facts of its summary in use that notes say.

        The arguments and exceptions are those of `search_facts`.
        """

        def search(item: TranscriptItem) -> TranscriptItem:
            if not isinstance(item, SummaryItem) or not item.is_searchable or item.exam is None:
                return item
            exam = self.search_facts(session, item.exam, cancel)
            return replace(item, compaction=replace(item.compaction, exam=exam))

        return replace(chat, items=tuple(map(search, chat.items)))

    def check_summary(
        self, session: str, entry: str = "", cancel: CancelToken | None = None
    ) -> dict[str, Any]:
        """Return the exam of the summary in use as JSON, after a search of the notes.

        The arguments and exceptions are those of `find_summary` and `search_facts`.
        """
        item = self.find_summary(session, entry)
        exam = None if item.exam is None else self.search_facts(session, item.exam, cancel)
        exam_json = None if exam is None else exam.to_dict()
        return {"session": session, "entry": item.entry, "exam": exam_json}

    def _search_notes(
        self, exam: SummaryExam, build: Callable[[], Turn], cancel: CancelToken
    ) -> SummaryExam:
        """Search notes for the facts of an exam. After any failure, they stay unchecked.

        Args:
            build: builds a turn, which has the notes.
            cancel: stops the search, with the exception `Cancelled`.
        """
        try:
            turn = build()
            notes, find_excluded = turn.open_searched(), turn.ports.find_excluded
            return self._searcher.check(exam, notes, cancel, find_excluded)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - what can be found is only an extra
            log_bug(error)
            _log.warning(
                "The facts of a summary were not searched for: %s", describe(error).message
            )
            return exam

    def _add_found(self, event: CompactionEnded, turn: Turn, cancel: CancelToken) -> Event:
        """Return the end of a compaction with the facts that the notes say, unless it is stopped.

        The compaction is stored by then.
        """
        exam = SummaryExam.read(event.result.get("exam"))
        if exam is None or not exam.not_checked:
            return event
        with suppress(Cancelled):
            exam = self._search_notes(exam, lambda: turn, cancel)
        return CompactionEnded({**event.result, "exam": exam.to_dict()})

    def _build(self, chat: Session, model: str | None, cancel: CancelToken | None = None) -> Turn:
        mode = find_last_mode(chat.path()) if self._vault.library is not None else "chat"
        ask = Ask("", mode, model, project=chat.project)
        return self._builder.build_turn(ask, chat, cancel)


@dataclass(frozen=True)
class SummaryMend:
    """A mend of a summary, which can be undone.

    Attributes:
        entry: the id of the compaction's log entry.
        before: the text of the summary before, or an empty string if the text is unchanged.
        pinned: the id of the message that was pinned in place of a longer summary.
        sentence: what was done.
    """

    entry: str
    before: str
    pinned: str
    sentence: str


class SummaryMender:
    """Keeps facts in the summaries of chats, strikes others out of them, and edits them."""

    def __init__(self, compactor: ChatCompactor, branches: BranchEditor) -> None:
        self._compactor, self._branches = compactor, branches

    def mend(
        self,
        session: str,
        item: SummaryItem,
        fact: ChatFact | ChangedFact,
        model: str | None = None,
    ) -> SummaryMend:
        """Add a line to a summary, or take sentences out of it. If it is full, pin the message.

        Args:
            session: the chat.
            item: the summary.
            fact: a fact that is gone, or one that the summary has changed.
            model: the model, or None for the configured one.

        Raises:
            SessionBusy: the chat is being written to.
            InvalidRequest: a later summary has replaced this one, or nothing would be left of it.
            BadPin: the summary is full, and all pins together would be too large.
        """
        if isinstance(fact, ChangedFact):
            return self._strike(session, item, (fact,), model)
        try:
            text = add_fact(item.summary, fact)
            self._compactor.edit_summary(session, item.entry, text, model)
        except InvalidRequest:
            if not fact.entry:
                raise
            self._branches.pin(session, fact.entry, on=True)
            return SummaryMend(item.entry, "", fact.entry, "The summary is full: message pinned.")
        return SummaryMend(item.entry, item.summary, "", "Added to the summary.")

    def _strike(
        self,
        session: str,
        item: SummaryItem,
        facts: Sequence[ChangedFact],
        model: str | None,
    ) -> SummaryMend:
        text = strike_changed(item.summary, facts)
        self._compactor.edit_summary(session, item.entry, text, model)
        return SummaryMend(item.entry, item.summary, "", "Taken out of the summary.")

    def keep(
        self, session: str, text: str, entry: str = "", model: str | None = None
    ) -> SummaryMend:
        """Keep a fact that is gone, as `mend` does.

        Args:
            session: the chat.
            text: the fact, or the words around it, as the exam of the summary lists it.
            entry: the id of the compaction's log entry, or an empty string for the summary in use.
            model: the model, or None for the configured one.

        Raises:
            NotFound: the chat has no such summary, or no such fact is gone.
            InvalidRequest: the text names several facts, or the summary was not examined.
        """
        item = self._compactor.find_summary(session, entry)
        found = _require_exam(item).find_gone(text)
        _require_one(text, [fact.line for fact in found], "gone")
        return self.mend(session, item, found[0], model)

    def take_out(
        self, session: str, text: str, entry: str = "", model: str | None = None
    ) -> SummaryMend:
        """Take a fact that nobody said out of the summary, as `mend` does.

        The arguments and exceptions are those of `keep`.
        """
        item = self._compactor.find_summary(session, entry)
        found = _require_exam(item).find_altered(text)
        _require_one(text, list(dict.fromkeys(one.passage for one in found)), "changed")
        return self._strike(session, item, found, model)

    def edit(
        self, session: str, text: str, entry: str = "", model: str | None = None
    ) -> SummaryMend:
        """Replace the text of a summary. The arguments are those of `keep`.

        Raises:
            NotFound: the chat has no such summary.
            InvalidRequest: a later summary has replaced this one, or the text is empty or too long.
        """
        item = self._compactor.find_summary(session, entry)
        self._compactor.edit_summary(session, item.entry, text, model)
        is_same = remove_head(text).strip() == remove_head(item.summary).strip()
        sentence = "The summary is as before." if is_same else "The summary was edited."
        return SummaryMend(item.entry, item.summary, "", sentence)

    def undo_last(self, session: str, entry: str = "", model: str | None = None) -> SummaryMend:
        """Undo the newest change of a summary that was not undone yet, and return what was done.

        Raises:
            NotFound: the chat has no such summary.
            InvalidRequest: a later summary has replaced this one, or nothing was changed.
        """
        item = self._compactor.find_summary(session, entry)
        change = self._compactor.find_last_change(session, item.entry)
        if change is None:
            raise InvalidRequest("This summary was not changed, so there is nothing to undo.")
        self.undo(session, SummaryMend(item.entry, change.before, change.pinned, ""), model)
        return SummaryMend(item.entry, item.summary, "", "Undone. The summary is as before.")

    def describe(self, session: str, mend: SummaryMend) -> dict[str, Any]:
        """Return a mend as JSON, with the summary and its exam after it."""
        item = self._compactor.find_summary(session, mend.entry)
        return {
            "session": session,
            "entry": mend.entry,
            "message": mend.sentence,
            "pinned": mend.pinned or None,
            "summary": item.summary,
            "exam": None if item.exam is None else item.exam.to_dict(),
            "can_undo": self._compactor.find_last_change(session, mend.entry) is not None,
        }

    def undo(self, session: str, mend: SummaryMend, model: str | None = None) -> None:
        """Undo a mend. Raises the same exceptions as `mend`."""
        if mend.pinned:
            self._branches.pin(session, mend.pinned, on=False)
        else:
            self._compactor.edit_summary(session, mend.entry, mend.before, model)


def _require_exam(item: SummaryItem) -> SummaryExam:
    """Return the exam of a summary, or raise `InvalidRequest` if its facts are not known."""
    if item.exam is None or not item.exam.facts:
        raise InvalidRequest(
            "What this summary lost or changed is not known: it was never examined, or was edited "
            "since. Its text can be edited."
        )
    return item.exam


def _require_one(text: str, places: Sequence[str], verb: str) -> None:
    """Check that a text names one fact.

    Args:
        places: the words around each fact that it names.
        verb: what became of the facts.

    Raises:
        NotFound: it names none.
        InvalidRequest: it names several.
    """
    if not places:
        raise NotFound(f"No fact that is {verb} is named “{text}”.")
    if len(places) > 1:
        named = "; ".join(f"“{place}”" for place in places)
        raise InvalidRequest(f"“{text}” is {len(places)} facts. Give one of these: {named}.")


def _close_after(
    events: Generator[Event, None, CompactionReport],
) -> Generator[Event, None, CompactionReport]:
    """Yield all events and return the report. The generator is closed in any case."""
    with closing(events):
        return (yield from events)


def _exhaust(events: Generator[Event, None, CompactionReport]) -> CompactionReport:
    while True:
        try:
            next(events)
        except StopIteration as end:
            report: CompactionReport = end.value
            return report
