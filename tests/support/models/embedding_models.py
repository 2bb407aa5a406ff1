"""Embedding models for tests: copies of the installed one that return other vectors."""

import json
from importlib.resources import files
from pathlib import Path

from vault.embedding.models import DIMENSION, MODEL_PACKAGE, find_model
from vault.embedding.onnx_model import OnnxFiles

__all__ = ["other_model", "refuse_onnx_form"]

_DENSE = "sentence_transformers.models.Dense"


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


def refuse_onnx_form(home: Path, model: str) -> None:
    """Let no process of a home export a model to ONNX, which takes seconds."""
    details = OnnxFiles.locate(home / "cache" / "embedding", find_model(model).stamp).details
    details.parent.mkdir(parents=True, exist_ok=True)
    details.write_text(json.dumps({"refused": "not wanted here"}), "utf-8")
