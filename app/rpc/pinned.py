"""Serve requests about pinned answers, and tell the client when one of them has changed."""

import logging
from collections.abc import Callable, Mapping, Sequence

from app.assistant import Assistant
from app.errors import AppError, describe
from app.pinned.answers import ShownAnswer, measure_wait_for_midnight
from app.rpc import requests as asked
from app.rpc.wire import Json, Wire
from chains.cancel import CancelToken
from chains.concurrency import WorkerPool
from vault.errors import VaultError

__all__ = ["PinnedRequests"]

_log = logging.getLogger(__name__)


class PinnedRequests:
    """Serves the requests about pinned answers. Thread-safe.

    Attributes:
        slow: the functions for requests that may take long, by type.
        quick: the functions for the other requests, by type.
    """

    def __init__(self, assistant: Assistant, wire: Wire) -> None:
        """Create the object.

        Args:
            assistant: has the pinned answers.
            wire: writes the event `pinned_answers`.
        """
        self._assistant, self._wire = assistant, wire
        self._pool, self._days = WorkerPool(2), CancelToken()
        self.slow: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            asked.AddPinnedAnswer: self._add,
            asked.RefreshPinnedAnswers: self._refresh,
            asked.WritePinnedAnswer: self._write,
        }
        self.quick: Mapping[type[asked.RpcRequest], Callable[..., Json]] = {
            asked.ListPinnedAnswers: self._list,
            asked.ShowPinnedAnswer: self._show,
            asked.ChangePinnedAnswer: self._change,
            asked.RemovePinnedAnswer: self._remove,
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

    def _add(self, request: asked.AddPinnedAnswer, _cancel: CancelToken) -> Json:
        pinned = self._assistant.pinned
        if request.entry is not None:
            return pinned.add_answer(asked.require_chat(request), request.entry).to_dict()
        return pinned.add(request.question, title=request.title, project=request.project).to_dict()

    def _list(self, _request: asked.ListPinnedAnswers) -> Json:
        return _list_all(self._assistant.pinned.list())

    def _refresh(self, request: asked.RefreshPinnedAnswers, _cancel: CancelToken) -> Json:
        ids = None if request.answer is None else [request.answer]
        found = self._assistant.pinned.refresh(ids)
        return _list_all([one for one in found if ids is None or one.answer.id in ids])

    def _write(self, request: asked.WritePinnedAnswer, _cancel: CancelToken) -> Json:
        notes = self._assistant.pinned_notes
        planned = notes.plan(request.answer, request.path)
        run = notes.apply(planned) if request.apply else None
        return {**planned.to_dict(), "run": run}

    def _show(self, request: asked.ShowPinnedAnswer) -> Json:
        pinned = self._assistant.pinned
        return (pinned.look if request.seen else pinned.find)(request.answer).to_dict()

    def _change(self, request: asked.ChangePinnedAnswer) -> Json:
        pinned, id = self._assistant.pinned, request.answer
        if request.title is not None:
            pinned.rename(id, request.title)
        if request.place is not None:
            pinned.move(id, request.place)
        return pinned.find(id).to_dict()

    def _remove(self, request: asked.RemovePinnedAnswer) -> Json:
        removed, place = self._assistant.pinned.remove(request.answer)
        return {"id": removed.id, "place": place}


def _list_all(found: Sequence[ShownAnswer]) -> Json:
    return {"pinned": [one.to_dict() for one in found]}
