"""Call a model file, which is loaded when it is first used.

```
stream → ModelRunner.open: load the file, with ModelLoading events
             → another ModelPort, which calls the server of the child process
                 → if the child process ended: add the reason to the ModelEnded event
```
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from chains.cancel import CancelToken, Pause
from chains.concurrency import Emit, iterate
from chains.errors import ModelUnavailable
from chains.gguf.file import ModelFile
from chains.gguf.process import ModelRunner, RunningModel
from chains.llm.port import (
    Endpoint,
    KeyFor,
    ModelEnded,
    ModelEvent,
    ModelLoading,
    ModelPort,
    require_sealed,
)
from context.assemble.request import Request

__all__ = ["GgufModel", "MakePort"]

# Builds the port to a server from its address, its key, and the pause between two attempts.
MakePort = Callable[[Endpoint, KeyFor, Pause], ModelPort]


class GgufModel:
    """A language model that is loaded from a GGUF file and runs on this computer.

    Args:
        models: starts the process that runs the model.
        file: the model file.
        context: the context length in tokens.
        make_port: builds the `ModelPort` that calls the server of the model's process.
        pause: waits before a failed call to the server is repeated.
    """

    def __init__(
        self,
        models: ModelRunner,
        file: ModelFile,
        context: int,
        make_port: MakePort,
        pause: Pause,
    ) -> None:
        self._models, self._file, self._context = models, file, context
        self._make_port, self._pause = make_port, pause

    def stream(self, request: Request, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Load the model if necessary, and yield the events of its answer.

        Raises:
            LocalModelFailed: the model cannot be loaded, or its process ended before any text.
        """
        require_sealed(request)
        running: RunningModel | None = None

        def produce(emit: Emit[ModelLoading | RunningModel]) -> None:
            self._open(emit, cancel)

        for item in iterate(produce, cancel):
            if isinstance(item, RunningModel):
                running = item
            else:
                yield item
        assert running is not None
        with self._models.call():
            yield from self._call(running, request, cancel)

    def _open(self, emit: Emit[ModelLoading | RunningModel], cancel: CancelToken) -> None:
        """Load the model, and emit the loading progress followed by the running model."""
        file, context = self._file, self._context
        needed, shown = file.count_needed_bytes(context), -1.0

        def report(done: float) -> None:
            nonlocal shown
            shown = max(shown, done)  # it never goes back
            emit(ModelLoading(file.name, shown, needed))

        running = self._models.open(file, context, cancel, report)
        if shown >= 0:
            report(1.0)
        emit(running)

    def _call(
        self, running: RunningModel, request: Request, cancel: CancelToken
    ) -> Iterator[ModelEvent]:
        def pause(cancel: CancelToken, seconds: float) -> None:
            running.require_alive()
            self._pause(cancel, seconds)

        endpoint = self._file.endpoint
        endpoint = replace(endpoint, provider="openai", api_base=running.address)
        port = self._make_port(endpoint, lambda _owner: running.key, pause)
        try:
            for event in port.stream(request, cancel):
                yield _add_end_reason(event, running)
        except ModelUnavailable:
            running.require_alive()
            raise


def _add_end_reason(event: ModelEvent, running: RunningModel) -> ModelEvent:
    """Add the reason why the model's process ended to a `ModelEnded` event.

    The event is returned unchanged if the answer is complete, if the process is still running, or
    if it is another kind of event.
    """
    if not isinstance(event, ModelEnded) or event.status == "complete":
        return event
    end = running.find_end()
    return replace(event, reason=f"the process of the model ended: {end}") if end else event
