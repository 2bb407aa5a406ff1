"""How many planted faults the check of claims finds, and how many true sentences it marks.

Sixty answers of a small model, whose errors were marked by reading, are checked too.

A sentence is marked if it has a claim that is unsupported or contradicted. `STRATA_BENCH_CLAIMS`
is a file that the faults that were not found, and the true sentences that were marked, are
written to.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from time import process_time
from typing import Final

from chains.claims.check import check_claims
from chains.claims.report import AnswerClaim, ClaimReport
from tests.benchmarks.context.model_answers import measure_model_answers
from tests.benchmarks.context.planted_faults import (
    COUNTS,
    PlantedAnswer,
    list_planted_answers,
)
from tests.benchmarks.measure import Ratio, unpack_vault
from tests.benchmarks.retrieval.life_vault import write_life_vault

_VAULTS: Final = ("tasks-demo", "eips")
_MARKS: Final = frozenset({"unsupported", "contradicted"})
_ALL_FOUND: Final = frozenset({"figure", "date", "act"})


def run(folder: Path) -> list[Ratio]:
    """Check 300 answers with one fault each."""
    folders = [unpack_vault(name, folder / name) for name in _VAULTS]
    write_life_vault(folder / "life")
    answers = list_planted_answers([*folders, folder / "life"])
    found: Counter[str] = Counter()
    notes, marked, accused, true, seconds = list[str](), 0, 0, 0, list[float]()
    for planted in answers:
        start = process_time()
        report = check_claims(planted.answer, planted.evidence)
        seconds.append(process_time() - start)
        if is_found(planted, report):
            found[planted.kind] += 1
        else:
            notes.append(
                f"missed {planted.kind}: {planted.changed} | {planted.sentences[planted.at]}"
            )
        for sentence in _list_true(planted):
            claims = list_marks(sentence, report)
            true += 1
            marked += bool(claims)
            accused += any(claim.verdict == "contradicted" for claim in claims)
            notes += [
                f"marked {c.kind} {c.verdict} {c.text!r} {c.reason} | {sentence}" for c in claims
            ]
    model_ratios, model_notes = measure_model_answers(dict(zip(_VAULTS, folders, strict=True)))
    notes += model_notes
    if target := os.environ.get("STRATA_BENCH_CLAIMS"):
        Path(target).write_text("\n".join(notes), "utf-8")
    shares = [
        Ratio(
            f"claims: changed {kind} found",
            found[kind] / count,
            at_least=0.95 if kind in _ALL_FOUND else None,
            detail=f"{found[kind]} of {count}",
        )
        for kind, count in COUNTS.items()
    ]
    return [
        *shares,
        Ratio("claims: true sentences marked", marked / true, at_most=0.03, detail=f"of {true}"),
        Ratio("claims: true sentences contradicted", accused / true, at_most=0.005),
        Ratio("claims: ms an answer, p95", quantiles(seconds, n=20)[-1] * 1_000, at_most=20),
        *model_ratios,
    ]


def _list_true(planted: PlantedAnswer) -> Iterator[str]:
    return (each for at, each in enumerate(planted.sentences) if at != planted.at)


def list_marks(sentence: str, report: ClaimReport) -> list[AnswerClaim]:
    """Return the claims of a sentence that are marked."""
    own = (
        claim for claim in report.claims if sentence in claim.sentence or claim.sentence in sentence
    )
    return [claim for claim in own if claim.verdict in _MARKS]


def is_found(planted: PlantedAnswer, report: ClaimReport) -> bool:
    """Return whether the check marks what a fault has changed."""
    sentence = planted.sentences[planted.at]
    return any(
        claim.text in planted.changed or planted.changed in claim.text
        for claim in list_marks(sentence, report)
    )
