"""Serve requests about pinned answers, and tell the client when one of them has changed."""

import logging
from collections.abc import Sequence

from app.assistant import Assistant
from app.errors import AppError, describe
from app.pinned.answers import ShownAnswer, measure_wait_for_midnight
from app.rpc.requests import Handlers, Quick, RpcRequest, Slow, require_chat
from app.rpc.wire import Json, Wire
from chains.cancel import CancelToken
from chains.concurrency import WorkerPool
from vault.errors import VaultError

__all__ = ["PinnedRequests"]

_log = logging.getLogger(__name__)


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


class PinnedRequests:
    """Serves the requests about pinned answers. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, wire: Wire) -> None:
        """Create the object.

        Args:
            assistant: has the pinned answers.
            wire: writes the event `pinned_answers`.
        """
        self._assistant, self._wire = assistant, wire
        self._pool, self._days = WorkerPool(2), CancelToken()
        self.handlers: Handlers = {
            "add_pinned_answer": Slow(AddPinnedAnswer, self._add),
            "change_pinned_answer": Quick(ChangePinnedAnswer, self._change),
            "list_pinned_answers": Quick(ListPinnedAnswers, self._list),
            "refresh_pinned_answers": Slow(RefreshPinnedAnswers, self._refresh),
            "remove_pinned_answer": Quick(RemovePinnedAnswer, self._remove),
            "show_pinned_answer": Quick(ShowPinnedAnswer, self._show),
            "write_pinned_answer": Slow(WritePinnedAnswer, self._write),
        }

    def follow_days(self) -> None:
        """Tell at each midnight what has changed, until `close` is called."""
        self._pool.submit(self._follow_days)

    def follow_notes(self) -> None:
        """Tell what has changed, because the index has. Return at once."""
        self._pool.submit(self._tell_changes)

    def close(self) -> None:
        """Tell nothing more at midnight."""
        self._days.cancel()

    def _follow_days(self) -> None:
        read_clock = self._assistant.pinned.clock
        day = read_clock().date()
        while not self._days.wait(measure_wait_for_midnight(read_clock())):
            if (today := read_clock().date()) != day:
                day = today
                self._tell_changes()

    def _tell_changes(self) -> None:
        """Find the pinned answers again, and write an event with those that are not as before."""
        pinned = self._assistant.pinned
        try:
            before = {one.answer.id: one.to_dict() for one in pinned.list()}
            found = pinned.refresh()
        except (AppError, VaultError) as error:
            _log.warning("The pinned answers were not found again: %s", describe(error).message)
            return
        if changed := [one for one in found if before.get(one.answer.id) != one.to_dict()]:
            self._wire.event("pinned_answers", None, None, _list_all(changed))

    def _add(self, request: AddPinnedAnswer, _cancel: CancelToken) -> Json:
        pinned = self._assistant.pinned
        if request.entry is not None:
            return pinned.add_answer(require_chat(request), request.entry).to_dict()
        return pinned.add(request.question, title=request.title, project=request.project).to_dict()

    def _list(self, _request: ListPinnedAnswers) -> Json:
        return _list_all(self._assistant.pinned.list())

    def _refresh(self, request: RefreshPinnedAnswers, _cancel: CancelToken) -> Json:
        ids = None if request.answer is None else [request.answer]
        found = self._assistant.pinned.refresh(ids)
        return _list_all([one for one in found if ids is None or one.answer.id in ids])

    def _write(self, request: WritePinnedAnswer, _cancel: CancelToken) -> Json:
        notes = self._assistant.pinned_notes
        planned = notes.plan(request.answer, request.path)
        run = notes.apply(planned) if request.apply else None
        return {**planned.to_dict(), "run": run}

    def _show(self, request: ShowPinnedAnswer) -> Json:
        pinned = self._assistant.pinned
        return (pinned.look if request.seen else pinned.find)(request.answer).to_dict()

    def _change(self, request: ChangePinnedAnswer) -> Json:
        pinned, id = self._assistant.pinned, request.answer
        if request.title is not None:
            pinned.rename(id, request.title)
        if request.place is not None:
            pinned.move(id, request.place)
        return pinned.find(id).to_dict()

    def _remove(self, request: RemovePinnedAnswer) -> Json:
        removed, place = self._assistant.pinned.remove(request.answer)
        return {"id": removed.id, "place": place}


def _list_all(found: Sequence[ShownAnswer]) -> Json:
    return {"pinned": [one.to_dict() for one in found]}
