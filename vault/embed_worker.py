"""The child process that embeds texts.

Run as `python -P -m vault.embed_worker IDLE_S FOLDER [CACHE STAMP | rerank]`. It loads the model in
FOLDER without network access. If FOLDER is empty, it loads the packaged model, after checking its
weights. A request `{texts}` is answered with float32 vectors of unit length. An `urgent` request is
answered before the others, and the texts of a `query` request are queries. A request `{ahead}`
names how many passages will probably follow, so that torch is loaded beside the first of them. With
`rerank`, the model is a cross-encoder, and `{query, texts}` is answered with a score from 0 to 1
for each text.

The packaged model runs in ONNX form. Another model runs in torch until a request `{export}` has
stored its ONNX form in the folder CACHE. From then on, the ONNX form embeds queries, and also
passages if it embeds them faster. Which form and precision are faster is measured once, when there
are many passages. The result is stored in CACHE, by processor, torch version and STAMP, which
identifies the model.
"""

import gc
import hashlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resources.system.processes import trim_memory
from vault.embedding.encoder_choice import (
    FLOAT32,
    ONNX,
    TORCH,
    can_compute_bfloat16,
    keep_choice,
    locate_choice,
    measure_seconds,
    read_choice,
)
from vault.embedding.models import MODEL_SHA256, find_packaged_folder
from vault.embedding.onnx_model import OnnxFiles, OnnxModel, open_packaged_model
from vault.embedding.packaged_graph import WEIGHTS
from vault.embedding.torch_model import (
    TorchModel,
    is_torch_installed,
    load_cross_encoder,
    load_embedding_model,
)
from vault.workers.frames import Answer, Frame, Handler, Requests

_BATCHES_BETWEEN_TRIMS = 4
# Loading torch and measuring takes about six seconds of processor time, and bfloat16 saves about
# ten milliseconds for each passage.
_MOST_WITHOUT_TORCH = 600


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
    """Open the model.

    Args:
        folder_name: the model's folder, or an empty string for the packaged model.
        cache: the cache folder and the model's stamp, or an empty sequence for no cache.
    """
    files = OnnxFiles.locate(Path(cache[0]), cache[1]) if cache else None
    choice_file = locate_choice(*cache) if cache else None
    if folder_name:
        folder = Path(folder_name)
        return _Model(folder, files.load() if files else None, choice_file, files)
    if files is not None:
        files.remove()  # earlier versions stored a copy of the packaged model
    folder = _check_packaged_model()
    return _Model(folder, open_packaged_model(folder), choice_file)


def _check_packaged_model() -> Path:
    """Return the packaged model's folder, after checking its weights."""
    folder = find_packaged_folder()
    with (folder / WEIGHTS).open("rb") as weights:
        digest = hashlib.file_digest(weights, "sha256").hexdigest()
    if digest != MODEL_SHA256:
        raise ValueError(f"the embedding model in {folder} is damaged; reinstall Strata")
    return folder


def _build_embedding_handler(model: "_Model") -> Handler:
    def handle(frame: Frame) -> Answer:
        if frame.header.get("export"):
            model.export()
            return {"precision": model.precision, "shape": (0, 0)}, b""
        if ahead := frame.header.get("ahead"):
            model.prepare(int(ahead))
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
    score = load_cross_encoder(folder)

    def handle(frame: Frame) -> Answer:
        return {"scores": score(frame.header["query"], frame.header["texts"])}, b""

    return handle


def _build_refusing_handler(error: Exception) -> Handler:
    def handle(_frame: Frame) -> Answer:
        raise error

    return handle


class _Model:
    """The embedding model, in the fastest form for this processor.

    Attributes:
        can_export: whether the model can be exported to ONNX and has not been exported yet.
    """

    def __init__(
        self,
        folder: Path,
        onnx: OnnxModel | None,
        choice_file: Path | None,
        files: OnnxFiles | None = None,
    ) -> None:
        """Open the model. Torch loads it now only if there is no ONNX form for queries.

        Args:
            folder: the model's folder.
            onnx: the ONNX form, or None if there is none yet.
            choice_file: the file that stores which form is faster, or None.
            files: where to store the ONNX form, or None if it is never stored.
        """
        self._onnx, self._files, self._choice_file = onnx, files, choice_file
        kept = {} if choice_file is None else read_choice(choice_file)
        self._is_chosen = bool(kept)
        self._uses_onnx = onnx is not None and kept.get("encoder") == ONNX
        self._torch = TorchModel(
            lambda: load_embedding_model(folder), kept.get("precision", FLOAT32)
        )
        self._batches = self._passages = 0
        self.can_export = files is not None and onnx is None and not files.is_refused
        if onnx is None:
            self._torch.load()

    @property
    def precision(self) -> str:
        """The precision in which passages are embedded: `float32` or `bfloat16`."""
        is_torch_used = self._onnx is None or (self._torch.is_loaded and not self._uses_onnx)
        return self._torch.precision if is_torch_used else FLOAT32

    def encode(self, texts: Sequence[str], is_urgent: bool, *, is_query: bool = False) -> Any:
        """Return the vectors of texts.

        Args:
            texts: the texts to embed.
            is_urgent: whether a search is waiting for the vectors, in which case nothing is
                measured now.
            is_query: whether the texts are queries, because some models need another prompt for
                queries.
        """
        if is_urgent:
            return (self._onnx or self._torch).encode(texts, is_query)
        self._passages += len(texts)
        vectors = self._choose_encoder().encode(texts, is_query)
        self._batches += 1
        if self._batches % _BATCHES_BETWEEN_TRIMS == 0:
            _return_memory()
        return vectors

    def prepare(self, passages: int) -> None:
        """Begin to load torch if this is worth it for the passages that will probably follow."""
        is_of_use = self._onnx is not None and not self._uses_onnx and self._is_torch_faster
        if is_of_use and passages > _MOST_WITHOUT_TORCH:
            self._torch.begin_loading()

    def export(self) -> None:
        """Export the model to ONNX, if possible, and measure its speed.

        The export is used only if it gives the same vectors as the original model.
        """
        if not self.can_export or self._files is None:
            return
        self.can_export = False
        _return_memory()
        self._onnx = self._torch.export(self._files)
        _return_memory()
        if self._onnx is not None:
            self._measure_encoders(self._onnx)

    def _choose_encoder(self) -> OnnxModel | TorchModel:
        """Return the form that embeds passages faster. The first time, this is measured."""
        onnx = self._onnx
        if onnx is not None and (self._uses_onnx or self._can_skip_torch):
            return onnx
        if not self._is_chosen:
            self._is_chosen = True
            seconds = self._torch.choose_precision()
            self._keep_choice({"precision": self._torch.precision, "seconds": seconds})
            if onnx is not None:
                self._measure_encoders(onnx)
        return onnx if onnx is not None and self._uses_onnx else self._torch

    @property
    def _can_skip_torch(self) -> bool:
        """Whether torch is still loading, or is not worth loading for the passages so far."""
        if self._torch.is_loading:
            return True
        if self._torch.is_loaded:
            return False
        return self._passages <= _MOST_WITHOUT_TORCH or not self._is_torch_faster

    @property
    def _is_torch_faster(self) -> bool:
        """Whether torch was measured to be faster, or probably is."""
        return self._is_chosen or (can_compute_bfloat16() and is_torch_installed())

    def _measure_encoders(self, onnx: OnnxModel) -> None:
        """Measure whether ONNX or torch embeds passages faster, and use the faster one."""
        seconds = measure_seconds({TORCH: self._torch.encode, ONNX: onnx.encode})
        self._uses_onnx = seconds[ONNX] < seconds[TORCH]
        self._is_chosen = True
        self._keep_choice(
            {
                "precision": self._torch.precision,
                "encoder_seconds": seconds,
                "encoder": ONNX if self._uses_onnx else TORCH,
            }
        )
        if self._uses_onnx:
            self._torch.free()

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


if __name__ == "__main__":
    main()
