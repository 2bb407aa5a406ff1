"""Show past requests and transcripts, and explain why a note was or was not sent."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from app.errors import NotFound
from app.request_images import StoredRequest
from app.sessions.ask import TurnRunner
from app.sessions.export import build_note, export_markdown
from app.sessions.rebuild import RequestRebuilder
from app.sessions.session import Session, turn_ids
from app.sessions.store import SessionStore
from app.sessions.transcript import AnswerItem, ChatTranscript, SummaryItem, TranscriptItem
from app.sessions.transcript_reader import build_transcript
from chains.citations.changes import CurrentText, OwnEdit, find_changed_sources
from chains.request.session import SessionPort
from chains.request.turn import SEARCHED
from chains.retrieval.follow_up import list_notes_in_play
from chains.turn.regenerate import find_last_question
from chains.turn_answer import ToolStep
from context.assemble.request import Request
from context.history.turns import list_turns
from context.log.entries import LeafEntry, MessageEntry
from context.report.reader import read_report
from context.report.report import ContextReport
from vault.access import read_allowed
from vault.errors import VaultError
from vault.options import SearchOptions
from vault.vault import Vault

__all__ = ["NOT_ASKED", "NO_ENTRY_NEXT", "RequestHistory", "describe_request", "explain_sending"]

MOST_LOGGED: Final = 50
NOT_ASKED: Final = "Nothing was asked in this chat yet."
NO_ENTRY_NEXT: Final = "An entry names a request that was sent, not the next one."


class RequestHistory:
    """Reads chats and their stored requests."""

    def __init__(
        self,
        sessions: SessionStore,
        asking: TurnRunner,
        rebuilder: RequestRebuilder,
        add_found: Callable[[str, ChatTranscript], ChatTranscript],
    ) -> None:
        """Use the stored chats.

        Args:
            sessions: the chats.
            asking: has the open vault.
            rebuilder: rebuilds requests that are not stored.
            add_found: adds to the transcript of a chat what its summary lost and notes say.
        """
        self._sessions = sessions
        self._asking = asking
        self._rebuilder = rebuilder
        self._add_found = add_found

    def transcript(self, session: str) -> ChatTranscript:
        """Return the transcript of a chat, with the cited notes that have changed since.

        Nothing is said about the notes while their folder cannot be reached, as on an unmounted
        drive.

        Raises:
            SessionMissing: the chat does not exist.
        """
        chat = self._sessions.read(session)
        stored = _kept_request(chat)
        report = None if stored is None else stored.report
        info = self._sessions.info(session)
        found = build_transcript(info.title, chat.log.entries, report)
        found = replace(found, project=chat.project)
        vault = self._asking.vault
        if vault is None or info.vault != str(vault.root) or not vault.root.is_dir():
            return found
        read = cache(partial(_read_current, vault))
        return replace(found, items=tuple(_mark_changes(item, read) for item in found.items))

    def search_lost_facts(self, session: str) -> ChatTranscript:
        """Return the transcript of a chat, after a search of the notes for what its summary lost.

        Raises:
            SessionMissing: the chat does not exist.
        """
        return self._add_found(session, self.transcript(session))

    def list_exams(self, session: str) -> list[dict[str, object]]:
        """Return the exam of each summary of a chat as JSON objects, as `search_lost_facts` does.

        Raises:
            SessionMissing: the chat does not exist.
        """
        return [
            {"entry": item.entry, "is_in_use": item.is_in_use, **item.exam.to_dict()}
            for item in self.search_lost_facts(session).items
            if isinstance(item, SummaryItem) and item.exam is not None
        ]

    def list_changed_sources(self, session: str) -> list[dict[str, object]]:
        """Return the cited notes that have changed since their answers, as JSON objects.

        Raises:
            SessionMissing: the chat does not exist.
        """
        return [
            {"entry": item.entry, "path": one.path, "message": one.sentence, "diff": one.diff}
            for item in self.transcript(session).items
            if isinstance(item, AnswerItem)
            for one in item.changed
        ]

    def list_claims(self, session: str) -> list[dict[str, object]]:
        """Return the checked claims of each answer of a model, as JSON objects.

        Raises:
            SessionMissing: the chat does not exist.
        """
        return [
            {"entry": item.entry, **item.answer.claims.to_dict()}
            for item in self.transcript(session).items
            if isinstance(item, AnswerItem) and item.answer.evidence is not None
        ]

    def answer(self, session: str, entry: str) -> AnswerItem:
        """Return one version of an answer, on any branch.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: there is no such answer.
        """
        chat = self._sessions.read(session)
        entry = chat.list_path_to(entry)[-1].id
        leaf = chat.tree.find_newest_leaf(entry)
        chosen = LeafEntry(f"{leaf}-shown", leaf, chat.now(), leaf)
        for item in build_transcript("", (*chat.log.entries, chosen), None).items:
            if isinstance(item, AnswerItem) and item.entry == entry:
                return item
        raise NotFound(f"The chat has no answer {entry}.")

    def export(self, session: str, kind: str) -> tuple[str, str]:
        """Return a chat's title and its exported document.

        Args:
            session: the chat.
            kind: `md` for Markdown, or `json` for the log entries.

        Raises:
            SessionMissing: the chat does not exist.
        """
        if kind == "md":
            found = self.search_lost_facts(session)
            return found.title, export_markdown(found)
        found = self.transcript(session)
        chat = self._sessions.read(session)
        entries = [entry.to_dict() for entry in chat.log.entries]
        document = {"session": chat.id, "leaf": chat.tree.leaf, "entries": entries}
        document["changed"] = self.list_changed_sources(session)
        document["claims"] = self.list_claims(session)
        document["exams"] = self.list_exams(session)
        return found.title, json.dumps(document, ensure_ascii=False, indent=2) + "\n"

    def build_note(self, session: str, entry: str | None = None) -> tuple[str, str]:
        """Build a note from a chat or from one of its answers, and return the note's name and text.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: the active branch has no such answer.
        """
        vault = self._asking.vault
        resolve = None if vault is None else vault.build_link_resolver().resolve
        chat = self.transcript(session) if entry else self.search_lost_facts(session)
        found = build_note(chat, session, entry, resolve)
        if found is None:
            raise NotFound(f"The chat {session} has no answer {entry}.")
        return found

    def read_last_context(
        self, session: str, full: bool = False, entry: str | None = None
    ) -> dict[str, Any] | None:
        """Return the context report of a turn's last request, or None if the chat has no question.

        If the request is stored, the field `counted` contains the token counts that the provider
        reported. Otherwise the request is rebuilt from the log.

        Args:
            session: the chat.
            full: whether to add the body of the request (`request_body`), and the data that was
                sent to the provider (`wire`).
            entry: the turn's question or answer, or None for the last turn.

        Raises:
            SessionMissing: the chat does not exist.
            NotFound: the chat has no such entry.
            VaultMissing: a rebuilt request needs the chat's notes, and their folder is missing.
        """
        chat = self._sessions.read(session)
        if entry is not None:
            target_entry = chat.list_path_to(entry)[-1]
            is_question = (
                isinstance(target_entry, MessageEntry) and target_entry.message.role == "user"
            )
            chat.continue_from(
                chat.tree.answer_point(target_entry.id) if is_question else target_entry.id
            )
        if not turn_ids(chat.path()):
            return None
        stored = _kept_request(chat)
        if stored is not None:
            shown = {"request_body": stored.body, "wire": stored.wire} if full else {}
            counted = _find_provider_count(chat, stored.report)
            known = {"counted": counted, "ephemeral_log": _ephemeral_log(chat)}
            return {**stored.report, "rebuilt": False, **known, **shown}
        prepared = self._rebuilder.rebuild(chat)
        return {**describe_request(prepared, chat, full), "when": "last", "rebuilt": True}

    def find_entry_before(self, session: str, entry: str) -> str:
        """Return the id of an entry's parent.

        Raises:
            NotFound: there is no such entry, or it is the first one.
        """
        path = self._sessions.read(session).list_path_to(entry)
        if len(path) < 2:
            raise NotFound(f"Nothing stands before {entry} in the chat {session}.")
        return path[-2].id


def _read_current(vault: Vault, path: str) -> CurrentText | None:
    file = Path(path)
    try:
        if file.is_absolute():  # a note of a project outside of the vault, or an attached file
            note = read_allowed(file.parent, file.name)
        else:
            note = vault.read_allowed(path)
    except VaultError:
        return None
    return CurrentText(note.text, note.version)


def _mark_changes(
    item: TranscriptItem, read: Callable[[str], CurrentText | None]
) -> TranscriptItem:
    """Return an answer with `changed` set to the cited notes that have changed since the answer.

    Other items are returned unchanged.

    Args:
        item: the item of the transcript.
        read: returns the current text of a source, or None.
    """
    if not isinstance(item, AnswerItem):
        return item
    answer = item.answer
    cited = {citation.n for citation in answer.checked.citations}
    notes = [source for source in answer.sources if source.kind in ("note", "passage", "selection")]
    changed = find_changed_sources(notes, cited, read, tuple(_list_own_edits(answer.steps)))
    return replace(item, changed=changed)


def _list_own_edits(steps: Sequence[ToolStep]) -> Iterator[OwnEdit]:
    """Yield the edits of a turn that replaced text or moved a note."""
    for step in steps:
        given = {name: str(value) for name, value in step.arguments.items()}
        if step.status != "ok" or "path" not in given:
            continue
        if step.name == "edit_note":
            yield OwnEdit(given["path"], given.get("old", ""), given.get("new", ""))
        elif step.name == "move_note":
            yield OwnEdit(given["path"], to=given.get("to", ""))


@dataclass(frozen=True)
class ShownRequest:
    """A request with its report, for the window.

    Attributes:
        counted: the tokens of the request and how many of them were cached, as the provider
            reported them, or None.
        is_rebuilt: whether the request was built anew from the log.
        body: the request in the stored form, or None if it was not asked for.
        wire: the JSON that was sent to the provider, or None.
    """

    report: ContextReport
    counted: tuple[int, int] | None = None
    is_rebuilt: bool = False
    body: object = None
    wire: object = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "ShownRequest":
        """Read a request from the report of a preview, of a turn or of the last request."""
        counted = data.get("counted")
        return cls(
            read_report(data),
            None if not counted else (counted["prompt_tokens"], counted["cached_tokens"]),
            data.get("rebuilt", False),
            data.get("request_body"),
            data.get("wire"),
        )


def describe_request(prepared: Request, chat: Session | None, full: bool) -> dict[str, Any]:
    """Return the context report of a prepared request that was not sent.

    Args:
        prepared: the request.
        chat: the chat, or None for a new one.
        full: whether to add the body of the request as `request_body`. The key `wire` is then None,
            because nothing was sent.
    """
    shown = {"request_body": prepared.request_body(), "wire": None} if full else {}
    return {**prepared.report.to_dict(), "ephemeral_log": _ephemeral_log(chat), **shown}


def explain_sending(vault: Vault, chat: SessionPort, path: str, k: int) -> str:
    """Explain why a note was or was not among the passages for a chat's last question.

    The search is repeated with the current notes.

    Args:
        vault: the open vault.
        path: the path of the note.
        k: the maximum number of passages for a question.

    Raises:
        VaultError: the index cannot be searched.
    """
    asked = list_turns(chat.path())
    while asked and asked[-1].user is None:
        asked = asked[:-1]
    if not asked or (last := asked[-1]).user is None:
        return NOT_ASKED
    attached = [segment for segment in last.segments if segment.kind != "passage"]
    if any(segment.source == path for segment in attached):
        return f"{path} was attached to the question."
    query = str(last.stored_fields.get(SEARCHED) or last.user.message.text)
    used_notes = list_notes_in_play(asked[:-1], attached)
    shown = vault.search(query, k, SearchOptions(used_notes)).hits
    return vault.why_not(query, path, shown, used_notes)


def _find_provider_count(chat: Session, report: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the token counts that the provider reported for a request, or None."""
    turn = turn_ids(chat.path())[-1]
    for usage in reversed(chat.usage()):
        if usage.turn_id == turn and usage.request == report["request"]:
            return {"prompt_tokens": usage.prompt_tokens, "cached_tokens": usage.cached_tokens}
    return None


def _ephemeral_log(chat: Session | None) -> list[dict[str, Any]]:
    """Return the latest messages that hooks added to a single request, on the active branch.

    Each item is a dict with the id and time of a log entry, and the messages in it.
    """
    ephemerals = () if chat is None else chat.list_ephemerals()
    if chat is None or not ephemerals:
        return []
    path = {entry.id for entry in chat.path()}
    added = (entry for entry in ephemerals if entry.parent_id in path)
    return [
        {"entry": entry.id, "timestamp": entry.timestamp, "messages": entry.to_dict()["messages"]}
        for entry in deque(added, maxlen=MOST_LOGGED)
    ]


def _kept_request(chat: Session) -> StoredRequest | None:
    """Return the stored request of the last turn on the active branch.

    Return None if no request is stored, or if the answer was regenerated and the stored request
    belongs to another version of the answer.
    """
    asked = turn_ids(chat.path())
    if not asked or not _is_newest_answer(chat):
        return None
    return chat.find_kept_request(asked[-1])


def _is_newest_answer(chat: Session) -> bool:
    path = chat.path()
    before, question = find_last_question(path)
    answers = [e.id for e in chat.tree.children(question.id) if e.message.role != "user"]
    return len(before) == len(path) or not answers or answers[-1] == path[len(before)].id
