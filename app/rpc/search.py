"""Serve requests that search the notes, and that index them."""

from pydantic import Field

from app.assistant import Assistant
from app.library.library import IndexFinished
from app.rpc.requests import Handlers, RpcRequest, Slow
from app.rpc.wire import Json, Wire
from chains.cancel import CancelToken
from context.json_codec import encode, encode_record

__all__ = ["SearchRequests"]


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
    k: int = Field(50, ge=1, le=1_000_000)


class SearchRequests:
    """Serves the requests that read the index, or bring it up to date. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, wire: Wire) -> None:
        """Create the functions.

        Args:
            assistant: has the open vault.
            wire: writes the progress of an update.
        """
        self._assistant, self._wire = assistant, wire
        self.handlers: Handlers = {
            "index": Slow(Index, self._index),
            "related": Slow(Related, self._find_related),
            "search": Slow(Search, self._search),
            "table": Slow(Table, self._compute_table),
        }

    def _search(self, request: Search, _cancel: CancelToken) -> Json:
        return encode_record(self._assistant.search(request.query, request.k))

    def _find_related(self, request: Related, _cancel: CancelToken) -> Json:
        found = self._assistant.find_related(request.path, request.k, request.project)
        return {"path": request.path, "notes": encode(found)}

    def _compute_table(self, request: Table, _cancel: CancelToken) -> Json:
        blocks = self._assistant.compute_views(request.path, view=request.view, most=request.k)
        return {"path": request.path, "blocks": encode(blocks)}

    def _index(self, request: Index, cancel: CancelToken) -> Json:
        for event in self._assistant.index(cancel):
            if isinstance(event, IndexFinished):
                return encode_record(event.report)
            progress = encode(event.progress)
            self._wire.event("index_progress", request.id, request.session, progress)
        raise AssertionError("indexing ends with its report")
