"""Define, parse and validate RPC requests: JSON objects, one per line."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from app.errors import AppError, InvalidRequest, NotFound
from chains.events import Mode
from chains.tools.schema import clean_json, parse_json
from vault.review.findings import FindingKind

LONGEST_LINE: Final = (
    16_000_000  # bytes; a question of 200,000 characters has at most 1,200,000 bytes
)


class RpcRequest(BaseModel):
    """The fields of every request.

    Attributes:
        id: any value chosen by the client, which the response repeats.
        type: the request type, such as `prompt`.
        session: the chat, or None for the one opened last.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    id: Any = None
    type: str
    session: str | None = None


class PromptRequest(RpcRequest):
    """Ask a question. The response is sent once the question is stored.

    The last event of the turn is `turn_end`.

    Attributes:
        text: the question.
        mode: the mode of the turn, or None for the current mode.
        attach: the paths and tags to attach.
        parent: the entry after which the question is added, or None for the end of the active
            branch.
        read_whole: whether to let the model read large attachments completely, part by part. The
            request `get_context` returns the cost.
    """

    text: str
    mode: Mode | None = None
    attach: list[str] = []
    parent: str | None = None
    read_whole: bool = False


class Edit(RpcRequest):
    """Edit a user message and answer the new version."""

    entry: str
    text: str


class Regenerate(RpcRequest):
    """Generate another version of an answer."""

    entry: str


class SelectLeaf(RpcRequest):
    """Switch a chat to another branch."""

    entry: str


class Abort(RpcRequest):
    """Cancel the request with the id `request`, or else the chat's turn or compaction."""

    request: Any = None


class Approve(RpcRequest):
    """Answer an `approval_request` event.

    Attributes:
        approval_id: the id in the event.
        decision: the user's decision. `allow` approves only this call. `allow_session` also
            approves later calls of this kind in the same chat.
        hunks: if the decision is `allow`, the indexes of the approved hunks, or None for all hunks.
            The other hunks are rejected.
    """

    approval_id: str
    decision: Literal["allow", "deny", "allow_session"]
    hunks: list[int] | None = None


class Compact(RpcRequest):
    """Summarise a chat except for its last turn."""

    custom_instructions: str = Field("", alias="customInstructions")


class SetAutoCompaction(RpcRequest):
    """Enable or disable automatic compaction."""

    enabled: bool


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
    attach: list[str] = []
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


class GetEntries(RpcRequest):
    """Get the log entries of a chat.

    Attributes:
        path_only: whether to return only entries on the active path.
    """

    path_only: bool = False


class GetState(RpcRequest):
    """Get the state of the server."""


class Pin(RpcRequest):
    """Pin or unpin a message or segment.

    Attributes:
        target: the id of the message's entry or of the segment.
        on: true to pin, false to unpin.
    """

    target: str
    on: bool


class SendMessage(RpcRequest):
    """Add a message from another program to a chat, without calling a model.

    Attributes:
        custom_type: the program's name for this type of message.
        content: text, or a list of parts as in a user message.
        display: whether the transcript shows the message, or an object that says how.
    """

    custom_type: str = Field(validation_alias=AliasChoices("customType", "custom_type"))
    content: str | list[dict[str, Any]]
    display: bool | dict[str, Any] = True


class Label(RpcRequest):
    """Label an entry of a chat. An empty label removes the previous one."""

    target: str
    label: str


class NewSession(RpcRequest):
    """Create a chat.

    Attributes:
        project: the project folder, which switches the mode to `project`, or None.
    """

    project: str | None = None


class OpenSession(RpcRequest):
    """Continue a chat."""

    session: str


class ListSessions(RpcRequest):
    """List the chats, the one used last first.

    Attributes:
        archived: whether to list the archived chats instead.
        bin: whether to list the deleted chats instead, the one deleted last first.
        project: the folder of the project whose chats are listed, or None for all chats.
    """

    archived: bool = False
    bin: bool = False
    project: str | None = None


class SearchSessions(RpcRequest):
    """Find texts in all chats, the newest first.

    Attributes:
        text: words, and phrases in double quotes.
        project: the folder of the project whose chats are searched, or None for all chats.
    """

    text: str
    project: str | None = None


class MoveSession(RpcRequest):
    """Move a chat to a project, or out of its project.

    Attributes:
        project: the folder of the project, or None for no project.
    """

    session: str
    project: str | None = None


class DeleteSession(RpcRequest):
    """Move a chat to the bin, from which it can be restored for thirty days.

    Attributes:
        now: whether to delete the chat for good instead, also one in the bin.
    """

    session: str
    now: bool = False


class RestoreSession(RpcRequest):
    """Put a deleted or archived chat back on the list of chats."""

    session: str


class EmptyBin(RpcRequest):
    """Delete all chats in the bin for good."""


class SetMode(RpcRequest):
    """Set the mode for later questions."""

    mode: Mode


class SetModel(RpcRequest):
    """Set the model for later questions."""

    model: str


class SetSetting(RpcRequest):
    """Change a setting and save it."""

    key: str
    value: Any


class Undo(RpcRequest):
    """Undo an edit run: all edits to notes that were made in one turn.

    Attributes:
        run: the id of the edit run, or None for the chat's last one.
        edit: the id of a single edit to undo instead.
    """

    run: str | None = None
    edit: str | None = None


class Search(RpcRequest):
    """Search the notes for passages.

    Attributes:
        query: the words and filters to search for.
        k: the maximum number of passages, or None for the setting `retrieval.topK`.
    """

    query: str
    k: int | None = Field(None, ge=1, le=1_000)


class Index(RpcRequest):
    """Update the index."""


class Related(RpcRequest):
    """List the notes related to a note, and why.

    Attributes:
        path: the note, relative to the vault.
        k: the maximum number of notes.
        project: the folder of the project whose notes are compared, or None for the vault.
    """

    path: str
    k: int = Field(8, ge=1, le=1_000)
    project: str | None = None


class Table(RpcRequest):
    """Compute a base, or the bases and queries in a note.

    Attributes:
        path: the base or note, relative to the vault.
        view: the name of the only view to compute, or an empty string for all.
        k: the maximum number of rows of each view.
    """

    path: str
    view: str = ""
    k: int = Field(50, ge=1, le=1_000)


class Review(RpcRequest):
    """Find the notes that need attention.

    Attributes:
        kinds: the kinds of findings to list. If there are none, all are listed.
        folder: the folder that all notes of a finding have to be in, or an empty string.
        project: the folder of the project to stay in, or None for the whole vault.
        dismiss: the key of a finding to hide from now on, or None.
        restore: the key of a hidden finding to show again, or None.
    """

    kinds: list[FindingKind] = Field(default_factory=list)
    folder: str = ""
    project: str | None = None
    dismiss: str | None = None
    restore: str | None = None


class ListFixes(RpcRequest):
    """List the mechanical fixes of a finding, each with its diff.

    Attributes:
        key: the key of the finding.
        project: the folder of the project that was reviewed, or None for the vault.
    """

    key: str
    project: str | None = None


class FixFinding(RpcRequest):
    """Apply a fix of a finding. It can be undone like any other edit.

    Attributes:
        key: the key of the finding.
        choice: the id of the fix, which is another one once a note has changed.
        project: the folder of the project that was reviewed, or None for the vault.
    """

    key: str
    choice: str
    project: str | None = None


class SaveNote(RpcRequest):
    """Save a chat, or one answer with its question, as a new note.

    Attributes:
        entry: the answer, or None for the whole chat.
        path: the path of the note, or None for a name made from the chat's title.
    """

    entry: str | None = None
    path: str | None = None


class AddPinnedAnswer(RpcRequest):
    """Pin a question that is answered without a model, a search, or an answer of a chat.

    Attributes:
        question: the question, or a query.
        entry: an answer of the chat to pin instead, or None.
        title: the name to show, or an empty string for the question.
        project: the folder of the project to ask in, or None for the vault.
    """

    question: str = ""
    entry: str | None = None
    title: str = ""
    project: str | None = None


class ListPinnedAnswers(RpcRequest):
    """List the pinned answers, with what came, went and changed in each."""


class ShowPinnedAnswer(RpcRequest):
    """Show a pinned answer.

    Attributes:
        answer: the id of the pinned answer.
        seen: whether its changes count as seen from now on.
    """

    answer: str
    seen: bool = True


class RefreshPinnedAnswers(RpcRequest):
    """Find the pinned answers in the index again.

    Attributes:
        answer: the id of the only one to find again, or None for all.
    """

    answer: str | None = None


class ChangePinnedAnswer(RpcRequest):
    """Rename a pinned answer, or move it in the list.

    Attributes:
        answer: the id of the pinned answer.
        title: the new title, of which a blank one restores the question, or None.
        place: the new place in the list, counted from 0, or None.
    """

    answer: str
    title: str | None = None
    place: int | None = None


class RemovePinnedAnswer(RpcRequest):
    """Take a pinned answer off the list."""

    answer: str


class WritePinnedAnswer(RpcRequest):
    """Write a pinned answer into a base or a block of a note, or refresh its block.

    Attributes:
        answer: the id of the pinned answer.
        path: the base or note, or None for the one that shows it already, or a new one.
        apply: whether to make the change, which the user must have seen. Otherwise, the response
            has its diff, and nothing is written.
    """

    answer: str
    path: str | None = None
    apply: bool = False


class TickTask(RpcRequest):
    """Tick or untick a task in a note.

    Attributes:
        path: the note, relative to the vault.
        line: the line of the task, counted from 1.
        version: the hash of the content in which the task was seen (SHA-256), or an empty string.
    """

    path: str
    line: int
    version: str = ""


class Instructions(RpcRequest):
    """Show the AGENTS.md of the vault or of a project, or decide whether models are given it.

    Attributes:
        action: what to do.
        project: the folder of the project, or None for the vault.
    """

    action: Literal["show", "accept", "refuse"] = "show"
    project: str | None = None


class SkillsRequest(RpcRequest):
    """List the skills that an agent may read, or decide about a skill of the notes.

    Attributes:
        action: what to do.
        name: the skill that is shown, accepted or refused.
        digest: the digest that was shown to the user, or None for the present one.
        project: the folder of the project, or None.
    """

    action: Literal["list", "show", "accept", "refuse"] = "list"
    name: str = ""
    digest: str | None = None
    project: str | None = None


class ListProjects(RpcRequest):
    """List the projects."""


class ProjectRequest(RpcRequest):
    """A request about a project.

    Attributes:
        project: the folder of the project, relative to the vault or absolute.
    """

    project: str


class GetProject(ProjectRequest):
    """Get a project's texts, members and chats, and what L1 of a new chat holds."""


class AddProject(ProjectRequest):
    """Put a folder on the list of projects."""


class RemoveProject(ProjectRequest):
    """Take a project off the list. Its folder, chats and settings are kept."""


class RenameProject(ProjectRequest):
    """Give a project another title. An empty one restores the name of its folder."""

    title: str


class SetProject(ProjectRequest):
    """Change what a project uses.

    Attributes:
        key: what to change.
        value: a text, or for `include` and `exclude` a list of patterns.
    """

    key: Literal["instructions", "include", "exclude", "model"]
    value: str | list[str]


class AddPage(ProjectRequest):
    """Fetch a web page or read a transcript, and keep it for a project.

    Attributes:
        address: a web address, or the path of a .vtt, .srt or .txt file.
    """

    address: str


class RefreshPages(ProjectRequest):
    """Fetch the pages and transcripts that a project keeps again.

    Attributes:
        addresses: the addresses or ids of those to refresh, or an empty list for all.
    """

    addresses: list[str] = []


class RemovePage(ProjectRequest):
    """Keep a web page or transcript no longer.

    Attributes:
        address: its address or id.
    """

    address: str


class GetMemory(RpcRequest):
    """Get the memory of a chat: scratchpad, progress and facts."""


class SetMemory(RpcRequest):
    """Change the memory of a chat. Parts that are not given stay as they are."""

    scratchpad: str | None = None
    progress: dict[str, Any] | None = None
    facts: list[str] | None = None


class ListMemories(RpcRequest):
    """List the long-term memories of all chats, or of a project.

    Attributes:
        project: the folder of the project, or None for the memories of all chats.
    """

    project: str | None = None


class ForgetMemory(RpcRequest):
    """Remove a long-term memory.

    Attributes:
        number: the number of the memory in the list, counted from 1.
        project: the folder of the project, or None for the memories of all chats.
    """

    number: int
    project: str | None = None


class ListCalls(RpcRequest):
    """List every call that left Strata, and the notes in it."""


class ListVaults(RpcRequest):
    """List the folder of notes in the settings, and the vaults that Obsidian knows."""


class GetSpending(RpcRequest):
    """Get what was spent today and this month, and the limits."""


class CheckUpdates(RpcRequest):
    """Look for a newer version of Strata, at the address of the setting `updates.address`."""


class Backup(RpcRequest):
    """Write everything that Strata has stored into a new archive, given its absolute path."""

    path: str


class Restore(RpcRequest):
    """Restore an archive. `merge` does so also where Strata has stored something else."""

    path: str
    merge: bool = False


class Shutdown(RpcRequest):
    """Cancel all running requests, and stop the server."""


_TYPES: Final[Mapping[str, type[RpcRequest]]] = {
    "abort": Abort,
    "add_page": AddPage,
    "add_pinned_answer": AddPinnedAnswer,
    "add_project": AddProject,
    "approve": Approve,
    "backup": Backup,
    "change_pinned_answer": ChangePinnedAnswer,
    "compact": Compact,
    "delete_session": DeleteSession,
    "edit": Edit,
    "empty_bin": EmptyBin,
    "forget_memory": ForgetMemory,
    "get_context": GetContext,
    "get_entries": GetEntries,
    "get_memory": GetMemory,
    "get_past_context": GetPastContext,
    "get_project": GetProject,
    "get_spending": GetSpending,
    "check_updates": CheckUpdates,
    "get_state": GetState,
    "index": Index,
    "instructions": Instructions,
    "label": Label,
    "ledger": ListCalls,
    "list_memories": ListMemories,
    "list_pinned_answers": ListPinnedAnswers,
    "list_projects": ListProjects,
    "list_sessions": ListSessions,
    "list_vaults": ListVaults,
    "move_session": MoveSession,
    "new_session": NewSession,
    "open_session": OpenSession,
    "passages": ListPassages,
    "pin": Pin,
    "prompt": PromptRequest,
    "refresh_pages": RefreshPages,
    "refresh_pinned_answers": RefreshPinnedAnswers,
    "regenerate": Regenerate,
    "related": Related,
    "remove_page": RemovePage,
    "remove_pinned_answer": RemovePinnedAnswer,
    "remove_project": RemoveProject,
    "rename_project": RenameProject,
    "restore": Restore,
    "restore_session": RestoreSession,
    "fix_finding": FixFinding,
    "list_fixes": ListFixes,
    "review": Review,
    "save_note": SaveNote,
    "search": Search,
    "search_sessions": SearchSessions,
    "select_leaf": SelectLeaf,
    "send_message": SendMessage,
    "set_auto_compaction": SetAutoCompaction,
    "set_memory": SetMemory,
    "set_mode": SetMode,
    "set_model": SetModel,
    "set_project": SetProject,
    "set_setting": SetSetting,
    "show_pinned_answer": ShowPinnedAnswer,
    "shutdown": Shutdown,
    "skills": SkillsRequest,
    "table": Table,
    "tick_task": TickTask,
    "undo": Undo,
    "write_pinned_answer": WritePinnedAnswer,
}


def require_chat(request: RpcRequest) -> str:
    """Return the chat of a request, or raise `NotFound` if no chat is open."""
    if request.session is None:
        raise NotFound("No chat is open.", hint="Send prompt, new_session or open_session.")
    return request.session


class UnreadableRequest(Exception):
    """Raised when a line is not a valid request.

    Attributes:
        id: the request id, or None if it cannot be read.
        command: the request type, or None if it cannot be read.
        error: the error to respond with.
    """

    def __init__(self, error: AppError, id: Any = None, command: str | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.id = id
        self.command = command


def parse(line: bytes) -> RpcRequest:
    """Parse and validate a request.

    Raises:
        UnreadableRequest: the line is too long, is not JSON, has an unknown type, or has missing or
            invalid fields.
    """
    found = _object(line)
    id, command = found.get("id"), found.get("type")
    if not isinstance(command, str):
        error = InvalidRequest("A request needs a type.", hint=f"There are: {', '.join(_TYPES)}.")
        raise UnreadableRequest(error, id)
    if command not in _TYPES:
        unknown = InvalidRequest(f"Unknown command: {command}")
        raise UnreadableRequest(unknown, id, command)
    try:
        return _TYPES[command].model_validate(found)
    except ValidationError as error:
        raise UnreadableRequest(InvalidRequest(_sentence(command, error)), id, command) from error


def _object(line: bytes) -> dict[str, Any]:
    if len(line) >= LONGEST_LINE:
        too_long = f"The line is longer than {LONGEST_LINE:,} bytes."
        raise UnreadableRequest(InvalidRequest(too_long))
    try:
        found = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableRequest(InvalidRequest(f"The line is not JSON: {error}.")) from error
    if not isinstance(found, dict):
        raise UnreadableRequest(InvalidRequest("The line is not a JSON object."))
    # The response repeats the id unchanged, whatever its type.
    kept = {"id": found["id"]} if "id" in found else {}
    return {**clean_json(found), **kept}


def _sentence(command: str, error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    said = str(first["msg"])
    return f"{command}: {place}: {said[0].lower()}{said[1:]}."
