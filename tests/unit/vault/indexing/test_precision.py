"""The precision of embedding is the faster one on this processor, measured once and kept."""

import json
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from tests.support.models.embedding_models import copied_model
from tests.support.processes.forked_processes import ForkedProcesses
from vault.embedder import Embedder
from vault.embedding.encoder_choice import BFLOAT16, FLOAT32, measure_seconds

BATCH = [f"row {number} of the garden has peas" for number in range(8)]
CHOICES = {  # the seconds of bfloat16, where float32 needs one; whether the vectors are the same
    (0.5, "same vectors"): BFLOAT16,
    (1.55, "same vectors"): FLOAT32,
    (0.5, "other vectors"): FLOAT32,
}
CHOOSE = """
import json, sys
from vault import embed_worker
from vault.embed_worker import _Model, _check_packaged_model
from vault.embedding import torch_model
folder, least = _check_packaged_model(), torch_model._MIN_COSINE
loaded = torch_model.load_embedding_model(folder)
embed_worker.load_embedding_model = lambda _folder: loaded
for seconds, vectors in json.loads(sys.argv[1]):
    torch_model.measure_seconds = lambda _encoders: {"float32": 1.0, "bfloat16": seconds}
    torch_model._MIN_COSINE = 1.5 if vectors == "other vectors" else least
    model = _Model(folder, None, None)
    model.encode(["a question"], True)
    before = model.precision
    model.encode(["a note", "another one"], False)
    print(before, model.precision)
"""


def embed(cache: Path, *, asks_first: bool = False) -> tuple[str, np.ndarray]:
    """Return the precision of a new child, and what it makes of a batch."""
    embedder = Embedder(copied_model(), cache_dir=cache)
    try:
        if asks_first:
            embedder.embed_query("where are the peas?")
            return embedder.precision, np.empty(0)
        (vectors,) = embedder.embed([BATCH])
        return embedder.precision, vectors
    finally:
        embedder.close()


def test_it_is_measured_by_the_first_batch_and_kept_for_later_processes(tmp_path: Path) -> None:
    cache = tmp_path / "cache" / "embedding"
    assert embed(cache, asks_first=True)[0] == FLOAT32
    assert not cache.exists()  # a question does not wait for a measurement
    precision, measured = embed(cache)
    (file,) = cache.iterdir()
    kept = json.loads(file.read_text())
    assert kept["precision"] == precision == min(kept["seconds"], key=kept["seconds"].get)
    assert file.stat().st_mode & 0o777 == 0o600
    assert embed(cache, asks_first=True)[0] == precision
    (other,) = {FLOAT32, BFLOAT16} - {precision}
    file.write_text(json.dumps({"precision": other}))
    used, vectors = embed(cache)
    assert used == other  # what is kept is not measured again
    assert float((measured * vectors).sum(axis=1).min()) > 0.9999
    file.write_text("{half a")
    assert embed(cache)[0] == precision
    assert json.loads(file.read_text())["precision"] == precision


@pytest.fixture(scope="module")
def chosen(forked_processes: ForkedProcesses) -> dict[tuple[float, str], list[str]]:
    """The precision before and after the choice, for each case; one process loads the model."""
    said = forked_processes.run_code("vault.embed_worker", CHOOSE, json.dumps(list(CHOICES)))
    return dict(zip(CHOICES, map(str.split, said.splitlines()), strict=True))


@pytest.mark.parametrize("case", CHOICES)
def test_it_is_the_faster_one_where_the_vectors_are_the_same(
    chosen: dict[tuple[float, str], list[str]], case: tuple[float, str]
) -> None:
    assert chosen[case] == [FLOAT32, CHOICES[case]]


def test_candidates_take_turns_and_the_shortest_time_counts() -> None:
    now, calls = 0.0, count()
    order: list[str] = []

    def encoder(name: str, seconds: float) -> Callable[[Sequence[str]], None]:
        def encode(_texts: Sequence[str]) -> None:
            nonlocal now
            order.append(name)
            now += seconds + (5.0 if next(calls) % 3 == 0 else 0.0)  # another program interrupts

        return encode

    encoders = {FLOAT32: encoder(FLOAT32, 0.02), BFLOAT16: encoder(BFLOAT16, 0.03)}
    best = measure_seconds(encoders, lambda: now)
    assert best == pytest.approx({FLOAT32: 0.02, BFLOAT16: 0.03})
    assert order == [FLOAT32, BFLOAT16] * (len(order) // 2)


@pytest.mark.parametrize(("exact_s", "fast_s"), [(3.0, 2.0), (0.01, 0.9)])
def test_a_slow_candidate_is_not_measured_for_long(exact_s: float, fast_s: float) -> None:
    now = 0.0
    texts_seen: list[int] = []

    def encoder(seconds: float) -> Callable[[Sequence[str]], None]:
        def encode(texts: Sequence[str]) -> None:
            nonlocal now
            texts_seen.append(len(texts))
            now += seconds * len(texts)

        return encode

    best = measure_seconds({FLOAT32: encoder(exact_s), BFLOAT16: encoder(fast_s)}, lambda: now)
    assert best == pytest.approx({FLOAT32: exact_s, BFLOAT16: fast_s})
    assert texts_seen == [1] * 4
