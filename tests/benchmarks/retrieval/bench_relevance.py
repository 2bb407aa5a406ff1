"""How good the search of the installed program is, against words alone and meaning alone.

The single rankers are BM25 and vectors, each over passages and over whole notes. The better of the
four is what the search has to beat.

SciFact: claims and the papers that bear on them; of its training queries one half was for choosing
weights, the other is reported. Dated talks: long notes with names, days and small facts. Known-item
search: a note of the EIPs by its title or by a heading that it alone has; a note of the demo vault
by an alias, or by the words of a link to it.

`STRATA_BENCH_CACHE` is a folder that keeps the indexes for other benches and the next run.
"""

import gzip
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from tests.benchmarks.measure import DATA, DataAbsent, Ratio, SearchedVault, SharedVault
from tests.benchmarks.retrieval.dated_talks import write_talks
from tests.benchmarks.retrieval.single_rankers import SingleRankers
from vault.catalog import Catalog
from vault.embedder import Embedder

CORPUS = DATA / "scifact" / "corpus.jsonl.gz"
HITS = 300  # passages, so that there are a hundred notes among them
STUB_TOKENS = 120
MOST_HEADINGS = 400

Rank = Callable[[str], list[str]]
Measure = Callable[[list[str], frozenset[str]], float]


@dataclass(frozen=True)
class Question:
    """What is asked, and the notes that answer it."""

    text: str
    answers: frozenset[str]


def run(folder: Path) -> list[Ratio]:
    """Index each set and compare its rankings."""
    embedder = Embedder()
    try:
        return [
            *_judge("SciFact", _write_scifact(folder), _held_back, embedder, at_least=1.07),
            *_judge("dated talks", write_talks_once(folder), _told, embedder),
            *_judge("EIPs", SharedVault.unpack("eips", folder), list_known_items, embedder),
            *_judge("demo vault", SharedVault.unpack("tasks-demo", folder), list_linked, embedder),
        ]
    finally:
        embedder.close()


def _judge(
    name: str,
    shared: SharedVault,
    ask: Callable[[Catalog], list[Question]],
    embedder: Embedder,
    at_least: float = 1.0,
) -> list[Ratio]:
    vault = SearchedVault(shared.notes, shared.home)
    try:
        catalog = Catalog(vault.catalog, is_writable=False)
        questions = ask(catalog)
        single = SingleRankers(catalog, embedder)
        ways: dict[str, Rank] = {
            "fused": lambda query: _notes(hit["path"] for hit in vault.search(query, HITS)),
            "words of passages": single.rank_passages_by_words,
            "words of notes": single.rank_notes_by_words,
            "meaning of passages": single.rank_passages_by_meaning,
            "meaning of notes": single.rank_notes_by_meaning,
        }
        ranked = {way: [rank(each.text) for each in questions] for way, rank in ways.items()}
    finally:
        vault.close()
    return [
        _compare(f"{name}, nDCG@10", _ndcg, ranked, questions, at_least),
        _compare(f"{name}, R@10", partial(_recall, depth=10), ranked, questions, 1.0),
        _compare(f"{name}, R@100", partial(_recall, depth=100), ranked, questions, 1.0),
    ]


def _compare(
    name: str,
    measure: Measure,
    ranked: Mapping[str, list[list[str]]],
    questions: Sequence[Question],
    at_least: float,
) -> Ratio:
    """Compare the search with the best of the single rankers."""
    scores = {way: _mean(measure, lists, questions) for way, lists in ranked.items()}
    best = max(score for way, score in scores.items() if way != "fused")
    return Ratio(
        f"relevance: {name} / better one",
        scores["fused"] / best,
        at_least=at_least,
        detail=", ".join(f"{way} {score:.4f}" for way, score in scores.items())
        + f"; {len(questions)} questions",
    )


def _notes(paths: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(paths))


def _mean(
    measure: Measure,
    lists: Sequence[list[str]],
    questions: Sequence[Question],
) -> float:
    pairs = zip(lists, questions, strict=True)
    return mean(measure(ranked, question.answers) for ranked, question in pairs)


def _ndcg(ranked: list[str], answers: frozenset[str], depth: int = 10) -> float:
    gain = sum(1 / math.log2(at + 2) for at, path in enumerate(ranked[:depth]) if path in answers)
    return gain / sum(1 / math.log2(at + 2) for at in range(min(depth, len(answers))))


def _recall(ranked: list[str], answers: frozenset[str], depth: int) -> float:
    return len(answers.intersection(ranked[:depth])) / min(depth, len(answers))


def write_talks_once(folder: Path) -> SharedVault:
    """Write the dated talks, whose questions `write_talks` returns too."""
    shared = SharedVault.locate("talks", folder)
    shared.write(write_talks)
    return shared


def _told(_catalog: Catalog) -> list[Question]:
    with TemporaryDirectory() as folder:
        return [Question(each.text, each.answers) for each in write_talks(Path(folder))]


def _write_scifact(folder: Path) -> SharedVault:
    if not CORPUS.exists():
        raise DataAbsent(f"{CORPUS} is not there")
    shared = SharedVault.locate("scifact", folder)
    shared.write(_write_papers)
    return shared


def _write_papers(notes: Path) -> None:
    """Write each paper as a note."""
    notes.mkdir()
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for paper in map(json.loads, lines):
            text = f"# {paper['title']}\n\n{paper['text']}\n"
            (notes / f"{paper['_id']}.md").write_text(text, "utf-8")


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


def list_known_items(catalog: Catalog) -> list[Question]:
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


def list_linked(catalog: Catalog) -> list[Question]:
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
