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
    "claims: ms an answer, p95": "The sentences that take longest were not examined yet.",
    "search:": (
        "Beside its parts, a search weighs titles, links and dates, cuts excerpts and passes "
        "through RPC. This takes 9 to 13 ms in a vault of any size, while the parts of a small "
        "vault take 4 to 10 ms."
    ),
    "index: throughput / bare model": (
        "Reading, dividing and storing the notes takes processor time beside the model, which uses "
        "both cores."
    ),
    "change: in a large vault": ("A part of it was measured beside another benchmark."),
    "walk: faults": (
        "Once, *Jump to latest* lay on the button of an answer when a note that covered the chat "
        "had just been attached; a second walk of that seed did not meet it again."
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
