"""The ONNX form of a model that the user has chosen: exported once, checked, used without torch."""

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.support.models.embedding_models import copied_model
from vault import embed_worker
from vault.embed_worker import _Model
from vault.embedder import Embedder
from vault.embedding.onnx_model import CHECKED_TEXTS, OnnxFiles

QUERY = "where are the peas?"
PASSAGES = [
    "The peas are by the gate.",
    "Water them before eight. " * 40,
    "剪定ばさみは納屋の赤い箱に",
]


def list_modules(pid: int) -> str:
    return Path(f"/proc/{pid}/maps").read_text()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with a model in ONNX form."""
    cache = tmp_path_factory.mktemp("cache") / "embedding"
    embedder = Embedder(copied_model(), cache_dir=cache)
    try:
        list(embedder.embed([PASSAGES]))
        embedder.store_onnx_form()
        embedder.store_onnx_form()  # nothing is left to do
    finally:
        embedder.close()
    return cache


@pytest.fixture
def opened(exported: Path, workers_are_started: None) -> Iterator[Embedder]:
    embedder = Embedder(copied_model(), cache_dir=exported)
    yield embedder
    embedder.close()


def test_a_query_is_embedded_without_torch_and_gives_the_same_vector(
    embedder: Embedder, opened: Embedder
) -> None:
    assert len(CHECKED_TEXTS) == 50
    for query in (QUERY, " Grüße aus München ", "", "peas " * 600):
        assert float(embedder.embed_query(query) @ opened.embed_query(query)) > 0.9999
    assert opened.pid is not None
    assert "libtorch" not in list_modules(opened.pid)


def test_passages_have_the_same_vectors_too(embedder: Embedder, opened: Embedder) -> None:
    (plain,) = embedder.embed([PASSAGES])
    (quick,) = opened.embed([PASSAGES])
    assert float((plain * quick).sum(axis=1).min()) > 0.9999
    assert opened.pid is not None
    assert "libtorch" not in list_modules(opened.pid)


class TorchWasLoaded(Exception):
    """Raised in place of loading torch."""


@pytest.mark.parametrize("is_faster", [True, False])
def test_torch_is_loaded_for_many_passages_alone(
    exported: Path, monkeypatch: pytest.MonkeyPatch, is_faster: bool
) -> None:
    def load(_folder: Path) -> None:
        raise TorchWasLoaded

    monkeypatch.setattr(embed_worker, "load_embedding_model", load)
    monkeypatch.setattr(embed_worker, "can_compute_bfloat16", lambda: is_faster)
    monkeypatch.setattr(embed_worker, "_MOST_WITHOUT_TORCH", 4)
    files = OnnxFiles(*sorted(exported.glob("*.onnx*")))
    model = _Model(exported, files.load(), None, files)
    model.encode([QUERY], True)
    model.encode(PASSAGES, False)
    if not is_faster:
        model.encode(["peas"] * 9, False)
        return
    for _ in range(2):
        with pytest.raises(TorchWasLoaded):
            model.encode(["peas"] * 2, False)


@pytest.mark.parametrize(("ahead", "is_loaded"), [(4, False), (5, True)])
def test_torch_is_loaded_beside_the_first_of_many_passages(
    exported: Path, monkeypatch: pytest.MonkeyPatch, ahead: int, is_loaded: bool
) -> None:
    """The first passages do not wait for it, and neither does a question."""
    asked, goes_on = threading.Event(), threading.Event()

    def load(_folder: Path) -> None:
        asked.set()
        goes_on.wait(60)
        raise TorchWasLoaded

    monkeypatch.setattr(embed_worker, "load_embedding_model", load)
    monkeypatch.setattr(embed_worker, "can_compute_bfloat16", lambda: True)
    monkeypatch.setattr(embed_worker, "_MOST_WITHOUT_TORCH", 4)
    files = OnnxFiles(*sorted(exported.glob("*.onnx*")))
    model = _Model(exported, files.load(), None, files)
    model.prepare(ahead)
    if not is_loaded:
        assert not model._torch.is_loading
        return
    assert asked.wait(60)
    model.encode(["peas"] * 9, False)
    model.encode([QUERY], True)
    goes_on.set()
    assert model._torch._loading is not None
    model._torch._loading.join(60)
    with pytest.raises(TorchWasLoaded):
        model.encode(["peas"], False)


def test_the_files_are_private_and_nothing_else_is_left(exported: Path) -> None:
    names = sorted(file.suffix for file in exported.iterdir())
    assert names == [".json", ".json", ".onnx"]
    assert {file.stat().st_mode & 0o777 for file in exported.iterdir()} == {0o600}


@pytest.mark.parametrize("damage", ["graph", "details", "gone"])
def test_a_damaged_form_is_not_used(exported: Path, tmp_path: Path, damage: str) -> None:
    (graph,) = exported.glob("*.onnx")
    details = json.loads(graph.with_suffix(".onnx.json").read_text())
    files = OnnxFiles(tmp_path / "m.onnx", tmp_path / "m.onnx.json")
    files.graph.write_bytes(graph.read_bytes())
    files.details.write_text(json.dumps(details))
    assert files.load() is not None
    if damage == "graph":
        data = bytearray(files.graph.read_bytes())
        data[len(data) // 2] ^= 1
        files.graph.write_bytes(data)
    elif damage == "details":
        files.details.write_text(json.dumps(details | {"prompts": 1}))
    else:
        files.details.unlink()
    assert files.load() is None


def test_a_form_with_other_vectors_is_refused_once_and_for_all(
    exported: Path, tmp_path: Path
) -> None:
    source = OnnxFiles(*sorted(exported.glob("*.onnx*")))
    known = source.load()
    assert known is not None
    files = OnnxFiles.locate(tmp_path / "embedding", "another model")

    def give_other_vectors(texts: Sequence[str], is_query: bool) -> object:
        return -known.encode(texts, is_query)

    made = files.store(
        lambda file: file.write_bytes(source.graph.read_bytes()) and None,
        known.details,
        give_other_vectors,
    )
    assert made is None
    assert files.is_refused
    assert files.load() is None
    assert [file.name for file in files.graph.parent.iterdir()] == [files.details.name]


def test_vectors_are_of_length_one(opened: Embedder) -> None:
    (vectors,) = opened.embed([PASSAGES])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0] * 3, abs=1e-3)
