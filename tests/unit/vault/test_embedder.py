import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.support.processes.forked_processes import ForkedProcesses
from vault.embedder import Embedder
from vault.embedding.models import DIMENSION, MODEL_PACKAGE, MODEL_SHA256
from vault.errors import EmbedderFailed

RETURN_MEMORY = """
import gc, sys, weakref
from pathlib import Path
from vault.embed_worker import _Model, _check_packaged_model
from vault.embedding import torch_model
from vault.embedding.onnx_model import OnnxFiles

def refuse(*_given):
    raise RuntimeError("no export")

torch_model.measure_seconds = lambda _encoders: {"float32": 1.0, "bfloat16": 0.5}
torch_model._export_to_onnx = refuse
files = OnnxFiles.locate(Path(sys.argv[1]), "stamp")
model = _Model(_check_packaged_model(), None, None, files)
gc.unfreeze()  # as in a process that is started and not forked
for _ in range(8):
    model.encode(["a note"], False)
print(len(gc.get_objects()))
former = weakref.ref(model._torch.load())
model.export()
print(former() is None)
"""
BATCHES = [[f"note {i} about {topic}" for topic in ("rain", "fees", "cats")] for i in range(6)]


def test_near_in_meaning_is_near_in_vectors(embedder: Embedder) -> None:
    query = embedder.embed_query("How do plants get enough water?")
    (vectors,) = embedder.embed([["Watering the garden beds", "Quarterly tax return"]])
    assert vectors.shape == (2, DIMENSION)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert float(vectors[0] @ query) > float(vectors[1] @ query) + 0.2


def test_the_main_process_loads_neither_torch_nor_chroma(embedder: Embedder) -> None:
    embedder.embed_query("anything")
    assert not {"torch", "sentence_transformers", "chromadb"} & sys.modules.keys()


def test_a_text_has_one_vector_alone_or_in_a_batch(embedder: Embedder) -> None:
    together = np.concatenate(list(embedder.embed(BATCHES)))
    alone = embedder.embed_query(BATCHES[3][1])
    assert float(together[3 * 3 + 1] @ alone) > 0.999


def test_a_question_may_come_while_batches_are_under_way(embedder: Embedder) -> None:
    stream = embedder.embed(BATCHES)
    first = next(stream)
    assert embedder.embed_query("a question between").shape == (DIMENSION,)
    assert len([first, *stream]) == len(BATCHES)


def test_short_texts_are_compared_with_a_query_in_their_order(embedder: Embedder) -> None:
    texts = ["Quarterly tax return", "Watering the garden beds", "Rain barrels " * 20, "Bees"] * 3
    query = "How do plants get enough water?"
    found = embedder.measure_cosines(query, texts)
    (vectors,) = embedder.embed([texts])
    assert np.allclose(found, vectors @ embedder.embed_query(query), atol=1e-3)
    assert max(found) == found[1] > found[0] + 0.2
    assert embedder.measure_cosines(query, []) == []


def test_a_text_that_was_compared_is_not_embedded_again(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, texts = "what do bees like", ["Bees like clover", "Bees like the thyme"]
    embedder.embed_query(query)
    asked: list[str] = []
    ask = embedder._ask

    def record(texts: Sequence[str], **flags: bool) -> object:
        asked.extend(texts)
        return ask(texts, **flags)

    monkeypatch.setattr(embedder, "_ask", record)
    first = embedder.measure_cosines(query, texts)
    assert asked == texts
    again = embedder.measure_cosines(query, [*reversed(texts), "Cats like fish"])
    assert again[:2] == first[::-1]
    assert asked == [*texts, "Cats like fish"]


def test_waiting_for_batches_can_be_given_up(embedder: Embedder) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(embedder.embed([["a long text " * 200] * 8] * 4, stop))
    assert embedder.embed_query("goes on").shape == (DIMENSION,)


def test_damaged_weights_are_refused(
    tmp_path: Path, interpreter_with: Callable[[Path], None]
) -> None:
    model = tmp_path / MODEL_PACKAGE / "model"
    model.mkdir(parents=True)
    (model.parent / "__init__.py").touch()
    (model / "model.safetensors").write_bytes(b"other weights")
    interpreter_with(tmp_path)
    broken = Embedder()
    try:
        with pytest.raises(EmbedderFailed, match="damaged; reinstall"):
            broken.embed_query("anything")
    finally:
        broken.close()


def test_a_child_that_cannot_stay_alive_is_given_up(
    tmp_path: Path, interpreter_with: Callable[[Path], None]
) -> None:
    package = tmp_path / MODEL_PACKAGE
    package.mkdir()
    (tmp_path / "hashlib.py").write_text("import os; os._exit(3)")
    interpreter_with(tmp_path)
    broken = Embedder()
    try:
        with pytest.raises(EmbedderFailed, match="3 times in a row"):
            broken.embed_query("anything")
    finally:
        broken.close()


def test_the_model_is_the_one_that_was_chosen() -> None:
    assert MODEL_SHA256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def test_a_child_that_is_idle_leaves_and_comes_back_when_it_is_needed(
    until: Callable[[Callable[[], bool]], None],
) -> None:
    brief = Embedder(idle_s=0.2)
    try:
        for _ in range(4):  # more often than a child may die
            assert len(brief.embed_query("anything")) == DIMENSION
            until(lambda: brief.pid is None)
    finally:
        brief.close()


def test_returning_memory_skips_the_libraries_and_frees_a_model(
    forked_processes: ForkedProcesses, tmp_path: Path
) -> None:
    said = forked_processes.run_code("vault.embed_worker", RETURN_MEMORY, str(tmp_path))
    examined, is_freed = said.split()
    assert int(examined) < 50_000  # of some 400,000
    assert is_freed == "True"
