"""Store an overlong message as a file that can be attached, or split the message.

Files are stored in folders named by content hash, so that equal content is stored only once. Pasted
images are stored in the same way. `LongTexts.sweep` removes files that no chat or draft refers to.
"""

import hashlib
import logging
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.errors import storage_errors
from chains.retrieval.map_reduce_plan import split_text
from chains.tokenizer import load_counter
from resources.system.files import make_private_folder, remove_tree, write_atomically

__all__ = ["LongTexts", "PastedText"]

LONGEST_REST: Final = 600  # in characters; a longer paragraph is part of the text
LONGEST_NAME: Final = 40
YOUNG_S: Final = 3_600  # a newer text may not be attached yet
_BLOCK: Final = 1 << 20
_DIGEST_CHARS: Final = 12
_FOLDER: Final = re.compile(rf"[0-9a-f]{{{_DIGEST_CHARS}}}")
_log = logging.getLogger(__name__)
_NO_NAME: Final = re.compile(r"[^\w \-]+")


@dataclass(frozen=True)
class PastedText:
    """A long message that was stored as a file.

    Attributes:
        path: the file.
        rest: the short question before or after the long text, which stays in the message, or an
            empty string.
    """

    path: Path
    rest: str


class LongTexts:
    """Stores or splits long texts, and stores pasted images.

    Args:
        folder: the folder for texts and images.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def as_file(self, text: str) -> PastedText:
        """Store a long message as a file.

        A short question at the start or end of the message is not stored, but stays in the message.

        Raises:
            StorageFailed: the file cannot be written.
        """
        body, rest = _split_question(text)
        file = self._store(body.encode("utf-8", "replace"), f"{_name(body)}.txt")
        return PastedText(file, rest)

    def store_image(self, data: bytes) -> Path:
        """Store a pasted image as a file.

        Args:
            data: the image as PNG.

        Raises:
            StorageFailed: the file cannot be written.
        """
        return self._store(data, "Pasted image.png")

    def _store(self, content: bytes, name: str) -> Path:
        folder = self._folder / hashlib.sha256(content).hexdigest()[:_DIGEST_CHARS]
        with storage_errors(folder / name):
            make_private_folder(folder)
            write_atomically(folder / name, content)
        return folder / name

    def sweep(self, referring: Iterable[Path]) -> tuple[str, ...]:
        """Remove unused texts and images, and return the names of the removed folders.

        Texts and images are unused if none of the given files refers to them. Recently stored ones
        are kept. If one of the given files cannot be read, nothing is removed.

        Args:
            referring: the files that may refer to stored texts and images: drafts, chats, and files
                with parts of chats.
        """
        try:
            unused = dict.fromkeys(self._old_folders())
            for file in referring if unused else ():
                for name in _find_names(file, tuple(unused)):
                    del unused[name]
                if not unused:
                    break
            for name in tuple(unused):
                if self._is_old(self._folder / name):  # it may have been attached again
                    remove_tree(self._folder / name)
        except OSError as error:
            _log.warning("Texts that were attached as files are not tidied up: %s", error)
            return ()
        return tuple(unused)

    def _old_folders(self) -> Iterator[str]:
        if self._folder.is_dir():
            for folder in sorted(self._folder.iterdir()):
                if _FOLDER.fullmatch(folder.name) and self._is_old(folder):
                    yield folder.name

    def _is_old(self, folder: Path) -> bool:
        return time.time() - folder.stat(follow_symlinks=False).st_mtime > YOUNG_S

    def split(self, text: str, most_tokens: int, model: str) -> tuple[str, ...]:
        """Split a message into several, between paragraphs if possible.

        Args:
            text: the message.
            most_tokens: the token limit of each new message.
            model: the model whose tokenizer is used.
        """
        parts = split_text(text, 1, most_tokens, load_counter(model))
        return tuple(stripped for part in parts if (stripped := part.text.strip("\n")))


def _find_names(file: Path, names: Iterable[str]) -> set[str]:
    """Return which of the given names occur in a file."""
    found: set[str] = set()
    rest = b""
    try:
        with file.open("rb") as opened:
            while block := opened.read(_BLOCK):
                text = rest + block
                found |= {name for name in names if name.encode() in text}
                rest = text[-_DIGEST_CHARS:]
    except FileNotFoundError:
        return set()
    return found


def _split_question(text: str) -> tuple[str, str]:
    """Separate a short question at the end or start of text from the rest.

    Return the rest, then the question, which is an empty string if there is none.
    """
    paragraphs = re.split(r"\n\s*\n", text.strip())
    last, first = paragraphs[-1], paragraphs[0]
    if len(paragraphs) > 1 and len(last) <= LONGEST_REST and not _asks(first):
        return text.strip()[: -len(last)].rstrip(), last
    if len(paragraphs) > 1 and len(first) <= LONGEST_REST:
        return text.strip()[len(first) :].lstrip(), first
    return text, ""


def _asks(paragraph: str) -> bool:
    return len(paragraph) <= LONGEST_REST and paragraph.rstrip().endswith(("?", ":", "？", "："))


def _name(text: str) -> str:
    """Build a file name from the first words of the text."""
    line = next((line for line in text.split("\n") if _NO_NAME.sub("", line).strip()), "")
    words = " ".join(_NO_NAME.sub(" ", line).split())
    return words[:LONGEST_NAME].strip() or "Pasted text"
