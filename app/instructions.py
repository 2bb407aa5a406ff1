"""AGENTS.md of the open notes: what its author wants models to do, used once the user agreed.

Whoever can write into a folder of notes can write this file, and a model follows it. So it is shown
first, and what was decided holds for exactly that text: a changed one is shown again. A decision is
a small file named after the text's digest.
"""

import logging
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from app.durable import write_atomically
from app.errors import storage_errors
from app.library import Library
from app.paths import make_private_folder
from context.layers import Layer, Segment
from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath

__all__ = ["Decision", "Instructions", "InstructionsBook"]

FILE_NAME: Final = "AGENTS.md"
SECTION: Final = "vault_instructions"
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_VARIANTS: Final = frozenset(map(chr, range(0xE0100, 0xE01F0)))  # they select glyphs of nothing
Decision = Literal["accepted", "refused"]
_DECISIONS: Final[Mapping[str, Decision]] = {"accepted": "accepted", "refused": "refused"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Instructions:
    """What the AGENTS.md of the notes says, and what the user has decided about it.

    Attributes:
        path: relative to the vault.
        digest: of the file; a decision holds for that content alone.
        decision: None as long as the user has not been asked.
    """

    path: str
    text: str
    digest: str
    decision: Decision | None

    @property
    def accepted(self) -> bool:
        """Whether models are given it."""
        return self.decision == "accepted"

    @property
    def visible_text(self) -> str:
        r"""The text as it is to be shown: what a reader could not see stands there as `\u{200b}`.

        A model reads such signs, so that something could be hidden in them from whoever decides.
        """
        return "".join(_visible(sign) for sign in self.text)

    @property
    def warning(self) -> str:
        """Why it is not used, and how to change that; empty where that is settled."""
        if self.decision is not None:
            return ""
        return (
            f"{self.path} of these notes is not used yet: read it with `strata instructions show`, "
            "then take it on with `strata instructions accept`, or refuse it."
        )

    def segment(self) -> Segment:
        """Return it as a segment of L1."""
        return Segment.build(
            id=SECTION,
            layer=Layer.L1,
            kind="note",
            source=self.path,
            text=self.text,
            version=self.digest,
            title=self.path,
        )


class InstructionsBook:
    """Knows what was decided about which text."""

    def __init__(self, folder: Path) -> None:
        """Name the folder of the decisions; it need not exist."""
        self._folder = folder

    def of(self, library: Library) -> Instructions | None:
        """Return the instructions of a folder of notes; None where it has none for models.

        Raises:
            NoteUnreadable: it has some that cannot be read as text.
        """
        try:
            note = library.read_allowed(FILE_NAME)
        except (NoteExcluded, UnsafePath):
            return None
        except NoteUnreadable:
            if not (library.root / FILE_NAME).exists():
                return None
            raise
        if not note.text.strip():
            return None
        return Instructions(note.path, note.text, note.version, self._decision(note.version))

    def decide(self, digest: str, decision: Decision) -> None:
        """Keep what the user decided about a text.

        Raises:
            StorageFailed: it cannot be kept.
        """
        with storage_errors(self._folder):
            make_private_folder(self._folder)
            write_atomically(self._folder / digest, f"{decision}\n".encode())

    def _decision(self, digest: str) -> Decision | None:
        try:
            word = (self._folder / digest).read_text("utf-8").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            _log.warning("What was decided about AGENTS.md cannot be read: %s", error)
            return None
        return _DECISIONS.get(word)


def _visible(sign: str) -> str:
    is_unseen = unicodedata.category(sign) in _UNSEEN or sign in _VARIANTS
    return f"\\u{{{ord(sign):x}}}" if is_unseen and sign not in "\n\t" else sign
