"""Serve requests about the context of a chat: of its requests, past and next, and compaction."""

from typing import Literal

from pydantic import Field

from app.assistant import Assistant
from app.errors import InvalidRequest, NotFound
from app.rpc.client import Client
from app.rpc.requests import Handlers, Quick, RpcRequest, Slow, require_chat
from app.rpc.wire import Json
from app.sessions.request_history import NO_ENTRY_NEXT
from chains.cancel import CancelToken
from chains.errors import CannotRead
from chains.events import CompactionEnded
from chains.request.ask import Ask
from context.report.markdown import format_envelope, report_markdown

__all__ = ["ContextRequests"]


class GetContext(RpcRequest):
    """Get the context report of a chat's last or next request.

    Attributes:
        when: `last` or `next`. None means the last request, or the next one if the chat has no turn
            yet.
        entry: a question or an answer, to get the request of its turn, or None for the last turn.
        text: the question of the next request.
        attach: the attachments of the next request.
        format: `summary` for the report only, or `full` to add the body of the request.
        include_ephemeral: whether the report in Markdown also lists the messages that hooks added
            to a single request only.
    """

    when: Literal["last", "next"] | None = None
    entry: str | None = None
    text: str = ""
    attach: list[str] = Field(default_factory=list)
    format: Literal["summary", "full"] = "summary"
    include_ephemeral: bool = Field(True, alias="includeEphemeral")


class GetPastContext(RpcRequest):
    """Get the request of an answer as it was, as today's notes would make it, or the difference.

    Attributes:
        when: `at-the-time`, `today` or `diff`.
        entry: an answer, a question for its newest answer, or None for the last answer.
        format: `full` to add the body of the request and the JSON that was sent.
    """

    when: Literal["at-the-time", "today", "diff"]
    entry: str | None = None
    format: Literal["summary", "full"] = "summary"


class ListPassages(RpcRequest):
    """Get what is kept of notes for past answers.

    Attributes:
        purge: whether to remove what is kept of notes that are deleted.
    """

    purge: bool = False


class Compact(RpcRequest):
    """Summarise a chat except for its last turn."""

    custom_instructions: str = Field("", alias="customInstructions")


class CheckSummary(RpcRequest):
    """Search the notes for what the summary that requests contain has lost.

    Attributes:
        entry: the id of the compaction's entry, or an empty string for the summary in use.
    """

    entry: str = ""


class EditSummary(RpcRequest):
    """Replace the text of the summary that requests contain.

    Attributes:
        entry: the id of the compaction's entry.
    """

    entry: str
    text: str


class MendSummary(RpcRequest):
    """Keep a fact that a summary lost, take one out that nobody said, or undo the last change.

    Exactly one of `keep`, `take_out` and `undo` is given.

    Attributes:
        entry: the id of the compaction's entry.
        keep: a fact of the exam's `gone`, or its `line`.
        take_out: a fact of the exam's `changed` or `new`, or its `passage`.
        undo: whether to undo the last edit or mend of the summary.
    """

    entry: str
    keep: str | None = None
    take_out: str | None = None
    undo: bool = False


class SetAutoCompaction(RpcRequest):
    """Enable or disable automatic compaction."""

    enabled: bool


class ContextRequests:
    """Serves the requests about the context of a chat. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, client: Client) -> None:
        """Create the functions.

        Args:
            assistant: provides the reports, and compacts chats.
            client: has the mode and the model of the next request.
        """
        self._assistant, self._client = assistant, client
        self.handlers: Handlers = {
            "check_summary": Slow(CheckSummary, self._check_summary),
            "compact": Slow(Compact, self._compact, changes_chat=True),
            "edit_summary": Slow(EditSummary, self._edit_summary, changes_chat=True),
            "get_context": Slow(GetContext, self._show),
            "get_past_context": Slow(GetPastContext, self._show_past),
            "mend_summary": Slow(MendSummary, self._mend_summary, changes_chat=True),
            "passages": Slow(ListPassages, self._list_passages),
            "set_auto_compaction": Quick(SetAutoCompaction, self._set_auto_compaction),
        }

    def _check_summary(self, request: CheckSummary, cancel: CancelToken) -> Json:
        return self._assistant.compaction.check_summary(
            require_chat(request), request.entry, cancel
        )

    def _compact(self, request: Compact, cancel: CancelToken) -> Json:
        result: Json = {}
        instructions = request.custom_instructions
        model = self._client.model
        for event in self._assistant.compact(require_chat(request), cancel, instructions, model):
            if isinstance(event, CompactionEnded):
                result = event.result
        return result

    def _edit_summary(self, request: EditSummary, _cancel: CancelToken) -> Json:
        chat, mender = require_chat(request), self._assistant.mender
        done = mender.edit(chat, request.text, request.entry, self._client.model)
        return mender.describe(chat, done)

    def _mend_summary(self, request: MendSummary, _cancel: CancelToken) -> Json:
        chat, mender = require_chat(request), self._assistant.mender
        keep, take_out, undo = request.keep, request.take_out, request.undo
        place = request.entry, self._client.model
        match (keep, take_out, undo):
            case (str(), None, False):
                done = mender.keep(chat, keep, *place)
            case (None, str(), False):
                done = mender.take_out(chat, take_out, *place)
            case (None, None, True):
                done = mender.undo_last(chat, *place)
            case _:
                raise InvalidRequest("mend_summary takes one of keep, take_out and undo.")
        return mender.describe(chat, done)

    def _show(self, request: GetContext, _cancel: CancelToken) -> Json:
        is_full, session, entry = request.format == "full", request.session, request.entry
        found = None
        if request.when == "next" and entry is not None:
            raise InvalidRequest(NO_ENTRY_NEXT)
        if request.when != "next" and session is not None:
            found = self._assistant.history.read_last_context(session, is_full, entry)
        if found is None and (request.when == "last" or entry is not None):
            raise NotFound("Nothing has been asked in this chat yet.")
        read: Json | None = None
        if found is None:
            mode, model, attach = self._client.mode, self._client.model, tuple(request.attach)
            question = Ask(request.text, mode, model, session, attach=attach)
            if request.text.strip():
                self._assistant.prepare_search(question)
            found = self._assistant.preview(
                session, request.text, mode, model, full=is_full, attach=attach
            )
            read = self._estimate_reading(question) if attach else None
        shown = (
            found if request.include_ephemeral else {**found, "ephemerals": 0, "ephemeral_log": []}
        )
        markdown = (
            format_envelope(shown, shown["request_body"]) if is_full else report_markdown(shown)
        )
        return {"markdown": markdown, "context": found, "read_whole": read}

    def _estimate_reading(self, question: Ask) -> Json | None:
        """Return the cost of reading attachments part by part, or why this is not possible.

        Return None if the attachments fit.
        """
        try:
            cost = self._assistant.estimate_reading(question)
        except CannotRead as error:
            return {"refused": str(error)}
        return None if cost is None else cost.to_dict()

    def _show_past(self, request: GetPastContext, cancel: CancelToken) -> Json:
        machine, chat = self._assistant.time_machine, require_chat(request)
        is_full = request.format == "full"
        if request.when == "diff":
            return machine.compare(chat, request.entry, cancel).to_dict()
        if request.when == "today":
            return machine.show_today(chat, request.entry, cancel).to_dict(is_full=is_full)
        return machine.show_then(chat, request.entry).to_dict(is_full=is_full)

    def _list_passages(self, request: ListPassages, _cancel: CancelToken) -> Json:
        texts = self._assistant.kept_passages
        removed = texts.remove_deleted() if request.purge else 0
        return {**texts.describe().to_dict(), "removed": removed}

    def _set_auto_compaction(self, request: SetAutoCompaction) -> Json:
        return {"enabled": self._assistant.settings.set("context.autoCompact", request.enabled)}
