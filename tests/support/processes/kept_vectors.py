"""Keep the vectors of the packaged embedding model for all processes of a test run.

Hundreds of tests index the same few notes, and each in a process of its own. The first one that
embeds a text computes its vector with the real model. The others read it from a file.
"""

import hashlib
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from vault.embedding import onnx_model
from vault.embedding.onnx_model import OnnxDetails, OnnxModel


class KeepingModel(OnnxModel):
    """A model that is opened only for texts that no process of this run has embedded before."""

    folder: Path

    def __init__(
        self, graph: Path | bytes, details: OnnxDetails, weights: Path | None = None
    ) -> None:
        """Open another model than the packaged one, which alone has weights, at once."""
        self.details = details
        self._open = partial(super().__init__, graph, details, weights)
        self._is_open, self._is_packaged = False, weights is not None
        if not self._is_packaged:
            self._open()

    def encode(self, texts: Sequence[str], is_query: bool = False) -> Any:
        """Embed the texts that are new, and read the vectors of the others."""
        import numpy as np

        if not self._is_packaged:
            return super().encode(texts, is_query)
        files = {text: self.folder / _name(text, is_query) for text in texts}
        known = {text: vector for text in files if (vector := _read(files[text])) is not None}
        if absent := [text for text in files if text not in known]:
            if not self._is_open:
                self._open()
                self._is_open = True
            known |= zip(absent, super().encode(absent, is_query), strict=True)
        for text in absent:
            _write(files[text], known[text].tobytes())
        return np.stack([known[text] for text in texts])


def keep_vectors(folder: Path) -> None:
    """Make the embedder of this process use the vectors in a folder, and add new ones."""
    folder.mkdir(exist_ok=True)
    KeepingModel.folder = folder
    onnx_model.OnnxModel = KeepingModel  # type: ignore[misc]


def _name(text: str, is_query: bool) -> str:
    return hashlib.sha256(f"{is_query} {text}".encode()).hexdigest()


def _read(file: Path) -> Any:
    import numpy as np

    try:
        return np.frombuffer(file.read_bytes(), np.float32)
    except FileNotFoundError:
        return None


def _write(file: Path, data: bytes) -> None:
    """Write a file so that other processes see all of it or nothing."""
    own = file.with_name(f"{file.name}.{os.getpid()}")
    own.write_bytes(data)
    own.replace(file)
