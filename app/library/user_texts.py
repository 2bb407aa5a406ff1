"""The user's instructions and long-term memories, which are part of every request.

Each is a plain text file next to the settings.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.errors import InvalidRequest, storage_errors
from app.library.forgotten import ForgottenLines
from context.layers import Layer, Segment
from resources.system.files import (
    flush_file,
    make_private_folder,
    read_file,
    remove_synced,
    write_atomically,
)
from vault.errors import ReadingFailed
from vault.notes.encodings import decode_text, normalize_line_ends

__all__ = ["INSTRUCTIONS", "MEMORIES", "MOST_CHARS", "UserText", "UserTextFile", "UserTextKind"]

MOST_CHARS: Final = 16_000  # about 4,000 tokens in every request
_MOST_BYTES: Final = 4 * MOST_CHARS + 4  # for any encoding, including a byte-order mark


@dataclass(frozen=True)
class UserTextKind:
    """A kind of user text, such as instructions or memories.

    Attributes:
        section: the name of the prompt section, which is also the id of the segment.
        noun: the plural noun in messages to the user, such as "memories".
    """

    section: str
    noun: str


INSTRUCTIONS: Final = UserTextKind("user_instructions", "instructions")
MEMORIES: Final = UserTextKind("long_term_memories", "memories")


@dataclass(frozen=True)
class UserText:
    """The current text of the user's instructions or memories.

    Attributes:
        path: the file.
        text: the text, or an empty string if the file is missing or unreadable.
        digest: the SHA-256 hash of the file, or an empty string if it was not read.
        problem: why the text is not sent to models, or an empty string.
        kind: whether the text contains instructions or memories.
    """

    path: Path
    text: str = ""
    digest: str = ""
    problem: str = ""
    kind: UserTextKind = INSTRUCTIONS

    def segment(self) -> Segment | None:
        """Return the text as a segment for the system message.

        Return None if the text is blank or cannot be sent.
        """
        if self.problem or not self.text.strip():
            return None
        return Segment.build(
            id=self.kind.section,
            layer=Layer.L1,
            kind="file",
            source=str(self.path),
            text=self.text,
            version=self.digest,
            title=self.path.name,
        )


class UserTextFile:
    """The file with the user's instructions or memories. Thread-safe."""

    def __init__(
        self,
        path: Path,
        kind: UserTextKind = INSTRUCTIONS,
        forgotten: ForgottenLines | None = None,
    ) -> None:
        """Use the text in a file, which need not exist.

        Args:
            path: the file.
            kind: the kind of text.
            forgotten: records the lines that the user takes out, or None if nobody needs to know.
        """
        self.path = path
        self._forgotten = forgotten
        self._kind = kind

    def read(self) -> UserText:
        """Read the text in the file. Errors are reported in the result's `problem`."""
        noun = self._kind.noun
        try:
            data = read_file(self.path, _MOST_BYTES + 1)
            text = normalize_line_ends(decode_text(data).text)
        except FileNotFoundError:
            return UserText(self.path, kind=self._kind)
        except (OSError, ReadingFailed) as error:
            reason = getattr(error, "strerror", None) or str(error)
            problem = f"Your {noun} in {self.path} cannot be read: {reason}."
            return UserText(
                self.path, problem=f"{problem} Models are not given them.", kind=self._kind
            )
        digest = hashlib.sha256(data).hexdigest()
        problem = ""
        if len(text) > MOST_CHARS or len(data) > _MOST_BYTES:
            problem = (
                f"Your {noun} in {self.path} are longer than {MOST_CHARS:,} characters. "
                "Models are not given them until they are shorter."
            )
        return UserText(self.path, text, digest, problem, self._kind)

    def flush(self) -> None:
        """Flush what is in the file, or that there is none: who wrote it may have failed to.

        Raises:
            StorageFailed: the file cannot be flushed.
        """
        with storage_errors(self.path):
            flush_file(self.path)

    def write(self, text: str) -> None:
        """Replace the text in the file. A blank text removes the file.

        Raises:
            InvalidRequest: the text is too long.
            StorageFailed: the file cannot be written.
        """
        if len(text) > MOST_CHARS:
            noun = self._kind.noun
            raise InvalidRequest(
                f"{noun.capitalize()} may have {MOST_CHARS:,} characters, and these have "
                f"{len(text):,}.",
                hint="Shorten them. Attach long texts to the message that needs them.",
            )
        with storage_errors(self.path):
            if self._forgotten is None:
                self._replace(text)
                return
            with self._forgotten.record_change(self.read().text, text):
                self._replace(text)

    def _replace(self, text: str) -> None:
        if not text.strip():
            remove_synced(self.path)
            return
        make_private_folder(self.path.parent)
        write_atomically(self.path, text.encode("utf-8", "replace"))
