"""How good the installed program's search is, against words alone and meaning alone.

All three rank the same passages.

SciFact: claims and the papers that bear on them; of its training queries one half was for choosing
weights, the other is reported. Known-item search: a note of the EIPs by its title or by a heading
that it alone has; a note of the demo vault by an alias, or by the words of a link to it.
"""

import gzip
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

from tests.benchmarks.measure import DATA, DataAbsent, Ratio, SearchedVault, unpack_vault
from vault.catalog import Catalog
from vault.embedder import Embedder
from vault.notes.keywords import build_query_terms, match_any

DEPTH = 1_000
HITS = 300  # passages, so that there are a hundred notes among them
STUB_TOKENS = 120
MOST_HEADINGS = 400

Rank = Callable[[str], list[str]]


@dataclass(frozen=True)
class Question:
    """What is asked, and the notes that answer it."""

    text: str
    answers: frozenset[str]


def run(folder: Path) -> list[Ratio]:
    """Index each set and compare its three rankings."""
    embedder = Embedder()
    try:
        return [
            *_judge("SciFact", _scifact(folder / "scifact"), _held_back, embedder, at_least=1.05),
            *_judge("EIPs", unpack_vault("eips", folder / "eips"), _named, embedder),
            *_judge("demo vault", unpack_vault("tasks-demo", folder / "demo"), _linked, embedder),
        ]
    finally:
        embedder.close()


def _judge(
    name: str,
    notes: Path,
    ask: Callable[[Catalog], list[Question]],
    embedder: Embedder,
    at_least: float = 0.98,
) -> list[Ratio]:
    vault = SearchedVault(notes, notes.with_name(f"{notes.name}-home"))
    try:
        catalog = Catalog(vault.catalog, is_writable=False)
        alone = _Alone(catalog, embedder)
        questions = ask(catalog)
        ways: dict[str, Rank] = {
            "fused": lambda query: _notes(hit["path"] for hit in vault.search(query, HITS)),
            "words": alone.by_words,
            "meaning": alone.by_meaning,
        }
        ranked = {way: [rank(each.text) for each in questions] for way, rank in ways.items()}
    finally:
        vault.close()
    scores = {way: _mean(_ndcg, lists, questions) for way, lists in ranked.items()}
    recalls = {way: _mean(_recall, lists, questions) for way, lists in ranked.items()}
    best, best_recall = (max(s["words"], s["meaning"]) for s in (scores, recalls))
    shown = ", ".join(f"{way} {score:.4f}" for way, score in scores.items())
    return [
        Ratio(
            f"relevance: {name}, nDCG@10 / better one",
            scores["fused"] / best,
            at_least=at_least,
            detail=f"{shown}; {len(questions)} questions",
        ),
        Ratio(
            f"relevance: {name}, R@100 / better one",
            recalls["fused"] / best_recall,
            at_least=1.0,
            detail=f"{recalls['fused']:.4f} against {best_recall:.4f}",
        ),
    ]


class _Alone:
    """Each signal by itself, over the same passages."""

    def __init__(self, catalog: Catalog, embedder: Embedder):
        self._catalog = catalog
        self._embedder = embedder
        rows = catalog.rows(
            "SELECT path, vector FROM chunks JOIN vectors USING (hash)"
            " JOIN files ON files.id = file_id ORDER BY chunks.id"
        )
        self._paths = [row[0] for row in rows]
        self._matrix = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), -1)

    def by_words(self, query: str) -> list[str]:
        terms = build_query_terms(query)
        rows = self._catalog.rows(
            "SELECT path FROM words JOIN chunks ON chunks.id = words.rowid"
            " JOIN files ON files.id = file_id WHERE words MATCH ?"
            " ORDER BY bm25(words) LIMIT ?",
            (match_any(terms), DEPTH),
        )
        return _notes(row[0] for row in rows)

    def by_meaning(self, query: str) -> list[str]:
        cosines = np.einsum("ij,j->i", self._matrix, self._embedder.embed_query(query))
        return _notes(self._paths[row] for row in np.argsort(-cosines)[:DEPTH])


def _notes(paths: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(paths))


def _mean(
    measure: Callable[[list[str], frozenset[str]], float],
    lists: Sequence[list[str]],
    questions: Sequence[Question],
) -> float:
    pairs = zip(lists, questions, strict=True)
    return mean(measure(ranked, question.answers) for ranked, question in pairs)


def _ndcg(ranked: list[str], answers: frozenset[str], depth: int = 10) -> float:
    gain = sum(1 / math.log2(at + 2) for at, path in enumerate(ranked[:depth]) if path in answers)
    return gain / sum(1 / math.log2(at + 2) for at in range(min(depth, len(answers))))


def _recall(ranked: list[str], answers: frozenset[str]) -> float:
    return len(answers.intersection(ranked[:100])) / len(answers)


def _scifact(notes: Path) -> Path:
    """Write each paper as a note."""
    corpus = DATA / "scifact" / "corpus.jsonl.gz"
    if not corpus.exists():
        raise DataAbsent(f"{corpus} is not there")
    notes.mkdir(parents=True)
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for paper in map(json.loads, lines):
            text = f"# {paper['title']}\n\n{paper['text']}\n"
            (notes / f"{paper['_id']}.md").write_text(text, "utf-8")
    return notes


def _held_back(_catalog: Catalog) -> list[Question]:
    """Give every second training query, those that no weight was chosen on."""
    with gzip.open(DATA / "scifact" / "queries-train.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = {query["_id"]: query["text"] for query in map(json.loads, lines)}
    answers = defaultdict(set)
    for line in (DATA / "scifact" / "qrels-train.tsv").read_text("utf-8").splitlines()[1:]:
        query, paper, score = line.split("\t")
        if int(score) > 0:
            answers[query].add(f"{paper}.md")
    questions = [Question(texts[query], frozenset(papers)) for query, papers in answers.items()]
    random.Random(5).shuffle(questions)
    return questions[len(questions) // 2 :]


def _named(catalog: Catalog) -> list[Question]:
    """Give titles, and headings that one note alone has; stubs are left out."""
    rows = catalog.rows(
        "SELECT path, title, heading FROM chunks JOIN notes USING (file_id)"
        " JOIN files ON files.id = file_id WHERE file_id IN"
        " (SELECT file_id FROM chunks GROUP BY file_id HAVING sum(tokens) >= ?)",
        (STUB_TOKENS,),
    )
    titles = {Question(title, frozenset([path])) for path, title, _ in rows}
    bearers = defaultdict(set)
    for path, _, heading in rows:
        if own := json.loads(heading)[-1:]:
            bearers[own[0]].add(path)
    own_headings = [
        Question(heading, frozenset(paths))
        for heading, paths in sorted(bearers.items())
        if len(paths) == 1 and len(heading.split()) > 1
    ]
    random.Random(3).shuffle(own_headings)
    return sorted(titles, key=lambda each: each.text) + own_headings[:MOST_HEADINGS]


def _linked(catalog: Catalog) -> list[Question]:
    """Give aliases, and the words of links to notes whose file has the name that is linked."""
    paths = {Path(row[0]).stem.casefold(): row[0] for row in catalog.rows("SELECT path FROM files")}
    answers = defaultdict(set)
    for path, aliases in catalog.rows(
        "SELECT path, aliases FROM notes JOIN files ON files.id = file_id"
    ):
        for alias in json.loads(aliases):
            answers[alias].add(path)
    for target, label in catalog.rows("SELECT target, label FROM links WHERE is_embed = 0"):
        path = paths.get(Path(target.rsplit("/", 1)[-1]).stem.casefold())
        if path is not None and (text := label or Path(target).stem):
            answers[text].add(path)
    return [Question(text, frozenset(found)) for text, found in sorted(answers.items())]
