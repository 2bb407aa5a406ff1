"""What a process remembers in its modules. A world begins without it, as a new process does."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, Final
from unittest import mock

__all__ = ["forget_all", "remember_nothing"]

_PLACES: Final = (
    ("app.secret_text", "_hidden"),
    ("chains.request.epochs", "_sent"),
    ("chains.request.wire_changes", "_sent"),
    ("resources.system.calls", "_exceptions"),
    ("resources.system.calls", "_read_only"),
    ("resources.system.files", "_flushed"),
)


@contextmanager
def remember_nothing() -> Iterator[None]:
    """Begin with an empty memory in a `with` block. Behind it, all is as it was before."""
    with ExitStack() as stack:
        for module, name in _PLACES:
            kept = _find(module, name)
            stack.enter_context(mock.patch(f"{module}.{name}", type(kept)()))
        yield


def forget_all() -> None:
    """Forget everything, as a process that was killed."""
    for module, name in _PLACES:
        _find(module, name).clear()


def _find(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
