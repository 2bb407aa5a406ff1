"""Sixty answers of a small model to real notes, whose errors were marked by reading.

Qwen2.5-Coder 0.5B answered questions about notes chosen with the seed 34, each in a chat of its own
with two passages. Each answer was read beside its passages, and what they do not say was marked,
before the check of claims ran on it. The file has the places of the passages, and not their text.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from chains.claims.check import check_claims
from chains.claims.evidence import ClaimEvidence, EvidenceText
from chains.claims.report import YOUR_WORDS, AnswerClaim
from tests.benchmarks.measure import Ratio
from tests.support.sessions.sent_text import send_text

__all__ = ["ModelAnswer", "list_model_answers", "measure_model_answers"]

_FILE: Final = Path(__file__).parent / "answers" / "small_model.jsonl"
_ASKED: Final = date(2026, 11, 28)


@dataclass(frozen=True)
class ModelAnswer:
    """An answer of the model.

    Attributes:
        wrong: the first words in it that are wrong, or an empty string.
    """

    question: str
    text: str
    evidence: ClaimEvidence
    wrong: str


def list_model_answers(folders: dict[str, Path]) -> Iterator[ModelAnswer]:
    """Yield the answers.

    Args:
        folders: the folders of the unpacked vaults, by name.
    """
    for line in _FILE.read_text("utf-8").splitlines():
        row = json.loads(line)
        texts = [
            _read_passage(folders[row["vault"]], path, number, first, last)
            for number, path, first, last in row["sources"]
        ]
        texts.append(EvidenceText(row["question"], YOUR_WORDS, origin="user"))
        numbers = tuple(number for number, *_ in row["sources"])
        evidence = ClaimEvidence(tuple(texts), (), False, _ASKED, numbers)
        yield ModelAnswer(row["question"], row["answer"], evidence, row["wrong"])


def _read_passage(folder: Path, path: str, number: int, first: int, last: int) -> EvidenceText:
    lines = (folder / path).read_text("utf-8").split("\n")
    return send_text("\n".join(lines[first - 1 : last]), path, number, line=first)


def measure_model_answers(folders: dict[str, Path]) -> tuple[list[Ratio], list[str]]:
    """Check the answers. Return the ratios, and a line for each claim that is marked."""
    lines, total, accused, marked = list[str](), Counter[bool](), Counter[bool](), Counter[bool]()
    for answer in list_model_answers(folders):
        is_wrong = bool(answer.wrong)
        claims = check_claims(answer.text, answer.evidence).claims
        doubted = [one for one in claims if one.verdict in ("unsupported", "contradicted")]
        total[is_wrong] += 1
        marked[is_wrong] += bool(doubted)
        accused[is_wrong] += any(one.verdict == "contradicted" for one in doubted)
        lines += [_describe(answer, one) for one in doubted]
    ratios = [
        _count("right answers contradicted", accused[False], total[False], 0.02),
        _count("right answers marked", marked[False], total[False], 0.03),
        _count("wrong answers contradicted", accused[True], total[True]),
        _count("wrong answers marked", marked[True], total[True]),
    ]
    return ratios, lines


def _count(name: str, found: int, total: int, at_most: float | None = None) -> Ratio:
    detail = f"{found} of {total}"
    return Ratio(f"claims: a small model, {name}", found / total, at_most=at_most, detail=detail)


def _describe(answer: ModelAnswer, claim: AnswerClaim) -> str:
    is_right = "wrong" if answer.wrong else "right"
    return f"small model ({is_right}) {claim.kind} {claim.verdict} {claim.text!r} | {answer.text}"
