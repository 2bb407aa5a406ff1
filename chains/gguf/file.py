"""Describe a GGUF model file: name, context length and memory requirements.

Everything is read from the file header, without the library that runs the model. Descriptions are
cached until the file changes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final

from chains.errors import LocalModelFailed
from chains.gguf.header import BadModelFile, FileHeader, ListLength, read_header
from chains.llm.port import Endpoint

__all__ = [
    "PREFIX",
    "FindFree",
    "ModelFile",
    "find_path",
    "format_size",
    "make_name",
    "read_model_file",
    "require_memory",
    "shorten_name",
]

# The smallest value of the setting `chat.localContext`.
LEAST_CONTEXT: Final = 2_048
# Returns the free memory in bytes, or None if it is unknown.
FindFree = Callable[[], int | None]

# A model's name in the settings is this prefix and the path of its file.
PREFIX: Final = "gguf/"

BATCH_TOKENS: Final = 512  # the number of tokens that the library computes together
BYTES_PER_RESULT: Final = 4
BYTES_PER_KEPT_VALUE: Final = 2
LIBRARY_BYTES: Final = 100_000_000
MOST_NAME_CHARS: Final = 80
_PART: Final = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
# In these model families, only every nth layer attends to the whole context. The others use a
# sliding window.
_WHOLE_EACH: Final = {"cohere2": 4, "gemma2": 2, "gemma3": 6, "gpt-oss": 2}
# Files that cannot answer: components of vision models, adapters, and embedding models.
_OTHER_KINDS: Final = {"adapter": "an adapter for a model", "mmproj": "a part of a model that sees"}
_EMBEDDERS: Final = re.compile(r"bert|^clip$|^t5encoder$|embedding")


@dataclass(frozen=True)
class ModelFile:
    """A model file, as described by its header.

    Attributes:
        name: the name of the model, or of the file if the header contains no name.
        context_length: the context length that the model was trained for, in tokens.
        size_bytes: the size of all files of the model.
        token_bytes: the memory that each token of context needs.
        window_bytes: the memory for layers with a sliding attention window.
        work_bytes: the memory for intermediate results.
        takes_tools: whether the model's prompt template supports tools.
        changed_ns: the modification time of the file, in nanoseconds since 1970.
    """

    path: Path
    name: str
    context_length: int
    size_bytes: int
    token_bytes: int
    window_bytes: int
    work_bytes: int
    takes_tools: bool
    changed_ns: int

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint of the model. Its address is empty until the file is loaded."""
        return Endpoint(
            wire_name=f"openai/{self.path.stem}",
            provider="gguf",
            api_base="",
            host="127.0.0.1",
            service=self.name,
            is_local=True,
            needs_key=False,
        )

    def count_context_bytes(self, context: int) -> int:
        """Return the memory that a context of `context` tokens needs, in bytes."""
        return self.token_bytes * context + self.window_bytes

    def count_needed_bytes(self, context: int) -> int:
        """Return the memory that the model and its context need, in bytes."""
        return self.size_bytes + self.count_context_bytes(context) + self.work_bytes


def make_name(path: Path) -> str:
    """Return the name to use for a model file in the setting `chat.model`."""
    return f"{PREFIX}{path}"


def shorten_name(model: str) -> str:
    """Return a model's name without the folders and the suffix of a model file.

    Other names are returned as they are. llama.cpp's server reports the path of its file as the
    name of the model.
    """
    is_file = model.lower().endswith(".gguf")
    return re.split(r"[/\\]", model)[-1][: -len(".gguf")] if is_file else model


def find_path(model: str) -> Path | None:
    """Return the file path in a model name, or None if the name does not denote a file."""
    if not model.startswith(PREFIX):
        return None
    return Path(model.removeprefix(PREFIX)).expanduser()


def read_model_file(path: Path) -> ModelFile:
    """Read the description of a model file.

    Raises:
        BadModelFile: the file is missing, damaged or incomplete, or not a chat model.
    """
    if not path.is_absolute():
        raise BadModelFile("is not a whole path: write it from the root, as in gguf//home/me/FILE")
    try:
        parts = _list_parts(path)
        found = [part.stat() for part in parts]
    except OSError as error:
        raise BadModelFile(_explain(error)) from error
    if not all(S_ISREG(one.st_mode) for one in found):  # opening a pipe would never end
        raise BadModelFile("is not a file")
    changed_ns, size = max(one.st_mtime_ns for one in found), sum(one.st_size for one in found)
    result = _read(path, found[0].st_size, size, changed_ns)
    if isinstance(result, str):
        raise BadModelFile(result)
    return result


def _list_parts(path: Path) -> list[Path]:
    """Return all files of a multi-part model, starting with the given one."""
    match = _PART.search(path.name)
    if match is None:
        return [path]
    if int(match[1]) != 1:
        raise BadModelFile("is a later part of a model: open its first part")
    start = path.name[: match.start()]
    numbers = range(2, min(int(match[2]), 1_000) + 1)
    others = [path.with_name(f"{start}-{number:05d}-of-{match[2]}.gguf") for number in numbers]
    if missing := [other.name for other in others if not other.exists()]:
        raise BadModelFile(f"is one part of a model, and {missing[0]} is not beside it")
    return [path, *others]


@lru_cache(maxsize=64)
def _read(path: Path, first_bytes: int, size: int, changed_ns: int) -> ModelFile | str:
    """Read the description of a model file, or return a clause that says why it cannot be used.

    Args:
        path: the first file of the model.
        first_bytes: the size of the first file in bytes.
        size: the size of all files of the model in bytes.
        changed_ns: the modification time of the file. It is part of the cache key, so a changed
            file is read again.
    """
    try:
        with path.open("rb") as file:
            header = read_header(file, first_bytes)
        _require_complete(header, first_bytes)
        return _describe(path, header, size, changed_ns)
    except OSError as error:
        return _explain(error)
    except BadModelFile as error:
        return str(error)


def _require_complete(header: FileHeader, size: int) -> None:
    if size < header.least_bytes:
        file_mb, least_mb = size / 1e6, header.least_bytes / 1e6
        raise BadModelFile(
            f"is incomplete: it has {file_mb:,.1f} MB, "
            f"and more than {least_mb:,.1f} MB belong to it"
        )


def _describe(path: Path, header: FileHeader, size: int, changed_ns: int) -> ModelFile:
    fields = header.fields
    family = _read_text(fields, "general.architecture")
    kind = _OTHER_KINDS.get(_read_text(fields, "general.type"))
    if kind is not None or _EMBEDDERS.search(family):
        raise BadModelFile(f"is {kind or 'a model for other tasks'}, and cannot answer")
    shape = _Shape(fields, family)
    context, vocabulary = shape.read("context_length"), fields.get("tokenizer.ggml.tokens")
    if not isinstance(vocabulary, tuple | ListLength) or context < 1:
        raise BadModelFile("does not hold a whole language model")
    words = vocabulary.count if isinstance(vocabulary, ListLength) else len(vocabulary)
    whole, window = shape.count_token_bytes()
    name = " ".join(_read_text(fields, "general.name").split())
    results = BATCH_TOKENS * BYTES_PER_RESULT * (words + 4 * shape.read("embedding_length"))
    return ModelFile(
        path,
        name[:MOST_NAME_CHARS] if name.isprintable() and name else path.stem,
        context,
        size,
        whole,
        window * (shape.window + BATCH_TOKENS),
        results + LIBRARY_BYTES,
        "tools" in _read_text(fields, "tokenizer.chat_template"),
        changed_ns,
    )


class _Shape:
    """The header values that determine how much memory a model's layers need.

    Attributes:
        window: the number of tokens that a sliding attention window covers.
    """

    def __init__(self, fields: Mapping[str, Any], family: str) -> None:
        self._fields, self._family = fields, family
        self.window = self.read("attention.sliding_window")

    def read(self, name: str) -> int:
        """Read a number that is specific to the model architecture. Return 0 if it is missing."""
        found = self._fields.get(f"{self._family}.{name}")
        return found if isinstance(found, int) and found > 0 else 0

    def count_token_bytes(self) -> tuple[int, int]:
        """Return the memory that one token of context needs.

        Returns:
            The bytes in layers with full attention, and the bytes in layers with a sliding window.
        """
        heads = self.read("attention.head_count")
        width = self.read("embedding_length") // heads if heads else 0
        keys = self.read("attention.key_length") or width
        values = self.read("attention.value_length") or width
        bytes_per_head = (keys + values) * BYTES_PER_KEPT_VALUE
        whole = window = 0
        for layer in range(min(self.read("block_count"), 10_000)):
            size = self._count_heads(layer) * bytes_per_head
            if self._has_window(layer):
                window += size
            else:
                whole += size
        return whole, window

    def _count_heads(self, layer: int) -> int:
        found = self._fields.get(f"{self._family}.attention.head_count_kv")
        if isinstance(found, tuple) and layer < len(found):
            found = found[layer]
        if isinstance(found, int):
            return max(0, found)
        return self.read("attention.head_count")

    def _has_window(self, layer: int) -> bool:
        """Return whether a layer uses a sliding attention window."""
        if not self.window:
            return False
        listed = self._fields.get(f"{self._family}.attention.sliding_window_pattern")
        if isinstance(listed, tuple) and layer < len(listed):
            return bool(listed[layer])
        each = listed if isinstance(listed, int) else _WHOLE_EACH.get(self._family, 0)
        return bool(each) and (layer + 1) % each != 0


def _read_text(fields: Mapping[str, Any], name: str) -> str:
    found = fields.get(name)
    return found if isinstance(found, str) else ""


def _explain(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def require_memory(file: ModelFile, context: int, free_bytes: int | None) -> None:
    """Raise `LocalModelFailed` if a model does not fit into the available memory.

    Args:
        file: the model.
        context: the context length in tokens.
        free_bytes: the available memory, or None to skip the check.
    """
    needed = file.count_needed_bytes(context)
    if free_bytes is None or needed <= free_bytes:
        return
    raise LocalModelFailed(
        f"{file.name} needs {format_size(needed)} of memory with a context of {context:,} tokens, "
        f"and {format_size(free_bytes)} are free. {_find_way_out(file, context, free_bytes)}",
        service=file.name,
    )


def _find_way_out(file: ModelFile, context: int, free_bytes: int) -> str:
    spare = free_bytes - file.count_needed_bytes(0)
    fitting = spare // file.token_bytes if file.token_bytes else 0
    fitting -= fitting % 1_024
    if LEAST_CONTEXT <= fitting < context:
        return f"Close other programs, or set chat.localContext to at most {fitting:,}."
    return "Close other programs, or choose a smaller model."


def format_size(count: int) -> str:
    """Format a size, such as `4.7 GB`."""
    if count < 950_000_000:
        return f"{max(1, round(count / 1e6)):,} MB"
    return f"{count / 1e9:,.1f} GB"
