"""Embedding models and cross-encoders in torch. The only user of torch and sentence-transformers.

The packaged model needs torch only for many passages, on a processor that is faster with it. Other
models need it until they have been exported to ONNX, and for their export.
"""

import copy
import functools
import gc
import importlib.util
import os
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault.embedding.encoder_choice import BFLOAT16, FLOAT32, LONG_TEXT, measure_seconds
from vault.embedding.onnx_model import OnnxDetails, OnnxFiles, OnnxModel

_SAMPLES = (
    "the committee discussed the budget and agreed to meet again",
    "how do I list every file of a folder, newest first?",
    "| hash | size | base fee |",
    "Grüße aus München — привет, 你好",
    LONG_TEXT,
)
_MIN_COSINE = 0.9999
# Batches differ in length, and torch keeps kernels with their own memory for every shape.
_KEPT_KERNELS = "16"
# A model's folder may name code of its own, which never runs.
_LOADING: Mapping[str, Any] = {
    "device": "cpu",
    "local_files_only": True,
    "trust_remote_code": False,
}
_LIBRARIES = ("torch", "sentence_transformers")


def is_torch_installed() -> bool:
    """Return whether torch and sentence-transformers are installed. Neither is imported."""
    return all(importlib.util.find_spec(name) is not None for name in _LIBRARIES)


class TorchModel:
    """An embedding model in torch. It is loaded when it is first needed.

    Attributes:
        precision: `float32` or `bfloat16`.
    """

    def __init__(self, load: Callable[[], Any], precision: str = FLOAT32) -> None:
        """Create the model without loading it.

        Args:
            load: loads the model in float32.
            precision: the precision in which it embeds.
        """
        self.precision = precision
        self._load = load
        self._model: Any = None
        self._lock = threading.Lock()
        self._state = threading.Lock()  # of what follows, and never held for long
        self._frees = 0
        self._loading: threading.Thread | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._model is not None

    @property
    def is_loading(self) -> bool:
        """Whether a thread is loading the model."""
        return self._loading is not None and self._loading.is_alive()

    def begin_loading(self) -> None:
        """Load the model in a thread, unless it is loaded. If that fails, `load` fails too."""
        if not self.is_loading and not self.is_loaded:
            self._loading = threading.Thread(target=self._load_ahead, name="torch", daemon=True)
            self._loading.start()

    def _load_ahead(self) -> None:
        with suppress(Exception):  # who needs the model loads it again, and meets the error
            self.load()

    def load(self) -> Any:
        """Load the model unless it is loaded, and return it."""
        with self._lock:
            if self._model is not None:
                return self._model
            frees, model = self._frees, self._load()
            model = _convert_to_bfloat16(model) if self.precision == BFLOAT16 else model
            with self._state:
                if self._frees == frees:
                    self._model = model
            return model

    def free(self) -> None:
        """Free the model's memory. It is loaded again when it is next needed.

        This does not wait for a load in another thread, which then does not keep the model.
        """
        with self._state:
            self._model = None
            self._frees += 1

    def encode(self, texts: Sequence[str], is_query: bool = False) -> Any:
        """Embed texts, and return one vector of unit length for each.

        Args:
            texts: the texts to embed.
            is_query: whether the texts are queries, which may need another prompt than passages.
        """
        encode = _encode_in_bfloat16 if self.precision == BFLOAT16 else _encode
        return encode(self.load(), texts, is_query)

    def choose_precision(self) -> dict[str, float]:
        """Use the faster precision from now on, if its vectors are nearly equal.

        Returns:
            The seconds that each precision took for the same texts. It is empty if the processor or
            the model does not support both.
        """
        model = self.load()
        fast = _convert_to_bfloat16(copy.deepcopy(model))
        seconds: dict[str, float] = {}
        with suppress(RuntimeError, NotImplementedError):  # not on this processor
            if _are_vectors_the_same(model, fast):
                seconds = measure_seconds(
                    {
                        FLOAT32: lambda texts: _encode(model, texts),
                        BFLOAT16: lambda texts: _encode_in_bfloat16(fast, texts),
                    }
                )
        if seconds and seconds[BFLOAT16] < seconds[FLOAT32]:
            with self._state:
                self.precision = BFLOAT16
                self._model = fast if self._model is model else self._model
        return seconds

    def export(self, files: OnnxFiles) -> OnnxModel | None:
        """Export the model to ONNX, and return the ONNX model, or None if it cannot be exported."""
        gc.unfreeze()  # the model may be replaced, and has to be freed then
        if self.precision == BFLOAT16:
            self.free()  # the weights of the export have another precision
        model = self._load() if self.precision == BFLOAT16 else self.load()
        try:
            return files.store(
                lambda file: _export_to_onnx(model, file),
                _describe_for_onnx(model),
                lambda texts, is_query: _encode(model, texts, is_query),
            )
        except Exception as error:  # noqa: BLE001 - the model itself goes on answering
            sys.stderr.write(f"The model cannot be stored in ONNX form: {error}\n")
            return None


def load_embedding_model(folder: Path) -> Any:
    """Load a sentence-transformers model, without network access and without code of its own.

    Raises:
        ModuleNotFoundError: torch or sentence-transformers is not installed.
    """
    _check_libraries()
    for name in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
        os.environ.setdefault(name, _KEPT_KERNELS)
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), **_LOADING)


def load_cross_encoder(folder: Path) -> Callable[[str, Sequence[str]], list[float]]:
    """Load a cross-encoder, and return a function that scores texts for a query, from 0 to 1.

    Raises:
        ModuleNotFoundError: torch or sentence-transformers is not installed.
        ValueError: the model gives several scores for a text.
    """
    _check_libraries()
    import torch
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), **_LOADING)
    if model.num_labels != 1:
        raise ValueError(
            f"the model in {folder} gives {model.num_labels} scores for a text, not one"
        )
    sigmoid = torch.nn.Sigmoid()

    def score(query: str, texts: Sequence[str]) -> list[float]:
        pairs = [(query, text) for text in texts]
        scores = model.predict(pairs, activation_fn=sigmoid, show_progress_bar=False)
        return [float(score) for score in scores]

    return score


def _check_libraries() -> None:
    if not is_torch_installed():
        raise ModuleNotFoundError(
            "this installation of Strata has no sentence-transformers and torch, which only the "
            "default model can do without; set embedding.model to all-MiniLM-L6-v2, or install "
            "them as the README says under Install"
        )


def _are_vectors_the_same(model: Any, fast: Any) -> bool:
    cosines = (_encode(model, _SAMPLES) * _encode_in_bfloat16(fast, _SAMPLES)).sum(axis=1)
    return bool(cosines.min() > _MIN_COSINE)


def _encode(model: Any, texts: Sequence[str], is_query: bool = False) -> Any:
    import torch

    threads = _count_threads()  # before the number is first changed
    # One short text is finished before a second thread wakes up, which then spins for nothing.
    torch.set_num_threads(threads if len(texts) > 1 else 1)
    # Some models need a different prompt for queries than for passages.
    encode = model.encode_query if is_query else model.encode_document
    return encode(
        list(texts),
        batch_size=max(len(texts), 1),
        normalize_embeddings=True,
        show_progress_bar=False,
    )


def _encode_in_bfloat16(model: Any, texts: Sequence[str], is_query: bool = False) -> Any:
    import torch

    with torch.autocast("cpu", dtype=torch.bfloat16):
        return _encode(model, texts, is_query)


@functools.cache
def _count_threads() -> int:
    import torch

    return int(torch.get_num_threads())


def _export_to_onnx(model: Any, file: Path) -> None:
    """Export a sentence-transformers model to an ONNX graph."""
    import torch

    names = _list_inputs(model)

    class Graph(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            found = self.model(dict(zip(names, inputs, strict=True)))
            return torch.nn.functional.normalize(found["sentence_embedding"], dim=1)

    example = tuple(torch.ones(2, 7, dtype=torch.long) for _ in names)
    axes = {name: {0: "texts", 1: "tokens"} for name in names}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the vectors are compared afterwards
        torch.onnx.export(
            Graph().eval(),
            example,
            str(file),
            dynamo=False,
            input_names=names,
            output_names=["vectors"],
            dynamic_axes={**axes, "vectors": {0: "texts"}},
        )


def _describe_for_onnx(model: Any) -> OnnxDetails:
    tokenizer, prompts = model.tokenizer, model.prompts or {}
    default = prompts.get(model.default_prompt_name or "", "")
    passage = next((prompts[k] for k in ("document", "passage", "corpus") if k in prompts), default)
    return OnnxDetails(
        inputs=tuple(_list_inputs(model)),
        max_tokens=int(model.max_seq_length),
        tokenizer=tokenizer.backend_tokenizer.to_str(),
        pad_id=int(tokenizer.pad_token_id),
        pad_token=str(tokenizer.pad_token),
        prompts=(passage, prompts.get("query", default)),
    )


def _list_inputs(model: Any) -> list[str]:
    known = ("input_ids", "attention_mask", "token_type_ids")
    return [name for name in known if name in model.tokenize(["a text"])]


def _convert_to_bfloat16(model: Any) -> Any:
    """Convert the linear layers of a model to bfloat16, and return the model.

    Otherwise autocast would convert them again for each batch.
    """
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.to(torch.bfloat16)
    return model
