"""The errors of a vault and its index.

VaultError
├── VaultMissing        the folder is not there, or its drive is not mounted
├── VaultUnreadable     it is there, but may not be read
├── NoteUnreadable      one note cannot be read as text
├── ReadingFailed       why no text comes of some bytes, before the note is named
├── NoteExcluded        a note that is kept away from models
├── UnsafePath          a path that would leave the vault
├── IndexBusy           another process owns the index
├── IndexUnusable       the catalog cannot be opened or written
│   └── IndexDamaged    its file is damaged; it is set aside and the index made anew
├── EmbedderFailed      the embedding model or its process
├── VectorStoreFailed   the vector store or its process
├── RerankerFailed      the model that puts passages in order, or its process
├── ChildDied           a child process ended; whoever uses it starts it anew
└── ChildRefused        a child process answered with an error

Every message is one sentence for a person, ending with a way out where there is one.
"""


class VaultError(Exception):
    """Any failure of the vault package."""


class VaultMissing(VaultError):
    """The vault's folder is not there."""


class VaultUnreadable(VaultError):
    """The vault's folder is there but may not be read."""


class NoteUnreadable(VaultError):
    """One note cannot be read as text.

    Attributes:
        path: the note, relative to the vault.
        reason: why, in a few words that can stand in a list beside the path.
    """

    def __init__(self, path: str, reason: str):
        super().__init__(f"The note {path} cannot be read: {reason}.")
        self.path = path
        self.reason = reason


class ReadingFailed(VaultError):
    """The bytes of a file cannot be read as text; `NoteUnreadable` names the note.

    Attributes:
        reason: a few words that can stand in a list beside the path.
    """

    def __init__(self, reason: str):
        super().__init__(f"The file cannot be read: {reason}.")
        self.reason = reason


class NoteExcluded(VaultError):
    """A note that is kept away from models, by a pattern or by its own mark.

    Attributes:
        path: the note, relative to the vault.
        rule: what keeps it out.
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
    """A path that is not inside the vault, or would lead out of it."""


class IndexBusy(VaultError):
    """Another process owns this index and brings it up to date."""


class IndexUnusable(VaultError):
    """The catalog cannot be opened or written."""


class IndexDamaged(IndexUnusable):
    """The catalog's file is damaged."""


class EmbedderFailed(VaultError):
    """The embedding model is damaged, or its process ended and could not be restarted."""


class RerankerFailed(VaultError):
    """The model that puts passages in order cannot be used; their order stays as it was found."""


class VectorStoreFailed(VaultError):
    """The vector store is broken, or its process ended; search goes on without it."""


class ChildDied(VaultError):
    """A child process ended, or did not answer in time and was ended."""


class ChildRefused(VaultError):
    """A child process answered a request with an error."""
