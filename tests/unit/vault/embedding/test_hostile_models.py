"""A model's folder that names code of its own: the code never runs, and the model is refused."""

import json
import pickle
from collections.abc import Callable
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.support.models.embedding_models import other_model
from tests.support.servers.hostile_chroma import write_trap
from vault.embedder import Embedder
from vault.embedding.models import MODEL_PACKAGE, EmbeddingModel
from vault.errors import EmbedderFailed, RerankerFailed
from vault.search.rerank import Reranker

Trap = Callable[[Path, Path], None]


class _Payload:
    """An object whose pickle creates a file when it is read."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._marker,)


def change(file: Path, **fields: Any) -> None:
    """Change fields of a JSON file, which may be a link to one that stays as it is."""
    found = json.loads(file.read_text()) | fields
    file.unlink()
    file.write_text(json.dumps(found))


def name_a_module(folder: Path, trap: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text())
    modules[1]["type"] = "trap.Trap"
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "trap.py").write_bytes((trap / "trap.py").read_bytes())


def name_a_class(folder: Path, trap: Path) -> None:
    maps = json.loads((trap / "config.json").read_text())["auto_map"]
    change(folder / "config.json", model_type="trap", auto_map=maps)
    (folder / "trap.py").write_bytes((trap / "trap.py").read_bytes())


def name_an_activation(folder: Path, trap: Path) -> None:
    change(folder / "3_Dense" / "config.json", activation_function="trap.Trap")
    (folder / "trap.py").write_bytes((trap / "trap.py").read_bytes())


def pickle_the_weights(folder: Path, trap: Path) -> None:
    (folder / "3_Dense" / "model.safetensors").unlink()
    marker = Path(json.loads((trap / "marker.json").read_text()))
    weights = pickle.dumps({"linear.weight": _Payload(marker)})
    (folder / "3_Dense" / "pytorch_model.bin").write_bytes(weights)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """The file that exists once the code of a model has run."""
    return tmp_path / "ran"


@pytest.fixture
def trap(tmp_path: Path, marker: Path) -> Path:
    folder = write_trap(tmp_path / "trap", marker)
    (folder / "marker.json").write_text(json.dumps(str(marker)))
    return folder


@pytest.mark.parametrize("lay", [name_a_module, name_a_class, pickle_the_weights])
def test_code_of_an_embedding_model_never_runs(
    tmp_path: Path, trap: Path, marker: Path, lay: Trap
) -> None:
    folder = other_model(tmp_path / "model")
    lay(folder, trap)
    embedder = Embedder(EmbeddingModel("m", "m@1", folder))
    with closing(embedder), pytest.raises(EmbedderFailed):
        embedder.embed_query("Where is the barrel?")
    assert not marker.exists()


def test_an_activation_that_is_code_of_the_model_is_ignored(
    tmp_path: Path, trap: Path, marker: Path
) -> None:
    folder = other_model(tmp_path / "model")
    name_an_activation(folder, trap)
    with closing(Embedder(EmbeddingModel("m", "m@1", folder))) as embedder:
        assert embedder.embed_query("Where is the barrel?").shape == (256,)
    assert not marker.exists()


def test_code_of_a_reranking_model_never_runs(tmp_path: Path, trap: Path, marker: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in Path(str(files(MODEL_PACKAGE).joinpath("model"))).glob("*.*"):
        (folder / file.name).symlink_to(file)
    name_a_class(folder, trap)
    with closing(Reranker()) as reranker, pytest.raises(RerankerFailed):
        reranker.scores("Where is the barrel?", ["By the shed."], str(folder))
    assert not marker.exists()
