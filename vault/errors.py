"""The exceptions of the vault package.

VaultError
├── VaultMissing        the folder does not exist, or its drive is not mounted
├── VaultUnreadable     the folder exists, but cannot be read
├── NoteUnreadable      one note cannot be read as text
├── ReadingFailed       bytes cannot be read as text; `NoteUnreadable` adds the path
├── NoteExcluded        a note must not be given to a model
├── UnsafePath          a path leads out of the vault
├── EditRefused         an edit to a note is impossible or not allowed
├── EditOutdated        a note was changed after an edit to it was proposed
├── EditFailed          an edit could not be written; the notes are as before
├── UndoRefused         an edit cannot be undone, because the note was changed after it
│   └── EditUnknown     there is no such edit in the journal
├── IndexBusy           another process owns the index
├── IndexUnusable       the catalog cannot be opened or written
│   ├── IndexDamaged    the catalog's file is damaged; it is set aside and the index rebuilt
│   └── IndexOutdated   an earlier version made the catalog; it is brought up to date by writing
├── EmbedderFailed      the embedding model or its process failed
├── VectorStoreFailed   the vector store or its process failed
├── ViewNotUnderstood   a part of a base or of a Dataview query is not understood
├── ViewTooLong         a base or query takes too much work
├── RerankerFailed      the reranking model or its process failed
├── ChildDied           a child process ended; the caller restarts it
└── ChildRefused        a child process answered with an error

Every message is one sentence for the user, ending with a solution if there is one.
"""


class VaultError(Exception):
    """Base class of the exceptions in this package."""


class VaultMissing(VaultError):
    """The vault's folder does not exist, or its drive is not mounted."""


class VaultUnreadable(VaultError):
    """The vault's folder exists but cannot be read because of its permissions."""


class NoteUnreadable(VaultError):
    """A note cannot be read as text.

    Attributes:
        path: the note, relative to the vault.
        reason: a short reason, suitable for a list.
    """

    def __init__(self, path: str, reason: str):
        super().__init__(f"The note {path} cannot be read: {reason}.")
        self.path = path
        self.reason = reason


class ReadingFailed(VaultError):
    """The content of a file cannot be read as text.

    Code that knows the path raises `NoteUnreadable` instead.

    Attributes:
        reason: a short reason, suitable for a list.
    """

    def __init__(self, reason: str):
        super().__init__(f"The file cannot be read: {reason}.")
        self.reason = reason


class NoteExcluded(VaultError):
    """A note must not be given to a model, because it is excluded or private.

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
    """A path is outside of the vault, directly or through a symbolic link."""


class EditRefused(VaultError):
    """An edit to a note is impossible or not allowed. The message suggests what to do."""


class EditOutdated(VaultError):
    """A note has changed since an edit was proposed. Nothing was written.

    Attributes:
        path: the note, relative to the vault.
    """

    def __init__(self, path: str):
        super().__init__(f"{path} changed after this edit was proposed. Nothing was written.")
        self.path = path


class EditFailed(VaultError):
    """An edit or an undo could not be written to disk."""


class UndoRefused(VaultError):
    """An edit cannot be undone, because it is unknown or a note has changed since.

    Attributes:
        paths: the notes that have changed since the edit.
    """

    def __init__(self, message: str, paths: tuple[str, ...] = ()):
        super().__init__(message)
        self.paths = paths


class EditUnknown(UndoRefused):
    """The journal of edits has no run or edit with the given id, or none that can be undone."""


class IndexBusy(VaultError):
    """Another process owns and updates the index."""


class IndexUnusable(VaultError):
    """The catalog cannot be opened or written."""


class DiskFull(IndexUnusable):
    """There is no space left for the catalog. It is unchanged."""


class IndexOutdated(IndexUnusable):
    """An earlier version of Strata made the catalog; writing brings it up to date."""


class IndexDamaged(IndexUnusable):
    """The catalog's database file is damaged."""


class EmbedderFailed(VaultError):
    """The embedding model is damaged, or its process ended and could not be restarted."""


class ViewNotUnderstood(VaultError):
    """A part of a base or of a Dataview query is not understood.

    Attributes:
        part: the part, as it is written.
    """

    def __init__(self, part: str):
        shown = part if len(part) <= 80 else f"{part[:79].rstrip()}…"
        super().__init__(f"{shown} is not understood.")
        self.part = shown


class ViewTooLong(VaultError):
    """A base or query takes too much work."""

    def __init__(self) -> None:
        super().__init__(
            "This takes too much work, so it is not shown. Filter it, or use fewer formulas."
        )


class RerankerFailed(VaultError):
    """The reranking model cannot be used. The order of passages is unchanged."""


class VectorStoreFailed(VaultError):
    """The vector store is broken, or its process ended.

    Searches then scan the catalog's vectors.
    """


class ChildDied(VaultError):
    """A child process ended, or was killed after a timeout."""


class ChildRefused(VaultError):
    """A child process answered with an error."""
