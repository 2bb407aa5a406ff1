"""Instructions for models in the vault's AGENTS.md, and the user's decision about them.

Anyone who can write to a vault can add an AGENTS.md, and models would follow it. Therefore, the
file is first shown to the user, who accepts or rejects it. The decision applies only to the exact
text shown. Each decision is stored in a small file that is named after the text's digest.
"""

import logging
import os
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from app.errors import storage_errors
from chains.request.project import INSTRUCTIONS_FILE
from context.fixes import Command
from context.layers import Layer, Segment
from resources.system.files import make_private_folder, write_atomically
from vault.errors import NoteExcluded, NoteUnreadable, UnsafePath
from vault.vault import Vault

__all__ = [
    "Decision",
    "InstructionDecisions",
    "VaultInstructions",
    "visible_text",
]

SECTION: Final = "vault_instructions"
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_VARIANTS: Final = frozenset(map(chr, range(0xE0100, 0xE01F0)))  # variation selectors
Decision = Literal["accepted", "refused"]
_DECISIONS: Final[Mapping[str, Decision]] = {"accepted": "accepted", "refused": "refused"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class VaultInstructions:
    """A vault's AGENTS.md, and the user's decision about it.

    Attributes:
        path: the path relative to the vault.
        text: the text of the file.
        digest: the digest of the text that the decision applies to.
        decision: the user's decision, or None if the user has not decided yet.
        project: the folder of the project that has the file, or None for the vault.
    """

    path: str
    text: str
    digest: str
    decision: Decision | None
    project: Path | None = None

    @property
    def accepted(self) -> bool:
        """Whether the user has accepted the instructions, so that they are sent to models."""
        return self.decision == "accepted"

    @property
    def visible_text(self) -> str:
        r"""The text with invisible characters escaped, such as `\u{200b}`.

        Models also read invisible characters, which could hide instructions from the user.
        """
        return visible_text(self.text)

    @property
    def shown_path(self) -> str:
        """The file as it is named to people, with whose it is where the path does not say so."""
        return self.path if Path(self.path).is_absolute() else f"{self.path} of these notes"

    @property
    def warning(self) -> str:
        """A sentence that asks the user to accept or refuse the file.

        This is an empty string if the user has already decided.
        """
        if self.decision is not None:
            return ""
        return (
            f"{self.shown_path} is not used yet: read it with {self.name_command('show')}, "
            f"then take it on with {self.name_command('accept')}, or refuse it."
        )

    def name_command(self, action: str) -> Command:
        """Return the command that shows, accepts or refuses the file, from any folder."""
        project = None if self.project is None else str(self.project)
        return Command("instructions", (action,), project)

    def segment(self, section: str = SECTION) -> Segment:
        """Return the instructions as a segment for the system message.

        Args:
            section: the name of the prompt section, which becomes the id of the segment.
        """
        return Segment.build(
            id=section,
            layer=Layer.L1,
            kind="note",
            source=self.path,
            text=self.text,
            version=self.digest,
            title=self.path,
        )


class InstructionDecisions:
    """Stores the user's decisions about AGENTS.md files by the digest of their text."""

    def __init__(self, folder: Path) -> None:
        """Use the decisions in a folder, which need not exist."""
        self._folder = folder

    def of(self, vault: Vault, path: str = INSTRUCTIONS_FILE) -> VaultInstructions | None:
        """Return a vault's AGENTS.md with the user's decision.

        Return None if the file is missing, blank, or excluded from models.

        Args:
            path: the path of the file. A project in the vault has its own AGENTS.md.

        Raises:
            NoteUnreadable: the file cannot be read as text.
        """
        if not os.path.lexists(vault.root / path):
            return None  # as in most vaults, whose exclude rules then need not be read for it
        try:
            note = vault.read_allowed(path)
        except (NoteExcluded, UnsafePath):
            return None
        except NoteUnreadable:
            if not (vault.root / path).exists():
                return None  # a link to nothing, or the file was deleted meanwhile
            raise
        if not note.text.strip():
            return None
        return VaultInstructions(
            note.path, note.text, note.version, self.find_decision(note.version)
        )

    def decide(self, digest: str, decision: Decision) -> None:
        """Store the user's decision about an AGENTS.md.

        Args:
            digest: the digest of the text that was shown to the user.
            decision: the user's decision.

        Raises:
            StorageFailed: the decision cannot be stored.
        """
        with storage_errors(self._folder):
            make_private_folder(self._folder)
            write_atomically(self._folder / digest, f"{decision}\n".encode())

    def find_decision(self, digest: str) -> Decision | None:
        """Return the user's decision about a text, by its digest, or None."""
        try:
            word = (self._folder / digest).read_text("utf-8").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            _log.warning("What was decided about AGENTS.md cannot be read: %s", error)
            return None
        return _DECISIONS.get(word)


def visible_text(text: str) -> str:
    r"""Escape invisible characters, for example as `\u{200b}`."""
    return "".join(_visible(sign) for sign in text)


def _visible(sign: str) -> str:
    is_unseen = unicodedata.category(sign) in _UNSEEN or sign in _VARIANTS
    return f"\\u{{{ord(sign):x}}}" if is_unseen and sign not in "\n\t" else sign
