"""How much of what is found is the answer: token-wise recall and overlap of the best five places.

Questions about three long texts come with the spans that answer them. The installed program's five
best are held against those of a recursive splitter of 400 characters, whose chunks are ranked by
the same embedding model. Recall is the share of the answer that is found; overlap (intersection
over union) counts what is found beside it too.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

from tests.benchmarks.measure import DATA, DataAbsent, Ratio, SearchedVault
from vault.embedder import Embedder

FOUND = 5
SPLIT_CHARS = 400
SEPARATORS = ("\n\n", "\n", " ", "")
BATCH = 32

Span = tuple[int, int]
Place = tuple[str, int, int]


@dataclass(frozen=True)
class Question:
    """What is asked, of which text, and the spans of it that answer."""

    text: str
    corpus: str
    answers: tuple[Span, ...]


@dataclass(frozen=True)
class Found:
    """Mean recall and overlap over all questions."""

    recall: float
    overlap: float

    @classmethod
    def of(cls, questions: Sequence[Question], places: Sequence[Sequence[Place]]) -> "Found":
        scored = [_scored(*pair) for pair in zip(questions, places, strict=True)]
        return cls(mean(recall for recall, _ in scored), mean(overlap for _, overlap in scored))


def run(folder: Path) -> list[Ratio]:
    """Ask every question in both ways."""
    texts, questions = _data()
    ours = Found.of(questions, _by_strata(folder, texts, questions))
    plain = Found.of(questions, _by_splitter(texts, questions))
    shown = f"{ours.overlap:.4f} against {plain.overlap:.4f}; {len(questions)} questions"
    recalls = f"{ours.recall:.4f} against {plain.recall:.4f}"
    better = ours.overlap / plain.overlap
    return [
        Ratio("chunking: overlap / recursive splitter", better, at_least=1.2, detail=shown),
        Ratio(
            "chunking: recall / recursive splitter",
            ours.recall / plain.recall,
            at_least=1.0,
            detail=recalls,
        ),
    ]


def _data() -> tuple[dict[str, str], list[Question]]:
    folder = DATA / "chunking"
    if not (folder / "questions.csv").exists():
        raise DataAbsent(f"{folder} is not there")
    texts = {path.stem: path.read_bytes().decode("utf-8") for path in folder.glob("*.md")}
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as rows:
        questions = [
            Question(
                row["question"],
                row["corpus_id"],
                tuple((r["start_index"], r["end_index"]) for r in json.loads(row["references"])),
            )
            for row in csv.DictReader(rows)
        ]
    return texts, questions


def _by_strata(
    folder: Path, texts: dict[str, str], questions: Sequence[Question]
) -> list[list[Place]]:
    notes = folder / "notes"
    notes.mkdir()
    for name, text in texts.items():
        (notes / f"{name}.md").write_bytes(text.encode("utf-8"))
    vault = SearchedVault(notes, folder / "home")
    try:
        return [
            [_place(texts, hit["path"].removesuffix(".md"), hit["text"]) for hit in hits]
            for hits in (vault.search(question.text, FOUND) for question in questions)
        ]
    finally:
        vault.close()


def _place(texts: dict[str, str], name: str, text: str) -> Place:
    start = texts[name].index(text)
    return name, start, start + len(text)


def _by_splitter(texts: dict[str, str], questions: Sequence[Question]) -> list[list[Place]]:
    chunks = [(name, start, end) for name, text in texts.items() for start, end in _recursive(text)]
    embedder = Embedder()
    try:
        vectors = _embedded(embedder, [texts[name][start:end] for name, start, end in chunks])
        asked = _embedded(embedder, [question.text for question in questions])
    finally:
        embedder.close()
    best = np.argsort(-np.einsum("ij,kj->ik", asked, vectors), kind="stable")[:, :FOUND]
    return [[chunks[at] for at in row] for row in best]


def _embedded(embedder: Embedder, texts: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype]":
    batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
    return np.vstack(list(embedder.embed(batches)))


def _recursive(text: str) -> Iterator[Span]:
    """Split as LangChain's RecursiveCharacterTextSplitter does, without overlap."""
    at = 0
    for piece in _split(text, SEPARATORS):
        start = text.index(piece, at)
        at = start + len(piece)
        if piece.strip():
            yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _split(text: str, separators: Sequence[str]) -> Iterator[str]:
    at = next(n for n, mark in enumerate(separators) if mark == "" or mark in text)
    mark, finer = separators[at], separators[at + 1 :]
    parts = re.split(f"(?={re.escape(mark)})", text) if mark else list(text)
    fitting = ""
    for part in parts:
        if fitting and len(fitting) + len(part) > SPLIT_CHARS:
            yield fitting
            fitting = ""
        if len(part) > SPLIT_CHARS and finer:
            yield from _split(part, finer)
        else:
            fitting += part
    if fitting:
        yield fitting


def _scored(question: Question, places: Sequence[Place]) -> tuple[float, float]:
    answers = _union(question.answers)
    own = _union([(start, end) for name, start, end in places if name == question.corpus])
    found = sum(
        max(0, min(end, other_end) - max(start, other_start))
        for start, end in answers
        for other_start, other_end in own
    )
    answer = sum(end - start for start, end in answers)
    shown = sum(end - start for _, start, end in places)
    return found / answer, found / (shown + answer - found)


def _union(spans: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
