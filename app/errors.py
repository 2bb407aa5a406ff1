"""The exceptions of this package, and the description of any exception for the user.

`describe` returns a code, a sentence and a hint. The sentence is usually the exception's message,
except for cancellations, operating system errors and unexpected exceptions.

```
AppError
├── BadSetting       an unknown setting, a value out of its range, or a damaged settings file
├── SessionMissing   there is no chat with this id
├── SessionBusy      the chat is being written to, in this process or another one
├── VaultNotChosen   no vault is chosen
├── NotFound         something that was named, such as an entry or a note, does not exist
├── InvalidRequest   the request is not valid
├── NoKeyring        the system has no usable keyring
├── TurnFailed       a turn ended without an answer; the error has the reason and the chat
└── StorageFailed    the disk is full, or a file cannot be read or written
```
"""

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from app.paths import Paths
from chains import errors as chains
from context.errors import (
    BadPin,
    BadPolicy,
    ContextHookError,
    ContextOverflow,
    PinTargetMissing,
)
from context.fixes import Command, Fix, Hint, Option, Setting, make_hint
from resources.system.calls import WritesForbidden
from vault import errors as vault

_CODES: Mapping[type[Exception], str] = {
    **{kind: kind.code for kind in chains.MODEL_ERRORS},
    chains.CannotSee: "bad_request",
    chains.LedgerFailed: "storage",
    vault.VaultMissing: "vault_missing",
    vault.VaultUnreadable: "storage",
    vault.NoteUnreadable: "storage",
    vault.ReadingFailed: "storage",
    vault.IndexUnusable: "storage",
    vault.IndexDamaged: "storage",
    vault.IndexOutdated: "storage",
    vault.DiskFull: "storage",
    vault.IndexBusy: "busy",
    vault.EmbedderFailed: "model_unavailable",
    vault.UnsafePath: "bad_request",
    vault.NoteExcluded: "bad_request",
    vault.EditRefused: "bad_request",
    vault.EditOutdated: "bad_request",
    vault.EditFailed: "storage",
    vault.UndoRefused: "bad_request",
    vault.ViewNotUnderstood: "bad_request",
    vault.ViewTooLong: "bad_request",
    vault.EditUnknown: "not_found",
}
_HOLD = Setting("spending.holdUnpriced")
_HINTS: Mapping[type[Exception], Hint] = {
    chains.CannotSee: (
        Fix("Choose a model that sees images, or detach the image."),
        Fix("{} and the list of models say “images” beside those that do.", Command("models")),
    ),
    chains.UnpricedCallHeld: (
        Fix("Choose a model whose price is known, or switch {} off.", _HOLD),
        Fix("To send it once, add {}.", Option("--set spending.holdUnpriced=false")),
    ),
    chains.SpendingLimitReached: (
        Fix("Raise {} or {}.", Setting("spending.dayLimit"), Setting("spending.monthLimit")),
        Fix(
            "To send it once, add {}; {} shows what was spent.",
            Option("--set spending.dayLimit=0 --set spending.monthLimit=0"),
            Command("spending"),
        ),
    ),
    chains.LedgerFailed: "See that it is a file that can be written, and has room, and try again.",
    vault.DiskFull: "Make room on the disk and try again.",
    vault.EmbedderFailed: (
        Fix("Until it works, notes are found by their words."),
        Fix("Index again, or choose another {}.", Setting("embedding.model")),
        Fix("{} names what is wrong with this one.", Command("doctor")),
    ),
}

# As `SHARES` in `app.config.settings`, a package that is above this module.
_THRESHOLDS = (
    Setting("context.trimAt"),
    Setting("context.compactAt"),
    Setting("context.blockAt"),
)


class AppError(Exception):
    """Base class of the exceptions in this package. Messages are sentences for the user.

    Attributes:
        code: the stable error code for programs.
        hint: what the user can do. Each interface words it for its users.
    """

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, hint: Hint = None) -> None:
        super().__init__(message)
        self.hint = make_hint(hint)


class BadSetting(AppError):
    """A setting is unknown or out of range, or the settings file is damaged.

    Attributes:
        key: the setting, or None if the whole file is damaged.
        reason: the message without the value that the setting keeps.
        kept: the value that the setting keeps, as it is written in the file, or an empty string.
    """

    code = "bad_setting"

    def __init__(
        self, reason: str, *, key: str | None = None, hint: Hint = None, kept: str = ""
    ) -> None:
        super().__init__(f"{reason} It stays at {kept}." if kept else reason, hint=hint)
        self.key = key
        self.reason = reason
        self.kept = kept


class SessionMissing(AppError):
    """There is no chat with this id."""

    code = "session_missing"


class SessionBusy(AppError):
    """The chat is being written to, by this or another process."""

    code = "busy"


class VaultNotChosen(AppError):
    """The use-case needs an open vault, and no vault has been chosen."""

    code = "vault_missing"

    def __init__(self) -> None:
        super().__init__(
            "No folder of notes is chosen.",
            hint=Fix(
                "Name one with {}, or for good with {}.",
                Option("--vault DIR"),
                Command("settings set", ("vault.path", "DIR")),
            ),
        )


class NotFound(AppError):
    """A named item, such as an entry or a note, does not exist."""

    code = "not_found"


class InvalidRequest(AppError):
    """The user or a program requested something invalid, such as a search with a blank query."""

    code = "bad_request"


class NoKeyring(AppError):
    """The system has no usable keyring, so keys cannot be saved."""

    code = "bad_request"


class StorageFailed(AppError):
    """The disk is full, or a file or folder cannot be read or written."""

    code = "storage"


class TurnFailed(AppError):
    """A turn ended without an answer.

    Attributes:
        reason: the exception that ended the turn.
        session: the chat, or None if no chat was created.
        is_taken_back: whether the user message was removed from the active branch because no
            request could be built for it. It stays in the log.
    """

    def __init__(self, reason: Exception, session: str | None, is_taken_back: bool = False) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.is_taken_back = is_taken_back
        self.session = None if isinstance(reason, SessionMissing) else session


@dataclass(frozen=True)
class ErrorInfo:
    """An error described for users and programs.

    Attributes:
        code: the stable error code for programs.
        message: one sentence for the user.
        hint: what the user can do. Each interface words it for its users.
        context: the context report of a request that was too large, or None.
        session: the id of the failed turn's chat, or None.
        is_turn: whether the error ended a turn.
        is_taken_back: whether the user message was removed from the active branch, as in
            `TurnFailed`.
        key_owner: the provider or address whose API key is missing or was rejected, or an empty
            string.
        blind_model: the model that images were not sent to, because it may not see any, or an empty
            string.
    """

    code: str
    message: str
    hint: tuple[Fix, ...] = ()
    context: Mapping[str, Any] | None = None
    session: str | None = None
    is_turn: bool = False
    is_taken_back: bool = False
    key_owner: str = ""
    blind_model: str = ""

    def to_dict(self, word: Callable[[Fix], str] = str) -> dict[str, Any]:
        """Return the error as a dict that can be written as JSON.

        Fields without a value are omitted, except those of a failed turn, which are None.

        Args:
            word: words a way out, for the command line if it is not given.
        """
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.hint or self.is_turn:
            shown["hint"] = self.word_hint(word) or None
        if self.context is not None or self.is_turn:
            shown["context"] = self.context and dict(self.context)
        if self.is_turn:
            shown["session"] = self.session
        return shown

    def word_hint(self, word: Callable[[Fix], str] = str) -> str:
        """Return what the user can do as sentences, or an empty string if nothing is known."""
        return " ".join(map(word, self.hint))


def build_storage_error(path: Path, error: OSError) -> StorageFailed:
    """Convert an operating system error about a file to `StorageFailed`."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return StorageFailed(
            f"The disk is full: {path} could not be written. Nothing that was saved is lost.",
            hint="Make room on the disk and try again.",
        )
    if isinstance(error, WritesForbidden):
        return StorageFailed(error.strerror or str(error))
    if error.errno == errno.EISDIR:
        return StorageFailed(
            f"{path} is a folder, and Strata keeps a file with that name. What is in it stays.",
            hint="Move it away or rename it, and try again.",
        )
    reason = (error.strerror or str(error)).lower()
    hints = {
        errno.EACCES: "Change its permissions",
        errno.EPERM: "Change its permissions",
        errno.EROFS: "Make its disk writable",
    }
    hint = hints.get(error.errno or 0, "Repair it or move it away")
    return StorageFailed(
        f"{path} cannot be read or written: {reason}.", hint=f"{hint}, and try again."
    )


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Convert operating system errors in a `with` block to `StorageFailed`."""
    try:
        yield
    except OSError as error:
        raise build_storage_error(path, error) from error


def describe(error: BaseException) -> ErrorInfo:
    """Describe any exception with a code, a sentence and a hint."""
    if isinstance(error, TurnFailed):
        info = describe(error.reason)
        context = info.context and {**info.context, "session": error.session}
        info = replace(info, context=context, session=error.session, is_turn=True)
        return replace(info, is_taken_back=error.is_taken_back)
    message = str(error)
    hint: Hint = None
    report: Mapping[str, Any] | None = None
    match error:
        case AppError():
            code, hint = error.code, error.hint
        case BadPolicy():
            code, hint = "bad_setting", Fix("See {}, {}, {}.", *_THRESHOLDS)
        case ContextOverflow():
            code, hint = "context_overflow", error.ways_out
            report = error.report
        case ContextHookError():
            code, hint = "hook_failed", _hook_hint(error)
        case BadPin() | chains.CannotRead() | chains.FetchFailed():
            code = "not_found" if isinstance(error, PinTargetMissing) else "bad_request"
        case chains.ChainError() | vault.VaultError() if type(error) in _CODES:
            code, hint = _CODES[type(error)], _HINTS.get(type(error))
        case chains.Cancelled() | KeyboardInterrupt():
            code, message = "cancelled", "Stopped."
        case OSError():
            failed = build_storage_error(Path(str(error.filename or "A file")), error)
            code, message, hint = failed.code, str(failed), failed.hint
        case _:
            code, message = "internal", _bug(error)
            hint = f"The log tells more: {Paths.find().log_file}"
    owner = error.key_owner if isinstance(error, chains.MissingKey) else ""
    blind = error.model if isinstance(error, chains.CannotSee) else ""
    return ErrorInfo(code, message, make_hint(hint), report, key_owner=owner, blind_model=blind)


def _hook_hint(error: ContextHookError) -> tuple[Fix, ...]:
    outcome = "The answer is kept." if error.reason == "turn_end" else "Nothing was sent."
    switch = Command("settings set", ("hooks.enabled", "false"))
    return (
        Fix(f"{outcome} Mend or remove the hook."),
        Fix("{} switches all hook files off.", switch),
    )


def is_bug(error: BaseException) -> bool:
    """Return whether an exception is a bug, that is, of an unexpected type.

    For a `TurnFailed` error, the exception that ended the turn is checked.
    """
    if isinstance(error, TurnFailed):
        return is_bug(error.reason)
    is_ours = isinstance(error, vault.VaultError | chains.ChainError)
    return not is_ours and describe(error).code == "internal"


def _bug(error: BaseException) -> str:
    if isinstance(error, vault.VaultError | chains.ChainError):
        return str(error)
    description = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"Something in Strata failed ({description}). Your notes and chats are safe."
