"""Serve requests that look after notes, and that write them."""

from pydantic import Field

from app.assistant import Assistant
from app.library.review import find_finding, review_with
from app.rpc.jobs import Jobs
from app.rpc.requests import Handlers, Quick, RpcRequest, Slow, require_chat
from app.rpc.wire import Json
from chains.cancel import CancelToken
from context.json_codec import encode_record
from vault.review.findings import FindingFilter, FindingKind

__all__ = ["NoteRequests"]


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


class SaveNote(RpcRequest):
    """Save a chat, or one answer with its question, as a new note.

    Attributes:
        entry: the answer, or None for the whole chat.
        path: the path of the note, or None for a name made from the chat's title.
    """

    entry: str | None = None
    path: str | None = None


class Undo(RpcRequest):
    """Undo an edit run: all edits to notes that were made in one turn.

    Attributes:
        run: the id of the edit run, or None for the chat's last one.
        edit: the id of a single edit to undo instead.
    """

    run: str | None = None
    edit: str | None = None


class NoteRequests:
    """Serves the requests about notes. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, jobs: Jobs) -> None:
        """Create the functions.

        Args:
            assistant: has the open vault, and edits its notes.
            jobs: the running turns, whose edits are not undone.
        """
        self._assistant, self._jobs = assistant, jobs
        self.handlers: Handlers = {
            "fix_finding": Slow(FixFinding, self._fix),
            "list_fixes": Slow(ListFixes, self._list_fixes),
            "review": Slow(Review, self._review),
            "save_note": Slow(SaveNote, self._save_note),
            "tick_task": Quick(TickTask, self._tick),
            "undo": Quick(Undo, self._undo),
        }

    def _review(self, request: Review, cancel: CancelToken) -> Json:
        review = self._assistant.find_review(request.project)
        which = FindingFilter(frozenset(request.kinds), request.folder)
        return review_with(review, cancel, which, request.dismiss, request.restore).to_dict()

    def _list_fixes(self, request: ListFixes, cancel: CancelToken) -> Json:
        review = self._assistant.find_review(request.project)
        finding = find_finding(review, cancel, request.key)
        fixes = self._assistant.build_fixes(request.project).list_fixes(finding)
        return {"key": finding.key, "fixes": [fix.to_dict() for fix in fixes]}

    def _fix(self, request: FixFinding, cancel: CancelToken) -> Json:
        review = self._assistant.find_review(request.project)
        finding = find_finding(review, cancel, request.key)
        return self._assistant.build_fixes(request.project).apply(finding, request.choice).to_dict()

    def _save_note(self, request: SaveNote, _cancel: CancelToken) -> Json:
        saved = self._assistant.save_note(require_chat(request), request.entry, request.path)
        return saved.to_dict()

    def _tick(self, request: TickTask) -> Json:
        edits = self._assistant.user_edits
        return edits.toggle_task(request.path, request.line, request.version).to_dict()

    def _undo(self, request: Undo) -> Json:
        is_named = request.run is not None or request.edit is not None
        session = None if is_named else self._jobs.require_free_chat(request)
        edits = self._assistant.edits
        return encode_record(edits.undo(run=request.run, edit=request.edit, session=session))
