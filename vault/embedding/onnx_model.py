"""Embedding models in ONNX form, which do not need torch. The only user of onnxruntime.

The packaged model is opened from its package. A model that the user has chosen is exported once per
computer, after the first indexing run. The file name depends on the model's stamp. A second file
contains a checksum, the tokenizer and the prompts. If the exported model's vectors differ from the
original's, the export is not used.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from resources.system.calls import rename_path
from resources.system.files import make_private_folder, remove_if_there, write_atomically
from vault.embedding.models import MAX_TOKENS, PAD_ID, PAD_TOKEN
from vault.embedding.packaged_graph import INPUTS, build_packaged_graph

MIN_COSINE: Final = 0.9999
# Fifty texts of different lengths, scripts and kinds, with which the vectors are compared.
CHECKED_TEXTS: Final = tuple(
    f"{text} {number} " * (1 + number % 7)
    for number in range(5)
    for text in (
        "the committee discussed the budget and agreed to meet again",
        "how do I list every file of a folder, newest first?",
        "| hash | size | base fee |",
        "Grüße aus München, привет, 你好",
        "def read(path): return path.read_text()",
        "# Backups",
        "water the beds before eight in the morning",
        "2024-03-05 call the plumber",
        "it's 3.5 % of 1,204 €",
        "a",
    )
)
_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
_CHECKED_AT_ONCE = 10  # since memory grows with the size of a batch

Encode = Callable[[Sequence[str], bool], Any]


@dataclass(frozen=True, slots=True)
class OnnxDetails:
    """The data that an ONNX model needs in addition to its graph.

    Attributes:
        inputs: the names of the graph's inputs, in order.
        max_tokens: the token limit. Longer texts are truncated.
        tokenizer: the tokenizer as JSON.
        pad_id: the id of the padding token.
        pad_token: the text of the padding token.
        prompts: the text put before each passage, and the text put before each query.
    """

    inputs: tuple[str, ...]
    max_tokens: int
    tokenizer: str
    pad_id: int
    pad_token: str
    prompts: tuple[str, str] = ("", "")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "OnnxDetails":
        """Build the details from JSON.

        Raises:
            KeyError, TypeError, ValueError: the JSON is damaged.
        """
        passage, query = data["prompts"]
        return cls(
            tuple(map(str, data["inputs"])),
            int(data["max_tokens"]),
            str(data["tokenizer"]),
            int(data["pad_id"]),
            str(data["pad_token"]),
            (str(passage), str(query)),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the details as JSON."""
        return {
            "inputs": list(self.inputs),
            "max_tokens": self.max_tokens,
            "tokenizer": self.tokenizer,
            "pad_id": self.pad_id,
            "pad_token": self.pad_token,
            "prompts": list(self.prompts),
        }


class OnnxModel:
    """A loaded ONNX embedding model.

    Attributes:
        details: the input names, tokenizer and prompts.
    """

    def __init__(self, graph: Path | bytes, details: OnnxDetails, weights: Path | None = None):
        """Load the graph and the tokenizer of the model.

        Args:
            graph: the ONNX file with its weights, or a serialised graph without weights.
            details: the input names, tokenizer and prompts.
            weights: the folder of the weights to which a serialised graph refers.
        """
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # The arena would keep the memory of the largest batch until the process ends.
        options.enable_cpu_mem_arena = False
        if weights is not None:
            options.add_session_config_entry(_WEIGHTS_FOLDER, str(weights))
        source = str(graph) if isinstance(graph, Path) else graph
        self._session = onnxruntime.InferenceSession(
            source, options, providers=["CPUExecutionProvider"]
        )
        self.details = details
        self._tokenizer = Tokenizer.from_str(details.tokenizer)
        self._tokenizer.enable_truncation(details.max_tokens)
        self._tokenizer.enable_padding(pad_id=details.pad_id, pad_token=details.pad_token)

    def encode(self, texts: Sequence[str], is_query: bool = False) -> Any:
        """Embed texts, and return one float32 vector of unit length for each.

        Args:
            texts: the texts to embed.
            is_query: whether the texts are queries, which may need another prompt than passages.
        """
        import numpy as np

        prompt = self.details.prompts[is_query]
        encoded = self._tokenizer.encode_batch([f"{prompt}{text}".strip() for text in texts])
        columns = {
            "input_ids": [text.ids for text in encoded],
            "attention_mask": [text.attention_mask for text in encoded],
            "token_type_ids": [text.type_ids for text in encoded],
        }
        fed = {name: np.array(columns[name], dtype=np.int64) for name in self.details.inputs}
        return self._session.run(None, fed)[0].astype(np.float32)


def open_packaged_model(folder: Path) -> OnnxModel:
    """Open the packaged model from its package's files.

    Args:
        folder: the model's folder.

    Raises:
        OSError, KeyError, ValueError: a file is missing or damaged.
    """
    tokenizer = (folder / "tokenizer.json").read_text("utf-8")
    details = OnnxDetails(INPUTS, MAX_TOKENS, tokenizer, PAD_ID, PAD_TOKEN)
    return OnnxModel(build_packaged_graph(folder), details, folder)


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """The two files of an ONNX model.

    Attributes:
        graph: the graph with its weights.
        details: a JSON file with the graph's checksum and the model's details.
    """

    graph: Path
    details: Path

    @classmethod
    def locate(cls, folder: Path, stamp: str) -> "OnnxFiles":
        """Return the paths of the two files of an ONNX model.

        Args:
            folder: the cache folder.
            stamp: the name and fingerprint of the embedding model.
        """
        name = hashlib.sha256(stamp.encode()).hexdigest()[:16]
        return cls(folder / f"{name}.onnx", folder / f"{name}.onnx.json")

    @property
    def is_refused(self) -> bool:
        """Whether the exported model was rejected because its vectors are not accurate enough."""
        return bool(_read_json(self.details).get("refused"))

    def remove(self) -> None:
        """Remove the files, if possible."""
        with suppress(OSError):
            remove_if_there(self.graph)
            remove_if_there(self.details)

    def load(self) -> OnnxModel | None:
        """Load the ONNX model, or return None if it is missing or damaged."""
        known = _read_json(self.details)
        try:
            with self.graph.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != known["sha256"]:
                return None
            return OnnxModel(self.graph, OnnxDetails.from_json(known))
        except (OSError, KeyError, TypeError, ValueError):
            return None

    def store(
        self, export: Callable[[Path], None], details: OnnxDetails, encode: Encode
    ) -> OnnxModel | None:
        """Export a model to ONNX, and keep it if its vectors are correct.

        Args:
            export: writes the graph to a file.
            details: the details of the model.
            encode: embeds texts with the original model, for comparison.

        Returns:
            The loaded ONNX model, or None if its vectors differ.

        Raises:
            OSError: the files cannot be written.
        """
        make_private_folder(self.graph.parent)
        for left_over in self.graph.parent.glob(f"{self.graph.name}.new-*"):
            remove_if_there(left_over)
        new = self.graph.with_name(f"{self.graph.name}.new-{os.getpid()}")
        try:
            export(new)
            new.chmod(0o600)
            model = OnnxModel(new, details)
            if not are_vectors_equal(model.encode, encode):
                _write_json(self.details, {"refused": "its vectors differ"})
                return None
            with new.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            rename_path(new, self.graph)
            _write_json(self.details, {"sha256": digest, **details.to_json()})
            return model
        finally:
            remove_if_there(new)


def are_vectors_equal(encode: Encode, reference: Encode) -> bool:
    """Return whether two encoders give nearly equal vectors for the same sample texts."""
    for is_query in (False, True):
        for first in range(0, len(CHECKED_TEXTS), _CHECKED_AT_ONCE):
            texts = CHECKED_TEXTS[first : first + _CHECKED_AT_ONCE]
            pairs = encode(texts, is_query) * reference(texts, is_query)
            if pairs.sum(axis=1).min() <= MIN_COSINE:
                return False
    return True


def _read_json(file: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        data = json.loads(file.read_text("utf-8"))
        if isinstance(data, dict):
            return data
    return {}


def _write_json(file: Path, data: Mapping[str, Any]) -> None:
    write_atomically(file, json.dumps(data).encode("ascii"))
