"""Serve requests that judge every note of a scope by a question.

The event `judge_progress` tells after each call how far a run is. `abort` with the id of the
request stops it: the verdicts that were given are kept, and the same request goes on.
"""

import threading
from dataclasses import replace
from typing import Any, cast

from app.assistant import Assistant
from app.errors import NotFound
from app.judge.judging import JudgeFinished
from app.judge.run import PauseSwitch
from app.judge.store import count_stored
from app.judge.table import DEFAULT_SAMPLE, JudgeRequest
from app.rpc.requests import Handlers, Quick, RpcRequest, Slow
from app.rpc.wire import Json, Wire
from chains.cancel import CancelToken

__all__ = ["JudgeRequests"]


class GetJudged(RpcRequest):
    """Return the table of a question as it is known, and the cost of the rest. Nothing is called.

    Attributes:
        scope: a filter for the notes, or an empty string for all.
        project: the folder of the project whose notes are judged, or None for the vault.
        model: the model, or None for the configured one.
        sample_model: the model that judges a sample again, or None for no sample.
        sample: the number of notes in the sample.
    """

    question: str
    scope: str = ""
    project: str | None = None
    model: str | None = None
    sample_model: str | None = None
    sample: int = DEFAULT_SAMPLE

    def build(self) -> JudgeRequest:
        """Return the question for the use-cases."""
        named = (self.question, self.scope, self.project, self.model)
        return JudgeRequest(*named, sample_model=self.sample_model, sample=self.sample)


class Judge(GetJudged):
    """Judge the notes of a scope, and return the table.

    Attributes:
        first: the number of notes to judge now, or None for all.
        retry: whether to judge notes again that have failed.
    """

    first: int | None = None
    retry: bool = False

    def build(self) -> JudgeRequest:
        """Return the question for the use-cases."""
        return replace(super().build(), first=self.first, retries=self.retry)


class PauseJudge(RpcRequest):
    """Pause the run of a request `judge`, given the id of that request, or let it go on."""

    request: Any
    paused: bool = True


class SaveJudged(GetJudged):
    """Save the table of a question as a new note. `path` is None for a name of the question."""

    path: str | None = None


class ListJudged(RpcRequest):
    """List the questions with stored verdicts, the newest first."""


class ForgetJudged(RpcRequest):
    """Delete the stored verdicts, and return how many verdicts and failures there were.

    Attributes:
        question: the question, but for its case and blanks, or None for all questions.
        model: the model, or None for all models.
    """

    question: str | None = None
    model: str | None = None


class JudgeRequests:
    """Serves the requests about judged notes. Thread-safe.

    Attributes:
        handlers: how each of these requests is served, by its type.
    """

    def __init__(self, assistant: Assistant, wire: Wire) -> None:
        """Create the functions.

        Args:
            assistant: judges the notes.
            wire: writes the progress.
        """
        self._assistant, self._wire = assistant, wire
        self._lock = threading.Lock()
        self._running: list[tuple[object, PauseSwitch]] = []
        self.handlers: Handlers = {
            "judge": Slow(Judge, self._judge),
            "get_judged": Slow(GetJudged, self._read),
            "save_judged": Slow(SaveJudged, self._save),
            "pause_judge": Quick(PauseJudge, self._pause),
            "list_judged": Slow(ListJudged, self._list),
            "forget_judged": Slow(ForgetJudged, self._forget),
        }

    def _judge(self, request: Judge, cancel: CancelToken) -> Json:
        run = (request.id, PauseSwitch())
        with self._lock:
            self._running.append(run)
        try:
            for event in self._assistant.judging.judge(request.build(), cancel, run[1]):
                if isinstance(event, JudgeFinished):
                    return event.table.to_dict()
                self._wire.event("judge_progress", request.id, None, event.to_dict())
        finally:
            with self._lock:
                self._running.remove(run)
        raise AssertionError("a run ends with its table")

    def _read(self, request: GetJudged, _cancel: CancelToken) -> Json:
        return cast(Json, self._assistant.judging.read(request.build()).to_dict())

    def _save(self, request: SaveJudged, _cancel: CancelToken) -> Json:
        judging = self._assistant.judging
        path, run = judging.save(judging.read(request.build()), request.path)
        return {"path": path, "run": run}

    def _list(self, _request: ListJudged, _cancel: CancelToken) -> Json:
        found = self._assistant.kept_verdicts.list_questions()
        return {"questions": [one.to_dict() for one in found]}

    def _forget(self, request: ForgetJudged, _cancel: CancelToken) -> Json:
        gone = self._assistant.kept_verdicts.forget(request.question, request.model)
        verdicts, failures = count_stored(gone)
        return {"forgotten": verdicts, "failures": failures}

    def _pause(self, request: PauseJudge) -> Json:
        with self._lock:
            switches = [switch for id, switch in self._running if id == request.request]
        if not switches:
            raise NotFound("No request judge with this id is running.")
        for switch in switches:
            (switch.pause if request.paused else switch.resume)()
        return {"paused": request.paused}
