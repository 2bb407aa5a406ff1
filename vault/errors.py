"""The errors of a vault and its index.

VaultError
├── VaultMissing        the folder is not there, or its drive is not mounted
├── VaultUnreadable     the folder exists, but cannot be read
├── NoteUnreadable      one note cannot be read as text
├── ReadingFailed       bytes cannot be read as text; `NoteUnreadable` adds the path
├── NoteExcluded        a note must not be given to a model
├── UnsafePath          a path leads out of the vault
├── EditRefused         an edit to a note is impossible or not allowed
├── EditOutdated        a note was changed after an edit to it was proposed
├── EditFailed          an edit could not be written; the notes are as before
├── UndoRefused         an edit cannot be undone, because the note was changed after it
├── IndexBusy           another process owns the index
├── IndexUnusable       the catalog cannot be opened or written
│   └── IndexDamaged    the catalog's file is damaged; it is set aside and the index rebuilt
├── EmbedderFailed      the embedding model or its process failed
├── VectorStoreFailed   the vector store or its process failed
├── RerankerFailed      the reranking model or its process failed
├── ChildDied           a child process ended; the caller restarts it
└── ChildRefused        a child process answered with an error

Every message is one sentence for the user, ending with a solution if there is one.
"""


class VaultError(Exception):
    """The base class of all errors in the vault package."""


class VaultMissing(VaultError):
    """The vault's folder does not exist."""


class VaultUnreadable(VaultError):
    """The vault's folder exists but cannot be read because of its permissions."""


class NoteUnreadable(VaultError):
    """One note cannot be read as text.

    Attributes:
        path: the note, relative to the vault.
        reason: the reason in a few words, short enough for a list of paths.
    """

    def __init__(self, path: str, reason: str):
        super().__init__(f"The note {path} cannot be read: {reason}.")
        self.path = path
        self.reason = reason


class ReadingFailed(VaultError):
    """The bytes of a file cannot be read as text; `NoteUnreadable` names the note.

    Attributes:
        reason: the reason in a few words, short enough for a list of paths.
    """

    def __init__(self, reason: str):
        super().__init__(f"The file cannot be read: {reason}.")
        self.reason = reason


class NoteExcluded(VaultError):
    """A note must not be given to a model, because a rule excludes it or it is marked private.

    Attributes:
        path: the note, relative to the vault.
        rule: the rule that excludes the note.
    """

    def __init__(self, path: str, rule: str):
        way_out = (
            "it is marked as private; take the mark out"
            if rule == "private"
            else f"it is excluded ({rule}); change the rule"
        )
        super().__init__(f"The note {path} is not given to a model: {way_out} to use it.")
        self.path = path
        self.rule = rule


class UnsafePath(VaultError):
    """A path is not inside the vault, or leads out of it through a link."""


class EditRefused(VaultError):
    """An edit to a note is impossible or not allowed. The message suggests what to do."""


class EditOutdated(VaultError):
    """A note was changed after an edit to it was proposed. Nothing was written.

    Attributes:
        path: the note, relative to the vault.
    """

    def __init__(self, path: str):
        super().__init__(f"{path} changed after this edit was proposed. Nothing was written.")
        self.path = path


class EditFailed(VaultError):
    """An edit, or the undo of an edit, could not be written to disk."""


class UndoRefused(VaultError):
    """An edit cannot be undone, because it is unknown or a note was changed after it.

    Attributes:
        paths: the notes that were changed after the edit.
    """

    def __init__(self, message: str, paths: tuple[str, ...] = ()):
        super().__init__(message)
        self.paths = paths


class IndexBusy(VaultError):
    """Another process owns this index and updates it."""


class IndexUnusable(VaultError):
    """The catalog cannot be opened or written."""


class IndexDamaged(IndexUnusable):
    """The catalog's database file is damaged."""


class EmbedderFailed(VaultError):
    """The embedding model is damaged, or its process ended and could not be restarted."""


class RerankerFailed(VaultError):
    """The reranking model cannot be used. The passages keep their order."""


class VectorStoreFailed(VaultError):
    """The vector store is broken or its process ended; search works without it."""


class ChildDied(VaultError):
    """A child process ended, or was killed because it did not answer in time."""


class ChildRefused(VaultError):
    """A child process answered a request with an error."""
