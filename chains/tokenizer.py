"""Count tokens with the encodings that ship with litellm.

OpenAI models use their own encoding. For other models, whose tokenizers are unknown, all encodings
are tried and the largest count is used.

Reasons: ARCHITECTURE.md, "Counting".
"""

import hashlib
import importlib.util
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chains.llm.image_tokens import ImageRule, count_image, find_image_rule
from context.tokens import ByteEstimator, TokenCounter

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["EncodingCounter", "load_counter", "load_tiktoken"]

_importing = threading.Lock()

PIECE_CHARS: Final = 16_000
# The last characters of a piece that are searched for a cut that no token can span.
CUT_SEARCH_CHARS: Final = 2_000
# A text that is shortened until it fits is counted many times, and mostly has the same pieces.
REMEMBERED_PIECES: Final = 512

# Each encoding: the file name in tiktoken's cache, and the SHA-256 hash of its content.
ENCODING_FILES: Final = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "p50k_base": (
        "ec7223a39ce59f226a68acc30dc1af2788490e15",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
}
OPENAI_PROVIDERS: Final = frozenset({"openai", "azure"})

_loading = threading.RLock()


class EncodingCounter:
    """A token counter that tries one or more encodings, and returns the largest count.

    Attributes:
        is_exact: whether the encoding is the model's own.
        message_overhead: the number of extra tokens per message.
        part_overhead: the number of extra tokens per message part.
    """

    name: str
    is_exact: bool
    message_overhead: int
    part_overhead: int

    def __init__(
        self,
        encodings: Sequence["Encoding"],
        *,
        is_exact: bool,
        image_rule: ImageRule | None = None,
    ) -> None:
        names = ", ".join(encoding.name for encoding in encodings)
        self.name = names if len(encodings) == 1 else f"largest of {names}"
        self.is_exact = is_exact
        self.message_overhead = 4 if is_exact else 8
        self.part_overhead = 0 if is_exact else 3
        self._encodings = tuple(encodings)
        self._image_rule = image_rule

    def count(self, text: str) -> int:
        """Count the tokens of a text. Special tokens are counted as ordinary text."""
        return max(_count(encoding, text) for encoding in self._encodings)

    def count_image(self, data: str) -> int:
        """Count the tokens of a base64 image, using the provider's rule."""
        return count_image(data, self._image_rule)


def load_counter(model: str) -> TokenCounter:
    """Return a model's token counter.

    Loading an encoding for the first time takes a few tenths of a second.
    """
    own, rule = _own_encoding(model), find_image_rule(model)
    with _loading:
        if own is not None and (encoding := _load(own)) is not None:
            return _exact(encoding, rule)
        return _largest(rule)


@cache
def _exact(encoding: "Encoding", rule: ImageRule | None) -> TokenCounter:
    return EncodingCounter([encoding], is_exact=True, image_rule=rule)


@cache
def _largest(rule: ImageRule | None) -> TokenCounter:
    found = [encoding for name in ENCODING_FILES if (encoding := _load(name)) is not None]
    if not found:
        return ByteEstimator()
    return EncodingCounter(found, is_exact=False, image_rule=rule)


def load_tiktoken() -> None:
    """Import tiktoken completely, in one thread at a time.

    litellm imports it too. If two threads import its modules in different orders, Python may expose
    a partially initialized module.
    """
    with _importing:
        import tiktoken
        import tiktoken.model  # noqa: F401


def _own_encoding(model: str) -> str | None:
    load_tiktoken()
    from tiktoken.model import encoding_name_for_model

    *prefix, name = model.split("/")
    if prefix and prefix[-1] not in OPENAI_PROVIDERS:
        return None
    try:
        encoding = encoding_name_for_model(name)
    except KeyError:
        return None
    return encoding if encoding in ENCODING_FILES else None


@cache
def _load(name: str) -> "Encoding | None":
    load_tiktoken()
    import tiktoken

    folder = _encodings_folder()
    file_name, content_hash = ENCODING_FILES[name]
    # tiktoken would download a missing or damaged file, so the hash is checked first.
    if folder is None or _hash_file(folder / file_name) != content_hash:
        return None
    with _cache_folder(folder):
        return tiktoken.get_encoding(name)


def _encodings_folder() -> Path | None:
    """Find litellm's folder of encodings without importing litellm, which would take seconds."""
    spec = importlib.util.find_spec("litellm")
    for location in (spec and spec.submodule_search_locations) or ():
        folder = Path(location, "litellm_core_utils", "tokenizers")
        if folder.is_dir():
            return folder
    return None


def _hash_file(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


@contextmanager
def _cache_folder(folder: Path) -> Iterator[None]:
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def _count(encoding: "Encoding", text: str) -> int:
    if len(text) <= PIECE_CHARS:
        return len(encoding.encode_ordinary(text))
    return sum(_count_piece(encoding.name, piece) for piece in _split_text(text))


@lru_cache(REMEMBERED_PIECES)
def _count_piece(name: str, piece: str) -> int:
    encoding = _load(name)
    assert encoding is not None
    return len(encoding.encode_ordinary(piece))


# In front of a single blank between words, or behind a single line end in front of one.
_SAFE_CUT: Final = re.compile(r"(?<=[^\W_])(?= [^\W_])|(?<=\S\n)(?=[^\W_])")


def _split_text(text: str) -> Iterator[str]:
    """Split a long text into pieces whose token counts add up to that of the text.

    The pieces at the beginning of two texts are the same as far as the texts are. A very long text
    without a suitable blank or line end is split anywhere, which may change the sum slightly.
    """
    start = 0
    while len(text) - start > PIECE_CHARS:
        end = start + PIECE_CHARS
        cuts = [match.start() for match in _SAFE_CUT.finditer(text, end - CUT_SEARCH_CHARS, end)]
        end = cuts[-1] if cuts else end
        yield text[start:end]
        start = end
    yield text[start:]
