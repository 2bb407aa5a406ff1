"""The errors of this package, and the one place where any error becomes a code and a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class AppError(Exception):
    """Something the user can be told in one sentence."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class BadSetting(AppError):
    """A setting that does not exist, a value out of its range, or a file that cannot be read."""

    def __init__(self, message: str, *, key: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.key = key


class SessionMissing(AppError):
    """There is no chat of that id."""


class SessionBusy(AppError):
    """Another process is writing to the chat."""


class VaultNotChosen(AppError):
    """No folder of notes was named, or the named one cannot be opened."""


class NotFound(AppError):
    """What was asked for does not exist."""


class BadRequest(AppError):
    """The request cannot be carried out as it stands."""


class StorageFailed(AppError):
    """The disk is full, or a place cannot be read or written."""


@dataclass(frozen=True)
class ErrorInfo:
    """What a person and a program are told of a failure."""

    code: str
    message: str
    hint: str | None = None
    context: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; `hint` and `context` are left out where there is none."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.hint is not None:
            shown["hint"] = self.hint
        if self.context is not None:
            shown["context"] = dict(self.context)
        return shown


def describe(error: BaseException) -> ErrorInfo:
    """Return the code, the sentence and the way out for any error."""
    return ErrorInfo("internal", str(error))
