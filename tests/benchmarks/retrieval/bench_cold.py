"""One search by a program that is started for it, and one by a program that runs already.

Real notes with vectors drawn at random make 10,000 passages. The baseline is a Python process that
does only what no search can do without: it loads the model's ONNX graph, embeds the question,
matches its words and scans the vectors. Processor time counts, since a start waits for little else.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from statistics import median

from tests.benchmarks.measure import Ratio, index_dir_of
from tests.benchmarks.retrieval.bench_search import QUERIES, fill_vault
from vault.embedding.models import MODEL_PACKAGE
from vault.embedding.packaged_graph import build_packaged_graph

CHUNKS = 10_000
ROUNDS = 5
MOST_S = 1.2  # of processor time for a search from nothing
BARE_SEARCH = """
import sqlite3, sys
import numpy as np, onnxruntime
from tokenizers import Tokenizer
catalog, graph, model, query = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.add_session_config_entry("session.model_external_initializers_file_folder_path", model)
serialised = open(graph, "rb").read()
session = onnxruntime.InferenceSession(serialised, options, providers=["CPUExecutionProvider"])
text = Tokenizer.from_file(f"{model}/tokenizer.json").encode(query)
columns = {"input_ids": text.ids, "attention_mask": text.attention_mask}
columns["token_type_ids"] = text.type_ids
fed = {name: np.array([ids], dtype=np.int64) for name, ids in columns.items()}
vector = session.run(None, fed)[0][0]
rows = sqlite3.connect(catalog)
terms = " OR ".join(f'"{word}"' for word in query.split() if word.isalnum())
match = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 100"
rows.execute(match, (terms,)).fetchall()
vectors = rows.execute("SELECT vector FROM vectors").fetchall()
matrix = np.frombuffer(b"".join(row[0] for row in vectors), "<f4").reshape(len(vectors), -1)
np.argsort(-(matrix @ vector))[:100]
"""


def run(folder: Path) -> list[Ratio]:
    """Search by turns from nothing, in a running program, and without the program."""
    vault = fill_vault(folder / "vault", CHUNKS)
    home, notes = vault.home, folder / "vault" / "notes"
    program = Path(sys.executable).with_name("strata")
    searched = [program, "--vault", notes, "search", "{}", "--json"]
    model, graph = Path(str(files(MODEL_PACKAGE).joinpath("model"))), folder / "bare.onnx"
    graph.write_bytes(build_packaged_graph(model))
    catalog = index_dir_of(home, notes) / "catalog.db"
    bare = [sys.executable, "-c", BARE_SEARCH, catalog, graph, model, "{}"]
    environment = {**os.environ, "STRATA_HOME": str(home), "PYTHONDONTWRITEBYTECODE": ""}
    warm = [_time(partial(vault.search, query, 8)) for query in QUERIES * ROUNDS]
    vault.close()
    times: dict[str, list[tuple[float, float]]] = {"ours": [], "bare": []}
    for turn in range(ROUNDS + 1):
        query = QUERIES[turn % len(QUERIES)]
        for name, command in (("ours", searched), ("bare", bare)):
            taken = _measure([str(word).replace("{}", query) for word in command], environment)
            if turn:  # the first one compiles
                times[name].append(taken)
    return _compare(times, median(warm))


def _compare(times: Mapping[str, Sequence[tuple[float, float]]], warm_s: float) -> list[Ratio]:
    ours, bare = (
        [median(column) for column in zip(*times[name], strict=True)] for name in ("ours", "bare")
    )
    return [
        Ratio(
            f"cold: `strata search`, processor time / {MOST_S} s",
            ours[0] / MOST_S,
            at_most=1.0,
            detail=f"{ours[0]:.2f} s of processor time, {ours[1]:.2f} s in all; {CHUNKS:,} chunks",
        ),
        Ratio(
            "cold: `strata search` / bare search, processor time",
            ours[0] / bare[0],
            detail=f"{ours[0]:.2f} s against {bare[0]:.2f} s",
        ),
        Ratio(
            "warm: a search in a running program / a cold one",
            warm_s / ours[1],
            detail=f"{warm_s * 1000:.1f} ms against {ours[1] * 1000:.0f} ms",
        ),
    ]


def _measure(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Run a command; return its seconds of processor time, with its children, and in all."""
    before, started = os.times(), time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    whole_s, after = time.perf_counter() - started, os.times()
    user_s = after.children_user - before.children_user
    system_s = after.children_system - before.children_system
    return user_s + system_s, whole_s


def _time(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started
