"""Embedding models for tests: copies of the installed one that return other vectors."""

import json
from importlib.resources import files
from pathlib import Path

from vault.embedding.encoder_choice import FLOAT32, keep_choice, locate_choice
from vault.embedding.models import DIMENSION, MODEL_PACKAGE, EmbeddingModel, find_model
from vault.embedding.onnx_model import OnnxFiles

__all__ = ["choose_float32", "copied_model", "other_model"]

_DENSE = "sentence_transformers.models.Dense"


def copied_model() -> EmbeddingModel:
    """Return the installed model as one that the user has chosen, which needs torch."""
    return EmbeddingModel("copy", "copy@1", Path(str(files(MODEL_PACKAGE).joinpath("model"))))


def other_model(folder: Path, dimension: int = 256) -> Path:
    """Create a copy of the installed model with shorter vectors of about the same meaning."""
    import numpy as np
    from safetensors.numpy import save_file

    installed = Path(str(files(MODEL_PACKAGE).joinpath("model")))
    for path in installed.rglob("*"):
        target = folder / path.relative_to(installed)
        if path.is_dir():
            target.mkdir(parents=True)
        elif path.name not in ("modules.json", "README.md"):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
    dense = folder / "3_Dense"
    dense.mkdir()
    weights = np.random.default_rng(dimension).standard_normal((dimension, DIMENSION), "f4")
    save_file({"linear.weight": weights}, dense / "model.safetensors")
    config = {
        "in_features": DIMENSION,
        "out_features": dimension,
        "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    (dense / "config.json").write_text(json.dumps(config))
    modules = json.loads((installed / "modules.json").read_text())
    modules.append({"idx": 3, "name": "3", "path": "3_Dense", "type": _DENSE})
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "README.md").write_text("---\nlanguage: [en, de]\n---\n# A model of the tests\n")
    return folder


def choose_float32(cache: Path, model: Path) -> None:
    """Let processes with a cache use a model as it is.

    They measure no precision and export no ONNX form, which takes seconds for each model.
    """
    stamp = find_model(str(model)).stamp
    keep_choice(locate_choice(str(cache), stamp), {"precision": FLOAT32})
    refused = json.dumps({"refused": "not wanted here"})
    OnnxFiles.locate(cache, stamp).details.write_text(refused, "utf-8")
