"""Why goals are missed: one sentence for each row of the page, which a test demands.

A sentence explains all rows whose names begin with its key.
"""

from collections.abc import Mapping
from typing import Final

__all__ = ["REASONS", "explain_missed"]

UNEXPLAINED: Final = "Not explained yet."
REASONS: Final[Mapping[str, str]] = {
    "relevance: SciFact, nDCG@10": (
        "Published fusions with a larger embedding model (0.742) and rerankers (0.750) reach no "
        "more on the test half of this set."
    ),
    "answers: open, absent ones refused": (
        "What is absent gets a doubt in place of a refusal where a sentence of the notes is near; "
        "the row below counts both."
    ),
    "answers: open, round 2, absent ones refused": (
        "What is absent gets a doubt in place of a refusal where a sentence of the notes is near; "
        "the row below counts both."
    ),
    "answers: open, round 3, absent ones refused": (
        "What is absent gets a doubt in place of a refusal where a sentence of the notes is near; "
        "the row below counts both."
    ),
    "answers:": (
        "Without a model, an answer consists of sentences that share words and meaning with the "
        "question, and some questions are worded quite otherwise than their answers."
    ),
    "phrasings: false none, all or count": (
        "One French question (fr-22) is read as another filter than it means."
    ),
    "claims: ms an answer, p95": "The sentences that take longest were not examined yet.",
    "search: p95 / raw parts, 2,495 chunks": (
        "Only this tail misses, not the median and not the larger vaults; its cause was not found."
    ),
    "index: throughput / bare model": (
        "Reading, dividing and storing the notes takes processor time beside the model, which uses "
        "both cores."
    ),
    "time machine: kept": (
        "The requests of the bench are larger than the vault, whose passages they repeat."
    ),
    "first text: warm": (
        "Comparing thirty sentences with the question by meaning takes the model half of the time."
    ),
    "start: window / bare Qt window": (
        "The window makes 340 widgets, and Qt's bindings make 360 enumerations for them, of which "
        "an empty window needs 37."
    ),
}


def explain_missed(row: str) -> str:
    """Return the sentence that explains why the goal of a row is missed."""
    return next((text for key, text in REASONS.items() if row.startswith(key)), UNEXPLAINED)
